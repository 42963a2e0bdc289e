//! Peering of two neighbours: the mesh peering management protocol (802.11-2020 clause 14.4).
//!
//! Each side sends an Open and confirms the other's. Frames without an answer are repeated. A peering
//! that fails is held for a time, in which frames for it are answered by Close.

use super::constants::Constants;
use netburn_units::Instant;
use std::collections::VecDeque;

/// State of a peering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PeeringState {
    /// No peering.
    Listening,
    /// It has sent an Open.
    OpenSent,
    /// Its Open was confirmed; that of the other side is missing.
    Confirmed,
    /// It has received an Open, and its own isn't confirmed yet.
    OpenReceived,
    /// Both sides have confirmed.
    Established,
    /// Closed, and held.
    Holding,
}

/// Action of a peering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeeringAction {
    /// Sends an Open.
    Open,
    /// Sends a Confirm.
    Confirm,
    /// Sends a Close.
    Close,
    /// The link can be used.
    Up,
    /// The link can't be used any more.
    Down,
}

impl PeeringAction {
    /// Length of the body of its frame in bytes, with the category and the action (802.11-2020 clause
    /// 9.6.15), for a mesh ID of `mesh_id` bytes. `ht`: with the two HT elements. An action without a frame
    /// has no bytes.
    #[must_use]
    pub const fn bytes(self, mesh_id: u32, ht: bool) -> u32 {
        // Supported rates, mesh ID, mesh configuration.
        let common = (2 + 8) + (2 + mesh_id) + (2 + 7);
        // HT capabilities and HT operation.
        let high_throughput = if ht { (2 + 26) + (2 + 22) } else { 0 };
        // Category and action, capabilities, AID, mesh peering management.
        match self {
            PeeringAction::Open => 2 + 2 + common + (2 + 4) + high_throughput,
            PeeringAction::Confirm => 2 + 2 + 2 + common + (2 + 6) + high_throughput,
            PeeringAction::Close => 2 + (2 + mesh_id) + (2 + 8),
            PeeringAction::Up | PeeringAction::Down => 0,
        }
    }
}

/// State machine of one side of a peering.
///
/// **Call order:** after every call, drain [`poll_action`](Self::poll_action), then wait for a frame or
/// for [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Peering {
    constants: Constants,
    state: PeeringState,
    /// Repetitions of the Open.
    retries: u32,
    timer: Option<Instant>,
    actions: VecDeque<PeeringAction>,
}

impl Peering {
    /// A peering that doesn't exist yet.
    #[must_use]
    pub fn new(constants: Constants) -> Self {
        Peering {
            constants,
            state: PeeringState::Listening,
            retries: 0,
            timer: None,
            actions: VecDeque::new(),
        }
    }

    /// A peering that both sides have confirmed.
    #[must_use]
    pub fn established(constants: Constants) -> Self {
        Peering {
            state: PeeringState::Established,
            ..Peering::new(constants)
        }
    }

    /// State.
    #[must_use]
    pub fn state(&self) -> PeeringState {
        self.state
    }

    /// Next action.
    pub fn poll_action(&mut self) -> Option<PeeringAction> {
        self.actions.pop_front()
    }

    /// Time of the next [`handle_timeout`](Self::handle_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// Starts the peering, when a beacon of the neighbour arrives. Without effect unless it listens.
    pub fn open(&mut self, now: Instant) {
        if self.state == PeeringState::Listening {
            self.retries = 0;
            self.enter(now, PeeringState::OpenSent);
            self.actions.push_back(PeeringAction::Open);
        }
    }

    /// Processes an Open of the neighbour.
    pub fn handle_open(&mut self, now: Instant) {
        match self.state {
            PeeringState::Listening => {
                self.retries = 0;
                self.enter(now, PeeringState::OpenReceived);
                self.actions.extend([PeeringAction::Open, PeeringAction::Confirm]);
            }
            PeeringState::OpenSent => {
                // The timer of its own Open goes on.
                self.state = PeeringState::OpenReceived;
                self.actions.push_back(PeeringAction::Confirm);
            }
            PeeringState::Confirmed => {
                self.enter(now, PeeringState::Established);
                self.actions.extend([PeeringAction::Confirm, PeeringAction::Up]);
            }
            PeeringState::OpenReceived | PeeringState::Established => self.actions.push_back(PeeringAction::Confirm),
            PeeringState::Holding => self.actions.push_back(PeeringAction::Close),
        }
    }

    /// Processes a Confirm of the neighbour.
    pub fn handle_confirm(&mut self, now: Instant) {
        match self.state {
            PeeringState::OpenSent => self.enter(now, PeeringState::Confirmed),
            PeeringState::OpenReceived => {
                self.enter(now, PeeringState::Established);
                self.actions.push_back(PeeringAction::Up);
            }
            PeeringState::Holding => self.actions.push_back(PeeringAction::Close),
            PeeringState::Listening | PeeringState::Confirmed | PeeringState::Established => {}
        }
    }

    /// Processes a Close of the neighbour.
    pub fn handle_close(&mut self, now: Instant) {
        match self.state {
            PeeringState::Listening => {}
            // Both sides have closed it.
            PeeringState::Holding => self.enter(now, PeeringState::Listening),
            _ => self.close(now),
        }
    }

    /// Closes the peering, because too many frames fail or beacons are missing.
    pub fn close(&mut self, now: Instant) {
        if matches!(self.state, PeeringState::Listening | PeeringState::Holding) {
            return;
        }
        if self.state == PeeringState::Established {
            self.actions.push_back(PeeringAction::Down);
        }
        self.actions.push_back(PeeringAction::Close);
        self.enter(now, PeeringState::Holding);
    }

    /// Processes the timer, if it is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        match self.state {
            PeeringState::OpenSent | PeeringState::OpenReceived if self.retries < self.constants.peering_retries => {
                self.retries += 1;
                self.timer = Some(now + self.constants.peering_time);
                self.actions.push_back(PeeringAction::Open);
            }
            PeeringState::Holding => self.enter(now, PeeringState::Listening),
            _ => self.close(now),
        }
    }

    fn enter(&mut self, now: Instant, state: PeeringState) {
        self.state = state;
        let has_timer = !matches!(state, PeeringState::Listening | PeeringState::Established);
        self.timer = has_timer.then(|| now + self.constants.peering_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;
    use proptest::prelude::*;

    fn ms(millis: i64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn actions(peering: &mut Peering) -> Vec<PeeringAction> {
        std::iter::from_fn(|| peering.poll_action()).collect()
    }

    /// Opens at 0, 100, 200 and 300 ms, a Close at 400 ms, and 100 ms of holding.
    #[test]
    fn an_open_without_an_answer() {
        let mut peering = Peering::new(Constants::LINUX);
        peering.open(ms(0));
        let mut seen = vec![(0, actions(&mut peering))];
        while let Some(at) = peering.poll_timeout() {
            peering.handle_timeout(at);
            seen.push((at.as_nanos() / 1_000_000, actions(&mut peering)));
        }
        use PeeringAction::{Close, Open};
        let expected =
            [(0, Open), (100, Open), (200, Open), (300, Open), (400, Close)].map(|(at, one)| (at, vec![one]));
        assert_eq!(seen[..5], expected);
        assert_eq!(seen[5], (500, vec![]));
        assert_eq!(peering.state(), PeeringState::Listening);
    }

    /// One side opens; the other answers with its own Open and a Confirm; the first confirms.
    #[test]
    fn both_sides_agree() {
        use PeeringAction::{Close, Confirm, Down, Open, Up};
        let (mut one, mut other) = (Peering::new(Constants::LINUX), Peering::new(Constants::LINUX));
        one.open(ms(0));
        assert_eq!(actions(&mut one), [Open]);
        other.handle_open(ms(1));
        assert_eq!(actions(&mut other), [Open, Confirm]);
        one.handle_open(ms(2));
        one.handle_confirm(ms(2));
        assert_eq!(actions(&mut one), [Confirm, Up]);
        other.handle_confirm(ms(3));
        assert_eq!(actions(&mut other), [Up]);
        assert_eq!((one.poll_timeout(), other.poll_timeout()), (None, None));
        // A repeated Open, whose Confirm was lost, is confirmed again.
        one.handle_open(ms(4));
        assert_eq!(actions(&mut one), [Confirm]);
        one.close(ms(5));
        assert_eq!(actions(&mut one), [Down, Close]);
        other.handle_close(ms(6));
        assert_eq!(actions(&mut other), [Down, Close]);
        one.handle_open(ms(7));
        assert_eq!(actions(&mut one), [Close], "held");
        one.handle_close(ms(8));
        assert_eq!(one.state(), PeeringState::Listening);
    }

    proptest! {
        /// Two neighbours over a channel that loses frames: when nothing is lost any more, both sides
        /// agree before the end. Up and Down alternate.
        #[test]
        fn the_sides_agree_once_nothing_is_lost(losses in prop::collection::vec(any::<bool>(), 0..40)) {
            let mut sides = [Peering::new(Constants::LINUX), Peering::new(Constants::LINUX)];
            let (mut losses, mut up) = (losses.into_iter(), [false; 2]);
            let mut now = Instant::ZERO;
            let end = now + Duration::from_secs(20);
            while now < end {
                // Each hears the beacons of the other, one each 1000 ms.
                if now.since(Instant::ZERO).as_millis().is_multiple_of(1_000) {
                    sides.iter_mut().for_each(|side| side.open(now));
                }
                let mut calm = false;
                while !calm {
                    calm = true;
                    for from in 0..2 {
                        while let Some(action) = sides[from].poll_action() {
                            calm = false;
                            let to = &mut sides[1 - from];
                            match action {
                                PeeringAction::Up | PeeringAction::Down => {
                                    prop_assert_eq!(up[from], action == PeeringAction::Down);
                                    up[from] = !up[from];
                                }
                                _ if losses.next() == Some(true) => {}
                                PeeringAction::Open => to.handle_open(now),
                                PeeringAction::Confirm => to.handle_confirm(now),
                                PeeringAction::Close => to.handle_close(now),
                            }
                        }
                    }
                }
                now += Duration::from_millis(50);
                for side in &mut sides {
                    side.handle_timeout(now);
                    prop_assert!(side.poll_timeout().is_none_or(|at| at > now));
                }
            }
            prop_assert_eq!(up, [true; 2]);
        }
    }
}
