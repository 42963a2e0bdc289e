//! Sockets and timers of a [`RunCoordinator`].

use super::coordinator::{Output, RunCoordinator};
use super::protocol_state::ConnectionId;
use super::setup::Setup;
use crate::error::ControllerError;
use crate::launch::Child;
use crate::progress::{Outcome, Watch};
use crate::row_queue::RowQueue;
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

/// Event on a connection.
enum Event {
    Message(Stamp, Result<ToController, Malformed>),
    Closed(String),
}

/// Result of waiting.
enum Happened {
    Event(Option<(ConnectionId, Event)>),
    Connection(io::Result<(TcpStream, SocketAddr)>),
    Inherited(Option<InheritedStream>),
    Stored(io::Result<()>),
    Stop(bool),
    Nothing,
}

/// I/O handles of one run: rows, progress, stop signal, child processes.
pub struct RunIo<'a> {
    /// Queue of all rows.
    pub rows: RowQueue,
    /// Progress reports.
    pub watch: &'a mut dyn Watch,
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
    #[cfg(unix)]
    pub fn add_inherited(&mut self, stream: std::os::unix::net::UnixStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let stream = UnixStream::from_std(stream)?;
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
    pub async fn run(mut self, setup: Setup, mut run_io: RunIo<'_>) -> Result<Outcome, ControllerError> {
        let mut coordinator = RunCoordinator::new(self.clock.now(), setup);
        let (mut storage_error, mut stopping) = (None, false);
        let (mut tick, mut sync) = (self.clock.now(), self.clock.now().after(SYNC_INTERVAL));
        loop {
            if let Err(error) = self.carry_out(&mut coordinator, &mut run_io) {
                coordinator.handle_storage_error(self.clock.now());
                storage_error.get_or_insert(error);
                continue;
            }
            if coordinator.is_over() {
                break;
            }
            let now = self.clock.now();
            if sync <= now && !run_io.rows.is_syncing() {
                sync = now.after(SYNC_INTERVAL);
                coordinator.handle_sync_started();
                if storage_error.is_some() {
                    coordinator.handle_synced();
                } else if let Err(error) = run_io.rows.request_sync() {
                    coordinator.handle_storage_error(now);
                    storage_error = Some(error);
                }
                continue;
            }
            if tick <= now {
                tick = now.after(TICK_INTERVAL);
                reap_children(run_io.children, &mut coordinator, now);
                if let Some(time) = coordinator.run_time(now) {
                    run_io.watch.tick(time);
                }
                // In this phase agents wait for acknowledgements, so rows are synced at once.
                if coordinator.is_collecting() {
                    sync = now;
                }
                continue;
            }
            let mut wake = coordinator.poll_timeout().map_or(tick, |(at, _)| at.min(tick));
            if !run_io.rows.is_syncing() {
                wake = wake.min(sync);
            }
            let wake = self.clock.when(wake).unwrap_or_else(std::time::Instant::now);
            let happened = tokio::select! {
                event = self.events.recv() => Happened::Event(event),
                stream = self.listener.accept() => Happened::Connection(stream),
                stream = first_readable(&mut self.inherited) => Happened::Inherited(stream),
                result = run_io.rows.result(), if storage_error.is_none() => Happened::Stored(result),
                sent = run_io.stop.wait_for(|stop| *stop), if !stopping => Happened::Stop(sent.is_ok()),
                () = sleep_until(wake.into()) => Happened::Nothing,
            };
            match happened {
                Happened::Event(mut event) => {
                    for _ in 0..MAX_EVENTS {
                        let Some((id, what)) = event else { break };
                        self.handle(&mut coordinator, run_io.children, id, what);
                        event = self.events.try_recv().ok();
                    }
                }
                Happened::Connection(Ok((stream, from))) => {
                    let id = self.open(Opened::Tcp(stream));
                    tracing::debug!(%from, connection = id.0, "a connection");
                    coordinator.handle_connected(self.clock.now(), id);
                }
                Happened::Inherited(Some(stream)) => {
                    let id = self.open(Opened::InheritedStream(stream));
                    tracing::debug!(connection = id.0, "inherited connection");
                    coordinator.handle_connected(self.clock.now(), id);
                }
                Happened::Inherited(None) => {}
                // The process has no free descriptors, or the peer closed the connection. Existing
                // connections have priority.
                Happened::Connection(Err(error)) => {
                    tracing::warn!(%error, "accept failed");
                    tokio::time::sleep(to_std(TICK_INTERVAL)).await;
                }
                Happened::Stored(Ok(())) => coordinator.handle_synced(),
                Happened::Stored(Err(error)) => {
                    coordinator.handle_storage_error(self.clock.now());
                    storage_error = Some(error);
                }
                Happened::Stop(sent) => {
                    // All senders of the stop signal were dropped; stop waiting for it.
                    stopping = true;
                    if sent {
                        coordinator.handle_stop(self.clock.now());
                    }
                }
                Happened::Nothing => {}
            }
            let now = self.clock.now();
            if coordinator.poll_timeout().is_some_and(|(at, _)| at <= now) {
                coordinator.handle_timeout(now);
            }
            while self.connections.try_join_next().is_some() {}
        }
        if storage_error.is_none() {
            storage_error = run_io.rows.sync().await.err();
        }
        self.outgoing.clear();
        // Sends the last messages. Discards received messages, so that their senders do not block.
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
        match storage_error {
            Some(error) => Err(ControllerError::Storage(error)),
            None => coordinator.finish(),
        }
    }

    /// Executes the outputs of the coordinator. An error is a row that can't be stored.
    fn carry_out(&mut self, coordinator: &mut RunCoordinator, run_io: &mut RunIo<'_>) -> io::Result<()> {
        while let Some(output) = coordinator.poll_output() {
            match output {
                Output::Send(id, message) => self.send(id, message),
                Output::Close(id) => {
                    self.outgoing.remove(&id);
                }
                Output::Row(row) => run_io.rows.put(row)?,
                Output::Phase(phase, length) => {
                    tracing::info!(?phase, %length, "phase begins");
                    run_io.watch.phase(phase, length);
                    // The run time is known from the baseline on. The forwarder of the packets needs it
                    // before the first packet.
                    if let Some(time) = coordinator.run_time(self.clock.now()) {
                        run_io.watch.tick(time);
                    }
                }
                Output::Warn(text) => {
                    tracing::warn!("{text}");
                    run_io.watch.warn(&text);
                }
                Output::Rejected(who, rejection) => tracing::warn!(who, %rejection, "message rejected"),
            }
        }
        Ok(())
    }

    fn send(&mut self, id: ConnectionId, message: ToAgent) {
        let Some(queue) = self.outgoing.get(&id) else { return };
        if queue.try_send(message).is_err() {
            // The connection's task ends when its queue closes, and reports that.
            tracing::warn!(connection = id.0, "the queue of a connection is full");
            self.outgoing.remove(&id);
        }
    }

    fn handle(
        &mut self,
        coordinator: &mut RunCoordinator,
        children: &mut [Option<Box<dyn Child>>],
        id: ConnectionId,
        event: Event,
    ) {
        match event {
            Event::Message(at, message) => coordinator.handle_message(at, id, message),
            Event::Closed(reason) => {
                tracing::debug!(connection = id.0, reason, "connection closed");
                self.outgoing.remove(&id);
                // The end of a process is a better reason than the end of its connection.
                reap_children(children, coordinator, self.clock.now());
                coordinator.handle_closed(self.clock.now(), id, &reason);
            }
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

/// Reports child processes that ended, and removes them.
fn reap_children(children: &mut [Option<Box<dyn Child>>], coordinator: &mut RunCoordinator, now: Stamp) {
    for (index, place) in children.iter_mut().enumerate() {
        if let Some(how) = place.as_mut().and_then(|child| child.ended()) {
            *place = None;
            coordinator.handle_exit(now, index, &how);
        }
    }
}
