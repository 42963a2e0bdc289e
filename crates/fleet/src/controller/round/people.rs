//! What participants and strangers say, and what becomes of them.

use super::{Course, Output, PING_GAP, Round, Setup};
use crate::clock::Stamp;
use crate::controller::roster::{Participant, State};
use crate::controller::session::{ConnectionId, Refusal, Step};
use crate::protocol::{self, Bye, Refused, ToParticipant, Welcome};
use netburn_record::{EventKind, EventRow, Health, Role, Row, Side};
use netburn_units::Instant;

impl Round {
    /// Somebody unknown says who it is.
    pub(super) fn join(&mut self, at: Stamp, id: ConnectionId, step: Step) -> Result<(), Refusal> {
        let Step::Joins(hello) = step else {
            unreachable!("a stranger's session takes nothing but `hello`")
        };
        let index = self.roster.admit(&hello, matches!(self.course, Course::Joining(_)))?;
        let participant = &mut self.roster.participants[index];
        participant.state = State::Here(id);
        participant.heard = at;
        let role = participant.expected.role;
        let connection = self.connections.get_mut(&id).expect("it just said something");
        connection.participant = Some(index);
        connection.session.welcome();
        let welcome = Welcome {
            protocol: protocol::VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            taken: 0,
        };
        self.outputs
            .push_back(Output::Send(id, ToParticipant::Welcome(welcome)));
        if role == Role::Server {
            connection.session.assign();
            let serve = protocol::Serve {
                plan: self.setup.document.clone(),
                rate_bps: self.setup.rate.as_bps(),
            };
            self.outputs.push_back(Output::Send(id, ToParticipant::Serve(serve)));
        }
        Ok(())
    }

    /// A participant said something that is in order.
    pub(super) fn step(&mut self, at: Stamp, id: ConnectionId, index: usize, step: Step) -> Result<(), Refusal> {
        let participant = &mut self.roster.participants[index];
        match step {
            Step::Joins(_) => unreachable!("a participant's session takes no second `hello`"),
            Step::Answered => {
                participant.pings_left = participant.pings_left.saturating_sub(1);
                participant.ping_due = (participant.pings_left > 0).then(|| at.after(PING_GAP));
            }
            Step::Ready(address) if address.is_none() == participant.is_agent() => participant.address = address,
            Step::Ready(_) => {
                self.lose(at, index, "its `ready` does not fit its role");
                return Err(Refusal::Address);
            }
            Step::Rows(batch) => {
                let (stations, far) = (&participant.expected.stations, !participant.is_agent());
                let rows = batch.into_rows(|station| stations.contains(&station), far)?;
                rows.into_iter().for_each(|row| self.take(row));
            }
            Step::Again => {
                let ack = protocol::Ack {
                    sequence: participant.acknowledged,
                };
                self.outputs.push_back(Output::Send(id, ToParticipant::Ack(ack)));
            }
            Step::Alive => {}
            Step::Health(health) => self.take_health(at, index, health),
            Step::Done(None) => {}
            Step::Done(Some(error)) => self.lose(at, index, &error),
            Step::Leaves { early: false, .. } => {
                self.drop_connection(id);
                self.leave(index);
            }
            Step::Leaves { reason, .. } => {
                let reason = reason.unwrap_or_else(|| "it left".to_owned());
                self.lose(at, index, &reason);
            }
        }
        Ok(())
    }

    /// Keeps a row, and finds the station of one that the server sent.
    fn take(&mut self, row: Row) {
        match row {
            Row::Connection(row) if row.side == Side::Server => {
                if let Some(row) = self.ports.handle_server(row) {
                    self.put(Row::Connection(row));
                }
            }
            Row::Connection(row) => {
                let explained = self.ports.handle_station(&row);
                self.put(Row::Connection(row));
                explained.into_iter().for_each(|row| self.put(Row::Connection(row)));
            }
            row => self.put(row),
        }
    }

    /// Keeps what a participant says of its measuring, under the name and stations that it has here.
    fn take_health(&mut self, at: Stamp, index: usize, said: Health) {
        let participant = &mut self.roster.participants[index];
        let expected = &participant.expected;
        let health = Health {
            name: expected.name.clone(),
            role: expected.role,
            stations: names(&self.setup, &expected.stations),
            ..said
        };
        let text = serde_json::to_string(&health).expect("plain fields");
        participant.health = Some(health);
        self.event(at, None, EventKind::Health, text);
    }

    fn put(&mut self, row: Row) {
        if self.keeping {
            self.outputs.push_back(Output::Row(row));
        }
    }

    pub(super) fn event(&mut self, now: Stamp, station: Option<u16>, kind: EventKind, text: String) {
        self.put(Row::Event(EventRow {
            station,
            workload: None,
            at: self.run_time(now).unwrap_or(Instant::ZERO),
            length: 0,
            kind,
            text,
        }));
    }

    /// Says no, and ends the connection of a stranger, or of one who doesn't stop.
    pub(super) fn refuse(&mut self, now: Stamp, id: ConnectionId, refusal: Refusal) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let participant = connection.participant;
        connection.session.refuse();
        let over = connection.session.is_exhausted();
        let who = match participant {
            Some(index) => self.roster.participants[index].expected.name.clone(),
            None => "a stranger".to_owned(),
        };
        let reason = protocol::shorten(refusal.to_string(), protocol::MAX_TEXT);
        self.outputs.push_back(Output::Refused(who, refusal));
        self.outputs.push_back(Output::Send(
            id,
            ToParticipant::Refused(Refused { reason: reason.clone() }),
        ));
        match participant {
            Some(index) if over => self.lose(
                now,
                index,
                &format!("too much of what it sent was refused, last: {reason}"),
            ),
            None if over => self.drop_connection(id),
            _ => {}
        }
    }

    /// Ends a connection that was there.
    pub(super) fn drop_connection(&mut self, id: ConnectionId) {
        if self.connections.remove(&id).is_some() {
            self.outputs.push_back(Output::Close(id));
        }
    }

    /// Ends a stranger's connection.
    pub(super) fn dismiss(&mut self, id: ConnectionId, reason: &str) {
        let bye = Bye {
            reason: Some(reason.to_owned()),
        };
        self.outputs.push_back(Output::Send(id, ToParticipant::Bye(bye)));
        self.drop_connection(id);
    }

    /// A participant did its part and left.
    pub(super) fn leave(&mut self, index: usize) {
        let participant = &mut self.roster.participants[index];
        participant.state = State::Gone;
        participant.ping_due = None;
    }

    /// A participant is lost: its stations' results end here.
    pub(super) fn lose(&mut self, now: Stamp, index: usize, reason: &str) {
        let participant = &mut self.roster.participants[index];
        let reason = protocol::shorten(reason.to_owned(), protocol::MAX_TEXT);
        let connection = participant.connection();
        participant.ping_due = None;
        participant.state = State::Lost(reason.clone());
        if let Some(id) = connection {
            self.drop_connection(id);
        }
        // Before the start there is no time to tell it at; then all who were lost are told.
        if self.start.is_some() {
            self.tell_lost(now, index, &reason);
        }
    }

    pub(super) fn tell_lost(&mut self, now: Stamp, index: usize, reason: &str) {
        let Participant { expected, .. } = &self.roster.participants[index];
        let (name, stations) = (expected.name.clone(), expected.stations.clone());
        let text = match expected.role {
            Role::Agent => format!("agent {name} was lost: {reason}"),
            Role::Server => format!("server {name} was lost: {reason}"),
        };
        self.outputs.push_back(Output::Warn(text.clone()));
        if stations.is_empty() {
            self.event(now, None, EventKind::Lost, text);
        } else {
            for station in stations {
                self.event(now, Some(station), EventKind::Lost, text.clone());
            }
        }
    }
}

/// Stations by name.
pub(super) fn names(setup: &Setup, stations: &[u16]) -> Vec<String> {
    let name = |station: &u16| setup.stations.get(usize::from(*station)).cloned();
    stations.iter().filter_map(name).collect()
}
