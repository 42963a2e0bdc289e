//! The server's streams of calls, without their socket.

use super::media::MediaDatagram;
use super::video::CallVideo;
use super::wire::{self, CallDatagram, Request};
use crate::datagram::wire::Cookie;
use crate::limiter::{Client, Limiter};
use netburn_units::{Duration, Instant, earlier};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// Limits of the calls of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Maximum number of calls. Default 4,096, about 10 kB each, without the arrivals.
    pub calls: usize,
    /// Maximum number of calls of one client, except loopback clients. Default 256.
    pub of_client: usize,
    /// Packets sent per client and second, except loopback clients. Default 10,000.
    pub packets: u32,
    /// Maximum number of clients with a stored rate. Default 16,384.
    pub clients: usize,
    /// Maximum number of video calls, which are calls as well. Default 512, about 130 kB each.
    pub video: usize,
    /// Maximum number of stored arrivals of all calls. Default 1,048,576, about 40 MB.
    pub arrivals: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            calls: 4_096,
            of_client: 256,
            packets: 10_000,
            clients: 16_384,
            video: 512,
            arrivals: 1 << 20,
        }
    }
}

/// Counters of datagrams by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallCounters {
    /// Requests answered with a report.
    pub reported: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets received, and datagrams of video calls.
    pub received: u64,
    /// Invalid datagrams, datagrams for clients, and requests that contradict the first one of their
    /// call.
    pub malformed: u64,
    /// Requests with an invalid or expired cookie, and packets of unknown calls.
    pub unverified: u64,
    /// Requests and packets dropped by a limit.
    pub limited: u64,
}

/// A packet to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Destination.
    pub to: SocketAddr,
    /// Local address to send from, if known.
    pub from: Option<IpAddr>,
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Maximum time for which one request allows packets.
const AHEAD: Duration = Duration::from_secs(2);
/// Time without a request after which a call ends.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum distance of the anchor of a new call from its first request.
const MAX_ANCHOR: Duration = Duration::from_secs(60);
/// Maximum number of stored arrivals of a call, those of the newest packets: 1.6 s at 10,000 packets per second.
const MAX_ARRIVALS: usize = 16_384;

type Key = (SocketAddr, u64);

/// All calls of one socket.
///
/// **Call order:** call [`handle_datagram`](Self::handle_datagram) for each received datagram of a call and
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout), with times that do not decrease.
/// After each, drain [`poll_transmit`](Self::poll_transmit).
#[derive(Debug)]
pub struct CallServer {
    limits: CallLimits,
    calls: BTreeMap<Key, Call>,
    /// Calls by the time of their next event.
    due: BTreeSet<(Instant, Key)>,
    of_client: BTreeMap<Client, usize>,
    packets: Limiter,
    out: VecDeque<Outgoing>,
    /// Number of stored arrivals of all calls.
    arrivals: usize,
    counters: CallCounters,
    /// Number of video calls.
    videos: usize,
}

#[derive(Debug)]
struct Call {
    request: Request,
    /// The server's end of a video call.
    video: Option<Box<CallVideo>>,
    local: Option<IpAddr>,
    /// Number of the next packet or frame.
    next: u32,
    /// Packets or frames with lower numbers are allowed.
    until: u32,
    expires: Instant,
    arrivals: Arrivals,
}

impl Call {
    fn due(&self, number: u32) -> Option<Instant> {
        let after = self.request.units().offset(number.into())?;
        self.request.anchor.checked_add(after)
    }

    /// Length of a packet in bytes.
    fn size(&self) -> usize {
        usize::try_from(self.request.stream.size.as_bytes()).unwrap_or(usize::MAX)
    }

    /// Time of the next packet or frame, of the next timeout of a video call, or of the end.
    fn event(&self) -> Instant {
        let packet = self.due(self.next).filter(|_| self.next < self.until);
        let video = self.video.as_ref().and_then(|video| video.poll_timeout());
        let next = earlier(packet, video);
        next.map_or(self.expires, |next| next.min(self.expires))
    }

    /// A packet of the server for the client.
    fn packet(&self, key: Key, bytes: Vec<u8>) -> Outgoing {
        Outgoing {
            to: key.0,
            from: self.local,
            dscp: self.request.dscp,
            bytes,
        }
    }

    /// Next datagram of a video call.
    fn poll_video(&mut self) -> Option<Vec<u8>> {
        let request = self.request;
        let due = |number: u32| request.anchor.checked_add(request.units().offset(number.into())?);
        self.video.as_mut()?.poll_transmit(due)
    }
}

impl CallServer {
    /// Creates a server without calls.
    #[must_use]
    pub fn new(limits: CallLimits) -> Self {
        Self {
            packets: Limiter::new(limits.packets, limits.packets, limits.clients),
            limits,
            calls: BTreeMap::new(),
            due: BTreeSet::new(),
            of_client: BTreeMap::new(),
            out: VecDeque::new(),
            arrivals: 0,
            counters: CallCounters::default(),
            videos: 0,
        }
    }

    /// Processes a datagram that was sent to the local address `local`. Returns true if there is a reply. The reply
    /// replaces the content of `datagram`, with the same length. `is_good` checks a cookie.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: SocketAddr,
        local: Option<IpAddr>,
        is_good: impl FnOnce(Cookie) -> bool,
        datagram: &mut [u8],
    ) -> bool {
        match wire::read(datagram) {
            Some(CallDatagram::Request { cookie, request, .. }) => {
                if !is_good(cookie) {
                    self.counters.unverified += 1;
                    return false;
                }
                let key = (from, request.call);
                let is_new = !self.calls.contains_key(&key);
                if is_new && !self.open(now, key, local, request) {
                    return false;
                }
                self.renew(now, key, &request, datagram)
            }
            Some(CallDatagram::Up { call, number }) => {
                if self.calls.contains_key(&(from, call)) {
                    self.store(now, (from, call), number);
                    self.counters.received += 1;
                } else {
                    self.counters.unverified += 1;
                }
                false
            }
            Some(CallDatagram::Video(media)) => {
                self.handle_video(now, (from, media.call()), &media);
                false
            }
            Some(CallDatagram::Report { .. } | CallDatagram::Down { .. }) | None => {
                self.counters.malformed += 1;
                false
            }
        }
    }

    /// Creates a call. Returns false if a limit or the anchor forbids it.
    fn open(&mut self, now: Instant, key: Key, local: Option<IpAddr>, request: Request) -> bool {
        let client = Client::at(key.0.ip());
        let of_client = self.of_client.get(&client).copied().unwrap_or(0);
        let is_full = of_client >= self.limits.of_client && !client.is_loopback();
        let no_video = request.video.is_some() && self.videos >= self.limits.video;
        if is_full || no_video || self.calls.len() >= self.limits.calls {
            self.counters.limited += 1;
            return false;
        }
        let since = now.checked_since(request.anchor);
        let off = since.or(request.anchor.checked_since(now)).unwrap_or(MAX_ANCHOR * 2);
        if off > MAX_ANCHOR {
            self.counters.malformed += 1;
            return false;
        }
        // Packets that are overdue are not sent.
        let passed = since.map_or(0, |since| request.units().packets_within(since));
        let video = request
            .video
            .map(|parameters| Box::new(CallVideo::new(request.call, request.stream, parameters)));
        self.videos += usize::from(video.is_some());
        let call = Call {
            next: u32::try_from(passed).unwrap_or(u32::MAX),
            until: 0,
            video,
            request,
            local,
            expires: now + IDLE,
            arrivals: Arrivals::default(),
        };
        self.due.insert((call.event(), key));
        self.calls.insert(key, call);
        *self.of_client.entry(client).or_insert(0) += 1;
        true
    }

    /// Allows more packets of a call, and makes the report.
    fn renew(&mut self, now: Instant, key: Key, request: &Request, datagram: &mut [u8]) -> bool {
        let Some(call) = self.calls.get_mut(&key) else {
            return false;
        };
        let is_same = |one: &Request, other: &Request| {
            (one.anchor, one.stream, one.dscp, one.video) == (other.anchor, other.stream, other.dscp, other.video)
        };
        if !is_same(&call.request, request) {
            self.counters.malformed += 1;
            return false;
        }
        self.due.remove(&(call.event(), key));
        let since = now.checked_since(call.request.anchor).unwrap_or_default() + AHEAD;
        let most = u32::try_from(call.request.units().packets_within(since)).unwrap_or(u32::MAX);
        call.until = call.until.max(request.until.min(most));
        call.expires = now + IDLE;
        self.due.insert((call.event(), key));
        let arrivals = &call.arrivals;
        wire::make_report(datagram, now, |number| now.checked_since(arrivals.get(number)?));
        self.counters.reported += 1;
        true
    }

    /// Processes a datagram of a video call.
    fn handle_video(&mut self, now: Instant, key: Key, datagram: &MediaDatagram) {
        let Some(call) = self.calls.get_mut(&key) else {
            self.counters.unverified += 1;
            return;
        };
        let before = call.event();
        let Some(video) = &mut call.video else {
            self.counters.malformed += 1;
            return;
        };
        self.counters.received += 1;
        if let Some(frame) = video.handle_datagram(now, datagram) {
            self.store(now, key, frame.number);
        }
        self.due.remove(&(before, key));
        self.send_video(now, key);
    }

    /// Stores the arrival of a packet or frame of a call.
    fn store(&mut self, now: Instant, key: Key, number: u32) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        self.arrivals += call.arrivals.put(number, now);
        if self.arrivals > self.limits.arrivals {
            self.arrivals -= call.arrivals.pop();
        }
    }

    /// Queues a packet, or drops it if its client has received too many.
    fn queue(&mut self, now: Instant, packet: Outgoing) {
        let client = Client::at(packet.to.ip());
        if client.is_loopback() || self.packets.allow(now, client) {
            self.out.push_back(packet);
            self.counters.sent += 1;
        } else {
            self.counters.limited += 1;
        }
    }

    /// Sends the datagrams of a video call, which is not in `due`, and puts its next event there.
    fn send_video(&mut self, now: Instant, key: Key) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        let mut packets = Vec::new();
        while let Some(bytes) = call.poll_video() {
            packets.push(call.packet(key, bytes));
        }
        self.due.insert((call.event(), key));
        packets.into_iter().for_each(|packet| self.queue(now, packet));
    }

    /// Sends the packets that are due at `now`, and ends calls without requests.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, key)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.pop_first();
            let client = Client::at(key.0.ip());
            let Some(call) = self.calls.get_mut(&key) else { continue };
            let packet = call.due(call.next).filter(|due| call.next < call.until && *due <= at);
            if let Some(video) = &mut call.video
                && call.expires > at
            {
                if packet.is_some() {
                    video.send_frame(now, call.next);
                    call.next += 1;
                }
                video.handle_timeout(now);
                self.send_video(now, key);
                continue;
            }
            let packet = packet.filter(|_| call.video.is_none());
            let Some(due) = packet else {
                if let Some(call) = self.calls.remove(&key) {
                    self.arrivals -= call.arrivals.len();
                    self.videos -= usize::from(call.video.is_some());
                }
                if let Some(count) = self.of_client.get_mut(&client) {
                    *count -= 1;
                    if *count == 0 {
                        self.of_client.remove(&client);
                    }
                }
                continue;
            };
            let packet = call.packet(key, wire::down(key.1, call.next, due, call.size()));
            call.next += 1;
            self.due.insert((call.event(), key));
            self.queue(now, packet);
        }
    }

    /// Returns the next packet to send.
    pub fn poll_transmit(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout); `None` without calls.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Returns true if a packet is ready to be sent.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        !self.out.is_empty()
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns true without calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> CallCounters {
        self.counters
    }
}

/// Arrival times of the newest packets.
#[derive(Debug, Default)]
struct Arrivals(BTreeMap<u32, Instant>);

impl Arrivals {
    /// Records an arrival. The first one of a packet counts. Returns the increase of the number of arrivals.
    fn put(&mut self, number: u32, at: Instant) -> usize {
        let before = self.0.len();
        self.0.entry(number).or_insert(at);
        if self.0.len() > MAX_ARRIVALS {
            self.0.pop_first();
        }
        self.0.len() - before
    }

    /// Deletes the oldest arrival. Returns the number of deleted arrivals.
    fn pop(&mut self) -> usize {
        usize::from(self.0.pop_first().is_some())
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, number: u32) -> Option<Instant> {
        self.0.get(&number).copied()
    }
}
