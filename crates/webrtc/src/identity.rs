//! Certificate of the server. A browser identifies it by its fingerprint, as in SDP (RFC 8122 §5).

use crate::crypto;
use ring::digest;
use std::fmt;
use std::sync::Arc;

/// SHA-256 of a certificate in DER.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a certificate in DER.
    #[must_use]
    pub fn from_certificate(certificate: &[u8]) -> Self {
        let hash = digest::digest(&digest::SHA256, certificate);
        Self(hash.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }

    /// Decodes 64 hexadecimal digits; `None` for other texts.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Encodes as 64 hexadecimal digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// A self-signed certificate with its key, and the settings of DTLS.
#[derive(Clone)]
pub struct Identity {
    pub(crate) certificate: dimpl::DtlsCertificate,
    pub(crate) config: Arc<dimpl::Config>,
    fingerprint: Fingerprint,
}

/// Error of an identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// No certificate can be generated.
    #[error("can't generate a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// DTLS rejects its settings.
    #[error("can't configure DTLS: {0}")]
    Dtls(#[from] dimpl::Error),
}

impl Identity {
    /// Generates a certificate with a new key of the curve P-256.
    ///
    /// # Errors
    /// [`IdentityError`] when the system provides no random numbers.
    pub fn generate() -> Result<Self, IdentityError> {
        let made = rcgen::generate_simple_self_signed(vec!["netburn".to_owned()])?;
        let certificate = dimpl::DtlsCertificate {
            certificate: made.cert.der().to_vec(),
            private_key: made.signing_key.serialize_der(),
        };
        Ok(Self {
            fingerprint: Fingerprint::from_certificate(&certificate.certificate),
            certificate,
            config: Arc::new(crypto::config()?),
        })
    }

    /// Fingerprint of the certificate.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Identity").field(&self.fingerprint).finish()
    }
}
