//! Comparing many clocks without one waiting for the other: a few at a time, each with small exchanges one after another.

use super::{CLOCK_SYNC_TIMEOUT, EXCHANGES, Output, PING_GAP, RunCoordinator};
use crate::clock::{self, Estimate, Stamp};
use crate::controller::roster::State;
use crate::protocol::ToAgent;
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
pub(super) struct ClockSync {
    /// Pings that are due, and to whom.
    pings: BTreeSet<(Stamp, usize)>,
    /// Who is being compared, and when another need not wait for it any longer.
    turns: BTreeSet<(Stamp, usize)>,
    /// Who comes next.
    queue: VecDeque<usize>,
    turn: Duration,
    gap: Duration,
}

impl ClockSync {
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

impl RunCoordinator {
    /// How long a comparison of all may take.
    pub(super) fn clock_sync_timeout(&self) -> Duration {
        let count = self.roster.sessions.len().min(2000) as u64;
        CLOCK_SYNC_TIMEOUT + EACH * count
    }

    /// Begins to compare the clocks of all who are here.
    pub(super) fn start_clock_sync(&mut self, now: Stamp) {
        self.clock_sync = ClockSync::default();
        for index in 0..self.roster.sessions.len() {
            let session = &mut self.roster.sessions[index];
            session.pings_left = 0;
            if session.connection().is_some() {
                session.protocol.take_exchanges();
                session.pings_left = EXCHANGES;
                self.clock_sync.queue.push_back(index);
            }
        }
        let rounds = self.clock_sync.queue.len().div_ceil(AT_ONCE).max(1) as u64;
        self.clock_sync.gap = if rounds > 1 { SHORT_GAP } else { PING_GAP };
        self.clock_sync.turn = (CLOCK_SYNC_TIMEOUT / rounds).clamp(SHORT_TURN, TURN);
        self.ping(now);
    }

    /// Compares one more, which has come back.
    pub(super) fn restart_clock_sync(&mut self, index: usize) {
        let session = &mut self.roster.sessions[index];
        session.protocol.take_exchanges();
        session.pings_left = EXCHANGES;
        self.clock_sync.queue.push_back(index);
    }

    /// A participant has answered a ping.
    pub(super) fn answered(&mut self, at: Stamp, index: usize) {
        let session = &mut self.roster.sessions[index];
        if session.pings_left == 0 {
            return;
        }
        session.pings_left -= 1;
        match session.pings_left {
            0 => {
                self.clock_sync.end_turn(index);
                self.moved = true;
                self.ping(at);
            }
            _ => {
                let next = at.after(self.clock_sync.gap.max(SHORT_GAP));
                self.clock_sync.pings.insert((next, index));
            }
        }
    }

    /// A participant is not to be compared any more.
    pub(super) fn cancel_clock_sync(&mut self, index: usize) {
        self.clock_sync.forget(index);
        self.roster.sessions[index].pings_left = 0;
    }

    /// Gives turns, and sends the pings that are due.
    pub(super) fn ping(&mut self, now: Stamp) {
        while self.clock_sync.turns.first().is_some_and(|(at, _)| *at <= now) {
            self.clock_sync.turns.pop_first();
        }
        while self.clock_sync.turns.len() < AT_ONCE
            && let Some(index) = self.clock_sync.queue.pop_front()
        {
            self.clock_sync.turns.insert((now.after(self.clock_sync.turn), index));
            self.clock_sync.pings.insert((now, index));
        }
        while let Some((_, index)) = self.clock_sync.pings.first().copied().filter(|(at, _)| *at <= now) {
            self.clock_sync.pings.pop_first();
            let session = &mut self.roster.sessions[index];
            if let Some(id) = session.connection() {
                let ping = session.protocol.ping(now);
                self.outputs.push_back(Output::Send(id, ToAgent::Ping(ping)));
            }
        }
    }

    /// Whether the comparison is complete: nobody is under way, and nobody who may still come back is unknown.
    pub(super) fn clock_sync_complete(&self) -> bool {
        let mut all = self.roster.sessions.iter();
        all.all(|p| match p.state {
            State::Connected(_) => p.pings_left == 0,
            State::Disconnected(..) => p.before.is_some(),
            State::Expected | State::Left | State::Lost(_) => true,
        })
    }

    /// What the exchanges say of everyone's clock. That ends the comparison.
    pub(super) fn estimates(&mut self) -> Vec<Option<Estimate>> {
        self.clock_sync = ClockSync::default();
        let each = self.roster.sessions.iter_mut().map(|session| {
            session.pings_left = 0;
            session.connection()?;
            clock::estimate(&session.protocol.take_exchanges())
        });
        each.collect()
    }
}
