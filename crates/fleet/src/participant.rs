//! What agents and servers have in common: the conversation with the controller, over one connection or, where it
//! can be reached again, over as many as it takes.
//!
//! - [`dial`]: how the controller is reached. `line`: one connection. `outbox`: rows until they are kept.

pub mod dial;
mod leave;
mod line;
pub(crate) mod outbox;
mod search;
mod sending;
#[cfg(test)]
mod tests;

pub(crate) use dial::connect;
pub(crate) use leave::LEFT;
pub use leave::Leave;
pub(crate) use line::why;
use sending::has_room;

use crate::controller::session::JOINED_ALREADY;
use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::{OwnClock, std};
use crate::protocol::standing::LateEnd;
use crate::protocol::{self, Done, HealthMessage, Pong, Progress, ToController, ToParticipant, Welcome};
use dial::Dial;
use line::{Incoming, Line};
use netburn_linux::clock::suspended;
use netburn_record::{EventKind, EventRow, Row};
use netburn_traffic::clock::RunClock;
use netburn_units::Duration;
use outbox::{MEMORY, Outbox};
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
const REACH: Duration = Duration::from_secs(10);
/// How long one of our own name may be in our place.
const SUCCEED: Duration = Duration::from_secs(5);
/// How long a run may be unknown where it is looked for: whoever holds it tells a controller that was started again within
/// a second.
const UNHELD: Duration = Duration::from_secs(3);
/// How long a controller that has rows to acknowledge may be silent; it acknowledges twice a second.
const DEAF: Duration = Duration::from_secs(15);
/// How long it may be silent when all is said: others' results take their time.
const DEAF_AFTER: Duration = Duration::from_secs(60);

/// A conversation with a controller that has welcomed us. Pings are answered and lost connections replaced; everything
/// else is handed over.
pub(crate) struct Conversation<D> {
    clock: OwnClock,
    join: Join,
    /// How long the controller is looked for when it is gone; `None`: it isn't.
    patience: Option<Duration>,
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
    unheld: Option<Instant>,
    flushed: Instant,
    progressed: Instant,
    synced: Instant,
    syncing: Option<JoinHandle<std::io::Result<()>>>,
}

/// The connection, or the search for one.
enum Link<D> {
    Up(Box<Line>, D),
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
type Search<D> = Pin<Box<dyn Future<Output = (D, Result<(Line, Welcome), FleetError>)> + Send>>;

/// What the wait for the start ended in.
pub(crate) enum Beginning {
    /// The run begins at this instant.
    At(Instant),
    /// It doesn't: the controller stopped it, or, with the reason, the start can't be met.
    Never(Option<String>),
}

/// What the connection brought.
pub(crate) enum News {
    /// Something was said.
    Said(ToParticipant),
    /// There is a connection again.
    Back,
    /// A sign of life, or the news that there is no connection now.
    Nothing,
}

impl<D: Dial> Conversation<D> {
    /// Says who we are and waits to be welcomed.
    pub(crate) async fn begin(mut dial: D, join: &Join, patience: Option<Duration>) -> Result<Self, FleetError> {
        let clock = OwnClock::new();
        let (begun, mut delay) = (Instant::now(), RETRY.0);
        let line = loop {
            match Line::open(&mut dial, join, false, clock).await {
                Ok((line, _)) => break line,
                // A device's network may have its weak moments.
                Err(FleetError::Join(_)) if patience.is_some() && begun.elapsed() < std(REACH) => {
                    tokio::time::sleep(std(delay)).await;
                    delay = (delay * 2).min(RETRY.1);
                }
                // A process before us, killed and started again at once, isn't known to be gone yet.
                Err(FleetError::Refused(reason))
                    if reason.contains(JOINED_ALREADY) && patience.is_some() && begun.elapsed() < std(SUCCEED) =>
                {
                    tokio::time::sleep(std(RETRY.0)).await;
                }
                Err(error) => return Err(error),
            }
        };
        let outbox = match patience {
            None => Outbox::once(),
            Some(_) => Outbox::remembered(),
        };
        Ok(Self::with(
            clock,
            join,
            patience,
            Link::Up(Box::new(line), dial),
            outbox,
        ))
    }

    /// Comes back, in another process, with what was spooled.
    pub(crate) fn back(dial: D, join: &Join, patience: Duration, outbox: Outbox) -> Self {
        let clock = OwnClock::new();
        let mut this = Self::with(clock, join, Some(patience), Link::Gone, outbox);
        this.link = Link::Down {
            since: Instant::now(),
            search: this.search(dial, Duration::ZERO),
            delay: RETRY.0,
            why: "it has not been reached".to_owned(),
        };
        this
    }

    fn with(clock: OwnClock, join: &Join, patience: Option<Duration>, link: Link<D>, outbox: Outbox) -> Self {
        Conversation {
            clock,
            join: join.clone(),
            patience,
            link,
            outbox,
            stations: Vec::new(),
            running: false,
            told: None,
            slept: suspended(),
            unheld: None,
            flushed: Instant::now(),
            progressed: Instant::now(),
            synced: Instant::now(),
            syncing: None,
        }
    }

    /// The stations it speaks for.
    pub(crate) fn speaks_for(&mut self, stations: &[u16]) {
        stations.clone_into(&mut self.stations);
    }

    /// When `start` is by this process's clock, or why that can't be said.
    pub(crate) fn beginning(&self, start: protocol::Start) -> Beginning {
        let outside = || Beginning::Never(Some("the start lies outside this clock's range".to_owned()));
        let at = self.clock.when(crate::clock::Stamp(start.at));
        at.map_or_else(outside, Beginning::At)
    }

    /// The next message that isn't a ping. On a new connection the controller begins anew.
    pub(crate) async fn hear(&mut self) -> Result<ToParticipant, FleetError> {
        loop {
            self.look_for_controller(None)?;
            if let News::Said(message) = self.news().await? {
                return Ok(message);
            }
        }
    }

    /// Says something, if anybody is there to hear it.
    pub(crate) async fn say(&mut self, message: ToController) {
        if let Link::Up(line, _) = &self.link {
            // That nobody hears it is told by what comes, or doesn't.
            let _ = line.outgoing.send(message).await;
        }
    }

    /// The run, from the start message on: rows go out as they come, in batches, until their sender is dropped and the
    /// controller keeps them all. `stop` is called when the controller wants it to end, perhaps several times; `heed`
    /// with rows as they come: it says why it should end for its own sake.
    pub(crate) async fn attend(
        &mut self,
        rows: &mut mpsc::UnboundedReceiver<Vec<Row>>,
        clock: RunClock,
        mut stop: impl FnMut(),
        mut heed: impl FnMut(&[Row]) -> Option<String>,
        leave: &mut Leave,
    ) -> Result<(), FleetError> {
        /// What was waited for. Only what can be cancelled waits.
        enum Next {
            News(Result<News, FleetError>),
            Rows(Option<Vec<Row>>),
            Room,
            Leave,
            Due,
        }
        let mut left = false;
        let mut over: Option<Instant> = None;
        self.running = true;
        // What it slept before is in the comparison of the clocks.
        self.slept = suspended();
        loop {
            if self.flushed.elapsed() >= std(FLUSH) || over.is_some() {
                self.flushed = Instant::now();
                self.seal(clock);
            }
            self.sync().await;
            if self.progressed.elapsed() >= std(PROGRESS) {
                self.progressed = Instant::now();
                let (at, waiting) = (clock.now().as_nanos(), self.outbox.waiting());
                self.murmur(ToController::Progress(Progress { at, waiting }));
                self.notice_sleep(clock, suspended());
            }
            self.send_rows()?;
            if over.is_some() && self.outbox.waiting() == 0 {
                return Ok(());
            }
            self.look_for_controller(over)?;
            let due = (self.flushed + std(FLUSH)).min(self.progressed + std(PROGRESS));
            let room = match &self.link {
                Link::Up(line, _) if self.outbox.has_next() => Some(line.outgoing.clone()),
                _ => None,
            };
            let next = tokio::select! {
                biased;
                news = self.news() => Next::News(news),
                () = has_room(room) => Next::Room,
                () = leave.wanted(), if !left => Next::Leave,
                rows = rows.recv(), if over.is_none() => Next::Rows(rows),
                () = sleep_until(due.into()) => Next::Due,
            };
            match next {
                Next::News(news) => match news? {
                    News::Said(ToParticipant::Ack(ack)) => self.outbox.acknowledged(ack.sequence),
                    News::Said(ToParticipant::Stop(told)) => {
                        tracing::info!(reason = told.reason, "stopped");
                        self.told.get_or_insert(clock.now());
                        stop();
                    }
                    News::Said(ToParticipant::Refused(refused)) => tracing::warn!(refused.reason, "refused"),
                    News::Said(ToParticipant::Bye(bye)) => return Err(FleetError::Over(why(bye))),
                    News::Said(_) | News::Back | News::Nothing => {}
                },
                Next::Rows(Some(rows)) => {
                    for row in &rows {
                        if self.outbox.put(row) {
                            self.seal(clock);
                        }
                    }
                    if let Some(reason) = heed(&rows) {
                        self.tell(clock, EventKind::Warning, &reason);
                        stop();
                    }
                }
                Next::Rows(None) => over = Some(Instant::now()),
                Next::Leave => {
                    left = true;
                    self.tell(clock, EventKind::Warning, LEFT);
                    stop();
                }
                Next::Room | Next::Due => {}
            }
        }
    }

    /// Says how it went and that our part is over, and waits to be let go. With patience: again, where the connection
    /// is lost before.
    pub(crate) async fn part(mut self, end: LateEnd) -> Result<(), FleetError> {
        let over = Instant::now();
        let mut said = false;
        loop {
            self.look_for_controller(Some(over))?;
            self.send_rows()?;
            if !said && matches!(self.link, Link::Up(..)) && self.outbox.waiting() == 0 {
                said = true;
                if let Some(health) = end.health.clone() {
                    self.say(ToController::Health(HealthMessage { health })).await;
                }
                let error = end.error.clone();
                self.say(ToController::Done(Done { error })).await;
            }
            let news = tokio::select! {
                news = self.news() => news,
                () = tokio::time::sleep(std(FLUSH)) => Ok(News::Nothing),
            };
            match news {
                Ok(News::Said(ToParticipant::Bye(_))) => break,
                Ok(News::Said(ToParticipant::Ack(ack))) => self.outbox.acknowledged(ack.sequence),
                Ok(News::Back) => said = false,
                Ok(News::Said(_) | News::Nothing) => {}
                // All was said, and there is one connection only.
                Err(FleetError::Gone(_)) if self.patience.is_none() => break,
                Err(FleetError::Unheld) if self.outbox.waiting() == 0 && said => break,
                Err(error) => return Err(error),
            }
        }
        if let Link::Up(line, _) = std::mem::replace(&mut self.link, Link::Gone) {
            line.close().await;
        }
        let (outbox, self_ran) = (self.outbox, self.running);
        if outbox.waiting() == 0 {
            outbox.forget();
        } else if outbox.is_kept() {
            return Err(FleetError::Gone("the run did not wait for all results".to_owned()));
        }
        match (end.error, self_ran) {
            (None, _) => Ok(()),
            (Some(error), true) => Err(FleetError::Partly(error)),
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
    pub(crate) fn note_end(&mut self, end: &LateEnd) {
        self.outbox.end(end);
    }

    /// What comes next, on the connection or of the search for one. May be cancelled.
    async fn news(&mut self) -> Result<News, FleetError> {
        match &mut self.link {
            Link::Up(line, _) => {
                let next = line.incoming.recv().await;
                line.heard = Instant::now();
                self.handle(next)
            }
            Link::Down { search, .. } => {
                let (dial, found) = search.await;
                self.found(dial, found)
            }
            Link::Gone => Err(FleetError::Gone("nothing is listened to any more".to_owned())),
        }
    }

    /// Answers a ping; hands over anything else.
    fn handle(&mut self, next: Option<Incoming>) -> Result<News, FleetError> {
        match next {
            Some((received, Ok(ToParticipant::Ping(ping)))) => {
                let pong = Pong {
                    id: ping.id,
                    received: received.0,
                    sent: self.clock.now().0,
                };
                self.murmur(ToController::Pong(pong));
                Ok(News::Nothing)
            }
            Some((_, Ok(message))) => Ok(News::Said(message)),
            Some((_, Err(reason))) => self.lose(reason),
            None => self.lose("nothing is listened to any more".to_owned()),
        }
    }
}
