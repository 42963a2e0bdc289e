//! What agents and servers have in common: the conversation with the controller, over one connection or, where it
//! can be reached again, over as many as it takes.
//!
//! - [`dial`]: how the controller is reached. `line`: one connection. `outbox`: rows until they are kept.

pub mod dial;
mod line;
pub(crate) mod outbox;
#[cfg(test)]
mod tests;

pub(crate) use dial::connect;
pub(crate) use line::why;

use crate::controller::session::JOINED_ALREADY;
use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::{OwnClock, std};
use crate::protocol::standing::LateEnd;
use crate::protocol::{self, Done, HealthMessage, Pong, Progress, ToController, ToParticipant, Welcome};
use dial::Dial;
use line::{Incoming, Line};
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
const FLUSH: Duration = Duration::from_millis(100);
/// The spool is synced this often.
const SYNC: Duration = Duration::from_secs(1);
/// From one attempt to reach the controller again to the next: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));
/// How long a controller is tried the first time.
const REACH: Duration = Duration::from_secs(10);
/// How long a run may be unknown where it is looked for: whoever holds it tells a controller that was started again within
/// a second.
const UNHELD: Duration = Duration::from_secs(3);
/// How long a controller that has rows to acknowledge may be silent; it acknowledges once a second.
const DEAF: Duration = Duration::from_secs(15);
/// How long it may be silent when all is said: others' results take their time.
const DEAF_AFTER: Duration = Duration::from_secs(60);

/// Why a part ended that its owner ended.
pub(crate) const LEFT: &str = "its owner ended it";

/// Whether an agent's owner wants it to end now.
#[derive(Debug, Clone, Default)]
pub struct Leave(Option<watch::Receiver<bool>>);

impl Leave {
    /// Once this is true, or never.
    #[must_use]
    pub fn once(told: watch::Receiver<bool>) -> Leave {
        Leave(Some(told))
    }

    /// Whether it is wanted now.
    pub(crate) fn is_wanted(&self) -> bool {
        self.0.as_ref().is_some_and(|told| *told.borrow())
    }

    /// Until it is wanted.
    pub(crate) async fn wanted(&mut self) {
        if let Some(told) = &mut self.0
            && told.wait_for(|told| *told).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}

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

    /// The connection is gone: another is looked for, if that is our way.
    fn lose(&mut self, why: String) -> Result<News, FleetError> {
        let Link::Up(_, dial) = std::mem::replace(&mut self.link, Link::Gone) else {
            return Err(FleetError::Gone(why));
        };
        if self.patience.is_none() {
            return Err(FleetError::Gone(why));
        }
        tracing::info!(why, "the controller is gone; it is looked for");
        self.link = Link::Down {
            since: Instant::now(),
            search: self.search(dial, self.jittered(RETRY.0)),
            delay: RETRY.0 * 2,
            why,
        };
        Ok(News::Nothing)
    }

    /// An attempt has ended.
    fn found(&mut self, dial: D, found: Result<(Line, Welcome), FleetError>) -> Result<News, FleetError> {
        match found {
            Ok((line, welcome)) => {
                tracing::info!(welcome.taken, "the controller is back");
                self.link = Link::Up(Box::new(line), dial);
                self.unheld = None;
                self.outbox.rewind(welcome.taken);
                Ok(News::Back)
            }
            // To ask again would get the same answer, unless it is our own connection before that isn't known to be gone.
            Err(FleetError::Refused(reason)) if !reason.contains(JOINED_ALREADY) => {
                self.link = Link::Gone;
                Err(FleetError::Refused(reason))
            }
            Err(error) => {
                let unheld = matches!(error, FleetError::Unheld);
                let since = *self.unheld.get_or_insert_with(Instant::now);
                if !unheld {
                    self.unheld = None;
                } else if since.elapsed() > std(UNHELD) {
                    self.link = Link::Gone;
                    return Err(FleetError::Unheld);
                }

                let (now, next) = match &self.link {
                    Link::Down { since, delay, .. } => (*since, *delay),
                    Link::Up(..) | Link::Gone => (Instant::now(), RETRY.0),
                };
                self.link = Link::Down {
                    since: now,
                    search: self.search(dial, self.jittered(next)),
                    delay: (next * 2).min(if unheld { UNHELD / 3 } else { RETRY.1 }),
                    why: error.to_string(),
                };
                Ok(News::Nothing)
            }
        }
    }

    /// Tries to reach the controller after `delay`.
    fn search(&self, mut dial: D, delay: Duration) -> Search<D> {
        let (join, clock) = (self.join.clone(), self.clock);
        Box::pin(async move {
            tokio::time::sleep(std(delay)).await;
            let found = Line::open(&mut dial, &join, true, clock).await;
            (dial, found)
        })
    }

    /// Between three and five quarters of it: not everyone who was lost at once comes back at once.
    fn jittered(&self, delay: Duration) -> Duration {
        let dice = self.clock.now().0.unsigned_abs() / 1000 % 1024;
        Duration::from_nanos(delay.as_nanos() / 4 * 3 + delay.as_nanos() / 2 / 1024 * dice)
    }

    /// Gives up a connection on which nothing comes any more, and the search when it has taken too long: before the
    /// start, or once our part is over. While it runs nothing is given up.
    fn look_for_controller(&mut self, over: Option<Instant>) -> Result<(), FleetError> {
        let Some(patience) = self.patience else { return Ok(()) };
        match &self.link {
            Link::Up(line, _) => {
                let limit = match self.outbox.waiting() {
                    0 => DEAF_AFTER,
                    _ => DEAF,
                };
                if over.is_some() && line.heard.elapsed() > std(limit)
                    || self.outbox.is_owed() && line.heard.elapsed() > std(DEAF)
                {
                    self.lose(format!("nothing was heard of it for {limit}"))?;
                }
                Ok(())
            }
            Link::Down { since, why, .. } => {
                let since = over.map_or(*since, |over| over.max(*since));
                match since.elapsed() > std(patience) && (over.is_some() || !self.running) {
                    true => Err(FleetError::Gone(why.clone())),
                    false => Ok(()),
                }
            }
            Link::Gone => Ok(()),
        }
    }

    /// Says something that isn't worth waiting for.
    fn murmur(&mut self, message: ToController) {
        if let Link::Up(line, _) = &self.link {
            let _ = line.outgoing.try_send(message);
        }
    }

    /// Sends as much as the connection takes at once.
    fn send_rows(&mut self) -> Result<(), FleetError> {
        let Link::Up(line, _) = &self.link else { return Ok(()) };
        while self.outbox.has_next()
            && let Ok(room) = line.outgoing.try_reserve()
        {
            let next = self.outbox.take_next();
            let next = next.map_err(|error| FleetError::Gone(format!("what was spooled can't be read: {error}")))?;
            let Some(rows) = next else { break };
            room.send(ToController::Rows(rows));
        }
        Ok(())
    }

    /// Makes a message of the rows that there are, and says what became of them where that isn't as it should be.
    fn seal(&mut self, clock: RunClock) {
        let lost = self.outbox.take_lost();
        if lost > 0 {
            let what = format!("{lost} rows were let go: neither the agent's disk nor its memory had room for them");
            self.tell(clock, EventKind::Lost, &what);
        }
        if let Err(error) = self.outbox.seal() {
            let what = format!(
                "the agent's disk takes no more results ({error}); up to {MEMORY} rows are kept in its memory instead"
            );
            tracing::warn!("{what}");
            self.tell(clock, EventKind::Warning, &what);
        }
    }

    /// Puts an event about all our stations into the next message.
    pub(crate) fn tell(&mut self, clock: RunClock, kind: EventKind, text: &str) {
        for station in self.stations.clone() {
            let full = self.outbox.put(&Row::Event(EventRow {
                station: Some(station),
                workload: None,
                at: clock.now(),
                length: 0,
                kind,
                text: text.to_owned(),
            }));
            if full {
                let _ = self.outbox.seal();
            }
        }
    }

    /// Has the spool synced now and then, by a thread that may wait for the disk.
    async fn sync(&mut self) {
        if self.syncing.as_ref().is_some_and(|task| !task.is_finished()) || self.synced.elapsed() < std(SYNC) {
            return;
        }
        if let Some(task) = self.syncing.take()
            && let Ok(Err(error)) = task.await
        {
            tracing::warn!(%error, "the spool can't be synced");
        }
        self.synced = Instant::now();
        let file = self.outbox.unsynced();
        self.syncing = file.map(|file| tokio::task::spawn_blocking(move || file.sync_data()));
    }
}

/// Until the connection takes another message; never where there is nothing to send.
async fn has_room(room: Option<mpsc::Sender<ToController>>) {
    let room = match &room {
        Some(sender) => sender.reserve().await.ok(),
        None => None,
    };
    if room.is_none() {
        // The connection's end is told elsewhere.
        std::future::pending::<()>().await;
    }
}
