//! The consent document of a server at `/.well-known/netburn`.
//!
//! Load tests against servers without their operator's permission are attacks. In this document a netburn server
//! states that it accepts load tests, and its operator. A client reads it before it sends load to another machine. A
//! server of a fleet proves its membership to clients of the fleet: see [`fleet`].

pub mod fleet;

use netburn_units::{BitRate, ByteSize};
use serde::{Deserialize, Serialize};

/// Path of the document (RFC 8615).
pub const PATH: &str = "/.well-known/netburn";
/// Maximum length of the document in bytes. Longer documents are rejected without reading them.
pub const MAX_SIZE: usize = 64 * 1024;
/// Schema of the document. Clients accept all documents of the same major version.
pub const SCHEMA: &str = "netburn.consent/1";
/// Maximum number of characters of the operator's name. Control characters are rejected.
pub const MAX_OPERATOR: usize = 200;

/// The consent document. Unknown fields are ignored, so fields can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// [`SCHEMA`].
    pub schema: String,
    /// netburn version of the server.
    pub version: String,
    /// True if the server accepts load tests.
    pub consents: bool,
    /// Operator, in free text.
    pub operator: String,
    /// Path for downloads. `SIZE` stands for the size: `128KiB` or a number of bytes.
    pub download: String,
    /// Path for uploads.
    pub upload: String,
    /// Maximum size of an object in either direction, in bytes.
    pub max_object_bytes: u64,
    /// UDP port of the probe echo; `None` if there is none.
    #[serde(default)]
    pub datagram_port: Option<u16>,
    /// Rate limit of the server in each direction, in bit/s.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// Limits per client address.
    #[serde(default)]
    pub per_client: PerClient,
    /// Proof of membership in a fleet: see [`fleet`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// Limits per client address. `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerClient {
    /// Simultaneous connections.
    #[serde(default)]
    pub connections: Option<u64>,
    /// Requests per second.
    #[serde(default)]
    pub requests_per_second: Option<u32>,
    /// Rate in each direction, in bit/s.
    #[serde(default)]
    pub rate_bps: Option<u64>,
}

/// Error of a consent document.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The document is longer than [`MAX_SIZE`].
    #[error("the document at {PATH} is too long: found {0} bytes, expected at most {MAX_SIZE}")]
    TooLong(usize),
    /// The document is not JSON, or lacks a required field.
    #[error("invalid consent document at {PATH}: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The schema is unknown to this version.
    #[error("unknown schema of the document at {PATH}: found `{0}`, expected {SCHEMA}")]
    Schema(String),
    /// The operator's name is too long or has control characters.
    #[error("invalid operator in the document at {PATH}: expected one line of at most {MAX_OPERATOR} characters")]
    Operator,
}

impl Consent {
    /// Creates the document of a server that accepts load tests, for `operator`.
    ///
    /// # Errors
    /// [`Operator`](ConsentError::Operator) when the name is not a line of plain text.
    pub fn new(operator: &str, max_object: ByteSize) -> Result<Self, ConsentError> {
        Ok(Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            consents: true,
            operator: checked(operator)?.to_owned(),
            download: "/bytes/SIZE".to_owned(),
            upload: "/sink".to_owned(),
            max_object_bytes: max_object.as_bytes(),
            datagram_port: None,
            rate_bps: None,
            per_client: PerClient::default(),
            fleet: None,
        })
    }

    /// Parses the document of an untrusted server.
    ///
    /// # Errors
    /// [`ConsentError`] when it is invalid; then there is no consent.
    pub fn parse(bytes: &[u8]) -> Result<Self, ConsentError> {
        if bytes.len() > MAX_SIZE {
            return Err(ConsentError::TooLong(bytes.len()));
        }
        // The schema is checked first: a later schema may lack fields that are required here.
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_slice(bytes)?;
        if head.schema != SCHEMA {
            let shown: String = head.schema.chars().filter(|c| !c.is_control()).take(40).collect();
            return Err(ConsentError::Schema(shown));
        }
        let consent: Consent = serde_json::from_slice(bytes)?;
        checked(&consent.operator)?;
        Ok(consent)
    }

    /// Encodes the document as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain fields become JSON");
        text.push('\n');
        text
    }

    /// Returns the rate limit of the server.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        self.rate_bps.map(BitRate::from_bps)
    }
}

/// Checks that the text is safe to print on a terminal: no control characters, and none that change the writing
/// direction.
fn checked(operator: &str) -> Result<&str, ConsentError> {
    let bad = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if operator.chars().any(bad) || operator.chars().count() > MAX_OPERATOR {
        return Err(ConsentError::Operator);
    }
    Ok(operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Consent {
        Consent::new("Ada, of the lab", ByteSize::from_gib(16)).unwrap()
    }

    #[test]
    fn decoding_inverts_encoding() {
        let mut consent = good();
        consent.datagram_port = Some(4480);
        consent.rate_bps = Some(1_000_000_000);
        consent.per_client.connections = Some(512);
        assert_eq!(Consent::parse(consent.to_json().as_bytes()).unwrap(), consent);
        assert_eq!(consent.rate(), Some(BitRate::from_mbps(1000)));
    }

    #[test]
    fn required_fields_are_sufficient() {
        let text =
            br#"{"schema":"netburn.consent/1","version":"9.0.0","consents":false,"operator":"","download":"/b/SIZE",
            "upload":"/s","max_object_bytes":5,"what_comes_later":[1,2]}"#;
        let consent = Consent::parse(text).unwrap();
        assert!(!consent.consents && consent.datagram_port.is_none() && consent.per_client == PerClient::default());
    }

    #[test]
    fn invalid_documents_return_their_error() {
        let error = |text: &str| Consent::parse(text.as_bytes()).unwrap_err();
        assert!(matches!(error(""), ConsentError::Malformed(_)));
        assert!(matches!(error("<html>"), ConsentError::Malformed(_)));
        assert!(matches!(
            error(r#"{"schema":"netburn.consent/1"}"#),
            ConsentError::Malformed(_)
        ));
        assert!(matches!(
            error(r#"{"schema":"netburn.consent/2"}"#),
            ConsentError::Schema(_)
        ));
        assert!(
            matches!(error(&"[".repeat(MAX_SIZE)), ConsentError::Malformed(_)),
            "nesting has a limit"
        );
        assert!(matches!(error(&" ".repeat(MAX_SIZE + 1)), ConsentError::TooLong(65537)));
        let escape = error(r#"{"schema":"\u001b[2Jx"}"#).to_string();
        assert!(escape.contains("`[2Jx`"), "{escape}");
    }

    #[test]
    fn an_operator_is_a_plain_line() {
        for text in ["a\nb", "\u{1b}[31m", "\u{202e}drow", &"x".repeat(201)] {
            assert!(
                matches!(Consent::new(text, ByteSize::ZERO), Err(ConsentError::Operator)),
                "{text:?}"
            );
            let document = Consent {
                operator: text.to_owned(),
                ..good()
            };
            assert!(Consent::parse(document.to_json().as_bytes()).is_err());
        }
        assert!(Consent::new(&"é".repeat(200), ByteSize::ZERO).is_ok());
    }
}
