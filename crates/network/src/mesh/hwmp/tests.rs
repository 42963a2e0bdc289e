//! Discovery, paths and their laws.

use super::*;
use proptest::prelude::*;

fn ms(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Nodes that hear each other, with a metric for each link.
struct Mesh {
    nodes: Vec<Hwmp<u32>>,
    links: BTreeMap<(u16, u16), u32>,
    /// Elements in flight: time of arrival, order, sender, receiver.
    flying: BTreeMap<(Instant, u64), (MeshId, MeshId, Element)>,
    order: u64,
    now: Instant,
    /// Frames that arrived at their destination, and dropped ones.
    arrived: Vec<u32>,
    dropped: Vec<u32>,
    sent: Vec<(Instant, MeshId, Element)>,
}

impl Mesh {
    fn new(count: u16, links: &[(u16, u16, u32)], constants: Constants, root: RootMode) -> Self {
        let node = |number| {
            let mode = if number == 0 { root } else { RootMode::None };
            Hwmp::new(Instant::ZERO, MeshId(number), constants, mode)
        };
        let both = |(a, b, metric): &(u16, u16, u32)| [((*a, *b), *metric), ((*b, *a), *metric)];
        Mesh {
            nodes: (0..count).map(node).collect(),
            links: links.iter().flat_map(both).collect(),
            flying: BTreeMap::new(),
            order: 0,
            now: Instant::ZERO,
            arrived: Vec::new(),
            dropped: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn send(&mut self, from: u16, to: u16, frame: u32) {
        let at = MeshId(from);
        if let Some((next, frame)) = self.nodes[usize::from(from)].send(self.now, MeshId(to), frame) {
            self.forward(at, next, frame, to);
        }
        self.drain();
    }

    /// Follows the paths of a frame; at most one visit of each node.
    fn forward(&mut self, from: MeshId, mut next: MeshId, frame: u32, to: u16) {
        let mut hops = 1;
        assert!(
            self.links.contains_key(&(from.0, next.0)),
            "{from:?} does not hear {next:?}"
        );
        while next != MeshId(to) {
            let Some((then, _)) = self.nodes[usize::from(next.0)].path(self.now, MeshId(to)) else {
                self.dropped.push(frame);
                return;
            };
            next = then;
            hops += 1;
            assert!(hops <= self.nodes.len(), "a loop on the way to {to}");
        }
        self.arrived.push(frame);
    }

    fn drain(&mut self) {
        for index in 0..self.nodes.len() {
            while let Some(output) = self.nodes[index].poll_output() {
                let from = MeshId(index as u16);
                match output {
                    Output::Send(to, element) => {
                        self.sent.push((self.now, from, element.clone()));
                        for other in 0..self.nodes.len() as u16 {
                            let heard = self.links.contains_key(&(from.0, other));
                            if heard && to.is_none_or(|to| to == MeshId(other)) {
                                self.order += 1;
                                // Different delays, so that elements overtake each other.
                                let delay = Duration::from_micros(500 + 137 * (self.order % 7));
                                let place = (self.now + delay, self.order);
                                self.flying.insert(place, (from, MeshId(other), element.clone()));
                            }
                        }
                    }
                    Output::Forward(next, frame) => {
                        assert!(self.links.contains_key(&(from.0, next.0)));
                        self.arrived.push(frame);
                    }
                    Output::Drop(frame) => self.dropped.push(frame),
                    Output::Path { to, before, now, .. } => {
                        assert_ne!(before, now.map(|(next, _)| next), "{to:?}");
                    }
                    Output::NotFound(_) => {}
                }
            }
        }
    }

    fn run(&mut self, until: Instant) {
        loop {
            let timer = self.nodes.iter().filter_map(Hwmp::poll_timeout).min();
            let element = self.flying.keys().next().map(|(at, _)| *at);
            let Some(at) = earlier(timer, element).filter(|at| *at <= until) else {
                break;
            };
            self.now = at;
            while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= at) {
                let (from, to, element) = entry.remove();
                // A link that has ended carries nothing.
                if let Some(metric) = self.links.get(&(to.0, from.0)) {
                    self.nodes[usize::from(to.0)].handle_element(at, from, *metric, &element);
                }
                self.drain();
                self.check();
            }
            for node in &mut self.nodes {
                node.handle_timeout(at);
                assert!(
                    node.poll_timeout().is_none_or(|next| next > at),
                    "a timer does not move"
                );
            }
            self.drain();
            self.check();
        }
        self.now = until;
    }

    /// No chain of next hops visits a node twice. Only links that exist are followed: a node that
    /// does not know yet that its link has ended can't loop over it.
    fn check(&self) {
        let count = self.nodes.len() as u16;
        for to in 0..count {
            for from in (0..count).filter(|from| *from != to) {
                let (mut at, mut hops) = (from, 0);
                while let Some((next, _)) = self.nodes[usize::from(at)].path(self.now, MeshId(to)) {
                    if next.0 == to {
                        break;
                    }
                    (at, hops) = (next.0, hops + 1);
                    assert!(hops <= count, "a loop from {from} to {to}");
                }
            }
        }
    }

    fn cut(&mut self, a: u16, b: u16) {
        self.links.remove(&(a, b));
        self.links.remove(&(b, a));
        for (one, other) in [(a, b), (b, a)] {
            self.nodes[usize::from(one)].handle_link_down(self.now, MeshId(other));
        }
        self.drain();
    }

    fn route(&self, from: u16, to: u16) -> Vec<u16> {
        let mut route = vec![from];
        let mut at = from;
        while at != to {
            let Some((next, _)) = self.nodes[usize::from(at)].path(self.now, MeshId(to)) else {
                break;
            };
            at = next.0;
            route.push(at);
        }
        route
    }
}

fn requests(mesh: &Mesh) -> Vec<u64> {
    let preqs = mesh
        .sent
        .iter()
        .filter(|(.., element)| matches!(element, Element::Preq(_)));
    preqs.map(|(at, ..)| at.since(Instant::ZERO).as_millis()).collect()
}

/// The first wait is 100 ms, and each further one doubles: PREQs at 0, 100, 300, 700 and 1500 ms. At
/// 3100 ms the node gives up. Ten frames wait; the first two of twelve are dropped at once.
#[test]
fn a_discovery_without_an_answer() {
    let mut mesh = Mesh::new(2, &[], Constants::LINUX, RootMode::None);
    for frame in 0..12 {
        mesh.send(0, 1, frame);
    }
    assert_eq!(mesh.dropped, [0, 1]);
    mesh.run(ms(3_099));
    assert_eq!(requests(&mesh), [0, 100, 300, 700, 1_500]);
    assert_eq!(mesh.dropped.len(), 2);
    mesh.run(ms(3_100));
    assert_eq!(mesh.dropped.len(), 12);
    assert_eq!(mesh.nodes[0].poll_timeout(), None);
}

/// The captures of ns-3: PREQs 204.8, 614.4 and 819.2 ms apart. The discovery ends 1024 ms after
/// the last: a ping at 2700 ms after the first PREQ starts another.
#[test]
fn a_discovery_with_the_timers_of_ns3() {
    let mut mesh = Mesh::new(2, &[], Constants::NS3, RootMode::None);
    mesh.send(0, 1, 0);
    mesh.run(ms(2_662));
    assert_eq!(requests(&mesh), [0, 204, 819, 1_638]);
    assert!(mesh.dropped.is_empty());
    mesh.run(ms(2_663));
    assert_eq!(mesh.dropped, [0]);
}

/// Direct at 26 Mbit/s (316), or two hops at 65 (127 each): 254 is less than 316 − 31. Direct at 39
/// (211): the sum is more. Two hops at 300 (28 each) are worse than one at 200 (41).
#[test]
fn the_path_with_the_lower_sum_wins() {
    for (direct, hop, expected) in [(316, 127, vec![0, 1, 2]), (211, 127, vec![0, 2]), (41, 28, vec![0, 2])] {
        let mut mesh = Mesh::new(
            3,
            &[(0, 2, direct), (0, 1, hop), (1, 2, hop)],
            Constants::LINUX,
            RootMode::None,
        );
        mesh.send(0, 2, 7);
        mesh.run(ms(50));
        assert_eq!(mesh.route(0, 2), expected);
        assert_eq!(mesh.arrived, [7]);
    }
}

/// A path with the same sequence number replaces another only below 9/10 of its metric: 284 of 316,
/// not 285.
#[test]
fn a_tenth_of_difference_is_needed() {
    for (metric, next) in [(284, 2), (285, 1)] {
        let mut node: Hwmp<()> = Hwmp::new(Instant::ZERO, MeshId(0), Constants::LINUX, RootMode::None);
        for (from, metric) in [(1, 316), (2, metric)] {
            let preq = Preq {
                originator: (MeshId(9), 5),
                target: Some(MeshId(8)),
                target_sequence: None,
                target_only: false,
                answered: false,
                hops: (1, 30),
                metric: metric - 100,
                lifetime: Duration::from_secs(5),
            };
            node.handle_element(ms(0), MeshId(from), 100, &Element::Preq(preq));
        }
        assert_eq!(node.path(ms(1), MeshId(9)).unwrap().0, MeshId(next));
    }
}

/// A path that is in use is requested again a second before its end, so no frame waits. An unused
/// one ends after 5 s.
#[test]
fn a_path_in_use_is_renewed() {
    let line = [(0, 1, 100), (1, 2, 100)];
    let mut mesh = Mesh::new(3, &line, Constants::LINUX, RootMode::None);
    for frame in 0..200 {
        mesh.send(0, 2, frame);
        mesh.run(ms(u64::from(frame) * 100 + 100));
    }
    assert_eq!((mesh.arrived.len(), mesh.dropped.len()), (200, 0));
    assert_eq!(mesh.route(0, 2), [0, 1, 2]);
    mesh.run(ms(30_000));
    assert_eq!(mesh.route(0, 2), [0]);
    // ns-3 does not renew: the first frame after 5.12 s waits for a new discovery.
    let mut mesh = Mesh::new(3, &line, Constants::NS3, RootMode::None);
    for frame in 0..100 {
        mesh.send(0, 2, frame);
        mesh.run(ms(u64::from(frame) * 100 + 100));
    }
    let own: Vec<u64> = mesh
        .sent
        .iter()
        .filter(|(_, from, _)| from.0 == 0)
        .map(|(at, ..)| at.since(Instant::ZERO).as_millis())
        .collect();
    assert_eq!(own, [0, 5_200]);
}

/// A broken link ends the paths over it in the whole chain, and the next frame finds another way.
#[test]
fn a_broken_link_is_reported() {
    let ring = [(0, 1, 100), (1, 2, 100), (2, 3, 100), (0, 4, 200), (4, 3, 200)];
    let mut mesh = Mesh::new(5, &ring, Constants::LINUX, RootMode::None);
    mesh.send(0, 3, 1);
    mesh.run(ms(100));
    assert_eq!(mesh.route(0, 3), [0, 1, 2, 3]);
    mesh.cut(2, 3);
    mesh.run(ms(200));
    assert_eq!(mesh.route(0, 3), [0]);
    mesh.send(0, 3, 2);
    mesh.run(ms(400));
    assert_eq!(mesh.route(0, 3), [0, 4, 3]);
    assert_eq!(mesh.arrived, [1, 2]);
}

/// A root gives all nodes a path to it, each 5 s; with answers it also has a path to each. With
/// RANNs the nodes request the path.
#[test]
fn roots() {
    let line = [(0, 1, 100), (1, 2, 100), (2, 3, 100)];
    for (mode, back) in [
        (RootMode::Proactive, false),
        (RootMode::Answered, true),
        (RootMode::Announcements, true),
    ] {
        let mut mesh = Mesh::new(4, &line, Constants::LINUX, mode);
        mesh.run(ms(50));
        for node in 1..4 {
            let route: Vec<u16> = (0..=node).rev().collect();
            assert_eq!(mesh.route(node, 0), route, "{mode:?}");
        }
        assert_eq!(mesh.route(0, 3).len() == 4, back, "{mode:?}");
        mesh.run(ms(20_000));
        assert_eq!(mesh.route(3, 0), [3, 2, 1, 0], "{mode:?}");
    }
}

/// An element is forwarded as often as its TTL permits: from node 0, 31 hops reach node 31.
#[test]
fn elements_have_a_ttl() {
    let line: Vec<(u16, u16, u32)> = (0..35).map(|node| (node, node + 1, 10)).collect();
    let mut mesh = Mesh::new(36, &line, Constants::LINUX, RootMode::None);
    mesh.send(0, 31, 1);
    mesh.send(0, 32, 2);
    mesh.run(ms(4_000));
    assert_eq!((mesh.arrived, mesh.dropped), (vec![1], vec![2]));
}

#[test]
fn sequence_numbers_wrap() {
    assert!(is_newer(1, 0) && !is_newer(0, 1) && !is_newer(5, 5));
    assert!(is_newer(0, u32::MAX) && !is_newer(u32::MAX, 0));
    assert!(is_newer(0x8000_0005, 6) && !is_newer(0x8000_0007, 6));
}

#[test]
fn stations_are_behind_their_access_point() {
    let mut node: Hwmp<()> = Hwmp::new(Instant::ZERO, MeshId(0), Constants::LINUX, RootMode::None);
    assert_eq!(node.proxy(77), None);
    node.learn_proxy(77, MeshId(3));
    node.learn_proxy(77, MeshId(4));
    assert_eq!(node.proxy(77), Some(MeshId(4)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Whatever is sent, whichever links end or get another metric: no chain of next hops has a loop.
    /// Every frame arrives, is dropped, or waits for a discovery, which ends.
    #[test]
    fn paths_have_no_loops(
        links in prop::collection::btree_map((0_u16..8, 0_u16..8), 1_u32..1_000, 4..24),
        operations in prop::collection::vec((0_u8..5, 0_u16..8, 0_u16..8, 1_u64..900), 1..60),
        mode in prop::sample::select(vec![RootMode::None, RootMode::Proactive, RootMode::Answered, RootMode::Announcements]),
        linux in any::<bool>(),
    ) {
        let constants = if linux { Constants::LINUX } else { Constants::NS3 };
        let links: Vec<_> = links.into_iter().filter(|((a, b), _)| a != b).map(|((a, b), metric)| (a, b, metric)).collect();
        let mut mesh = Mesh::new(8, &links, constants, mode);
        let mut offered = 0;
        for (kind, a, b, time) in operations {
            match kind {
                0..=2 if a != b => {
                    mesh.send(a, b, offered);
                    offered += 1;
                }
                3 => mesh.cut(a, b),
                4 => {
                    for pair in [(a, b), (b, a)] {
                        if let Some(metric) = mesh.links.get_mut(&pair) {
                            *metric = time as u32;
                        }
                    }
                }
                _ => {}
            }
            let until = mesh.now + Duration::from_millis(time);
            mesh.run(until);
        }
        let until = mesh.now + Duration::from_secs(10);
        mesh.run(until);
        let mut all: Vec<u32> = mesh.arrived.iter().chain(&mesh.dropped).copied().collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..offered).collect::<Vec<_>>());
    }
}
