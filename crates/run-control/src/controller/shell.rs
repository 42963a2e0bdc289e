//! Sockets and timers of a [`RunCoordinator`].

use super::coordinator::{Output, RunCoordinator};
use super::protocol_state::ConnectionId;
use super::setup::Setup;
use crate::controller_session::ShutdownSignal;
use crate::error::ControllerError;
use crate::launch::{Child, ControlStream};
use crate::progress::{Outcome, Phase, ProgressObserver};
use crate::row_queue::RowQueue;
use crate::timer::Timer;
use netburn_protocol::clock::Stamp;
use netburn_protocol::duplex;
use netburn_protocol::messages::{MAX_TO_CONTROLLER, Malformed, Message, ToAgent, ToController};
use netburn_protocol::own_clock::{OwnClock, to_std};
use netburn_protocol::transport::{Channel, ChannelError};
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

/// Interval of checking child processes and reporting the run time.
const TICK_INTERVAL: Duration = Duration::from_millis(100);
/// Interval of syncing rows. Before it, a row waits for its agent's next message and for a tick.
const SYNC_INTERVAL: Duration = Duration::from_millis(500);
/// A killed agent loses no row older than 1 s. A quarter of that second is reserved for a busy machine.
const _: () = assert!(
    SYNC_INTERVAL.as_nanos() + TICK_INTERVAL.as_nanos() + crate::controller_session::SEND_INTERVAL.as_nanos()
        <= 750_000_000
);
/// Maximum number of queued events: with messages of maximum length, 64 MiB.
const MAX_EVENTS: usize = 64;
/// Maximum number of parsed messages that wait for a place in that queue. Further messages wait as text.
const MAX_PARSED: usize = 8;
/// Maximum number of queued messages per connection. If the queue is full, the connection closes.
const MAX_OUTGOING: usize = 256;
/// Time limit for sending the last messages.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Delay between the end of a connection and its event, so that the end of a process is noticed first.
const CLOSE_EVENT_DELAY: Duration = Duration::from_millis(50);

/// A listener and its connections.
pub struct Controller {
    listener: TcpListener,
    clock: OwnClock,
    events: mpsc::Receiver<(ConnectionId, Event)>,
    event_sender: mpsc::Sender<(ConnectionId, Event)>,
    outgoing: BTreeMap<ConnectionId, mpsc::Sender<ToAgent>>,
    connections: JoinSet<()>,
    next: u64,
    inherited: JoinSet<Option<InheritedStream>>,
    reading: Arc<Semaphore>,
}

/// A new connection.
enum Opened {
    Tcp(TcpStream),
    InheritedStream(InheritedStream),
}

/// A connection that a child process inherited. Without Unix sockets there is none.
#[cfg(unix)]
type InheritedStream = UnixStream;
#[cfg(not(unix))]
type InheritedStream = TcpStream;

#[cfg(unix)]
fn inherited(stream: ControlStream) -> io::Result<InheritedStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

#[cfg(not(unix))]
fn inherited(stream: ControlStream) -> io::Result<InheritedStream> {
    match stream {}
}

/// Event on a connection.
enum Event {
    Message(Stamp, Result<ToController, Malformed>),
    Closed(String),
}

/// I/O handles of one run: rows, progress, stop signal, child processes.
pub struct RunIo<'a> {
    /// Queue of all rows.
    pub rows: RowQueue,
    /// Progress reports.
    pub observer: &'a mut dyn ProgressObserver,
    /// Becomes true to end the run early, with the results so far.
    pub stop: watch::Receiver<bool>,
    /// In the order of the expected agents. `None`: the process ended, or it is not a child.
    pub children: &'a mut [Option<Box<dyn Child>>],
}

impl Controller {
    /// Opens the listener.
    ///
    /// # Errors
    /// [`ControllerError::Listen`] if the address can't be used.
    pub async fn bind(address: SocketAddr) -> Result<Controller, ControllerError> {
        let listener = TcpListener::bind(address).await.map_err(ControllerError::Listen)?;
        let (event_sender, events) = mpsc::channel(MAX_EVENTS);
        Ok(Controller {
            listener,
            clock: OwnClock::new(),
            events,
            event_sender,
            outgoing: BTreeMap::new(),
            connections: JoinSet::new(),
            next: 0,
            inherited: JoinSet::new(),
            reading: Arc::new(Semaphore::new(MAX_PARSED)),
        })
    }

    /// Adds a connection that a child process inherited. It counts as connected when it first becomes
    /// readable.
    ///
    /// # Errors
    /// If the stream can't be watched.
    pub fn add_inherited(&mut self, stream: ControlStream) -> io::Result<()> {
        let stream = inherited(stream)?;
        self.inherited
            .spawn(async move { stream.readable().await.is_ok().then_some(stream) });
        Ok(())
    }

    /// Address of the listener.
    ///
    /// # Errors
    /// [`ControllerError::Listen`] if the system does not report it.
    pub fn address(&self) -> Result<SocketAddr, ControllerError> {
        self.listener.local_addr().map_err(ControllerError::Listen)
    }

    /// Drives one run to its end.
    ///
    /// # Errors
    /// If the run has no result, or a row can't be stored.
    pub async fn run(self, setup: Setup, run_io: RunIo<'_>) -> Result<Outcome, ControllerError> {
        let mut driver = RunDriver {
            coordinator: RunCoordinator::new(self.clock.now(), setup),
            controller: self,
            observer: run_io.observer,
            children: run_io.children,
            stop: ShutdownSignal::from_watch(run_io.stop),
            storage: Storage {
                rows: run_io.rows,
                sync: Timer::new(SYNC_INTERVAL),
                error: None,
            },
            tick: Timer::new(TICK_INTERVAL),
        };
        driver.tick.expire(Instant::now());
        loop {
            driver.execute_outputs();
            if driver.coordinator.is_over() {
                return driver.end().await;
            }
            if !driver.run_timers() {
                driver.wait_for_event().await;
            }
        }
    }

    /// Closes all connections after their last messages.
    async fn close(&mut self) {
        self.outgoing.clear();
        // Discards received messages, so that their senders do not block.
        let all = async {
            loop {
                tokio::select! {
                    ended = self.connections.join_next() => if ended.is_none() { break },
                    _ = self.events.recv() => {}
                }
            }
        };
        if timeout(to_std(CLOSE_TIMEOUT), all).await.is_err() {
            tracing::debug!("some connections did not close in time");
        }
    }

    fn send(&mut self, id: ConnectionId, message: ToAgent) {
        let Some(queue) = self.outgoing.get(&id) else { return };
        if queue.try_send(message).is_err() {
            // The connection's task ends when its queue closes, and reports that.
            tracing::warn!(connection = id.0, "the queue of a connection is full");
            self.outgoing.remove(&id);
        }
    }

    /// Starts the task of a new connection.
    fn open(&mut self, stream: Opened) -> ConnectionId {
        let id = ConnectionId(self.next);
        self.next += 1;
        let (outgoing, queue) = mpsc::channel(MAX_OUTGOING);
        self.outgoing.insert(id, outgoing);
        let (event_sender, clock, reading) = (self.event_sender.clone(), self.clock, Arc::clone(&self.reading));
        self.connections.spawn(async move {
            let reason = run_connection(stream, id, queue, &event_sender, clock, &reading).await;
            tokio::time::sleep(to_std(CLOSE_EVENT_DELAY)).await;
            // Fails only when the run is over.
            let _ = event_sender.send((id, Event::Closed(reason))).await;
        });
        id
    }
}

/// A run in progress.
struct RunDriver<'a> {
    controller: Controller,
    coordinator: RunCoordinator,
    observer: &'a mut dyn ProgressObserver,
    children: &'a mut [Option<Box<dyn Child>>],
    stop: ShutdownSignal,
    storage: Storage,
    /// Checks the child processes, and reports the run time.
    tick: Timer,
}

/// Storage of the rows, until its first error.
struct Storage {
    rows: RowQueue,
    sync: Timer,
    error: Option<io::Error>,
}

impl RunDriver<'_> {
    fn now(&self) -> Stamp {
        self.controller.clock.now()
    }

    /// Executes the outputs of the coordinator.
    fn execute_outputs(&mut self) {
        while let Some(output) = self.coordinator.poll_output() {
            match output {
                Output::Send(id, message) => self.controller.send(id, message),
                Output::Close(id) => {
                    self.controller.outgoing.remove(&id);
                }
                Output::Row(row) => {
                    if let Err(error) = self.storage.rows.put(row) {
                        self.handle_storage_error(error);
                    }
                }
                Output::Phase(phase, length) => {
                    tracing::info!(?phase, %length, "phase begins");
                    self.observer.phase(phase, length);
                    // The run time is known from the baseline on.
                    if let Some(time) = self.coordinator.run_time(self.now()) {
                        if phase == Phase::Baseline {
                            self.observer.started(time);
                        }
                        self.observer.tick(time);
                    }
                }
                Output::Warn(text) => {
                    tracing::warn!("{text}");
                    self.observer.warn(&text);
                }
                Output::Rejected(who, rejection) => tracing::warn!(who, %rejection, "message rejected"),
            }
        }
    }

    /// Syncs the rows or handles a tick, if its timer has expired. Returns false if no timer has.
    fn run_timers(&mut self) -> bool {
        let now = Instant::now();
        if !self.storage.rows.is_syncing() && self.storage.sync.poll(now) {
            self.sync();
            return true;
        }
        let due = self.tick.poll(now);
        if due {
            self.reap_children();
            if let Some(time) = self.coordinator.run_time(self.now()) {
                self.observer.tick(time);
            }
            // In this phase agents wait for acknowledgements, so rows are synced at once.
            if self.coordinator.is_collecting() {
                self.storage.sync.expire(now);
            }
        }
        due
    }

    fn sync(&mut self) {
        self.coordinator.handle_sync_started();
        if self.storage.error.is_some() {
            self.coordinator.handle_synced();
        } else if let Err(error) = self.storage.rows.request_sync() {
            self.handle_storage_error(error);
        }
    }

    fn handle_storage_error(&mut self, error: io::Error) {
        self.coordinator.handle_storage_error(self.now());
        self.storage.error.get_or_insert(error);
    }

    /// Waits for the next event or timer, and passes it to the coordinator.
    async fn wait_for_event(&mut self) {
        let mut wake = self.tick.due();
        if !self.storage.rows.is_syncing() {
            wake = wake.min(self.storage.sync.due());
        }
        if let Some((at, _)) = self.coordinator.poll_timeout() {
            wake = wake.min(self.controller.clock.when(at).unwrap_or_else(Instant::now));
        }
        tokio::select! {
            event = self.controller.events.recv() => self.handle_events(event),
            accepted = self.controller.listener.accept() => match accepted {
                Ok((stream, from)) => {
                    let id = self.open(Opened::Tcp(stream));
                    tracing::debug!(%from, connection = id.0, "a connection");
                }
                // The process has no free descriptors, or the peer closed the connection. Existing
                // connections have priority.
                Err(error) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(to_std(TICK_INTERVAL)).await;
                }
            },
            stream = first_readable(&mut self.controller.inherited) => if let Some(stream) = stream {
                let id = self.open(Opened::InheritedStream(stream));
                tracing::debug!(connection = id.0, "inherited connection");
            },
            result = self.storage.rows.result(), if self.storage.error.is_none() => match result {
                Ok(()) => self.coordinator.handle_synced(),
                Err(error) => self.handle_storage_error(error),
            },
            () = self.stop.requested() => {
                // It is requested once.
                self.stop = ShutdownSignal::default();
                self.coordinator.handle_stop(self.now());
            }
            () = sleep_until(wake.into()) => {}
        }
        let now = self.now();
        if self.coordinator.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.coordinator.handle_timeout(now);
        }
        while self.controller.connections.try_join_next().is_some() {}
    }

    /// Starts the task of a new connection.
    fn open(&mut self, stream: Opened) -> ConnectionId {
        let id = self.controller.open(stream);
        self.coordinator.handle_connected(self.now(), id);
        id
    }

    /// Handles this event and those behind it in the queue.
    fn handle_events(&mut self, mut event: Option<(ConnectionId, Event)>) {
        for _ in 0..MAX_EVENTS {
            let Some((id, what)) = event else { break };
            match what {
                Event::Message(at, message) => self.coordinator.handle_message(at, id, message),
                Event::Closed(reason) => {
                    tracing::debug!(connection = id.0, reason, "connection closed");
                    self.controller.outgoing.remove(&id);
                    // The end of a process is a better reason than the end of its connection.
                    self.reap_children();
                    self.coordinator.handle_closed(self.now(), id, &reason);
                }
            }
            event = self.controller.events.try_recv().ok();
        }
    }

    /// Reports child processes that ended, and removes them.
    fn reap_children(&mut self) {
        let now = self.now();
        for (index, place) in self.children.iter_mut().enumerate() {
            if let Some(how) = place.as_mut().and_then(|child| child.ended()) {
                *place = None;
                self.coordinator.handle_exit(now, index, &how);
            }
        }
    }

    /// Syncs the rows and sends the last messages.
    async fn end(mut self) -> Result<Outcome, ControllerError> {
        if self.storage.error.is_none() {
            self.storage.error = self.storage.rows.sync().await.err();
        }
        self.controller.close().await;
        match self.storage.error {
            Some(error) => Err(ControllerError::Storage(error)),
            None => self.coordinator.finish(),
        }
    }
}

/// Returns the next inherited connection that becomes readable.
async fn first_readable(inherited: &mut JoinSet<Option<InheritedStream>>) -> Option<InheritedStream> {
    match inherited.join_next().await {
        Some(stream) => stream.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// Receives and sends until either side closes the connection. Returns the reason.
async fn run_connection(
    stream: Opened,
    id: ConnectionId,
    mut queue: mpsc::Receiver<ToAgent>,
    event_sender: &mpsc::Sender<(ConnectionId, Event)>,
    clock: OwnClock,
    reading: &Semaphore,
) -> String {
    // The coordinator drops the queue of a connection that sends no `hello` in time.
    let accepted = async {
        let stream = match stream {
            Opened::Tcp(stream) => stream,
            Opened::InheritedStream(stream) => return Ok(Channel::over(stream, MAX_TO_CONTROLLER)),
        };
        let opening = Channel::accept(stream, MAX_TO_CONTROLLER);
        tokio::pin!(opening);
        tokio::select! {
            channel = &mut opening => channel,
            // Before the WebSocket is open, the only message is the one that rejects the connection.
            _ = queue.recv() => Err(ChannelError::Closed),
        }
    };
    let channel = match accepted.await {
        Ok(channel) => channel,
        Err(error) => return error.to_string(),
    };
    let on_message = async |text: String| {
        let at = clock.now();
        let _place = reading.acquire().await;
        let message = ToController::from_text(&text);
        drop(text);
        let sent = event_sender.send((id, Event::Message(at, message))).await;
        sent.map_err(|_| "the run is over".to_owned())
    };
    duplex::run_connection(
        channel,
        queue,
        |message: ToAgent| message.to_text(),
        on_message,
        || Some(()),
    )
    .await
}
