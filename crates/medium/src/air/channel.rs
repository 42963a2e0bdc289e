//! State of a channel: hearing groups, and transmissions on the air.

use super::config::{AirConfig, ChannelConfig};
use super::obss::{OBSS_AIFSN, Obss};
use super::output::ChannelAccount;
use super::sequence::FrameType;
use crate::edca::{Contender, Contention, Timing};
use crate::packet::NodeId;
use crate::phy::{Guard, Modulation, TxVector, Width, response};
use netburn_units::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContenderOwner {
    /// A node's category, by its index.
    Node(NodeId, usize),
    /// Other networks.
    Obss,
}

/// A transmission on the air.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnAir {
    pub(super) origin: Origin,
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// End of the NAV of stations that can decode it.
    pub(super) nav: Instant,
    /// Hearing groups that sense another transmission meanwhile, one bit each.
    overlapped: u64,
}

/// Origin of a transmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A frame of the exchange that `initiator` began.
    Exchange {
        initiator: NodeId,
        sender: NodeId,
        frame: FrameType,
    },
    /// Another network.
    Obss,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) timing: Timing,
    /// EIFS − DIFS.
    eifs: Duration,
    pub(super) failures_known_at_once: bool,
    pub(super) protection: bool,
    pub(super) contention: Contention,
    pub(super) owners: Vec<ContenderOwner>,
    /// Hearing groups that sense a node, one bit each; the last entry is for other networks, which
    /// all groups sense.
    sensed_by: Vec<u64>,
    groups: usize,
    group_of: Vec<Option<usize>>,
    on_air: Vec<(u32, OnAir)>,
    next_id: u32,
    since: Instant,
    pub(super) account: ChannelAccount,
    pub(super) obss: Obss,
}

impl Channel {
    /// Channel `index` of `config`, with the hearing group of each of its nodes (nodes of other
    /// channels have none).
    pub(super) fn new(begin: Instant, config: &AirConfig, index: usize) -> (Self, Vec<Option<usize>>) {
        let ChannelConfig {
            timing,
            eifs,
            busy,
            failures_known_at_once,
            protection,
        } = &config.channels[index];
        let (groups, group_of) = config.hearing_groups(index);
        assert!(
            groups.len() <= AirConfig::MAX_HEARING_GROUPS,
            "at most 64 hearing groups on one channel"
        );
        let mut sensed_by = vec![0_u64; config.nodes.len() + 1];
        for (group, heard) in groups.iter().enumerate() {
            for node in heard {
                sensed_by[*node] |= 1 << group;
            }
            sensed_by[config.nodes.len()] |= 1 << group;
        }
        let eifs = eifs.map_or(Duration::ZERO, |modulation| {
            // A SIFS of 10 µs is that of 2.4 GHz (clause 18), where OFDM frames end with an
            // extension of 6 µs.
            let signal_extension =
                timing.sifs == Timing::OFDM_2G.sifs * timing.clock && !matches!(modulation, Modulation::Dsss(_));
            let vector = TxVector {
                modulation,
                width: Width::Mhz20,
                guard: Guard::Ns800,
                streams: 1,
                signal_extension,
                short_preamble: false,
            };
            timing.sifs + response::duration(&vector, response::ACK) * timing.clock
        });
        let mut contention = Contention::new(*timing, groups.len().max(1));
        let contender = contention.add(0, OBSS_AIFSN, true);
        let obss_rng = config.seed.stream("others", index as u64);
        let channel = Channel {
            timing: *timing,
            eifs,
            failures_known_at_once: *failures_known_at_once,
            protection: *protection,
            contention,
            owners: vec![ContenderOwner::Obss],
            sensed_by,
            groups: groups.len(),
            group_of: group_of.clone(),
            on_air: Vec::new(),
            next_id: 0,
            since: begin,
            account: ChannelAccount::default(),
            obss: Obss::new(contender, *busy, timing.clock, obss_rng),
        };
        (channel, group_of)
    }

    pub(super) fn contend(&mut self, group: usize, aifsn: u32, edca: bool, owner: ContenderOwner) -> Contender {
        self.owners.push(owner);
        self.contention.add(group, aifsn, edca)
    }

    /// Adds a transmission and returns its ID.
    pub(super) fn start(&mut self, mut frame: OnAir) -> u32 {
        let sensed = self.sensed(&frame);
        let now = frame.start;
        self.count(now);
        for (_, other) in &mut self.on_air {
            frame.overlapped |= self.sensed_by[index(other.origin, &self.sensed_by)];
            other.overlapped |= sensed;
        }
        for group in 0..self.groups {
            if sensed & (1 << group) != 0 {
                self.contention.sense(now, group);
            }
        }
        self.next_id = self.next_id.wrapping_add(1);
        self.on_air.push((self.next_id, frame));
        self.next_id
    }

    /// Removes a transmission.
    pub(super) fn end(&mut self, name: u32) -> OnAir {
        let at = self
            .on_air
            .iter()
            .position(|(other, _)| *other == name)
            .expect("on the air");
        let frame = self.on_air[at].1;
        self.count(frame.end);
        self.on_air.swap_remove(at);
        let sensed = self.sensed(&frame);
        for group in 0..self.groups {
            let bit = 1 << group;
            if sensed & bit != 0 {
                let (nav, extra) = if frame.overlapped & bit != 0 {
                    (frame.end, self.eifs)
                } else {
                    (frame.nav, Duration::ZERO)
                };
                self.contention.clear(frame.end, group, nav, extra);
            }
        }
        frame
    }

    /// Origin of a transmission on the air.
    pub(super) fn origin(&self, name: u32) -> Option<Origin> {
        let frame = self.on_air.iter().find(|(other, _)| *other == name);
        frame.map(|(_, frame)| frame.origin)
    }

    /// Returns true if another transmission overlaps a frame at `node`.
    pub(super) fn has_collided_at(&self, frame: &OnAir, node: NodeId) -> bool {
        self.group_of[node.index()].is_some_and(|group| frame.overlapped & (1 << group) != 0)
    }

    /// Returns true if another transmission overlaps a frame somewhere.
    pub(super) fn has_collided(&self, frame: &OnAir) -> bool {
        self.sensed(frame) & frame.overlapped != 0
    }

    /// Returns true if no other transmission overlaps a frame at `node`, and `node` hears its sender.
    pub(super) fn is_clear_at(&self, frame: &OnAir, node: NodeId) -> bool {
        let group = self.group_of[node.index()];
        group.is_some_and(|group| self.sensed(frame) & !frame.overlapped & (1 << group) != 0)
    }

    /// Earliest time at which a node can start a transmission; `None`: a node can already.
    pub(super) fn busy_until(&self) -> Option<Instant> {
        // Nodes that don't hear all others may send meanwhile.
        let all_hear = self.groups == 1;
        self.on_air
            .iter()
            .map(|(_, frame)| frame.end)
            .max()
            .filter(|_| all_hear)
    }

    /// Hearing groups that sense a transmission.
    fn sensed(&self, frame: &OnAir) -> u64 {
        self.sensed_by[index(frame.origin, &self.sensed_by)]
    }

    /// Accounts the time since the last change.
    fn count(&mut self, now: Instant) {
        if !self.on_air.is_empty() {
            let span = now.since(self.since);
            let account = &mut self.account;
            account.busy += span;
            match &self.on_air[..] {
                [(_, alone)] => match alone.origin {
                    _ if alone.is_data() => account.data += span,
                    Origin::Exchange { .. } => account.control += span,
                    Origin::Obss => account.others += span,
                },
                several => {
                    account.overlapped += span;
                    let data = several.iter().filter(|(_, frame)| frame.is_data());
                    account.overlapped_data += span * data.count() as u64;
                }
            }
        }
        self.since = now;
    }
}

impl OnAir {
    /// A transmission of `length`, with a NAV of `nav` after its end.
    pub(super) fn new(origin: Origin, start: Instant, length: Duration, nav: Duration) -> Self {
        let end = start + length;
        OnAir {
            origin,
            start,
            end,
            nav: end + nav,
            overlapped: 0,
        }
    }

    fn is_data(&self) -> bool {
        matches!(
            self.origin,
            Origin::Exchange {
                frame: FrameType::Data,
                ..
            }
        )
    }
}

/// Index in `sensed_by`.
fn index(origin: Origin, sensed_by: &[u64]) -> usize {
    match origin {
        Origin::Exchange { sender, .. } => sender.index(),
        Origin::Obss => sensed_by.len() - 1,
    }
}
