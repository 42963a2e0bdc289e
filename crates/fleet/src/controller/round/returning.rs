//! Who is away, who comes back, and who stays away.

use super::{Course, Output, Round, SILENCE};
use crate::clock::Stamp;
use crate::controller::roster::State;
use crate::controller::session::{ConnectionId, Stage};
use crate::protocol::{Start, Stop, ToParticipant};
use netburn_record::EventKind;
use netburn_units::Duration;

impl Round {
    /// A participant lost its connection, and may come back.
    pub(super) fn miss(&mut self, now: Stamp, index: usize, reason: &str) {
        self.moved = true;
        self.do_not_compare(index);
        let participant = &mut self.roster.participants[index];
        let connection = participant.connection();
        participant.session.interrupt();
        participant.state = State::Away(now, reason.to_owned());
        let name = participant.called();
        if let Some(id) = connection {
            self.drop_connection(id);
        }
        self.outputs
            .push_back(Output::Warn(format!("{name} is away: {reason}")));
    }

    /// A participant that was here before is here again, over connection `id`.
    pub(super) fn receive(&mut self, now: Stamp, id: ConnectionId, index: usize, since: Stamp, why: &str) {
        let participant = &self.roster.participants[index];
        let (agent, stage) = (participant.is_agent(), participant.session.stage());
        let name = participant.called();
        let length = now.checked_since(since).unwrap_or_default();
        self.outputs
            .push_back(Output::Warn(format!("{name} is back after {}", short(length))));
        if stage >= Stage::Started {
            let text = format!("{name} was away for {}: {why}", short(length));
            let stations = self.roster.participants[index].expected.stations.clone();
            for station in stations {
                self.event_of(since, length, Some(station), EventKind::Warning, text.clone());
            }
        }
        match (&self.course, stage) {
            // It may have missed the word, and there may be time.
            (Course::Running(..) | Course::Collecting(_) | Course::Parting(_), Stage::Started) => {
                self.start_again(id, index);
                let over = matches!(self.course, Course::Parting(_)) && !agent;
                let reason = match over {
                    true => Some("the run is over".to_owned()),
                    false => self.stopped.clone().filter(|_| agent),
                };
                if let Some(reason) = reason {
                    self.outputs
                        .push_back(Output::Send(id, ToParticipant::Stop(Stop { reason })));
                }
                self.silences.insert((now.after(SILENCE), index));
            }
            (Course::Comparing(_), _) => self.compare_again(index),
            (Course::Parting(_), _) if self.roster.participants[index].before.is_some() => self.compare_again(index),
            _ => {}
        }
    }

    /// Tells a participant when to start, by its own clock.
    pub(super) fn start_again(&mut self, id: ConnectionId, index: usize) {
        if let (Some(start), Some(estimate)) = (self.start, self.roster.participants[index].before) {
            let at = estimate.to_far(start).0;
            self.outputs
                .push_back(Output::Send(id, ToParticipant::Start(Start { at })));
        }
    }

    /// Ends connections on which nothing has come for too long.
    pub(super) fn look_for_silence(&mut self, now: Stamp) {
        while let Some((_, index)) = self.silences.first().copied().filter(|(at, _)| *at <= now) {
            self.silences.pop_first();
            let participant = &self.roster.participants[index];
            if participant.connection().is_none() || participant.session.stage() != Stage::Started {
                continue;
            }
            let until = participant.heard.after(SILENCE);
            if until > now {
                self.silences.insert((until, index));
                continue;
            }
            let (since, reason) = (participant.heard, format!("nothing was heard of it for {SILENCE}"));
            match self.setup.patience.returns {
                true => self.miss(since, index, &reason),
                false => self.lose(now, index, &reason),
            }
        }
    }
}

/// A length for people, to the tenth of a second.
fn short(length: Duration) -> Duration {
    let tenth = 100_000_000;
    Duration::from_nanos(length.as_nanos() / tenth * tenth)
}
