//! All sessions of one UDP socket.

use crate::clock::Clock;
use crate::identity::{Fingerprint, Identity};
use crate::offers::Offers;
use crate::session::{Outputs, Over, Session};
use crate::stun::BindingRequest;
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Limits of the sessions of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of peers that have proven an offer. A peer without DTLS needs about 200 bytes. Default 1,024.
    pub peers: usize,
    /// Maximum number of peers of one client, except loopback. A client is an IPv4 address or an IPv6 /64. Default 64.
    pub of_client: usize,
    /// Maximum number of sessions whose handshake is not complete, about 30 kB each. Default 64.
    pub handshakes: usize,
    /// Maximum time from the proof of an offer to an open data channel. Default 15 s.
    pub handshake_time: Duration,
    /// Time without a binding request after which a session ends. A browser sends one every 5 s (RFC 7675). Default 30 s.
    pub idle: Duration,
    /// Maximum number of bytes that wait in a session. Further messages are dropped. Default 64 KiB.
    pub queued: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            peers: 1_024,
            of_client: 64,
            handshakes: 64,
            handshake_time: Duration::from_secs(15),
            idle: Duration::from_secs(30),
            queued: 64 * 1024,
        }
    }
}

/// Counters of datagrams and sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Binding requests answered.
    pub bound: u64,
    /// Data channels opened.
    pub opened: u64,
    /// Datagrams that are neither a binding request nor from a peer.
    pub malformed: u64,
    /// Binding requests without proof of a recent offer.
    pub unverified: u64,
    /// Datagrams, peers and messages dropped by a limit.
    pub limited: u64,
    /// Sessions that ended before their data channel was open.
    pub failed: u64,
}

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Destination.
    pub to: SocketAddr,
    /// Local address to send from, if known.
    pub from: Option<IpAddr>,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Address of the browser.
    pub from: SocketAddr,
    /// Local address at which it arrived, if known.
    pub to: Option<IpAddr>,
    /// Content, at most [`MAX_MESSAGE`](crate::MAX_MESSAGE) bytes.
    pub bytes: Vec<u8>,
}

/// An address that has proven an offer.
struct Peer {
    local: Option<IpAddr>,
    certificate: Fingerprint,
    /// Its user name, with which it continues to send binding requests.
    ufrag: String,
    proven: Instant,
    heard: Instant,
    /// Created with the first datagram of DTLS.
    session: Option<Box<Session>>,
    is_open: bool,
    /// Its place in the index of timeouts.
    due: Instant,
}

/// Client of an address: an IPv4 address, or the first address of an IPv6 /64, all of which one client may use
/// (RFC 6177). `::1` is a client of its own.
fn client(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::from(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

/// Minimum time to the next timeout of a peer, so that each timeout is later than the previous one.
const MIN_WAIT: Duration = Duration::from_millis(1);

impl Peer {
    /// Time of the next timeout, after an input at `now`.
    fn next_due(&self, now: Instant, limits: &Limits) -> Instant {
        let end = if self.is_open {
            self.heard.checked_add(limits.idle)
        } else {
            self.proven.checked_add(limits.handshake_time)
        };
        let session = self.session.as_ref().and_then(|session| session.poll_timeout());
        let end = end.unwrap_or(self.heard);
        session.map_or(end, |at| at.min(end)).max(now + MIN_WAIT)
    }

    fn is_over(&self, now: Instant, limits: &Limits) -> bool {
        let (since, most) = if self.is_open {
            (self.heard, limits.idle)
        } else {
            (self.proven, limits.handshake_time)
        };
        now.checked_since(since).is_some_and(|time| time >= most)
    }

    fn is_in_handshake(&self) -> bool {
        self.session.is_some() && !self.is_open
    }
}

/// All sessions of one UDP socket, without the socket.
///
/// **Call order:** call [`handle_datagram`](Self::handle_datagram) for each received datagram for which
/// [`is_webrtc`](crate::is_webrtc) is true, and [`handle_timeout`](Self::handle_timeout) at
/// [`poll_timeout`](Self::poll_timeout), with times that do not decrease. After each of them and after
/// [`send`](Self::send), drain [`poll_message`](Self::poll_message) and [`poll_transmit`](Self::poll_transmit).
pub struct ChannelServer {
    offers: Offers,
    identity: Identity,
    limits: Limits,
    clock: Clock,
    peers: BTreeMap<SocketAddr, Peer>,
    /// Peers by the time of their next timeout.
    due: BTreeSet<(Instant, SocketAddr)>,
    of_client: BTreeMap<IpAddr, usize>,
    handshakes: usize,
    messages: VecDeque<Message>,
    out: VecDeque<Transmit>,
    counters: Counters,
}

impl ChannelServer {
    /// Creates a server without sessions. `zero` is an arbitrary instant: DTLS and SCTP get times relative to it.
    #[must_use]
    pub fn new(offers: Offers, identity: Identity, limits: Limits, zero: std::time::Instant) -> Self {
        Self {
            offers,
            identity,
            limits,
            clock: Clock::new(zero),
            peers: BTreeMap::new(),
            due: BTreeSet::new(),
            of_client: BTreeMap::new(),
            handshakes: 0,
            messages: VecDeque::new(),
            out: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Processes a datagram that was sent from `from` to the local address `local`.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, local: Option<IpAddr>, bytes: &[u8]) {
        match bytes.first() {
            Some(0..=3) => self.handle_stun(now, from, local, bytes),
            _ => self.handle_dtls(now, from, bytes),
        }
    }

    /// Answers a binding request. Without a proof of an offer it has no effect and no reply.
    fn handle_stun(&mut self, now: Instant, from: SocketAddr, local: Option<IpAddr>, bytes: &[u8]) {
        let Some(request) = BindingRequest::read(bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let known = self.peers.get(&from).is_some_and(|peer| peer.ufrag == request.ufrag);
        let claim = self.offers.decode(request.ufrag);
        let Some(claim) = claim.filter(|claim| (known || claim.opens(now)) && request.is_authentic(&claim.password))
        else {
            self.counters.unverified += 1;
            return;
        };
        if !known {
            // An open channel of this address ends only by itself. Before, another offer starts again.
            if !self.is_open(from) {
                self.remove(from);
            }
            if self.is_open(from) || !self.has_room(from.ip()) {
                self.counters.limited += 1;
                return;
            }
            *self.of_client.entry(client(from.ip())).or_insert(0) += 1;
            let mut peer = Peer {
                local,
                certificate: claim.certificate,
                ufrag: request.ufrag.to_owned(),
                proven: now,
                heard: now,
                session: None,
                is_open: false,
                due: now,
            };
            peer.due = peer.next_due(now, &self.limits);
            self.due.insert((peer.due, from));
            self.peers.insert(from, peer);
        }
        let bytes = request.response(from, &claim.password);
        self.out.push_back(Transmit {
            to: from,
            from: local,
            bytes,
        });
        self.counters.bound += 1;
        self.change(now, from, |peer, _| {
            peer.heard = now;
            Ok(())
        });
    }

    fn handle_dtls(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let Some(peer) = self.peers.get(&from) else {
            self.counters.malformed += 1;
            return;
        };
        if peer.session.is_none() && self.handshakes >= self.limits.handshakes {
            self.counters.limited += 1;
            return;
        }
        let (clock, identity) = (self.clock, self.identity.clone());
        self.change(now, from, |peer, outputs| {
            let certificate = peer.certificate;
            let session = peer
                .session
                .get_or_insert_with(|| Box::new(Session::new(now, clock, &identity, certificate)));
            session.handle_datagram(now, bytes, outputs)
        });
    }

    /// Sends a message. Returns false if there is no open data channel with this address, or if too many bytes wait.
    pub fn send(&mut self, now: Instant, to: SocketAddr, message: &[u8]) -> bool {
        let mut accepted = false;
        let most = self.limits.queued;
        self.change(now, to, |peer, outputs| {
            if let Some(session) = &mut peer.session {
                accepted = session.send(now, message, most, outputs)?;
            }
            Ok(())
        });
        if !accepted {
            self.counters.limited += 1;
        }
        accepted
    }

    /// Returns whether there is an open data channel with this address.
    #[must_use]
    pub fn is_open(&self, address: SocketAddr) -> bool {
        self.peers.get(&address).is_some_and(|peer| peer.is_open)
    }

    /// Handles the timeouts up to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((_, address)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            let limits = self.limits;
            self.change(now, address, |peer, outputs| {
                if peer.is_over(now, &limits) {
                    return Err(Over);
                }
                peer.session
                    .as_mut()
                    .map_or(Ok(()), |session| session.handle_timeout(now, outputs))
            });
        }
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout); `None` without peers.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Returns the next received message.
    pub fn poll_message(&mut self) -> Option<Message> {
        self.messages.pop_front()
    }

    /// Returns the next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.out.pop_front()
    }

    /// Returns the number of addresses that have proven an offer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.peers.len()
    }

    /// Returns true without such addresses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn has_room(&self, ip: IpAddr) -> bool {
        let client = client(ip);
        let of_client = self.of_client.get(&client).copied().unwrap_or(0);
        self.peers.len() < self.limits.peers && (client.is_loopback() || of_client < self.limits.of_client)
    }

    /// Applies an input to a peer, collects its output, and keeps the indexes. Removes a peer whose session is over.
    fn change(
        &mut self,
        now: Instant,
        address: SocketAddr,
        input: impl FnOnce(&mut Peer, &mut Outputs) -> Result<(), Over>,
    ) {
        let Some(peer) = self.peers.get_mut(&address) else {
            return;
        };
        let was_in_handshake = peer.is_in_handshake();
        let mut outputs = Outputs::default();
        let result = input(peer, &mut outputs);
        let is_open = peer.session.as_ref().is_some_and(|session| session.is_open());
        if is_open && !peer.is_open {
            self.counters.opened += 1;
        }
        peer.is_open = is_open;
        match (was_in_handshake, peer.is_in_handshake()) {
            (false, true) => self.handshakes += 1,
            (true, false) => self.handshakes -= 1,
            (true, true) | (false, false) => {}
        }
        let local = peer.local;
        self.due.remove(&(peer.due, address));
        peer.due = peer.next_due(now, &self.limits);
        self.due.insert((peer.due, address));
        self.out.extend(outputs.datagrams.into_iter().map(|bytes| Transmit {
            to: address,
            from: local,
            bytes,
        }));
        self.messages.extend(outputs.messages.into_iter().map(|bytes| Message {
            from: address,
            to: local,
            bytes,
        }));
        if result.is_err() {
            self.remove(address);
        }
    }

    fn remove(&mut self, address: SocketAddr) {
        let Some(peer) = self.peers.remove(&address) else {
            return;
        };
        self.due.remove(&(peer.due, address));
        if peer.is_in_handshake() {
            self.handshakes -= 1;
        }
        if !peer.is_open {
            self.counters.failed += 1;
        }
        let client = client(address.ip());
        if let Some(count) = self.of_client.get_mut(&client) {
            *count -= 1;
            if *count == 0 {
                self.of_client.remove(&client);
            }
        }
    }
}

impl std::fmt::Debug for ChannelServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChannelServer")
            .field("peers", &self.peers.len())
            .field("handshakes", &self.handshakes)
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}
