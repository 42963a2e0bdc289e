//! Management frames, stations that leave the channel or sleep, and association.
//!
//! A node is *away* while its radio listens to another channel or sleeps: it neither sends nor
//! receives. Its access point learns that only from a frame of the station. Until then it sends, and
//! gets no acknowledgement.

use super::Air;
use crate::edca::AccessCategory;
use crate::packet::{DropReason, NodeId, Packet};
use crate::queue::StationState;
use netburn_units::Instant;

impl<P: std::fmt::Debug + Send> Air<P> {
    /// Sends a management frame at the lowest basic rate, with the priority of AC_VO (802.11-2020
    /// clause 10.2.3.2), ahead of the transmit queue. It is retried up to seven times. `body`: length of
    /// its body in bytes.
    ///
    /// # Panics
    /// If the nodes have no link.
    pub fn send_frame(&mut self, now: Instant, from: NodeId, to: NodeId, body: u32, payload: P) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        let node = &mut self.nodes[from.index()];
        assert!(node.link(to).is_some(), "management frames need a link");
        node.push_frame(now, to, Packet::management(body, payload));
        self.contend(now, from, AccessCategory::Voice.index());
    }

    /// Sets whether a node is away. An exchange that it has begun ends as usual.
    pub fn set_away(&mut self, now: Instant, node: NodeId, away: bool) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        self.nodes[node.index()].away = away;
        if !away {
            self.fill_all(now, node, None);
        }
    }

    /// Returns true if a node is away.
    #[must_use]
    pub fn is_away(&self, node: NodeId) -> bool {
        self.nodes[node.index()].away
    }

    /// Returns true while `from` is in a frame exchange with `to`.
    #[must_use]
    pub fn is_sending(&self, from: NodeId, to: NodeId) -> bool {
        let exchange = self.nodes[from.index()].exchange.as_ref();
        exchange.is_some_and(|exchange| exchange.payload.users().any(|user| user.tin.to == to))
    }

    /// Reports power save of `station` to `node`. While it sleeps, its packets wait: those of
    /// disciplines without station queues in buffers of
    /// [`POWER_SAVE_BUFFER`](crate::queue::driver::POWER_SAVE_BUFFER) packets.
    pub fn set_asleep(&mut self, now: Instant, node: NodeId, station: NodeId, asleep: bool) {
        let state = if asleep {
            StationState::Asleep
        } else {
            StationState::Awake
        };
        self.set_state(now, node, station, state);
    }

    /// Makes `station` known to `node`: packets are accepted from now on.
    pub fn associate(&mut self, now: Instant, node: NodeId, station: NodeId) {
        self.set_state(now, node, station, StationState::Awake);
    }

    /// Makes `node` forget `station`. All packets for it are dropped.
    pub fn disassociate(&mut self, now: Instant, node: NodeId, station: NodeId) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        let at = &mut self.nodes[node.index()];
        let packets = at.take_packets_for(now, station);
        let drops = packets.into_iter().map(|packet| (packet, DropReason::Disassociated));
        at.drops.extend(drops);
        self.set_state(now, node, station, StationState::Gone);
    }

    fn set_state(&mut self, now: Instant, node: NodeId, station: NodeId, state: StationState) {
        self.handle_timeout(now);
        self.due = None;
        let now = self.now;
        let at = &mut self.nodes[node.index()];
        let Some(link) = at.link(station) else { return };
        if link.state == state {
            return;
        }
        link.state = state;
        at.queue.set_station(now, station, state, &mut at.drops);
        if state != StationState::Awake {
            at.retract(now, station);
        }
        self.report_drops(now, node);
        self.fill_all(now, node, None);
    }

    /// State of `station`, from the view of `node`.
    #[must_use]
    pub fn station_state(&self, node: NodeId, station: NodeId) -> StationState {
        let node = &self.nodes[node.index()];
        node.place_of(station)
            .map_or(StationState::Gone, |place| node.links[usize::from(place)].state)
    }
}
