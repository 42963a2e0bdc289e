//! Permission to load-test a server.

use crate::client::{Method, Page, Target, request};
use crate::consent::{self, Consent};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Permission to load-test a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// The server is on this machine.
    ThisMachine,
    /// The server consents at `/.well-known/netburn`.
    Consents {
        /// Operator in the document: one line without control characters.
        by: String,
    },
    /// No permission is known; the user must confirm.
    Unknown,
}

impl Permission {
    /// The permission in a report.
    pub(crate) fn json(&self) -> Value {
        match self {
            Permission::ThisMachine => json!("this machine"),
            Permission::Consents { by } => json!({ "by": by }),
            Permission::Unknown => json!("not given by the server"),
        }
    }
}

/// Timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Determines the permission for `target`.
pub async fn check(target: &Target) -> Permission {
    if is_this_machine(target.address.ip()) {
        return Permission::ThisMachine;
    }
    match request(target, Method::Get, consent::PATH, consent::MAX_SIZE, TIMEOUT).await {
        Ok(page) => decide(&page),
        Err(_) => Permission::Unknown,
    }
}

/// Interprets the server's response. Only a complete document with consent is a permission.
#[must_use]
pub fn decide(page: &Page) -> Permission {
    if page.response.status != 200 || page.cut {
        return Permission::Unknown;
    }
    match Consent::parse(&page.content) {
        Ok(consent) if consent.consents => Permission::Consents { by: consent.operator },
        _ => Permission::Unknown,
    }
}

/// Returns whether `ip` is loopback or an address of this machine's interfaces. Packets to such an address have the
/// same source address. No packet is sent.
#[must_use]
pub fn is_this_machine(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    if ip.is_loopback() || ip.is_unspecified() {
        return true;
    }
    let any: IpAddr = match ip {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = || {
        let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
        // The discard port; connecting a datagram socket only looks up the route.
        socket.connect(SocketAddr::new(ip, 9))?;
        socket.local_addr()
    };
    source().is_ok_and(|from| from.ip() == ip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Response;
    use netburn_units::ByteSize;

    fn page(status: u16, content: &[u8]) -> Page {
        Page {
            response: Response {
                status,
                location: None,
                declared: None,
                content: content.len() as u64,
                keep: false,
            },
            content: content.to_vec(),
            cut: false,
            handshake: None,
        }
    }

    #[test]
    fn only_a_complete_document_with_consent_is_a_permission() {
        let mut document = Consent::new("the lab of Example College", ByteSize::from_gib(1)).unwrap();
        let yes = serde_json::to_vec(&document).unwrap();
        let by = "the lab of Example College".to_owned();
        assert_eq!(decide(&page(200, &yes)), Permission::Consents { by });
        assert_eq!(decide(&page(404, &yes)), Permission::Unknown);
        assert_eq!(decide(&page(200, b"<html>")), Permission::Unknown);
        assert_eq!(decide(&page(200, b"{}")), Permission::Unknown);
        let mut cut = page(200, &yes);
        cut.cut = true;
        assert_eq!(decide(&cut), Permission::Unknown);
        document.consents = false;
        let no = serde_json::to_vec(&document).unwrap();
        assert_eq!(decide(&page(200, &no)), Permission::Unknown);
    }

    #[test]
    fn this_machine_is_loopback_and_its_own_addresses() {
        for here in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::ffff:127.0.0.1"] {
            assert!(is_this_machine(here.parse().unwrap()), "{here}");
        }
        // Documentation addresses (RFC 5737, RFC 3849) do not belong to a host.
        for far in ["192.0.2.1", "2001:db8::1"] {
            assert!(!is_this_machine(far.parse().unwrap()), "{far}");
        }
        let out = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
            socket.connect("192.0.2.1:9")?;
            socket.local_addr()
        });
        if let Ok(own) = out {
            assert!(is_this_machine(own.ip()), "{own}");
        }
    }
}
