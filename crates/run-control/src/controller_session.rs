//! The agents' and the server's session with the controller, over one connection or, with reconnects, over
//! several.
//!
//! - [`dial`] – opening of connections. `connection`: one connection. `outbox`: rows until they are
//!   acknowledged. `spool_queue`: thread that stores them. `start`: from the connection to the start.
//!   `shutdown`: the owner's request to stop.

mod connection;
pub mod dial;
pub(crate) mod outbox;
mod reconnect;
mod sending;
mod shutdown;
mod spool_queue;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use dial::connect;
use sending::has_capacity;
pub(crate) use shutdown::LEFT_BY_OWNER;
pub use shutdown::ShutdownSignal;
pub(crate) use start::{NotStarted, Prepare, Started};

use crate::error::{AgentError, ConnectionError};
use crate::join::Join;
use crate::timer::Timer;
use connection::{Connection, Incoming};
use dial::Dial;
use netburn_platform::clock::suspended;
use netburn_protocol::messages::standing::LateResultsEnd;
use netburn_protocol::messages::{Done, HealthMessage, Pong, Progress, RejectReason, ToAgent, ToController, Welcome};
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
    /// Sends rows.
    flush: Timer,
    heartbeat: Timer,
    /// Syncs the spool.
    sync: Timer,
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

/// Result of waiting for the connection.
#[expect(
    clippy::large_enum_variant,
    reason = "one value exists at a time, until it is handled"
)]
pub(crate) enum SessionEvent {
    /// A message was received.
    Message(ToAgent),
    /// The connection was replaced.
    Reconnected,
    /// A ping was answered, the connection was lost, or the thread of the spool replied.
    Nothing,
}

impl<D: Dial> ControllerSession<D> {
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
            flush: Timer::new(SEND_INTERVAL),
            heartbeat: Timer::new(HEARTBEAT_INTERVAL),
            sync: Timer::new(SYNC_INTERVAL),
        }
    }

    /// Sets the stations whose events this agent reports.
    pub(crate) fn set_stations(&mut self, stations: &[u16]) {
        stations.clone_into(&mut self.stations);
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
        let mut left = false;
        let mut over: Option<Instant> = None;
        self.running = true;
        // Earlier sleep is part of the clock synchronisation.
        self.slept = suspended();
        loop {
            self.run_timers(clock, over.is_some());
            self.send_rows()?;
            if over.is_some() && self.outbox.pending() == 0 {
                return Ok(());
            }
            self.check_connection(over)?;
            let due = self.flush.due().min(self.heartbeat.due());
            let room = match &self.link {
                Link::Up(connection, _) if self.outbox.has_next() => Some(connection.outgoing.clone()),
                _ => None,
            };
            // All are cancellation safe.
            tokio::select! {
                biased;
                event = self.next_event() => if let SessionEvent::Message(message) = event? {
                    self.handle_message(message, clock, &mut stop)?;
                },
                () = has_capacity(room) => {}
                () = shutdown.requested(), if !left => {
                    left = true;
                    self.tell(clock, EventKind::Warning, LEFT_BY_OWNER);
                    stop();
                }
                rows = rows.recv(), if over.is_none() => match rows {
                    Some(rows) => {
                        self.put(&rows, clock);
                        if let Some(reason) = check(&rows) {
                            self.tell(clock, EventKind::Warning, &reason);
                            stop();
                        }
                    }
                    None => over = Some(Instant::now()),
                },
                () = sleep_until(due.into()) => {}
            }
        }
    }

    /// Closes the message of rows, syncs the spool and sends the heartbeat, each if its timer has expired.
    fn run_timers(&mut self, clock: RunClock, over: bool) {
        let now = Instant::now();
        if over {
            self.flush.expire(now);
        }
        if self.flush.poll(now) {
            self.seal(clock);
        }
        if self.sync.poll(now) {
            self.outbox.request_sync();
        }
        if self.heartbeat.poll(now) {
            let (at, pending) = (clock.now().as_nanos(), self.outbox.pending());
            self.try_send(ToController::Progress(Progress { at, pending }));
            self.report_sleep(clock, suspended());
        }
    }

    /// Handles a message during the run.
    fn handle_message(&mut self, message: ToAgent, clock: RunClock, stop: &mut impl FnMut()) -> Result<(), AgentError> {
        match message {
            ToAgent::Ack(ack) => self.outbox.acknowledged(ack.sequence),
            ToAgent::Stop(message) => {
                tracing::info!(reason = message.reason, "stopped");
                self.stop_requested_at.get_or_insert(clock.now());
                stop();
            }
            ToAgent::Rejected(rejected) => tracing::warn!(rejected.reason, "rejected"),
            ToAgent::Bye(bye) => return Err(AgentError::RunEnded(bye)),
            _ => {}
        }
        Ok(())
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
            let event = tokio::select! {
                event = self.next_event() => event,
                () = tokio::time::sleep(to_std(SEND_INTERVAL)) => Ok(SessionEvent::Nothing),
            };
            match event {
                Ok(SessionEvent::Message(ToAgent::Bye(_))) => return Ok(()),
                Ok(SessionEvent::Message(ToAgent::Ack(ack))) => self.outbox.acknowledged(ack.sequence),
                Ok(SessionEvent::Reconnected) => said = false,
                Ok(SessionEvent::Message(_) | SessionEvent::Nothing) => {}
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
    async fn next_event(&mut self) -> Result<SessionEvent, AgentError> {
        match &mut self.link {
            Link::Up(connection, _) => {
                let next = tokio::select! {
                    next = connection.incoming.recv() => next,
                    () = self.outbox.handle_disk() => return Ok(SessionEvent::Nothing),
                };
                connection.heard = Instant::now();
                self.handle(next)
            }
            Link::Down { attempt, .. } => {
                let (dial, found) = tokio::select! {
                    found = attempt => found,
                    () = self.outbox.handle_disk() => return Ok(SessionEvent::Nothing),
                };
                self.found(dial, found)
            }
            Link::Gone => Err(AgentError::ControllerLost(ConnectionError::SessionEnded)),
        }
    }

    /// Answers a ping; returns any other message.
    fn handle(&mut self, next: Option<Incoming>) -> Result<SessionEvent, AgentError> {
        match next {
            Some((received, Ok(ToAgent::Ping(ping)))) => {
                let pong = Pong {
                    id: ping.id,
                    received: received.0,
                    sent: self.clock.now().0,
                };
                self.try_send(ToController::Pong(pong));
                Ok(SessionEvent::Nothing)
            }
            Some((_, Ok(message))) => Ok(SessionEvent::Message(message)),
            Some((_, Err(error))) => self.handle_connection_lost(error),
            None => self.handle_connection_lost(ConnectionError::SessionEnded),
        }
    }
}
