//! Hashes and HMAC.

use dimpl::CryptoError;
use dimpl::crypto::{Buf, HashAlgorithm, HashContext, HashProvider, HmacProvider};
use ring::{digest, hmac};

#[derive(Debug)]
pub(super) struct Hashes;

impl HashProvider for Hashes {
    /// The suites use SHA-256 only.
    fn create_hash(&self, algorithm: HashAlgorithm) -> Box<dyn HashContext> {
        let algorithm = if algorithm == HashAlgorithm::SHA384 {
            &digest::SHA384
        } else {
            &digest::SHA256
        };
        Box::new(Hash(digest::Context::new(algorithm)))
    }
}

struct Hash(digest::Context);

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hash")
    }
}

impl HashContext for Hash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn clone_and_finalize(&self, out: &mut Buf) {
        out.clear();
        out.extend_from_slice(self.0.clone().finish().as_ref());
    }
}

#[derive(Debug)]
pub(super) struct Hmacs;

impl HmacProvider for Hmacs {
    fn hmac(&self, hash: HashAlgorithm, key: &[u8], data: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        let algorithm = match hash {
            HashAlgorithm::SHA256 => hmac::HMAC_SHA256,
            HashAlgorithm::SHA384 => hmac::HMAC_SHA384,
            _ => return Err(CryptoError::UnsupportedHmacHash(hash)),
        };
        let tag = hmac::sign(&hmac::Key::new(algorithm, key), data);
        let tag = tag.as_ref();
        let place = out.get_mut(..tag.len());
        place
            .ok_or(super::failed(dimpl::CryptoOperation::ComputeHmac))?
            .copy_from_slice(tag);
        Ok(tag.len())
    }
}
