//! Proof of membership in a fleet, by knowledge of its token.
//!
//! A client requests `/.well-known/netburn?fleet=NONCE` with a fresh random number. A server of the fleet adds the
//! number's HMAC-SHA256 (RFC 2104) with the token as key to the document. A fleet can therefore not be directed at a
//! server that consents to others, and the token is never sent.

use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;

/// Query parameter with the nonce.
pub const QUERY: &str = "fleet=";
/// Length of a nonce in characters: letters, digits, `-` and `_`.
pub const NONCE_LENGTH: std::ops::RangeInclusive<usize> = 16..=64;

/// A fleet's token as a key.
#[derive(Clone)]
pub struct FleetKey(Hmac<Sha256>);

impl FleetKey {
    /// Creates the key from the text of a token.
    #[must_use]
    pub fn new(token: &str) -> FleetKey {
        FleetKey(Hmac::new_from_slice(token.as_bytes()).expect("a key of HMAC has any length"))
    }

    /// Returns the answer of a fleet's server to `nonce`: 64 hexadecimal digits. `None` for an invalid nonce.
    #[must_use]
    pub fn answer(&self, nonce: &str) -> Option<String> {
        is_nonce(nonce).then(|| self.sign(nonce))
    }

    /// Returns whether `answer` to `nonce` was computed with this token.
    #[must_use]
    pub fn accepts(&self, nonce: &str, answer: &str) -> bool {
        is_nonce(nonce) && self.verifies(nonce, answer)
    }

    /// Returns the proof of an offer of a data channel, by a browser whose certificate has this SHA-256 in hexadecimal
    /// digits. `None` for an invalid nonce. The answer to a nonce is never such a proof: no nonce contains a space.
    #[must_use]
    pub fn offer(&self, nonce: &str, certificate: &str) -> Option<String> {
        is_nonce(nonce).then(|| self.sign(&offered(nonce, certificate)))
    }

    /// Returns whether `proof` is that of [`offer`](Self::offer).
    #[must_use]
    pub fn accepts_offer(&self, nonce: &str, certificate: &str, proof: &str) -> bool {
        is_nonce(nonce) && self.verifies(&offered(nonce, certificate), proof)
    }

    fn sign(&self, text: &str) -> String {
        let tag = self.0.clone().chain_update(text).finalize().into_bytes();
        tag.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn verifies(&self, text: &str, signature: &str) -> bool {
        let digits = signature.as_bytes();
        let mut tag = [0; 32];
        if digits.len() != 64 {
            return false;
        }
        for (byte, pair) in tag.iter_mut().zip(digits.chunks(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                return false;
            };
            *byte = u8::try_from(high << 4 | low).expect("two hexadecimal digits");
        }
        // A comparison in constant time.
        self.0.clone().chain_update(text).verify_slice(&tag).is_ok()
    }
}

impl fmt::Debug for FleetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetKey(…)")
    }
}

/// Text whose HMAC proves an offer.
fn offered(nonce: &str, certificate: &str) -> String {
    format!("channel {nonce} {certificate}")
}

/// Returns whether a text has a nonce's length and characters.
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
    fn the_answer_is_the_hmac_sha256_of_the_nonce() {
        // From `printf 0123456789abcdef | openssl dgst -sha256 -hmac Jefe`.
        let key = FleetKey::new("Jefe");
        let answer = "fce640f778b7b3e2fdfaf0b98d6be8cd45776ca7a9b04f0272e2004d76b2db42";
        assert_eq!(key.answer("0123456789abcdef").as_deref(), Some(answer));
        assert!(key.accepts("0123456789abcdef", answer));
        assert!(key.accepts("0123456789abcdef", &answer.to_uppercase()));
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The examples of RFC 4231 §4 with a whole tag.
    #[test]
    fn hmac_sha256_has_known_answers() {
        let counted: Vec<u8> = (1..=25).collect();
        let long = "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be \
                    hashed before being used by the HMAC algorithm.";
        let cases: [(&[u8], &[u8], &str); 6] = [
            (
                &[0x0b; 20],
                b"Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 20],
                &[0xdd; 50],
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            ),
            (
                &counted,
                &[0xcd; 50],
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                &[0xaa; 131],
                long.as_bytes(),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (key, message, tag) in cases {
            let hmac = Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(message);
            assert_eq!(hex(&hmac.finalize().into_bytes()), tag);
        }
    }

    /// The examples of FIPS 180-4.
    #[test]
    fn sha256_has_known_answers() {
        use sha2::Digest;
        for (text, digest) in [
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(hex(&Sha256::digest(text)), digest);
        }
    }

    #[test]
    fn other_answers_are_rejected() {
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
