//! This station's session of one run: the protocol over `/run/RUN`, from `hello` to `bye`. Joins, takes the assignment and the
//! start, and ends. The measurement and its rows have modules of their own.

use crate::assignment::AssignmentError;
use crate::channel::ChannelEvent;
use crate::delivery::{MAX_PENDING, MAX_SEQUENCE};
use crate::event::{Assigned, Event};
use crate::fleet::PROGRAM;
use crate::flush::Flusher;
use crate::host::{Host, Response};
use crate::invitation::Invitation;
use crate::measurement::{Measurement, RunClock};
use crate::saved_session::{SavedSession, Stage};
use crate::server::{Preparation, Prepared};
use crate::socket::Socket;
use crate::stored;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{
    Assign, Bye, Done, Hello, MAX_TEXT, Malformed, Message, Pong, Progress, Reach, Ready, Start, ToAgent, ToController,
    VERSION, check_lead, shorten,
};
use netburn_record::Role;
use netburn_units::{Duration, Instant};
use serde::Deserialize;

/// Interval at which progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// Time for which the run's controller may be disconnected before the start, or after the measurement.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The baseline ends this long before the load begins. For a short baseline, it is a quarter of its length.
const BASELINE_GAP: Duration = Duration::from_millis(200);
/// Time for which a run may be unknown to a reachable fleet controller. After a restart of that controller, the process of
/// the run registers there within a second.
const RUN_UNKNOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of assignments. Another one follows a reconnect before the start, and each of them causes requests to its
/// server.
const MAX_ASSIGNMENTS: usize = 64;

/// Reason why a session fails because of its controller.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("invalid assignment: {0}")]
    Message(#[from] Malformed),
    #[error("invalid assignment: {0}")]
    Assignment(#[from] AssignmentError),
    #[error("more than {MAX_ASSIGNMENTS} assignments in one run")]
    ManyAssignments,
    #[error("more than {} MiB of results wait for the controller", MAX_PENDING >> 20)]
    ManyRows,
}

/// End of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The controller does not accept this station.
    Rejected,
    Lost,
    /// The results stay on this device until the controller requests them.
    Late,
}

/// The connection to the run's controller.
struct Link {
    socket: Socket,
    is_welcomed: bool,
    /// True if the controller knows this session, so that `hello` asks for a reconnect.
    is_known: bool,
    /// True if this connection was open.
    was_open: bool,
    disconnected_since: Option<Stamp>,
    /// Start of the time in which the fleet's controller did not know the run.
    unknown_since: Option<Stamp>,
}

/// One session.
pub(crate) struct Session {
    pub(crate) invitation: Invitation,
    fleet_token: String,
    link: Link,
    stage: Stage,
    assign: Option<Assign>,
    /// Number of assignments so far.
    assignments: usize,
    preparation: Option<Preparation>,
    pub(crate) measurement: Measurement,
    pub(crate) flusher: Flusher,
    next_progress: Stamp,
    hidden_since: Option<Stamp>,
    delivering_since: Option<Stamp>,
    /// Time of the controller's `stop`, in ns of the run's time.
    stop_requested_at: Option<i64>,
    /// The self-report ([`netburn_record::Health`]) in JSON.
    report: Option<serde_json::Value>,
    /// End of the session, and its reason.
    end: (Option<Outcome>, Option<String>),
}

impl Session {
    /// Joins a run.
    pub(crate) fn join(host: &mut Host, invitation: Invitation, fleet_token: &str) -> Session {
        let path = format!("/run/{}", encoded(&invitation.run));
        Session {
            flusher: Flusher::new(host, &invitation.run),
            invitation,
            fleet_token: fleet_token.to_owned(),
            link: Link {
                socket: Socket::open(host, path),
                is_welcomed: false,
                is_known: false,
                was_open: false,
                disconnected_since: None,
                unknown_since: None,
            },
            stage: Stage::Joining,
            assign: None,
            assignments: 0,
            preparation: None,
            measurement: Measurement::default(),
            next_progress: host.now.after(PROGRESS_INTERVAL),
            hidden_since: None,
            delivering_since: None,
            stop_requested_at: None,
            report: None,
            end: (None, None),
        }
    }

    /// Continues a session that a reload of the page interrupted. Returns `None` if its state makes no sense.
    pub(crate) fn restore(host: &mut Host, saved: SavedSession, fleet_token: &str) -> Option<Session> {
        let (assign, run_clock) = (saved.assign?, saved.run_clock?);
        let mut session = Session::join(host, saved.invitation, fleet_token);
        if session.measurement.assign(assign.clone()).is_err() {
            session.abandon(host);
            return None;
        }
        let run = &session.invitation.run;
        session.flusher = Flusher::restore(host, run, saved.sequence);
        let results = host.entry(&format!("results.{run}"));
        let results = results.and_then(|text| serde_json::from_str(text).ok());
        session.assign = Some(assign);
        session.link.is_known = true;
        session.measurement.clock = Some(run_clock);
        session.stage = saved.stage;
        session.stop_requested_at = saved.stop_requested_at;
        session.report = saved.report;
        session.end.1 = saved.reason;
        let server = Prepared {
            origins: Ok(saved.origins),
            // The data channel ended with the page.
            channel: saved.channel_error.map(Err),
        };
        session.measurement.prepare(host, server);
        match session.stage {
            Stage::Running => {
                let at = Stamp(saved.at);
                let text = "the page was reloaded: operations that were due meanwhile were not started";
                session.measurement.warn(host, at, text);
                session.measurement.begin(host, saved.measured, results, false);
            }
            Stage::Delivering => {
                session.delivering_since = Some(host.now);
                session.measurement.begin(host, None, results, true);
            }
            Stage::Joining | Stage::Ready | Stage::Done | Stage::Closing => {}
        }
        Some(session)
    }

    /// Returns whether events of this socket are the session's.
    pub(crate) fn is(&self, socket: u64) -> bool {
        self.link.socket.is(socket)
    }

    /// End of the session, and its reason.
    pub(crate) fn outcome(&self) -> Option<(Outcome, Option<&str>)> {
        self.end.0.map(|outcome| (outcome, self.end.1.as_deref()))
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        self.link.disconnected_since.is_some()
    }

    pub(crate) fn handle_opened(&mut self, host: &mut Host) {
        self.link.is_welcomed = false;
        self.link.was_open = true;
        self.link.socket.handle_opened();
        let hello = Hello {
            protocol: VERSION,
            role: Role::Agent,
            name: self.invitation.name.clone(),
            token: self.invitation.token.clone(),
            version: PROGRAM.to_owned(),
            reconnect: self.link.is_known,
        };
        self.send(host, &ToController::Hello(hello));
    }

    /// Handles a message. Those that are no message of the protocol have no effect, except an assignment, which fails.
    pub(crate) fn handle_text(&mut self, host: &mut Host, text: &str) {
        match ToAgent::from_text(text) {
            Ok(message) => self.handle_message(host, message),
            Err(error) if is_assignment(text) && self.is_waiting() => {
                self.fail(host, &SessionError::from(error).to_string());
            }
            Err(_) => {}
        }
        self.finish(host);
    }

    fn handle_message(&mut self, host: &mut Host, message: ToAgent) {
        match message {
            ToAgent::Ping(ping) => {
                let now = host.now.0;
                let pong = Pong {
                    id: ping.id,
                    received: now,
                    sent: now,
                };
                self.send(host, &ToController::Pong(pong));
            }
            ToAgent::Welcome(welcome) => self.handle_welcome(host, welcome.last_sequence),
            ToAgent::Rejected(rejected) => self.handle_rejected(host, &short(&rejected.reason)),
            ToAgent::Assign(assign) => self.handle_assignment(host, assign),
            ToAgent::Start(start) => self.handle_start(host, start),
            ToAgent::Ack(ack) => {
                if self.flusher.delivery.handle_acknowledged(host, ack.sequence) {
                    self.deliver(host);
                }
            }
            ToAgent::Stop(stop) => self.handle_stop(host, short(&stop.reason)),
            ToAgent::Bye(bye) => self.handle_bye(host, bye.reason.as_deref().map(short)),
            // For the server of a run.
            ToAgent::Serve(_) => {}
        }
    }

    fn handle_welcome(&mut self, host: &mut Host, last: u64) {
        let last = if last <= MAX_SEQUENCE { last } else { 0 };
        self.link.is_known = true;
        self.link.is_welcomed = true;
        self.link.disconnected_since = None;
        self.link.unknown_since = None;
        self.link.socket.handle_accepted();
        self.flusher.delivery.handle_acknowledged(host, last);
        if !self.flusher.delivery.handle_connected(host, last) && self.measurement.clock.is_some() {
            let text = "a reload lost some results: the browser's store was full";
            self.measurement.warn(host, host.now, text);
        }
        self.deliver(host);
    }

    /// After `welcome`, only one message was rejected, and the session continues. The controller rejects a reconnect until it
    /// has detected the loss of the previous connection.
    fn handle_rejected(&mut self, host: &mut Host, reason: &str) {
        let since = self.link.disconnected_since.unwrap_or(host.now);
        if self.link.is_welcomed {
            return;
        }
        if !self.link.is_known {
            self.give_up(host, Outcome::Rejected, reason);
        } else if is_longer(host.now, since, DISCONNECT_TIMEOUT) {
            self.give_up(host, Outcome::Lost, reason);
        }
    }

    /// Returns whether the session accepts an assignment.
    fn is_waiting(&self) -> bool {
        self.end.0.is_none() && matches!(self.stage, Stage::Joining | Stage::Ready)
    }

    fn handle_assignment(&mut self, host: &mut Host, assign: Assign) {
        if !self.is_waiting() {
            return;
        }
        self.close_server(host);
        let assigned = match self.take_assignment(&assign) {
            Ok(assigned) => assigned,
            Err(error) => return self.fail(host, &error.to_string()),
        };
        let error = if assigned.tls {
            Some("the server uses TLS with a self-signed certificate, which browsers reject")
        } else if host.secure {
            Some("this page was loaded over HTTPS and cannot use plain HTTP; open it at its http:// address")
        } else {
            None
        };
        let needs_channel = assigned.needs_channel;
        self.stage = Stage::Joining;
        match error {
            Some(error) => {
                self.assign = Some(assign);
                let origins = Err(error.to_owned());
                self.handle_prepared(host, Prepared { origins, channel: None });
            }
            None => {
                let tokens = [self.invitation.token.as_str(), &self.fleet_token];
                self.preparation = Some(Preparation::begin(host, tokens, &assign.target, needs_channel));
                self.assign = Some(assign);
                self.check_prepared(host);
            }
        }
    }

    fn take_assignment(&mut self, assign: &Assign) -> Result<&Assigned, SessionError> {
        self.assignments += 1;
        if self.assignments > MAX_ASSIGNMENTS {
            return Err(SessionError::ManyAssignments);
        }
        Ok(self.measurement.assign(assign.clone())?)
    }

    pub(crate) fn handle_response(&mut self, host: &mut Host, get: u64, response: Response<'_>) {
        if let Some(preparation) = &mut self.preparation {
            preparation.handle_response(host, get, response);
            self.check_prepared(host);
        }
    }

    pub(crate) fn handle_channel(&mut self, host: &mut Host, connection: u64, event: ChannelEvent) {
        if let Some(preparation) = &mut self.preparation {
            preparation.handle_channel(host, connection, event);
            self.check_prepared(host);
        }
    }

    fn check_prepared(&mut self, host: &mut Host) {
        if let Some(preparation) = self.preparation.take_if(|preparation| preparation.result().is_some())
            && let Some(prepared) = preparation.result()
        {
            self.handle_prepared(host, prepared.clone());
        }
    }

    fn handle_prepared(&mut self, host: &mut Host, prepared: Prepared) {
        let notes = self.measurement.prepare(host, prepared);
        self.stage = Stage::Ready;
        let unreachable = self.measurement.server.origins.as_ref().err();
        let ready = Ready {
            reach: Some(Reach {
                tcp: unreachable.map(|reason| short(reason)),
                datagrams: None,
            }),
            notes: notes.iter().map(|note| short(note)).collect(),
            ..Ready::default()
        };
        self.send(host, &ToController::Ready(ready));
    }

    fn handle_start(&mut self, host: &mut Host, start: Start) {
        let assigned = self.measurement.assigned.as_ref();
        let Some(assigned) = assigned.filter(|_| self.stage == Stage::Ready && self.end.0.is_none()) else {
            return;
        };
        let baseline = Duration::from_nanos(assigned.baseline);
        let (zero, duration) = (Stamp(start.at), Duration::from_nanos(assigned.duration));
        let error = match zero.checked_since(host.now) {
            Some(ahead) => check_lead(ahead, baseline).err(),
            // A page that starts late measures the rest of the load.
            None if is_longer(host.now, zero, duration) => Some("it reconnected after the start".to_owned()),
            None => None,
        };
        if let Some(error) = error.or_else(|| self.measurement.server.origins.clone().err()) {
            return self.fail(host, &error);
        }
        self.measurement.clock = Some(RunClock {
            zero: start.at,
            began: host.now.0,
        });
        self.stage = Stage::Running;
        self.measurement.begin(host, None, None, false);
        let until = Instant::ZERO - BASELINE_GAP.min(baseline / 4);
        if !baseline.is_zero() && self.measurement.run_time(host.now).is_some_and(|now| now < until) {
            let until = until.as_nanos();
            self.measurement.input(host, Event::Idle { until });
        }
    }

    /// Passes what happens in the browser to the measurement, and detects its end.
    pub(crate) fn measure(&mut self, host: &mut Host, input: impl FnOnce(&mut Measurement, &mut Host)) {
        input(&mut self.measurement, host);
        self.finish(host);
    }

    /// Ends the measurement once no operation is in progress any more.
    fn finish(&mut self, host: &mut Host) {
        if !self.measurement.is_settled || self.stage != Stage::Running || self.end.0.is_some() {
            return;
        }
        let was_hidden = self.hidden_since.is_some();
        self.handle_hidden(host, false);
        self.hidden_since = was_hidden.then_some(host.now);
        let name = self.invitation.name.clone();
        let health = self.measurement.input(host, Event::Health { name }).health;
        self.report = health.and_then(|health| serde_json::to_value(health).ok());
        self.stage = Stage::Delivering;
        self.delivering_since = Some(host.now);
        self.flush(host);
    }

    /// The tab was hidden or shown.
    pub(crate) fn handle_hidden(&mut self, host: &mut Host, hidden: bool) {
        if hidden {
            self.hidden_since.get_or_insert(host.now);
        } else if let Some(since) = self.hidden_since.take()
            && let (Stage::Running, Some(clock)) = (self.stage, self.measurement.clock)
        {
            let from = since.max(Stamp(clock.began));
            let text = "the page was in the background: its results in this period may be late";
            self.measurement.warn(host, from, text);
            // A reload may follow.
            self.flush(host);
        }
    }

    fn handle_stop(&mut self, host: &mut Host, reason: String) {
        match self.stage {
            Stage::Running => {
                self.end.1 = Some(reason);
                let now = self.measurement.run_time(host.now).map(Instant::as_nanos);
                self.stop_requested_at = self.stop_requested_at.or(now);
                self.measurement.input(host, Event::Stop);
            }
            Stage::Joining | Stage::Ready => {
                self.send(host, &ToController::Done(Done::default()));
                self.stage = Stage::Closing;
                self.close_server(host);
            }
            Stage::Delivering | Stage::Done | Stage::Closing => {}
        }
    }

    fn handle_bye(&mut self, host: &mut Host, reason: Option<String>) {
        match self.stage {
            Stage::Done => self.end(host, Outcome::Done, None),
            Stage::Closing => self.end(host, Outcome::Lost, reason.as_deref()),
            _ => self.give_up(host, Outcome::Lost, reason.as_deref().unwrap_or("the run is over")),
        }
    }

    /// Reports that this station cannot execute its assignment.
    fn fail(&mut self, host: &mut Host, reason: &str) {
        self.stage = Stage::Closing;
        let error = Some(short(reason));
        self.end.1 = error.clone();
        self.send(host, &ToController::Done(Done { error }));
        self.close_server(host);
    }

    /// The connection was lost. `is_member`: the fleet's controller can be reached.
    pub(crate) fn handle_lost(&mut self, host: &mut Host, is_member: bool) {
        let now = host.now;
        self.link.is_welcomed = false;
        let since = *self.link.disconnected_since.get_or_insert(now);
        match self.stage {
            Stage::Done => return self.end(host, Outcome::Done, None),
            Stage::Closing => return self.end(host, Outcome::Lost, None),
            Stage::Joining | Stage::Ready | Stage::Running | Stage::Delivering => {}
        }
        let is_unknown = is_member && !self.link.was_open;
        self.link.unknown_since = is_unknown.then(|| self.link.unknown_since.unwrap_or(now));
        self.link.was_open = false;
        let unknown_since = self.link.unknown_since.unwrap_or(now);
        let since = self.delivering_since.map_or(since, |delivering| delivering.max(since));
        let is_running = self.stage == Stage::Running;
        if is_running && is_longer(now, unknown_since, RUN_UNKNOWN_TIMEOUT) {
            self.give_up(host, Outcome::Lost, "the process of this run has ended");
        } else if !is_running && is_longer(now, since, DISCONNECT_TIMEOUT) {
            self.give_up(host, Outcome::Lost, "the process of this run does not answer");
        }
        self.link.socket.handle_lost(host);
    }

    /// The user of this device leaves the run.
    pub(crate) fn leave(&mut self, host: &mut Host) {
        let bye = Bye {
            code: None,
            reason: Some("its user ended it".to_owned()),
        };
        self.send(host, &ToController::Bye(bye));
        self.end.1 = None;
        self.end(host, Outcome::Lost, Some("you ended it"));
    }

    /// Ends the session without a receiver for its results. They stay on this device until the controller requests them.
    fn give_up(&mut self, host: &mut Host, outcome: Outcome, reason: &str) {
        self.end.1 = None;
        if self.stage == Stage::Running {
            self.measurement.input(host, Event::Stop);
        }
        // Rows of the end may still wait for the confirmation of an earlier write.
        if self.measurement.clock.is_some() {
            self.flusher.write_rest(host, &mut self.measurement);
        }
        let delivery = &self.flusher.delivery;
        let has_rows = delivery.sequence > 0 || delivery.pending() > 0;
        let outcome = if has_rows { Outcome::Late } else { outcome };
        self.end(host, outcome, Some(reason));
    }

    /// Ends the session. A reason that is known already precedes `reason`.
    fn end(&mut self, host: &mut Host, outcome: Outcome, reason: Option<&str>) {
        if self.end.0.is_some() {
            return;
        }
        self.end.0 = Some(outcome);
        if self.end.1.is_none() {
            self.end.1 = reason.map(str::to_owned);
        }
        if self.stage == Stage::Running {
            self.report = None;
        }
        self.abandon(host);
        if outcome == Outcome::Late {
            let state = self.save(host, None);
            host.put(vec![state.entry()]);
        } else {
            host.delete(&self.invitation.run);
        }
    }

    /// Ends the session without a message. Its stored rows stay.
    pub(crate) fn abandon(&mut self, host: &mut Host) {
        self.measurement.input(host, Event::Abandon);
        self.close_server(host);
        self.link.socket.close(host);
    }

    /// Aborts the preparation, and closes the data channel.
    fn close_server(&mut self, host: &mut Host) {
        if let Some(mut preparation) = self.preparation.take() {
            preparation.abort(host);
        }
        self.measurement.close_channel(host);
    }

    /// Returns the state, with that of the measurement.
    pub(crate) fn save(&self, host: &Host, measured: Option<serde_json::Value>) -> SavedSession {
        SavedSession {
            invitation: self.invitation.clone(),
            stage: self.stage,
            is_late: self.end.0 == Some(Outcome::Late),
            assign: self.assign.clone(),
            origins: self.measurement.server.origins.clone().unwrap_or_default(),
            channel_error: self.measurement.channel_error(),
            run_clock: self.measurement.clock,
            stop_requested_at: self.stop_requested_at,
            at: host.now.0,
            sequence: self.flusher.delivery.sequence,
            report: self.report.clone(),
            reason: self.end.1.clone(),
            measured,
        }
    }

    /// Stores new rows and then sends them.
    fn flush(&mut self, host: &mut Host) {
        if self.measurement.clock.is_none() || self.end.0.is_some() || !self.flusher.begin() {
            return;
        }
        match self.flusher.take(host, &mut self.measurement, self.stage) {
            Some(mut taken) => {
                let state = self.save(host, taken.measured.take());
                self.flusher.write(host, taken, state);
            }
            None => self.end_flush(host),
        }
    }

    fn end_flush(&mut self, host: &mut Host) {
        self.flusher.end();
        self.deliver(host);
        if self.flusher.take_again() {
            self.flush(host);
        }
    }

    /// Write `number` of the store is complete.
    pub(crate) fn handle_stored(&mut self, host: &mut Host, number: u64) {
        if self.flusher.delivery.handle_stored(number) {
            self.end_flush(host);
        }
        self.finish(host);
    }

    /// Sends the stored batches that were not sent on this connection. After the last acknowledgement, reports the end.
    fn deliver(&mut self, host: &mut Host) {
        if !self.link.is_welcomed || self.end.0.is_some() {
            return;
        }
        while let Some((sequence, batch)) = self.flusher.delivery.poll_send() {
            self.link.socket.send_text(host, stored::rows(sequence, batch));
        }
        let has_all = self.flusher.is_idle() && self.flusher.delivery.messages.is_empty();
        if self.stage == Stage::Delivering && has_all {
            self.stage = Stage::Done;
            if let Some(report) = &self.report {
                self.link.socket.send_text(host, stored::health(report));
            }
            self.send(host, &ToController::Done(Done::default()));
        }
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        let now = host.now;
        self.link.socket.handle_timeout(host);
        if let Some(preparation) = &mut self.preparation {
            preparation.handle_timeout(host);
            self.check_prepared(host);
        }
        self.measure(host, Measurement::handle_timeout);
        if self.flusher.delivery.handle_timeout(now) {
            self.end_flush(host);
        }
        if self.flusher.handle_timeout(now) {
            self.flush(host);
        }
        if self.stage == Stage::Running && self.flusher.delivery.is_full() {
            self.give_up(host, Outcome::Late, &SessionError::ManyRows.to_string());
        }
        if self.next_progress <= now {
            self.next_progress = now.after(PROGRESS_INTERVAL);
            self.report_progress(host);
        }
        self.finish(host);
    }

    fn report_progress(&self, host: &mut Host) {
        if let (true, Stage::Running | Stage::Delivering, Some(at)) =
            (self.link.is_welcomed, self.stage, self.measurement.run_time(host.now))
        {
            let progress = Progress {
                at: at.as_nanos(),
                pending: self.flusher.delivery.pending(),
            };
            self.send(host, &ToController::Progress(progress));
        }
    }

    pub(crate) fn poll_timeout(&self) -> Stamp {
        let preparation = self.preparation.as_ref().and_then(Preparation::poll_timeout);
        let others = [
            self.link.socket.poll_timeout(),
            preparation,
            self.measurement.poll_timeout(),
        ];
        let intervals = self.flusher.poll_timeout().min(self.next_progress);
        others.into_iter().flatten().fold(intervals, Stamp::min)
    }

    fn send(&self, host: &mut Host, message: &ToController) {
        self.link.socket.send(host, message);
    }
}

fn short(text: &str) -> String {
    shorten(text.to_owned(), MAX_TEXT)
}

fn is_longer(now: Stamp, since: Stamp, limit: Duration) -> bool {
    now.checked_since(since).is_some_and(|time| time > limit)
}

/// Returns whether a text that is no message has the type of an assignment.
fn is_assignment(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        r#type: String,
    }
    serde_json::from_str(text).is_ok_and(|head: Head| head.r#type == "assign")
}

/// Encodes a name as a segment of a path (RFC 3986 §3.3).
fn encoded(name: &str) -> String {
    let encode = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::{Effect, Loaded};
    use crate::event::CountedBatch;
    use netburn_protocol::messages::{Batch, MAX_TO_AGENT};
    use netburn_record::{IntervalRow, Row};

    const ASSIGN: &str = r#"{"type": "assign", "stations": [0], "target": {"address": "192.0.2.1:4480", "datagram_port": 4480},
        "plan": {"name": "x", "seed": 1, "server": {"tls": true}, "station": {"tv": {"workload": ["voip"]}}}}"#;

    fn joined() -> (Host, Session) {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let invitation = Invitation {
            run: "r 1".to_owned(),
            name: "tv".to_owned(),
            token: "secret".to_owned(),
        };
        let mut session = Session::join(&mut host, invitation, "fleet");
        session.handle_opened(&mut host);
        session.handle_text(&mut host, r#"{"type": "welcome", "protocol": 1, "version": ""}"#);
        (host, session)
    }

    #[test]
    fn the_address_has_the_name_of_the_run() {
        let (mut host, _) = joined();
        let effects = host.take_effects();
        assert!(matches!(&effects[0], Effect::Open { url, .. } if url.ends_with("/run/r%201")));
    }

    #[test]
    fn a_server_with_tls_is_not_reachable_and_the_start_then_fails() {
        let (mut host, mut session) = joined();
        session.handle_text(&mut host, ASSIGN);
        assert_eq!(session.stage(), Stage::Ready);
        session.handle_text(&mut host, r#"{"type": "start", "at": 0}"#);
        assert_eq!(session.stage(), Stage::Closing);
        session.handle_text(&mut host, r#"{"type": "bye"}"#);
        let reason = "the server uses TLS with a self-signed certificate, which browsers reject";
        assert_eq!(session.outcome(), Some((Outcome::Lost, Some(reason))));
    }

    #[test]
    fn a_message_that_is_too_long_is_an_invalid_assignment() {
        let (mut host, mut session) = joined();
        let long = ASSIGN.replace("\"x\"", &format!("\"{}\"", "x".repeat(MAX_TO_AGENT)));
        session.handle_text(&mut host, &long);
        session.handle_lost(&mut host, true);
        let (outcome, reason) = session.outcome().unwrap();
        assert_eq!(outcome, Outcome::Lost);
        assert!(
            reason.unwrap().starts_with("invalid assignment: message too long"),
            "{reason:?}"
        );
    }

    #[test]
    fn a_controller_that_acknowledges_no_rows_ends_the_run_and_its_rows_stay() {
        let (mut host, mut session) = joined();
        let mut batch = Batch::default();
        batch.push(&Row::Interval(IntervalRow::default()));
        session.flusher.delivery.add(vec![CountedBatch { rows: 1, batch }]);
        session.stage = Stage::Running;
        session.handle_timeout(&mut host);
        assert_eq!(session.outcome(), None);
        session.flusher.delivery.messages[0].batch = " ".repeat(MAX_PENDING);
        session.handle_timeout(&mut host);
        let reason = "more than 64 MiB of results wait for the controller";
        assert_eq!(session.outcome(), Some((Outcome::Late, Some(reason))));
    }
}
