//! Hybrid wireless mesh protocol: path selection (802.11-2020 clause 14.10).
//!
//! A node that has a frame for an unknown destination floods a path request (PREQ). The target, or a
//! node that knows a path, answers with a path reply (PREP). Each node on the way remembers the
//! neighbour from which the element came as the next hop. Sequence numbers of the destination
//! distinguish newer from older information, and keep the paths free of loops. A root announces itself. A
//! broken link causes a path error (PERR).
//!
//! The decisions follow Linux (`net/mac80211/mesh_hwmp.c`).

use super::MeshId;
use super::constants::Constants;
use super::metric::BROKEN;
use netburn_units::{Duration, Instant, earlier};
use std::collections::{BTreeMap, VecDeque};

/// An element of a path selection frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// Path request.
    Preq(Preq),
    /// Path reply.
    Prep(Prep),
    /// Path error.
    Perr(Perr),
    /// Root announcement.
    Rann(Rann),
}

/// Path request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preq {
    /// Node that looks for a path, and its sequence number.
    pub originator: (MeshId, u32),
    /// Node to which the path leads; `None`: every node, for a root's proactive request.
    pub target: Option<MeshId>,
    /// Last known sequence number of the target.
    pub target_sequence: Option<u32>,
    /// True if only the target may answer.
    pub target_only: bool,
    /// True if every node answers a proactive request.
    pub answered: bool,
    /// Hops so far, and remaining hops.
    pub hops: (u8, u8),
    /// Sum of the links' metrics so far.
    pub metric: u32,
    /// Lifetime of the path.
    pub lifetime: Duration,
}

/// Path reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prep {
    /// Node to which the path leads, and its sequence number.
    pub target: (MeshId, u32),
    /// Node that looked for the path.
    pub originator: MeshId,
    /// Hops so far, and remaining hops.
    pub hops: (u8, u8),
    /// Sum of the links' metrics so far.
    pub metric: u32,
    /// Lifetime of the path.
    pub lifetime: Duration,
}

/// Path error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perr {
    /// Destinations that the sender can't reach any more, and their sequence numbers.
    pub destinations: Vec<(MeshId, u32)>,
    /// Remaining hops.
    pub ttl: u8,
}

/// Root announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rann {
    /// Root, and its sequence number.
    pub root: (MeshId, u32),
    /// Hops so far, and remaining hops.
    pub hops: (u8, u8),
    /// Sum of the links' metrics so far.
    pub metric: u32,
}

impl Element {
    /// Length of the element in bytes, with its header (802.11-2020 clauses 9.4.2.110 to 113).
    #[must_use]
    pub fn bytes(&self) -> u32 {
        match self {
            Element::Preq(_) => 2 + 37,
            Element::Prep(_) => 2 + 31,
            Element::Perr(perr) => 2 + 2 + 13 * perr.destinations.len() as u32,
            Element::Rann(_) => 2 + 21,
        }
    }
}

/// Role of a node as a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RootMode {
    /// It is no root.
    #[default]
    None,
    /// It sends proactive PREQs, which give all nodes a path to it.
    Proactive,
    /// It sends proactive PREQs that all nodes answer, so that it also has a path to each.
    Answered,
    /// It sends RANNs, which make the nodes request a path.
    Announcements,
}

/// Output of [`Hwmp`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output<T> {
    /// Sends an element to a neighbour; `None`: to all.
    Send(Option<MeshId>, Element),
    /// Sends a frame that waited for its path to the next hop.
    Forward(MeshId, T),
    /// Drops a frame: its path wasn't found, or too many frames wait for it.
    Drop(T),
    /// The next hop to a destination has changed.
    Path {
        /// Destination.
        to: MeshId,
        /// Next hop before; `None`: no path.
        before: Option<MeshId>,
        /// Next hop now, and the metric of the path; `None`: no path.
        now: Option<(MeshId, u32)>,
        /// True if its lifetime has ended without a renewal: nothing shows that it is broken.
        expired: bool,
    },
    /// The discovery of a path failed: nothing has answered.
    NotFound(MeshId),
}

/// Path to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path {
    next: MeshId,
    sequence: Option<u32>,
    metric: u32,
    ends: Instant,
    /// False after an error or its end. The sequence number stays.
    active: bool,
}

#[derive(Debug)]
struct Discovery<T> {
    /// Number of its PREQs.
    sent: u32,
    due: Instant,
    frames: VecDeque<T>,
    /// True if it only renews a path that still exists.
    refreshes: bool,
}

/// Path selection of one node. `T`: a frame that waits for its path.
///
/// **Call order:** after every call, drain [`poll_output`](Self::poll_output), then wait for an element,
/// a frame or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Hwmp<T> {
    own: MeshId,
    constants: Constants,
    mode: RootMode,
    sequence: u32,
    /// Last time at which the node raised its sequence number for a PREQ.
    raised: Option<Instant>,
    paths: BTreeMap<MeshId, Path>,
    discoveries: BTreeMap<MeshId, Discovery<T>>,
    /// Destinations outside of the mesh, and the node behind which each one is.
    proxies: BTreeMap<u32, MeshId>,
    /// Time of the next announcement of a root.
    next_announcement: Option<Instant>,
    /// Sequence number and metric of each root's last announcement, and the last confirmation.
    roots: BTreeMap<MeshId, (u32, u32, Option<Instant>)>,
    /// Time from which the next PREQ may be sent, and the next PERR.
    preq_from: Instant,
    perr_from: Instant,
    outputs: VecDeque<Output<T>>,
}

/// True if a sequence number is newer than another (clause 14.10.8.3).
#[must_use]
pub const fn is_newer(one: u32, other: u32) -> bool {
    (other.wrapping_sub(one) as i32) < 0
}

impl<T> Hwmp<T> {
    /// A node without paths. A root announces itself at `begin` for the first time.
    #[must_use]
    pub fn new(begin: Instant, own: MeshId, constants: Constants, mode: RootMode) -> Self {
        Hwmp {
            own,
            constants,
            mode,
            sequence: 0,
            raised: None,
            paths: BTreeMap::new(),
            discoveries: BTreeMap::new(),
            proxies: BTreeMap::new(),
            next_announcement: (mode != RootMode::None).then_some(begin),
            roots: BTreeMap::new(),
            preq_from: begin,
            perr_from: begin,
            outputs: VecDeque::new(),
        }
    }

    /// Next output.
    pub fn poll_output(&mut self) -> Option<Output<T>> {
        self.outputs.pop_front()
    }

    /// Next hop and metric of a destination, if there is a path at `now`.
    #[must_use]
    pub fn path(&self, now: Instant, to: MeshId) -> Option<(MeshId, u32)> {
        let path = self.paths.get(&to).filter(|path| path.active && path.ends > now)?;
        Some((path.next, path.metric))
    }

    /// Remembers that a destination outside of the mesh is behind a node.
    pub fn learn_proxy(&mut self, outside: u32, node: MeshId) {
        self.proxies.insert(outside, node);
    }

    /// Node behind which a destination outside of the mesh is.
    #[must_use]
    pub fn proxy(&self, outside: u32) -> Option<MeshId> {
        self.proxies.get(&outside).copied()
    }

    /// Sends a frame to a destination. Returns it with its next hop, or keeps it until the path is
    /// found.
    pub fn send(&mut self, now: Instant, to: MeshId, frame: T) -> Option<(MeshId, T)> {
        self.expire(now);
        let Some((next, _)) = self.path(now, to) else {
            let limit = self.constants.queue;
            if let Some(discovery) = self.discoveries.get_mut(&to) {
                discovery.frames.push_back(frame);
                discovery.refreshes = false;
                if discovery.frames.len() > limit {
                    // Linux drops the oldest.
                    let oldest = discovery.frames.pop_front();
                    self.outputs.extend(oldest.map(Output::Drop));
                }
            } else {
                self.discover(now, to, Some(frame));
            }
            return None;
        };
        let path = &self.paths[&to];
        let old = self.constants.refresh.is_some_and(|time| now + time >= path.ends);
        if old && !self.discoveries.contains_key(&to) {
            self.discover(now, to, None);
        }
        Some((next, frame))
    }

    /// Starts a discovery for a frame, or to renew a path.
    fn discover(&mut self, now: Instant, to: MeshId, frame: Option<T>) {
        let discovery = Discovery {
            sent: 0,
            due: now.max(self.preq_from),
            refreshes: frame.is_none(),
            frames: frame.into_iter().collect(),
        };
        self.discoveries.insert(to, discovery);
        self.handle_timeout(now);
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let discovery = self.discoveries.values().map(|discovery| discovery.due).min();
        earlier(discovery, self.next_announcement)
    }

    /// Processes the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.expire(now);
        while let Some(at) = self.next_announcement.filter(|at| *at <= now) {
            self.announce();
            self.next_announcement = Some(at + self.constants.root_interval);
        }
        let due: Vec<MeshId> = self
            .discoveries
            .iter()
            .filter(|(_, discovery)| discovery.due <= now)
            .map(|(to, _)| *to)
            .collect();
        for to in due {
            self.request(now, to);
        }
    }

    /// Sends the next PREQ of a discovery, or ends it.
    fn request(&mut self, now: Instant, to: MeshId) {
        let retries = self.constants.preq_retries;
        let Some(discovery) = self.discoveries.get_mut(&to) else {
            return;
        };
        if discovery.sent > retries || discovery.refreshes && discovery.sent > 0 {
            let refreshes = discovery.refreshes;
            let frames = self.discoveries.remove(&to).map(|ended| ended.frames);
            self.outputs.extend(frames.into_iter().flatten().map(Output::Drop));
            if !refreshes {
                self.outputs.push_back(Output::NotFound(to));
            }
            return;
        }
        if now < self.preq_from {
            discovery.due = self.preq_from;
            return;
        }
        discovery.due = now + self.constants.wait(discovery.sent);
        discovery.sent += 1;
        let target_only = discovery.refreshes;
        self.preq_from = now + self.constants.preq_interval;
        self.raise();
        let preq = Preq {
            originator: (self.own, self.sequence),
            target: Some(to),
            target_sequence: self.paths.get(&to).and_then(|path| path.sequence),
            target_only,
            answered: false,
            hops: (0, self.constants.element_ttl),
            metric: 0,
            lifetime: self.constants.path_timeout,
        };
        self.outputs.push_back(Output::Send(None, Element::Preq(preq)));
    }

    /// Announces this root.
    fn announce(&mut self) {
        self.raise();
        let hops = (0, self.constants.element_ttl);
        let element = match self.mode {
            RootMode::None => return,
            RootMode::Announcements => Element::Rann(Rann {
                root: (self.own, self.sequence),
                hops,
                metric: 0,
            }),
            RootMode::Proactive | RootMode::Answered => Element::Preq(Preq {
                originator: (self.own, self.sequence),
                target: None,
                target_sequence: None,
                target_only: true,
                answered: self.mode == RootMode::Answered,
                hops,
                metric: 0,
                lifetime: self.constants.root_timeout,
            }),
        };
        self.outputs.push_back(Output::Send(None, element));
    }

    fn raise(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Ends the paths whose lifetime is over.
    fn expire(&mut self, now: Instant) {
        for (to, path) in &mut self.paths {
            if path.active && path.ends <= now {
                path.active = false;
                self.outputs.push_back(Output::Path {
                    to: *to,
                    before: Some(path.next),
                    now: None,
                    expired: true,
                });
            }
        }
    }

    /// Processes an element from a neighbour. `metric`: that of the link to it.
    pub fn handle_element(&mut self, now: Instant, from: MeshId, metric: u32, element: &Element) {
        if metric >= BROKEN {
            return;
        }
        self.expire(now);
        match element {
            Element::Preq(preq) => self.handle_preq(now, from, metric, preq),
            Element::Prep(prep) => self.handle_prep(now, from, metric, prep),
            Element::Perr(perr) => self.handle_perr(now, from, perr),
            Element::Rann(rann) => self.handle_rann(now, metric, rann),
        }
    }

    fn handle_preq(&mut self, now: Instant, from: MeshId, metric: u32, preq: &Preq) {
        let ends = now + preq.lifetime;
        let Some(metric) = self.update(now, from, metric, preq.originator, preq.metric, ends) else {
            return;
        };
        let answer = match preq.target {
            Some(target) if target == self.own => Some((self.own_sequence(now, preq.target_sequence), 0)),
            None if preq.answered => Some((self.own_sequence(now, None), 0)),
            None => None,
            Some(target) => self.known(now, target, preq),
        };
        if let Some((sequence, known)) = answer {
            let prep = Prep {
                target: (preq.target.unwrap_or(self.own), sequence),
                originator: preq.originator.0,
                hops: (0, self.constants.element_ttl),
                metric: known,
                lifetime: preq.lifetime,
            };
            self.outputs.push_back(Output::Send(Some(from), Element::Prep(prep)));
        }
        let goes_on = preq.target.is_none() || answer.is_none();
        let (hops, ttl) = preq.hops;
        if goes_on && ttl > 1 {
            let preq = Preq {
                hops: (hops + 1, ttl - 1),
                metric,
                ..*preq
            };
            self.outputs.push_back(Output::Send(None, Element::Preq(preq)));
        }
    }

    /// Sequence number with which a target answers.
    fn own_sequence(&mut self, now: Instant, asked: Option<u32>) -> u32 {
        if let Some(asked) = asked
            && is_newer(asked, self.sequence)
        {
            self.sequence = asked;
        }
        if self.raised.is_none_or(|at| now.since(at) > self.constants.traversal) {
            self.raise();
            self.raised = Some(now);
        }
        self.sequence
    }

    /// Sequence number and metric of a path that this node knows, if it may answer with it.
    fn known(&self, now: Instant, target: MeshId, preq: &Preq) -> Option<(u32, u32)> {
        let path = self.paths.get(&target)?;
        let sequence = path.sequence?;
        let recent = preq.target_sequence.is_none_or(|asked| !is_newer(asked, sequence));
        let usable = path.active && path.ends > now && path.next != preq.originator.0;
        (usable && recent && !preq.target_only).then_some((sequence, path.metric))
    }

    fn handle_prep(&mut self, now: Instant, from: MeshId, metric: u32, prep: &Prep) {
        let ends = now + prep.lifetime;
        let (target, sequence) = prep.target;
        // A target keeps its sequence number for the traversal time, so replies to several nodes have
        // the same. A node that has a path as recent passes on its own. (Linux drops such a reply,
        // and the node that waits for it asks again.)
        let (sequence, metric) = match self.update(now, from, metric, prep.target, prep.metric, ends) {
            Some(metric) => (sequence, metric),
            None => match self.paths.get(&target) {
                Some(Path {
                    sequence: Some(known),
                    metric,
                    active: true,
                    ..
                }) if !is_newer(sequence, *known) => (*known, *metric),
                _ => return,
            },
        };
        let (hops, ttl) = prep.hops;
        if prep.originator == self.own || ttl <= 1 {
            return;
        }
        if let Some((next, _)) = self.path(now, prep.originator) {
            let prep = Prep {
                target: (target, sequence),
                hops: (hops + 1, ttl - 1),
                metric,
                ..*prep
            };
            self.outputs.push_back(Output::Send(Some(next), Element::Prep(prep)));
        }
    }

    /// Processes the information that a path to `origin` leads over the neighbour `from`. Returns the
    /// metric of that path if the information is newer or better than what the node has.
    fn update(
        &mut self,
        now: Instant,
        from: MeshId,
        link: u32,
        (origin, sequence): (MeshId, u32),
        metric: u32,
        ends: Instant,
    ) -> Option<u32> {
        if origin == self.own {
            return None;
        }
        let metric = metric.saturating_add(link).min(BROKEN);
        let path = self.paths.get(&origin).copied();
        let fresh = path.is_none_or(|path| match path.sequence {
            Some(known) if is_newer(known, sequence) => false,
            Some(known) if known == sequence => self.is_better(&path, from, metric),
            Some(_) | None => true,
        });
        if fresh {
            self.set_path(now, origin, from, Some(sequence), metric, ends);
        }
        if from != origin {
            // The neighbour itself is one hop away.
            let path = self.paths.get(&from).copied();
            if path.is_none_or(|path| !path.active || self.is_better(&path, from, link)) {
                let sequence = path.and_then(|path| path.sequence);
                self.set_path(now, from, from, sequence, link, ends);
            }
        }
        fresh.then_some(metric)
    }

    /// True if a metric is sufficiently lower than that of a path.
    fn is_better(&self, path: &Path, next: MeshId, metric: u32) -> bool {
        if path.next == next {
            return metric < path.metric;
        }
        u64::from(metric) * 10 < u64::from(path.metric) * self.constants.better_tenths
    }

    fn set_path(&mut self, now: Instant, to: MeshId, next: MeshId, sequence: Option<u32>, metric: u32, ends: Instant) {
        let before = self.path(now, to).map(|(next, _)| next);
        let ends = match self.paths.get(&to) {
            Some(path) if path.active => path.ends.max(ends),
            _ => ends,
        };
        let path = Path {
            next,
            sequence,
            metric,
            ends,
            active: true,
        };
        self.paths.insert(to, path);
        if before != Some(next) {
            self.outputs.push_back(Output::Path {
                to,
                before,
                now: Some((next, metric)),
                expired: false,
            });
        }
        if let Some(found) = self.discoveries.remove(&to) {
            let forward = |frame| Output::Forward(next, frame);
            self.outputs.extend(found.frames.into_iter().map(forward));
        }
    }

    fn handle_perr(&mut self, now: Instant, from: MeshId, perr: &Perr) {
        let mut broken = Vec::new();
        for (to, sequence) in &perr.destinations {
            let Some(path) = self.paths.get_mut(to) else { continue };
            let newer = path.sequence.is_none_or(|known| is_newer(*sequence, known));
            if !path.active || path.next != from || !newer {
                continue;
            }
            path.active = false;
            path.sequence = Some(*sequence);
            broken.push((*to, *sequence));
            self.outputs.push_back(Output::Path {
                to: *to,
                before: Some(from),
                now: None,
                expired: false,
            });
        }
        if perr.ttl > 1 {
            self.report(now, broken, perr.ttl - 1);
        }
    }

    /// Processes the end of the link to a neighbour: all paths over it are broken.
    pub fn handle_link_down(&mut self, now: Instant, neighbour: MeshId) {
        let mut broken = Vec::new();
        for (to, path) in &mut self.paths {
            if path.active && path.next == neighbour {
                path.active = false;
                let sequence = path.sequence.map_or(0, |known| known.wrapping_add(1));
                path.sequence = Some(sequence);
                broken.push((*to, sequence));
                self.outputs.push_back(Output::Path {
                    to: *to,
                    before: Some(neighbour),
                    now: None,
                    expired: false,
                });
            }
        }
        self.report(now, broken, self.constants.element_ttl);
    }

    /// Processes a frame of a neighbour for a destination to which this node has no path.
    pub fn handle_no_path(&mut self, now: Instant, to: MeshId) {
        let sequence = self.paths.get(&to).and_then(|path| path.sequence);
        let sequence = sequence.map_or(0, |known| known.wrapping_add(1));
        self.report(now, vec![(to, sequence)], self.constants.element_ttl);
    }

    fn report(&mut self, now: Instant, destinations: Vec<(MeshId, u32)>, ttl: u8) {
        if destinations.is_empty() || now < self.perr_from {
            return;
        }
        self.perr_from = now + self.constants.perr_interval;
        let perr = Perr { destinations, ttl };
        self.outputs.push_back(Output::Send(None, Element::Perr(perr)));
    }

    fn handle_rann(&mut self, now: Instant, link: u32, rann: &Rann) {
        let (root, sequence) = rann.root;
        if root == self.own {
            return;
        }
        let metric = rann.metric.saturating_add(link).min(BROKEN);
        let known = self.roots.get(&root).copied();
        let fresh =
            known.is_none_or(|(before, best, _)| is_newer(sequence, before) || sequence == before && metric < best);
        if !fresh {
            return;
        }
        let confirmed = known.and_then(|(.., confirmed)| confirmed);
        let due = confirmed.is_none_or(|at| now.since(at) >= self.constants.root_confirmation);
        let confirmed = if due { Some(now) } else { confirmed };
        self.roots.insert(root, (sequence, metric, confirmed));
        if due && !self.discoveries.contains_key(&root) {
            self.discover(now, root, None);
        }
        let (hops, ttl) = rann.hops;
        if ttl > 1 {
            let rann = Rann {
                hops: (hops + 1, ttl - 1),
                metric,
                ..*rann
            };
            self.outputs.push_back(Output::Send(None, Element::Rann(rann)));
        }
    }
}

#[cfg(test)]
mod tests;
