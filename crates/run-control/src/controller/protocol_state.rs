//! Allowed messages of one session.

use netburn_protocol::clock::{Exchange, Stamp};
use netburn_protocol::messages::{self, Batch, Hello, Malformed, Ping, Pong, Ready, Rejection, ToController};
use netburn_record::Health;

/// Number of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Maximum number of rejected messages of a session before its connection closes.
pub const MAX_REJECTIONS: u32 = 16;

/// Protocol state of one session with an agent or server, over one or several connections.
///
/// **Call order:** [`handle_message`](Self::handle_message) for each received message, and
/// [`reject`](Self::reject) if it is rejected. Call the other commands when the corresponding message is
/// sent. A rejected message changes nothing.
#[derive(Debug, Clone)]
pub struct ProtocolState {
    stage: Stage,
    rejections: u32,
    pings: u64,
    outstanding: Option<(u64, Stamp)>,
    exchanges: Vec<Exchange>,
    rows: u64,
    health: bool,
    /// The session continues on another connection. The agent may repeat messages whose arrival it can't
    /// know.
    resumed: bool,
}

/// Stage of a session. It only advances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The peer has not authenticated.
    Unauthenticated,
    /// The controller sent `welcome`.
    Joined,
    /// The controller sent the assignment.
    Assigned,
    /// The agent sent `ready`.
    Ready,
    /// The controller sent `start`.
    Started,
    /// The agent sent `done`.
    Done,
    /// The agent sent `bye`.
    Left,
}

/// Accepted message.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A `hello`, to be admitted or rejected.
    Joins(Hello),
    /// A pong; the exchange is stored.
    Answered,
    /// Ready, or the reason why not; for a server, with its address.
    Ready(Ready),
    /// New rows, the next in order.
    Rows(Batch),
    /// Rows that were received before and must be acknowledged again.
    Again,
    /// A heartbeat.
    Alive,
    /// The self-report.
    Health(Health),
    /// The end of its part, with an error if there was one.
    Done(Option<String>),
    /// The agent leaves.
    Leaves {
        /// True if it leaves before the end of its part.
        early: bool,
        /// Human-readable reason.
        reason: Option<String>,
    },
}

impl Stage {
    /// Human-readable description of the stage.
    fn place(self) -> &'static str {
        match self {
            Stage::Unauthenticated => "before `hello`",
            Stage::Joined => "before an assignment",
            Stage::Assigned => "before `ready`",
            Stage::Ready => "before `start`",
            Stage::Started => "during the run",
            Stage::Done => "after `done`",
            Stage::Left => "after `bye`",
        }
    }
}

impl Default for ProtocolState {
    fn default() -> Self {
        ProtocolState {
            stage: Stage::Unauthenticated,
            rejections: 0,
            pings: 0,
            outstanding: None,
            exchanges: Vec::new(),
            rows: 0,
            health: false,
            resumed: false,
        }
    }
}

impl ProtocolState {
    /// Stage of the session.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Exchanges since the last [`take_exchanges`](Self::take_exchanges).
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Last received sequence number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns whether too many messages were rejected.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.rejections >= MAX_REJECTIONS || (self.stage == Stage::Unauthenticated && self.rejections > 0)
    }

    /// Handles a message received at `at`.
    ///
    /// # Errors
    /// [`Rejection`] if the message is invalid or not allowed at this stage. See
    /// [`is_exhausted`](Self::is_exhausted).
    pub fn handle_message(&mut self, at: Stamp, message: Result<ToController, Malformed>) -> Result<Step, Rejection> {
        self.step(at, message?)
    }

    /// Counts a rejected message.
    pub fn reject(&mut self) {
        self.rejections += 1;
    }

    /// Notes that `welcome` was sent.
    pub fn welcome(&mut self) {
        self.advance(Stage::Joined);
    }

    /// Handles the loss of the connection. Before the start the session begins again; after the start it
    /// continues.
    pub fn interrupt(&mut self) {
        self.outstanding = None;
        if self.stage < Stage::Started {
            *self = ProtocolState {
                pings: self.pings,
                rejections: self.rejections,
                ..ProtocolState::default()
            };
        }
        self.resumed = true;
    }

    /// Notes that the assignment was sent.
    pub fn assign(&mut self) {
        self.advance(Stage::Assigned);
    }

    /// Notes that `start` was sent.
    pub fn start(&mut self) {
        self.advance(Stage::Started);
    }

    /// Creates the next ping, sent at `now`. Replaces an unanswered ping.
    pub fn ping(&mut self, now: Stamp) -> Ping {
        self.pings += 1;
        self.outstanding = Some((self.pings, now));
        Ping { id: self.pings }
    }

    /// Returns the exchanges and starts a new list.
    pub fn take_exchanges(&mut self) -> Vec<Exchange> {
        std::mem::take(&mut self.exchanges)
    }

    fn advance(&mut self, stage: Stage) {
        self.stage = self.stage.max(stage);
    }

    fn step(&mut self, at: Stamp, message: ToController) -> Result<Step, Rejection> {
        let stage = self.stage;
        let stage_text = stage.place();
        let out_of_order = |message| {
            Err(Rejection::OutOfOrder {
                message,
                stage: stage_text,
            })
        };
        match message {
            ToController::Hello(hello) if stage == Stage::Unauthenticated => {
                if hello.protocol != messages::VERSION {
                    return Err(Rejection::Version { theirs: hello.protocol });
                }
                if !messages::is_name(&hello.name) {
                    return Err(Rejection::Name);
                }
                Ok(Step::Joins(hello))
            }
            ToController::Hello(_) => out_of_order("hello"),
            ToController::Pong(pong) if (Stage::Joined..Stage::Left).contains(&stage) => self.answered(at, pong),
            ToController::Pong(_) => out_of_order("pong"),
            ToController::Ready(ready) if stage == Stage::Assigned => {
                self.advance(Stage::Ready);
                Ok(Step::Ready(ready))
            }
            ToController::Ready(_) => out_of_order("ready"),
            ToController::Rows(rows) if stage == Stage::Started => {
                if rows.sequence <= self.rows {
                    return Ok(Step::Again);
                }
                let expected = self.rows + 1;
                if rows.sequence != expected {
                    return Err(Rejection::Gap {
                        got: rows.sequence,
                        expected,
                    });
                }
                self.rows = expected;
                Ok(Step::Rows(rows.batch))
            }
            ToController::Rows(_) => out_of_order("rows"),
            ToController::Progress(_) if stage == Stage::Started => Ok(Step::Alive),
            ToController::Progress(_) => out_of_order("progress"),
            ToController::Health(message) if stage == Stage::Started && !self.health => {
                self.health = true;
                Ok(Step::Health(message.health))
            }
            ToController::Health(_) if self.resumed && self.health => Ok(Step::Alive),
            ToController::Health(_) => out_of_order("health"),
            ToController::Done(done) if (Stage::Assigned..Stage::Done).contains(&stage) => {
                self.advance(Stage::Done);
                Ok(Step::Done(done.error))
            }
            ToController::Done(_) if self.resumed && stage == Stage::Done => Ok(Step::Alive),
            ToController::Done(_) => out_of_order("done"),
            ToController::Bye(bye) if (Stage::Joined..Stage::Left).contains(&stage) => {
                self.advance(Stage::Left);
                Ok(Step::Leaves {
                    early: stage != Stage::Done,
                    reason: bye.reason,
                })
            }
            ToController::Bye(_) => out_of_order("bye"),
        }
    }

    fn answered(&mut self, at: Stamp, pong: Pong) -> Result<Step, Rejection> {
        let (_, sent) = self
            .outstanding
            .take_if(|(id, _)| *id == pong.id)
            .ok_or(Rejection::NoPing)?;
        let exchange = Exchange {
            sent,
            received: Stamp(pong.received),
            answered: Stamp(pong.sent),
            returned: at,
        };
        exchange.round_trip().ok_or(Rejection::BadTimes)?;
        self.exchanges.push(exchange);
        Ok(Step::Answered)
    }
}
