//! Meshes of a plan: path selection of their members, and their links.

use super::MeshId;
use super::constants::Constants;
use super::event::{MeshEvent, MeshEventKind};
use super::hwmp::{Element, Hwmp, RootMode};
use super::metric::{FailureAverage, linux};
use super::peering::{Peering, PeeringAction, PeeringState};
use crate::beacon;
use crate::layout::{Layout, MeshLayout, UnitLink};
use crate::output::Payload;
use crate::wlan::Wlan;
use netburn_medium::packet::{NodeId, Packet};
use netburn_scenario::Plan;
use netburn_scenario::plan::{MeshRoot, MeshTimers};
use netburn_units::{BitRate, Dbm, Duration, Instant, RandomStream, earlier};
use std::collections::{BTreeMap, VecDeque};

/// All meshes.
#[derive(Debug)]
pub(crate) struct Meshes<B> {
    pub(super) meshes: Vec<Mesh<B>>,
    /// Mesh and content of each management frame on its way.
    pub(super) frames: BTreeMap<MeshFrame, (usize, Content)>,
    next_frame: u32,
    pub(super) events: VecDeque<MeshEvent>,
    /// Names of the access points.
    aps: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Mesh<B> {
    pub(super) layout: MeshLayout,
    constants: Constants,
    pub(super) nodes: Vec<Hwmp<Packet<B>>>,
    /// By two members: the link from the first to the second.
    pub(super) peers: BTreeMap<(usize, usize), Peer>,
    /// Phase of each member's beacons.
    beacons: Vec<Duration>,
    pub(super) beacon_rng: RandomStream,
    /// Cached time of the next timer of `peers`.
    peers_due: Option<Instant>,
    /// By a member and a destination: the path that was reported last.
    reported: BTreeMap<(usize, usize), Reported>,
}

/// One direction of the link of two members, from the sender's view.
#[derive(Debug)]
pub(super) struct Peer {
    /// Metric of the link.
    pub(super) metric: u32,
    pub(super) failures: FailureAverage,
    pub(super) peering: Peering,
    /// Signal of the neighbour in dBm; `None`: nothing is lost to noise.
    pub(super) signal: Option<f64>,
    /// True if the signals permit the slowest rate in both directions.
    usable: bool,
    /// Next beacon of the neighbour, while a beacon would start the peering.
    pub(super) beacon: Option<Instant>,
}

/// A management frame on its way. It is a number, so that it does not make the bodies of all frames larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MeshFrame(u32);

/// Content of a management frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Element(Element),
    Peering(PeeringAction),
}

/// Last report about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    /// Its next hop; `true`: its lifetime has ended since.
    Next(usize, bool),
    /// Its discovery failed.
    NotFound,
}

impl<B: Payload> Meshes<B> {
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Self {
        let mesh = |(index, layout): (usize, &MeshLayout)| {
            let constants = match layout.timers {
                MeshTimers::Linux => Constants::LINUX,
                MeshTimers::Ns3 => Constants::NS3,
            };
            let root_mode = match layout.root_mode {
                MeshRoot::None => RootMode::None,
                MeshRoot::Proactive => RootMode::Proactive,
                MeshRoot::Answered => RootMode::Answered,
                MeshRoot::Announcements => RootMode::Announcements,
            };
            let node = |place: usize| {
                let mode = if place == layout.root {
                    root_mode
                } else {
                    RootMode::None
                };
                Hwmp::new(begin, MeshId(place as u16), constants, mode)
            };
            let peers = layout.links.iter().flat_map(|(one, other, link)| {
                let (at_one, at_other) = link.signals();
                let peer = |signal: Option<Dbm>| Peer {
                    metric: metric(link),
                    failures: FailureAverage::default(),
                    peering: Peering::established(constants),
                    signal: signal.map(Dbm::as_dbm_f64),
                    usable: true,
                    beacon: None,
                };
                [((*one, *other), peer(at_one)), ((*other, *one), peer(at_other))]
            });
            let phase = |(ap, _): &(usize, NodeId)| {
                let mut phase = plan.seed.stream("mesh beacon phase", *ap as u64);
                phase.duration_below(constants.beacon_interval)
            };
            Mesh {
                constants,
                nodes: (0..layout.members.len()).map(node).collect(),
                peers: peers.collect(),
                beacons: layout.members.iter().map(phase).collect(),
                beacon_rng: plan.seed.stream("mesh beacon", index as u64),
                peers_due: None,
                layout: layout.clone(),
                reported: BTreeMap::new(),
            }
        };
        Meshes {
            meshes: layout.meshes.iter().enumerate().map(mesh).collect(),
            frames: BTreeMap::new(),
            next_frame: 0,
            events: VecDeque::new(),
            aps: plan.aps.iter().map(|ap| ap.name.clone()).collect(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let nodes = self.meshes.iter().flat_map(|mesh| &mesh.nodes);
        let peers = self.meshes.iter().filter_map(|mesh| mesh.peers_due);
        nodes.filter_map(Hwmp::poll_timeout).chain(peers).min()
    }

    /// Reports an event of member `from` about member `to`.
    pub(super) fn report(&mut self, at: Instant, mesh: usize, (from, to): (usize, usize), kind: MeshEventKind) {
        let event = MeshEvent {
            at,
            mesh: self.meshes[mesh].layout.name.clone(),
            ap: self.name(mesh, from),
            to: self.name(mesh, to),
            kind,
        };
        self.events.push_back(event);
    }

    /// Reports a path of member `from` to member `to`. `now`: its next hop and metric, if there is one.
    pub(super) fn report_path(
        &mut self,
        at: Instant,
        mesh: usize,
        ends: (usize, usize),
        now: Option<(usize, u32)>,
        expired: bool,
    ) {
        let name = |member: usize| self.name(mesh, member);
        let known = self.meshes[mesh].reported.get(&ends).copied();
        let (kind, reported) = match (known, now) {
            (Some(Reported::Next(before, _)), Some((next, metric))) if before != next => {
                let kind = MeshEventKind::Changed {
                    before: name(before),
                    next: name(next),
                    metric,
                };
                (kind, Some(Reported::Next(next, false)))
            }
            (Some(Reported::Next(_, over)), Some((next, metric))) => {
                if !over {
                    return;
                }
                let kind = MeshEventKind::Renewed {
                    next: name(next),
                    metric,
                };
                (kind, Some(Reported::Next(next, false)))
            }
            (_, Some((next, metric))) => {
                let kind = MeshEventKind::Found {
                    next: name(next),
                    metric,
                };
                (kind, Some(Reported::Next(next, false)))
            }
            (Some(Reported::Next(before, false)), None) if expired => {
                let kind = MeshEventKind::Expired { before: name(before) };
                (kind, Some(Reported::Next(before, true)))
            }
            (Some(Reported::Next(before, _)), None) => (MeshEventKind::Lost { before: name(before) }, None),
            (_, None) => return,
        };
        match reported {
            Some(reported) => self.meshes[mesh].reported.insert(ends, reported),
            None => self.meshes[mesh].reported.remove(&ends),
        };
        self.report(at, mesh, ends, kind);
    }

    /// Reports that no path of member `from` to member `to` was found, unless that is the last report.
    pub(super) fn report_not_found(&mut self, at: Instant, mesh: usize, ends: (usize, usize)) {
        let before = self.meshes[mesh].reported.insert(ends, Reported::NotFound);
        if before != Some(Reported::NotFound) {
            self.report(at, mesh, ends, MeshEventKind::NotFound);
        }
    }

    fn name(&self, mesh: usize, member: usize) -> String {
        self.aps[self.meshes[mesh].layout.members[member].0].clone()
    }

    /// Updates the links of a radio whose power has changed.
    pub(crate) fn set_power(&mut self, now: Instant, wlan: &mut Wlan<B>, radio: NodeId) {
        for mesh in &mut self.meshes {
            for (one, other, link) in &mut mesh.layout.links {
                if link.own != radio && link.parent != radio {
                    continue;
                }
                wlan.update_power(link);
                let (at_one, at_other) = link.signals();
                for (ends, signal) in [((*one, *other), at_one), ((*other, *one), at_other)] {
                    if let Some(peer) = mesh.peers.get_mut(&ends) {
                        peer.metric = metric(link);
                        peer.signal = signal.map(Dbm::as_dbm_f64);
                        peer.usable = link.is_usable();
                    }
                }
            }
            mesh.schedule_peers(now);
        }
    }

    /// A new management frame.
    pub(super) fn frame(&mut self, mesh: usize, content: Content) -> MeshFrame {
        let frame = MeshFrame(self.next_frame);
        self.next_frame = self.next_frame.wrapping_add(1);
        self.frames.insert(frame, (mesh, content));
        frame
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.meshes.is_empty()
    }

    /// Mesh of an access point, and its radio there.
    pub(crate) fn radio_of(&self, ap: usize) -> Option<(usize, NodeId)> {
        let (mesh, place) = self.place(ap)?;
        Some((mesh, self.meshes[mesh].layout.members[place].1))
    }

    /// Access point of a node, if it accepts data of another member: it has a peering with it.
    pub(crate) fn accepts(&self, mesh: usize, from: NodeId, node: NodeId) -> Option<usize> {
        let at = &self.meshes[mesh];
        let ends = (at.place_of(node)?, at.place_of(from)?);
        at.metric(ends)?;
        Some(at.layout.members[ends.0].0)
    }

    /// Mesh and place of an access point.
    pub(super) fn place(&self, ap: usize) -> Option<(usize, usize)> {
        self.meshes.iter().enumerate().find_map(|(mesh, at)| {
            let place = at.layout.members.iter().position(|(member, _)| *member == ap)?;
            Some((mesh, place))
        })
    }
}

/// Metric of a link at the expected throughput of its best rate.
fn metric(link: &UnitLink) -> u32 {
    linux(BitRate::from_bps(link.expected_bps() as u64), 0)
}

impl<B> Mesh<B> {
    /// Metric of an open link; `None` if it is closed.
    pub(super) fn metric(&self, ends: (usize, usize)) -> Option<u32> {
        let peer = self.peers.get(&ends).filter(|peer| peer.is_open())?;
        Some(peer.metric)
    }

    /// Updates the timers of the peerings after a change of their states or signals.
    pub(super) fn schedule_peers(&mut self, now: Instant) {
        self.peers_due = None;
        for ((_, neighbour), peer) in &mut self.peers {
            let listens = peer.usable && peer.peering.state() == PeeringState::Listening;
            if !listens {
                peer.beacon = None;
            } else if peer.beacon.is_none() {
                let (phase, interval) = (self.beacons[*neighbour], self.constants.beacon_interval);
                peer.beacon = Some(beacon::next(now, phase, interval));
            }
            let due = earlier(peer.beacon, peer.peering.poll_timeout());
            self.peers_due = earlier(self.peers_due, due);
        }
    }

    /// True if a timer of a peering is due.
    pub(super) fn is_peer_due(&self, now: Instant) -> bool {
        self.peers_due.is_some_and(|at| at <= now)
    }

    pub(super) fn place_of(&self, node: NodeId) -> Option<usize> {
        self.layout.members.iter().position(|(_, member)| *member == node)
    }
}

impl Peer {
    /// True if both sides have confirmed the peering, as far as this side knows.
    pub(super) fn is_open(&self) -> bool {
        self.peering.state() == PeeringState::Established
    }
}
