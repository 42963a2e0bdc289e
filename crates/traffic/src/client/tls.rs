//! TLS configuration of clients.

use super::Trust;
use netburn_scenario::plan::Http;
use ring::digest;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, CipherSuite, ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind,
    ProtocolVersion, RootCertStore, SignatureScheme, SupportedCipherSuite,
};
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A TLS handshake that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// Version.
    pub version: Option<ProtocolVersion>,
    /// Round trips before the client's first request.
    pub round_trips: NonZeroU32,
}

impl Handshake {
    pub(super) fn from_session(session: &ClientConnection) -> Self {
        let version = session.protocol_version();
        Handshake {
            version,
            round_trips: round_trips(version, session.handshake_kind()),
        }
    }
}

/// Round trips of a full handshake before the client's first request: 1 with TLS 1.3 (RFC 8446 §2), 2 with TLS 1.2
/// (RFC 5246 §7.3). A HelloRetryRequest adds one (RFC 8446 §2.1).
fn round_trips(version: Option<ProtocolVersion>, kind: Option<HandshakeKind>) -> NonZeroU32 {
    let count = match (version, kind) {
        (Some(ProtocolVersion::TLSv1_3), Some(HandshakeKind::FullWithHelloRetryRequest)) => 2,
        (Some(ProtocolVersion::TLSv1_3), _) => 1,
        _ => 2,
    };
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

/// Returns the TLS configuration for `trust` and `http`. A workload shares one for all connections, so that sessions
/// are resumed as in browsers.
///
/// # Errors
/// An I/O error when the system's roots are required and missing.
pub fn config(trust: &Trust, http: Http) -> io::Result<Arc<ClientConfig>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let mut config = match trust {
        Trust::SystemRoots => builder.with_root_certificates(system_roots()?).with_no_client_auth(),
        trust => {
            let wanted = match trust {
                Trust::Fingerprint(sha256) => Some(*sha256),
                _ => None,
            };
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Pinned { wanted, provider }))
                .with_no_client_auth()
        }
    };
    config.alpn_protocols = match http {
        Http::H1 => vec![b"http/1.1".to_vec()],
        Http::H2 => vec![b"h2".to_vec()],
    };
    Ok(Arc::new(config))
}

/// Returns the same configuration for connections that resume no session: each has a full handshake.
#[must_use]
pub fn without_resumption(config: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = config.clone();
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

/// Returns the bytes of each record in addition to its header and content.
pub(crate) fn record_overhead(session: &ClientConnection) -> u64 {
    match session.negotiated_cipher_suite() {
        // RFC 5288 §3: an explicit nonce of 8 bytes and a tag of 16 bytes. RFC 7905 §2: the tag only.
        Some(SupportedCipherSuite::Tls12(suite)) => match suite.common.suite {
            CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => 16,
            _ => 24,
        },
        // RFC 8446 §5.2: the type of the content, and a tag of 16 bytes.
        _ => 17,
    }
}

/// Returns the server name to request and verify: a DNS name or an IP address.
///
/// # Errors
/// [`InvalidInput`](io::ErrorKind::InvalidInput) when `host` is neither.
pub fn server_name(host: &str) -> io::Result<ServerName<'static>> {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("invalid host name: found `{host}`"),
        )
    })
}

fn system_roots() -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        Err(io::Error::other(
            "the system has no root certificates (Debian package: ca-certificates)",
        ))
    } else {
        Ok(roots)
    }
}

/// Accepts one certificate by its fingerprint, or any. The server's possession of the key is always verified.
#[derive(Debug)]
struct Pinned {
    wanted: Option<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let found = digest::digest(&digest::SHA256, certificate);
        match &self.wanted {
            Some(wanted) if wanted != found.as_ref() => Err(Error::InvalidCertificate(
                CertificateError::ApplicationVerificationFailure,
            )),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_of_handshakes() {
        let count = |version, kind| round_trips(Some(version), Some(kind)).get();
        assert_eq!(count(ProtocolVersion::TLSv1_3, HandshakeKind::Full), 1);
        assert_eq!(
            count(ProtocolVersion::TLSv1_3, HandshakeKind::FullWithHelloRetryRequest),
            2
        );
        assert_eq!(count(ProtocolVersion::TLSv1_2, HandshakeKind::Full), 2);
    }
}
