//! One round as a state machine: joining, getting ready, comparing clocks, the run, bringing the results home.
//!
//! Whoever is lost on the way, the round ends in its time: every phase has a deadline.

mod clock_sync;
mod participants;
mod phases;
mod reconnect;
#[cfg(test)]
mod tests;

use super::ports::Ports;
use super::protocol_state::{ConnectionId, ProtocolState, Rejection, Stage};
use super::roster::{AgentSession, Expected, Roster, State};
use crate::clock::Stamp;
use crate::local::{FleetError, Outcome, Phase};
use crate::protocol::{self, Malformed, Stop, ToAgent, ToController};
use clock_sync::ClockSync;
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_units::{BitRate, Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How long they may take when the round was ended early.
pub const COLLECT_STOPPED: Duration = Duration::from_secs(2);
/// How long a participant may be silent while the round is on; it says something every 250 ms.
pub const SILENCE: Duration = Duration::from_secs(5);
/// How long a connection has to say who it is.
pub const HELLO: Duration = Duration::from_secs(5);
/// The most connections that have not said who they are; beyond it the oldest of them has to go.
pub const MAX_PENDING_CONNECTIONS: usize = 32;
/// The most rows of one participant that are rejected before its connection ends.
pub const MAX_REJECTED_ROWS: u64 = 10_000;
/// Exchanges per comparison of clocks.
pub const EXCHANGES: u32 = 60;
/// From a pong to the next ping.
pub const PING_GAP: Duration = Duration::from_millis(2);
/// How long a comparison of clocks may take: on slow links it ends with fewer exchanges.
pub const CLOCK_SYNC_TIMEOUT: Duration = Duration::from_secs(3);
/// From the message that says when to start to the first thing due: time for it to travel and for threads to start.
pub const LEAD: Duration = Duration::from_millis(300);

/// How long a round waits for its participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// How long they have to join.
    pub join: Duration,
    /// How long they have to get ready, and to have their clocks compared.
    pub ready: Duration,
    /// How long results may take to come home after the drain.
    pub collect: Duration,
    /// Whether one that loses its connection may come back. Until results have had their time it is away, not lost.
    pub allow_reconnect: bool,
}

impl Timeouts {
    /// With participants that are processes of this machine: whose connection is gone is gone.
    pub const LOCAL: Timeouts = Timeouts {
        join: Duration::from_secs(10),
        ready: Duration::from_secs(10),
        collect: Duration::from_secs(10),
        allow_reconnect: false,
    };

    /// With devices on a network, which have `join` to come.
    #[must_use]
    pub const fn for_fleet(join: Duration) -> Timeouts {
        Timeouts {
            join,
            ready: Duration::from_secs(20),
            collect: Duration::from_secs(20),
            allow_reconnect: true,
        }
    }
}

/// What a round is about.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The plan.
    pub plan: Plan,
    /// The plan as a document, for the participants.
    pub document: serde_json::Value,
    /// The server's cap.
    pub rate: BitRate,
    /// Who is to take part: one server and at least one agent.
    pub expected: Vec<Expected>,
    /// How long it waits for them.
    pub timeouts: Timeouts,
}

/// What the shell is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this.
    Send(ConnectionId, ToAgent),
    /// Close it, once all that was to be sent is sent.
    Close(ConnectionId),
    /// Keep this.
    Row(Row),
    /// Say that a phase begins, and how long it is expected to take.
    Phase(Phase, Duration),
    /// Say this to the reader.
    Warn(String),
    /// Log that something was refused: whose it was, and why.
    Refused(String, Rejection),
}

/// Why a round wants to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// A phase is over, or has taken too long.
    Phase,
    /// A ping is due.
    Ping,
    /// A participant has been silent too long.
    Silence,
    /// A connection has not said who it is.
    Unauthenticated,
}

/// One round.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input; rows that were put out and synced are confirmed with
/// [`handle_synced`](Self::handle_synced). Once [`is_over`](Self::is_over), [`finish`](Self::finish).
///
/// Times are stamps of the controller's clock.
#[derive(Debug)]
pub struct RunCoordinator {
    setup: Setup,
    roster: Roster,
    connections: BTreeMap<ConnectionId, Connection>,
    /// Those that have not said who they are, and when that is too late.
    pending: BTreeSet<(Stamp, ConnectionId)>,
    phase: RunPhase,
    /// Whether anything happened that may bring the course further.
    moved: bool,
    clock_sync: ClockSync,
    /// When to look whether a participant has been silent too long.
    silence_deadlines: BTreeSet<(Stamp, usize)>,
    /// Why agents were told to end early.
    stopped: Option<String>,
    start: Option<Stamp>,
    ports: Ports,
    outputs: VecDeque<Output>,
    interrupted: bool,
    recording: bool,
}

/// Whose a connection is.
#[derive(Debug)]
enum Connection {
    /// Somebody's who has not said who it is, and must have by then.
    Unauthenticated(Box<ProtocolState>, Stamp),
    /// A participant's.
    Session(usize),
}

/// Where a round is, and when that must end.
#[derive(Debug)]
enum RunPhase {
    Joining(Stamp),
    Preparing(Stamp),
    ClockSync(Stamp),
    /// From the start message on: the next boundary is that of the phase.
    Running(Phase, Stamp),
    Collecting(Stamp),
    /// Clocks are compared again, and the server says how it went.
    Finishing(Stamp),
    Finished(Option<FleetError>),
}

impl RunCoordinator {
    /// A round that begins now: everyone expected may join.
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
            stopped: None,
            start: None,
            ports: Ports::default(),
            outputs: VecDeque::from([Output::Phase(Phase::Joining, join)]),
            interrupted: false,
            recording: true,
        }
    }

    /// Whether all is said and done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, RunPhase::Finished(_))
    }

    /// Whether the load is over and results are awaited.
    #[must_use]
    pub fn is_collecting(&self) -> bool {
        matches!(self.phase, RunPhase::Collecting(_) | RunPhase::Finishing(_))
    }

    /// The run's time at `now`, once it is known when it starts.
    #[must_use]
    pub fn run_time(&self, now: Stamp) -> Option<Instant> {
        let start = self.start?;
        Some(Instant::from_nanos(now.0.saturating_sub(start.0)))
    }

    /// What came of it.
    ///
    /// # Errors
    /// When there is no result.
    pub fn finish(self) -> Result<Outcome, FleetError> {
        if let RunPhase::Finished(Some(error)) = self.phase {
            return Err(error);
        }
        let mut outcome = Outcome {
            interrupted: self.interrupted,
            ..Outcome::default()
        };
        for session in self.roster.sessions {
            outcome.health.extend(session.health);
            if let State::Lost(reason) = session.state {
                outcome.lost.push((session.expected.name, reason));
            }
        }
        Ok(outcome)
    }

    /// Somebody opened a connection.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId) {
        let until = now.after(HELLO);
        self.connections
            .insert(id, Connection::Unauthenticated(Box::default(), until));
        self.pending.insert((until, id));
        // Those who are expected may all come at once.
        if self.pending.len() > MAX_PENDING_CONNECTIONS + self.roster.absent()
            && let Some((_, oldest)) = self.pending.first().copied()
        {
            self.disconnect(oldest, "too many connections that don't say who they are");
        }
    }

    /// A message came over a connection at `at`, or something that is none.
    pub fn handle_message(&mut self, at: Stamp, id: ConnectionId, message: Result<ToController, Malformed>) {
        let result = match self.connections.get_mut(&id) {
            None => return,
            Some(Connection::Session(index)) => {
                let index = *index;
                let session = &mut self.roster.sessions[index];
                session.heard = at;
                match session.rate.admit(at) {
                    true => {
                        let step = session.protocol.handle_message(at, message);
                        step.and_then(|step| self.step(at, id, index, step))
                    }
                    false => {
                        self.mark_lost(at, index, "it sends too many messages");
                        Ok(())
                    }
                }
            }
            Some(Connection::Unauthenticated(protocol, _)) => {
                let step = protocol.handle_message(at, message);
                step.and_then(|step| self.join(at, id, step))
            }
        };
        if let Err(refusal) = result {
            self.refuse(at, id, refusal);
        }
        self.proceed(at);
    }

    /// A connection is gone.
    pub fn handle_closed(&mut self, now: Stamp, id: ConnectionId, reason: &str) {
        match self.connections.remove(&id) {
            None => return,
            Some(Connection::Unauthenticated(_, until)) => {
                self.pending.remove(&(until, id));
            }
            Some(Connection::Session(index)) => match self.roster.sessions[index].protocol.stage() {
                Stage::Done | Stage::Left => self.leave(index),
                _ if self.setup.timeouts.allow_reconnect => self.mark_disconnected(now, index, reason),
                _ => self.mark_lost(now, index, reason),
            },
        }
        self.proceed(now);
    }

    /// The process of the participant of this number in [`Setup::expected`] ended.
    pub fn handle_exit(&mut self, now: Stamp, index: usize, how: &str) {
        let reason = format!("its process ended: {how}");
        match self.roster.sessions[index].state {
            State::Expected => self.mark_lost(now, index, &reason),
            State::Connected(id) => match self.roster.sessions[index].protocol.stage() {
                Stage::Done | Stage::Left => {
                    self.drop_connection(id);
                    self.leave(index);
                }
                _ => self.mark_lost(now, index, &reason),
            },
            State::Disconnected(..) | State::Left | State::Lost(_) => {}
        }
        self.proceed(now);
    }

    /// Somebody wants it to end now. When the results are home already, it was not interrupted.
    pub fn handle_stop(&mut self, now: Stamp) {
        if !self.interrupted && !matches!(self.phase, RunPhase::Finishing(_) | RunPhase::Finished(_)) {
            self.interrupted = true;
            self.end_early(now, "the run was interrupted");
        }
    }

    /// Rows can't be kept any more: ends the round, and puts out no more of them.
    pub fn handle_storage_error(&mut self, now: Stamp) {
        if self.recording {
            self.recording = false;
            self.outputs.retain(|output| !matches!(output, Output::Row(_)));
            self.end_early(now, "results can't be kept");
        }
    }

    /// All rows put out so far are safe: they are acknowledged. Where participants keep what isn't, nothing is any more once
    /// rows [can't be kept](Self::handle_storage_error): what they have brought since went nowhere.
    pub fn handle_synced(&mut self) {
        if !self.recording && self.setup.timeouts.allow_reconnect {
            return;
        }
        for session in &mut self.roster.sessions {
            let Some(id) = session.connection() else { continue };
            let taken = session.protocol.rows();
            if taken > session.acknowledged {
                session.acknowledged = taken;
                let ack = protocol::Ack { sequence: taken };
                self.outputs.push_back(Output::Send(id, ToAgent::Ack(ack)));
            }
        }
    }

    /// The controller itself was away until now (a disk that took its time): the silence wasn't the participants'.
    pub fn handle_pause(&mut self, now: Stamp) {
        for session in &mut self.roster.sessions {
            session.heard = session.heard.max(now);
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some((_, id)) = self.pending.first().copied().filter(|(at, _)| *at <= now) {
            self.disconnect(id, "it did not say who it is");
        }
        self.check_silence(now);
        self.ping(now);
        self.proceed(now);
    }

    /// The next thing for the shell to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why; `None` once it is over.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Stamp, Wake)> {
        let phase = self.deadline()?;
        let ping = self.clock_sync.due().map(|at| (at, Wake::Ping));
        let silence = self.silence_deadlines.first().map(|(at, _)| (*at, Wake::Silence));
        let stranger = self.pending.first().map(|(at, _)| (*at, Wake::Unauthenticated));
        [ping, silence, stranger]
            .into_iter()
            .flatten()
            .chain([(phase, Wake::Phase)])
            .min()
    }

    /// When the phase must end; `None` once all is over.
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
                self.collect(now, COLLECT_STOPPED);
                self.proceed(now);
            }
            RunPhase::Joining(_) | RunPhase::Preparing(_) | RunPhase::ClockSync(_) => self.part(now, reason),
            RunPhase::Finishing(_) | RunPhase::Finished(_) => {}
        }
    }
}
