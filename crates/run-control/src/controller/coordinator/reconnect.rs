//! Lost connections and reconnects.

use super::{Output, RunCoordinator, RunPhase, SILENCE_TIMEOUT};
use crate::controller::protocol_state::{ConnectionId, Stage};
use crate::controller::roster::State;
use crate::progress::Phase;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{Start, Stop, ToAgent};
use netburn_record::{EventKind, Loss, LossCause};
use netburn_units::Duration;

impl RunCoordinator {
    /// Handles the end of an agent's connection at `since`. The agent is lost at `now` if it may not reconnect.
    pub(super) fn handle_disconnected(&mut self, now: Stamp, since: Stamp, index: usize, loss: Loss) {
        if self.setup.timeouts.allow_reconnect {
            self.mark_disconnected(since, index, loss);
            if let Some(limit) = self.setup.timeouts.max_absence {
                self.absence_deadlines.insert((now.after(limit), index));
            }
        } else {
            self.mark_lost(now, index, loss);
        }
    }

    /// Marks an agent as disconnected. It may reconnect.
    fn mark_disconnected(&mut self, now: Stamp, index: usize, loss: Loss) {
        self.moved = true;
        self.cancel_clock_sync(index);
        let session = &mut self.roster.sessions[index];
        let connection = session.connection();
        session.protocol.interrupt();
        let text = format!("{} is disconnected: {loss}", session.label());
        session.state = State::Disconnected(now, loss);
        if let Some(id) = connection {
            self.drop_connection(id);
        }
        self.outputs.push_back(Output::Warn(text));
    }

    /// Handles the reconnect of an agent over connection `id`.
    pub(super) fn handle_reconnect(&mut self, now: Stamp, id: ConnectionId, index: usize, since: Stamp, why: &Loss) {
        self.absence_deadlines.retain(|(_, absent)| *absent != index);
        let session = &self.roster.sessions[index];
        let (agent, stage) = (session.is_agent(), session.protocol.stage());
        let name = session.label();
        let length = now.checked_since(since).unwrap_or_default();
        self.outputs
            .push_back(Output::Warn(format!("{name} reconnected after {}", short(length))));
        if stage >= Stage::Started {
            let text = format!("{name} was disconnected for {}: {why}", short(length));
            let stations = self.roster.sessions[index].expected.stations.clone();
            for station in stations {
                self.event_of(since, length, Some(station), EventKind::Warning, text.clone());
            }
        }
        match (&self.phase, stage) {
            // The agent may have missed the start message, and may still be in time.
            (RunPhase::Running(..) | RunPhase::Collecting(_) | RunPhase::Finishing(_), Stage::Started) => {
                self.send_start(id, index);
                let over = matches!(self.phase, RunPhase::Finishing(_)) && !agent;
                let reason = if over {
                    Some("the run is over".to_owned())
                } else {
                    self.stopped.clone().filter(|_| agent)
                };
                if let Some(reason) = reason {
                    self.outputs.push_back(Output::Send(id, ToAgent::Stop(Stop { reason })));
                }
                self.silence_deadlines.insert((now.after(SILENCE_TIMEOUT), index));
            }
            (RunPhase::ClockSync(_), _) => self.restart_clock_sync(index),
            (RunPhase::Finishing(_), _) if self.roster.sessions[index].before.is_some() => {
                self.restart_clock_sync(index)
            }
            _ => {}
        }
    }

    /// Sends the start time to an agent, on its own clock.
    pub(super) fn send_start(&mut self, id: ConnectionId, index: usize) {
        if let (Some(start), Some(estimate)) = (self.start, self.roster.sessions[index].before) {
            let at = estimate.to_far(start).0;
            self.outputs.push_back(Output::Send(id, ToAgent::Start(Start { at })));
        }
    }

    /// Closes connections without messages for too long.
    pub(super) fn check_silence(&mut self, now: Stamp) {
        while let Some((_, index)) = self.silence_deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.silence_deadlines.pop_first();
            let session = &self.roster.sessions[index];
            if session.connection().is_none() || session.protocol.stage() != Stage::Started {
                continue;
            }
            let until = session.heard.after(SILENCE_TIMEOUT);
            if until > now {
                self.silence_deadlines.insert((until, index));
                continue;
            }
            let loss = Loss::new(LossCause::Silent, format!("no message for {SILENCE_TIMEOUT}"));
            self.handle_disconnected(now, session.heard, index, loss);
        }
    }
}

impl RunCoordinator {
    /// Marks agents as lost that were disconnected for too long. After the load there is more time for their results.
    pub(super) fn check_absence(&mut self, now: Stamp) {
        while let Some((_, index)) = self.absence_deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.absence_deadlines.pop_first();
            if let State::Disconnected(_, why) = &self.roster.sessions[index].state
                && !self.is_load_over()
            {
                let why = why.clone();
                self.mark_lost(now, index, why);
            }
        }
    }

    fn is_load_over(&self) -> bool {
        !matches!(
            self.phase,
            RunPhase::Joining(_)
                | RunPhase::Preparing(_)
                | RunPhase::ClockSync(_)
                | RunPhase::Running(Phase::Baseline | Phase::Running, _)
        )
    }

    /// The first lost agent or server of a run that needs all of them, and its reason.
    pub(super) fn missing(&self) -> Option<String> {
        self.setup.timeouts.max_absence?;
        self.roster.sessions.iter().find_map(|session| {
            let State::Lost(loss) = &session.state else { return None };
            let who = if session.is_agent() {
                session.label()
            } else {
                session.description()
            };
            Some(format!("{who} left: {loss}"))
        })
    }
}

/// Rounds a duration down to 0.1 s, for messages.
fn short(length: Duration) -> Duration {
    let tenth = 100_000_000;
    Duration::from_nanos(length.as_nanos() / tenth * tenth)
}
