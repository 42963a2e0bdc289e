//! Authenticated encryption of records.

use super::failed;
use dimpl::crypto::{
    Aad, Buf, Cipher, Dtls12CipherSuite, Dtls13CipherSuite, HashAlgorithm, Nonce, SupportedDtls12CipherSuite,
    SupportedDtls13CipherSuite, TmpBuf,
};
use dimpl::{CryptoError, CryptoOperation};
use ring::aead;

pub(super) const SUITES: &[&dyn SupportedDtls12CipherSuite] = &[&Aes128Gcm];
/// Not used: sessions have DTLS 1.2. `dimpl` requires a suite of DTLS 1.3. This is the only one whose record numbers ring
/// can encrypt.
pub(super) const SUITES_13: &[&dyn SupportedDtls13CipherSuite] = &[&ChaCha20Poly1305];

#[derive(Debug)]
struct Key(aead::LessSafeKey);

impl Key {
    fn create(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        let key = aead::UnboundKey::new(algorithm, key).map_err(|_| failed(CryptoOperation::CreateCipher))?;
        Ok(Box::new(Key(aead::LessSafeKey::new(key))))
    }
}

impl Cipher for Key {
    fn encrypt(&mut self, text: &mut Buf, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce.0);
        let sealed = self
            .0
            .seal_in_place_separate_tag(nonce, aead::Aad::from(&aad[..]), &mut text[..]);
        let tag = sealed.map_err(|_| failed(CryptoOperation::Encrypt))?;
        text.extend_from_slice(tag.as_ref());
        Ok(())
    }

    fn decrypt(&mut self, text: &mut TmpBuf<'_>, aad: Aad, nonce: Nonce) -> Result<(), CryptoError> {
        let nonce = aead::Nonce::assume_unique_for_key(nonce.0);
        let opened = self.0.open_in_place(nonce, aead::Aad::from(&aad[..]), text.as_mut());
        let length = opened.map_err(|_| failed(CryptoOperation::Decrypt))?.len();
        text.truncate(length);
        Ok(())
    }
}

/// TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 (RFC 5289 §3.2).
#[derive(Debug)]
struct Aes128Gcm;

impl SupportedDtls12CipherSuite for Aes128Gcm {
    fn suite(&self) -> Dtls12CipherSuite {
        Dtls12CipherSuite::ECDHE_ECDSA_AES128_GCM_SHA256
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    /// Lengths of the MAC key, the key, and the fixed part of the nonce (RFC 5288 §3).
    fn key_lengths(&self) -> (usize, usize, usize) {
        (0, 16, 4)
    }

    fn explicit_nonce_len(&self) -> usize {
        8
    }

    fn tag_len(&self) -> usize {
        16
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Key::create(&aead::AES_128_GCM, key)
    }
}

/// TLS_CHACHA20_POLY1305_SHA256 (RFC 8446 §B.4).
#[derive(Debug)]
struct ChaCha20Poly1305;

impl SupportedDtls13CipherSuite for ChaCha20Poly1305 {
    fn suite(&self) -> Dtls13CipherSuite {
        Dtls13CipherSuite::CHACHA20_POLY1305_SHA256
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        HashAlgorithm::SHA256
    }

    fn key_len(&self) -> usize {
        32
    }

    fn iv_len(&self) -> usize {
        12
    }

    fn tag_len(&self) -> usize {
        16
    }

    fn create_cipher(&self, key: &[u8]) -> Result<Box<dyn Cipher>, CryptoError> {
        Key::create(&aead::CHACHA20_POLY1305, key)
    }

    /// The mask of RFC 9001 §5.4.4. Only its first 2 bytes are used (RFC 9147 §4.2.3).
    fn encrypt_sn(&self, key: &[u8], sample: &[u8; 16]) -> [u8; 16] {
        let mut mask = [0; 16];
        let key = aead::quic::HeaderProtectionKey::new(&aead::quic::CHACHA20, key);
        if let Ok(five) = key.and_then(|key| key.new_mask(sample)) {
            mask[..5].copy_from_slice(&five);
        }
        mask
    }
}
