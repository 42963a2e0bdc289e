//! Clock synchronisation with many agents: a few at a time, each with short exchanges in sequence.

use super::{CLOCK_SYNC_TIMEOUT, EXCHANGES, Output, PING_GAP, RunCoordinator};
use crate::controller::roster::State;
use netburn_protocol::clock::{self, Estimate, Stamp};
use netburn_protocol::messages::ToAgent;
use netburn_units::Duration;
use std::collections::{BTreeSet, VecDeque};

/// Maximum number of agents that are synchronised at the same time. More would queue behind each other,
/// which would increase their round trips.
const MAX_ACTIVE: usize = 4;
/// Time between a pong and the next ping if more agents are queued than active.
const SHORT_GAP: Duration = Duration::from_micros(500);
/// Time reserved for one agent before another starts beside it, if there is enough time for all.
const TURN: Duration = Duration::from_millis(400);
/// Minimum of that time.
const SHORT_TURN: Duration = Duration::from_millis(10);
/// Additional time limit per agent.
const TIMEOUT_PER_AGENT: Duration = Duration::from_millis(4);

/// Queue of the agents to synchronise.
#[derive(Debug, Default)]
pub(super) struct ClockSync {
    /// Due time and agent of each ping.
    pings: BTreeSet<(Stamp, usize)>,
    /// Active agents, each with the time from which another may start beside it.
    turns: BTreeSet<(Stamp, usize)>,
    /// Agents that have not started.
    queue: VecDeque<usize>,
    turn: Duration,
    gap: Duration,
}

impl ClockSync {
    /// Time of the next action.
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
    /// Time limit for all agents.
    pub(super) fn clock_sync_timeout(&self) -> Duration {
        let count = self.roster.sessions.len().min(2000) as u64;
        CLOCK_SYNC_TIMEOUT + TIMEOUT_PER_AGENT * count
    }

    /// Starts the synchronisation of all connected agents.
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
        let rounds = self.clock_sync.queue.len().div_ceil(MAX_ACTIVE).max(1) as u64;
        self.clock_sync.gap = if rounds > 1 { SHORT_GAP } else { PING_GAP };
        self.clock_sync.turn = (CLOCK_SYNC_TIMEOUT / rounds).clamp(SHORT_TURN, TURN);
        self.ping(now);
    }

    /// Queues an agent that reconnected.
    pub(super) fn restart_clock_sync(&mut self, index: usize) {
        let session = &mut self.roster.sessions[index];
        session.protocol.take_exchanges();
        session.pings_left = EXCHANGES;
        self.clock_sync.queue.push_back(index);
    }

    /// Handles a pong.
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

    /// Removes an agent from the synchronisation.
    pub(super) fn cancel_clock_sync(&mut self, index: usize) {
        self.clock_sync.forget(index);
        self.roster.sessions[index].pings_left = 0;
    }

    /// Activates queued agents, and sends due pings.
    pub(super) fn ping(&mut self, now: Stamp) {
        while self.clock_sync.turns.first().is_some_and(|(at, _)| *at <= now) {
            self.clock_sync.turns.pop_first();
        }
        while self.clock_sync.turns.len() < MAX_ACTIVE
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

    /// Returns whether no agent is active and each disconnected agent has an estimate.
    pub(super) fn clock_sync_complete(&self) -> bool {
        let mut all = self.roster.sessions.iter();
        all.all(|p| match p.state {
            State::Connected(_) => p.pings_left == 0,
            State::Disconnected(..) => p.before.is_some(),
            State::Expected | State::Left | State::Lost(_) => true,
        })
    }

    /// Estimates of all agents. Ends the synchronisation.
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
