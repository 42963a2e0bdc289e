//! Transitions between phases.

use super::participants::names;
use super::{RunCoordinator, RunPhase, SILENCE_TIMEOUT, START_LEAD, STOPPED_COLLECT_TIMEOUT};
use crate::controller::protocol_state::Stage;
use crate::controller::roster::{AgentSession, State};
use crate::document;
use crate::error::ControllerError;
use crate::progress::Phase;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{Assign, Bye, Stop, ToAgent};
use netburn_record::{Clock, EventKind, Loss, LossCause};
use netburn_units::Duration;

/// Maximum number of agents that have an assignment and are not ready yet.
const MAX_ASSIGNMENTS: usize = 64;

impl RunCoordinator {
    /// Advances as far as possible.
    pub(super) fn proceed(&mut self, now: Stamp) {
        // The check costs time for each agent, and most events do not affect the phase.
        let due = self.deadline().is_some_and(|at| at <= now);
        if std::mem::take(&mut self.moved) || due {
            while self.advance(now) {}
        }
    }

    /// Advances by one phase if possible.
    fn advance(&mut self, now: Stamp) -> bool {
        match self.phase {
            RunPhase::Joining(deadline) => self.advance_joining(now, deadline),
            RunPhase::Preparing(deadline) => self.advance_preparing(now, deadline),
            RunPhase::ClockSync(deadline) => self.advance_clock_sync(now, deadline),
            RunPhase::Running(phase, until) => self.advance_running(now, phase, until),
            RunPhase::Collecting(deadline) => self.advance_collecting(now, deadline),
            RunPhase::Finishing(deadline) => self.advance_finishing(now, deadline),
            RunPhase::Finished(_) => false,
        }
    }

    fn advance_joining(&mut self, now: Stamp, deadline: Stamp) -> bool {
        let awaited = |p: &AgentSession| matches!(p.state, State::Expected | State::Disconnected(..));
        if deadline <= now {
            let loss = Loss::new(LossCause::NotJoined, "it did not join in time");
            self.mark_lost_where(now, &loss, awaited);
        }
        let waiting = self.roster.sessions.iter().any(awaited);
        if !waiting && self.can_go_on(now) {
            self.phase = RunPhase::Preparing(now.after(self.setup.timeouts.ready));
            let length = self.clock_sync_timeout();
            self.outputs.push_back(super::Output::Phase(Phase::Clocks, length));
        }
        !waiting
    }

    fn advance_preparing(&mut self, now: Stamp, deadline: Stamp) -> bool {
        self.assign();
        if deadline <= now {
            self.mark_unready_lost(now);
        }
        let ready = self.all_here(|stage| stage >= Stage::Ready);
        if ready && self.can_go_on(now) {
            self.start_clock_sync(now);
            self.phase = RunPhase::ClockSync(now.after(self.clock_sync_timeout()));
        }
        ready
    }

    fn advance_clock_sync(&mut self, now: Stamp, deadline: Stamp) -> bool {
        self.assign();
        let ready = self.all_here(|stage| stage >= Stage::Ready);
        let done = (ready && self.clock_sync_complete()) || deadline <= now;
        if done {
            self.mark_unready_lost(now);
            let estimates = self.estimates();
            for (session, estimate) in self.roster.sessions.iter_mut().zip(estimates) {
                session.before = estimate;
            }
            let unknown = |p: &AgentSession| p.stage().is_some() && p.before.is_none();
            let loss = Loss::new(LossCause::ClockUnknown, "its clock could not be compared");
            self.mark_lost_where(now, &loss, unknown);
            if self.can_go_on(now) {
                self.start(now);
            }
        }
        done
    }

    fn advance_running(&mut self, now: Stamp, phase: Phase, until: Stamp) -> bool {
        // Before the next condition, which is also true if all agents are lost.
        if self.left.is_none()
            && let Some(missing) = self.missing()
        {
            self.end_early(now, &missing);
            self.left = Some(missing);
            return true;
        }
        if self.agents_done() {
            self.phase = RunPhase::Collecting(now);
            return true;
        }
        if until > now {
            return false;
        }
        let (next, length) = match phase {
            Phase::Baseline => (Phase::Running, self.setup.plan.duration),
            Phase::Running => (Phase::Draining, self.setup.plan.drain),
            _ => {
                self.collect(now, self.setup.timeouts.collect);
                return true;
            }
        };
        self.outputs.push_back(super::Output::Phase(next, length));
        self.phase = RunPhase::Running(next, until.after(length));
        true
    }

    fn advance_collecting(&mut self, now: Stamp, deadline: Stamp) -> bool {
        if deadline <= now {
            let loss = Loss::new(LossCause::ResultsLate, "its results did not arrive in time");
            self.mark_lost_where_stage(now, &loss, |p, stage| p.is_agent() && stage == Stage::Started);
        }
        let done = self.agents_done();
        if done {
            let stop = ToAgent::Stop(Stop {
                reason: "the run is over".to_owned(),
            });
            self.send_to_all(&stop, |p, stage| !p.is_agent() && stage == Stage::Started);
            self.start_clock_sync(now);
            let stopped = self.interrupted || !self.recording || self.left.is_some();
            let left = if stopped {
                STOPPED_COLLECT_TIMEOUT
            } else {
                self.clock_sync_timeout()
            };
            self.phase = RunPhase::Finishing(now.after(left));
        }
        done
    }

    fn advance_finishing(&mut self, now: Stamp, deadline: Stamp) -> bool {
        let served = self.all_here(|stage| stage >= Stage::Done);
        let done = (served && self.clock_sync_complete()) || deadline <= now;
        if done {
            let loss = Loss::new(LossCause::EndNotReported, "it did not report in time");
            self.mark_lost_where_stage(now, &loss, |_, stage| stage == Stage::Started);
            let estimates = self.estimates();
            for (session, estimate) in self.roster.sessions.iter_mut().zip(estimates) {
                session.after = estimate;
            }
            self.record_clocks(now);
            let unexplained = self.ports.unexplained();
            if unexplained > 0 {
                tracing::debug!(unexplained, "samples of the server without a known station");
            }
            self.part(now, "the run is over");
        }
        done
    }

    /// Returns whether a server and an agent are left. Ends the run if not.
    fn can_go_on(&mut self, now: Stamp) -> bool {
        let losses = |agents: bool| {
            let lost = self.roster.sessions.iter().filter_map(|p| match &p.state {
                State::Lost(loss) if p.is_agent() == agents => Some((p.label(), loss.clone())),
                _ => None,
            });
            lost.collect()
        };
        let here = |agents: bool| {
            let mut all = self.roster.sessions.iter();
            all.any(|p| p.is_agent() == agents && p.stage().is_some())
        };
        let error = match (here(false), here(true)) {
            (true, true) => match self.missing() {
                None => return true,
                Some(missing) => ControllerError::Missing(missing),
            },
            (false, _) => ControllerError::NoServer(losses(false)),
            (true, false) => ControllerError::NoAgents(losses(true)),
        };
        self.part(now, "the run can't begin");
        self.phase = RunPhase::Finished(Some(error));
        false
    }

    /// Sends assignments once the address of the server is known. Each contains the plan, so only a limited
    /// number is sent at a time.
    pub(super) fn assign(&mut self) {
        let address = self.roster.sessions.iter().find_map(|p| p.address.clone());
        let Some(target) = address else { return };
        let busy =
            |p: &&AgentSession| p.is_agent() && p.connection().is_some() && p.protocol.stage() == Stage::Assigned;
        let mut room = MAX_ASSIGNMENTS.saturating_sub(self.roster.sessions.iter().filter(busy).count());
        for session in &mut self.roster.sessions {
            let Some(id) = session.connection().filter(|_| room > 0) else {
                continue;
            };
            if session.protocol.stage() == Stage::Joined {
                room -= 1;
                session.protocol.assign();
                let stations = session.expected.stations.clone();
                let assign = Assign {
                    plan: document::for_stations(&self.setup.document, &stations),
                    stations,
                    target: target.clone(),
                };
                self.outputs.push_back(super::Output::Send(id, ToAgent::Assign(assign)));
            }
        }
    }

    /// Sends the start time to each agent, on its own clock.
    fn start(&mut self, now: Stamp) {
        let start = now.after(START_LEAD).after(self.setup.plan.baseline);
        self.start = Some(start);
        for index in 0..self.roster.sessions.len() {
            let session = &mut self.roster.sessions[index];
            if session.stage().is_none() || session.before.is_none() {
                continue;
            }
            // A disconnected agent receives the start time after its reconnect.
            session.protocol.start();
            if let Some(id) = session.connection() {
                session.heard = now;
                self.silence_deadlines.insert((now.after(SILENCE_TIMEOUT), index));
                self.send_start(id, index);
            }
        }
        let until = start.checked_since(now).expect("it is later");
        self.outputs.push_back(super::Output::Phase(Phase::Baseline, until));
        self.phase = RunPhase::Running(Phase::Baseline, start);
        // Records the agents that never joined, and the clocks, in case the controller does not reach the
        // end.
        for index in 0..self.roster.sessions.len() {
            if let State::Lost(loss) = self.roster.sessions[index].state.clone() {
                self.report_lost(start, index, loss);
            }
        }
        self.record_notes(start);
        self.record_clocks(start);
    }

    /// Records the notes that agents sent before the start.
    fn record_notes(&mut self, start: Stamp) {
        let mut notes = Vec::new();
        for session in self.roster.sessions.iter_mut().filter(|p| p.stage().is_some()) {
            for note in std::mem::take(&mut session.notes) {
                match &session.expected.stations[..] {
                    [] => notes.push((None, note)),
                    stations => notes.extend(stations.iter().map(|station| (Some(*station), note.clone()))),
                }
            }
        }
        for (station, note) in notes {
            self.event(start, station, EventKind::Warning, note);
        }
    }

    /// Records the clock of each agent.
    fn record_clocks(&mut self, now: Stamp) {
        let zero = self.start.unwrap_or(now);
        let reports: Vec<Clock> = self
            .roster
            .sessions
            .iter()
            .filter_map(|p| {
                let stations = names(&self.setup, &p.expected.stations);
                Some(p.comparison()?.report(&p.expected.name, stations, zero))
            })
            .collect();
        for clock in reports {
            self.event(now, None, EventKind::Clock, clock);
        }
    }

    /// Starts the collection of the remaining results.
    pub(super) fn collect(&mut self, now: Stamp, limit: Duration) {
        self.outputs.push_back(super::Output::Phase(Phase::Collecting, limit));
        self.phase = RunPhase::Collecting(now.after(limit));
    }

    /// Sends `bye` to all connections and ends the run.
    pub(super) fn part(&mut self, now: Stamp, reason: &str) {
        self.record_rejected(now);
        let bye = ToAgent::Bye(Bye {
            code: None,
            reason: Some(reason.to_owned()),
        });
        for id in std::mem::take(&mut self.connections).into_keys() {
            self.outputs.push_back(super::Output::Send(id, bye.clone()));
            self.outputs.push_back(super::Output::Close(id));
        }
        self.clock_sync = super::ClockSync::default();
        self.pending.clear();
        for session in &mut self.roster.sessions {
            session.pings_left = 0;
            if session.connection().is_some() {
                session.state = State::Left;
            }
        }
        self.phase = RunPhase::Finished(None);
    }

    /// Returns whether all connected agents have finished.
    fn agents_done(&self) -> bool {
        let mut agents = self.roster.sessions.iter().filter(|p| p.is_agent());
        agents.all(|p| p.stage().is_none_or(|stage| stage >= Stage::Done))
    }

    fn all_here(&self, stage: impl Fn(Stage) -> bool) -> bool {
        self.roster.sessions.iter().filter_map(AgentSession::stage).all(stage)
    }

    fn mark_unready_lost(&mut self, now: Stamp) {
        let loss = Loss::new(LossCause::NotReady, "it was not ready in time");
        self.mark_lost_where_stage(now, &loss, |_, stage| stage < Stage::Ready);
    }

    fn mark_lost_where_stage(&mut self, now: Stamp, loss: &Loss, who: impl Fn(&AgentSession, Stage) -> bool) {
        for index in 0..self.roster.sessions.len() {
            let session = &self.roster.sessions[index];
            if session.stage().is_some_and(|stage| who(session, stage)) {
                self.mark_lost(now, index, loss.clone());
            }
        }
    }

    fn mark_lost_where(&mut self, now: Stamp, loss: &Loss, who: impl Fn(&AgentSession) -> bool) {
        for index in 0..self.roster.sessions.len() {
            if who(&self.roster.sessions[index]) {
                self.mark_lost(now, index, loss.clone());
            }
        }
    }
}
