//! Entry point of the fuzzer: datagrams from an address with a proven offer, and from one without.

use crate::{ChannelServer, Fingerprint, Identity, Limits, Offers, stun};
use netburn_units::{Duration, Instant};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

/// Splits `data` into datagrams by lengths of two bytes, and passes them to a server. One of the two addresses has a proven offer.
///
/// # Panics
/// If a law is broken: the server replies to an address without an offer, or exceeds a limit.
pub fn datagrams(data: &[u8]) {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| Identity::generate().expect("random numbers"));
    let limits = Limits {
        peers: 4,
        ..Limits::default()
    };
    let offers = Offers::new(&[1; 32]);
    let mut server = ChannelServer::new(offers.clone(), identity.clone(), limits, std::time::Instant::now());
    let [known, unknown] = [1, 2].map(|last| SocketAddr::from((Ipv4Addr::new(192, 0, 2, last), 4000)));
    let mut now = Instant::from_secs(1);
    let answer = offers.answer(now, Fingerprint([3; 32]));
    let request = stun::request(&format!("{}:peer", answer.ufrag), &answer.password, [4; 12]);
    server.handle_datagram(now, known, None, &request);
    assert_eq!(server.poll_transmit().map(|sent| sent.to), Some(known));
    let mut rest = data;
    while let [high, low, more @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*high & 0x07, *low])).min(more.len());
        let from = if high & 0x80 == 0 { known } else { unknown };
        let (datagram, after) = more.split_at(length);
        rest = after;
        now += Duration::from_millis(u64::from(high >> 3 & 0x0f) * 50);
        server.handle_datagram(now, from, None, datagram);
        if server.poll_timeout().is_some_and(|at| at <= now) {
            server.handle_timeout(now);
        }
        while let Some(sent) = server.poll_transmit() {
            assert_eq!(sent.to, known, "a reply without an offer");
        }
        assert_eq!(server.poll_message(), None, "a message without a handshake");
        assert!(server.len() <= limits.peers);
    }
    server.handle_timeout(now + Duration::from_secs(3600));
    assert!(server.is_empty());
}
