//! The consent that a server gives: the document at `/.well-known/netburn`.
//!
//! A load generator pointed at somebody else's server is an attack. A netburn server says in this document that it
//! agrees to be burned, and by whose word; a client asks for it before it sends load to another machine. A server of a
//! fleet agrees to that fleet: [`fleet`].

pub mod fleet;

use netburn_units::{BitRate, ByteSize};
use serde::{Deserialize, Serialize};

/// Where the document is (RFC 8615).
pub const PATH: &str = "/.well-known/netburn";
/// A longer document is refused unread.
pub const MAX_SIZE: usize = 64 * 1024;
/// The document's schema; a client understands every document of the same major version.
pub const SCHEMA: &str = "netburn.consent/1";
/// What an operator says of itself may have so many characters; none of them moves a terminal's cursor.
pub const MAX_OPERATOR: usize = 200;

/// The document. Fields may be added to it; unknown ones are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// [`SCHEMA`].
    pub schema: String,
    /// The server's version of netburn.
    pub version: String,
    /// Whether load may be sent here.
    pub consents: bool,
    /// Who says so, in free text.
    pub operator: String,
    /// Where objects are fetched: `SIZE` stands for the size, `128KiB` or a number of bytes.
    pub download: String,
    /// Where objects are posted.
    pub upload: String,
    /// The largest object either way, in bytes.
    pub max_object_bytes: u64,
    /// The UDP port that echoes probes; `None` when none does.
    #[serde(default)]
    pub datagram_port: Option<u16>,
    /// What the server caps itself at, each way, in bit/s.
    #[serde(default)]
    pub rate_bps: Option<u64>,
    /// What each client address is held to.
    #[serde(default)]
    pub per_client: PerClient,
    /// The answer to a fleet's question, of one that serves that fleet: see [`fleet`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
}

/// What each client address is held to; `None` where it isn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerClient {
    /// Connections at once.
    #[serde(default)]
    pub connections: Option<u64>,
    /// Requests per second.
    #[serde(default)]
    pub requests_per_second: Option<u32>,
    /// Each way, in bit/s.
    #[serde(default)]
    pub rate_bps: Option<u64>,
}

/// Why a document gives no consent that could be relied on.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// Longer than [`MAX_SIZE`].
    #[error("the document at {PATH} has {0} bytes; at most {MAX_SIZE} are read")]
    TooLong(usize),
    /// Not JSON, or without a field that it must have.
    #[error("the document at {PATH} is not a consent: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Of a schema that this version doesn't know.
    #[error("the document at {PATH} is of schema `{0}`; this netburn reads {SCHEMA}")]
    Schema(String),
    /// An operator's text that is too long or has control characters in it.
    #[error("the operator named at {PATH} is not a line of at most {MAX_OPERATOR} plain characters")]
    Operator,
}

impl Consent {
    /// The document of a server that consents, in the name of `operator`.
    ///
    /// # Errors
    /// [`Operator`](ConsentError::Operator) when that isn't a line of plain text.
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

    /// Reads a document that came from a server nobody trusts yet.
    ///
    /// # Errors
    /// When it isn't one; then there is no consent.
    pub fn parse(bytes: &[u8]) -> Result<Self, ConsentError> {
        if bytes.len() > MAX_SIZE {
            return Err(ConsentError::TooLong(bytes.len()));
        }
        // The schema first: a later one may lack what this one must have.
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

    /// The document's text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain fields become JSON");
        text.push('\n');
        text
    }

    /// What the server caps itself at.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        self.rate_bps.map(BitRate::from_bps)
    }
}

/// The text, if a terminal can be trusted with it: no control characters, and none that turn the reading direction.
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
    fn a_document_reads_as_it_was_written() {
        let mut consent = good();
        consent.datagram_port = Some(4480);
        consent.rate_bps = Some(1_000_000_000);
        consent.per_client.connections = Some(512);
        assert_eq!(Consent::parse(consent.to_json().as_bytes()).unwrap(), consent);
        assert_eq!(consent.rate(), Some(BitRate::from_mbps(1000)));
    }

    #[test]
    fn the_least_that_is_a_consent() {
        let text =
            br#"{"schema":"netburn.consent/1","version":"9.0.0","consents":false,"operator":"","download":"/b/SIZE",
            "upload":"/s","max_object_bytes":5,"what_comes_later":[1,2]}"#;
        let consent = Consent::parse(text).unwrap();
        assert!(!consent.consents && consent.datagram_port.is_none() && consent.per_client == PerClient::default());
    }

    #[test]
    fn what_is_no_consent_says_why() {
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
