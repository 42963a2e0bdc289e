//! URLs of HTTP servers, parsed by the crate `url` (URL Standard). Host names beyond ASCII become Punycode.

use std::fmt;
use std::str::FromStr;
use url::Position;

/// An `http` or `https` URL, without user name and fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// True if the scheme is `https`.
    pub secure: bool,
    /// Host: a name, an IPv4 address, or an IPv6 address in brackets.
    pub host: String,
    /// Port; default 80 or 443.
    pub port: u16,
    /// Path and query, beginning with `/`.
    pub path: String,
}

/// Error of a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The scheme is unsupported.
    #[error("unsupported scheme: found `{0}`, expected http:// or https://")]
    Scheme(String),
    /// The URL contains a user name.
    #[error("unsupported user name in `{0}`; netburn sends no credentials")]
    User(String),
    /// The URL is invalid.
    #[error("invalid URL: found `{found}` ({why}), expected the form http://192.0.2.1:8080/path")]
    Malformed {
        /// The text.
        found: String,
        /// Description.
        why: String,
    },
}

impl FromStr for Url {
    type Err = UrlError;

    /// Parses `http://host/path?query`. The default scheme is `http`.
    fn from_str(text: &str) -> Result<Self, UrlError> {
        let trimmed = text.trim();
        let parsed = if trimmed.contains("://") {
            url::Url::parse(trimmed)
        } else {
            url::Url::parse(&format!("http://{trimmed}"))
        };
        Url::new(parsed, text)
    }
}

impl Url {
    /// Converts the result of parsing `text`.
    fn new(parsed: Result<url::Url, url::ParseError>, text: &str) -> Result<Url, UrlError> {
        let malformed = |why: &str| UrlError::Malformed {
            found: text.to_owned(),
            why: why.to_owned(),
        };
        let url = parsed.map_err(|error| malformed(&error.to_string()))?;
        let secure = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(UrlError::Scheme(text.to_owned())),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::User(text.to_owned()));
        }
        let port = url.port_or_known_default().filter(|port| *port > 0);
        Ok(Url {
            secure,
            host: url.host_str().ok_or_else(|| malformed("no host"))?.to_owned(),
            port: port.ok_or_else(|| malformed("a port is 1 to 65535"))?,
            path: url[Position::BeforePath..Position::AfterQuery].to_owned(),
        })
    }

    /// Resolves a `Location` relative to this URL (RFC 9110 §10.2.2).
    ///
    /// # Errors
    /// [`UrlError`] when the result is invalid.
    pub fn join(&self, location: &str) -> Result<Url, UrlError> {
        let resolved = url::Url::parse(&self.to_string()).and_then(|base| base.join(location));
        Url::new(resolved, location)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.secure { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port != usual {
            write!(f, ":{}", self.port)?;
        }
        f.write_str(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed_and_formatted() {
        for (text, written) in [
            ("http://a", "http://a/"),
            ("a/b?c", "http://a/b?c"),
            ("http://a:80/x#frag", "http://a/x"),
            ("https://A.example:443/%20?q=/", "https://a.example/%20?q=/"),
            ("https://[::1]:8443/", "https://[::1]:8443/"),
            ("http://a?q", "http://a/?q"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("http://a/b/../é x", "http://a/%C3%A9%20x"),
            ("http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"),
        ] {
            assert_eq!(text.parse::<Url>().unwrap().to_string(), written, "{text}");
        }
        assert!(matches!("ftp://a/".parse::<Url>(), Err(UrlError::Scheme(_))));
        assert!(matches!("http://u:p@a/".parse::<Url>(), Err(UrlError::User(_))));
        for text in [
            "",
            "http://",
            "http://a:0/",
            "http://a:99999/",
            "http://a:b/",
            "http://a b/",
            "http://[::1/",
        ] {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_location_is_resolved_as_in_rfc_3986() {
        let url: Url = "http://a:8080/b/c/d?q".parse().unwrap();
        for (location, target) in [
            ("https://x/y", "https://x/y"),
            ("//g", "http://g/"),
            ("/g", "http://a:8080/g"),
            ("g", "http://a:8080/b/c/g"),
            ("g?y", "http://a:8080/b/c/g?y"),
            ("?y", "http://a:8080/b/c/d?y"),
            ("", "http://a:8080/b/c/d?q"),
            ("./g", "http://a:8080/b/c/g"),
            ("../g", "http://a:8080/b/g"),
            ("../../../g", "http://a:8080/g"),
            ("..", "http://a:8080/b/"),
        ] {
            assert_eq!(url.join(location).unwrap().to_string(), target, "{location}");
        }
    }
}
