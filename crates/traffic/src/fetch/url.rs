//! URLs of HTTP servers.

use std::fmt;
use std::str::FromStr;

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
        let malformed = |why: &str| UrlError::Malformed {
            found: text.to_owned(),
            why: why.to_owned(),
        };
        let trimmed = text.trim();
        let whole = match trimmed.contains("://") {
            true => trimmed.to_owned(),
            false => format!("http://{trimmed}"),
        };
        let whole = whole.split('#').next().unwrap_or_default();
        let uri: http::Uri = whole
            .parse()
            .map_err(|error: http::uri::InvalidUri| malformed(&error.to_string()))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(UrlError::Scheme(text.to_owned())),
        };
        let authority = uri.authority().ok_or_else(|| malformed("no host"))?;
        if authority.as_str().contains('@') {
            return Err(UrlError::User(text.to_owned()));
        }
        let host = authority.host().to_owned();
        if host.is_empty() || host == "[]" {
            return Err(malformed("no host"));
        }
        let port = match authority.as_str()[host.len()..].strip_prefix(':') {
            None | Some("") => {
                if secure {
                    443
                } else {
                    80
                }
            }
            Some(port) => port
                .parse()
                .ok()
                .filter(|p| *p > 0)
                .ok_or_else(|| malformed("a port is 1 to 65535"))?,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("/{path}"),
        };
        Ok(Url {
            secure,
            host,
            port,
            path,
        })
    }
}

impl Url {
    /// Resolves a `Location` relative to this URL (RFC 9110 §10.2.2, RFC 3986 §5.2).
    /// | # Errors
    /// [`UrlError`] when the result is invalid.
    pub fn join(&self, location: &str) -> Result<Url, UrlError> {
        let location = location.trim();
        if location.contains("://") {
            return location.parse();
        }
        let scheme = if self.secure { "https" } else { "http" };
        if let Some(rest) = location.strip_prefix("//") {
            return format!("{scheme}://{rest}").parse();
        }
        let bare = self.path.split('?').next().unwrap_or("/");
        let path = match location.chars().next() {
            Some('/') => location.to_owned(),
            Some('?') => format!("{bare}{location}"),
            None | Some('#') => self.path.clone(),
            Some(_) => {
                let (file, query) = location.split_once('?').map_or((location, None), |(f, q)| (f, Some(q)));
                let folder = &bare[..=bare.rfind('/').unwrap_or(0)];
                let path = without_dots(&format!("{folder}{file}"));
                query.map_or(path.clone(), |query| format!("{path}?{query}"))
            }
        };
        format!("{scheme}://{}:{}{path}", self.host, self.port).parse()
    }

    /// Returns the host without the brackets of an IPv6 address, for name resolution.
    #[must_use]
    pub fn bare_host(&self) -> &str {
        self.host
            .strip_prefix('[')
            .and_then(|h| h.strip_suffix(']'))
            .unwrap_or(&self.host)
    }
}

/// Removes the segments `.` and `..` from a path (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let folder = matches!(path.rsplit('/').next(), Some("." | "..")) && !parts.is_empty();
    format!("/{}{}", parts.join("/"), if folder { "/" } else { "" })
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
            ("https://A.example:443/%20?q=/", "https://A.example/%20?q=/"),
            ("https://[::1]:8443/", "https://[::1]:8443/"),
            ("http://a?q", "http://a/?q"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ] {
            assert_eq!(text.parse::<Url>().unwrap().to_string(), written, "{text}");
        }
        assert!(matches!("ftp://a/".parse::<Url>(), Err(UrlError::Scheme(_))));
        assert!(matches!("http://u:p@a/".parse::<Url>(), Err(UrlError::User(_))));
        for text in [
            "",
            "http://",
            "http:///x",
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
