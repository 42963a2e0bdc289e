//! The agents' and the server's session with the controller, over one connection or, with reconnects, over
//! several.
//!
//! - [`dial`] – opening of connections. `connection`: one connection. `outbox`: rows until they are
//!   acknowledged. `spool_queue`: thread that stores them. `shutdown`: the owner's request to stop.

mod connection;
pub mod dial;
pub(crate) mod outbox;
mod reconnect;
mod sending;
mod shutdown;
mod spool_queue;
#[cfg(test)]
mod tests;

pub(crate) use dial::connect;
use sending::has_capacity;
pub(crate) use shutdown::LEFT_BY_OWNER;
pub use shutdown::ShutdownSignal;

use crate::error::{AgentError, ConnectionError};
use crate::join::Join;
use connection::{Connection, Incoming};
use dial::Dial;
use netburn_platform::clock::suspended;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{
    self, Done, HealthMessage, Pong, Progress, RejectReason, ToAgent, ToController, Welcome,
};
use netburn_protocol::own_clock::{OwnClock, to_std};
use netburn_record::{EventKind, EventRow, Row};
use netburn_traffic::clock::RunClock;
use netburn_units::Duration;
use outbox::Outbox;
use spool_queue::MAX_MEMORY_ROWS;
use std::pin::Pin;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep_until;

/// Interval of the heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of sending rows.
pub(crate) const SEND_INTERVAL: Duration = Duration::from_millis(100);
/// Interval of syncing the spool.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// Delay between attempts to reconnect: the first and the maximum.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(250);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(4);
/// Time limit for the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which a connection with the same name may still be open on the controller.
const NAME_TAKEN_RETRY: Duration = Duration::from_secs(5);
/// Time in which the controller may not know the run. The holder of the run registers it within a second
/// with a restarted controller.
const RUN_UNKNOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum silence of a controller that has rows to acknowledge. It acknowledges twice a second.
const ACK_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum silence after the end of the part. The results of other agents may take long.
const FINAL_ACK_TIMEOUT: Duration = Duration::from_secs(60);

/// Session with a controller. Answers pings and replaces lost connections; returns all other messages.
pub(crate) struct ControllerSession<D> {
    clock: OwnClock,
    join: Join,
    /// Time limit for reconnecting; `None`: no reconnect.
    reconnect_timeout: Option<Duration>,
    link: Link<D>,
    pub(crate) outbox: Outbox,
    /// Stations whose events this agent reports.
    stations: Vec<u16>,
    running: bool,
    /// Run time at which the controller sent `stop`.
    pub(crate) stop_requested_at: Option<netburn_units::Instant>,
    /// Total time that this machine had slept at the last check.
    slept: Duration,
    /// Time since which the controller does not know the run.
    run_unknown: Option<Instant>,
    flushed: Instant,
    progressed: Instant,
    synced: Instant,
}

/// The connection, or an attempt to reconnect.
enum Link<D> {
    Up(Box<Connection>, D),
    Down {
        since: Instant,
        attempt: Attempt<D>,
        delay: Duration,
        why: ConnectionError,
    },
    /// Transitional state, and the final state without reconnects.
    Gone,
}

/// Delay before the next attempt, and the attempt.
type Attempt<D> = Pin<Box<dyn Future<Output = (D, Result<(Connection, Welcome), ConnectionError>)> + Send>>;

/// Result of a start message.
pub(crate) enum StartTime {
    /// The run begins at this instant.
    At(Instant),
    /// The run does not begin: the controller stopped it, or, with a reason, the start is not possible.
    Rejected(Option<String>),
}

/// Result of waiting for the connection.
#[expect(
    clippy::large_enum_variant,
    reason = "one value exists at a time, until it is handled"
)]
pub(crate) enum News {
    /// A message was received.
    Message(ToAgent),
    /// The connection was replaced.
    Reconnected,
    /// A ping was answered, the connection was lost, or the thread of the spool replied.
    Nothing,
}

impl<D: Dial> ControllerSession<D> {
    /// Connects, sends `hello` and waits for `welcome`.
    pub(crate) async fn connect(
        mut dial: D,
        join: &Join,
        reconnect_timeout: Option<Duration>,
    ) -> Result<Self, AgentError> {
        let clock = OwnClock::new();
        let (begun, mut delay) = (Instant::now(), MIN_RETRY_DELAY);
        let connection = loop {
            match Connection::open(&mut dial, join, false, clock).await {
                Ok((connection, _)) => break connection,
                Err(error) if reconnect_timeout.is_none() => return Err(AgentError::Connect(error)),
                // After a restart of this process, the controller may not have noticed the end of the old
                // connection.
                Err(ConnectionError::Rejected(rejected))
                    if rejected.code == RejectReason::NameTaken && begun.elapsed() < to_std(NAME_TAKEN_RETRY) =>
                {
                    tokio::time::sleep(to_std(MIN_RETRY_DELAY)).await;
                }
                Err(error @ (ConnectionError::Rejected(_) | ConnectionError::UnknownRun)) => {
                    return Err(AgentError::Connect(error));
                }
                // The network of a device may fail for a short time.
                Err(_) if begun.elapsed() < to_std(CONNECT_TIMEOUT) => {
                    tokio::time::sleep(to_std(delay)).await;
                    delay = (delay * 2).min(MAX_RETRY_DELAY);
                }
                Err(error) => return Err(AgentError::Connect(error)),
            }
        };
        let outbox = match reconnect_timeout {
            None => Outbox::once(),
            Some(_) => Outbox::remembered(),
        };
        Ok(Self::with(
            clock,
            join,
            reconnect_timeout,
            Link::Up(Box::new(connection), dial),
            outbox,
        ))
    }

    /// Continues the session of an earlier process, with its spooled rows.
    pub(crate) fn resume(dial: D, join: &Join, reconnect_timeout: Duration, outbox: Outbox) -> Self {
        let clock = OwnClock::new();
        let mut this = Self::with(clock, join, Some(reconnect_timeout), Link::Gone, outbox);
        this.link = Link::Down {
            since: Instant::now(),
            attempt: this.reconnect(dial, Duration::ZERO),
            delay: MIN_RETRY_DELAY,
            why: ConnectionError::NotConnected,
        };
        this
    }

    fn with(clock: OwnClock, join: &Join, reconnect_timeout: Option<Duration>, link: Link<D>, outbox: Outbox) -> Self {
        ControllerSession {
            clock,
            join: join.clone(),
            reconnect_timeout,
            link,
            outbox,
            stations: Vec::new(),
            running: false,
            stop_requested_at: None,
            slept: suspended(),
            run_unknown: None,
            flushed: Instant::now(),
            progressed: Instant::now(),
            synced: Instant::now(),
        }
    }

    /// Sets the stations whose events this agent reports.
    pub(crate) fn set_stations(&mut self, stations: &[u16]) {
        stations.clone_into(&mut self.stations);
    }

    /// Converts the time of `start` to this process's clock.
    pub(crate) fn start_time(&self, start: messages::Start) -> StartTime {
        let outside = || StartTime::Rejected(Some("the start is outside the range of this clock".to_owned()));
        let at = self.clock.when(netburn_protocol::clock::Stamp(start.at));
        at.map_or_else(outside, StartTime::At)
    }

    /// Returns the next message other than a ping. After a reconnect the controller repeats the assignment.
    pub(crate) async fn recv(&mut self) -> Result<ToAgent, AgentError> {
        loop {
            self.check_connection(None)?;
            if let News::Message(message) = self.news().await? {
                return Ok(message);
            }
        }
    }

    /// Sends a message, if there is a connection.
    pub(crate) async fn send(&mut self, message: ToController) {
        if let Link::Up(connection, _) = &self.link {
            // A closed connection is noticed when receiving.
            let _ = connection.outgoing.send(message).await;
        }
    }

    /// Sends the rows of the run in batches, from the start message until their sender is dropped and all
    /// rows are acknowledged. Calls `stop` when the controller ends the run, possibly several times. Calls
    /// `check` with new rows; it may return a reason to stop.
    pub(crate) async fn run(
        &mut self,
        rows: &mut mpsc::UnboundedReceiver<Vec<Row>>,
        clock: RunClock,
        mut stop: impl FnMut(),
        mut check: impl FnMut(&[Row]) -> Option<String>,
        shutdown: &mut ShutdownSignal,
    ) -> Result<(), AgentError> {
        /// Event that the loop waited for. All are cancellation safe.
        enum Next {
            News(Result<News, AgentError>),
            Rows(Option<Vec<Row>>),
            Room,
            ShutdownSignal,
            Due,
        }
        let mut left = false;
        let mut over: Option<Instant> = None;
        self.running = true;
        // Earlier sleep is part of the clock synchronisation.
        self.slept = suspended();
        loop {
            if self.flushed.elapsed() >= to_std(SEND_INTERVAL) || over.is_some() {
                self.flushed = Instant::now();
                self.seal(clock);
            }
            self.sync();
            if self.progressed.elapsed() >= to_std(HEARTBEAT_INTERVAL) {
                self.progressed = Instant::now();
                let (at, pending) = (clock.now().as_nanos(), self.outbox.pending());
                self.try_send(ToController::Progress(Progress { at, pending }));
                self.report_sleep(clock, suspended());
            }
            self.send_rows()?;
            if over.is_some() && self.outbox.pending() == 0 {
                return Ok(());
            }
            self.check_connection(over)?;
            let due = (self.flushed + to_std(SEND_INTERVAL)).min(self.progressed + to_std(HEARTBEAT_INTERVAL));
            let room = match &self.link {
                Link::Up(connection, _) if self.outbox.has_next() => Some(connection.outgoing.clone()),
                _ => None,
            };
            let next = tokio::select! {
                biased;
                news = self.news() => Next::News(news),
                () = has_capacity(room) => Next::Room,
                () = shutdown.requested(), if !left => Next::ShutdownSignal,
                rows = rows.recv(), if over.is_none() => Next::Rows(rows),
                () = sleep_until(due.into()) => Next::Due,
            };
            match next {
                Next::News(news) => match news? {
                    News::Message(ToAgent::Ack(ack)) => self.outbox.acknowledged(ack.sequence),
                    News::Message(ToAgent::Stop(stop_message)) => {
                        tracing::info!(reason = stop_message.reason, "stopped");
                        self.stop_requested_at.get_or_insert(clock.now());
                        stop();
                    }
                    News::Message(ToAgent::Rejected(rejected)) => tracing::warn!(rejected.reason, "rejected"),
                    News::Message(ToAgent::Bye(bye)) => return Err(AgentError::RunEnded(bye)),
                    News::Message(_) | News::Reconnected | News::Nothing => {}
                },
                Next::Rows(Some(rows)) => {
                    for row in &rows {
                        if self.outbox.put(row) {
                            self.seal(clock);
                        }
                    }
                    if let Some(reason) = check(&rows) {
                        self.tell(clock, EventKind::Warning, &reason);
                        stop();
                    }
                }
                Next::Rows(None) => over = Some(Instant::now()),
                Next::ShutdownSignal => {
                    left = true;
                    self.tell(clock, EventKind::Warning, LEFT_BY_OWNER);
                    stop();
                }
                Next::Room | Next::Due => {}
            }
        }
    }

    /// Sends the self-report and `done`, and waits for `bye`. With reconnects, repeats them after a lost
    /// connection.
    pub(crate) async fn finish(mut self, end: LateResultsEnd) -> Result<(), AgentError> {
        let delivered = self.deliver(&end).await;
        if delivered.is_ok()
            && let Link::Up(connection, _) = std::mem::replace(&mut self.link, Link::Gone)
        {
            connection.close().await;
        }
        let (outbox, self_ran) = (self.outbox, self.running);
        if let Err(error) = delivered {
            outbox.close().await;
            return Err(error);
        }
        if outbox.pending() == 0 {
            outbox.discard().await;
        } else if outbox.is_kept() {
            outbox.close().await;
            return Err(AgentError::Undelivered);
        }
        match (end.error, self_ran) {
            (None, _) => Ok(()),
            (Some(error), true) => Err(AgentError::EndedEarly(error)),
            (Some(error), false) => Err(AgentError::Declined(error)),
        }
    }

    /// Sends the remaining rows and the end of the part, and waits for `bye`.
    async fn deliver(&mut self, end: &LateResultsEnd) -> Result<(), AgentError> {
        let over = Instant::now();
        let mut said = false;
        loop {
            self.check_connection(Some(over))?;
            self.send_rows()?;
            if !said && matches!(self.link, Link::Up(..)) && self.outbox.pending() == 0 {
                said = true;
                if let Some(health) = end.health.clone() {
                    self.send(ToController::Health(HealthMessage { health })).await;
                }
                let error = end.error.clone();
                self.send(ToController::Done(Done { error })).await;
            }
            let news = tokio::select! {
                news = self.news() => news,
                () = tokio::time::sleep(to_std(SEND_INTERVAL)) => Ok(News::Nothing),
            };
            match news {
                Ok(News::Message(ToAgent::Bye(_))) => return Ok(()),
                Ok(News::Message(ToAgent::Ack(ack))) => self.outbox.acknowledged(ack.sequence),
                Ok(News::Reconnected) => said = false,
                Ok(News::Message(_) | News::Nothing) => {}
                // All messages were sent, and there is only one connection.
                Err(AgentError::ControllerLost(_)) if self.reconnect_timeout.is_none() => return Ok(()),
                Err(AgentError::ControllerLost(ConnectionError::UnknownRun)) if self.outbox.pending() == 0 && said => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Stores the remaining rows, for later delivery.
    pub(crate) async fn store_remaining(&mut self, rows: &mut mpsc::UnboundedReceiver<Vec<Row>>) {
        loop {
            let received = tokio::select! {
                received = rows.recv() => received,
                () = self.outbox.handle_disk() => continue,
            };
            let Some(rows) = received else { break };
            for row in &rows {
                if self.outbox.put(row) {
                    self.outbox.seal();
                }
            }
        }
        self.outbox.seal();
    }

    /// Stores how the part ended. Returns when this is synced, so that it is on the disk before `done` is sent.
    pub(crate) async fn record_end(&mut self, end: &LateResultsEnd) {
        self.outbox.end(end).await;
    }

    /// Waits for the connection, for the attempt to reconnect, or for the thread of the spool. Cancellation safe.
    async fn news(&mut self) -> Result<News, AgentError> {
        match &mut self.link {
            Link::Up(connection, _) => {
                let next = tokio::select! {
                    next = connection.incoming.recv() => next,
                    () = self.outbox.handle_disk() => return Ok(News::Nothing),
                };
                connection.heard = Instant::now();
                self.handle(next)
            }
            Link::Down { attempt, .. } => {
                let (dial, found) = tokio::select! {
                    found = attempt => found,
                    () = self.outbox.handle_disk() => return Ok(News::Nothing),
                };
                self.found(dial, found)
            }
            Link::Gone => Err(AgentError::ControllerLost(ConnectionError::SessionEnded)),
        }
    }

    /// Answers a ping; returns any other message.
    fn handle(&mut self, next: Option<Incoming>) -> Result<News, AgentError> {
        match next {
            Some((received, Ok(ToAgent::Ping(ping)))) => {
                let pong = Pong {
                    id: ping.id,
                    received: received.0,
                    sent: self.clock.now().0,
                };
                self.try_send(ToController::Pong(pong));
                Ok(News::Nothing)
            }
            Some((_, Ok(message))) => Ok(News::Message(message)),
            Some((_, Err(error))) => self.handle_connection_lost(error),
            None => self.handle_connection_lost(ConnectionError::SessionEnded),
        }
    }
}
