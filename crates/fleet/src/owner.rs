//! The owner's end: what this user's commands ask of this user's controller.

use crate::contact::{Contact, ContactError};
use crate::hub::owner::{FromOwner, Hold, MAX_OWNER, Members, Open, OwnerWelcome, Present, ToOwner};
use crate::hub::{OWNER, State, StateError, Whereabouts};
use crate::join_url::{JoinUrl, Place};
use crate::own_clock::std;
use crate::protocol::{self, Malformed};
use crate::transport::{Channel, ChannelError};
use netburn_units::Duration;
use tokio::time::timeout;

/// How long a controller of this machine has to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// A conversation with this user's controller.
#[derive(Debug)]
pub struct Owner {
    channel: Channel,
    welcome: OwnerWelcome,
}

/// Why this user's controller can't be asked.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    /// There is none.
    #[error("no fleet's controller of yours runs on this machine; start one with `netburn fleet serve`")]
    None,
    /// Where it is can't be found out.
    #[error(transparent)]
    State(#[from] StateError),
    /// It doesn't answer.
    #[error("the fleet's controller (process {process}) does not answer: {source}")]
    Silent {
        /// Its process.
        process: u32,
        /// Why.
        source: ContactError,
    },
    /// The conversation ended.
    #[error("the fleet's controller is gone: {0}")]
    Gone(#[from] ChannelError),
    /// It refuses.
    #[error("the fleet's controller refuses: {0}")]
    Refused(String),
    /// It says what makes no sense.
    #[error("the fleet's controller is not understood: {0}")]
    Malformed(#[from] Malformed),
    /// It says nothing.
    #[error("the fleet's controller has not answered for {ANSWER}")]
    Slow,
}

impl Owner {
    /// Finds this user's controller and opens the conversation.
    ///
    /// # Errors
    /// When there is none, or it doesn't answer.
    pub async fn find(state: &State) -> Result<Owner, OwnerError> {
        let Some(whereabouts) = state.whereabouts()? else {
            return Err(OwnerError::None);
        };
        let contact = Contact::new(&near(&whereabouts).ok_or(OwnerError::None)?);
        let (channel, _) = contact.open(OWNER, MAX_OWNER).await.map_err(|source| match source {
            // It was killed and could not take back what it had announced.
            ContactError::Dial { .. } => OwnerError::None,
            source => OwnerError::Silent {
                process: whereabouts.process,
                source,
            },
        })?;
        let mut channel = channel;
        let open = Open {
            protocol: protocol::VERSION,
            secret: whereabouts.secret,
        };
        channel.sender.message(&FromOwner::Open(open)).await?;
        match timeout(std(ANSWER), channel.receiver.message::<ToOwner>()).await {
            Err(_) => Err(OwnerError::Slow),
            Ok(answer) => match answer?? {
                ToOwner::Welcome(welcome) => Ok(Owner { channel, welcome }),
                ToOwner::Refused(refused) => Err(OwnerError::Refused(refused.reason)),
                _ => Err(OwnerError::Refused("it does not say welcome".to_owned())),
            },
        }
    }

    /// What it said first.
    #[must_use]
    pub fn welcome(&self) -> &OwnerWelcome {
        &self.welcome
    }

    /// Who is here.
    ///
    /// # Errors
    /// When it doesn't say so.
    pub async fn members(&mut self) -> Result<Vec<Present>, OwnerError> {
        loop {
            if let ToOwner::Members(Members { members }) = self.answer().await? {
                return Ok(members);
            }
        }
    }

    /// Throws everybody out, for the new addresses to join.
    ///
    /// # Errors
    /// When it doesn't.
    pub async fn revoke(&mut self) -> Result<OwnerWelcome, OwnerError> {
        self.say(&FromOwner::Revoke).await?;
        loop {
            match self.answer().await? {
                ToOwner::Revoked(welcome) => return Ok(welcome),
                ToOwner::Refused(refused) => return Err(OwnerError::Refused(refused.reason)),
                _ => {}
            }
        }
    }

    /// Holds a run.
    ///
    /// # Errors
    /// When it is refused: a member is in another run.
    pub(crate) async fn hold(&mut self, hold: &Hold) -> Result<(), OwnerError> {
        self.say(&FromOwner::Hold(hold.clone())).await?;
        loop {
            match self.answer().await? {
                ToOwner::Held(_) => return Ok(()),
                ToOwner::Refused(refused) => return Err(OwnerError::Refused(refused.reason)),
                _ => {}
            }
        }
    }

    /// Says something.
    ///
    /// # Errors
    /// When the conversation is over.
    pub async fn say(&mut self, message: &FromOwner) -> Result<(), OwnerError> {
        Ok(self.channel.sender.message(message).await?)
    }

    /// The next thing it says. What is heard of it is not lost when this is given up, but what is half heard may be: then
    /// the conversation is over.
    ///
    /// # Errors
    /// When the conversation is over.
    pub(crate) async fn hear(&mut self) -> Result<ToOwner, OwnerError> {
        Ok(self.channel.receiver.message().await??)
    }

    /// Who is here, when that changes next.
    ///
    /// # Errors
    /// When the conversation is over.
    pub(crate) async fn news(&mut self) -> Result<Vec<Present>, OwnerError> {
        loop {
            if let ToOwner::Members(Members { members }) = self.hear().await? {
                return Ok(members);
            }
        }
    }

    /// Ends the conversation.
    pub(crate) async fn close(&mut self) {
        self.channel.sender.close().await;
    }

    async fn answer(&mut self) -> Result<ToOwner, OwnerError> {
        let heard = timeout(std(ANSWER), self.channel.receiver.message()).await;
        Ok(heard.map_err(|_| OwnerError::Slow)???)
    }
}

/// How it is reached on this machine.
fn near(whereabouts: &Whereabouts) -> Option<JoinUrl> {
    let place = match (&whereabouts.socket, whereabouts.loopback) {
        (Some(socket), _) => Place::Unix(socket.clone()),
        (None, Some(at)) => Place::Network {
            host: at.ip().to_string(),
            port: at.port(),
            tls: false,
        },
        (None, None) => return None,
    };
    Some(JoinUrl {
        place,
        token: None,
        fingerprint: None,
    })
}
