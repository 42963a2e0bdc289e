//! The answer of a server to the offer of a WebRTC data channel by a browser: `GET /.well-known/netburn/channel`.
//!
//! The query has three parameters: `fleet`, a random number as for the consent document; `certificate`, the SHA-256 of the
//! browser's certificate; and `proof`, the [HMAC](crate::consent::fleet::FleetKey::offer) of both with the fleet's token.

use serde::{Deserialize, Serialize};

/// Path of the offers.
pub const PATH: &str = "/.well-known/netburn/channel";
/// Schema of the answer.
pub const SCHEMA: &str = "netburn.channel/1";

/// Answer to an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelAnswer {
    schema: String,
    /// User name fragment of ICE (RFC 8839 §5.4).
    pub ufrag: String,
    /// Password of ICE.
    pub password: String,
    /// SHA-256 of the server's certificate: 64 hexadecimal digits in lower case.
    pub certificate: String,
    /// UDP port of the server.
    pub port: u16,
}

impl ChannelAnswer {
    /// Creates an answer.
    #[must_use]
    pub fn new(ufrag: String, password: String, certificate: String, port: u16) -> Self {
        ChannelAnswer {
            schema: SCHEMA.to_owned(),
            ufrag,
            password,
            certificate,
            port,
        }
    }

    /// Parses the answer of an untrusted server. Returns `None` if it is invalid, or has characters with a meaning in SDP.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let answer: ChannelAnswer = serde_json::from_str(text).ok()?;
        let is_certificate = answer.certificate.len() == 64
            && answer
                .certificate
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let is_valid = answer.schema == SCHEMA
            && is_ice(&answer.ufrag)
            && is_ice(&answer.password)
            && is_certificate
            && answer.port != 0;
        is_valid.then_some(answer)
    }

    /// Encodes the answer as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain fields become JSON")
    }
}

/// Returns whether a text has the characters of ICE credentials (`ice-char`, RFC 8839 §5.4), and a plausible length.
fn is_ice(text: &str) -> bool {
    let is_char = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    (4..=256).contains(&text.len()) && text.bytes().all(is_char)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn an_answer_with_other_characters_than_those_of_ice_is_rejected() {
        let answer = ChannelAnswer::new("U".repeat(48), "p".repeat(43), "0a".repeat(32), 4480);
        assert_eq!(ChannelAnswer::parse(&answer.to_json()), Some(answer.clone()));
        let changes = [
            ("schema", json!("netburn.channel/2")),
            ("ufrag", json!("a\r\na=x")),
            ("password", json!(7)),
            ("certificate", json!("0A".repeat(32))),
            ("port", json!(0)),
            ("port", json!("4480")),
            ("port", json!(65536)),
        ];
        for (key, value) in changes {
            let mut document: Value = serde_json::from_str(&answer.to_json()).unwrap();
            document[key] = value;
            assert_eq!(ChannelAnswer::parse(&document.to_string()), None, "{key}");
        }
        assert_eq!(ChannelAnswer::parse("null"), None);
    }
}
