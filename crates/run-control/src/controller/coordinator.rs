//! One run as a state machine: joining, preparation, clock synchronisation, the run itself, collection of
//! the results.
//!
//! Every phase has a deadline, so the run ends in bounded time even if agents are lost.

mod clock_sync;
mod participants;
mod phases;
mod reconnect;
#[cfg(test)]
mod tests;

use super::ports::Ports;
use super::protocol_state::{ConnectionId, ProtocolState, Stage};
use super::roster::{AgentSession, Roster, State};
use super::setup::Setup;
use crate::error::ControllerError;
use crate::progress::{Outcome, Phase};
use clock_sync::ClockSync;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Rejection;
use netburn_protocol::messages::{self, Malformed, Stop, ToAgent, ToController};
use netburn_record::{Loss, LossCause, Row};
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Time limit for collecting results after an early end.
pub const STOPPED_COLLECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Silence after which a running agent counts as disconnected. It sends a message every 250 ms.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for the first message of a connection.
pub const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of unauthenticated connections. The oldest is closed first.
pub const MAX_PENDING_CONNECTIONS: usize = 32;
/// Maximum number of rejected rows of one agent before its connection closes.
pub const MAX_REJECTED_ROWS: u64 = 10_000;
/// Number of exchanges per clock synchronisation.
pub const EXCHANGES: u32 = 60;
/// Time between a pong and the next ping.
pub const PING_GAP: Duration = Duration::from_millis(2);
/// Time limit for clock synchronisation. On slow links it ends with fewer exchanges.
pub const CLOCK_SYNC_TIMEOUT: Duration = Duration::from_secs(3);
/// Time between the start message and the first operation: for the message to travel and for threads to
/// start.
pub const START_LEAD: Duration = Duration::from_millis(300);

/// Output of the coordinator.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this message.
    Send(ConnectionId, ToAgent),
    /// Close this connection after all queued messages are sent.
    Close(ConnectionId),
    /// Store this row.
    Row(Row),
    /// Report the beginning of a phase and its expected length.
    Phase(Phase, Duration),
    /// Report this warning to the user.
    Warn(String),
    /// Log a rejected message: its sender and the reason.
    Rejected(String, Rejection),
}

/// Reason of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// End or deadline of a phase.
    Phase,
    /// A ping is due.
    Ping,
    /// An agent was silent for too long.
    Silence,
    /// An agent was disconnected for too long.
    Absence,
    /// A connection has not authenticated in time.
    Unauthenticated,
}

/// Coordinator of one run.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input. Report a sync of the rows with
/// [`handle_sync_started`](Self::handle_sync_started) and [`handle_synced`](Self::handle_synced). When [`is_over`](Self::is_over) returns true, call
/// [`finish`](Self::finish).
///
/// Times are stamps of the controller's clock.
#[derive(Debug)]
pub struct RunCoordinator {
    setup: Setup,
    roster: Roster,
    connections: BTreeMap<ConnectionId, Connection>,
    /// Unauthenticated connections, by deadline.
    pending: BTreeSet<(Stamp, ConnectionId)>,
    phase: RunPhase,
    /// Set if the phase may be able to advance.
    moved: bool,
    clock_sync: ClockSync,
    /// Next silence check of each running agent.
    silence_deadlines: BTreeSet<(Stamp, usize)>,
    /// Time limit of each disconnected agent, if the run needs all of them.
    absence_deadlines: BTreeSet<(Stamp, usize)>,
    /// The agent without which the run ended early, and its reason.
    left: Option<String>,
    /// Reason for an early end.
    stopped: Option<String>,
    start: Option<Stamp>,
    ports: Ports,
    outputs: VecDeque<Output>,
    interrupted: bool,
    recording: bool,
}

/// Owner of a connection.
#[derive(Debug)]
enum Connection {
    /// Unauthenticated, with a deadline.
    Unauthenticated(Box<ProtocolState>, Stamp),
    /// Index of an expected agent or server.
    Session(usize),
}

/// Phase of the run, with its deadline.
#[derive(Debug)]
enum RunPhase {
    Joining(Stamp),
    Preparing(Stamp),
    ClockSync(Stamp),
    /// From the start message on, with the end of the phase.
    Running(Phase, Stamp),
    Collecting(Stamp),
    /// Second clock synchronisation, and the server's report.
    Finishing(Stamp),
    Finished(Option<ControllerError>),
}

impl RunCoordinator {
    /// Creates a run that begins now. All expected agents may join.
    #[must_use]
    pub fn new(now: Stamp, setup: Setup) -> RunCoordinator {
        let roster = Roster::new(now, &setup);
        let join = setup.timeouts.join;
        RunCoordinator {
            setup,
            roster,
            connections: BTreeMap::new(),
            pending: BTreeSet::new(),
            phase: RunPhase::Joining(now.after(join)),
            moved: true,
            clock_sync: ClockSync::default(),
            silence_deadlines: BTreeSet::new(),
            absence_deadlines: BTreeSet::new(),
            left: None,
            stopped: None,
            start: None,
            ports: Ports::default(),
            outputs: VecDeque::from([Output::Phase(Phase::Joining, join)]),
            interrupted: false,
            recording: true,
        }
    }

    /// Returns whether the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, RunPhase::Finished(_))
    }

    /// Returns whether the load is over and results are being collected.
    #[must_use]
    pub fn is_collecting(&self) -> bool {
        matches!(self.phase, RunPhase::Collecting(_) | RunPhase::Finishing(_))
    }

    /// Run time at `now`, if the start is known.
    #[must_use]
    pub fn run_time(&self, now: Stamp) -> Option<Instant> {
        let start = self.start?;
        Some(Instant::from_nanos(now.0.saturating_sub(start.0)))
    }

    /// Outcome of the run.
    ///
    /// # Errors
    /// The reason, if there is no result.
    pub fn finish(self) -> Result<Outcome, ControllerError> {
        if let RunPhase::Finished(Some(error)) = self.phase {
            return Err(error);
        }
        let mut outcome = Outcome {
            interrupted: self.interrupted,
            left: self.left,
            ..Outcome::default()
        };
        for session in self.roster.sessions {
            outcome.health.extend(session.health);
            if let State::Lost(loss) = session.state {
                outcome.lost.push((session.expected.name, loss));
            }
        }
        Ok(outcome)
    }

    /// A connection was opened.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId) {
        let until = now.after(HELLO_TIMEOUT);
        self.connections
            .insert(id, Connection::Unauthenticated(Box::default(), until));
        self.pending.insert((until, id));
        // All expected agents may connect at the same time.
        if self.pending.len() > MAX_PENDING_CONNECTIONS + self.roster.absent()
            && let Some((_, oldest)) = self.pending.first().copied()
        {
            self.disconnect(oldest, "too many unauthenticated connections");
        }
    }

    /// A connection received a message, or a text that can't be parsed, at `at`.
    pub fn handle_message(&mut self, at: Stamp, id: ConnectionId, message: Result<ToController, Malformed>) {
        let result = match self.connections.get_mut(&id) {
            None => return,
            Some(Connection::Session(index)) => {
                let index = *index;
                let session = &mut self.roster.sessions[index];
                session.heard = at;
                if session.rate.admit(at) {
                    let step = session.protocol.handle_message(at, message);
                    step.and_then(|step| self.step(at, id, index, step))
                } else {
                    let reason = "it sends too many messages";
                    self.mark_lost(at, index, Loss::new(LossCause::TooManyMessages, reason));
                    Ok(())
                }
            }
            Some(Connection::Unauthenticated(protocol, _)) => {
                let step = protocol.handle_message(at, message);
                step.and_then(|step| self.join(at, id, step))
            }
        };
        if let Err(rejection) = result {
            self.reject(at, id, rejection);
        }
        self.proceed(at);
    }

    /// A connection closed.
    pub fn handle_closed(&mut self, now: Stamp, id: ConnectionId, reason: &str) {
        match self.connections.remove(&id) {
            None => return,
            Some(Connection::Unauthenticated(_, until)) => {
                self.pending.remove(&(until, id));
            }
            Some(Connection::Session(index)) => match self.roster.sessions[index].protocol.stage() {
                Stage::Done | Stage::Left => self.leave(index),
                _ => self.handle_disconnected(now, now, index, Loss::new(LossCause::Disconnected, reason)),
            },
        }
        self.proceed(now);
    }

    /// The process of an agent ended. `index` refers to [`Setup::expected`].
    pub fn handle_exit(&mut self, now: Stamp, index: usize, how: &str) {
        let loss = Loss::new(LossCause::ProcessEnded, format!("its process ended: {how}"));
        match self.roster.sessions[index].state {
            State::Expected => self.mark_lost(now, index, loss),
            State::Connected(id) => match self.roster.sessions[index].protocol.stage() {
                Stage::Done | Stage::Left => {
                    self.drop_connection(id);
                    self.leave(index);
                }
                _ => self.mark_lost(now, index, loss),
            },
            State::Disconnected(..) | State::Left | State::Lost(_) => {}
        }
        self.proceed(now);
    }

    /// The user stops the run. After all results have arrived, this does not count as an interruption.
    pub fn handle_stop(&mut self, now: Stamp) {
        if !self.interrupted && !matches!(self.phase, RunPhase::Finishing(_) | RunPhase::Finished(_)) {
            self.interrupted = true;
            self.end_early(now, "the run was interrupted");
        }
    }

    /// Rows can't be stored: ends the run and produces no further rows.
    pub fn handle_storage_error(&mut self, now: Stamp) {
        if self.recording {
            self.recording = false;
            self.outputs.retain(|output| !matches!(output, Output::Row(_)));
            self.end_early(now, "results can't be stored");
        }
    }

    /// A sync of all rows so far begins.
    pub fn handle_sync_started(&mut self) {
        for session in &mut self.roster.sessions {
            session.syncing = session.protocol.rows();
        }
    }

    /// All rows before the [sync](Self::handle_sync_started) are synced and can be acknowledged. After a [storage
    /// error](Self::handle_storage_error), agents that keep their rows receive no acknowledgement, because
    /// newer rows were not stored.
    pub fn handle_synced(&mut self) {
        if !self.recording && self.setup.timeouts.allow_reconnect {
            return;
        }
        for session in &mut self.roster.sessions {
            let Some(id) = session.connection() else { continue };
            let synced = session.syncing;
            if synced > session.acknowledged {
                session.acknowledged = synced;
                let ack = messages::Ack { sequence: synced };
                self.outputs.push_back(Output::Send(id, ToAgent::Ack(ack)));
            }
        }
    }

    /// The time advanced to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some((_, id)) = self.pending.first().copied().filter(|(at, _)| *at <= now) {
            self.disconnect(id, "no authentication in time");
        }
        self.check_silence(now);
        self.check_absence(now);
        self.ping(now);
        self.proceed(now);
    }

    /// Next output.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Time and reason of the next [`handle_timeout`](Self::handle_timeout); `None` when the run is over.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Stamp, Wake)> {
        let phase = self.deadline()?;
        let ping = self.clock_sync.due().map(|at| (at, Wake::Ping));
        let silence = self.silence_deadlines.first().map(|(at, _)| (*at, Wake::Silence));
        let absence = self.absence_deadlines.first().map(|(at, _)| (*at, Wake::Absence));
        let unauthenticated = self.pending.first().map(|(at, _)| (*at, Wake::Unauthenticated));
        [ping, silence, absence, unauthenticated]
            .into_iter()
            .flatten()
            .chain([(phase, Wake::Phase)])
            .min()
    }

    /// Deadline of the phase; `None` when the run is over.
    fn deadline(&self) -> Option<Stamp> {
        match self.phase {
            RunPhase::Joining(at)
            | RunPhase::Preparing(at)
            | RunPhase::ClockSync(at)
            | RunPhase::Running(_, at)
            | RunPhase::Collecting(at)
            | RunPhase::Finishing(at) => Some(at),
            RunPhase::Finished(_) => None,
        }
    }

    fn send_to_all(&mut self, message: &ToAgent, wanted: impl Fn(&AgentSession, Stage) -> bool) {
        for session in &self.roster.sessions {
            if let Some(id) = session.connection()
                && wanted(session, session.protocol.stage())
            {
                self.outputs.push_back(Output::Send(id, message.clone()));
            }
        }
    }

    fn end_early(&mut self, now: Stamp, reason: &str) {
        match self.phase {
            RunPhase::Running(..) | RunPhase::Collecting(_) => {
                let stop = ToAgent::Stop(Stop {
                    reason: reason.to_owned(),
                });
                self.send_to_all(&stop, |p, stage| p.is_agent() && stage == Stage::Started);
                self.stopped = Some(reason.to_owned());
                self.collect(now, STOPPED_COLLECT_TIMEOUT);
                self.proceed(now);
            }
            RunPhase::Joining(_) | RunPhase::Preparing(_) | RunPhase::ClockSync(_) => self.part(now, reason),
            RunPhase::Finishing(_) | RunPhase::Finished(_) => {}
        }
    }
}
