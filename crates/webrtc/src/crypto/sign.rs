//! Signatures of the handshake: the server's, and the check of the browser's.

use super::failed;
use dimpl::crypto::{Buf, HashAlgorithm, KeyProvider, SignatureAlgorithm, SignatureVerifier, SigningKey};
use dimpl::{CryptoError, CryptoOperation};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm};

#[derive(Debug)]
pub(super) struct Keys;

impl KeyProvider for Keys {
    /// Reads a key of the curve P-256 in PKCS #8.
    fn load_private_key(&self, der: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, der, &SystemRandom::new());
        Ok(Box::new(Key(pair.map_err(|_| CryptoError::InvalidPrivateKey)?)))
    }
}

#[derive(Debug)]
struct Key(EcdsaKeyPair);

impl SigningKey for Key {
    fn sign(&mut self, data: &[u8], hash: HashAlgorithm, out: &mut Buf) -> Result<(), CryptoError> {
        if hash != HashAlgorithm::SHA256 {
            return Err(failed(CryptoOperation::Sign));
        }
        let signature = self.0.sign(&SystemRandom::new(), data);
        let signature = signature.map_err(|_| failed(CryptoOperation::Sign))?;
        out.clear();
        out.extend_from_slice(signature.as_ref());
        Ok(())
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        &[HashAlgorithm::SHA256]
    }
}

#[derive(Debug)]
pub(super) struct Verifier;

impl SignatureVerifier for Verifier {
    /// The certificate is self-signed. The caller compares its fingerprint with that of the offer.
    fn verify_signature(
        &self,
        certificate: &[u8],
        data: &[u8],
        signature: &[u8],
        hash: HashAlgorithm,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), CryptoError> {
        // The hash does not determine the curve in DTLS 1.2 (RFC 5246 §7.4.1.4.1).
        let curves: [&dyn SignatureVerificationAlgorithm; 2] = match hash {
            HashAlgorithm::SHA256 => [webpki::ring::ECDSA_P256_SHA256, webpki::ring::ECDSA_P384_SHA256],
            HashAlgorithm::SHA384 => [webpki::ring::ECDSA_P256_SHA384, webpki::ring::ECDSA_P384_SHA384],
            _ => return Err(failed(CryptoOperation::VerifySignature)),
        };
        if algorithm != SignatureAlgorithm::ECDSA {
            return Err(CryptoError::UnsupportedSignatureAlgorithm(algorithm));
        }
        let certificate = CertificateDer::from(certificate);
        let certificate =
            webpki::EndEntityCert::try_from(&certificate).map_err(|_| CryptoError::CertificateParseFailed)?;
        let is_valid =
            |curve: &&dyn SignatureVerificationAlgorithm| certificate.verify_signature(*curve, data, signature).is_ok();
        let is_valid = curves.iter().any(is_valid);
        is_valid.then_some(()).ok_or(failed(CryptoOperation::VerifySignature))
    }
}
