//! Nodes of a mesh over a channel that loses, delays and repeats elements, and the laws that must hold.

use crate::mesh::MeshId;
use crate::mesh::constants::Constants;
use crate::mesh::hwmp::{Element, Hwmp, Output, RootMode};
use crate::mesh::metric::BROKEN;
use netburn_medium::fuzz::Bytes;
use netburn_units::{Duration, Instant, earlier};
use std::collections::{BTreeMap, BTreeSet};

const NODES: usize = 5;
const MODES: [RootMode; 4] = [
    RootMode::None,
    RootMode::Proactive,
    RootMode::Answered,
    RootMode::Announcements,
];
/// More elements than a flood of every node's request causes.
const MAX_FLOOD: u32 = 100_000;

/// Runs the operations and checks the laws:
///
/// - The next timeout is stable. Handling it early has no effect. At its time it yields an output or
///   moves strictly later.
/// - Every frame leaves its node once: with its next hop, later with its next hop, or dropped. Not more
///   frames than the limit wait for one destination.
/// - The next hop is another node. Changes of a path follow each other: each begins with the next hop
///   that the one before ended with.
/// - The sum of hops and remaining hops of an element is constant, metrics do not exceed that of a broken
///   link, and a flood ends.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let constants = bytes.one_of(&[Constants::LINUX, Constants::NS3]);
    let mut world = World {
        constants,
        now: Instant::ZERO,
        nodes: (0..NODES)
            .map(|node| Hwmp::new(Instant::ZERO, MeshId(node as u16), constants, bytes.one_of(&MODES)))
            .collect(),
        links: BTreeMap::new(),
        on_air: Vec::new(),
        waiting: BTreeMap::new(),
        frames: 0,
        paths: BTreeMap::new(),
    };
    while !bytes.is_empty() {
        world.operate(&mut bytes);
    }
    world.settle();
}

struct World {
    constants: Constants,
    now: Instant,
    nodes: Vec<Hwmp<u32>>,
    /// Metric of each link.
    links: BTreeMap<(usize, usize), u32>,
    /// Sender, receiver and element of frames in flight.
    on_air: Vec<(usize, usize, Element)>,
    /// Node and destination of frames that wait.
    waiting: BTreeMap<u32, (usize, MeshId)>,
    frames: u32,
    /// Next hop of each node to each destination, by the reported changes.
    paths: BTreeMap<(usize, MeshId), MeshId>,
}

impl World {
    fn operate(&mut self, bytes: &mut Bytes<'_>) {
        let node = bytes.below(NODES);
        match bytes.below(12) {
            0 | 1 => {
                let other = bytes.below(NODES);
                if other != node {
                    let metric = bytes.one_of(&[1, 200, 1_000, BROKEN - 1, BROKEN]);
                    self.links.insert((node, other), metric);
                    self.links.insert((other, node), metric);
                }
            }
            2 => {
                let other = bytes.below(NODES);
                if self.links.remove(&(node, other)).is_some() {
                    self.links.remove(&(other, node));
                    for (one, other) in [(node, other), (other, node)] {
                        self.nodes[one].handle_link_down(self.now, MeshId(other as u16));
                        self.drain(one);
                    }
                }
            }
            3 | 4 => self.send(node, bytes.below(NODES)),
            5 | 6 => {
                let first = bytes.below(4).min(self.on_air.len());
                if first < self.on_air.len() {
                    self.deliver(first);
                }
            }
            7 => self.settle(),
            8 => {
                // Lost, or repeated.
                if bytes.below(2) == 0 && !self.on_air.is_empty() {
                    self.on_air.remove(0);
                } else if let Some(first) = self.on_air.first().cloned() {
                    self.on_air.push(first);
                }
            }
            9 => {
                self.nodes[node].handle_no_path(self.now, MeshId(bytes.below(NODES) as u16));
                self.drain(node);
            }
            10 => self.step(),
            _ => {
                let span = Duration::from_millis(bytes.one_of(&[1, 30, 1_000, 7_000]));
                let end = self.now + span;
                while self.due().is_some_and(|at| at <= end) {
                    self.step();
                    self.on_air.truncate(64);
                }
                self.now = end;
            }
        }
    }

    fn send(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        let (frame, to) = (self.frames, MeshId(to as u16));
        self.frames += 1;
        match self.nodes[from].send(self.now, to, frame) {
            Some((next, same)) => {
                assert_eq!(same, frame);
                assert_ne!(usize::from(next.0), from, "the next hop is another node");
            }
            None => {
                self.waiting.insert(frame, (from, to));
            }
        }
        self.drain(from);
        let alike = self.waiting.values().filter(|place| **place == (from, to));
        assert!(alike.count() <= self.constants.queue, "too many frames wait");
    }

    /// Delivers a frame in flight, if its link exists.
    fn deliver(&mut self, index: usize) {
        let (from, to, element) = self.on_air.remove(index);
        if let Some(metric) = self.links.get(&(to, from)) {
            self.nodes[to].handle_element(self.now, MeshId(from as u16), *metric, &element);
            self.drain(to);
        }
    }

    /// Delivers all frames in flight.
    fn settle(&mut self) {
        for _ in 0..MAX_FLOOD {
            if self.on_air.is_empty() {
                return;
            }
            self.deliver(0);
        }
        panic!("a flood without end");
    }

    fn due(&self) -> Option<Instant> {
        self.nodes.iter().map(Hwmp::poll_timeout).fold(None, earlier)
    }

    /// Handles the next timeout at its time.
    fn step(&mut self) {
        let Some(at) = self.due() else { return };
        self.now = self.now.max(at);
        for node in 0..NODES {
            let Some(due) = self.nodes[node].poll_timeout() else {
                continue;
            };
            if due > self.now {
                // Only paths may end.
                self.nodes[node].handle_timeout(self.now);
                assert_eq!(self.nodes[node].poll_timeout(), Some(due), "early");
                self.drain(node);
                continue;
            }
            self.nodes[node].handle_timeout(self.now);
            let outputs = self.drain(node);
            let next = self.nodes[node].poll_timeout();
            assert!(outputs > 0 || next.is_none_or(|next| next > self.now), "{next:?}");
        }
    }

    /// Checks the outputs of a node. Returns their number.
    fn drain(&mut self, node: usize) -> u32 {
        let mut count = 0;
        while let Some(output) = self.nodes[node].poll_output() {
            count += 1;
            match output {
                Output::Send(to, element) => self.broadcast(node, to, &element),
                Output::Forward(next, frame) => {
                    assert!(usize::from(next.0) != node && self.waiting.remove(&frame).is_some());
                }
                Output::Drop(frame) => assert!(self.waiting.remove(&frame).is_some(), "{frame}"),
                Output::NotFound(to) => assert!(!self.paths.contains_key(&(node, to)), "a path to {to:?}"),
                Output::Path { to, before, now, .. } => {
                    assert_ne!(usize::from(to.0), node, "a path to itself");
                    assert_ne!(before, now.map(|(next, _)| next), "no change");
                    let known = match now {
                        Some((next, _)) => self.paths.insert((node, to), next),
                        None => self.paths.remove(&(node, to)),
                    };
                    assert_eq!(known, before, "path of {node} to {to:?}");
                }
            }
        }
        for to in (0..NODES).map(|to| MeshId(to as u16)) {
            if let Some((next, metric)) = self.nodes[node].path(self.now, to) {
                assert!(metric <= BROKEN);
                assert_eq!(self.paths.get(&(node, to)), Some(&next));
            }
        }
        count
    }

    fn broadcast(&mut self, from: usize, to: Option<MeshId>, element: &Element) {
        check_element(&self.constants, element);
        let receivers: BTreeSet<usize> = match to {
            Some(to) => BTreeSet::from([usize::from(to.0)]),
            None => (0..NODES).filter(|to| self.links.contains_key(&(from, *to))).collect(),
        };
        for receiver in receivers {
            assert_ne!(receiver, from, "an element to itself");
            self.on_air.push((from, receiver, element.clone()));
        }
    }
}

fn check_element(constants: &Constants, element: &Element) {
    let (hops, metric) = match element {
        Element::Preq(preq) => (Some(preq.hops), preq.metric),
        Element::Prep(prep) => (Some(prep.hops), prep.metric),
        Element::Rann(rann) => (Some(rann.hops), rann.metric),
        Element::Perr(perr) => {
            assert!(!perr.destinations.is_empty() && perr.ttl >= 1 && perr.ttl <= constants.element_ttl);
            (None, 0)
        }
    };
    if let Some((hops, ttl)) = hops {
        assert_eq!(hops + ttl, constants.element_ttl, "{element:?}");
    }
    assert!(metric <= BROKEN, "{element:?}");
    assert!(element.bytes() > 2);
}
