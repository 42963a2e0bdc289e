//! Client side of a call: handshake, clock comparison, packets, requests and reports.

use super::offset::{Exchange, Offset};
use super::video::{CallVideo, MAX_TIMEOUT, VideoParameters};
use super::wire::{self, CallDatagram, MAX_AGES, Request};
use crate::datagram::arrivals::Arrivals;
use crate::datagram::machine::DatagramMachine;
use crate::datagram::prober::{Event, Prober};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::{Adaptation, Direction, PacketStream};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Schedule and packets of a call. Times are those of the client's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPlan {
    /// The client's stream, and the due time of its packet 0.
    pub up: Option<(Instant, PacketStream)>,
    /// The server's stream, and the due time of its packet 0.
    pub down: Option<(Instant, PacketStream)>,
    /// No packet is due at or after this time.
    pub end: Instant,
    /// DSCP of the server's packets, 0 to 63.
    pub dscp: u8,
    /// Time after which a packet without an arrival is lost.
    pub timeout: Duration,
    /// For a video call. `up` and `down` then have one packet for each frame.
    pub video: Option<VideoPlan>,
}

/// Senders of a video call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoPlan {
    /// Frames at the target rate, with their packets.
    pub up: PacketStream,
    /// The same of the server.
    pub down: PacketStream,
    /// Minimum rate and start rate of both.
    pub adaptation: Adaptation,
}

/// Arrival of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEvent {
    /// The server received a packet of the client.
    Up {
        /// Number of the packet.
        number: u32,
        /// Time of the arrival, converted to the client's clock.
        at: Instant,
    },
    /// A packet of the server arrived.
    Down {
        /// Number of the packet.
        number: u32,
        /// Due time by the client's clock, plus the one-way delay.
        at: Instant,
    },
    /// A frame of a video call is complete, at the server (up) or at the client (down).
    Frame {
        /// Direction.
        direction: Direction,
        /// Number of the frame.
        number: u32,
        /// As `at` of a packet of this direction.
        at: Instant,
        /// UDP payload of its packets.
        size: ByteSize,
    },
}

/// Time in which the arrivals of all packets are requested once.
const RENEWAL: Duration = Duration::from_millis(250);
/// Minimum interval of requests.
const MIN_RENEWAL: Duration = Duration::from_millis(5);
/// Interval of attempts to send the first request.
const RETRY: Duration = Duration::from_millis(20);
/// Time for which a request allows packets.
const ALLOWED: Duration = Duration::from_secs(1);
/// Interval of the clock comparisons before the first request.
const COMPARISON: Duration = Duration::from_millis(100);
/// Time after the arrival of a later packet from which on a packet that has not arrived is lost. A receiver of Wi-Fi frames
/// waits at most 100 ms for a missing MPDU (mac80211, `HT_RX_REORDER_BUF_TIMEOUT`).
const REORDERING: Duration = Duration::from_millis(250);
/// Maximum number of clock comparisons.
const COMPARISONS: u64 = 50;

/// A call with one server, without its socket. The commands are its own, the rest is [`DatagramMachine`].
#[derive(Debug)]
pub struct CallClient {
    plan: CallPlan,
    call: u64,
    prober: Prober,
    offset: Offset,
    /// Clock comparisons: their number, the time of the next, and when those without an answer were sent.
    compared: u64,
    compare_at: Instant,
    comparisons: BTreeMap<u64, Instant>,
    /// Due time of the server's packet 0, by its clock. Set with the first request.
    anchor: Option<Instant>,
    renew_at: Instant,
    /// Number of the client's next packet.
    next: u32,
    /// Packets of the client with an unknown arrival.
    unknown: BTreeSet<u32>,
    /// The next request is for the arrivals of unknown packets from this number on.
    request_from: u32,
    /// Highest number with a known arrival, and its arrival by the server's clock.
    newest: Option<(u32, Instant)>,
    /// The client's end of a video call, and the sizes of its frames with an unknown arrival.
    video: Option<CallVideo>,
    sizes: BTreeMap<u32, ByteSize>,
    events: VecDeque<CallEvent>,
    out: VecDeque<Vec<u8>>,
}

impl CallClient {
    /// Creates a client whose handshake begins at `now`. `token` and `call` must be unpredictable.
    #[must_use]
    pub fn new(now: Instant, token: u64, call: u64, plan: CallPlan) -> Self {
        let first = plan.down.or(plan.up).map_or(now, |(first, _)| first);
        Self {
            plan,
            call,
            prober: Prober::new(now, token),
            offset: Offset::default(),
            compared: 0,
            compare_at: now,
            comparisons: BTreeMap::new(),
            anchor: None,
            renew_at: first.checked_sub(ALLOWED).unwrap_or(first),
            next: 0,
            unknown: BTreeSet::new(),
            request_from: 0,
            newest: None,
            video: plan
                .video
                .map(|video| CallVideo::new(call, video.up, parameters(&plan, video))),
            sizes: BTreeMap::new(),
            events: VecDeque::new(),
            out: VecDeque::new(),
        }
    }

    /// Several clients have one address: see [`Prober::sharing_address`].
    #[must_use]
    pub fn sharing_address(mut self) -> Self {
        self.prober = self.prober.sharing_address();
        self
    }

    /// Sends the client's packet of this number. Numbers increase.
    pub fn send(&mut self, number: u32) {
        let Some((_, stream)) = self.plan.up else { return };
        let size = usize::try_from(stream.size.as_bytes()).unwrap_or(usize::MAX);
        self.out.push_back(wire::up(self.call, number, size));
        self.unknown.insert(number);
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Encodes and sends the client's frame of this number in a video call. Numbers increase.
    pub fn send_frame(&mut self, now: Instant, number: u32) {
        let Some(video) = &mut self.video else { return };
        let size = video.send_frame(now, number);
        self.sizes.insert(number, size);
        self.unknown.insert(number);
        self.next = self.next.max(number.saturating_add(1));
        self.send_video();
    }

    /// Queues the datagrams of the client's end of a video call.
    fn send_video(&mut self) {
        while let Some(video) = &mut self.video
            && let Some(bytes) = video.poll_transmit(|_| None)
        {
            self.out.push_back(bytes);
        }
    }

    /// Processes the arrivals of the client's packets from number `from` on, in a report that the server made at `reported`.
    fn handle_report(&mut self, from: u32, reported: Instant, ages: &[u8]) {
        for (number, age) in wire::ages(from, ages) {
            let Some(arrival) = reported.checked_sub(age) else {
                continue;
            };
            if self.newest.is_none_or(|(newest, _)| number > newest) {
                self.newest = Some((number, arrival));
            }
            let arrival = self.offset.to_client(arrival);
            if let Some(at) = arrival.filter(|_| self.unknown.remove(&number)) {
                let event = match self.sizes.remove(&number) {
                    Some(size) => CallEvent::Frame {
                        direction: Direction::Up,
                        number,
                        at,
                        size,
                    },
                    None => CallEvent::Up { number, at },
                };
                self.events.push_back(event);
            }
        }
        // A frame can become complete later than the next ones, by a retransmission.
        if self.video.is_none() {
            self.delete_lost(from, ages.len() / wire::AGE, reported);
        }
    }

    /// Processes an event of the handshake and of the comparison of the clocks.
    fn handle_probe(&mut self, now: Instant, event: Event) {
        match event {
            Event::Ready => self.compare_at = now,
            Event::Echo { id, far, .. } => {
                if let Some(sent) = self.comparisons.remove(&id) {
                    self.offset.put(&Exchange {
                        sent,
                        far_received: Instant::from_nanos(far.received),
                        far_sent: Instant::from_nanos(far.sent),
                        received: now,
                    });
                }
            }
        }
    }

    /// Deletes the lost packets of a report that the server made at `reported`, so that no request repeats their numbers.
    fn delete_lost(&mut self, from: u32, count: usize, reported: Instant) {
        let Some((newest, arrival)) = self.newest else { return };
        let later = reported.checked_since(arrival).unwrap_or_default();
        let end = from
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX))
            .min(newest);
        if later >= REORDERING && from < end {
            let lost: Vec<u32> = self.unknown.range(from..end).copied().collect();
            for number in lost {
                self.unknown.remove(&number);
            }
        }
    }

    /// A packet of the server arrived, or a frame of this size is complete. Its delay counts from its due time at the
    /// server.
    fn arrived(&mut self, now: Instant, number: u32, due: Instant, frame: Option<ByteSize>) {
        let delay = self.offset.to_server(now).and_then(|now| now.checked_since(due));
        let planned = due_time(self.plan.down, number);
        if let Some(at) = planned.and_then(|due| due.checked_add(delay.unwrap_or_default())) {
            self.events.push_back(match frame {
                Some(size) => CallEvent::Frame {
                    direction: Direction::Down,
                    number,
                    at,
                    size,
                },
                None => CallEvent::Down { number, at },
            });
        }
    }

    /// True until the first request, and for a limited number of comparisons.
    fn is_comparing(&self) -> bool {
        self.anchor.is_none() && self.compared < COMPARISONS
    }

    /// Sends a request, unless the handshake is incomplete, the clocks were not compared, or the call is over.
    fn request(&mut self, now: Instant) {
        let lost = self.unknown.iter().copied().take_while(|number| {
            let due = due_time(self.plan.up, *number);
            due.and_then(|due| due.checked_add(self.plan.timeout))
                .is_none_or(|at| at < now)
        });
        for number in lost.collect::<Vec<_>>() {
            self.unknown.remove(&number);
            self.sizes.remove(&number);
        }
        // Without a stream of the server the request allows no packet.
        let Some((first, stream)) = self.plan.down.or(self.plan.up) else {
            return;
        };
        let anchor = self.anchor.or_else(|| self.offset.to_server(first));
        let (Some(cookie), Some(anchor)) = (self.prober.cookie(now), anchor) else {
            return;
        };
        if now >= self.plan.end && self.unknown.is_empty() {
            return;
        }
        self.anchor = Some(anchor);
        let until = (now + ALLOWED).min(self.plan.end);
        let span = until.checked_since(first).unwrap_or_default();
        let until = match self.plan.down {
            Some((_, stream)) => stream.packets_within(span),
            None => 0,
        };
        let later = self.unknown.range(self.request_from..).next();
        let from = later.or(self.unknown.first()).copied().unwrap_or(self.next);
        let ages = usize::try_from(self.next - from).unwrap_or(MAX_AGES).min(MAX_AGES);
        let requested = from + u32::try_from(ages).unwrap_or(0);
        self.request_from = if requested < self.next { requested } else { 0 };
        let request = Request {
            call: self.call,
            anchor,
            stream: self.plan.video.map_or(stream, |video| video.down),
            until: u32::try_from(until).unwrap_or(u32::MAX),
            from,
            dscp: self.plan.dscp,
            stamp: now,
            video: self.plan.video.map(|video| parameters(&self.plan, video)),
        };
        self.out.push_back(wire::request(cookie, &request, ages));
    }

    /// Time to the next request. A request is for the arrivals of up to [`MAX_AGES`] packets.
    fn renewal(&self) -> Duration {
        if self.anchor.is_none() {
            return RETRY;
        }
        let unknown = self.unknown.first().map_or(0, |first| self.next - first);
        let requests = u64::from(unknown).div_ceil(MAX_AGES as u64).max(1);
        (RENEWAL / requests).max(MIN_RENEWAL)
    }
}

impl DatagramMachine for CallClient {
    type Event = CallEvent;

    fn handle_datagram(&mut self, now: Instant, dscp: Option<u8>, bytes: &[u8]) {
        match wire::read(bytes) {
            Some(CallDatagram::Down { call, number, due }) if call == self.call => {
                self.prober.arrivals.down.put(dscp);
                self.arrived(now, number, due, None);
            }
            Some(CallDatagram::Report {
                call,
                from,
                stamp,
                received,
                sent,
                arrived,
                ages,
            }) if call == self.call => {
                self.prober.arrivals.up.put(arrived);
                self.offset.put(&Exchange {
                    sent: stamp,
                    far_received: received,
                    far_sent: sent,
                    received: now,
                });
                self.handle_report(from, received, ages);
            }
            Some(CallDatagram::Video(media)) if media.call() == self.call => {
                let frame = self.video.as_mut().and_then(|video| video.handle_datagram(now, &media));
                if let Some(frame) = frame {
                    self.arrived(now, frame.number, frame.due, Some(frame.size));
                }
                self.send_video();
            }
            Some(_) => {}
            None => {
                // The DSCP of an echo is not that of a packet of the server's stream.
                self.prober.handle_datagram(now, None, bytes);
                while let Some(event) = self.prober.poll_event() {
                    self.handle_probe(now, event);
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.prober.poll_timeout() {
            self.prober.handle_timeout(now);
        }
        if now >= self.compare_at {
            self.compare_at = now + COMPARISON;
            if self.is_comparing() && self.prober.is_ready(now) {
                self.comparisons.insert(self.compared, now);
                self.prober.probe(now, self.compared, ByteSize::from_bytes(64));
                self.compared += 1;
            }
        }
        if let Some(video) = &mut self.video {
            video.handle_timeout(now);
            self.send_video();
        }
        if now >= self.renew_at {
            self.request(now);
            self.renew_at = now + self.renewal();
        }
    }

    /// Returns the packets by the DSCP with which they arrived. Packets to the server are its echoes and reports: the server
    /// does not report the DSCP of each packet of the stream.
    fn arrivals(&self) -> &Arrivals {
        self.prober.arrivals()
    }

    fn poll_event(&mut self) -> Option<CallEvent> {
        self.events.pop_front()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.prober.poll_transmit().or_else(|| self.out.pop_front())
    }

    fn poll_timeout(&self) -> Instant {
        let compare = Some(self.compare_at).filter(|_| self.is_comparing());
        let video = self.video.as_ref().and_then(CallVideo::poll_timeout);
        let others = [Some(self.renew_at), compare, video].into_iter().flatten();
        others.fold(self.prober.poll_timeout(), Instant::min)
    }
}

/// Parameters of both senders of a video call.
fn parameters(plan: &CallPlan, video: VideoPlan) -> VideoParameters {
    VideoParameters {
        adaptation: video.adaptation,
        timeout: plan.timeout.min(MAX_TIMEOUT),
    }
}

/// Due time of a packet of a stream.
fn due_time(stream: Option<(Instant, PacketStream)>, number: u32) -> Option<Instant> {
    let (first, stream) = stream?;
    first.checked_add(stream.offset(number.into())?)
}
