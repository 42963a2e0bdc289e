//! From one phase to the next.

use super::people::names;
use super::{COLLECT_STOPPED, Course, LEAD, Round, SILENCE};
use crate::clock::Stamp;
use crate::controller::roster::{Participant, State};
use crate::controller::session::Stage;
use crate::document;
use crate::local::{FleetError, Phase};
use crate::protocol::{Assign, Bye, Stop, ToParticipant};
use netburn_record::EventKind;
use netburn_units::Duration;

/// So many agents at a time are given their parts and have not said that they are ready.
const ASSIGNMENTS: usize = 64;

impl Round {
    /// Goes as far as what is known allows.
    pub(super) fn proceed(&mut self, now: Stamp) {
        // Looking costs time for each participant, and most of what happens moves nothing.
        let due = self.deadline().is_some_and(|at| at <= now);
        if std::mem::take(&mut self.moved) || due {
            while self.advance(now) {}
        }
    }

    /// One step further, if it is time for it.
    fn advance(&mut self, now: Stamp) -> bool {
        match self.course {
            Course::Joining(deadline) => {
                let late = deadline <= now;
                let awaited = |p: &Participant| matches!(p.state, State::Awaited | State::Away(..));
                if late {
                    self.lose_those(now, "it did not join in time", awaited);
                }
                let waiting = self.roster.participants.iter().any(awaited);
                if !waiting && self.can_go_on(now) {
                    self.course = Course::Preparing(now.after(self.setup.patience.ready));
                    let length = self.comparing_time();
                    self.outputs.push_back(super::Output::Phase(Phase::Clocks, length));
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
                    self.course = Course::Comparing(now.after(self.comparing_time()));
                }
                ready
            }
            Course::Comparing(deadline) => {
                self.assign();
                let ready = self.all_here(|stage| stage >= Stage::Ready);
                let done = (ready && self.compared()) || deadline <= now;
                if done {
                    self.lose_unready(now);
                    let estimates = self.estimates();
                    for (index, estimate) in estimates.into_iter().enumerate() {
                        self.roster.participants[index].before = estimate;
                    }
                    let unknown = |p: &Participant| p.stage().is_some() && p.before.is_none();
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
                    Phase::Baseline => (Phase::Running, self.setup.plan.duration),
                    Phase::Running => (Phase::Draining, self.setup.plan.drain),
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
                    let left = if stopped {
                        COLLECT_STOPPED
                    } else {
                        self.comparing_time()
                    };
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
                State::Lost(reason) if p.is_agent() == agents => Some(format!("{}: {reason}", p.called())),
                _ => None,
            });
            lost.collect::<Vec<_>>().join("; ")
        };
        let here = |agents: bool| {
            let mut all = self.roster.participants.iter();
            all.any(|p| p.is_agent() == agents && p.stage().is_some())
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

    /// Gives the agents their parts, once it is known where the server answers: not too many at a time, for each is the
    /// plan over again.
    pub(super) fn assign(&mut self) {
        let address = self.roster.participants.iter().find_map(|p| p.address.clone());
        let Some(target) = address else { return };
        let busy = |p: &&Participant| p.is_agent() && p.connection().is_some() && p.session.stage() == Stage::Assigned;
        let mut room = ASSIGNMENTS.saturating_sub(self.roster.participants.iter().filter(busy).count());
        for participant in &mut self.roster.participants {
            let Some(id) = participant.connection().filter(|_| room > 0) else {
                continue;
            };
            if participant.session.stage() == Stage::Joined {
                room -= 1;
                participant.session.assign();
                let stations = participant.expected.stations.clone();
                let assign = Assign {
                    plan: document::part(&self.setup.document, &stations),
                    stations,
                    target: target.clone(),
                };
                self.outputs
                    .push_back(super::Output::Send(id, ToParticipant::Assign(assign)));
            }
        }
    }

    /// Tells everyone when to start, each by its own clock.
    fn start(&mut self, now: Stamp) {
        let start = now.after(LEAD).after(self.setup.plan.baseline);
        self.start = Some(start);
        for index in 0..self.roster.participants.len() {
            let participant = &mut self.roster.participants[index];
            if participant.stage().is_none() || participant.before.is_none() {
                continue;
            }
            // Who is away at this moment is told when it comes back.
            participant.session.start();
            if let Some(id) = participant.connection() {
                participant.heard = now;
                self.silences.insert((now.after(SILENCE), index));
                self.start_again(id, index);
            }
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
        self.tell_notes(start);
        self.tell_clocks(start);
    }

    /// Puts down what participants said before there was a time to say it at.
    fn tell_notes(&mut self, start: Stamp) {
        let mut notes = Vec::new();
        for participant in self.roster.participants.iter_mut().filter(|p| p.stage().is_some()) {
            for note in std::mem::take(&mut participant.notes) {
                match &participant.expected.stations[..] {
                    [] => notes.push((None, note)),
                    stations => notes.extend(stations.iter().map(|station| (Some(*station), note.clone()))),
                }
            }
        }
        for (station, note) in notes {
            self.event(start, station, EventKind::Warning, note);
        }
    }

    /// Puts down what is known of everyone's clock.
    fn tell_clocks(&mut self, now: Stamp) {
        let zero = self.start.unwrap_or(now);
        let reports: Vec<String> = self
            .roster
            .participants
            .iter()
            .filter_map(|p| {
                let stations = names(&self.setup, &p.expected.stations);
                let report = p.comparison()?.report(&p.expected.name, stations, zero);
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
    pub(super) fn part(&mut self, now: Stamp, reason: &str) {
        self.tell_rejected(now);
        let bye = ToParticipant::Bye(Bye {
            reason: Some(reason.to_owned()),
        });
        for id in std::mem::take(&mut self.connections).into_keys() {
            self.outputs.push_back(super::Output::Send(id, bye.clone()));
            self.outputs.push_back(super::Output::Close(id));
        }
        self.comparing = super::Comparing::default();
        self.strangers.clear();
        for participant in &mut self.roster.participants {
            participant.pings_left = 0;
            if participant.connection().is_some() {
                participant.state = State::Gone;
            }
        }
        self.course = Course::Over(None);
    }

    /// Whether no agent that is here has anything left to do.
    fn agents_done(&self) -> bool {
        let mut agents = self.roster.participants.iter().filter(|p| p.is_agent());
        agents.all(|p| p.stage().is_none_or(|stage| stage >= Stage::Done))
    }

    fn all_here(&self, stage: impl Fn(Stage) -> bool) -> bool {
        self.roster
            .participants
            .iter()
            .filter_map(Participant::stage)
            .all(stage)
    }

    fn lose_unready(&mut self, now: Stamp) {
        self.lose_those_who(now, "it was not ready in time", |_, stage| stage < Stage::Ready);
    }

    fn lose_those_who(&mut self, now: Stamp, reason: &str, who: impl Fn(&Participant, Stage) -> bool) {
        for index in 0..self.roster.participants.len() {
            let participant = &self.roster.participants[index];
            if participant.stage().is_some_and(|stage| who(participant, stage)) {
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
