//! This station's session of one run: the protocol over `/run/RUN`, from `hello` to `bye`.

use crate::browser::Effect;
use crate::channel::ChannelEvent;
use crate::delivery::{Delivery, MAX_SEQUENCE};
use crate::event::{Assigned, Card, Command, Event, Reply};
use crate::fleet::PROGRAM;
use crate::host::{Host, Response};
use crate::page::Page;
use crate::server::{Preparation, Prepared};
use crate::socket::Socket;
use crate::transfers::Transfers;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{
    Assign, Bye, Done, HealthMessage, Hello, MAX_TEXT, Message, Pong, Progress, Reach, Ready, Rows, Start, ToAgent,
    ToController, VERSION, check_lead, shorten,
};
use netburn_record::{Health, Role};
use netburn_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// Intervals at which rows are stored and sent, and progress is reported.
const FLUSH_INTERVAL: Duration = Duration::from_millis(200);
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// The results that only this page shows are stored once in this number of flushes.
const RESULTS_EVERY: u64 = 20;
/// Time for which the run's controller may be disconnected before the start, or after the measurement.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The baseline ends this long before the load begins. For a short baseline, it is a quarter of its length.
const BASELINE_GAP: Duration = Duration::from_millis(200);
/// Time for which a run may be unknown to a reachable fleet controller. After a restart of that controller, the process of
/// the run registers there within a second.
const RUN_UNKNOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// A run that this station was invited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invitation {
    pub(crate) run: String,
    /// Name of the station in the run.
    pub(crate) name: String,
    /// Token for the run.
    pub(crate) token: String,
}

/// Stage of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    Joining,
    /// Ready for the start.
    Ready,
    Running,
    /// Waits for the acknowledgement of all rows.
    Delivering,
    /// Has reported that its part is over.
    Done,
    /// Has reported that it cannot do its part.
    Closing,
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

/// State of a session, without the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub(crate) invitation: Invitation,
    stage: Stage,
    pub(crate) is_late: bool,
    assign: Option<Assign>,
    origins: Vec<String>,
    channel_error: Option<String>,
    run_clock: Option<RunClock>,
    pub(crate) stop_requested_at: Option<i64>,
    /// Time of the state on the page's clock.
    at: i64,
    pub(crate) sequence: u64,
    pub(crate) report: Option<Health>,
    pub(crate) reason: Option<String>,
    measured: Option<serde_json::Value>,
}

/// Start of a run on the page's clock, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct RunClock {
    zero: i64,
    /// Time at which the start was known.
    began: i64,
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
    pub(crate) assigned: Option<Assigned>,
    preparation: Option<Preparation>,
    server: Prepared,
    measurement: Measurement,
    run_clock: Option<RunClock>,
    pub(crate) delivery: Delivery,
    flushes: Flushes,
    next_progress: Stamp,
    hidden_since: Option<Stamp>,
    delivering_since: Option<Stamp>,
    /// Time of the controller's `stop`, in ns of the run's time.
    stop_requested_at: Option<i64>,
    report: Option<Health>,
    /// End of the session, and its reason.
    end: (Option<Outcome>, Option<String>),
}

/// The measurement of an assignment.
#[derive(Default)]
struct Measurement {
    page: Page,
    transfers: Transfers,
    /// Time of the next timeout.
    timeout: Option<Stamp>,
    /// True once all operations have ended.
    is_settled: bool,
}

/// The flushes of a session's rows.
struct Flushes {
    next: Stamp,
    count: u64,
    /// True if another flush follows the write that is in progress.
    again: bool,
}

impl Session {
    /// Joins a run.
    pub(crate) fn join(host: &mut Host, invitation: Invitation, fleet_token: &str) -> Session {
        let path = format!("/run/{}", encoded(&invitation.run));
        Session {
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
            assigned: None,
            preparation: None,
            server: Prepared {
                origins: Ok(Vec::new()),
                channel: None,
            },
            measurement: Measurement::default(),
            run_clock: None,
            delivery: Delivery::default(),
            flushes: Flushes {
                next: host.now.after(FLUSH_INTERVAL),
                count: 0,
                again: false,
            },
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
        let run = session.invitation.run.clone();
        let now = session.time_since(host.now, run_clock.zero);
        let reply = session
            .measurement
            .page
            .handle(now, Event::Assign(Box::new(assign.clone())));
        let Some(assignment) = reply.assignment else {
            session.abandon(host);
            return None;
        };
        session.assigned = Some(assignment);
        session.assign = Some(assign);
        session.link.is_known = true;
        session.delivery = Delivery::restore(host, &run, saved.sequence);
        session.flushes.count = 1;
        session.run_clock = Some(run_clock);
        session.stage = saved.stage;
        session.stop_requested_at = saved.stop_requested_at;
        session.report = saved.report;
        session.end.1 = saved.reason;
        session.server = Prepared {
            origins: Ok(saved.origins),
            // The data channel ended with the page.
            channel: saved.channel_error.map(Err),
        };
        session.prepare(host);
        let results = host.entry(&format!("results.{run}"));
        let results = results.and_then(|text| serde_json::from_str(text).ok());
        match session.stage {
            Stage::Running => {
                let at = Stamp(saved.at);
                let text = "the page was reloaded: operations that were due meanwhile were not started";
                session.warn(host, at, text);
                session.start_measurement(host, saved.measured, results);
            }
            Stage::Delivering => {
                session.delivering_since = Some(host.now);
                let start = Event::Start {
                    channel: false,
                    random: Vec::new(),
                    saved: None,
                    results,
                    over: true,
                };
                session.input(host, start);
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

    /// Returns the time of the run; `None` before the start is known.
    pub(crate) fn run_time(&self, now: Stamp) -> Option<Instant> {
        Some(self.time_since(now, self.run_clock?.zero))
    }

    fn time_since(&self, now: Stamp, zero: i64) -> Instant {
        Instant::from_nanos(now.0.saturating_sub(zero))
    }

    /// Returns the values of the workloads, during the run or at its end.
    pub(crate) fn cards(&mut self, host: &mut Host, live: bool) -> Vec<Card> {
        if self.run_clock.is_none() {
            return Vec::new();
        }
        self.input(host, Event::View { live }).cards
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
                self.fail(host, format!("invalid assignment: {error}"));
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
            ToAgent::Rejected(rejected) => self.handle_rejected(host, rejected.reason),
            ToAgent::Assign(assign) => self.handle_assignment(host, assign),
            ToAgent::Start(start) => self.handle_start(host, start),
            ToAgent::Ack(ack) => {
                if self
                    .delivery
                    .handle_acknowledged(host, &self.invitation.run, ack.sequence)
                {
                    self.deliver(host);
                }
            }
            ToAgent::Stop(stop) => self.handle_stop(host, stop.reason),
            ToAgent::Bye(bye) => self.handle_bye(host, bye.reason),
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
        self.delivery.handle_acknowledged(host, &self.invitation.run, last);
        if !self.delivery.handle_connected(host, &self.invitation.run, last) && self.run_clock.is_some() {
            let text = "a reload lost some results: the browser's store was full";
            self.warn(host, host.now, text);
        }
        self.deliver(host);
    }

    /// After `welcome`, only one message was rejected, and the session continues. The controller rejects a reconnect until it
    /// has detected the loss of the previous connection.
    fn handle_rejected(&mut self, host: &mut Host, reason: String) {
        let since = self.link.disconnected_since.unwrap_or(host.now);
        if self.link.is_welcomed {
            return;
        }
        if !self.link.is_known {
            self.give_up(host, Outcome::Rejected, &reason);
        } else if is_longer(host.now, since, DISCONNECT_TIMEOUT) {
            self.give_up(host, Outcome::Lost, &reason);
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
        let reply = self
            .measurement
            .page
            .handle(Instant::ZERO, Event::Assign(Box::new(assign.clone())));
        let Some(assigned) = reply.assignment else {
            return self.fail(host, reply.error.unwrap_or_default());
        };
        let error = if assigned.tls {
            Some("the server uses TLS with a self-signed certificate, which browsers reject")
        } else if host.secure {
            Some("this page was loaded over HTTPS and cannot use plain HTTP; open it at its http:// address")
        } else {
            None
        };
        let needs_channel = assigned.needs_channel;
        self.assigned = Some(assigned);
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
        self.server = prepared;
        let notes = self.prepare(host).notes;
        self.stage = Stage::Ready;
        let unreachable = self.server.origins.as_ref().err();
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

    fn prepare(&mut self, host: &Host) -> Reply {
        let event = Event::Ready {
            channel_error: self.channel_error(),
            ports: self.server.origins.as_ref().map_or(0, Vec::len),
            resolution: host.resolution,
        };
        self.measurement.page.handle(Instant::ZERO, event)
    }

    fn channel_error(&self) -> Option<String> {
        self.server.channel.as_ref()?.as_ref().err().cloned()
    }

    fn handle_start(&mut self, host: &mut Host, start: Start) {
        let Some(assigned) = self
            .assigned
            .as_ref()
            .filter(|_| self.stage == Stage::Ready && self.end.0.is_none())
        else {
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
        if let Some(error) = error.or_else(|| self.server.origins.clone().err()) {
            return self.fail(host, error);
        }
        self.run_clock = Some(RunClock {
            zero: start.at,
            began: host.now.0,
        });
        self.stage = Stage::Running;
        self.start_measurement(host, None, None);
        let until = Instant::ZERO - BASELINE_GAP.min(baseline / 4);
        if !baseline.is_zero() && self.run_time(host.now).is_some_and(|now| now < until) {
            let until = until.as_nanos();
            self.input(host, Event::Idle { until });
        }
    }

    /// Starts the measurement, or continues it after a reload from `saved`.
    fn start_measurement(
        &mut self,
        host: &mut Host,
        saved: Option<serde_json::Value>,
        results: Option<serde_json::Value>,
    ) {
        let numbers = 2 * self.assigned.as_ref().map_or(0, |assigned| assigned.workloads);
        let start = Event::Start {
            channel: matches!(self.server.channel, Some(Ok(_))),
            random: (0..numbers).map(|_| host.random.number()).collect(),
            saved,
            results,
            over: false,
        };
        self.input(host, start);
    }

    /// Passes an event to the measurement, and executes its commands.
    pub(crate) fn input(&mut self, host: &mut Host, event: Event) -> Reply {
        let now = self.run_time(host.now).unwrap_or(Instant::ZERO);
        let mut reply = self.measurement.page.handle(now, event);
        self.execute(host, &mut reply);
        reply
    }

    /// A datagram of the data channel arrived.
    pub(crate) fn handle_datagram(&mut self, host: &mut Host, bytes: &[u8]) {
        if let Some(now) = self.run_time(host.now) {
            let mut reply = self.measurement.page.handle_datagram(now, bytes);
            self.execute(host, &mut reply);
            self.finish(host);
        }
    }

    /// Returns the next datagram to send.
    pub(crate) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.measurement.page.poll_transmit()
    }

    /// Passes an event of a transfer or datagram to the measurement.
    pub(crate) fn handle_event(&mut self, host: &mut Host, event: Event) {
        self.input(host, event);
        self.finish(host);
    }

    /// A connection for a transfer was established at `at` on the page's clock.
    pub(crate) fn handle_connected(&mut self, host: &mut Host, request: u64, at: i64) {
        let zero = self.run_clock.map_or(0, |clock| clock.zero);
        let at = at.saturating_sub(zero);
        self.handle_event(host, Event::Connected { request, at });
    }

    pub(crate) fn handle_status(&mut self, host: &mut Host, request: u64, status: u16) {
        if let Some(event) = self.measurement.transfers.handle_status(request, status) {
            host.push(Effect::Cancel { request });
            self.handle_event(host, event);
        }
    }

    pub(crate) fn handle_bytes(&mut self, host: &mut Host, request: u64, bytes: u64) {
        if let Some(event) = self.measurement.transfers.handle_bytes(request, bytes) {
            self.handle_event(host, event);
        }
    }

    pub(crate) fn handle_finished(&mut self, host: &mut Host, request: u64) {
        for event in self.measurement.transfers.handle_finished(request) {
            self.handle_event(host, event);
        }
    }

    pub(crate) fn handle_failed(&mut self, host: &mut Host, request: u64) {
        if let Some(event) = self.measurement.transfers.handle_failed(request) {
            self.handle_event(host, event);
        }
    }

    fn execute(&mut self, host: &mut Host, reply: &mut Reply) {
        let origins = self.server.origins.as_deref().unwrap_or_default();
        for command in reply.commands.drain(..) {
            host.push(match command {
                Command::Begin {
                    request,
                    lane,
                    up,
                    path,
                    size,
                    priority,
                } => {
                    self.measurement.transfers.begin(request, up, size);
                    let url = format!("{}{path}", origins.get(lane).map_or("", String::as_str));
                    Effect::Begin {
                        request,
                        url,
                        up,
                        size,
                        priority,
                    }
                }
                Command::Cancel { request } => {
                    self.measurement.transfers.end(request);
                    Effect::Cancel { request }
                }
            });
        }
        let zero = self.run_clock.map_or(0, |clock| clock.zero);
        self.measurement.timeout = reply.timeout.map(|timeout| Stamp(timeout).offset(zero));
        self.measurement.is_settled = reply.settled;
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
        self.report = self.input(host, Event::Health { name }).health;
        self.stage = Stage::Delivering;
        self.delivering_since = Some(host.now);
        self.flush(host);
    }

    /// The tab was hidden or shown.
    pub(crate) fn handle_hidden(&mut self, host: &mut Host, hidden: bool) {
        if hidden {
            self.hidden_since.get_or_insert(host.now);
        } else if let Some(since) = self.hidden_since.take()
            && let (Stage::Running, Some(clock)) = (self.stage, self.run_clock)
        {
            let from = since.max(Stamp(clock.began));
            let text = "the page was in the background: its results in this period may be late";
            self.warn(host, from, text);
            // A reload may follow.
            self.flush(host);
        }
    }

    /// Adds a warning for all stations of this session, about the time since `from`.
    fn warn(&mut self, host: &mut Host, from: Stamp, text: &str) {
        let zero = self.run_clock.map_or(0, |clock| clock.zero);
        let warn = Event::Warn {
            from: from.0.saturating_sub(zero),
            length: host.now.checked_since(from).unwrap_or_default().as_nanos(),
            text: text.to_owned(),
        };
        self.input(host, warn);
    }

    fn handle_stop(&mut self, host: &mut Host, reason: String) {
        match self.stage {
            Stage::Running => {
                self.end.1 = Some(reason);
                let now = self.run_time(host.now).map(Instant::as_nanos);
                self.stop_requested_at = self.stop_requested_at.or(now);
                self.input(host, Event::Stop);
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
    fn fail(&mut self, host: &mut Host, reason: String) {
        self.stage = Stage::Closing;
        let error = Some(short(&reason));
        self.end.1 = Some(reason);
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
        let mut entries = Vec::new();
        if self.stage == Stage::Running {
            self.input(host, Event::Stop);
        }
        // Rows of the end may still wait for the confirmation of an earlier write.
        if self.run_clock.is_some() {
            let batches = self.input(host, Event::Flush).batches;
            entries = self.delivery.add(&self.invitation.run, batches);
        }
        let has_rows = self.delivery.sequence > 0 || self.delivery.pending() > 0;
        if !entries.is_empty() {
            host.put(entries);
        }
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
            host.put(vec![self.saved_entry(&state)]);
        } else {
            host.delete(&self.invitation.run);
        }
    }

    /// Ends the session without a message. Its stored rows stay.
    pub(crate) fn abandon(&mut self, host: &mut Host) {
        self.input(host, Event::Abandon);
        self.close_server(host);
        self.link.socket.close(host);
    }

    /// Aborts the preparation, and closes the data channel.
    fn close_server(&mut self, host: &mut Host) {
        if let Some(mut preparation) = self.preparation.take() {
            preparation.abort(host);
        }
        if let Some(Ok(connection)) = self.server.channel.take_if(|channel| channel.is_ok()) {
            host.push(Effect::Disconnect { connection });
        }
    }

    /// Returns the state, with that of the measurement.
    pub(crate) fn save(&self, host: &Host, measured: Option<serde_json::Value>) -> SavedSession {
        SavedSession {
            invitation: self.invitation.clone(),
            stage: self.stage,
            is_late: self.end.0 == Some(Outcome::Late),
            assign: self.assign.clone(),
            origins: self.server.origins.clone().unwrap_or_default(),
            channel_error: self.channel_error(),
            run_clock: self.run_clock,
            stop_requested_at: self.stop_requested_at,
            at: host.now.0,
            sequence: self.delivery.sequence,
            report: self.report.clone(),
            reason: self.end.1.clone(),
            measured,
        }
    }

    fn saved_entry(&self, state: &SavedSession) -> (String, Option<String>) {
        let text = serde_json::to_string(state).expect("a state has text keys and finite numbers");
        (format!("run.{}", self.invitation.run), Some(text))
    }

    /// Stores new rows and then sends them.
    fn flush(&mut self, host: &mut Host) {
        if self.run_clock.is_none() || self.end.0.is_some() {
            return;
        }
        if self.delivery.is_writing() {
            self.flushes.again = true;
            return;
        }
        // The saved state comes first, so that the batches have every row of it.
        let is_running = self.stage == Stage::Running;
        let measured = if is_running {
            self.input(host, Event::Save).saved
        } else {
            None
        };
        let batches = self.input(host, Event::Flush).batches;
        let is_delivering = self.stage == Stage::Delivering;
        if batches.is_empty() && self.flushes.count > 0 && !is_delivering {
            return self.end_flush(host);
        }
        let mut entries = self.delivery.add(&self.invitation.run, batches);
        let state = self.save(host, measured);
        entries.push(self.saved_entry(&state));
        if self.flushes.count.is_multiple_of(RESULTS_EVERY) || is_delivering {
            let results = self.input(host, Event::Results).saved;
            let key = format!("results.{}", self.invitation.run);
            entries.push((key, results.map(|results| results.to_string())));
        }
        self.delivery.write(host, entries);
    }

    fn end_flush(&mut self, host: &mut Host) {
        self.flushes.count += 1;
        self.delivery.handle_persisted();
        self.deliver(host);
        if std::mem::take(&mut self.flushes.again) {
            self.flush(host);
        }
    }

    /// Write `number` of the store is complete.
    pub(crate) fn handle_stored(&mut self, host: &mut Host, number: u64) {
        if self.delivery.handle_stored(number) {
            self.end_flush(host);
        }
        self.finish(host);
    }

    /// Sends the stored batches that were not sent on this connection. After the last acknowledgement, reports the end.
    fn deliver(&mut self, host: &mut Host) {
        if !self.link.is_welcomed || self.end.0.is_some() {
            return;
        }
        while let Some((sequence, batch)) = self.delivery.poll_send() {
            self.send(host, &ToController::Rows(Rows { sequence, batch }));
        }
        let has_all = !self.flushes.again && !self.delivery.is_writing();
        if self.stage == Stage::Delivering && has_all && self.delivery.messages.is_empty() {
            self.stage = Stage::Done;
            if let Some(health) = self.report.clone() {
                self.send(host, &ToController::Health(HealthMessage { health }));
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
        if self.measurement.timeout.is_some_and(|timeout| timeout <= now) {
            self.input(host, Event::Timeout);
            self.finish(host);
        }
        if self.delivery.handle_timeout(now) {
            self.end_flush(host);
        }
        if self.flushes.next <= now {
            self.flushes.next = now.after(FLUSH_INTERVAL);
            self.flush(host);
        }
        if self.next_progress <= now {
            self.next_progress = now.after(PROGRESS_INTERVAL);
            self.report_progress(host);
        }
        self.finish(host);
    }

    fn report_progress(&self, host: &mut Host) {
        if let (true, Stage::Running | Stage::Delivering, Some(at)) =
            (self.link.is_welcomed, self.stage, self.run_time(host.now))
        {
            let progress = Progress {
                at: at.as_nanos(),
                pending: self.delivery.pending(),
            };
            self.send(host, &ToController::Progress(progress));
        }
    }

    pub(crate) fn poll_timeout(&self) -> Stamp {
        let preparation = self.preparation.as_ref().and_then(Preparation::poll_timeout);
        let others = [
            self.link.socket.poll_timeout(),
            preparation,
            self.measurement.timeout,
            self.delivery.poll_timeout(),
        ];
        let intervals = self.flushes.next.min(self.next_progress);
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
