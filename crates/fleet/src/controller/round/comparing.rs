//! Comparing many clocks without one waiting for the other: a few at a time, each with small exchanges one after another.

use super::{COMPARING, EXCHANGES, Output, PING_GAP, Round};
use crate::clock::{self, Estimate, Stamp};
use crate::controller::roster::State;
use crate::protocol::ToParticipant;
use netburn_units::Duration;
use std::collections::{BTreeSet, VecDeque};

/// So many are compared at a time: what more there are would wait for each other, and that would be in their round trips.
const AT_ONCE: usize = 4;
/// From a pong to the next ping where more wait for their turn than have one.
const SHORT_GAP: Duration = Duration::from_micros(500);
/// How long one of these is waited for before another may begin beside it, where there is time for all.
const TURN: Duration = Duration::from_millis(400);
/// The least that it is waited for.
const SHORT_TURN: Duration = Duration::from_millis(10);
/// How much longer a comparison may take for each participant.
const EACH: Duration = Duration::from_millis(4);

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Comparing {
    /// Pings that are due, and to whom.
    pings: BTreeSet<(Stamp, usize)>,
    /// Who is being compared, and when another need not wait for it any longer.
    turns: BTreeSet<(Stamp, usize)>,
    /// Who comes next.
    queue: VecDeque<usize>,
    turn: Duration,
    gap: Duration,
}

impl Comparing {
    /// When something is due.
    pub(super) fn due(&self) -> Option<Stamp> {
        let turn = self.turns.first().filter(|_| !self.queue.is_empty());
        [self.pings.first(), turn]
            .into_iter()
            .flatten()
            .map(|(at, _)| *at)
            .min()
    }

    fn end_turn(&mut self, index: usize) {
        self.turns.retain(|(_, other)| *other != index);
    }

    fn forget(&mut self, index: usize) {
        self.end_turn(index);
        self.pings.retain(|(_, other)| *other != index);
        self.queue.retain(|other| *other != index);
    }
}

impl Round {
    /// How long a comparison of all may take.
    pub(super) fn comparing_time(&self) -> Duration {
        let count = self.roster.participants.len().min(2000) as u64;
        COMPARING + EACH * count
    }

    /// Begins to compare the clocks of all who are here.
    pub(super) fn compare(&mut self, now: Stamp) {
        self.comparing = Comparing::default();
        for index in 0..self.roster.participants.len() {
            let participant = &mut self.roster.participants[index];
            participant.pings_left = 0;
            if participant.connection().is_some() {
                participant.session.take_exchanges();
                participant.pings_left = EXCHANGES;
                self.comparing.queue.push_back(index);
            }
        }
        let rounds = self.comparing.queue.len().div_ceil(AT_ONCE).max(1) as u64;
        self.comparing.gap = if rounds > 1 { SHORT_GAP } else { PING_GAP };
        self.comparing.turn = (COMPARING / rounds).clamp(SHORT_TURN, TURN);
        self.ping(now);
    }

    /// Compares one more, which has come back.
    pub(super) fn compare_again(&mut self, index: usize) {
        let participant = &mut self.roster.participants[index];
        participant.session.take_exchanges();
        participant.pings_left = EXCHANGES;
        self.comparing.queue.push_back(index);
    }

    /// A participant has answered a ping.
    pub(super) fn answered(&mut self, at: Stamp, index: usize) {
        let participant = &mut self.roster.participants[index];
        if participant.pings_left == 0 {
            return;
        }
        participant.pings_left -= 1;
        match participant.pings_left {
            0 => {
                self.comparing.end_turn(index);
                self.moved = true;
                self.ping(at);
            }
            _ => {
                let next = at.after(self.comparing.gap.max(SHORT_GAP));
                self.comparing.pings.insert((next, index));
            }
        }
    }

    /// A participant is not to be compared any more.
    pub(super) fn do_not_compare(&mut self, index: usize) {
        self.comparing.forget(index);
        self.roster.participants[index].pings_left = 0;
    }

    /// Gives turns, and sends the pings that are due.
    pub(super) fn ping(&mut self, now: Stamp) {
        while self.comparing.turns.first().is_some_and(|(at, _)| *at <= now) {
            self.comparing.turns.pop_first();
        }
        while self.comparing.turns.len() < AT_ONCE
            && let Some(index) = self.comparing.queue.pop_front()
        {
            self.comparing.turns.insert((now.after(self.comparing.turn), index));
            self.comparing.pings.insert((now, index));
        }
        while let Some((_, index)) = self.comparing.pings.first().copied().filter(|(at, _)| *at <= now) {
            self.comparing.pings.pop_first();
            let participant = &mut self.roster.participants[index];
            if let Some(id) = participant.connection() {
                let ping = participant.session.ping(now);
                self.outputs.push_back(Output::Send(id, ToParticipant::Ping(ping)));
            }
        }
    }

    /// Whether the comparison is complete: nobody is under way, and nobody who may still come back is unknown.
    pub(super) fn compared(&self) -> bool {
        let mut all = self.roster.participants.iter();
        all.all(|p| match p.state {
            State::Here(_) => p.pings_left == 0,
            State::Away(..) => p.before.is_some(),
            State::Awaited | State::Gone | State::Lost(_) => true,
        })
    }

    /// What the exchanges say of everyone's clock. That ends the comparison.
    pub(super) fn estimates(&mut self) -> Vec<Option<Estimate>> {
        self.comparing = Comparing::default();
        let each = self.roster.participants.iter_mut().map(|participant| {
            participant.pings_left = 0;
            participant.connection()?;
            clock::estimate(&participant.session.take_exchanges())
        });
        each.collect()
    }
}
