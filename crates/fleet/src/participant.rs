//! What agents and servers have in common: the conversation with the controller.

use crate::clock::Stamp;
use crate::join::{INHERITED, Join};
use crate::local::FleetError;
use crate::own_clock::{OwnClock, std};
use crate::protocol::{
    self, Batch, Bye, Done, Hello, MAX_TO_PARTICIPANT, Malformed, Pong, Progress, Rows, ToController, ToParticipant,
};
use crate::transport::{Channel, Receiver, Sender};
use netburn_record::Row;
use netburn_traffic::clock::RunClock;
use netburn_units::Duration;
use std::collections::VecDeque;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a controller has to welcome.
const WELCOME: Duration = Duration::from_secs(10);
/// A sign of life this often.
const PROGRESS: Duration = Duration::from_millis(250);
/// Rows leave this often.
const FLUSH: Duration = Duration::from_millis(100);
/// The most messages that wait to be handled.
const INCOMING: usize = 16;

/// Opens the channel to the controller that `join` names.
pub(crate) async fn connect(join: &Join) -> Result<Channel, FleetError> {
    if join.url == INHERITED {
        let channel = inherited().map_err(|error| FleetError::Join(error.to_string()))?;
        return Ok(channel);
    }
    let opened = timeout(std(WELCOME), Channel::connect(&join.url, MAX_TO_PARTICIPANT)).await;
    let opened = opened.map_err(|_| FleetError::Join(format!("no answer for {WELCOME}")))?;
    opened.map_err(|error| FleetError::Join(error.to_string()))
}

/// The channel over the socket that standard input is.
#[cfg(unix)]
fn inherited() -> std::io::Result<Channel> {
    use std::os::fd::AsFd;
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    Ok(Channel::over(
        tokio::net::UnixStream::from_std(stream)?,
        MAX_TO_PARTICIPANT,
    ))
}

#[cfg(not(unix))]
fn inherited() -> std::io::Result<Channel> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// A message and when it came, or why there will be no more.
type Incoming = (Stamp, Result<ToParticipant, String>);

/// A conversation with a controller that has welcomed us. Pings are answered, everything else is handed over.
pub(crate) struct Conversation {
    clock: OwnClock,
    incoming: mpsc::Receiver<Incoming>,
    listener: JoinHandle<()>,
    sender: Sender,
    batch: Batch,
    sequence: u64,
    unacknowledged: VecDeque<(u64, usize)>,
    flushed: Instant,
    progressed: Instant,
}

/// What the wait for the start ended in.
pub(crate) enum Beginning {
    /// The run begins at this instant.
    At(Instant),
    /// It doesn't: the controller stopped it, or, with the reason, the start can't be met.
    Never(Option<String>),
}

impl Conversation {
    /// Says who we are and waits to be welcomed.
    pub(crate) async fn begin(channel: Channel, join: &Join) -> Result<Conversation, FleetError> {
        let clock = OwnClock::new();
        let (tell, incoming) = mpsc::channel(INCOMING);
        let listener = tokio::spawn(listen(channel.receiver, clock, tell));
        let mut this = Conversation {
            clock,
            incoming,
            listener,
            sender: channel.sender,
            batch: Batch::default(),
            sequence: 0,
            unacknowledged: VecDeque::new(),
            flushed: Instant::now(),
            progressed: Instant::now(),
        };
        let hello = Hello {
            protocol: protocol::VERSION,
            role: join.role,
            name: join.name.clone(),
            token: join.token.clone(),
            version: concat!("netburn ", env!("CARGO_PKG_VERSION")).to_owned(),
            again: false,
        };
        this.say(&ToController::Hello(hello)).await?;
        match timeout(std(WELCOME), this.hear()).await {
            Ok(Ok(ToParticipant::Welcome(_))) => Ok(this),
            Ok(Ok(ToParticipant::Refused(refused))) => Err(FleetError::Refused(refused.reason)),
            Ok(Ok(ToParticipant::Bye(bye))) => Err(FleetError::Refused(why(bye))),
            Ok(Ok(_)) => Err(FleetError::Join("the controller does not say welcome".to_owned())),
            Ok(Err(FleetError::Gone(reason))) => Err(FleetError::Join(reason)),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(FleetError::Join(format!("no answer for {WELCOME}"))),
        }
    }

    /// When `at`, a stamp of our own clock, is.
    fn when(&self, at: Stamp) -> Option<Instant> {
        self.clock.when(at)
    }

    /// Waits, ready, until the controller names the start or calls it off.
    pub(crate) async fn wait_for_start(&mut self) -> Result<Beginning, FleetError> {
        let start = loop {
            match self.hear().await? {
                ToParticipant::Start(start) => break start,
                ToParticipant::Stop(_) => return Ok(Beginning::Never(None)),
                ToParticipant::Bye(bye) => return Err(FleetError::Gone(why(bye))),
                _ => {}
            }
        };
        let outside = || Beginning::Never(Some("the start lies outside this clock's range".to_owned()));
        Ok(self.when(Stamp(start.at)).map_or_else(outside, Beginning::At))
    }

    /// The next message that isn't a ping.
    pub(crate) async fn hear(&mut self) -> Result<ToParticipant, FleetError> {
        loop {
            let next = self.incoming.recv().await;
            if let Some(message) = self.handle(next).await? {
                return Ok(message);
            }
        }
    }

    /// Answers a ping; hands over anything else.
    async fn handle(&mut self, next: Option<Incoming>) -> Result<Option<ToParticipant>, FleetError> {
        match next {
            Some((received, Ok(ToParticipant::Ping(ping)))) => {
                let pong = Pong {
                    id: ping.id,
                    received: received.0,
                    sent: self.clock.now().0,
                };
                self.say(&ToController::Pong(pong)).await?;
                Ok(None)
            }
            Some((_, Ok(message))) => Ok(Some(message)),
            Some((_, Err(reason))) => Err(FleetError::Gone(reason)),
            None => Err(FleetError::Gone("nothing is listened to any more".to_owned())),
        }
    }

    /// Says something.
    pub(crate) async fn say(&mut self, message: &ToController) -> Result<(), FleetError> {
        let sent = self.sender.message(message).await;
        sent.map_err(|error| FleetError::Gone(error.to_string()))
    }

    /// Puts a row into the next batch, which leaves when it is full.
    pub(crate) async fn put(&mut self, row: &Row) -> Result<(), FleetError> {
        self.batch.push(row);
        if self.batch.is_full() {
            self.flush().await
        } else {
            Ok(())
        }
    }

    /// Sends the rows that wait.
    pub(crate) async fn flush(&mut self) -> Result<(), FleetError> {
        self.flushed = Instant::now();
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.sequence += 1;
        self.unacknowledged.push_back((self.sequence, batch.len()));
        let rows = Rows {
            sequence: self.sequence,
            batch,
        };
        self.say(&ToController::Rows(rows)).await
    }

    /// Rows that the controller has not said it keeps.
    pub(crate) fn waiting(&self) -> u64 {
        let sent: usize = self.unacknowledged.iter().map(|(_, rows)| rows).sum();
        (sent + self.batch.len()) as u64
    }

    /// Rows up to this number are kept.
    pub(crate) fn acknowledged(&mut self, sequence: u64) {
        while self.unacknowledged.front().is_some_and(|(first, _)| *first <= sequence) {
            self.unacknowledged.pop_front();
        }
    }

    /// The run, from the start message on: rows go out as they come, in batches, until their sender is dropped and the
    /// controller keeps them all. `stop` is called when the controller wants it to end, perhaps several times.
    pub(crate) async fn attend(
        &mut self,
        rows: &mut mpsc::UnboundedReceiver<Vec<Row>>,
        clock: RunClock,
        mut stop: impl FnMut(),
    ) -> Result<(), FleetError> {
        /// What was waited for. Only what can be cancelled waits; all sending is done outside.
        enum Next {
            Incoming(Option<Incoming>),
            Rows(Option<Vec<Row>>),
            Due,
        }
        let mut open = true;
        loop {
            if self.flushed.elapsed() >= std(FLUSH) || !open {
                self.flush().await?;
            }
            if self.progressed.elapsed() >= std(PROGRESS) {
                self.progressed = Instant::now();
                let (at, waiting) = (clock.now().as_nanos(), self.waiting());
                self.say(&ToController::Progress(Progress { at, waiting })).await?;
            }
            if !open && self.waiting() == 0 {
                return Ok(());
            }
            let due = (self.flushed + std(FLUSH)).min(self.progressed + std(PROGRESS));
            let next = tokio::select! {
                next = self.incoming.recv() => Next::Incoming(next),
                rows = rows.recv(), if open => Next::Rows(rows),
                () = tokio::time::sleep_until(due.into()) => Next::Due,
            };
            match next {
                Next::Incoming(next) => match self.handle(next).await? {
                    Some(ToParticipant::Ack(ack)) => self.acknowledged(ack.sequence),
                    Some(ToParticipant::Stop(told)) => {
                        tracing::info!(reason = told.reason, "stopped");
                        stop();
                    }
                    Some(ToParticipant::Refused(refused)) => tracing::warn!(refused.reason, "refused"),
                    Some(ToParticipant::Bye(bye)) => return Err(FleetError::Gone(why(bye))),
                    Some(_) | None => {}
                },
                Next::Rows(Some(rows)) => {
                    for row in &rows {
                        self.put(row).await?;
                    }
                }
                Next::Rows(None) => open = false,
                Next::Due => {}
            }
        }
    }

    /// Says that our part is over, and waits to be let go.
    pub(crate) async fn part(mut self, error: Option<String>) -> Result<(), FleetError> {
        let failed = error.clone();
        self.say(&ToController::Done(Done { error })).await?;
        loop {
            match self.hear().await {
                Ok(ToParticipant::Bye(_)) | Err(FleetError::Gone(_)) => break,
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        self.sender.close().await;
        failed.map_or(Ok(()), |error| Err(FleetError::Assignment(error)))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// Why a controller said goodbye.
pub(crate) fn why(bye: Bye) -> String {
    bye.reason.unwrap_or_else(|| "it said goodbye".to_owned())
}

/// Stamps what comes at once, however busy the rest is.
async fn listen(mut receiver: Receiver, clock: OwnClock, tell: mpsc::Sender<Incoming>) {
    loop {
        let heard: Result<Result<ToParticipant, Malformed>, _> = receiver.message().await;
        let at = clock.now();
        let (news, last) = match heard {
            Ok(Ok(message)) => (Ok(message), false),
            Ok(Err(malformed)) => (Err(malformed.to_string()), true),
            Err(error) => (Err(error.to_string()), true),
        };
        if tell.send((at, news)).await.is_err() || last {
            return;
        }
    }
}
