//! Consent to one fleet: who holds its token proves so.
//!
//! A client asks `/.well-known/netburn?fleet=NONCE` with a number that nobody used before. A server of its fleet puts
//! the number's HMAC-SHA256 (RFC 2104) under the token into the document. So a fleet can't be pointed at a server that
//! consents to others, and the token never travels.

use ring::hmac;
use std::fmt;

/// The parameter in the query.
pub const QUERY: &str = "fleet=";
/// How long a nonce is: so many letters, digits, `-` and `_`.
pub const NONCE_LENGTH: std::ops::RangeInclusive<usize> = 16..=64;

/// A fleet's token, as a key.
#[derive(Clone)]
pub struct FleetKey(hmac::Key);

impl FleetKey {
    /// Of a token; its text is the key.
    #[must_use]
    pub fn new(token: &str) -> FleetKey {
        FleetKey(hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes()))
    }

    /// What a server of the fleet answers to `nonce`: 64 hexadecimal digits. `None` for what is no nonce.
    #[must_use]
    pub fn answer(&self, nonce: &str) -> Option<String> {
        is_nonce(nonce).then(|| {
            let tag = hmac::sign(&self.0, nonce.as_bytes());
            tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }

    /// Whether `answer` to `nonce` comes from somebody who holds the token.
    #[must_use]
    pub fn accepts(&self, nonce: &str, answer: &str) -> bool {
        let digits = answer.as_bytes();
        let mut tag = [0; 32];
        if !is_nonce(nonce) || digits.len() != 64 {
            return false;
        }
        for (byte, pair) in tag.iter_mut().zip(digits.chunks(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                return false;
            };
            *byte = u8::try_from(high << 4 | low).expect("two hexadecimal digits");
        }
        // In a time that says nothing about where they differ.
        hmac::verify(&self.0, nonce.as_bytes(), &tag).is_ok()
    }
}

impl fmt::Debug for FleetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetKey(…)")
    }
}

/// Whether it is of a nonce's length and letters.
#[must_use]
pub fn is_nonce(text: &str) -> bool {
    NONCE_LENGTH.contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_hmac_sha256_of_the_nonce_under_the_tokens_text() {
        // From `printf 0123456789abcdef | openssl dgst -sha256 -hmac Jefe`.
        let key = FleetKey::new("Jefe");
        let answer = "fce640f778b7b3e2fdfaf0b98d6be8cd45776ca7a9b04f0272e2004d76b2db42";
        assert_eq!(key.answer("0123456789abcdef").as_deref(), Some(answer));
        assert!(key.accepts("0123456789abcdef", answer));
        assert!(key.accepts("0123456789abcdef", &answer.to_uppercase()));
    }

    #[test]
    fn nothing_else_is_accepted() {
        let (key, nonce) = (FleetKey::new("token"), "AZaz09-_AZaz09-_");
        let answer = key.answer(nonce).unwrap();
        assert!(!FleetKey::new("another").accepts(nonce, &answer));
        assert!(!key.accepts("AZaz09-_AZaz09-x", &answer));
        for wrong in [
            "",
            &answer[1..],
            &format!("{answer}0"),
            &answer.replace(['0', '1', '2', '3', '4', '5', '6', '7'], "g"),
        ] {
            assert!(!key.accepts(nonce, wrong), "{wrong}");
        }
        for wrong in [
            "",
            "short",
            &"x".repeat(65),
            "with a blank in it",
            "%41%41%41%41%41%41",
            "éééééééééééééééé",
        ] {
            assert_eq!(key.answer(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{key:?}"), "FleetKey(…)");
    }
}
