//! The join address of a fleet.
//!
//! ```text
//! http://192.168.1.5:4484/#TOKEN.FINGERPRINT     agents use TLS with this certificate, browsers plain HTTP
//! https://fleet.example.org:4484/#TOKEN          all use TLS with a certificate of a public CA
//! unix:/home/ada/…/controller.sock#TOKEN         on the controller's machine, also from inside a lab
//! ```
//!
//! The part after `#` is never sent in a request.

use data_encoding::BASE64URL_NOPAD;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Path of the members' standing connection.
pub const JOIN: &str = "/join";
/// Path prefix of connections to a run.
pub const RUN: &str = "/run/";

/// Default port of a fleet's controller. Not assigned by IANA.
pub const PORT: u16 = 4484;

/// Join address of a fleet.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinUrl {
    /// Address of the controller.
    pub place: Place,
    /// Token of the fleet; `None` if it is passed separately.
    pub token: Option<String>,
    /// SHA-256 of the controller's certificate (DER), for agents.
    pub fingerprint: Option<[u8; 32]>,
}

/// Address of a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// TCP address.
    Network {
        /// Name or IP address, IPv6 without brackets.
        host: String,
        /// Port.
        port: u16,
        /// True if browsers use TLS too, with a certificate that the system's roots verify.
        tls: bool,
    },
    /// Path of a Unix socket.
    Unix(PathBuf),
}

/// Error of parsing a join address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a join address: {reason}; `netburn fleet serve` prints one, such as http://192.168.1.5:{PORT}/#…"
)]
pub struct ParseJoinUrlError {
    text: String,
    reason: &'static str,
}

impl FromStr for JoinUrl {
    type Err = ParseJoinUrlError;

    fn from_str(text: &str) -> Result<JoinUrl, ParseJoinUrlError> {
        read(text).map_err(|reason| ParseJoinUrlError {
            // Without the secrets.
            text: text
                .split('#')
                .next()
                .unwrap_or_default()
                .chars()
                .filter(|c| !c.is_control())
                .take(80)
                .collect(),
            reason,
        })
    }
}

fn read(text: &str) -> Result<JoinUrl, &'static str> {
    let (place, secrets) = text
        .split_once('#')
        .map_or((text, None), |(place, secrets)| (place, Some(secrets)));
    let place = match place.strip_prefix("unix:") {
        Some("") => return Err("the socket's path is missing"),
        Some(path) => Place::Unix(path.into()),
        None => network(place)?,
    };
    let (token, fingerprint) = match secrets.filter(|secrets| !secrets.is_empty()) {
        None => (None, None),
        Some(secrets) => {
            let (token, fingerprint) = secrets.split_once('.').map_or((secrets, None), |(t, f)| (t, Some(f)));
            let fingerprint = match fingerprint {
                Some(text) => {
                    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok();
                    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
                    Some(bytes.ok_or("the part after the `.` is not a fingerprint; is the address complete?")?)
                }
                None => None,
            };
            (Some(token), fingerprint)
        }
    };
    if token.is_some_and(|token| !is_token(token)) {
        return Err("the part after the `#` is not a token; is the address complete?");
    }
    Ok(JoinUrl {
        place,
        token: token.map(str::to_owned),
        fingerprint,
    })
}

fn network(text: &str) -> Result<Place, &'static str> {
    let (tls, rest) = match (text.strip_prefix("http://"), text.strip_prefix("https://")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ if text.contains("://") => return Err("expected http:// or https://"),
        _ => (false, text),
    };
    let authority = match rest.split_once('/') {
        Some((authority, "")) => authority,
        Some(_) => return Err("unexpected path"),
        None => rest,
    };
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').ok_or("missing `]`")?;
            if !host.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()) {
                return Err("expected an IPv6 address in brackets");
            }
            let port = match port.strip_prefix(':') {
                Some(port) => Some(port),
                None if port.is_empty() => None,
                None => return Err("expected `:` and the port after `]`"),
            };
            (host, port)
        }
        None => authority
            .split_once(':')
            .map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b':');
    if host.is_empty() || host.len() > 253 || !host.bytes().all(plain) {
        return Err("missing or invalid host");
    }
    let port = match port {
        Some(port) => port
            .parse()
            .ok()
            .filter(|port| *port != 0)
            .ok_or("expected a port from 1 to 65535")?,
        None => PORT,
    };
    Ok(Place::Network {
        host: host.to_owned(),
        port,
        tls,
    })
}

/// Returns whether `text` has the form of a token: 16 to 64 letters, digits, `-` and `_`.
#[must_use]
pub fn is_token(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    (16..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// Creates a token of 128 random bits.
///
/// # Errors
/// If the system returns no random numbers.
pub fn new_token() -> std::io::Result<String> {
    use ring::rand::SecureRandom;
    let mut bytes = [0; 16];
    loop {
        let filled = ring::rand::SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| std::io::Error::other("the system returned no random numbers"))?;
        let token = BASE64URL_NOPAD.encode(&bytes);
        // A token that begins with `-` would be read as an option after `--token`.
        if !token.starts_with('-') {
            return Ok(token);
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Unix(path) => write!(f, "unix:{}", path.display()),
            Place::Network { host, port, tls } => {
                let scheme = if *tls { "https" } else { "http" };
                if host.contains(':') {
                    write!(f, "{scheme}://[{host}]:{port}/")
                } else {
                    write!(f, "{scheme}://{host}:{port}/")
                }
            }
        }
    }
}

impl fmt::Display for JoinUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        let Some(token) = &self.token else { return Ok(()) };
        write!(f, "#{token}")?;
        match &self.fingerprint {
            Some(fingerprint) => write!(f, ".{}", BASE64URL_NOPAD.encode(fingerprint)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for JoinUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinUrl({}…)", self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODw";

    #[test]
    fn the_address_that_is_printed_is_understood() {
        let fingerprint = BASE64URL_NOPAD.encode(&[0xab; 32]);
        let text = format!("http://192.168.1.5:4484/#{TOKEN}.{fingerprint}");
        let url: JoinUrl = text.parse().unwrap();
        assert_eq!(url.token.as_deref(), Some(TOKEN));
        assert_eq!(url.fingerprint, Some([0xab; 32]));
        assert_eq!(url.to_string(), text);
        // 32 and 16 bytes in base64: 43 and 22 characters (RFC 4648 §5).
        assert_eq!((TOKEN.len(), fingerprint.len()), (22, 43));
        assert!(!format!("{url:?}").contains(TOKEN), "no secret in a log");
    }

    #[test]
    fn places() {
        let place = |text: &str| text.parse::<JoinUrl>().map(|url| url.place.to_string());
        for (text, whole) in [
            ("laptop.local", "http://laptop.local:4484/"),
            ("http://laptop.local/", "http://laptop.local:4484/"),
            ("https://fleet.example.org:443", "https://fleet.example.org:443/"),
            ("http://[fe80::1]:9/", "http://[fe80::1]:9/"),
            ("[::1]", "http://[::1]:4484/"),
            ("10.0.0.7:80#", "http://10.0.0.7:80/"),
            ("unix:/run/x y.sock", "unix:/run/x y.sock"),
        ] {
            assert_eq!(place(text).as_deref(), Ok(whole), "{text}");
        }
        for wrong in [
            "",
            "#",
            "http://",
            "ftp://a/",
            "http://a/path",
            "http://a:0/",
            "http://a:65536/",
            "http://a:b/",
            "http://[a]/",
            "http://[::1/",
            "http://[::1]x/",
            "http://user@host/",
            "unix:",
            "http://a/#short",
            "http://a/#AAECAwQFBgcICQoLDA0ODw.abc",
            "http://a/#AAECAwQFBgcICQoLDA0ODw.",
            "http://a/#AAECAwQFBgcICQoLDA0O w",
            // 32 bytes, with padding, and with a last digit that has more bits than the bytes.
            "http://a/#AAECAwQFBgcICQoLDA0ODw.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "http://a/#AAECAwQFBgcICQoLDA0ODw.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
        ] {
            assert!(wrong.parse::<JoinUrl>().is_err(), "{wrong}");
        }
        let said = "http://a/#secretsecretsecret.x"
            .parse::<JoinUrl>()
            .unwrap_err()
            .to_string();
        assert!(!said.contains("secret"), "{said}");
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (new_token().unwrap(), new_token().unwrap());
        assert!(is_token(&one) && one.len() == 22 && one != other);
    }

    /// One of 64 random tokens would begin with `-`.
    #[test]
    fn a_token_is_not_read_as_an_option() {
        assert!((0..1_000).all(|_| !new_token().unwrap().starts_with('-')));
    }
}
