//! Cryptography of DTLS with ring, the crypto provider of all of netburn.
//!
//! Offered are TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 with X25519 or P-256. Every WebRTC browser implements it
//! (RFC 8827 §6.5).

mod aead;
mod exchange;
mod hash;
mod sign;

use dimpl::crypto::CryptoProvider;
use ring::rand::SecureRandom;
use std::time::Duration;

/// Maximum length of a DTLS record in a handshake. With IPv6 and UDP headers it fits into an Ethernet MTU.
const MTU: usize = 1400;
/// Maximum time of a handshake.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);

/// Settings of the server's DTLS. Checks the cryptographic functions with known answers.
pub(crate) fn config() -> Result<dimpl::Config, dimpl::Error> {
    dimpl::Config::builder()
        .with_crypto_provider(provider())
        .mtu(MTU)
        .require_client_certificate(true)
        .handshake_timeout(HANDSHAKE)
        .build()
}

fn provider() -> CryptoProvider {
    CryptoProvider {
        kx_groups: exchange::GROUPS,
        signature_verification: &sign::Verifier,
        key_provider: &sign::Keys,
        secure_random: &Random,
        hash_provider: &hash::Hashes,
        hmac_provider: &hash::Hmacs,
        cipher_suites: aead::SUITES,
        dtls13_cipher_suites: aead::SUITES_13,
    }
}

#[derive(Debug)]
struct Random;

impl dimpl::crypto::SecureRandom for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), dimpl::CryptoError> {
        let filled = ring::rand::SystemRandom::new().fill(bytes);
        filled.map_err(|_| failed(dimpl::CryptoOperation::FillRandom))
    }
}

fn failed(operation: dimpl::CryptoOperation) -> dimpl::CryptoError {
    dimpl::CryptoError::OperationFailed(operation)
}

#[cfg(test)]
mod tests {
    /// `build` compares hashes, HMAC, the TLS 1.2 key derivation, AEAD, key exchange and signatures with known answers
    /// of their standards.
    #[test]
    fn the_functions_give_the_known_answers() {
        super::config().unwrap();
    }
}
