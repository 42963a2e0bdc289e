//! Frames in, frames out: a modelled network between kernels, without a clock or a file in it.

use crate::address;
use crate::ahead::{Ahead, Pace};
use crate::calls::{Call, Calls, Reply};
use crate::credit::{Credit, Sender};
use crate::packet::icmp::Unreachable;
use crate::packet::{Burst, Facts, Joiner, Refused, Segment};
use crate::senders::{Ends, Senders};
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_medium::packet::{DropReason, Ecn, Packet};
use netburn_network::{DropSite, Endpoint, Network, NetworkError, Output};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// A modelled network between kernels.
///
/// **Call order:** after every `handle_*`, drain [`poll_delivery`](Self::poll_delivery) and [`poll_grant`](Self::poll_grant), then
/// come back with a frame or at [`poll_timeout`](Self::poll_timeout); or when there is something to see, at [`foresee`](Self::foresee).
#[derive(Debug)]
pub struct Switch {
    network: Network<Segment>,
    stations: usize,
    /// By station.
    ahead: Vec<Ahead>,
    /// By station.
    credits: Vec<Credit>,
    /// By station.
    senders: Vec<Senders>,
    /// Stations of which a connection has sent content for the first time.
    new_senders: Vec<u16>,
    /// By station: when a connection's pace was known last, and how many bytes ahead followed from it.
    known: Vec<Option<(Instant, u64)>>,
    /// Bytes before each packet on the link between a kernel and us.
    framing: u64,
    joiner: Joiner,
    /// The packet after those that were joined.
    next: Option<Arrival>,
    counted: Counted,
    taps: Vec<Tapped>,
    tapping: bool,
    /// What becomes of refused connections; `None`: they are refused.
    calls: Option<Calls>,
    /// Frames beside those of the network: when each is due, and for whom.
    beside: VecDeque<(Instant, Endpoint, Vec<u8>)>,
    /// The one that was handed out last.
    handed: Vec<u8>,
    /// The time that has come.
    now: Instant,
}

/// What was carried, and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// Packets that kernels sent.
    pub packets: u64,
    /// In how many frames.
    pub frames: u64,
    /// Packets that were delivered.
    pub delivered: u64,
    /// In how many frames.
    pub written: u64,
    /// Packets that the modelled network dropped or lost.
    pub dropped: u64,
    /// Frames that were not carried, by reason.
    pub refused: BTreeMap<Refused, u64>,
}

/// A packet that has arrived.
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
    /// When it is due: when its first packet arrived.
    pub at: Instant,
    /// Whose kernel it is for.
    pub to: Endpoint,
    /// The frame, with its header.
    pub frame: &'a [u8],
}

/// A packet at an end, for a capture.
#[derive(Debug, Clone)]
pub struct Tapped {
    /// When it left its sender's kernel, or arrived.
    pub at: Instant,
    /// Where it was seen.
    pub end: Endpoint,
    /// Whether it arrived there.
    pub inbound: bool,
    /// The mark that it has there.
    pub ecn: Ecn,
    /// The packet.
    pub segment: Segment,
}

impl Tapped {
    /// The packet as it would be on a wire there.
    #[must_use]
    pub fn packet(&self) -> Vec<u8> {
        self.segment.marked_packet(self.ecn)
    }
}

/// The time after which a sender learns that its packet has nowhere to go. A kernel that learns it while the call that sent the
/// packet still lasts may not heed it (tcp_v4_err).
const UNREACHABLE: Duration = Duration::from_millis(1);
/// Messages of this kind on their way; further packets that have nowhere to go are only counted.
const MAX_UNREACHABLE: usize = 64;

/// How long a connection's pace holds that sends nothing.
const KNOWN: Duration = Duration::from_secs(1);

impl Switch {
    /// The network of a plan, at the beginning of its baseline.
    ///
    /// # Errors
    /// When the plan's network can't be.
    pub fn new(plan: &Plan) -> Result<Switch, NetworkError> {
        let network = Network::new(plan)?;
        let stations = network.stations();
        let mut switch = Switch {
            network,
            stations,
            ahead: plan.stations.iter().map(Ahead::of).collect(),
            credits: vec![Credit::new(0); stations],
            senders: vec![Senders::default(); stations],
            new_senders: Vec::new(),
            known: vec![None; stations],
            framing: 0,
            joiner: Joiner::default(),
            next: None,
            counted: Counted::default(),
            taps: Vec::new(),
            tapping: false,
            calls: None,
            beside: VecDeque::new(),
            handed: Vec::new(),
            now: Instant::from_nanos(i64::MIN),
        };
        for station in 0..stations as u16 {
            switch.follow(Instant::ZERO, station, &[]);
        }
        Ok(switch)
    }

    /// Before each packet there are so many bytes on the link between a kernel and us, which tokens are used up by; 0 unless said.
    pub fn set_framing(&mut self, bytes: u64) {
        self.framing = bytes;
    }

    /// Kernels take bursts of datagrams: those that were sent one by one are joined, too.
    pub fn join_datagrams(&mut self) {
        self.joiner.join_datagrams();
    }

    /// Connections that the server refuses become calls from now on, which [`poll_call`](Self::poll_call) gives.
    pub fn take_calls(&mut self) {
        self.calls.get_or_insert_default();
    }

    /// The next call, to be replied to.
    pub fn poll_call(&mut self) -> Option<Call> {
        self.calls.as_mut()?.poll_call()
    }

    /// What is to become of a call.
    pub fn handle_reply(&mut self, now: Instant, call: Call, reply: Reply) {
        let Some(calls) = &mut self.calls else { return };
        let replied = calls.handle_reply(call, reply);
        let again = replied.again.into_iter().map(|frame| (now, Endpoint::Server, frame));
        self.beside.extend(again);
        for frame in replied.sent {
            self.handle_frame(now, Endpoint::Server, &frame);
        }
    }

    /// Keeps every packet for [`take_taps`](Self::take_taps) from now on.
    pub fn tap(&mut self) {
        self.tapping = true;
    }

    /// What was seen since the last call.
    pub fn take_taps(&mut self) -> Vec<Tapped> {
        std::mem::take(&mut self.taps)
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network<Segment> {
        &self.network
    }

    /// The network, to change it by hand or to trace the air.
    pub fn network_mut(&mut self) -> &mut Network<Segment> {
        &mut self.network
    }

    /// What was carried so far.
    #[must_use]
    pub fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Bytes of a station that its kernel has handed over and that haven't left it.
    #[must_use]
    pub fn outstanding(&self, station: u16) -> u64 {
        self.credits[usize::from(station)].outstanding()
    }

    /// A kernel sends a frame: a packet, or a burst of them, behind its header.
    pub fn handle_frame(&mut self, now: Instant, from: Endpoint, frame: &[u8]) {
        self.counted.frames += 1;
        let length = frame.len().saturating_sub(crate::packet::header::LENGTH) as u64;
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].handle_taken(length + self.framing);
        }
        let burst = match Burst::read(frame) {
            Ok(burst) => burst,
            Err(refused) => return self.refuse(refused),
        };
        let to = match self.receiver(from, &burst) {
            Ok(to) => to,
            Err(refused) => {
                let why = match refused {
                    Refused::Nobody => Some(Unreachable::Host),
                    Refused::Outside => Some(Unreachable::Network),
                    _ => None,
                };
                let message = why.and_then(|why| burst.unreachable(why));
                if let Some(message) = message.filter(|_| self.beside.len() < MAX_UNREACHABLE) {
                    self.beside.push_back((now + UNREACHABLE, from, message));
                }
                return self.refuse(refused);
            }
        };
        let mut burst = burst;
        if from == Endpoint::Server
            && let Some(calls) = &mut self.calls
        {
            match calls.handle_sent(burst, to, frame) {
                Some(sent) => burst = sent,
                None => return,
            }
        }
        let (flow, tid, ecn) = (burst.facts.flow(), burst.facts.tid(), burst.facts.ecn);
        if from == Endpoint::Server && burst.facts.has_content(burst.length()) {
            // Its kernel is held back by nothing: its device takes all at once.
            self.network.expect_burst(flow, burst.length() as u64);
        }
        for segment in Arc::new(burst).segments() {
            self.counted.packets += 1;
            let length = segment.length();
            if self.tapping {
                self.saw(now, from, false, ecn, &segment);
            }
            if let Endpoint::Station(station) = from {
                self.credits[usize::from(station)].handle_on_its_way(sender(flow), length as u64);
                if self.ahead[usize::from(station)].follows() {
                    let new = self.senders[usize::from(station)].saw(flow, segment.facts(), length);
                    if new {
                        self.new_senders.push(station);
                    }
                }
            }
            let packet = Packet {
                length: length as u32,
                flow,
                tid,
                ecn,
                payload: segment,
            };
            self.network.handle_packet(now, from, to, packet);
        }
    }

    /// Whom a burst is for.
    fn receiver(&self, from: Endpoint, burst: &Burst) -> Result<Endpoint, Refused> {
        if burst.is_discovery() {
            return Err(Refused::Discovery);
        }
        if address::owner(burst.facts.source, self.stations) != Some(from) {
            return Err(Refused::Spoofed);
        }
        let to = burst.facts.destination;
        match address::owner(to, self.stations) {
            Some(to) if to != from => Ok(to),
            _ if to.is_multicast() => Err(Refused::Multicast),
            _ if to == IpAddr::V4(Ipv4Addr::BROADCAST) => Err(Refused::Broadcast),
            _ if address::is_inside(to) => Err(Refused::Nobody),
            _ => Err(Refused::Outside),
        }
    }

    fn refuse(&mut self, why: Refused) {
        tracing::debug!(?why, "a frame is not carried");
        *self.counted.refused.entry(why).or_default() += 1;
    }

    /// A kernel sent something that is not carried and that we don't look into, so many bytes of it on the link.
    pub fn handle_refused(&mut self, from: Endpoint, why: Refused, length: u64) {
        self.counted.frames += 1;
        self.refuse(why);
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].handle_taken(length);
        }
    }

    /// Whether another packet of a station's is wanted now, where it has no bucket and is held back by not being read.
    #[must_use]
    pub fn wants(&self, from: Endpoint) -> bool {
        match from {
            Endpoint::Server => true,
            Endpoint::Station(station) => self.credits[usize::from(station)].wants(),
        }
    }

    /// A packet of our own making came through a kernel's queue, and goes nowhere.
    pub fn handle_nudge(&mut self, from: Endpoint) {
        if let Endpoint::Station(station) = from {
            self.credits[usize::from(station)].handle_taken(20 + self.framing);
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.network.handle_timeout(now);
        self.now = self.now.max(now);
    }

    /// When something happens next, inside or seen from outside.
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        let network = self.network.poll_timeout().map(|(at, _)| at);
        network.into_iter().chain(self.due_beside()).min()
    }

    /// When the next frame beside those of the network is due.
    fn due_beside(&self) -> Option<Instant> {
        self.beside.iter().map(|(at, _, _)| *at).min()
    }

    /// When to come back: nothing is delivered before.
    pub fn foresee(&mut self) -> Option<DeliveryBound> {
        let network = self.network.next_delivery_bound();
        match (self.due_beside(), &network) {
            (Some(at), foreseen) if foreseen.is_none_or(|first| at < first.at) => Some(DeliveryBound {
                at,
                what: Expected::Delivery,
            }),
            _ => network,
        }
    }

    /// The next frame for a kernel.
    pub fn poll_delivery(&mut self) -> Option<Delivery<'_>> {
        if self.due_beside().is_some_and(|at| at <= self.now) {
            return self.beside();
        }
        let first = match self.next.take() {
            Some(arrival) => arrival,
            None => self.arrival()?,
        };
        let (at, from, to) = (first.at, first.from, first.to);
        let (facts, asks) = (*first.packet.payload.facts(), first.packet.payload.asks());
        self.joiner.push(first.packet.payload, first.packet.ecn);
        while let Some(arrival) = self.arrival() {
            // What came a little later is due by now as well.
            let same = arrival.from == from && arrival.to == to;
            if !same || !self.joiner.takes(&arrival.packet.payload, arrival.packet.ecn) {
                self.next = Some(arrival);
                break;
            }
            self.joiner.push(arrival.packet.payload, arrival.packet.ecn);
        }
        self.counted.written += 1;
        let frame = self.joiner.frame().expect("something was pushed");
        if to == Endpoint::Server
            && let Some(calls) = &mut self.calls
        {
            calls.handle_delivery(from, frame, &facts, asks);
        }
        Some(Delivery { at, to, frame })
    }

    /// The next frame beside those of the network; one is due.
    fn beside(&mut self) -> Option<Delivery<'_>> {
        let due = self.beside.iter().position(|(at, _, _)| *at <= self.now)?;
        let (at, to, frame) = self.beside.remove(due)?;
        self.handed = frame;
        if self.tapping
            && let Ok(burst) = Burst::read(&self.handed)
        {
            let ecn = burst.facts.ecn;
            for segment in Arc::new(burst).segments() {
                self.saw(at, to, true, ecn, &segment);
            }
        }
        Some(Delivery {
            at,
            to,
            frame: &self.handed,
        })
    }

    /// A station whose kernel may hand over so many bytes now, in place of what it was granted before.
    pub fn poll_grant(&mut self) -> Option<(u16, u32)> {
        let each = self.credits.iter_mut().zip(0_u16..);
        each.filter_map(|(credit, station)| Some((station, credit.poll_grant()?)))
            .next()
    }

    /// A station of which a connection has sent content for the first time.
    pub fn poll_new_sender(&mut self) -> Option<u16> {
        self.new_senders.pop()
    }

    /// The TCP connections of a station that have sent content since they were last asked for.
    pub fn take_senders(&mut self, station: u16) -> Vec<Ends> {
        self.senders[usize::from(station)].take()
    }

    /// What a station may have ahead of the air follows the pace of its connections that send. One that is kept from the air sends
    /// nothing for a while, so what was known holds on.
    pub fn follow(&mut self, now: Instant, station: u16, connections: &[Pace]) {
        let index = usize::from(station);
        let rate = self.network.link_stats(station).rate_up;
        let waits = self.credits[index].outstanding() > 0;
        let (ahead, known) = match self.known[index] {
            Some((at, ahead)) if connections.is_empty() && (waits || now < at + KNOWN) => (ahead, true),
            _ => {
                let ahead = self.ahead[index].bytes(connections);
                let known = !connections.is_empty();
                self.known[index] = known.then_some((now, ahead));
                (ahead, known)
            }
        };
        self.credits[index].set_target(ahead, self.ahead[index].allowance(rate, known));
    }

    /// What a station's TCP may have ahead of the air now, in bytes.
    #[must_use]
    pub fn target(&self, station: u16) -> u64 {
        self.credits[usize::from(station)].target()
    }

    /// The next packet that arrives somewhere; what left or was dropped on the way there is seen to.
    fn arrival(&mut self) -> Option<Arrival> {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    self.counted.delivered += 1;
                    if self.tapping {
                        self.saw(at, to, true, packet.ecn, &packet.payload);
                    }
                    return Some(Arrival { at, from, to, packet });
                }
                Output::Dropped { by, from, packet, .. } => {
                    self.counted.dropped += 1;
                    // One that was tried too often is also told to have been sent.
                    if let (Endpoint::Station(station), DropSite::Sender(reason)) = (from, by)
                        && reason != DropReason::RetryLimit
                    {
                        self.credits[usize::from(station)].handle_left(sender(packet.flow), u64::from(packet.length));
                    }
                }
                Output::Sent { from, flow, bytes, .. } => {
                    if let Endpoint::Station(station) = from {
                        self.credits[usize::from(station)].handle_left(sender(flow), u64::from(bytes));
                    }
                }
            }
        }
        None
    }

    fn saw(&mut self, at: Instant, end: Endpoint, inbound: bool, ecn: Ecn, segment: &Segment) {
        self.taps.push(Tapped {
            at,
            end,
            inbound,
            ecn,
            segment: segment.clone(),
        });
    }
}

const fn sender(flow: u32) -> Sender {
    if Facts::is_of_tcp(flow) {
        Sender::Tcp
    } else {
        Sender::Other
    }
}
