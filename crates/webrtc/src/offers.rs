//! Credentials of ICE, computed from the offer.
//!
//! The user name (`ufrag`) contains the time of the offer and the fingerprint of the browser's certificate. The password
//! is an HMAC of the user name, with a key that only the server has. A binding request that is authenticated with this
//! password therefore proves an offer. The server stores nothing between the offer and this request.

use crate::identity::Fingerprint;
use data_encoding::BASE64_NOPAD;
use netburn_units::{Duration, Instant};
use ring::hmac;
use std::sync::Arc;

/// Granularity of the time in user names. Credentials open a session until the end of the following interval.
const WINDOW: Duration = Duration::from_secs(60);
/// Length of the decoded user name: the window and the fingerprint.
const LENGTH: usize = 4 + 32;

/// Computes credentials. Clones have the same key.
#[derive(Debug, Clone)]
pub struct Offers(Arc<hmac::Key>);

/// Credentials for a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The server's user name: 48 characters of ICE (RFC 8839 §5.4).
    pub ufrag: String,
    /// The server's password: 43 characters of ICE.
    pub password: String,
}

impl Offers {
    /// Creates the source of credentials with a secret key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, key)))
    }

    /// Credentials for a browser whose certificate has this fingerprint. They open a session for at least one minute.
    #[must_use]
    pub fn answer(&self, now: Instant, certificate: Fingerprint) -> Answer {
        let mut name = [0; LENGTH];
        name[..4].copy_from_slice(&window(now).to_be_bytes());
        name[4..].copy_from_slice(&certificate.0);
        Answer {
            ufrag: BASE64_NOPAD.encode(&name),
            password: self.password(&name),
        }
    }

    /// Decodes a user name of the server and computes its password. `None` if the name has another format.
    pub(crate) fn decode(&self, ufrag: &str) -> Option<Claim> {
        let name: [u8; LENGTH] = BASE64_NOPAD.decode(ufrag.as_bytes()).ok()?.try_into().ok()?;
        let (window, fingerprint) = name.split_at(4);
        Some(Claim {
            window: u32::from_be_bytes(window.try_into().ok()?),
            certificate: Fingerprint(fingerprint.try_into().ok()?),
            password: self.password(&name),
        })
    }

    fn password(&self, name: &[u8; LENGTH]) -> String {
        BASE64_NOPAD.encode(hmac::sign(&self.0, name).as_ref())
    }
}

/// Content of a user name. It is proven by a message that is authenticated with `password`.
#[derive(Debug)]
pub(crate) struct Claim {
    window: u32,
    pub(crate) certificate: Fingerprint,
    pub(crate) password: String,
}

impl Claim {
    /// Returns whether the offer is recent enough for a new session.
    pub(crate) fn opens(&self, now: Instant) -> bool {
        let now = window(now);
        self.window == now || self.window == now.wrapping_sub(1)
    }
}

fn window(now: Instant) -> u32 {
    // Wraps after 8,000 years.
    now.as_nanos().div_euclid(WINDOW.as_nanos().cast_signed()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_valid_for_one_to_two_minutes() {
        let offers = Offers::new(&[1; 32]);
        let certificate = Fingerprint([7; 32]);
        // 100 s is in the window from 60 s to 120 s. The following window ends at 180 s.
        let answer = offers.answer(Instant::from_secs(100), certificate);
        // 36 bytes in Base64 (4 characters for 3 bytes) and 32 bytes (43 characters, RFC 4648 §4).
        assert_eq!((answer.ufrag.len(), answer.password.len()), (48, 43));
        let claim = offers.decode(&answer.ufrag).unwrap();
        assert_eq!((claim.certificate, &claim.password), (certificate, &answer.password));
        for (secs, opens) in [(59, false), (60, true), (100, true), (179, true), (180, false)] {
            assert_eq!(claim.opens(Instant::from_secs(secs)), opens, "{secs}");
        }
    }

    #[test]
    fn another_key_or_name_has_another_password() {
        let (offers, other) = (Offers::new(&[1; 32]), Offers::new(&[2; 32]));
        let answer = offers.answer(Instant::from_secs(5), Fingerprint([7; 32]));
        assert_ne!(other.decode(&answer.ufrag).unwrap().password, answer.password);
        let changed = format!("B{}", &answer.ufrag[1..]);
        assert_ne!(offers.decode(&changed).unwrap().password, answer.password);
        for wrong in [
            "",
            "AAAA",
            "é",
            &answer.ufrag[1..],
            &format!("{}A", answer.ufrag),
            "a:b",
        ] {
            assert!(offers.decode(wrong).is_none(), "{wrong}");
        }
    }
}
