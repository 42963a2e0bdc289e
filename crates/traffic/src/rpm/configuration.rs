//! The configuration of a responsiveness test: a JSON document of a server that is not trusted.

use crate::fetch::{Url, UrlError};
use serde::Deserialize;
use serde_json::Value;

/// Maximum length of the document in bytes.
pub const MAX_SIZE: usize = 64 * 1024;
/// Maximum number of characters of a value in an error message.
const SHOWN: usize = 100;

/// Name of each URL in the draft, and the name that goresponsiveness uses.
const SMALL: [&str; 2] = ["small_download_url", "small_https_download_url"];
const LARGE: [&str; 2] = ["large_download_url", "large_https_download_url"];
const UPLOAD: [&str; 2] = ["upload_url", "https_upload_url"];

/// URLs of a test. All have the same host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    /// Host of the URLs: the name in `:authority` and in the certificate.
    pub host: String,
    /// Port of the URLs.
    pub port: u16,
    /// Host and port to connect to, if they differ from those of the URLs (`test_endpoint`).
    pub endpoint: Option<(String, u16)>,
    /// Path of the object of one byte.
    pub small: String,
    /// Path of the object for downloads.
    pub large: String,
    /// Path for uploads.
    pub upload: String,
}

/// Error of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// The document is longer than [`MAX_SIZE`].
    #[error("configuration: found more than {MAX_SIZE} bytes, expected at most {MAX_SIZE}")]
    TooLong,
    /// The document is not JSON, or has another form.
    #[error("invalid configuration: {0}, expected a JSON object with `version` and `urls`")]
    Malformed(String),
    /// The version is unknown.
    #[error("configuration: found version {0}, expected 1")]
    Version(String),
    /// A URL is missing.
    #[error("configuration: missing `{0}` in `urls`")]
    Missing(&'static str),
    /// A URL is invalid.
    #[error("configuration, `{0}`: {1}")]
    Url(&'static str, UrlError),
    /// A URL has no TLS.
    #[error("configuration, `{name}`: found {found}, expected https://")]
    Cleartext {
        /// Name of the URL.
        name: &'static str,
        /// URL.
        found: String,
    },
    /// A URL has another host or port than the configuration.
    #[error("configuration, `{name}`: found {found}, expected {expected}, the server of the configuration")]
    OtherHost {
        /// Name of the URL, or `test_endpoint`.
        name: &'static str,
        /// Host and port.
        found: String,
        /// Host and port of the configuration.
        expected: String,
    },
    /// The URLs have several hosts or ports.
    #[error("configuration, `{name}`: found {found}, expected {expected}, as in the other URLs")]
    SeveralHosts {
        /// Name of the URL.
        name: &'static str,
        /// Host and port.
        found: String,
        /// Host and port of the first URL.
        expected: String,
    },
    /// `test_endpoint` is invalid.
    #[error("configuration, `test_endpoint`: found `{0}`, expected a name or an address")]
    Endpoint(String),
}

#[derive(Deserialize)]
struct Document {
    version: Value,
    #[serde(default)]
    urls: serde_json::Map<String, Value>,
    #[serde(default)]
    test_endpoint: Option<String>,
}

impl Urls {
    /// Parses the document of an untrusted server. `from` is its URL. Without `allow_other_host`, all URLs must have its
    /// host and its port.
    ///
    /// # Errors
    /// [`ConfigurationError`] for the first error.
    pub fn parse(bytes: &[u8], from: &Url, allow_other_host: bool) -> Result<Urls, ConfigurationError> {
        if bytes.len() > MAX_SIZE {
            return Err(ConfigurationError::TooLong);
        }
        let document: Document =
            serde_json::from_slice(bytes).map_err(|error| ConfigurationError::Malformed(shown(&error.to_string())))?;
        if document.version != 1 {
            return Err(ConfigurationError::Version(shown(&document.version.to_string())));
        }
        let [small, large, upload] = [SMALL, LARGE, UPLOAD].map(|names| url(&document.urls, names));
        let (small, large, upload) = (small?, large?, upload?);
        for (name, url) in [&small, &large, &upload] {
            if !url.secure {
                return Err(ConfigurationError::Cleartext {
                    name,
                    found: shown(&url.to_string()),
                });
            }
            if !allow_other_host && !same(url, from) {
                return Err(ConfigurationError::OtherHost {
                    name,
                    found: place(&url.host, url.port),
                    expected: place(&from.host, from.port),
                });
            }
            if !same(url, &small.1) {
                return Err(ConfigurationError::SeveralHosts {
                    name,
                    found: place(&url.host, url.port),
                    expected: place(&small.1.host, small.1.port),
                });
            }
        }
        let endpoint = document
            .test_endpoint
            .map(|text| endpoint(&text, small.1.port))
            .transpose()?
            .filter(|(host, port)| (host, *port) != (&small.1.host, small.1.port));
        if let Some((host, port)) = endpoint.as_ref().filter(|_| !allow_other_host) {
            return Err(ConfigurationError::OtherHost {
                name: "test_endpoint",
                found: place(host, *port),
                expected: place(&from.host, from.port),
            });
        }
        Ok(Urls {
            host: small.1.host,
            port: small.1.port,
            endpoint,
            small: small.1.path,
            large: large.1.path,
            upload: upload.1.path,
        })
    }
}

/// Returns the URL with one of these names, preferably one with TLS, and its name.
fn url(
    urls: &serde_json::Map<String, Value>,
    names: [&'static str; 2],
) -> Result<(&'static str, Url), ConfigurationError> {
    let mut found = None;
    for name in names {
        let Some(text) = urls.get(name).and_then(Value::as_str) else {
            continue;
        };
        let url: Url = text.parse().map_err(|error| ConfigurationError::Url(name, error))?;
        if url.secure {
            return Ok((name, url));
        }
        found.get_or_insert((name, url));
    }
    found.ok_or(ConfigurationError::Missing(names[0]))
}

/// Returns the host and the port of `test_endpoint`. Without a port, it is that of the URLs.
fn endpoint(text: &str, port: u16) -> Result<(String, u16), ConfigurationError> {
    let invalid = || ConfigurationError::Endpoint(shown(text));
    if text.contains(['@', '/', '\\', '?', '#']) {
        return Err(invalid());
    }
    let url: Url = format!("https://{text}").parse().map_err(|_| invalid())?;
    // Colons in the brackets of an IPv6 address do not precede a port.
    let has_port = text.rsplit(']').next().is_some_and(|end| end.contains(':'));
    Ok((url.host, if has_port { url.port } else { port }))
}

fn same(one: &Url, other: &Url) -> bool {
    one.host == other.host && one.port == other.port
}

fn place(host: &str, port: u16) -> String {
    shown(&format!("{host}:{port}"))
}

/// Returns the beginning of a text of the server, for a message.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn from() -> Url {
        "https://nb.example:4483/.well-known/nq".parse().unwrap()
    }

    fn document(at: &str) -> Value {
        json!({"version": 1, "urls": {
            "small_download_url": format!("{at}/s"),
            "large_download_url": format!("{at}/l"),
            "upload_url": format!("{at}/u"),
        }})
    }

    fn parse(document: &Value) -> Result<Urls, ConfigurationError> {
        Urls::parse(document.to_string().as_bytes(), &from(), false)
    }

    fn error(document: &Value) -> String {
        parse(document).unwrap_err().to_string()
    }

    #[test]
    fn a_configuration_of_the_same_server() {
        let urls = Urls {
            host: "nb.example".to_owned(),
            port: 4483,
            endpoint: None,
            small: "/s".to_owned(),
            large: "/l".to_owned(),
            upload: "/u".to_owned(),
        };
        assert_eq!(parse(&document("https://nb.example:4483")).unwrap(), urls);
        // A host name has no case.
        assert_eq!(parse(&document("https://NB.Example:4483")).unwrap(), urls);
        // goresponsiveness's names. With both, the one with TLS counts.
        let old = json!({"version": 1, "urls": {
            "small_download_url": "http://nb.example:4483/s",
            "small_https_download_url": "https://nb.example:4483/s",
            "large_https_download_url": "https://nb.example:4483/l",
            "https_upload_url": "https://nb.example:4483/u",
            "another": 7,
        }, "test_endpoint": "nb.example"});
        assert_eq!(parse(&old).unwrap(), urls);
    }

    #[test]
    fn another_host_or_port_needs_permission() {
        for (at, found) in [
            ("https://victim.example:4483", "victim.example:4483"),
            ("https://nb.example", "nb.example:443"),
            (
                "https://nb.example.victim.example:4483",
                "nb.example.victim.example:4483",
            ),
            ("https://127.0.0.1:4483", "127.0.0.1:4483"),
        ] {
            assert_eq!(
                error(&document(at)),
                format!(
                    "configuration, `small_download_url`: found {found}, expected nb.example:4483, the server of the \
                     configuration"
                )
            );
            let urls = Urls::parse(document(at).to_string().as_bytes(), &from(), true).unwrap();
            assert_eq!(place(&urls.host, urls.port), found);
        }
        let mut document = document("https://nb.example:4483");
        document["urls"]["upload_url"] = json!("https://victim.example:4483/u");
        assert!(error(&document).contains("`upload_url`: found victim.example:4483, expected nb.example:4483"));
        // With permission, all URLs still have one host.
        let several = Urls::parse(document.to_string().as_bytes(), &from(), true).unwrap_err();
        assert_eq!(
            several.to_string(),
            "configuration, `upload_url`: found victim.example:4483, expected nb.example:4483, as in the other URLs"
        );
    }

    #[test]
    fn another_endpoint_needs_permission() {
        let mut document = document("https://nb.example:4483");
        for (endpoint, found) in [
            ("victim.example", "victim.example:4483"),
            ("nb.example:22", "nb.example:22"),
            ("[::1]", "[::1]:4483"),
        ] {
            document["test_endpoint"] = json!(endpoint);
            assert_eq!(
                error(&document),
                format!(
                    "configuration, `test_endpoint`: found {found}, expected nb.example:4483, the server of the \
                     configuration"
                )
            );
            let urls = Urls::parse(document.to_string().as_bytes(), &from(), true).unwrap();
            let (host, port) = urls.endpoint.unwrap();
            assert_eq!((urls.host.as_str(), place(&host, port).as_str()), ("nb.example", found));
        }
        for endpoint in ["", "a b", "user@nb.example", "nb.example:99999", "nb.example:0", "a/b"] {
            document["test_endpoint"] = json!(endpoint);
            assert_eq!(
                error(&document),
                format!("configuration, `test_endpoint`: found `{endpoint}`, expected a name or an address")
            );
        }
        document["test_endpoint"] = json!("NB.example:4483");
        assert_eq!(parse(&document).unwrap().endpoint, None);
    }

    #[test]
    fn invalid_documents_return_their_error() {
        let mut cleartext = document("https://nb.example:4483");
        cleartext["urls"]["large_download_url"] = json!("http://nb.example:4483/l");
        assert_eq!(
            error(&cleartext),
            "configuration, `large_download_url`: found http://nb.example:4483/l, expected https://"
        );
        for version in [json!(2), json!("1"), json!(1.5), Value::Null] {
            let mut document = document("https://nb.example:4483");
            document["version"] = version.clone();
            assert_eq!(
                error(&document),
                format!("configuration: found version {version}, expected 1")
            );
        }
        assert_eq!(
            error(&json!({"version": 1})),
            "configuration: missing `small_download_url` in `urls`"
        );
        let mut wrong = document("https://nb.example:4483");
        wrong["urls"]["upload_url"] = json!(7);
        assert_eq!(error(&wrong), "configuration: missing `upload_url` in `urls`");
        wrong["urls"]["upload_url"] = json!("ftp://nb.example/u");
        assert_eq!(
            error(&wrong),
            "configuration, `upload_url`: unsupported scheme: found `ftp://nb.example/u`, expected http:// or https://"
        );
        for text in [
            &b""[..],
            b"<html>",
            b"[]",
            b"{}",
            b"{\"version\":1,\"urls\":7}",
            &[b'['; 60_000],
        ] {
            let error = Urls::parse(text, &from(), false).unwrap_err();
            assert!(matches!(error, ConfigurationError::Malformed(_)), "{error}");
        }
        let long = Urls::parse(&[b' '; MAX_SIZE + 1], &from(), false).unwrap_err();
        assert_eq!(
            long.to_string(),
            "configuration: found more than 65536 bytes, expected at most 65536"
        );
        let version = json!({"version": "x".repeat(1000)});
        assert!(error(&version).chars().count() < 200);
    }
}
