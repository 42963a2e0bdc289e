//! A member of a fleet: stays registered, and takes part in runs when it is invited.
//!
//! - [`Member`] – the standing connection and its messages. `policy`: checks of an assignment.
//! - [`limits`] – limits set by the owner; `rate_budget`: rate limit over all runs. `late`: delivery of late
//!   results.

mod current_run;
mod late;
mod limits;
mod policy;
mod rate_budget;
#[cfg(test)]
mod tests;

pub use limits::{Hours, Limits};
pub use policy::ServerName;

use crate::endpoint::{ConnectError, ControllerEndpoint, SocketAddrs};
use crate::reachability::{ServerPort, server_port};
use current_run::{CurrentRun, wait_for_run_end};
use futures_util::FutureExt;
use late::{Deliveries, LateQueue, Reply, Request};
use netburn_protocol::backoff::Backoff;
use netburn_protocol::join_url;
use netburn_protocol::join_url::JoinUrl;
use netburn_protocol::join_url::{JOIN, RUN};
use netburn_protocol::messages::standing::{
    FromMember, Invite, MAX_PENDING_RUNS, MAX_TO_MEMBER, MemberInfo, PendingResults, Register, Registered, ToMember,
};
use netburn_protocol::messages::{self, Bye, MAX_TO_AGENT, RejectReason, Rejected};
use netburn_protocol::own_clock::to_std;
use netburn_protocol::transport::{Channel, ChannelError, Receiver, Sender};
use netburn_record::Role;
use netburn_run_control::agent::{self, AgentOptions, PartEnd, ShutdownSignal};
use netburn_run_control::controller_session::dial::Dial;
use netburn_run_control::disk_queue::{Slot, Slots, disk_queue};
use netburn_run_control::join::Join;
use netburn_run_control::server;
use netburn_run_control::spool::SpoolFolder;
use netburn_run_control::timer::Timer;
use netburn_run_control::{AgentError, ConnectionError};
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::server::{PORT, ServerConfig, with_port};
use netburn_units::{Duration, Seed};
use policy::MemberPolicy;
use rate_budget::RateBudget;
use std::convert::Infallible;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Interval of the heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
/// Delay between attempts to reconnect: the first and the maximum.
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(15);
/// Time limit for `welcome`.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for sending one message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for the first connection.
const FIRST_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for delivering rows after the owner's request to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Time limit for reconnecting to the holder of a run after the end of the part.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings of a member.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Join address with the token.
    pub url: JoinUrl,
    /// Name of the member.
    pub name: String,
    /// Description of the member.
    pub about: MemberInfo,
    /// Server to measure against instead of the run's server.
    pub server: Option<ServerName>,
    /// Limits set by the owner.
    pub limits: Limits,
    /// Folder for rows until they are delivered.
    pub spool: SpoolFolder,
}

/// Event of a member, for its user interface.
#[derive(Debug)]
pub enum MemberEvent<'a> {
    /// Registered with the fleet of this name.
    Joined(&'a str),
    /// Disconnected for this reason; it reconnects by itself.
    Disconnected(&'a ConnectionError),
    /// Takes part in this run.
    RunStarted(&'a str),
    /// The part in this run ended, with a description.
    RunEnded(&'a str, &'a str),
    /// The owner stops the member during this run.
    Leaving(&'a str),
    /// Late results of this run were delivered.
    Delivered(&'a str),
}

/// Reason for the end of a member.
#[derive(Debug, thiserror::Error)]
pub enum MemberError {
    /// The join address has no token.
    #[error(
        "the token is missing: copy the complete address that `netburn fleet serve` prints, or pass the part after the `#` with --token"
    )]
    MissingToken,
    /// The controller can't be verified.
    #[error(transparent)]
    ControllerEndpoint(ConnectError),
    /// The controller can't be reached.
    #[error("{why}; tried {tries} times in {FIRST_CONNECT_TIMEOUT}")]
    Unreachable {
        /// Cause of the last failed attempt.
        why: ConnectionError,
        /// Number of attempts.
        tries: u32,
    },
    /// The controller rejected the member.
    #[error("the controller rejected this device: {}", .0.reason)]
    Rejected(Rejected),
}

/// A received message, or the reason for the end of the connection. Messages for the thread that delivers late results
/// have a slot in its queue.
type Incoming = (Result<ToMember, ConnectionError>, Option<Slot>);

/// Reason for the end of a connection.
enum Closed {
    /// Temporary; reconnect.
    Retry(ConnectionError),
    /// Permanent.
    Failed(MemberError),
    /// The owner stopped the member.
    Left,
}

impl From<ConnectionError> for Closed {
    fn from(error: ConnectionError) -> Closed {
        Closed::Retry(error)
    }
}

/// A registered connection.
struct StandingConnection {
    sender: Sender,
    incoming: mpsc::Receiver<Incoming>,
    addresses: SocketAddrs,
    /// Ends when dropped.
    _reader: JoinSet<()>,
}

/// A member of a fleet.
pub struct Member<N> {
    settings: Settings,
    token: String,
    endpoint: ControllerEndpoint,
    on_event: N,
    /// True if it has been registered at least once.
    registered: bool,
    current: Option<CurrentRun>,
    /// Invitation to another run, for after the current one.
    next: Option<Invite>,
    /// Bytes moved by all parts, if the rate is limited.
    rate_budget: Option<RateBudget>,
    /// Results on the disk, for the next connection; `None` if they must be read.
    spooled: Option<Vec<PendingResults>>,
}

impl<N: FnMut(MemberEvent<'_>)> Member<N> {
    /// Creates a member that is not connected yet.
    ///
    /// # Errors
    /// [`MemberError::MissingToken`] if the join address has no token.
    pub fn new(settings: Settings, on_event: N) -> Result<Self, MemberError> {
        let token = settings.url.token.clone().ok_or(MemberError::MissingToken)?;
        Ok(Member {
            endpoint: ControllerEndpoint::new(&settings.url),
            rate_budget: settings.limits.rate.map(RateBudget::new),
            settings,
            token,
            on_event,
            registered: false,
            current: None,
            next: None,
            spooled: None,
        })
    }

    /// Opens a connection to the controller and closes it, without registering.
    ///
    /// Returns the state of the port of a run's server on the controller's machine, over the IP version with which the
    /// controller was reached; `None` if the member does not use that server.
    ///
    /// # Errors
    /// If the controller can't be reached or verified.
    pub async fn check(&self) -> Result<Option<ServerPort>, MemberError> {
        let opened = self.endpoint.open(JOIN, MAX_TO_MEMBER).await;
        let (_, addresses) = opened.map_err(MemberError::ControllerEndpoint)?;
        let uses_it = self.settings.about.role == Role::Agent && self.settings.server.is_none();
        match addresses.theirs.filter(|_| uses_it) {
            Some(controller) => Ok(Some(server_port(with_port(controller, PORT)).await)),
            None => Ok(None),
        }
    }

    /// Registers and stays connected until `stop` completes.
    ///
    /// # Errors
    /// If the controller rejects the member or can't be reached the first time.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), MemberError> {
        let (mut late, thread) = disk_queue(late::MAX_WAITING_REQUESTS);
        let deliveries = Deliveries::new(self.settings.spool.clone());
        tokio::task::spawn_blocking(move || deliveries.run(thread));
        let ended = self.stay_connected(stop, &mut late).await;
        for reply in late.finish().await {
            if let Reply::Delivered(run) = reply {
                (self.on_event)(MemberEvent::Delivered(&run));
            }
        }
        ended
    }

    async fn stay_connected(
        &mut self,
        stop: impl Future<Output = ()>,
        late: &mut LateQueue,
    ) -> Result<(), MemberError> {
        let stop = stop.shared();
        let (begun, mut tries) = (Instant::now(), 0);
        let mut chance = Seed(seed()).stream("fleet-member", 0);
        let mut backoff = Backoff::new(MIN_BACKOFF, MAX_BACKOFF);
        loop {
            tries += 1;
            let ended = match self.register(stop.clone(), late).await {
                Ok(connection) => {
                    backoff.reset();
                    self.run_connection(connection, stop.clone(), late).await
                }
                Err(closed) => Err(closed),
            };
            let Err(closed) = ended;
            match closed {
                Closed::Failed(error) => return Err(error),
                Closed::Left => return Ok(()),
                Closed::Retry(why) if !self.registered && begun.elapsed() >= to_std(FIRST_CONNECT_TIMEOUT) => {
                    return Err(MemberError::Unreachable { why, tries });
                }
                Closed::Retry(reason) => (self.on_event)(MemberEvent::Disconnected(&reason)),
            }
            let delay = backoff.next_delay(|bound| chance.duration_below(bound));
            let mut until = Instant::now() + to_std(delay);
            if !self.registered {
                until = until.min(begun + to_std(FIRST_CONNECT_TIMEOUT));
            }
            if !self.wait_until(until, stop.clone()).await {
                return Ok(());
            }
        }
    }

    /// Waits without a connection. Returns false if the owner stops the member meanwhile, after the end of its part.
    async fn wait_until(&mut self, until: Instant, stop: impl Future<Output = ()>) -> bool {
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until.into()) => return true,
                run_end = wait_for_run_end(&mut self.current) => self.handle_run_end(run_end),
                () = &mut stop => break,
            }
        }
        self.shutdown();
        if self.current.is_some()
            && let Ok(run_end) = timeout(to_std(SHUTDOWN_GRACE), wait_for_run_end(&mut self.current)).await
        {
            self.handle_run_end(run_end);
        }
        false
    }

    /// Opens a connection and registers.
    async fn register(
        &mut self,
        stop: impl Future<Output = ()> + Clone,
        late: &mut LateQueue,
    ) -> Result<StandingConnection, Closed> {
        // Read before the connection is opened, because the controller waits for the registration only for
        // `HELLO_TIMEOUT`. Attempts that open no connection do not read them again.
        if self.spooled.is_none() {
            let spooled = tokio::select! {
                spooled = self.read_spools(late) => spooled,
                () = stop.clone() => return Err(Closed::Left),
            };
            self.spooled = Some(spooled);
        }
        let opened = tokio::select! {
            opened = self.endpoint.open(JOIN, MAX_TO_MEMBER) => opened,
            () = stop => return Err(Closed::Left),
        };
        let (channel, addresses) = opened.map_err(|error| self.not_opened(error))?;
        let Channel { receiver, mut sender } = channel;
        let register = FromMember::Register(Register {
            protocol: messages::VERSION,
            name: self.settings.name.clone(),
            token: self.token.clone(),
            version: concat!("netburn ", env!("CARGO_PKG_VERSION")).to_owned(),
            about: self.settings.about.clone(),
            pending: self.pending_results(),
        });
        send(&mut sender, &register).await?;
        // A separate task receives messages, because cancellation could lose part of a message.
        let (tell, incoming) = mpsc::channel(16);
        let mut reader = JoinSet::new();
        reader.spawn(read_loop(receiver, late.slots(), tell));
        let mut connection = StandingConnection {
            sender,
            incoming,
            addresses,
            _reader: reader,
        };
        self.wait_for_welcome(&mut connection).await?;
        Ok(connection)
    }

    /// Decides whether another attempt to connect may be successful.
    fn not_opened(&self, error: ConnectError) -> Closed {
        let permanent = match &error {
            ConnectError::NoFingerprint => true,
            ConnectError::NotAController { .. } => !self.registered,
            ConnectError::Dial { source, .. } => !self.registered && source.kind() == std::io::ErrorKind::InvalidData,
            _ => false,
        };
        if permanent {
            Closed::Failed(MemberError::ControllerEndpoint(error))
        } else {
            Closed::Retry(ConnectionError::Unreachable(Box::new(error)))
        }
    }

    async fn wait_for_welcome(&mut self, connection: &mut StandingConnection) -> Result<(), Closed> {
        let first = timeout(to_std(WELCOME_TIMEOUT), connection.incoming.recv()).await;
        let Ok(Some((first, _))) = first else {
            return Err(ConnectionError::NoAnswer(WELCOME_TIMEOUT).into());
        };
        match first? {
            ToMember::Welcome(Registered { fleet, .. }) => {
                self.registered = true;
                (self.on_event)(MemberEvent::Joined(&fleet));
                Ok(())
            }
            ToMember::Rejected(rejected) if self.registered && is_temporary(rejected.code) => {
                Err(ConnectionError::Rejected(rejected).into())
            }
            ToMember::Rejected(rejected) => Err(Closed::Failed(MemberError::Rejected(rejected))),
            _ => Err(ConnectionError::OutOfOrder.into()),
        }
    }

    /// Runs a registered connection to its end.
    async fn run_connection(
        &mut self,
        mut connection: StandingConnection,
        stop: impl Future<Output = ()>,
        late: &mut LateQueue,
    ) -> Result<Infallible, Closed> {
        // Whether there may be a message to send, and whether the thread is reading it.
        let (mut wake, mut reading) = (true, false);
        let mut heartbeat = Timer::new(HEARTBEAT_INTERVAL);
        // Time of leaving, after the owner's request to stop.
        let mut leave: Option<Instant> = None;
        let mut stop = std::pin::pin!(stop);
        loop {
            if leave.is_some_and(|until| self.current.is_none() || until <= Instant::now()) {
                let _ = send(&mut connection.sender, &FromMember::Bye).await;
                return Err(Closed::Left);
            }
            if heartbeat.poll(Instant::now()) {
                send(&mut connection.sender, &FromMember::Heartbeat).await?;
            }
            if wake && !reading {
                let busy = self.current.as_ref().map(|current| current.run.clone());
                (wake, reading) = (false, true);
                // At most one at a time, so it needs no slot.
                request(late, None, Request::Next(busy));
            }
            let due = leave.unwrap_or_else(|| heartbeat.due());
            tokio::select! {
                received = connection.incoming.recv() => {
                    let (message, slot) = received.ok_or(ConnectionError::from(ChannelError::Closed))?;
                    self.handle_message(message?, slot, connection.addresses, late)?;
                }
                reply = reply(late) => match reply {
                    Reply::Next(None) => {
                        reading = false;
                        continue;
                    }
                    Reply::Next(Some(message)) => {
                        reading = false;
                        send(&mut connection.sender, &message).await?;
                    }
                    Reply::Delivered(run) => (self.on_event)(MemberEvent::Delivered(&run)),
                    Reply::Pending(_) => {}
                },
                run_end = wait_for_run_end(&mut self.current) => self.handle_run_end(run_end),
                () = &mut stop, if leave.is_none() => {
                    self.shutdown();
                    leave = Some(Instant::now() + to_std(SHUTDOWN_GRACE));
                }
                () = tokio::time::sleep_until(due.into()) => {}
            }
            wake = true;
            if self.current.is_none()
                && leave.is_none()
                && let Some(invite) = self.next.take()
            {
                self.start_run(invite, connection.addresses);
            }
        }
    }

    fn handle_message(
        &mut self,
        message: ToMember,
        slot: Option<Slot>,
        connection_addresses: SocketAddrs,
        late: &LateQueue,
    ) -> Result<(), Closed> {
        match message {
            ToMember::Invite(invite) => {
                let same = |current: &CurrentRun| current.run == invite.run && current.name == invite.name;
                if !self.current.as_ref().is_some_and(same) && messages::is_run(&invite.run) {
                    match self.current {
                        Some(_) => self.next = Some(invite),
                        None => self.start_run(invite, connection_addresses),
                    }
                }
            }
            ToMember::RequestResults(results) => request(late, slot, Request::Results(results.run)),
            ToMember::Ack(ack) => request(late, slot, Request::Acked(ack.run, ack.sequence)),
            ToMember::Discard(discard) => request(late, slot, Request::Discard(discard.run)),
            ToMember::Rejected(rejected) => {
                tracing::warn!(rejected.reason, "rejected");
                request(late, slot, Request::Rejected);
            }
            ToMember::Bye(Bye {
                code: Some(code @ RejectReason::TokenRevoked),
                reason,
            }) => {
                let reason = reason.unwrap_or_else(|| "the token was revoked".to_owned());
                return Err(Closed::Failed(MemberError::Rejected(Rejected { code, reason })));
            }
            ToMember::Bye(bye) => return Err(ConnectionError::Bye(bye).into()),
            ToMember::Welcome(_) => {}
        }
        Ok(())
    }
}

impl<N: FnMut(MemberEvent<'_>)> Member<N> {
    /// Resets the deliveries for a new connection, and returns the results on the disk.
    async fn read_spools(&mut self, late: &mut LateQueue) -> Vec<PendingResults> {
        // Fails only if the thread has panicked. The end of its replies shows that.
        let _ = late.put(Request::Connecting).await;
        loop {
            match reply(late).await {
                Reply::Pending(pending) => return pending,
                Reply::Delivered(run) => (self.on_event)(MemberEvent::Delivered(&run)),
                // For the connection before.
                Reply::Next(_) => {}
            }
        }
    }

    /// Results that the member offers over a new connection, including those of the current run. It offers results
    /// only once per connection, and a restarted controller does not know that run. They are delivered after the end
    /// of the part.
    fn pending_results(&mut self) -> Vec<PendingResults> {
        let before = self.spooled.take().unwrap_or_default();
        let current = self.current.as_ref().map(|current| PendingResults {
            run: current.run.clone(),
            name: current.name.clone(),
            messages: 0,
        });
        let is_current = |run: &str| self.current.as_ref().is_some_and(|current| current.run == run);
        let before = before.into_iter().filter(|results| !is_current(&results.run));
        current.into_iter().chain(before).take(MAX_PENDING_RUNS).collect()
    }
}

impl<N> Drop for Member<N> {
    fn drop(&mut self) {
        if let Some(current) = &self.current {
            current.task.abort();
        }
    }
}

/// Adds a request to the thread. Does not block.
fn request(late: &LateQueue, slot: Option<Slot>, request: Request) {
    // Fails only if the thread has panicked. The end of its replies shows that.
    let _ = match slot {
        Some(slot) => late.put_reserved(slot, request),
        None => late.put_unlimited(request),
    };
}

/// Returns whether a controller that rejects a registration for this reason may accept the next one. It may not have
/// noticed the end of the old connection, it may restart, or many devices reconnect at the same time.
const fn is_temporary(code: RejectReason) -> bool {
    matches!(
        code,
        RejectReason::NameTaken | RejectReason::LimitReached | RejectReason::Timeout | RejectReason::ShuttingDown
    )
}

/// Waits for a reply of the thread. Cancellation safe.
async fn reply(late: &mut LateQueue) -> Reply {
    late.reply().await.expect("the thread ends after its queue")
}

async fn send(sender: &mut Sender, message: &FromMember) -> Result<(), ConnectionError> {
    match timeout(to_std(SEND_TIMEOUT), sender.message(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(ConnectionError::SendTimeout(SEND_TIMEOUT)),
    }
}

/// Forwards received messages, and at the end the reason.
async fn read_loop(mut receiver: Receiver, slots: Slots, tell: mpsc::Sender<Incoming>) {
    loop {
        let received = receive(&mut receiver).await;
        let last = received.is_err();
        let is_request = matches!(
            received,
            Ok(ToMember::RequestResults(_) | ToMember::Ack(_) | ToMember::Discard(_) | ToMember::Rejected(_))
        );
        // A slow disk delays the reading of this connection, but not the heartbeats.
        let slot = if is_request { slots.reserve().await.ok() } else { None };
        if tell.send((received, slot)).await.is_err() || last {
            return;
        }
    }
}

async fn receive(receiver: &mut Receiver) -> Result<ToMember, ConnectionError> {
    Ok(receiver.message().await??)
}

/// Seed of the jitter, which affects no measured value.
fn seed() -> u64 {
    let token = join_url::new_token().unwrap_or_default();
    token
        .bytes()
        .fold(0, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)))
}
