//! Base64 for URLs: RFC 4648 §5, without padding.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]));
        }
    }
    text
}

/// Decodes a text; `None` if it is not the canonical encoding of any bytes.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for digit in group {
            bits = bits << 6 | DIGITS.iter().position(|d| d == digit)? as u32;
        }
        let missing = 4 - group.len();
        bits <<= 6 * missing;
        let whole = 3usize.checked_sub(missing).filter(|whole| *whole > 0)?;
        let [_, all @ ..] = bits.to_be_bytes();
        if all[whole..].iter().any(|rest| *rest != 0) {
            return None;
        }
        bytes.extend_from_slice(&all[..whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_vectors_of_rfc_4648_without_their_padding() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(encode(&[0xfb, 0xff]), "-_8");
        for wrong in ["Z", "Zg==", "Zh", "Zm9", "Zm9vY", "+/8", "Zm 9"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn messages_are_equal_after_parsing(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }

        #[test]
        fn parsed_addresses_are_written_equally(text in "[A-Za-z0-9_-]{0,12}") {
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
