//! TLS identity of a server: a certificate and its key, from files or generated.

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

/// Error of an identity.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// A file cannot be read, or is not PEM.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// There is no certificate, or the key does not belong to the certificate.
    #[error("invalid certificate or key: {0}")]
    Mismatch(String),
    /// No certificate can be generated for one of the names.
    #[error("can't generate a certificate for these names: {0}")]
    Names(String),
}

impl Identity {
    /// Generates a self-signed certificate. Clients identify it by its [`fingerprint`](Self::fingerprint) or accept
    /// any. `names` are DNS names and IP addresses.
    ///
    /// # Errors
    /// [`IdentityError::Names`] when a name is invalid.
    pub fn generate(names: &[String]) -> Result<Self, IdentityError> {
        let (chain, key) = Self::generate_pem(names)?;
        Self::from_pem(chain.as_bytes(), key.as_bytes())
    }

    /// Generates a self-signed certificate and its key (PKCS #8) in PEM, to be stored.
    ///
    /// # Errors
    /// [`IdentityError::Names`] when a name is invalid.
    pub fn generate_pem(names: &[String]) -> Result<(String, String), IdentityError> {
        let names_error = |error: rcgen::Error| IdentityError::Names(error.to_string());
        let made = rcgen::generate_simple_self_signed(names).map_err(names_error)?;
        Ok((made.cert.pem(), made.signing_key.serialize_pem()))
    }

    /// Reads an identity from two PEM texts, as [`from_pem_files`](Self::from_pem_files).
    ///
    /// # Errors
    /// [`IdentityError`] when they cannot be parsed or do not match.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, IdentityError> {
        let unfit = |error: rustls::pki_types::pem::Error| IdentityError::Mismatch(error.to_string());
        let certificates = CertificateDer::pem_slice_iter(chain).collect::<Result<_, _>>();
        let key = PrivateKeyDer::from_pem_slice(key).map_err(unfit)?;
        Self::new(certificates.map_err(unfit)?, key)
    }

    /// Reads an identity from two PEM files: the chain, with the server's own certificate first, and its key (PKCS #8,
    /// PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// [`IdentityError`] when a file cannot be read or they do not match.
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

    /// Returns the SHA-256 of the server's own certificate in DER encoding.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Returns the TLS configuration of a server: TLS 1.3 and 1.2, with HTTP/2 and HTTP/1.1 offered by ALPN.
    #[must_use]
    pub fn server_config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Self, IdentityError> {
        let unfit = |error: rustls::Error| IdentityError::Mismatch(error.to_string());
        let own = chain
            .first()
            .ok_or_else(|| IdentityError::Mismatch("missing certificate".to_owned()))?;
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
    fn a_generated_identity_is_unique_and_usable() {
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
    fn pem_files_are_read_and_their_errors_named() {
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
        assert!(fault(&empty, &key).contains("missing certificate"));
        fs::write(&key, foreign.signing_key.serialize_pem()).unwrap();
        assert!(fault(&chain, &key).contains("invalid certificate or key"));
    }
}
