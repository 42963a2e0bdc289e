//! One round as a state machine: joining, getting ready, comparing clocks, the run, bringing the results home.
//!
//! Whoever is lost on the way, the round ends in its time: every phase has a deadline.

mod comparing;
mod course;
mod people;
mod returning;
#[cfg(test)]
mod tests;

use super::ports::Ports;
use super::roster::{Expected, Participant, Roster, State};
use super::session::{ConnectionId, Refusal, Session, Stage};
use crate::clock::Stamp;
use crate::local::{FleetError, Outcome, Phase};
use crate::protocol::{self, Malformed, Stop, ToController, ToParticipant};
use comparing::Comparing;
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
pub const MAX_STRANGERS: usize = 32;
/// The most rows of one participant that are rejected before its connection ends.
pub const MAX_REJECTED_ROWS: u64 = 10_000;
/// Exchanges per comparison of clocks.
pub const EXCHANGES: u32 = 60;
/// From a pong to the next ping.
pub const PING_GAP: Duration = Duration::from_millis(2);
/// How long a comparison of clocks may take: on slow links it ends with fewer exchanges.
pub const COMPARING: Duration = Duration::from_secs(3);
/// From the message that says when to start to the first thing due: time for it to travel and for threads to start.
pub const LEAD: Duration = Duration::from_millis(300);

/// How long a round waits for its participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How long they have to join.
    pub join: Duration,
    /// How long they have to get ready, and to have their clocks compared.
    pub ready: Duration,
    /// How long results may take to come home after the drain.
    pub collect: Duration,
    /// Whether one that loses its connection may come back. Until results have had their time it is away, not lost.
    pub returns: bool,
}

impl Patience {
    /// With participants that are processes of this machine: whose connection is gone is gone.
    pub const LOCAL: Patience = Patience {
        join: Duration::from_secs(10),
        ready: Duration::from_secs(10),
        collect: Duration::from_secs(10),
        returns: false,
    };

    /// With devices on a network, which have `join` to come.
    #[must_use]
    pub const fn fleet(join: Duration) -> Patience {
        Patience {
            join,
            ready: Duration::from_secs(20),
            collect: Duration::from_secs(20),
            returns: true,
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
    pub patience: Patience,
}

/// What the shell is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this.
    Send(ConnectionId, ToParticipant),
    /// Close it, once all that was to be sent is sent.
    Close(ConnectionId),
    /// Keep this.
    Row(Row),
    /// Say that a phase begins, and how long it is expected to take.
    Phase(Phase, Duration),
    /// Say this to the reader.
    Warn(String),
    /// Log that something was refused: whose it was, and why.
    Refused(String, Refusal),
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
    Stranger,
}

/// One round.
///
/// **Call order:** after every `handle_*`, drain [`poll_output`](Self::poll_output), then sleep until
/// [`poll_timeout`](Self::poll_timeout) or the next input; rows that were put out and synced are confirmed with
/// [`handle_synced`](Self::handle_synced). Once [`is_over`](Self::is_over), [`finish`](Self::finish).
///
/// Times are stamps of the controller's clock.
#[derive(Debug)]
pub struct Round {
    setup: Setup,
    roster: Roster,
    connections: BTreeMap<ConnectionId, Connection>,
    /// Those that have not said who they are, and when that is too late.
    strangers: BTreeSet<(Stamp, ConnectionId)>,
    course: Course,
    /// Whether anything happened that may bring the course further.
    moved: bool,
    comparing: Comparing,
    /// When to look whether a participant has been silent too long.
    silences: BTreeSet<(Stamp, usize)>,
    /// Why agents were told to end early.
    stopped: Option<String>,
    start: Option<Stamp>,
    ports: Ports,
    outputs: VecDeque<Output>,
    interrupted: bool,
    keeping: bool,
}

/// Whose a connection is.
#[derive(Debug)]
enum Connection {
    /// Somebody's who has not said who it is, and must have by then.
    Stranger(Box<Session>, Stamp),
    /// A participant's.
    Of(usize),
}

/// Where a round is, and when that must end.
#[derive(Debug)]
enum Course {
    Joining(Stamp),
    Preparing(Stamp),
    Comparing(Stamp),
    /// From the start message on: the next boundary is that of the phase.
    Running(Phase, Stamp),
    Collecting(Stamp),
    /// Clocks are compared again, and the server says how it went.
    Parting(Stamp),
    Over(Option<FleetError>),
}

impl Round {
    /// A round that begins now: everyone expected may join.
    #[must_use]
    pub fn new(now: Stamp, setup: Setup) -> Round {
        let roster = Roster::new(now, &setup);
        let join = setup.patience.join;
        Round {
            setup,
            roster,
            connections: BTreeMap::new(),
            strangers: BTreeSet::new(),
            course: Course::Joining(now.after(join)),
            moved: true,
            comparing: Comparing::default(),
            silences: BTreeSet::new(),
            stopped: None,
            start: None,
            ports: Ports::default(),
            outputs: VecDeque::from([Output::Phase(Phase::Joining, join)]),
            interrupted: false,
            keeping: true,
        }
    }

    /// Whether all is said and done.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.course, Course::Over(_))
    }

    /// Whether the load is over and results are awaited.
    #[must_use]
    pub fn is_collecting(&self) -> bool {
        matches!(self.course, Course::Collecting(_) | Course::Parting(_))
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
        if let Course::Over(Some(error)) = self.course {
            return Err(error);
        }
        let mut outcome = Outcome {
            interrupted: self.interrupted,
            ..Outcome::default()
        };
        for participant in self.roster.participants {
            outcome.health.extend(participant.health);
            if let State::Lost(reason) = participant.state {
                outcome.lost.push((participant.expected.name, reason));
            }
        }
        Ok(outcome)
    }

    /// Somebody opened a connection.
    pub fn handle_connected(&mut self, now: Stamp, id: ConnectionId) {
        let until = now.after(HELLO);
        self.connections.insert(id, Connection::Stranger(Box::default(), until));
        self.strangers.insert((until, id));
        // Those who are expected may all come at once.
        if self.strangers.len() > MAX_STRANGERS + self.roster.absent()
            && let Some((_, oldest)) = self.strangers.first().copied()
        {
            self.dismiss(oldest, "too many connections that don't say who they are");
        }
    }

    /// A message came over a connection at `at`, or something that is none.
    pub fn handle_message(&mut self, at: Stamp, id: ConnectionId, message: Result<ToController, Malformed>) {
        let result = match self.connections.get_mut(&id) {
            None => return,
            Some(Connection::Of(index)) => {
                let index = *index;
                let participant = &mut self.roster.participants[index];
                participant.heard = at;
                match participant.rate.admit(at) {
                    true => {
                        let step = participant.session.handle_message(at, message);
                        step.and_then(|step| self.step(at, id, index, step))
                    }
                    false => {
                        self.lose(at, index, "it sends too many messages");
                        Ok(())
                    }
                }
            }
            Some(Connection::Stranger(session, _)) => {
                let step = session.handle_message(at, message);
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
            Some(Connection::Stranger(_, until)) => {
                self.strangers.remove(&(until, id));
            }
            Some(Connection::Of(index)) => match self.roster.participants[index].session.stage() {
                Stage::Done | Stage::Left => self.leave(index),
                _ if self.setup.patience.returns => self.miss(now, index, reason),
                _ => self.lose(now, index, reason),
            },
        }
        self.proceed(now);
    }

    /// The process of the participant of this number in [`Setup::expected`] ended.
    pub fn handle_exit(&mut self, now: Stamp, index: usize, how: &str) {
        let reason = format!("its process ended: {how}");
        match self.roster.participants[index].state {
            State::Awaited => self.lose(now, index, &reason),
            State::Here(id) => match self.roster.participants[index].session.stage() {
                Stage::Done | Stage::Left => {
                    self.drop_connection(id);
                    self.leave(index);
                }
                _ => self.lose(now, index, &reason),
            },
            State::Away(..) | State::Gone | State::Lost(_) => {}
        }
        self.proceed(now);
    }

    /// Somebody wants it to end now. When the results are home already, it was not interrupted.
    pub fn handle_stop(&mut self, now: Stamp) {
        if !self.interrupted && !matches!(self.course, Course::Parting(_) | Course::Over(_)) {
            self.interrupted = true;
            self.end_early(now, "the run was interrupted");
        }
    }

    /// Rows can't be kept any more: ends the round, and puts out no more of them.
    pub fn handle_unkept(&mut self, now: Stamp) {
        if self.keeping {
            self.keeping = false;
            self.outputs.retain(|output| !matches!(output, Output::Row(_)));
            self.end_early(now, "results can't be kept");
        }
    }

    /// All rows put out so far are safe: they are acknowledged. Where participants keep what isn't, nothing is any more once
    /// rows [can't be kept](Self::handle_unkept): what they have brought since went nowhere.
    pub fn handle_synced(&mut self) {
        if !self.keeping && self.setup.patience.returns {
            return;
        }
        for participant in &mut self.roster.participants {
            let Some(id) = participant.connection() else { continue };
            let taken = participant.session.rows();
            if taken > participant.acknowledged {
                participant.acknowledged = taken;
                let ack = protocol::Ack { sequence: taken };
                self.outputs.push_back(Output::Send(id, ToParticipant::Ack(ack)));
            }
        }
    }

    /// The controller itself was away until now (a disk that took its time): the silence wasn't the participants'.
    pub fn handle_pause(&mut self, now: Stamp) {
        for participant in &mut self.roster.participants {
            participant.heard = participant.heard.max(now);
        }
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Stamp) {
        while let Some((_, id)) = self.strangers.first().copied().filter(|(at, _)| *at <= now) {
            self.dismiss(id, "it did not say who it is");
        }
        self.look_for_silence(now);
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
        let ping = self.comparing.due().map(|at| (at, Wake::Ping));
        let silence = self.silences.first().map(|(at, _)| (*at, Wake::Silence));
        let stranger = self.strangers.first().map(|(at, _)| (*at, Wake::Stranger));
        [ping, silence, stranger]
            .into_iter()
            .flatten()
            .chain([(phase, Wake::Phase)])
            .min()
    }

    /// When the phase must end; `None` once all is over.
    fn deadline(&self) -> Option<Stamp> {
        match self.course {
            Course::Joining(at)
            | Course::Preparing(at)
            | Course::Comparing(at)
            | Course::Running(_, at)
            | Course::Collecting(at)
            | Course::Parting(at) => Some(at),
            Course::Over(_) => None,
        }
    }

    fn tell_all(&mut self, message: &ToParticipant, wanted: impl Fn(&Participant, Stage) -> bool) {
        for participant in &self.roster.participants {
            if let Some(id) = participant.connection()
                && wanted(participant, participant.session.stage())
            {
                self.outputs.push_back(Output::Send(id, message.clone()));
            }
        }
    }

    fn end_early(&mut self, now: Stamp, reason: &str) {
        match self.course {
            Course::Running(..) | Course::Collecting(_) => {
                let stop = ToParticipant::Stop(Stop {
                    reason: reason.to_owned(),
                });
                self.tell_all(&stop, |p, stage| p.is_agent() && stage == Stage::Started);
                self.stopped = Some(reason.to_owned());
                self.collect(now, COLLECT_STOPPED);
                self.proceed(now);
            }
            Course::Joining(_) | Course::Preparing(_) | Course::Comparing(_) => self.part(now, reason),
            Course::Parting(_) | Course::Over(_) => {}
        }
    }
}
