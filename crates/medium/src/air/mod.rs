//! The medium as one machine: channels, their nodes, and all transmissions on the air.
//!
//! [`config`] describes it; [`output`] contains its outputs. The state is in five modules:
//!
//! - [`channel`] – the hearing groups and the transmissions on the air
//! - [`node`] – a station; [`link`]: its links
//! - [`hardware`] – the hardware queue; [`compose`]: composition of aggregates; [`store`]: packets
//!   without an aggregate; [`host_bus`]: the adapter's bus to the host
//!
//! A frame passes [`access`] (contention), [`txop`] (start of a transmit opportunity), [`sequence`]
//! (frames of an exchange as values), [`exchange`] (their transmission), [`reception`] (delivery) and [`outcome`] (completion). [`group`] has frames to
//! all nodes. [`presence`] has management frames, power save and association. [`obss`] models other networks;
//! [`delivery_bound`] is for real-time drivers.

mod access;
mod change;
mod channel;
mod compose;
pub mod config;
mod delivery_bound;
mod exchange;
mod group;
mod hardware;
mod host_bus;
mod link;
mod node;
mod obss;
mod obss_events;
mod outcome;
pub mod output;
mod presence;
mod reception;
mod sent;
mod sequence;
mod store;
mod txop;

pub use config::{AirConfig, ChannelConfig, LinkConfig, NodeConfig};
pub use delivery_bound::{DeliveryBound, Expected};
pub use output::{Account, ChannelAccount, Output, Transmission};

use crate::aggregation::Mpdu;
use crate::packet::{DropReason, NodeId, Packet, Queued};
use crate::phy::PhyError;
use crate::queue::{StationState, TransmitQueue};
use channel::{Channel, ContenderOwner, OnAir};
use link::Received;
use netburn_units::{BitRate, Instant, RandomStream};
use node::Node;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The air.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then wait for
/// a packet or for [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Air<P> {
    nodes: Vec<Node<P>>,
    channels: Vec<Channel>,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    sequence: u64,
    outputs: VecDeque<Output<P>>,
    trace: Option<VecDeque<Transmission>>,
    loss_rng: RandomStream,
    /// Losses of group-addressed frames.
    group_loss_rng: RandomStream,
    now: Instant,
    winners: Vec<crate::edca::Contender>,
    /// Buffer for received content in order.
    released: Vec<Received<P>>,
    /// Cached result of `next_due`; outer `None`: invalidated by a state change.
    due: Option<Option<(Instant, Wake)>>,
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A transmission or a response timeout ends, or a packet has crossed an adapter's bus.
    Frame,
    /// A backoff ends.
    Backoff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A transmission ends.
    End { channel: usize, frame: u32 },
    /// SIFS after a frame: the next frame in the exchange of `node` begins.
    Begin { node: NodeId },
    /// The exchange of `node` ends without a response.
    Timeout { node: NodeId },
    /// A frame of another network arrives.
    Obss { channel: usize },
    /// A packet has crossed the bus to the hardware of `node`.
    Up { node: NodeId },
    /// A packet has crossed the bus to the host of `node`.
    Down { node: NodeId },
}

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Creates the air, with one transmit queue per node.
    ///
    /// # Errors
    /// If the standard doesn't have the vector of a link.
    ///
    /// # Panics
    /// If the numbers of queues and nodes differ, or with more than
    /// [`AirConfig::MAX_HEARING_GROUPS`] on a channel.
    pub fn new(config: &AirConfig, queues: Vec<Box<dyn TransmitQueue<P>>>) -> Result<Self, PhyError> {
        Self::starting_at(Instant::ZERO, config, queues)
    }

    /// As [`new`](Self::new), with time starting at `begin` instead of 0.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    pub fn starting_at(
        begin: Instant,
        config: &AirConfig,
        queues: Vec<Box<dyn TransmitQueue<P>>>,
    ) -> Result<Self, PhyError> {
        assert_eq!(config.nodes.len(), queues.len(), "one queue per node");
        let (mut channels, group_of): (Vec<_>, Vec<_>) = (0..config.channels.len())
            .map(|index| Channel::new(begin, config, index))
            .unzip();
        let mut nodes = Vec::new();
        for (index, (node, queue)) in config.nodes.iter().zip(queues).enumerate() {
            let group = group_of[node.channel][index].expect("a node is on its channel");
            let id = NodeId(u16::try_from(index).expect("fewer than 65 536 nodes"));
            let contend = |category: usize| {
                let aifsn = node.edca[category].aifsn;
                channels[node.channel].contend(group, aifsn, node.framing.has_qos(), ContenderOwner::Node(id, category))
            };
            let contenders = [0, 1, 2, 3].map(contend);
            nodes.push(Node::new(config, index, contenders, queue)?);
        }
        let mut air = Air {
            nodes,
            channels,
            events: BinaryHeap::new(),
            sequence: 0,
            outputs: VecDeque::new(),
            trace: None,
            loss_rng: config.seed.stream("loss", 0),
            group_loss_rng: config.seed.stream("group loss", 0),
            now: begin,
            winners: Vec::new(),
            released: Vec::new(),
            due: None,
        };
        for channel in 0..air.channels.len() {
            air.schedule_obss(begin, channel);
        }
        Ok(air)
    }

    /// Adds a packet for `to` to the transmit queue of `from`.
    pub fn handle_packet(&mut self, now: Instant, from: NodeId, to: NodeId, packet: Packet<P>) {
        self.handle_timeout(now);
        let now = self.now;
        let node = &mut self.nodes[from.index()];
        let category = crate::edca::AccessCategory::from_tid(packet.tid).index();
        node.arrivals += 1;
        let queued = Queued {
            to,
            since: now,
            arrival: node.arrivals,
            packet,
        };
        if node.link(to).is_none_or(|link| link.state == StationState::Gone) {
            node.drops.push((queued, DropReason::NoLink));
        } else {
            node.queue.enqueue(now, queued, &mut node.drops);
            self.fill(now, from, category);
            self.contend(now, from, category);
        }
        self.report_drops(now, from);
    }

    /// Processes all events up to `now`, in the order of time.
    #[inline]
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.next_due().is_some_and(|(at, _)| at <= now) {
            self.handle_due(now);
        }
        self.now = self.now.max(now);
    }

    #[inline(never)]
    fn handle_due(&mut self, now: Instant) {
        while let Some((at, wake)) = self.next_due().filter(|(at, _)| *at <= now) {
            self.now = self.now.max(at);
            self.due = None;
            match wake {
                Wake::Frame => {
                    let Reverse((at, _, event)) = self.events.pop().expect("a frame event was due");
                    self.handle_event(at, event);
                }
                Wake::Backoff => self.handle_backoff(self.now),
            }
        }
    }

    /// Next output.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    /// Returns true if [`poll_output`](Self::poll_output) returns an output.
    #[must_use]
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout), and its reason; `None` while
    /// nothing is to be sent.
    pub fn poll_timeout(&mut self) -> Option<(Instant, Wake)> {
        self.next_due()
    }

    /// Enables [`poll_transmission`](Self::poll_transmission).
    pub fn trace(&mut self) {
        self.trace.get_or_insert_default();
    }

    /// Next data transmission that ended.
    pub fn poll_transmission(&mut self) -> Option<Transmission> {
        self.trace.as_mut()?.pop_front()
    }

    /// Data rate of the last transmission from `from` to `to`, or of the first one before it;
    /// `None` without a link.
    #[must_use]
    pub fn rate(&self, from: NodeId, to: NodeId) -> Option<BitRate> {
        let node = &self.nodes[from.index()];
        let place = node.place_of(to)?;
        Some(node.links[usize::from(place)].sending.format.rate)
    }

    /// Account of a node.
    #[must_use]
    pub fn account(&self, node: NodeId) -> Account {
        self.nodes[node.index()].account
    }

    /// Account of a channel's time.
    #[must_use]
    pub fn channel_account(&self, channel: usize) -> ChannelAccount {
        self.channels[channel].account
    }

    /// Number of a node's packets that are not complete. They are in its queue, in its hardware,
    /// waiting for retransmission, or at their receivers waiting for earlier ones. Packets in its
    /// adapter for its host also count.
    #[must_use]
    pub fn backlog(&self, node: NodeId) -> usize {
        let node = &self.nodes[node.index()];
        let of_mpdus = |mpdus: &[Mpdu<P>]| -> usize { mpdus.iter().map(Mpdu::packets).sum() };
        let hardware: usize = node.categories.iter().map(|c| c.hardware.packets()).sum();
        let links = node.links.iter();
        let waiting: usize = links
            .clone()
            .flat_map(|link| &link.senders)
            .map(crate::aggregation::Sender::packets)
            .sum();
        let received: usize = links
            .flat_map(|link| &link.reorder)
            .flat_map(crate::aggregation::Reorder::held)
            .map(|received| 1 + received.more.len())
            .sum();
        let exchange = node.exchange.iter();
        let on_air: usize = exchange
            .flat_map(|exchange| exchange.payload.aggregates())
            .map(|aggregate| of_mpdus(&aggregate.mpdus))
            .sum();
        node.queue.packets() + hardware + waiting + received + on_air + node.in_adapter()
    }

    #[inline]
    fn next_due(&mut self) -> Option<(Instant, Wake)> {
        match self.due {
            Some(due) => due,
            None => self.find_due(),
        }
    }

    #[inline(never)]
    fn find_due(&mut self) -> Option<(Instant, Wake)> {
        let mut due = self.events.peek().map(|Reverse((at, ..))| (*at, Wake::Frame));
        let before = due.map(|(at, _)| at);
        for channel in &mut self.channels {
            let contention = &mut channel.contention;
            let backoff = match before {
                Some(before) => contention.next_due_before(before),
                None => contention.next_due(),
            };
            if let Some(at) = backoff {
                // A backoff that ended before its contender had anything to send is due now.
                let backoff = (at.max(self.now), Wake::Backoff);
                due = Some(due.map_or(backoff, |due| due.min(backoff)));
            }
        }
        self.due = Some(due);
        due
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.due = None;
        self.sequence += 1;
        self.events.push(Reverse((at, self.sequence, event)));
    }

    /// Reports the drops of a node's queue.
    #[inline]
    fn report_drops(&mut self, now: Instant, from: NodeId) {
        if !self.nodes[from.index()].drops.is_empty() {
            self.report_all_drops(now, from);
        }
    }

    #[inline(never)]
    fn report_all_drops(&mut self, now: Instant, from: NodeId) {
        let node = &mut self.nodes[from.index()];
        for (queued, reason) in node.drops.drain(..) {
            node.account.drops += 1;
            self.outputs.push_back(Output::Dropped {
                at: now,
                from,
                to: queued.to,
                reason,
                packet: Some(queued.packet),
            });
        }
    }

    /// Starts a transmission.
    fn transmit(&mut self, frame: OnAir, channel: usize) {
        let end = frame.end;
        let name = self.channels[channel].start(frame);
        self.schedule(end, Event::End { channel, frame: name });
    }
}
