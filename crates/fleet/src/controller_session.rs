//! What agents and servers have in common: the conversation with the controller, over one connection or, where it
//! can be reached again, over as many as it takes.
//!
//! - [`dial`]: how the controller is reached. `connection`: one connection. `outbox`: rows until they are kept.

mod connection;
pub mod dial;
pub(crate) mod outbox;
mod search;
mod sending;
mod shutdown;
#[cfg(test)]
mod tests;

pub(crate) use connection::bye_reason;
pub(crate) use dial::connect;
use sending::has_capacity;
pub(crate) use shutdown::LEFT_BY_OWNER;
pub use shutdown::ShutdownSignal;

use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::{OwnClock, to_std};
use crate::protocol::standing::LateResultsEnd;
use crate::protocol::{self, Done, HealthMessage, Pong, Progress, RejectReason, ToAgent, ToController, Welcome};
use connection::{Connection, Incoming};
use dial::Dial;
use netburn_linux::clock::slept;
use netburn_record::{EventKind, EventRow, Row};
use netburn_traffic::clock::RunClock;
use netburn_units::Duration;
use outbox::{MAX_MEMORY_ROWS, Outbox};
use std::pin::Pin;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep_until;

/// A sign of life this often.
const PROGRESS: Duration = Duration::from_millis(250);
/// Rows leave this often.
pub(crate) const FLUSH: Duration = Duration::from_millis(100);
/// The spool is synced this often.
const SYNC: Duration = Duration::from_secs(1);
/// From one attempt to reach the controller again to the next: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));
/// How long a controller is tried the first time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one of our own name may be in our place.
const NAME_TAKEN_RETRY: Duration = Duration::from_secs(5);
/// How long a run may be unknown where it is looked for: whoever holds it tells a controller that was started again within
/// a second.
const RUN_UNKNOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a controller that has rows to acknowledge may be silent; it acknowledges twice a second.
const ACK_TIMEOUT: Duration = Duration::from_secs(15);
/// How long it may be silent when all is said: others' results take their time.
const FINAL_ACK_TIMEOUT: Duration = Duration::from_secs(60);

/// A conversation with a controller that has welcomed us. Pings are answered and lost connections replaced; everything
/// else is handed over.
pub(crate) struct ControllerSession<D> {
    clock: OwnClock,
    join: Join,
    /// How long the controller is looked for when it is gone; `None`: it isn't.
    reconnect_timeout: Option<Duration>,
    link: Link<D>,
    pub(crate) outbox: Outbox,
    /// The stations it speaks for, which what it has to say of itself is about.
    stations: Vec<u16>,
    running: bool,
    /// When the controller told it to end, in the run's time.
    pub(crate) told: Option<netburn_units::Instant>,
    /// How long this machine had slept when that was last looked at.
    slept: Duration,
    /// Since when the run is unknown where it is looked for.
    run_unknown: Option<Instant>,
    flushed: Instant,
    progressed: Instant,
    synced: Instant,
    syncing: Option<JoinHandle<std::io::Result<()>>>,
}

/// The connection, or the search for one.
enum Link<D> {
    Up(Box<Connection>, D),
    Down {
        since: Instant,
        search: Search<D>,
        delay: Duration,
        why: String,
    },
    /// Between two of the others, and for good once nobody is looked for.
    Gone,
}

/// Waiting for the next attempt, or the attempt.
type Search<D> = Pin<Box<dyn Future<Output = (D, Result<(Connection, Welcome), FleetError>)> + Send>>;

/// What the wait for the start ended in.
pub(crate) enum StartTime {
    /// The run begins at this instant.
    At(Instant),
    /// It doesn't: the controller stopped it, or, with the reason, the start can't be met.
    Rejected(Option<String>),
}

/// What the connection brought.
pub(crate) enum News {
    /// Something was said.
    Message(ToAgent),
    /// There is a connection again.
    Reconnected,
    /// A sign of life, or the news that there is no connection now.
    Nothing,
}

impl<D: Dial> ControllerSession<D> {
    /// Says who we are and waits to be welcomed.
    pub(crate) async fn connect(
        mut dial: D,
        join: &Join,
        reconnect_timeout: Option<Duration>,
    ) -> Result<Self, FleetError> {
        let clock = OwnClock::new();
        let (begun, mut delay) = (Instant::now(), RETRY.0);
        let connection = loop {
            match Connection::open(&mut dial, join, false, clock).await {
                Ok((connection, _)) => break connection,
                // A device's network may have its weak moments.
                Err(FleetError::Join(_))
                    if reconnect_timeout.is_some() && begun.elapsed() < to_std(CONNECT_TIMEOUT) =>
                {
                    tokio::time::sleep(to_std(delay)).await;
                    delay = (delay * 2).min(RETRY.1);
                }
                // A process before us, killed and started again at once, isn't known to be gone yet.
                Err(FleetError::Rejected {
                    code: RejectReason::NameTaken,
                    ..
                }) if reconnect_timeout.is_some() && begun.elapsed() < to_std(NAME_TAKEN_RETRY) => {
                    tokio::time::sleep(to_std(RETRY.0)).await;
                }
                Err(error) => return Err(error),
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

    /// Comes back, in another process, with what was spooled.
    pub(crate) fn resume(dial: D, join: &Join, reconnect_timeout: Duration, outbox: Outbox) -> Self {
        let clock = OwnClock::new();
        let mut this = Self::with(clock, join, Some(reconnect_timeout), Link::Gone, outbox);
        this.link = Link::Down {
            since: Instant::now(),
            search: this.search(dial, Duration::ZERO),
            delay: RETRY.0,
            why: "it has not been reached".to_owned(),
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
            told: None,
            slept: slept(),
            run_unknown: None,
            flushed: Instant::now(),
            progressed: Instant::now(),
            synced: Instant::now(),
            syncing: None,
        }
    }

    /// The stations it speaks for.
    pub(crate) fn set_stations(&mut self, stations: &[u16]) {
        stations.clone_into(&mut self.stations);
    }

    /// When `start` is by this process's clock, or why that can't be said.
    pub(crate) fn start_time(&self, start: protocol::Start) -> StartTime {
        let outside = || StartTime::Rejected(Some("the start lies outside this clock's range".to_owned()));
        let at = self.clock.when(crate::clock::Stamp(start.at));
        at.map_or_else(outside, StartTime::At)
    }

    /// The next message that isn't a ping. On a new connection the controller begins anew.
    pub(crate) async fn recv(&mut self) -> Result<ToAgent, FleetError> {
        loop {
            self.check_connection(None)?;
            if let News::Message(message) = self.news().await? {
                return Ok(message);
            }
        }
    }

    /// Says something, if anybody is there to hear it.
    pub(crate) async fn say(&mut self, message: ToController) {
        if let Link::Up(connection, _) = &self.link {
            // That nobody hears it is told by what comes, or doesn't.
            let _ = connection.outgoing.send(message).await;
        }
    }

    /// The run, from the start message on: rows go out as they come, in batches, until their sender is dropped and the
    /// controller keeps them all. `stop` is called when the controller wants it to end, perhaps several times; `check`
    /// with rows as they come: it says why it should end for its own sake.
    pub(crate) async fn run(
        &mut self,
        rows: &mut mpsc::UnboundedReceiver<Vec<Row>>,
        clock: RunClock,
        mut stop: impl FnMut(),
        mut check: impl FnMut(&[Row]) -> Option<String>,
        shutdown: &mut ShutdownSignal,
    ) -> Result<(), FleetError> {
        /// What was waited for. Only what can be cancelled waits.
        enum Next {
            News(Result<News, FleetError>),
            Rows(Option<Vec<Row>>),
            Room,
            ShutdownSignal,
            Due,
        }
        let mut left = false;
        let mut over: Option<Instant> = None;
        self.running = true;
        // What it slept before is in the comparison of the clocks.
        self.slept = slept();
        loop {
            if self.flushed.elapsed() >= to_std(FLUSH) || over.is_some() {
                self.flushed = Instant::now();
                self.seal(clock);
            }
            self.sync().await;
            if self.progressed.elapsed() >= to_std(PROGRESS) {
                self.progressed = Instant::now();
                let (at, pending) = (clock.now().as_nanos(), self.outbox.pending());
                self.try_send(ToController::Progress(Progress { at, pending }));
                self.report_sleep(clock, slept());
            }
            self.send_rows()?;
            if over.is_some() && self.outbox.pending() == 0 {
                return Ok(());
            }
            self.check_connection(over)?;
            let due = (self.flushed + to_std(FLUSH)).min(self.progressed + to_std(PROGRESS));
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
                    News::Message(ToAgent::Stop(told)) => {
                        tracing::info!(reason = told.reason, "stopped");
                        self.told.get_or_insert(clock.now());
                        stop();
                    }
                    News::Message(ToAgent::Refused(refused)) => tracing::warn!(refused.reason, "refused"),
                    News::Message(ToAgent::Bye(bye)) => return Err(FleetError::RunEnded(bye_reason(bye))),
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

    /// Says how it went and that our part is over, and waits to be let go. With patience: again, where the connection
    /// is lost before.
    pub(crate) async fn part(mut self, end: LateResultsEnd) -> Result<(), FleetError> {
        let over = Instant::now();
        let mut said = false;
        loop {
            self.check_connection(Some(over))?;
            self.send_rows()?;
            if !said && matches!(self.link, Link::Up(..)) && self.outbox.pending() == 0 {
                said = true;
                if let Some(health) = end.health.clone() {
                    self.say(ToController::Health(HealthMessage { health })).await;
                }
                let error = end.error.clone();
                self.say(ToController::Done(Done { error })).await;
            }
            let news = tokio::select! {
                news = self.news() => news,
                () = tokio::time::sleep(to_std(FLUSH)) => Ok(News::Nothing),
            };
            match news {
                Ok(News::Message(ToAgent::Bye(_))) => break,
                Ok(News::Message(ToAgent::Ack(ack))) => self.outbox.acknowledged(ack.sequence),
                Ok(News::Reconnected) => said = false,
                Ok(News::Message(_) | News::Nothing) => {}
                // All was said, and there is one connection only.
                Err(FleetError::ControllerLost(_)) if self.reconnect_timeout.is_none() => break,
                Err(FleetError::UnknownRun) if self.outbox.pending() == 0 && said => break,
                Err(error) => return Err(error),
            }
        }
        if let Link::Up(connection, _) = std::mem::replace(&mut self.link, Link::Gone) {
            connection.close().await;
        }
        let (outbox, self_ran) = (self.outbox, self.running);
        if outbox.pending() == 0 {
            outbox.discard();
        } else if outbox.is_kept() {
            return Err(FleetError::ControllerLost(
                "the run did not wait for all results".to_owned(),
            ));
        }
        match (end.error, self_ran) {
            (None, _) => Ok(()),
            (Some(error), true) => Err(FleetError::EndedEarly(error)),
            (Some(error), false) => Err(FleetError::Declined(error)),
        }
    }

    /// Takes what is still measured, for whom nobody is there any more.
    pub(crate) async fn keep(&mut self, rows: &mut mpsc::UnboundedReceiver<Vec<Row>>) {
        while let Some(rows) = rows.recv().await {
            for row in &rows {
                if self.outbox.put(row) {
                    let _ = self.outbox.seal();
                }
            }
        }
        let _ = self.outbox.seal();
    }

    /// Notes for later how it ended.
    pub(crate) fn record_end(&mut self, end: &LateResultsEnd) {
        self.outbox.end(end);
    }

    /// What comes next, on the connection or of the search for one. May be cancelled.
    async fn news(&mut self) -> Result<News, FleetError> {
        match &mut self.link {
            Link::Up(connection, _) => {
                let next = connection.incoming.recv().await;
                connection.heard = Instant::now();
                self.handle(next)
            }
            Link::Down { search, .. } => {
                let (dial, found) = search.await;
                self.found(dial, found)
            }
            Link::Gone => Err(FleetError::ControllerLost("nothing is listened to any more".to_owned())),
        }
    }

    /// Answers a ping; hands over anything else.
    fn handle(&mut self, next: Option<Incoming>) -> Result<News, FleetError> {
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
            Some((_, Err(reason))) => self.handle_connection_lost(reason),
            None => self.handle_connection_lost("nothing is listened to any more".to_owned()),
        }
    }
}
