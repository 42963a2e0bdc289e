//! A channel while it is used: who hears whom, and what is on the air.

use super::config::{AirConfig, ChannelConfig};
use super::others::{OTHERS_AIFSN, Others};
use super::output::ChannelAccount;
use crate::edca::{Contender, Contention, Timing};
use crate::packet::NodeId;
use crate::phy::{Guard, Modulation, TxVector, Width, response};
use netburn_units::{Duration, Instant};

/// Who contends under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// A node's category, by its place.
    Node(NodeId, usize),
    /// Those whom the scenario doesn't know.
    Others,
}

/// One transmission on the air.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flight {
    pub(super) kind: Kind,
    /// The sender; `None`: others.
    pub(super) from: Option<NodeId>,
    pub(super) to: Option<NodeId>,
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// Until when those who can read it leave the medium alone.
    pub(super) nav: Instant,
    /// Something else reached the receiver at the same time.
    pub(super) lost: bool,
    /// Hearing groups that something else reached at the same time, a bit each.
    broken: u64,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rts,
    Cts,
    Data,
    Response,
    Others,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub(super) timing: Timing,
    /// EIFS − DIFS.
    eifs: Duration,
    pub(super) failures_known_at_once: bool,
    pub(super) contention: Contention,
    pub(super) who: Vec<Who>,
    /// Which hearing groups sense a node, a bit each; the last entry is the others, whom all sense.
    sensed_by: Vec<u64>,
    groups: usize,
    group_of: Vec<Option<usize>>,
    flights: Vec<(u32, Flight)>,
    next_flight: u32,
    since: Instant,
    pub(super) account: ChannelAccount,
    pub(super) others: Others,
}

impl Channel {
    /// Channel `index` of `config`, with the hearing group of each of its nodes (others have none).
    pub(super) fn new(begin: Instant, config: &AirConfig, index: usize) -> (Self, Vec<Option<usize>>) {
        let ChannelConfig {
            timing,
            eifs,
            busy,
            failures_known_at_once,
        } = &config.channels[index];
        let (groups, group_of) = config.ways_of_hearing(index);
        assert!(
            groups.len() <= AirConfig::MOST_WAYS_OF_HEARING,
            "at most 64 ways of hearing on one channel"
        );
        let mut sensed_by = vec![0_u64; config.nodes.len() + 1];
        for (group, heard) in groups.iter().enumerate() {
            for node in heard {
                sensed_by[*node] |= 1 << group;
            }
            sensed_by[config.nodes.len()] |= 1 << group;
        }
        let eifs = eifs.map_or(Duration::ZERO, |modulation| {
            // SIFS of 10 µs is 2.4 GHz's (clause 18), where OFDM frames end with an extension of 6 µs.
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
        let contender = contention.add(0, OTHERS_AIFSN, true);
        let chance = config.seed.stream("others", index as u64);
        let channel = Channel {
            timing: *timing,
            eifs,
            failures_known_at_once: *failures_known_at_once,
            contention,
            who: vec![Who::Others],
            sensed_by,
            groups: groups.len(),
            group_of: group_of.clone(),
            flights: Vec::new(),
            next_flight: 0,
            since: begin,
            account: ChannelAccount::default(),
            others: Others::new(contender, *busy, timing.clock, chance),
        };
        (channel, group_of)
    }

    pub(super) fn contend(&mut self, group: usize, aifsn: u32, edca: bool, who: Who) -> Contender {
        self.who.push(who);
        self.contention.add(group, aifsn, edca)
    }

    /// Puts a transmission on the air and returns its name.
    pub(super) fn start(&mut self, mut flight: Flight) -> u32 {
        let sensed = self.sensed(flight.from);
        let now = flight.start;
        self.count(now);
        for (_, other) in &mut self.flights {
            let both = sensed & self.sensed_by[index(other.from, &self.sensed_by)];
            flight.broken |= both;
            other.broken |= both;
            flight.lost |= reaches(
                &self.group_of,
                self.sensed_by[index(other.from, &self.sensed_by)],
                flight.to,
            );
            other.lost |= reaches(&self.group_of, sensed, other.to);
        }
        for group in 0..self.groups {
            if sensed & (1 << group) != 0 {
                self.contention.sense(now, group);
            }
        }
        self.next_flight = self.next_flight.wrapping_add(1);
        self.flights.push((self.next_flight, flight));
        self.next_flight
    }

    /// Takes a transmission off the air.
    pub(super) fn end(&mut self, name: u32) -> Flight {
        let at = self
            .flights
            .iter()
            .position(|(other, _)| *other == name)
            .expect("on the air");
        let flight = self.flights[at].1;
        self.count(flight.end);
        self.flights.swap_remove(at);
        let sensed = self.sensed(flight.from);
        for group in 0..self.groups {
            let bit = 1 << group;
            if sensed & bit != 0 {
                let (nav, extra) = match flight.broken & bit != 0 {
                    true => (flight.end, self.eifs),
                    false => (flight.nav, Duration::ZERO),
                };
                self.contention.clear(flight.end, group, nav, extra);
            }
        }
        flight
    }

    /// What a transmission on the air is.
    pub(super) fn kind(&self, name: u32) -> Option<Kind> {
        let flight = self.flights.iter().find(|(other, _)| *other == name);
        flight.map(|(_, flight)| flight.kind)
    }

    /// Until when nobody can begin to send; `None`: somebody can already.
    pub(super) fn busy_until(&self) -> Option<Instant> {
        // Where some don't hear what others do, they may send meanwhile.
        let all_hear = self.groups == 1;
        self.flights
            .iter()
            .map(|(_, flight)| flight.end)
            .max()
            .filter(|_| all_hear)
    }

    fn sensed(&self, from: Option<NodeId>) -> u64 {
        self.sensed_by[index(from, &self.sensed_by)]
    }

    /// Accounts for the time since the last change.
    fn count(&mut self, now: Instant) {
        if !self.flights.is_empty() {
            let span = now.since(self.since);
            let account = &mut self.account;
            account.busy += span;
            match &self.flights[..] {
                [(_, alone)] => match alone.kind {
                    Kind::Data => account.data += span,
                    Kind::Rts | Kind::Cts | Kind::Response => account.control += span,
                    Kind::Others => account.others += span,
                },
                several => {
                    account.overlapped += span;
                    let data = several.iter().filter(|(_, flight)| flight.kind == Kind::Data);
                    account.overlapped_data += span * data.count() as u64;
                }
            }
        }
        self.since = now;
    }
}

impl Flight {
    pub(super) fn new(kind: Kind, from: Option<NodeId>, to: Option<NodeId>, start: Instant, length: Duration) -> Self {
        Flight {
            kind,
            from,
            to,
            start,
            end: start + length,
            nav: start + length,
            lost: false,
            broken: 0,
        }
    }

    /// Those who can read it leave the medium alone for so long after its end.
    pub(super) fn reserving(mut self, span: Duration) -> Self {
        self.nav = self.end + span;
        self
    }
}

fn index(from: Option<NodeId>, sensed_by: &[u64]) -> usize {
    from.map_or(sensed_by.len() - 1, NodeId::index)
}

/// Whether a transmission that the groups `sensed` hear is heard at `to`: by its receiver, or because `to` itself sends it.
fn reaches(group_of: &[Option<usize>], sensed: u64, to: Option<NodeId>) -> bool {
    let group = to.and_then(|to| group_of[to.index()]);
    group.is_some_and(|group| sensed & (1 << group) != 0)
}
