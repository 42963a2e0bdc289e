//! The switch: a modelled network between kernels, without clock and I/O.

use crate::active_flows::{ActiveFlows, TcpFlow};
use crate::address;
use crate::credit::{Credit, Sender};
use crate::packet::hop;
use crate::packet::icmp::Unreachable;
use crate::packet::reorder::group_by_flow;
use crate::packet::{Burst, GroCoalescer, IpPacketInfo, RejectReason, Segment};
use crate::refused_connections::{RefusalReply, RefusedConnection, RefusedConnections};
use crate::send_budget::{ConnectionPacing, SendBudget};
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_medium::packet::{DropReason, Ecn, Packet};
use netburn_network::{DropSite, Endpoint, Network, NetworkError, Output, Reflector};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// Maximum number of packets that are grouped by flow: the weight of the kernel's NAPI poll (`NAPI_POLL_WEIGHT`).
const MAX_BATCH: usize = 64;

/// A modelled network between kernels.
///
/// **Call order:** after every `handle_*`, drain [`poll_delivery`](Self::poll_delivery) and
/// [`poll_grant`](Self::poll_grant). Then call `handle_frame` for the next frame, or `handle_timeout` at
/// [`poll_timeout`](Self::poll_timeout). A driver that only needs deliveries may use [`next_delivery_bound`](Self::next_delivery_bound) instead
/// of `poll_timeout`.
#[derive(Debug)]
pub struct Switch {
    network: Network<Segment>,
    stations: usize,
    /// Send budget settings by station.
    send_budget: Vec<SendBudget>,
    /// Byte credit by station.
    credits: Vec<Credit>,
    /// Sending connections by station.
    active_flows: Vec<ActiveFlows>,
    /// Stations with a connection that has sent payload for the first time.
    new_senders: Vec<u16>,
    /// Time of the last pacing sample with connections, and the budget that followed from it, by station.
    known: Vec<Option<(Instant, u64)>>,
    /// Length of the link header of each packet in bytes.
    framing: u64,
    coalescer: GroCoalescer,
    /// Packets that arrived at one time at one receiver, in the order of delivery.
    batch: VecDeque<Arrival>,
    /// Packet that arrived after the batch.
    next: Option<Arrival>,
    counters: ForwardingCounters,
    captured: Vec<CapturedPacket>,
    capturing: bool,
    /// State of refused connections; `None` if they are not intercepted.
    refusals: Option<RefusedConnections>,
    /// Frames that do not pass the modelled network: due time, receiver, frame.
    injected: VecDeque<(Instant, Endpoint, Vec<u8>)>,
    /// Injected frame that was returned last.
    current: Vec<u8>,
    /// Latest time passed to `handle_timeout`.
    now: Instant,
}

/// Counters of forwarded and rejected packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForwardingCounters {
    /// Packets that kernels sent.
    pub packets: u64,
    /// Frames that contained them.
    pub frames: u64,
    /// Packets that were delivered.
    pub delivered: u64,
    /// Frames that contained them.
    pub written: u64,
    /// Packets that the modelled network dropped or lost.
    pub dropped: u64,
    /// Frames that were not forwarded, by reason.
    pub rejected: BTreeMap<RejectReason, u64>,
}

/// A packet that has reached its receiver.
#[derive(Debug)]
struct Arrival {
    at: Instant,
    from: Endpoint,
    to: Endpoint,
    packet: Packet<Segment>,
}

/// A frame for a kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Due time: arrival of its first packet.
    pub at: Instant,
    /// Receiver.
    pub to: Endpoint,
    /// The frame with its `virtio_net_hdr`.
    pub frame: &'a [u8],
}

/// A captured packet.
#[derive(Debug, Clone)]
pub struct CapturedPacket {
    /// Time at which the packet left the sender's kernel or arrived.
    pub at: Instant,
    /// Endpoint of the capture.
    pub end: Endpoint,
    /// True if the packet arrived at the endpoint.
    pub inbound: bool,
    /// ECN mark at the endpoint.
    pub ecn: Ecn,
    /// The packet.
    pub segment: Segment,
}

impl CapturedPacket {
    /// Returns the packet as on a wire.
    #[must_use]
    pub fn packet(&self) -> Vec<u8> {
        self.segment.marked_packet(self.ecn)
    }
}

/// Delay of destination unreachable messages. A kernel may ignore one that arrives during the system call that sent the
/// packet (tcp_v4_err).
const UNREACHABLE: Duration = Duration::from_millis(1);
/// Maximum number of such messages in flight. Beyond it, packets are only counted.
const MAX_UNREACHABLE: usize = 64;

/// Time for which the last pacing sample of an idle station stays valid.
const PACING_LIFETIME: Duration = Duration::from_secs(1);

impl Switch {
    /// Creates the network of a plan, at the beginning of its baseline.
    ///
    /// # Errors
    /// [`NetworkError`] when the plan's network is invalid.
    pub fn new(plan: &Plan) -> Result<Switch, NetworkError> {
        let network = Network::new(plan)?;
        let stations = network.stations();
        let mut switch = Switch {
            network,
            stations,
            send_budget: plan.stations.iter().map(SendBudget::from_plan).collect(),
            credits: vec![Credit::new(0); stations],
            active_flows: vec![ActiveFlows::default(); stations],
            new_senders: Vec::new(),
            known: vec![None; stations],
            framing: 0,
            coalescer: GroCoalescer::default(),
            batch: VecDeque::new(),
            next: None,
            counters: ForwardingCounters::default(),
            captured: Vec::new(),
            capturing: false,
            refusals: None,
            injected: VecDeque::new(),
            current: Vec::new(),
            now: Instant::from_nanos(i64::MIN),
        };
        for station in 0..stations as u16 {
            switch.update_send_budget(Instant::ZERO, station, &[]);
        }
        Ok(switch)
    }

    /// Sets the length of the link header of each packet, which also uses tokens. Default 0.
    pub fn set_framing(&mut self, bytes: u64) {
        self.framing = bytes;
    }

    /// Coalesces separately sent datagrams. All kernels must support UDP GSO.
    pub fn coalesce_datagrams(&mut self) {
        self.coalescer.coalesce_datagrams();
    }

    /// Intercepts connections that the server refuses. [`poll_refused_connection`](Self::poll_refused_connection)
    /// returns them.
    pub fn intercept_refused_connections(&mut self) {
        self.refusals.get_or_insert_default();
    }

    /// Returns the next refused connection, which needs a reply.
    pub fn poll_refused_connection(&mut self) -> Option<RefusedConnection> {
        self.refusals.as_mut()?.poll_refused_connection()
    }

    /// Applies the reply to a refused connection.
    pub fn handle_reply(&mut self, now: Instant, connection: RefusedConnection, reply: RefusalReply) {
        let Some(refusals) = &mut self.refusals else { return };
        let replied = refusals.handle_reply(connection, reply);
        let again = replied.again.into_iter().map(|frame| (now, Endpoint::Server, frame));
        self.injected.extend(again);
        for frame in replied.sent {
            self.handle_frame(now, Endpoint::Server, &frame);
        }
    }

    /// Captures all packets from now on, for [`take_captured`](Self::take_captured).
    pub fn enable_capture(&mut self) {
        self.capturing = true;
    }

    /// Returns the packets captured since the last call.
    pub fn take_captured(&mut self) -> Vec<CapturedPacket> {
        std::mem::take(&mut self.captured)
    }

    /// Returns the modelled network.
    #[must_use]
    pub fn network(&self) -> &Network<Segment> {
        &self.network
    }

    /// Returns the modelled network, to change settings or to trace the channel.
    pub fn network_mut(&mut self) -> &mut Network<Segment> {
        &mut self.network
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &ForwardingCounters {
        &self.counters
    }

    /// Returns the bytes that a station's kernel has handed over and that have not left the station.
    #[must_use]
    pub fn outstanding(&self, station: u16) -> u64 {
        self.credits[usize::from(station)].outstanding()
    }

    /// Processes a frame that a kernel sent: a packet or a burst, preceded by its `virtio_net_hdr`.
    pub fn handle_frame(&mut self, now: Instant, from: Endpoint, frame: &[u8]) {
        self.counters.frames += 1;
        let length = frame.len().saturating_sub(crate::packet::header::LENGTH) as u64;
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].on_tokens_spent(length + self.framing);
        }
        let burst = match Burst::read(frame) {
            Ok(burst) => burst,
            Err(rejected) => return self.reject(rejected),
        };
        let (to, reflector) = match self.receiver(from, &burst) {
            Ok(receiver) => receiver,
            Err(rejected) => {
                let why = match rejected {
                    RejectReason::UnknownAddress => Some(Unreachable::Host),
                    RejectReason::Outside => Some(Unreachable::Network),
                    _ => None,
                };
                let message = why.and_then(|why| burst.unreachable(why));
                if let Some(message) = message.filter(|_| self.injected.len() < MAX_UNREACHABLE) {
                    self.injected.push_back((now + UNREACHABLE, from, message));
                }
                return self.reject(rejected);
            }
        };
        let mut burst = burst;
        if from == Endpoint::Server
            && let Some(refusals) = &mut self.refusals
        {
            match refusals.handle_sent(burst, to, frame) {
                Some(sent) => burst = sent,
                None => return,
            }
        }
        let (flow, tid, ecn) = (burst.info.flow(), burst.info.tid(), burst.info.ecn);
        if from == Endpoint::Server && burst.info.has_content(burst.length()) {
            // The server's kernel has no backpressure, so its bursts are announced to the model.
            self.network.expect_burst(flow, burst.length() as u64);
        }
        for segment in Arc::new(burst).segments() {
            self.counters.packets += 1;
            let length = segment.length();
            if self.capturing {
                self.capture(now, from, false, ecn, &segment);
            }
            if let Endpoint::Station(station) = from {
                self.credits[usize::from(station)].on_enqueued(sender(flow), length as u64);
                if self.send_budget[usize::from(station)].depends_on_pacing() {
                    let new = self.active_flows[usize::from(station)].record(flow, segment.info(), length);
                    if new {
                        self.new_senders.push(station);
                    }
                }
            }
            let headers = segment.headers();
            let headers = reflector.map_or(headers, |reflector| headers.returned_by(reflector));
            let packet = Packet {
                length: length as u32,
                flow,
                tid,
                ecn,
                payload: segment,
            };
            self.network.handle_packet_with(now, from, to, headers, packet);
        }
    }

    /// Returns the receiver of a burst, and the host on the way that answers instead.
    fn receiver(&self, from: Endpoint, burst: &Burst) -> Result<(Endpoint, Option<Reflector>), RejectReason> {
        if burst.is_discovery() {
            return Err(RejectReason::Discovery);
        }
        if address::owner(burst.info.source, self.stations) != Some(from) {
            return Err(RejectReason::Spoofed);
        }
        if let (Endpoint::Station(station), Some(reflector)) = (from, burst.reflector())
            && self.network.has_reflectors(station)
        {
            return Ok((Endpoint::Server, Some(reflector)));
        }
        let to = burst.info.destination;
        match address::owner(to, self.stations) {
            Some(to) if to != from => Ok((to, None)),
            _ if to.is_multicast() => Err(RejectReason::Multicast),
            _ if to == IpAddr::V4(Ipv4Addr::BROADCAST) => Err(RejectReason::Broadcast),
            _ if address::is_inside(to) => Err(RejectReason::UnknownAddress),
            _ => Err(RejectReason::Outside),
        }
    }

    fn reject(&mut self, why: RejectReason) {
        tracing::debug!(?why, "a frame was rejected");
        *self.counters.rejected.entry(why).or_default() += 1;
    }

    /// Counts a frame of `length` bytes that was rejected without parsing.
    pub fn handle_rejected(&mut self, from: Endpoint, why: RejectReason, length: u64) {
        self.counters.frames += 1;
        self.reject(why);
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].on_tokens_spent(length);
        }
    }

    /// Returns whether another packet of an endpoint may be read. Used with the TUN queue instead of a token bucket.
    #[must_use]
    pub fn can_accept(&self, from: Endpoint) -> bool {
        match from {
            Endpoint::Server => true,
            Endpoint::Station(station) => self.credits[usize::from(station)].can_accept(),
        }
    }

    /// A wake-up packet of the lab passed a kernel's queue. It is discarded.
    pub fn handle_wakeup_packet(&mut self, from: Endpoint) {
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].on_tokens_spent(20 + self.framing);
        }
    }

    /// Advances the network to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.network.handle_timeout(now);
        self.now = self.now.max(now);
    }

    /// Returns the time of the next event, whether or not it causes a delivery.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let network = self.network.poll_timeout().map(|(at, _)| at);
        network.into_iter().chain(self.injected_due()).min()
    }

    /// Returns the due time of the next injected frame.
    fn injected_due(&self) -> Option<Instant> {
        self.injected.iter().map(|(at, _, _)| *at).min()
    }

    /// Returns a lower bound on the time of the next delivery.
    pub fn next_delivery_bound(&mut self) -> Option<DeliveryBound> {
        let network = self.network.next_delivery_bound();
        match (self.injected_due(), &network) {
            (Some(at), bound) if bound.is_none_or(|first| at < first.at) => Some(DeliveryBound {
                at,
                what: Expected::Delivery,
            }),
            _ => network,
        }
    }

    /// Returns the next frame for a kernel.
    pub fn poll_delivery(&mut self) -> Option<Delivery<'_>> {
        if self.injected_due().is_some_and(|at| at <= self.now) {
            return self.injected();
        }
        let first = self.next_of_batch()?;
        let (at, from, to) = (first.at, first.from, first.to);
        let (info, asks) = (*first.packet.payload.info(), first.packet.payload.is_syn());
        self.coalescer.push(first.packet.payload, first.packet.ecn);
        while let Some(arrival) = self.next_of_batch() {
            // A slightly later arrival is due as well if the driver is late.
            let same = arrival.from == from && arrival.to == to;
            if !same || !self.coalescer.accepts(&arrival.packet.payload, arrival.packet.ecn) {
                self.batch.push_front(arrival);
                break;
            }
            self.coalescer.push(arrival.packet.payload, arrival.packet.ecn);
        }
        self.counters.written += 1;
        let frame = self.coalescer.frame().expect("something was pushed");
        if to == Endpoint::Server
            && let Some(refusals) = &mut self.refusals
        {
            refusals.handle_delivery(from, frame, &info, asks);
        }
        Some(Delivery { at, to, frame })
    }

    /// Returns the next due injected frame.
    fn injected(&mut self) -> Option<Delivery<'_>> {
        let due = self.injected.iter().position(|(at, _, _)| *at <= self.now)?;
        let (at, to, frame) = self.injected.remove(due)?;
        self.current = frame;
        if self.capturing
            && let Ok(burst) = Burst::read(&self.current)
        {
            let ecn = burst.info.ecn;
            for segment in Arc::new(burst).segments() {
                self.capture(at, to, true, ecn, &segment);
            }
        }
        Some(Delivery {
            at,
            to,
            frame: &self.current,
        })
    }

    /// Returns a station and the number of bytes that its kernel may send now. The grant replaces the remaining tokens.
    pub fn poll_grant(&mut self) -> Option<(u16, u32)> {
        let each = self.credits.iter_mut().zip(0_u16..);
        each.filter_map(|(credit, station)| Some((station, credit.poll_grant()?)))
            .next()
    }

    /// Returns a station with a connection that has sent payload for the first time.
    pub fn poll_new_sender(&mut self) -> Option<u16> {
        self.new_senders.pop()
    }

    /// Returns the TCP connections of a station that have sent payload since the last call.
    pub fn take_senders(&mut self, station: u16) -> Vec<TcpFlow> {
        self.active_flows[usize::from(station)].take()
    }

    /// Updates a station's send budget from the pacing of its sending connections. A station that cannot send for a
    /// while keeps its last budget.
    pub fn update_send_budget(&mut self, now: Instant, station: u16, connections: &[ConnectionPacing]) {
        let index = usize::from(station);
        let rate = self.network.link_stats(station).rate_up;
        let waits = self.credits[index].outstanding() > 0;
        let (send_budget, known) = match self.known[index] {
            Some((at, send_budget)) if connections.is_empty() && (waits || now < at + PACING_LIFETIME) => {
                (send_budget, true)
            }
            _ => {
                let send_budget = self.send_budget[index].bytes(connections);
                let known = !connections.is_empty();
                self.known[index] = known.then_some((now, send_budget));
                (send_budget, known)
            }
        };
        self.credits[index].set_target(send_budget, self.send_budget[index].allowance(rate, known));
    }

    /// Returns the limit for a station's outstanding TCP bytes plus tokens.
    #[must_use]
    pub fn target(&self, station: u16) -> u64 {
        self.credits[usize::from(station)].target()
    }

    /// Returns the next packet for a kernel. Packets that arrive at one time at one receiver are grouped by flow.
    fn next_of_batch(&mut self) -> Option<Arrival> {
        if self.batch.is_empty() {
            let mut next = self.next.take().or_else(|| self.arrival());
            while let Some(arrival) = next.take() {
                let same =
                    |first: &Arrival| first.at == arrival.at && first.from == arrival.from && first.to == arrival.to;
                if self.batch.len() == MAX_BATCH || self.batch.front().is_some_and(|first| !same(first)) {
                    self.next = Some(arrival);
                    break;
                }
                self.batch.push_back(arrival);
                next = self.arrival();
            }
            group_by_flow(self.batch.make_contiguous(), |arrival| arrival.packet.flow);
        }
        self.batch.pop_front()
    }

    /// Returns the next packet that reaches its receiver. Updates credits for packets that left or were dropped before.
    fn arrival(&mut self) -> Option<Arrival> {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    self.counters.delivered += 1;
                    let packet = answered(to, packet);
                    if self.capturing {
                        self.capture(at, to, true, packet.ecn, &packet.payload);
                    }
                    return Some(Arrival { at, from, to, packet });
                }
                Output::Dropped { by, from, packet, .. } => {
                    self.counters.dropped += 1;
                    // A packet that exceeded the retry limit is also reported as sent.
                    if let (Endpoint::Station(station), DropSite::Sender(reason)) = (from, by)
                        && reason != DropReason::RetryLimit
                    {
                        self.credits[usize::from(station)]
                            .on_transmitted(sender(packet.flow), u64::from(packet.length));
                    }
                }
                Output::Sent { from, flow, bytes, .. } => {
                    if let Endpoint::Station(station) = from {
                        self.credits[usize::from(station)].on_transmitted(sender(flow), u64::from(bytes));
                    }
                }
                // Only a network that plans these times has this output.
                Output::SentTimesChanged { .. } => {}
            }
        }
        None
    }

    fn capture(&mut self, at: Instant, end: Endpoint, inbound: bool, ecn: Ecn, segment: &Segment) {
        self.captured.push(CapturedPacket {
            at,
            end,
            inbound,
            ecn,
            segment: segment.clone(),
        });
    }
}

/// Replaces an echo request that the network returned to its sender by the answer to it.
fn answered(to: Endpoint, mut packet: Packet<Segment>) -> Packet<Segment> {
    let info = packet.payload.info();
    if info.is_icmp()
        && info.source == IpAddr::V4(address::v4(to))
        && let Some(answer) = hop::answer(&packet.payload)
    {
        packet.payload = answer;
    }
    packet
}

const fn sender(flow: u32) -> Sender {
    if IpPacketInfo::is_of_tcp(flow) {
        Sender::Tcp
    } else {
        Sender::Other
    }
}
