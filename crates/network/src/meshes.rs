//! Meshes of a plan: path selection of their members, and their links.

use crate::beacon;
use crate::layout::{Layout, MeshLayout, PlacedRadio, UnitLink};
use crate::mesh::MeshId;
use crate::mesh::hwmp::{Element, Hwmp};
use crate::mesh::metric::{FailureAverage, linux};
use crate::mesh::peering::{Peering, PeeringAction, PeeringState};
use crate::mesh_event::{MeshEvent, MeshEventKind};
use crate::output::NetPacket;
use netburn_medium::packet::NodeId;
use netburn_units::{BitRate, Dbm, Duration, Instant, Stream, earlier};
use std::collections::{BTreeMap, VecDeque};

/// All meshes.
#[derive(Debug)]
pub(crate) struct Meshes<P> {
    pub(crate) meshes: Vec<MeshAir<P>>,
    /// Management frames on their way by their `flow`: the mesh, and the content.
    pub(crate) frames: BTreeMap<u32, (usize, MeshFrame)>,
    pub(crate) next_frame: u32,
    pub(crate) events: VecDeque<MeshEvent>,
    /// Names of the access points.
    pub(crate) aps: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct MeshAir<P> {
    pub(crate) layout: MeshLayout,
    pub(crate) nodes: Vec<Hwmp<NetPacket<P>>>,
    /// By two members: the link from the first to the second.
    pub(crate) peers: BTreeMap<(usize, usize), Peer>,
    /// Phase of each member's beacons.
    beacons: Vec<Duration>,
    /// For the reception of beacons.
    pub(crate) chance: Stream,
    /// Cached time of the next timer of `peers`.
    peers_due: Option<Instant>,
    /// By a member and a destination: the path that was reported last.
    reported: BTreeMap<(usize, usize), Reported>,
}

/// One direction of the link of two members, from the sender's view.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Metric of the link.
    pub(crate) metric: u32,
    pub(crate) failures: FailureAverage,
    pub(crate) peering: Peering,
    /// Signal of the neighbour in dBm; `None`: nothing is lost to noise.
    pub(crate) signal: Option<f64>,
    /// True if the signals permit the slowest rate in both directions.
    usable: bool,
    /// Next beacon of the neighbour, while a beacon would start the peering.
    pub(crate) beacon: Option<Instant>,
}

/// Content of a management frame of a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MeshFrame {
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

impl<P> Meshes<P> {
    pub(crate) fn new(plan: &netburn_scenario::Plan, layout: &Layout, begin: Instant) -> Self {
        let mesh = |(index, layout): (usize, &MeshLayout)| {
            let node = |place: usize| {
                let mode = if place == layout.root {
                    layout.mode
                } else {
                    Default::default()
                };
                Hwmp::new(begin, MeshId(place as u16), layout.constants, mode)
            };
            let peers = layout.links.iter().flat_map(|(one, other, link)| {
                let (at_one, at_other) = link.signals();
                let peer = |signal: Option<Dbm>| Peer {
                    metric: metric(link),
                    failures: FailureAverage::default(),
                    peering: Peering::established(layout.constants),
                    signal: signal.map(Dbm::as_dbm_f64),
                    usable: true,
                    beacon: None,
                };
                [((*one, *other), peer(at_one)), ((*other, *one), peer(at_other))]
            });
            let phase = |(ap, _): &(usize, NodeId)| {
                let mut phase = plan.seed.stream("mesh beacon phase", *ap as u64);
                phase.duration_below(layout.constants.beacon_interval)
            };
            MeshAir {
                nodes: (0..layout.members.len()).map(node).collect(),
                peers: peers.collect(),
                beacons: layout.members.iter().map(phase).collect(),
                chance: plan.seed.stream("mesh beacon", index as u64),
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
    pub(crate) fn report(&mut self, at: Instant, mesh: usize, (from, to): (usize, usize), kind: MeshEventKind) {
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
    pub(crate) fn report_path(
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
    pub(crate) fn report_not_found(&mut self, at: Instant, mesh: usize, ends: (usize, usize)) {
        let before = self.meshes[mesh].reported.insert(ends, Reported::NotFound);
        if before != Some(Reported::NotFound) {
            self.report(at, mesh, ends, MeshEventKind::NotFound);
        }
    }

    fn name(&self, mesh: usize, member: usize) -> String {
        self.aps[self.meshes[mesh].layout.members[member].0].clone()
    }

    /// Updates the links of a radio whose power has changed. Returns their ends and SNRs.
    pub(crate) fn set_powers(&mut self, radio: NodeId, radios: &[PlacedRadio]) -> Vec<(NodeId, NodeId, Option<f64>)> {
        let mut changed = Vec::new();
        for mesh in &mut self.meshes {
            for (one, other, link) in &mut mesh.layout.links {
                let (own, parent) = (link.own, link.parent);
                if own != radio && parent != radio {
                    continue;
                }
                link.set_powers(&radios[parent.index()].config, &radios[own.index()].config);
                let (down, up) = link.snrs();
                changed.extend([(parent, own, down), (own, parent, up)]);
                let (at_one, at_other) = link.signals();
                for (ends, signal) in [((*one, *other), at_one), ((*other, *one), at_other)] {
                    if let Some(peer) = mesh.peers.get_mut(&ends) {
                        peer.metric = metric(link);
                        peer.signal = signal.map(Dbm::as_dbm_f64);
                        peer.usable = link.is_usable();
                    }
                }
            }
        }
        changed
    }

    /// Updates the timers of all peerings after a change of signals.
    pub(crate) fn schedule_peers(&mut self, now: Instant) {
        for mesh in &mut self.meshes {
            mesh.schedule_peers(now);
        }
    }

    /// Mesh and place of an access point.
    pub(crate) fn place(&self, ap: usize) -> Option<(usize, usize)> {
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

impl<P> MeshAir<P> {
    /// Metric of an open link; `None` if it is closed.
    pub(crate) fn metric(&self, ends: (usize, usize)) -> Option<u32> {
        let peer = self.peers.get(&ends).filter(|peer| peer.is_open())?;
        Some(peer.metric)
    }

    /// Updates the timers of the peerings after a change of their states or signals.
    pub(crate) fn schedule_peers(&mut self, now: Instant) {
        self.peers_due = None;
        for ((_, neighbour), peer) in &mut self.peers {
            let listens = peer.usable && peer.peering.state() == PeeringState::Listening;
            if !listens {
                peer.beacon = None;
            } else if peer.beacon.is_none() {
                let (phase, interval) = (self.beacons[*neighbour], self.layout.constants.beacon_interval);
                peer.beacon = Some(beacon::next(now, phase, interval));
            }
            let due = earlier(peer.beacon, peer.peering.poll_timeout());
            self.peers_due = earlier(self.peers_due, due);
        }
    }

    /// True if a timer of a peering is due.
    pub(crate) fn is_peer_due(&self, now: Instant) -> bool {
        self.peers_due.is_some_and(|at| at <= now)
    }

    pub(crate) fn place_of(&self, node: NodeId) -> Option<usize> {
        self.layout.members.iter().position(|(_, member)| *member == node)
    }
}

impl Peer {
    /// True if both sides have confirmed the peering, as far as this side knows.
    pub(crate) fn is_open(&self) -> bool {
        self.peering.state() == PeeringState::Established
    }
}
