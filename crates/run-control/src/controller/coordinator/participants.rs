//! Messages of agents, of the server and of unauthenticated connections.

use super::{Connection, MAX_REJECTED_ROWS, Output, RunCoordinator, RunPhase};
use crate::controller::Setup;
use crate::controller::protocol_state::{ConnectionId, Stage, Step};
use crate::controller::roster::{Admission, State};
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Rejection;
use netburn_protocol::messages::{self, Bye, Reach, Ready, Rejected, ToAgent, Welcome};
use netburn_record::{Detail, EventKind, EventRow, Health, Loss, LossCause, Moved, QualityIssue, Role, Row, Side};
use netburn_units::{Duration, Instant};
use std::collections::BTreeMap;

/// Note on a result that the run's server can't confirm. The agent may report any value.
const OWN_SERVER_NOTE: &str = "it measured against its own server, which the run's server can't confirm";
/// Maximum number of notes per agent.
const MAX_NOTES: usize = 16;

/// Help for a loss after which the results may arrive.
const LATER: &str =
    "; help: when it is reachable again it delivers its results, and `netburn report` then includes them";

impl RunCoordinator {
    /// Handles a `hello`.
    pub(super) fn join(&mut self, at: Stamp, id: ConnectionId, step: Step) -> Result<(), Rejection> {
        let Step::Joins(hello) = step else {
            unreachable!("an unauthenticated session accepts only `hello`")
        };
        let joining = matches!(self.phase, RunPhase::Joining(_));
        let allow_reconnect = self.setup.timeouts.allow_reconnect;
        let admitted = self.roster.admit(at, &hello, joining, allow_reconnect);
        if let Err(Rejection::Late(_)) = &admitted
            && let Some(index) = self.roster.restarted(&hello)
        {
            // The agent reconnected, but without its rows.
            self.roster.sessions[index].state = State::Expected;
            let reason = "it was restarted without its rows";
            self.mark_lost(at, index, Loss::new(LossCause::Restarted, reason));
        }
        let (index, admission) = admitted?;
        self.moved = true;
        if let Some(Connection::Unauthenticated(_, until)) = self.connections.insert(id, Connection::Session(index)) {
            self.pending.remove(&(until, id));
        }
        if let Admission::Reconnect {
            replaces: Some(old), ..
        } = &admission
        {
            self.drop_connection(*old);
            self.cancel_clock_sync(index);
        }
        let session = &mut self.roster.sessions[index];
        session.state = State::Connected(id);
        session.heard = at;
        if admission != Admission::First {
            session.protocol.interrupt();
        }
        session.protocol.welcome();
        let welcome = Welcome {
            protocol: messages::VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            last_sequence: session.protocol.rows(),
        };
        let server = session.expected.role == Role::Server && session.protocol.stage() < Stage::Assigned;
        if server {
            session.protocol.assign();
        }
        let acknowledged = session.acknowledged;
        self.outputs.push_back(Output::Send(id, ToAgent::Welcome(welcome)));
        if acknowledged > 0 {
            // Earlier acknowledgements may not have arrived.
            let ack = messages::Ack { sequence: acknowledged };
            self.outputs.push_back(Output::Send(id, ToAgent::Ack(ack)));
        }
        if server {
            let serve = messages::Serve {
                plan: self.setup.document.clone(),
                rate_bps: self.setup.rate.as_bps(),
            };
            self.outputs.push_back(Output::Send(id, ToAgent::Serve(serve)));
        }
        if let Admission::Reconnect { since, why, .. } = admission {
            self.handle_reconnect(at, id, index, since, &why);
        }
        Ok(())
    }

    /// Handles an accepted message of an agent or the server.
    pub(super) fn step(&mut self, at: Stamp, id: ConnectionId, index: usize, step: Step) -> Result<(), Rejection> {
        let session = &mut self.roster.sessions[index];
        match step {
            Step::Joins(_) => unreachable!("a session accepts no second `hello`"),
            Step::Answered => self.answered(at, index),
            Step::Ready(ready) if ready.server.is_none() == session.is_agent() => self.ready(at, index, ready),
            Step::Ready(_) => {
                let reason = "its `ready` does not fit its role";
                self.mark_lost(at, index, Loss::new(LossCause::InvalidReady, reason));
                return Err(Rejection::Address);
            }
            Step::Rows(batch) => {
                let (stations, far) = (&session.expected.stations, !session.is_agent());
                let rows = batch.into_rows(|station| stations.contains(&station), far)?;
                self.take_rows(at, index, rows);
            }
            Step::Again => {
                let ack = messages::Ack {
                    sequence: session.acknowledged,
                };
                self.outputs.push_back(Output::Send(id, ToAgent::Ack(ack)));
            }
            Step::Alive => {}
            Step::Health(health) => self.take_health(at, index, health),
            Step::Done(None) => self.moved = true,
            Step::Done(Some(error)) => {
                let bye = Bye {
                    code: None,
                    reason: Some(messages::shorten(error.clone(), messages::MAX_TEXT)),
                };
                self.outputs.push_back(Output::Send(id, ToAgent::Bye(bye)));
                self.mark_lost(at, index, Loss::new(LossCause::PartFailed, error));
            }
            Step::Leaves { early: false, .. } => {
                self.drop_connection(id);
                self.leave(index);
            }
            Step::Leaves { reason, .. } => {
                let reason = reason.unwrap_or_else(|| "it left".to_owned());
                self.mark_lost(at, index, Loss::new(LossCause::Left, reason));
            }
        }
        Ok(())
    }

    /// Handles `ready`, which may report that the agent can't take part.
    fn ready(&mut self, at: Stamp, index: usize, ready: Ready) {
        self.moved = true;
        let session = &mut self.roster.sessions[index];
        if let Some(server) = ready.server {
            session.address = Some(server.limited());
        }
        session.own_server = ready.own_server;
        let notes = ready.notes.into_iter().take(MAX_NOTES);
        session.notes = notes.map(|note| messages::shorten(note, messages::MAX_TEXT)).collect();
        if session.own_server && session.is_agent() {
            session.notes.push(OWN_SERVER_NOTE.to_owned());
        }
        let needed = session.expected.datagrams;
        let reach = ready.reach.unwrap_or_default();
        match unreached(&reach, needed) {
            Some(reason) => self.mark_lost(at, index, Loss::new(LossCause::ServerUnreachable, reason)),
            None => {
                if let Some(why) = reach.datagrams {
                    let note = format!(
                        "datagrams do not reach the server and return ({why}); none of its workloads needs them"
                    );
                    self.roster.sessions[index].notes.push(note);
                }
            }
        }
    }

    /// Stores the rows that are within the limits of the agent's part of the plan.
    fn take_rows(&mut self, at: Stamp, index: usize, rows: Vec<Row>) {
        let began = Instant::ZERO - self.setup.plan.baseline;
        let elapsed = self.run_time(at).and_then(|now| now.checked_since(began));
        let elapsed = elapsed.unwrap_or_default();
        let before = self.roster.sessions[index].allowance.rejected().total();
        for row in rows {
            if self.roster.sessions[index].allowance.admit(&row, elapsed).is_ok() {
                self.take(row);
            }
        }
        let session = &self.roster.sessions[index];
        let rejected = session.allowance.rejected();
        if before == 0 && rejected.total() > 0 {
            let text = format!("rows of {} are rejected: {rejected}", session.description());
            self.outputs.push_back(Output::Warn(text));
        }
        if rejected.total() > MAX_REJECTED_ROWS {
            let reason = format!("more than {MAX_REJECTED_ROWS} of its rows were rejected");
            self.mark_lost(at, index, Loss::new(LossCause::RowsRejected, reason));
        }
    }

    /// Records which agents had rejected rows.
    pub(super) fn record_rejected(&mut self, now: Stamp) {
        if self.start.is_none() {
            return;
        }
        let mut events = Vec::new();
        for session in &self.roster.sessions {
            let rejected = session.allowance.rejected();
            if rejected.total() > 0 {
                let issue = QualityIssue::RowsRejected {
                    sender: session.description(),
                    reasons: rejected.clone(),
                };
                match &session.expected.stations[..] {
                    [] => events.push((None, issue)),
                    stations => events.extend(stations.iter().map(|station| (Some(*station), issue.clone()))),
                }
            }
        }
        for (station, issue) in events {
            self.event(now, station, EventKind::Rejected, issue);
        }
    }

    /// Stores a row, and finds the station of a row of the server.
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

    /// Stores a self-report, with the name and stations from the plan.
    fn take_health(&mut self, at: Stamp, index: usize, said: Health) {
        let served = if self.roster.sessions[index].is_agent() {
            BTreeMap::new()
        } else {
            self.served_by_run(said.served)
        };
        let session = &mut self.roster.sessions[index];
        let expected = &session.expected;
        let health = Health {
            name: expected.name.clone(),
            role: expected.role,
            stations: names(&self.setup, &expected.stations),
            served,
            ..said
        };
        session.health = Some(health.clone());
        self.event(at, None, EventKind::Health, health);
    }

    fn put(&mut self, row: Row) {
        if self.recording {
            self.outputs.push_back(Output::Row(row));
        }
    }

    pub(super) fn event(&mut self, now: Stamp, station: Option<u16>, kind: EventKind, detail: impl Into<Detail>) {
        self.event_of(now, Duration::ZERO, station, kind, detail);
    }

    pub(super) fn event_of(
        &mut self,
        began: Stamp,
        length: Duration,
        station: Option<u16>,
        kind: EventKind,
        detail: impl Into<Detail>,
    ) {
        self.put(Row::Event(EventRow {
            station,
            workload: None,
            at: self.run_time(began).unwrap_or(Instant::ZERO),
            length: length.as_nanos(),
            kind,
            detail: detail.into(),
        }));
    }

    /// Sends a rejection. Closes an unauthenticated connection, and one with too many rejections.
    pub(super) fn reject(&mut self, now: Stamp, id: ConnectionId, rejection: Rejection) {
        let (session, who, over) = match self.connections.get_mut(&id) {
            None => return,
            Some(Connection::Unauthenticated(protocol, _)) => {
                protocol.reject();
                (None, "an unauthenticated peer".to_owned(), protocol.is_exhausted())
            }
            Some(Connection::Session(index)) => {
                let session = &mut self.roster.sessions[*index];
                session.protocol.reject();
                let name = session.expected.name.clone();
                (Some(*index), name, session.protocol.is_exhausted())
            }
        };
        let code = rejection.code();
        let reason = messages::shorten(rejection.to_string(), messages::MAX_TEXT);
        self.outputs.push_back(Output::Rejected(who, rejection));
        self.outputs.push_back(Output::Send(
            id,
            ToAgent::Rejected(Rejected {
                code,
                reason: reason.clone(),
            }),
        ));
        match session {
            Some(index) if over => {
                let reason = format!("too many of its messages were rejected, last: {reason}");
                self.mark_lost(now, index, Loss::new(LossCause::MessagesRejected, reason));
            }
            None if over => self.drop_connection(id),
            _ => {}
        }
    }

    /// Closes a connection.
    pub(super) fn drop_connection(&mut self, id: ConnectionId) {
        match self.connections.remove(&id) {
            None => return,
            Some(Connection::Unauthenticated(_, until)) => {
                self.pending.remove(&(until, id));
            }
            Some(Connection::Session(_)) => {}
        }
        self.outputs.push_back(Output::Close(id));
    }

    /// Closes an unauthenticated connection, with a reason.
    pub(super) fn disconnect(&mut self, id: ConnectionId, reason: &str) {
        let bye = Bye {
            code: None,
            reason: Some(reason.to_owned()),
        };
        self.outputs.push_back(Output::Send(id, ToAgent::Bye(bye)));
        self.drop_connection(id);
    }

    /// Marks an agent as left after its part.
    pub(super) fn leave(&mut self, index: usize) {
        self.moved = true;
        self.cancel_clock_sync(index);
        self.roster.sessions[index].state = State::Left;
    }

    /// Marks an agent as lost. The results of its stations end here.
    pub(super) fn mark_lost(&mut self, now: Stamp, index: usize, loss: Loss) {
        self.moved = true;
        self.cancel_clock_sync(index);
        let session = &mut self.roster.sessions[index];
        let connection = session.connection();
        let (since, mut loss) = match &session.state {
            State::Disconnected(since, why) => {
                let detail = format!("{why}, and it did not reconnect");
                (*since, Loss::new(why.cause, detail))
            }
            _ => (now, loss),
        };
        // Results that arrive later do not complete a run that needs all agents.
        if self.setup.timeouts.max_absence.is_none() && session.delivers_later(loss.cause) {
            loss.detail += LATER;
        }
        loss.detail = messages::shorten(loss.detail, messages::MAX_TEXT);
        session.state = State::Lost(loss.clone());
        if let Some(id) = connection {
            self.drop_connection(id);
        }
        // Before the start there is no run time. Lost agents are recorded at the start.
        if self.start.is_some() {
            self.report_lost(since, index, loss);
        }
    }

    pub(super) fn report_lost(&mut self, now: Stamp, index: usize, loss: Loss) {
        let session = &self.roster.sessions[index];
        let all_of = |stations: &[u16]| stations.iter().copied().map(Some).collect();
        let (kind, stations, issue): (_, Vec<Option<u16>>, _) = match session.expected.role {
            Role::Agent => (
                EventKind::Lost,
                all_of(&session.expected.stations),
                QualityIssue::AgentLost {
                    name: session.label(),
                    loss,
                },
            ),
            Role::Server => {
                let (kind, stations) = match self.served() {
                    None => (EventKind::ServerLost, vec![None]),
                    Some(stations) if stations.is_empty() => (EventKind::UnusedServerLost, vec![None]),
                    Some(stations) => (EventKind::ServerLost, all_of(&stations)),
                };
                let issue = QualityIssue::ServerLost {
                    member: session.member().map(str::to_owned),
                    loss,
                };
                (kind, stations, issue)
            }
        };
        self.outputs.push_back(Output::Warn(issue.to_string()));
        for station in stations {
            self.event(now, station, kind, issue.clone());
        }
    }

    /// Content that the run's server counted for the stations that measure against it.
    fn served_by_run(&self, mut counted: BTreeMap<String, Moved>) -> BTreeMap<String, Moved> {
        let agents = self.roster.sessions.iter().filter(|p| p.is_agent() && !p.own_server);
        let stations = agents.flat_map(|p| names(&self.setup, &p.expected.stations));
        stations.filter_map(|name| counted.remove_entry(&name)).collect()
    }

    /// Stations that measure against the run's server; `None` if all do.
    fn served(&self) -> Option<Vec<u16>> {
        let agents = || self.roster.sessions.iter().filter(|p| p.is_agent());
        let served = agents().filter(|p| !p.own_server);
        agents()
            .any(|p| p.own_server)
            .then(|| served.flat_map(|p| p.expected.stations.iter().copied()).collect())
    }
}

/// Reason why an agent can't take part with this reachability; `None` if it can.
fn unreached(reach: &Reach, datagrams: bool) -> Option<String> {
    let Reach { tcp, datagrams: lost } = reach;
    match (tcp, lost.as_ref().filter(|_| datagrams)) {
        (None, None) => None,
        (Some(tcp), Some(lost)) => Some(format!(
            "it reaches the server neither over TCP ({tcp}) nor over UDP ({lost})"
        )),
        (Some(tcp), None) if datagrams => Some(format!(
            "it reaches the server over UDP but not over TCP ({tcp}): a firewall between them, or on the server's \
             machine, blocks one of the two"
        )),
        (Some(tcp), None) => Some(format!("it does not reach the server over TCP ({tcp})")),
        (None, Some(lost)) => Some(format!(
            "it reaches the server over TCP but not over UDP ({lost}), which its part needs: a firewall between \
             them, or on the server's machine, blocks one of the two"
        )),
    }
}

/// Names of stations.
pub(super) fn names(setup: &Setup, stations: &[u16]) -> Vec<String> {
    let name = |station: &u16| Some(setup.plan.stations.get(usize::from(*station))?.name.clone());
    stations.iter().filter_map(name).collect()
}
