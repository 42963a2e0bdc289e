//! From the connection to the start of the run, for agents and servers alike.

use super::*;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{Ready, Start};

/// Preparation of a part for the start. Its implementations are the agent's and the server's.
pub(crate) trait Prepare {
    /// Running part, from the start on.
    type Part;

    /// Handles an assignment: replaces or keeps the `prepared` part. Returns the answer; `None` to other messages.
    /// After a reconnect before the start the controller repeats the assignment.
    ///
    /// # Errors
    /// Human-readable reason why the part is not possible.
    fn prepare(
        &mut self,
        message: ToAgent,
        prepared: &mut Option<Self::Part>,
    ) -> impl Future<Output = Result<Option<Ready>, String>> + Send;
}

/// Start of a prepared part.
pub(crate) struct Started<P> {
    pub(crate) start: Start,
    /// Time zero of the run, on this process's clock.
    pub(crate) zero: Instant,
    pub(crate) part: P,
}

/// Reason why a part does not start.
pub(crate) enum NotStarted {
    /// The controller stopped it, or, with a reason, it is not possible.
    Ended(Option<String>),
    /// The controller was lost, or ended the run.
    Failed(AgentError),
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

    /// Answers assignments until the controller starts the prepared part.
    pub(crate) async fn wait_for_start<P: Prepare>(
        &mut self,
        preparation: &mut P,
        shutdown: &mut ShutdownSignal,
    ) -> Result<Started<P::Part>, NotStarted> {
        let mut prepared = None;
        loop {
            let message = tokio::select! {
                message = self.recv() => message.map_err(NotStarted::Failed)?,
                () = shutdown.requested() => return Err(NotStarted::Ended(Some(LEFT_BY_OWNER.to_owned()))),
            };
            match message {
                ToAgent::Start(start) => {
                    let Some(part) = prepared.take() else { continue };
                    let zero = self.clock.when(Stamp(start.at)).ok_or_else(|| {
                        NotStarted::Ended(Some("the start is outside the range of this clock".to_owned()))
                    })?;
                    return Ok(Started { start, zero, part });
                }
                ToAgent::Stop(_) => return Err(NotStarted::Ended(None)),
                ToAgent::Bye(bye) => return Err(NotStarted::Failed(AgentError::RunEnded(bye))),
                message => {
                    let ready = preparation.prepare(message, &mut prepared).await;
                    if let Some(ready) = ready.map_err(|error| NotStarted::Ended(Some(error)))? {
                        self.send(ToController::Ready(ready)).await;
                    }
                }
            }
        }
    }

    /// Ends the session of a part of `run` that does not start.
    pub(crate) async fn not_started(self, run: &str, why: NotStarted) -> Result<(), AgentError> {
        match why {
            NotStarted::Failed(error) => Err(error),
            NotStarted::Ended(error) => {
                let run = run.to_owned();
                self.finish(LateResultsEnd {
                    run,
                    error,
                    ..LateResultsEnd::default()
                })
                .await
            }
        }
    }

    /// Returns the next message other than a ping. After a reconnect the controller repeats the assignment.
    async fn recv(&mut self) -> Result<ToAgent, AgentError> {
        loop {
            self.check_connection(None)?;
            if let SessionEvent::Message(message) = self.next_event().await? {
                return Ok(message);
            }
        }
    }
}
