//! Who a server is over TLS: a certificate and its key, given or made.

use ring::digest;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A certificate chain and its private key.
#[derive(Debug, Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    fingerprint: [u8; 32],
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A file can't be read, or isn't PEM.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no certificate in the file, or the key isn't the certificate's.
    #[error("certificate and key don't make an identity: {0}")]
    QueryError(String),
    /// No certificate can be made for one of the names.
    #[error("no certificate can be made for these names: {0}")]
    Names(String),
}

impl Identity {
    /// A certificate made now, which nobody vouches for: clients trust its [`fingerprint`](Self::fingerprint) or
    /// anything at all. `names` are DNS names and IP addresses.
    ///
    /// # Errors
    /// When a name is none.
    pub fn generate(names: &[String]) -> Result<Self, IdentityError> {
        let (chain, key) = Self::generate_pem(names)?;
        Self::from_pem(chain.as_bytes(), key.as_bytes())
    }

    /// A certificate made now, and its key (PKCS #8), both as PEM: to be kept.
    ///
    /// # Errors
    /// When a name is none.
    pub fn generate_pem(names: &[String]) -> Result<(String, String), IdentityError> {
        let names_error = |error: rcgen::Error| IdentityError::Names(error.to_string());
        let made = rcgen::generate_simple_self_signed(names).map_err(names_error)?;
        Ok((made.cert.pem(), made.signing_key.serialize_pem()))
    }

    /// The identity in two PEM texts, as [`from_pem_files`](Self::from_pem_files).
    ///
    /// # Errors
    /// When they can't be read, or don't fit together.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let unfit = |error: rustls::pki_types::pem::Error| IdentityError::QueryError(error.to_string());
        let certificates = CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>();
        let key = PrivateKeyDer::from_pem_slice(key).map_err(unfit)?;
        Self::new(certificates.map_err(unfit)?, key)
    }

    /// The identity in two PEM files: the chain, the server's own certificate first, and its key (PKCS #8, PKCS #1 or
    /// SEC 1).
    ///
    /// # Errors
    /// When a file can't be read, or what they hold doesn't fit together.
    pub fn from_pem_files(chain: &Path, key: &Path) -> Result<Self, IdentityError> {
        let fault = |path: &Path, error: rustls::pki_types::pem::Error| IdentityError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let certificates = CertificateDer::pem_file_iter(chain)
            .and_then(Iterator::collect)
            .map_err(|error| fault(chain, error))?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| fault(key, error))?;
        Self::new(certificates, key)
    }

    /// The SHA-256 of the server's own certificate in DER form.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// What the TLS of a server is made from: HTTP/2 and HTTP/1.1 offered by ALPN, TLS 1.3 and 1.2.
    #[must_use]
    pub fn server_config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, IdentityError> {
        let unfit = |error: rustls::Error| IdentityError::QueryError(error.to_string());
        let own = chain
            .first()
            .ok_or_else(|| IdentityError::QueryError("there is no certificate".to_owned()))?;
        let sha256 = digest::digest(&digest::SHA256, own);
        let fingerprint = sha256.as_ref().try_into().expect("SHA-256 has 32 bytes");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unfit)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unfit)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            fingerprint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_made_identity_is_its_own_and_fit_to_serve() {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        let (one, other) = (Identity::generate(&names).unwrap(), Identity::generate(&names).unwrap());
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_eq!(
            one.server_config().alpn_protocols,
            [b"h2".to_vec(), b"http/1.1".to_vec()]
        );
        assert!(matches!(
            Identity::generate(&["é".to_owned()]),
            Err(IdentityError::Names(_))
        ));
    }

    #[test]
    fn pem_files_are_taken_and_their_faults_named() {
        let dir = tempfile::tempdir().unwrap();
        let (chain, key, empty) = (
            dir.path().join("chain.pem"),
            dir.path().join("key.pem"),
            dir.path().join("empty"),
        );
        let made = rcgen::generate_simple_self_signed(["example.org".to_owned()]).unwrap();
        let foreign = rcgen::generate_simple_self_signed(["example.org".to_owned()]).unwrap();
        fs::write(&chain, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        fs::write(&empty, "").unwrap();
        let identity = Identity::from_pem_files(&chain, &key).unwrap();
        assert_eq!(
            identity.fingerprint(),
            digest::digest(&digest::SHA256, made.cert.der()).as_ref()
        );
        let fault = |chain: &Path, key: &Path| Identity::from_pem_files(chain, key).unwrap_err().to_string();
        assert!(fault(&dir.path().join("none"), &key).contains("none"));
        assert!(fault(&chain, &empty).contains("empty"));
        assert!(fault(&empty, &key).contains("no certificate"));
        fs::write(&key, foreign.signing_key.serialize_pem()).unwrap();
        assert!(fault(&chain, &key).contains("don't make an identity"));
    }
}
