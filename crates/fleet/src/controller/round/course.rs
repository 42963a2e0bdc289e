//! From one phase to the next.

use super::people::names;
use super::{COLLECT_STOPPED, COMPARING, Connection, Course, EXCHANGES, LEAD, Round};
use crate::clock::{self, Estimate, Stamp};
use crate::controller::roster::{Participant, State};
use crate::controller::session::Stage;
use crate::local::{FleetError, Phase};
use crate::protocol::{Assign, Bye, Start, Stop, ToParticipant};
use netburn_record::EventKind;
use netburn_units::Duration;

impl Round {
    /// Goes as far as what is known allows.
    pub(super) fn proceed(&mut self, now: Stamp) {
        while self.advance(now) {}
    }

    /// One step further, if it is time for it.
    fn advance(&mut self, now: Stamp) -> bool {
        match self.course {
            Course::Joining(deadline) => {
                let late = deadline <= now;
                let awaited = |p: &Participant| p.state == State::Awaited;
                if late {
                    self.lose_those(now, "it did not join in time", awaited);
                }
                let waiting = self.roster.participants.iter().any(awaited);
                if !waiting && self.can_go_on(now) {
                    self.course = Course::Preparing(now.after(self.setup.patience.ready));
                    self.outputs.push_back(super::Output::Phase(Phase::Clocks, COMPARING));
                }
                !waiting
            }
            Course::Preparing(deadline) => {
                self.assign();
                if deadline <= now {
                    self.lose_unready(now);
                }
                let ready = self.all_here(|stage| stage >= Stage::Ready);
                if ready && self.can_go_on(now) {
                    self.compare(now);
                    self.course = Course::Comparing(now.after(COMPARING));
                }
                ready
            }
            Course::Comparing(deadline) => {
                let done = self.compared() || deadline <= now;
                if done {
                    let estimates = self.estimates();
                    for (index, estimate) in estimates.into_iter().enumerate() {
                        self.roster.participants[index].before = estimate;
                    }
                    let unknown = |p: &Participant| p.connection().is_some() && p.before.is_none();
                    self.lose_those(now, "its clock could not be compared", unknown);
                    if self.can_go_on(now) {
                        self.start(now);
                    }
                }
                done
            }
            Course::Running(phase, until) => {
                if self.agents_done() {
                    self.course = Course::Collecting(now);
                    return true;
                }
                if until > now {
                    return false;
                }
                let (next, length) = match phase {
                    Phase::Baseline => (Phase::Running, self.setup.duration),
                    Phase::Running => (Phase::Draining, self.setup.drain),
                    _ => {
                        self.collect(now, self.setup.patience.collect);
                        return true;
                    }
                };
                self.outputs.push_back(super::Output::Phase(next, length));
                self.course = Course::Running(next, until.after(length));
                true
            }
            Course::Collecting(deadline) => {
                if deadline <= now {
                    self.lose_those_who(now, "its results did not come in time", |p, stage| {
                        p.is_agent() && stage == Stage::Started
                    });
                }
                let done = self.agents_done();
                if done {
                    let stop = ToParticipant::Stop(Stop {
                        reason: "the run is over".to_owned(),
                    });
                    self.tell_all(&stop, |p, stage| !p.is_agent() && stage == Stage::Started);
                    self.compare(now);
                    let stopped = self.interrupted || !self.keeping;
                    let left = if stopped { COLLECT_STOPPED } else { COMPARING };
                    self.course = Course::Parting(now.after(left));
                }
                done
            }
            Course::Parting(deadline) => {
                let served = self.all_here(|stage| stage >= Stage::Done);
                let done = (served && self.compared()) || deadline <= now;
                if done {
                    self.lose_those_who(now, "it did not report in time", |_, stage| stage == Stage::Started);
                    let estimates = self.estimates();
                    for (index, estimate) in estimates.into_iter().enumerate() {
                        self.roster.participants[index].after = estimate;
                    }
                    self.tell_clocks(now);
                    let unexplained = self.ports.unexplained();
                    if unexplained > 0 {
                        tracing::debug!(
                            unexplained,
                            "looks of the server at connections whose station is not known"
                        );
                    }
                    self.part(now, "the run is over");
                }
                done
            }
            Course::Over(_) => false,
        }
    }

    /// Whether there is still something to measure; if not, that is the end.
    fn can_go_on(&mut self, now: Stamp) -> bool {
        let reasons = |agents: bool| {
            let lost = self.roster.participants.iter().filter_map(|p| match &p.state {
                State::Lost(reason) if p.is_agent() == agents => Some(format!("{}: {reason}", p.expected.name)),
                _ => None,
            });
            lost.collect::<Vec<_>>().join("; ")
        };
        let here = |agents: bool| {
            let mut all = self.roster.participants.iter();
            all.any(|p| p.is_agent() == agents && p.connection().is_some())
        };
        let error = match (here(false), here(true)) {
            (true, true) => return true,
            (false, _) => FleetError::NoServer(reasons(false)),
            (true, false) => FleetError::NoAgents(reasons(true)),
        };
        self.part(now, "the run can't begin");
        self.course = Course::Over(Some(error));
        false
    }

    /// Gives the agents their parts, once it is known where the server answers.
    fn assign(&mut self) {
        let address = self.roster.participants.iter().find_map(|p| p.address.clone());
        let Some(target) = address else { return };
        for participant in &self.roster.participants {
            let Some(id) = participant.connection() else { continue };
            let Connection { session, .. } = self.connections.get_mut(&id).expect("it is here");
            if session.stage() == Stage::Joined {
                session.assign();
                let assign = Assign {
                    plan: self.setup.document.clone(),
                    stations: participant.expected.stations.clone(),
                    target: target.clone(),
                };
                self.outputs
                    .push_back(super::Output::Send(id, ToParticipant::Assign(assign)));
            }
        }
    }

    /// Begins to compare the clocks of all who are here.
    fn compare(&mut self, now: Stamp) {
        for participant in &mut self.roster.participants {
            if let Some(id) = participant.connection() {
                self.connections
                    .get_mut(&id)
                    .expect("it is here")
                    .session
                    .take_exchanges();
                participant.pings_left = EXCHANGES;
                participant.ping_due = Some(now);
            }
        }
        self.ping(now);
    }

    /// Sends the pings that are due.
    pub(super) fn ping(&mut self, now: Stamp) {
        for participant in &mut self.roster.participants {
            if participant.ping_due.is_some_and(|at| at <= now)
                && let Some(id) = participant.connection()
            {
                participant.ping_due = None;
                let connection = self.connections.get_mut(&id).expect("it is here");
                let ping = connection.session.ping(now);
                self.outputs
                    .push_back(super::Output::Send(id, ToParticipant::Ping(ping)));
            }
        }
    }

    /// Whether the comparison is complete.
    fn compared(&self) -> bool {
        let mut here = self.roster.participants.iter().filter(|p| p.connection().is_some());
        here.all(|p| p.pings_left == 0)
    }

    /// What the exchanges say of everyone's clock.
    fn estimates(&mut self) -> Vec<Option<Estimate>> {
        let each = self.roster.participants.iter_mut().map(|participant| {
            participant.ping_due = None;
            participant.pings_left = 0;
            let connection = self.connections.get_mut(&participant.connection()?)?;
            clock::estimate(&connection.session.take_exchanges())
        });
        each.collect()
    }

    /// Tells everyone when to start, each by its own clock.
    fn start(&mut self, now: Stamp) {
        let start = now.after(LEAD).after(self.setup.baseline);
        self.start = Some(start);
        for participant in &mut self.roster.participants {
            let (Some(id), Some(estimate)) = (participant.connection(), participant.before) else {
                continue;
            };
            participant.heard = now;
            self.connections.get_mut(&id).expect("it is here").session.start();
            let at = estimate.to_far(start).0;
            self.outputs
                .push_back(super::Output::Send(id, ToParticipant::Start(Start { at })));
        }
        let until = start.checked_since(now).expect("it is later");
        self.outputs.push_back(super::Output::Phase(Phase::Baseline, until));
        self.course = Course::Running(Phase::Baseline, start);
        // Those that never came, and (in case the controller itself doesn't live to see the end) the clocks.
        for index in 0..self.roster.participants.len() {
            if let State::Lost(reason) = self.roster.participants[index].state.clone() {
                self.tell_lost(start, index, &reason);
            }
        }
        self.tell_clocks(start);
    }

    /// Puts down what is known of everyone's clock.
    fn tell_clocks(&mut self, now: Stamp) {
        let reports: Vec<String> = self
            .roster
            .participants
            .iter()
            .filter_map(|p| {
                let stations = names(&self.setup, &p.expected.stations);
                let report = p.comparison()?.report(&p.expected.name, stations);
                Some(serde_json::to_string(&report).expect("plain fields"))
            })
            .collect();
        for text in reports {
            self.event(now, None, EventKind::Clock, text);
        }
    }

    /// Waits for the rest of the results.
    pub(super) fn collect(&mut self, now: Stamp, limit: Duration) {
        self.outputs.push_back(super::Output::Phase(Phase::Collecting, limit));
        self.course = Course::Collecting(now.after(limit));
    }

    /// Says goodbye to everyone.
    pub(super) fn part(&mut self, _now: Stamp, reason: &str) {
        let bye = ToParticipant::Bye(Bye {
            reason: Some(reason.to_owned()),
        });
        for id in std::mem::take(&mut self.connections).into_keys() {
            self.outputs.push_back(super::Output::Send(id, bye.clone()));
            self.outputs.push_back(super::Output::Close(id));
        }
        for participant in &mut self.roster.participants {
            participant.ping_due = None;
            if participant.connection().is_some() {
                participant.state = State::Gone;
            }
        }
        self.course = Course::Over(None);
    }

    /// Whether no agent that is here has anything left to do.
    fn agents_done(&self) -> bool {
        let mut agents = self.roster.participants.iter().filter(|p| p.is_agent());
        agents.all(|p| self.stage(p).is_none_or(|stage| stage >= Stage::Done))
    }

    fn all_here(&self, stage: impl Fn(Stage) -> bool) -> bool {
        self.roster.participants.iter().filter_map(|p| self.stage(p)).all(stage)
    }

    /// How far the conversation with a participant is, if it is here.
    fn stage(&self, participant: &Participant) -> Option<Stage> {
        let connection = self.connections.get(&participant.connection()?)?;
        Some(connection.session.stage())
    }

    fn lose_unready(&mut self, now: Stamp) {
        self.lose_those_who(now, "it was not ready in time", |_, stage| stage < Stage::Ready);
    }

    fn lose_those_who(&mut self, now: Stamp, reason: &str, who: impl Fn(&Participant, Stage) -> bool) {
        for index in 0..self.roster.participants.len() {
            let participant = &self.roster.participants[index];
            if self.stage(participant).is_some_and(|stage| who(participant, stage)) {
                self.lose(now, index, reason);
            }
        }
    }

    fn lose_those(&mut self, now: Stamp, reason: &str, who: impl Fn(&Participant) -> bool) {
        for index in 0..self.roster.participants.len() {
            if who(&self.roster.participants[index]) {
                self.lose(now, index, reason);
            }
        }
    }
}
