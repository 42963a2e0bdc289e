//! What one connection may say when.

use crate::clock::{Exchange, Stamp};
use crate::protocol::{self, Batch, Hello, Malformed, Ping, Pong, Ready, RejectReason, ToController};
use netburn_record::Health;

/// A connection, numbered by the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// How many refused messages a participant may send before its connection ends.
pub const MAX_REFUSALS: u32 = 16;

/// One participant's conversation, over one connection or several after each other.
///
/// **Call order:** [`handle_message`](Self::handle_message) for what comes, [`refuse`](Self::refuse) when that is refused;
/// the other commands when the corresponding message goes out. A message that is refused changes nothing.
#[derive(Debug, Clone)]
pub struct ProtocolState {
    stage: Stage,
    refusals: u32,
    pings: u64,
    outstanding: Option<(u64, Stamp)>,
    exchanges: Vec<Exchange>,
    rows: u64,
    health: bool,
    /// It goes on over another connection than it began on, and may say again what it can't know to have arrived.
    resumed: bool,
}

/// How far a conversation is. Only ever further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It has not said who it is.
    Unauthenticated,
    /// It has been welcomed.
    Joined,
    /// It knows its part.
    Assigned,
    /// It can start.
    Ready,
    /// It was told when.
    Started,
    /// Its part is over.
    Done,
    /// It has left.
    Left,
}

/// What a message amounts to.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It wants to join: to be admitted or refused.
    Joins(Hello),
    /// It answered a ping; the exchange is kept.
    Answered,
    /// It can start, or says why not; a server says where it answers.
    Ready(Ready),
    /// New rows, the next in order.
    Rows(Batch),
    /// Rows that were taken already: to be acknowledged again.
    Again,
    /// It lives.
    Alive,
    /// How well it measured.
    Health(Health),
    /// Its part is over, with what went wrong.
    Done(Option<String>),
    /// It leaves: as it should, or before its part is over.
    Leaves {
        /// Whether it is too early.
        early: bool,
        /// Why, for people.
        reason: Option<String>,
    },
}

/// Why a message is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// It could not be read.
    #[error("{0}")]
    Malformed(#[from] Malformed),
    /// It speaks another version.
    #[error(
        "protocol {theirs} is spoken there, {} here; use the same netburn on both sides",
        protocol::VERSION
    )]
    Version {
        /// Its version.
        theirs: u32,
    },
    /// It is no name.
    #[error("a name is 1 to {} letters, digits and `-`", protocol::MAX_NAME)]
    Name,
    /// The token is not the fleet's.
    #[error("the token is not this fleet's")]
    Token,
    /// Nobody of that name is wanted.
    #[error("nobody called `{0}` is expected in this role")]
    Unexpected(String),
    /// Somebody of that name is here.
    #[error("`{0}` is already connected")]
    Duplicate(String),
    /// It comes too late.
    #[error("the run has begun; `{0}` can't join it any more")]
    Late(String),
    /// A message that has no place here.
    #[error("`{message}` has no place {}", stage.place())]
    OutOfOrder {
        /// The message's type.
        message: &'static str,
        /// Where the conversation is.
        stage: Stage,
    },
    /// A pong to no ping.
    #[error("a pong to no ping")]
    NoPing,
    /// A pong whose times contradict each other.
    #[error("a pong whose times contradict each other")]
    BadTimes,
    /// Rows are missing before these.
    #[error("rows {got} came where {expected} were next")]
    Gap {
        /// What came.
        got: u64,
        /// What should have.
        expected: u64,
    },
    /// Rows that can't be the sender's.
    #[error("{0}")]
    Row(#[from] protocol::WrongRow),
    /// A server's ready without its address, or an agent's with one.
    #[error("`ready` must say where a server answers, and only a server's may")]
    Address,
}

impl Rejection {
    /// Code of the rejection on the wire.
    #[must_use]
    pub fn code(&self) -> RejectReason {
        match self {
            Rejection::Malformed(_) => RejectReason::InvalidMessage,
            Rejection::Version { .. } => RejectReason::VersionMismatch,
            Rejection::Name => RejectReason::InvalidName,
            Rejection::Token => RejectReason::InvalidToken,
            Rejection::Unexpected(_) => RejectReason::UnknownName,
            Rejection::Duplicate(_) => RejectReason::NameTaken,
            Rejection::Late(_) => RejectReason::RunStarted,
            Rejection::OutOfOrder { .. } | Rejection::NoPing | Rejection::BadTimes | Rejection::Address => {
                RejectReason::OutOfOrder
            }
            Rejection::Gap { .. } | Rejection::Row(_) => RejectReason::InvalidRows,
        }
    }
}

impl Stage {
    /// Where a message has no place, for people.
    fn place(self) -> &'static str {
        match self {
            Stage::Unauthenticated => "before `hello`",
            Stage::Joined => "before an assignment",
            Stage::Assigned => "before `ready`",
            Stage::Ready => "before `start`",
            Stage::Started => "while it runs",
            Stage::Done => "after `done`",
            Stage::Left => "after `bye`",
        }
    }
}

impl Default for ProtocolState {
    fn default() -> Self {
        ProtocolState {
            stage: Stage::Unauthenticated,
            refusals: 0,
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
    /// How far it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether a ping waits for its pong.
    #[must_use]
    pub fn is_pinged(&self) -> bool {
        self.outstanding.is_some()
    }

    /// The exchanges since they were last taken.
    #[must_use]
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// The last row message that was taken.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether it has sent too much that was refused.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.refusals >= MAX_REFUSALS || (self.stage == Stage::Unauthenticated && self.refusals > 0)
    }

    /// A message came at `at`.
    ///
    /// # Errors
    /// When it has no place here, or is none. See [`is_exhausted`](Self::is_exhausted).
    pub fn handle_message(&mut self, at: Stamp, message: Result<ToController, Malformed>) -> Result<Step, Rejection> {
        self.step(at, message?)
    }

    /// What it said was refused, here or for what it means elsewhere.
    pub fn refuse(&mut self) {
        self.refusals += 1;
    }

    /// It is welcomed.
    pub fn welcome(&mut self) {
        self.advance(Stage::Joined);
    }

    /// It lost its connection. What was agreed before the start is to be agreed anew; after it, it goes on where it was.
    pub fn interrupt(&mut self) {
        self.outstanding = None;
        if self.stage < Stage::Started {
            *self = ProtocolState {
                pings: self.pings,
                refusals: self.refusals,
                ..ProtocolState::default()
            };
        }
        self.resumed = true;
    }

    /// It is given its part.
    pub fn assign(&mut self) {
        self.advance(Stage::Assigned);
    }

    /// It is told when to start.
    pub fn start(&mut self) {
        self.advance(Stage::Started);
    }

    /// The next ping, sent at `now`. One that was not answered is forgotten.
    pub fn ping(&mut self, now: Stamp) -> Ping {
        self.pings += 1;
        self.outstanding = Some((self.pings, now));
        Ping { id: self.pings }
    }

    /// Hands over the exchanges and begins to gather anew.
    pub fn take_exchanges(&mut self) -> Vec<Exchange> {
        std::mem::take(&mut self.exchanges)
    }

    fn advance(&mut self, stage: Stage) {
        self.stage = self.stage.max(stage);
    }

    fn step(&mut self, at: Stamp, message: ToController) -> Result<Step, Rejection> {
        let stage = self.stage;
        let out_of_order = |message| Err(Rejection::OutOfOrder { message, stage });
        match message {
            ToController::Hello(hello) if stage == Stage::Unauthenticated => {
                if hello.protocol != protocol::VERSION {
                    return Err(Rejection::Version { theirs: hello.protocol });
                }
                if !protocol::is_name(&hello.name) {
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
