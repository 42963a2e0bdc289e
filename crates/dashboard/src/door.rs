//! Who is let in: by the name that a request was sent to, by its key, and not from other sites.

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use netburn_fleet::controller::Token;
use ring::hmac;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Under which names a server may be asked.
///
/// Another site's name can be made to lead to this machine (DNS rebinding); its pages would then be of the same origin as
/// ours. So a name has to be one that we were told, while an address can't be pointed elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts {
    everywhere: bool,
    addresses: Vec<IpAddr>,
    names: Vec<String>,
}

/// A lock and its key.
#[derive(Debug)]
pub(crate) struct Lock {
    key: Token,
    /// What a browser that showed the key is known by.
    session: Token,
    /// The cookie that holds it: one for each port, as browsers don't tell a machine's ports apart.
    cookie: String,
}

impl Hosts {
    /// Of a server that listens at these addresses, and is also called so.
    #[must_use]
    pub fn new(listens: &[SocketAddr], names: &[&str]) -> Hosts {
        Hosts {
            everywhere: listens.iter().any(|at| at.ip().is_unspecified()),
            addresses: listens.iter().map(|at| at.ip().to_canonical()).collect(),
            names: names
                .iter()
                .map(|name| name.trim_end_matches('.').to_ascii_lowercase())
                .collect(),
        }
    }

    /// Whether what a `Host` field says (RFC 9110 §7.2) is this server.
    #[must_use]
    pub fn are_meant(&self, host: &str) -> bool {
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
            return self.everywhere || ip.is_loopback() || self.addresses.contains(&ip);
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        host == "localhost" || self.names.contains(&host)
    }

    /// Whether these fields name this server, once.
    pub(crate) fn admit(&self, fields: &HeaderMap) -> bool {
        let mut hosts = fields.get_all(HOST).iter();
        match (hosts.next().map(|host| host.to_str()), hosts.next()) {
            (Some(Ok(host)), None) => self.are_meant(host),
            _ => false,
        }
    }
}

impl Lock {
    /// What this key opens, on a server of this port.
    pub(crate) fn new(key: Token, port: u16) -> Lock {
        let of = hmac::Key::new(hmac::HMAC_SHA256, key.reveal().as_bytes());
        let session = hmac::sign(&of, b"netburn runs session");
        let session: String = session.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Lock {
            key,
            session: Token::known(&session),
            cookie: format!("netburn-runs-{port}"),
        }
    }

    /// Has another key from now on; neither the one before opens any more nor its cookie.
    pub(crate) fn renew(&mut self, key: Token) {
        let cookie = std::mem::take(&mut self.cookie);
        *self = Lock {
            cookie,
            ..Lock::new(key, 0)
        };
    }

    /// Whether a request may see what is behind the lock: by a cookie, or by the key itself (`Authorization: Bearer`, RFC 6750).
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

    /// The cookie for whoever shows the right key.
    pub(crate) fn open(&self, key: &str, tls: bool) -> Option<String> {
        self.key.admits(key).then(|| {
            let secure = if tls { "; Secure" } else { "" };
            let (name, session) = (&self.cookie, self.session.reveal());
            format!("{name}={session}; Path=/runs; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}")
        })
    }
}

/// Whether a request was made by a page of another site (Fetch Metadata, `Sec-Fetch-Site`); browsers that don't say can't
/// be told from programs.
pub(crate) fn is_foreign(fields: &HeaderMap) -> bool {
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
    fn loopback_has_its_names_and_no_other() {
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
            assert!(hosts.are_meant(host), "{host}");
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
            assert!(!hosts.are_meant(host), "{host}");
        }
    }

    #[test]
    fn an_address_that_is_listened_at_is_meant_and_so_is_a_name_that_was_told() {
        let hosts = Hosts::new(&[at("192.0.2.1:4486")], &["Fleet.example.org"]);
        assert!(hosts.are_meant("192.0.2.1") && hosts.are_meant("fleet.example.org:1"));
        assert!(!hosts.are_meant("192.0.2.2") && !hosts.are_meant("example.org"));
        let everywhere = Hosts::new(&[at("[::]:4486")], &[]);
        assert!(everywhere.are_meant("192.0.2.2:1") && everywhere.are_meant("[2001:db8::1]"));
        assert!(!everywhere.are_meant("evil.example"));
    }

    #[test]
    fn a_request_names_one_host() {
        let hosts = Hosts::new(&[at("127.0.0.1:1")], &[]);
        let mut fields = HeaderMap::new();
        assert!(!hosts.admit(&fields));
        fields.append(HOST, HeaderValue::from_static("localhost"));
        assert!(hosts.admit(&fields));
        fields.append(HOST, HeaderValue::from_static("localhost"));
        assert!(!hosts.admit(&fields));
    }

    #[test]
    fn the_key_opens_and_its_cookie_goes_on_opening() {
        let mut lock = Lock::new(Token::known("AAECAwQFBgcICQoLDA0ODw"), 4486);
        assert_eq!(lock.open("another", false), None);
        assert_eq!(lock.open("", false), None);
        let cookie = lock.open("AAECAwQFBgcICQoLDA0ODw", false).unwrap();
        assert!(!cookie.contains("AAECAwQF"), "the key itself is in no cookie: {cookie}");
        let pair = cookie.split(';').next().unwrap().to_owned();
        let admits = |lock: &Lock, field, value: &str| {
            let mut fields = HeaderMap::new();
            fields.insert(field, HeaderValue::from_str(value).unwrap());
            lock.admits(&fields)
        };
        let with = |field, value: &str| admits(&lock, field, value);
        assert!(with(COOKIE, &pair) && with(COOKIE, &format!("a=b; {pair}; c")));
        assert!(with(AUTHORIZATION, "Bearer AAECAwQFBgcICQoLDA0ODw"));
        for wrong in ["netburn-runs-4486=", "netburn-runs-4486=AAECAwQFBgcICQoLDA0ODw", "x"] {
            assert!(!with(COOKIE, wrong), "{wrong}");
        }
        assert!(!with(COOKIE, &pair.replace("4486", "4487")) && !with(AUTHORIZATION, "Basic x"));
        assert!(lock.open("AAECAwQFBgcICQoLDA0ODw", true).unwrap().ends_with("; Secure"));
        lock.renew(Token::known("EBESExQVFhcYGRobHB0eHw"));
        assert!(!admits(&lock, COOKIE, &pair) && !admits(&lock, AUTHORIZATION, "Bearer AAECAwQFBgcICQoLDA0ODw"));
        let new = lock.open("EBESExQVFhcYGRobHB0eHw", false).unwrap();
        let new = new.split(';').next().unwrap();
        assert!(new.starts_with("netburn-runs-4486=") && admits(&lock, COOKIE, new));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_other_name_is_meant(host in "[a-z0-9.:\\[\\]-]{0,30}") {
            let hosts = Hosts::new(&[at("127.0.0.1:4486")], &[]);
            if hosts.are_meant(&host) {
                let bare = host.trim_start_matches('[').to_owned();
                prop_assert!(bare.starts_with("localhost") || bare.starts_with("127.") || bare.starts_with("::") || bare.starts_with("0:"), "{host}");
            }
        }
    }
}
