//! Access control: the host name of a request, the key, and requests of other sites.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use netburn_protocol::token::Token;
use ring::hmac;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Host names and addresses under which a server accepts requests.
///
/// An attacker can make a name resolve to this machine (DNS rebinding). A browser then treats the attacker's pages and this
/// server as one origin. Therefore the server accepts only configured names. IP addresses are not affected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts {
    unspecified: bool,
    addresses: Vec<IpAddr>,
    names: Vec<String>,
}

/// Key of the dashboard, and the session cookie of browsers that have logged in with it.
#[derive(Debug)]
pub(crate) struct AccessKey {
    key: Token,
    /// Value of the session cookie: an HMAC of the key.
    session: Token,
    /// Name of the session cookie. It contains the port, because browsers send a cookie to all ports of a host.
    cookie: String,
}

impl Hosts {
    /// Hosts of a server that listens at `listens` and is also reachable under `names`.
    #[must_use]
    pub fn new(listens: &[SocketAddr], names: &[&str]) -> Hosts {
        Hosts {
            unspecified: listens.iter().any(|at| at.ip().is_unspecified()),
            addresses: listens.iter().map(|at| at.ip().to_canonical()).collect(),
            names: names
                .iter()
                .map(|name| name.trim_end_matches('.').to_ascii_lowercase())
                .collect(),
        }
    }

    /// Returns true if the value of a `Host` field (RFC 9110 §7.2) names this server.
    #[must_use]
    pub fn matches(&self, host: &str) -> bool {
        let (host, port) = match host.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((host, _)) if host.parse::<Ipv6Addr>().is_err() => return false,
                Some((host, "")) => (host, None),
                Some((host, port)) if port.starts_with(':') => (host, Some(&port[1..])),
                _ => return false,
            },
            None => match host.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host, None),
            },
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return false;
        }
        if let Ok(ip) = host.parse::<IpAddr>() {
            let ip = ip.to_canonical();
            return self.unspecified || ip.is_loopback() || self.addresses.contains(&ip);
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        host == "localhost" || self.names.contains(&host)
    }

    /// Returns true if the header has exactly one `Host` field and it names this server.
    pub(crate) fn allow(&self, fields: &HeaderMap) -> bool {
        let mut hosts = fields.get_all(HOST).iter();
        match (hosts.next().map(|host| host.to_str()), hosts.next()) {
            (Some(Ok(host)), None) => self.matches(host),
            _ => false,
        }
    }
}

impl AccessKey {
    /// Access with `key` on a server at `port`.
    pub(crate) fn new(key: Token, port: u16) -> AccessKey {
        let hmac_key = hmac::Key::new(hmac::HMAC_SHA256, key.reveal().as_bytes());
        let session = hmac::sign(&hmac_key, b"netburn runs session");
        let session: String = session.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        AccessKey {
            key,
            session: Token::known(&session),
            cookie: format!("netburn-runs-{port}"),
        }
    }

    /// Replaces the key. The previous key and its session cookie become invalid.
    pub(crate) fn replace(&mut self, key: Token) {
        let cookie = std::mem::take(&mut self.cookie);
        *self = AccessKey {
            cookie,
            ..AccessKey::new(key, 0)
        };
    }

    /// Returns true if the request has the session cookie or the key itself (`Authorization: Bearer`, RFC 6750).
    pub(crate) fn admits(&self, fields: &HeaderMap) -> bool {
        let cookies = fields.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let bearer = || {
            let value = fields.get(AUTHORIZATION)?.to_str().ok()?;
            value.strip_prefix("Bearer ").map(|key| self.key.admits(key.trim()))
        };
        cookies.any(|(name, value)| name == self.cookie && self.session.admits(value)) || bearer() == Some(true)
    }

    /// Value of the `Set-Cookie` field if `key` is right.
    pub(crate) fn login(&self, key: &str, tls: bool) -> Option<String> {
        self.key.admits(key).then(|| {
            let secure = if tls { "; Secure" } else { "" };
            let (name, session) = (&self.cookie, self.session.reveal());
            format!("{name}={session}; Path=/runs; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}")
        })
    }
}

/// Returns true if a page of another site sent the request (Fetch Metadata, `Sec-Fetch-Site`). Requests without the field are
/// from programs or old browsers and are allowed.
pub(crate) fn is_cross_site(fields: &HeaderMap) -> bool {
    fields
        .get("sec-fetch-site")
        .is_some_and(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;
    use proptest::prelude::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_loopback_server_accepts_only_loopback_names() {
        let hosts = Hosts::new(&[at("127.0.0.1:4486")], &[]);
        for host in [
            "127.0.0.1:4486",
            "localhost",
            "LocalHost:80",
            "[::1]:4486",
            "[::1]",
            "127.9.9.9",
            "localhost.",
        ] {
            assert!(hosts.matches(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "192.0.2.1:4486",
            "",
            "127.0.0.1.evil.example",
            "localhost:x",
            "[::1",
            "::1",
            "127.0.0.1:4486:1",
            "[127.0.0.1]x",
            "localhost@evil.example",
            "0x7f.1",
        ] {
            assert!(!hosts.matches(host), "{host}");
        }
    }

    #[test]
    fn listening_addresses_and_configured_names_are_accepted() {
        let hosts = Hosts::new(&[at("192.0.2.1:4486")], &["Fleet.example.org"]);
        assert!(hosts.matches("192.0.2.1") && hosts.matches("fleet.example.org:1"));
        assert!(!hosts.matches("192.0.2.2") && !hosts.matches("example.org"));
        let unspecified = Hosts::new(&[at("[::]:4486")], &[]);
        assert!(unspecified.matches("192.0.2.2:1") && unspecified.matches("[2001:db8::1]"));
        assert!(!unspecified.matches("evil.example"));
    }

    #[test]
    fn a_request_needs_exactly_one_host() {
        let hosts = Hosts::new(&[at("127.0.0.1:1")], &[]);
        let mut fields = HeaderMap::new();
        assert!(!hosts.allow(&fields));
        fields.append(HOST, HeaderValue::from_static("localhost"));
        assert!(hosts.allow(&fields));
        fields.append(HOST, HeaderValue::from_static("localhost"));
        assert!(!hosts.allow(&fields));
    }

    #[test]
    fn the_key_logs_in_and_its_cookie_stays_valid() {
        let mut access = AccessKey::new(Token::known("AAECAwQFBgcICQoLDA0ODw"), 4486);
        assert_eq!(access.login("another", false), None);
        assert_eq!(access.login("", false), None);
        let cookie = access.login("AAECAwQFBgcICQoLDA0ODw", false).unwrap();
        assert!(
            !cookie.contains("AAECAwQF"),
            "the cookie does not contain the key: {cookie}"
        );
        let pair = cookie.split(';').next().unwrap().to_owned();
        let admits = |access: &AccessKey, field, value: &str| {
            let mut fields = HeaderMap::new();
            fields.insert(field, HeaderValue::from_str(value).unwrap());
            access.admits(&fields)
        };
        let with = |field, value: &str| admits(&access, field, value);
        assert!(with(COOKIE, &pair) && with(COOKIE, &format!("a=b; {pair}; c")));
        assert!(with(AUTHORIZATION, "Bearer AAECAwQFBgcICQoLDA0ODw"));
        for wrong in ["netburn-runs-4486=", "netburn-runs-4486=AAECAwQFBgcICQoLDA0ODw", "x"] {
            assert!(!with(COOKIE, wrong), "{wrong}");
        }
        assert!(!with(COOKIE, &pair.replace("4486", "4487")) && !with(AUTHORIZATION, "Basic x"));
        assert!(
            access
                .login("AAECAwQFBgcICQoLDA0ODw", true)
                .unwrap()
                .ends_with("; Secure")
        );
        access.replace(Token::known("EBESExQVFhcYGRobHB0eHw"));
        assert!(!admits(&access, COOKIE, &pair) && !admits(&access, AUTHORIZATION, "Bearer AAECAwQFBgcICQoLDA0ODw"));
        let new = access.login("EBESExQVFhcYGRobHB0eHw", false).unwrap();
        let new = new.split(';').next().unwrap();
        assert!(new.starts_with("netburn-runs-4486=") && admits(&access, COOKIE, new));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_other_name_is_accepted(host in "[a-z0-9.:\\[\\]-]{0,30}") {
            let hosts = Hosts::new(&[at("127.0.0.1:4486")], &[]);
            if hosts.matches(&host) {
                let bare = host.trim_start_matches('[').to_owned();
                prop_assert!(bare.starts_with("localhost") || bare.starts_with("127.") || bare.starts_with("::") || bare.starts_with("0:"), "{host}");
            }
        }
    }
}
