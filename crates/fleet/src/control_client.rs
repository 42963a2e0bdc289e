//! The owner's end: what this user's commands ask of this user's controller.

use crate::endpoint::{ConnectError, ControllerEndpoint};
use crate::hub::control::{
    AcquireRun, ControlReply, ControlRequest, ControlWelcome, MAX_CONTROL_MESSAGE, MemberStatus, Members, Open,
};
use crate::hub::{CONTROL, ControllerInfo, State, StateError};
use crate::join_url::{JoinUrl, Place};
use crate::own_clock::to_std;
use crate::protocol::{self, Malformed};
use crate::transport::{Channel, ChannelError};
use netburn_units::Duration;
use tokio::time::timeout;

/// How long a controller of this machine has to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// A conversation with this user's controller.
#[derive(Debug)]
pub struct ControlClient {
    channel: Channel,
    welcome: ControlWelcome,
}

/// Why this user's controller can't be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
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
        source: ConnectError,
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

impl ControlClient {
    /// Finds this user's controller and opens the conversation.
    ///
    /// # Errors
    /// When there is none, or it doesn't answer.
    pub async fn connect(state: &State) -> Result<ControlClient, ControlError> {
        let Some(controller_info) = state.controller_info()? else {
            return Err(ControlError::None);
        };
        let endpoint = ControllerEndpoint::new(&near(&controller_info).ok_or(ControlError::None)?);
        let (channel, _) = endpoint
            .open(CONTROL, MAX_CONTROL_MESSAGE)
            .await
            .map_err(|source| match source {
                // It was killed and could not take back what it had announced.
                ConnectError::Dial { .. } => ControlError::None,
                source => ControlError::Silent {
                    process: controller_info.process,
                    source,
                },
            })?;
        let mut channel = channel;
        let open = Open {
            protocol: protocol::VERSION,
            secret: controller_info.secret,
        };
        channel.sender.message(&ControlRequest::Open(open)).await?;
        match timeout(to_std(ANSWER), channel.receiver.message::<ControlReply>()).await {
            Err(_) => Err(ControlError::Slow),
            Ok(answer) => match answer?? {
                ControlReply::Welcome(welcome) => Ok(ControlClient { channel, welcome }),
                ControlReply::Refused(refused) => Err(ControlError::Refused(refused.reason)),
                _ => Err(ControlError::Refused("it does not say welcome".to_owned())),
            },
        }
    }

    /// What it said first.
    #[must_use]
    pub fn welcome(&self) -> &ControlWelcome {
        &self.welcome
    }

    /// Who is here.
    ///
    /// # Errors
    /// When it doesn't say so.
    pub async fn members(&mut self) -> Result<Vec<MemberStatus>, ControlError> {
        loop {
            if let ControlReply::Members(Members { members }) = self.answer().await? {
                return Ok(members);
            }
        }
    }

    /// Throws everybody out, for the new addresses to join.
    ///
    /// # Errors
    /// When it doesn't.
    pub async fn revoke(&mut self) -> Result<ControlWelcome, ControlError> {
        self.say(&ControlRequest::Revoke).await?;
        loop {
            match self.answer().await? {
                ControlReply::Revoked(welcome) => return Ok(welcome),
                ControlReply::Refused(refused) => return Err(ControlError::Refused(refused.reason)),
                _ => {}
            }
        }
    }

    /// Holds a run.
    ///
    /// # Errors
    /// When it is refused: a member is in another run.
    pub(crate) async fn acquire(&mut self, acquire: &AcquireRun) -> Result<(), ControlError> {
        self.say(&ControlRequest::Acquire(acquire.clone())).await?;
        loop {
            match self.answer().await? {
                ControlReply::Acquired(_) => return Ok(()),
                ControlReply::Refused(refused) => return Err(ControlError::Refused(refused.reason)),
                _ => {}
            }
        }
    }

    /// Says something.
    ///
    /// # Errors
    /// When the conversation is over.
    pub async fn say(&mut self, message: &ControlRequest) -> Result<(), ControlError> {
        Ok(self.channel.sender.message(message).await?)
    }

    /// The next thing it says. What is heard of it is not lost when this is given up, but what is half heard may be: then
    /// the conversation is over.
    ///
    /// # Errors
    /// When the conversation is over.
    pub(crate) async fn hear(&mut self) -> Result<ControlReply, ControlError> {
        Ok(self.channel.receiver.message().await??)
    }

    /// Who is here, when that changes next.
    ///
    /// # Errors
    /// When the conversation is over.
    pub(crate) async fn news(&mut self) -> Result<Vec<MemberStatus>, ControlError> {
        loop {
            if let ControlReply::Members(Members { members }) = self.hear().await? {
                return Ok(members);
            }
        }
    }

    /// Ends the conversation.
    pub(crate) async fn close(&mut self) {
        self.channel.sender.close().await;
    }

    async fn answer(&mut self) -> Result<ControlReply, ControlError> {
        let heard = timeout(to_std(ANSWER), self.channel.receiver.message()).await;
        Ok(heard.map_err(|_| ControlError::Slow)???)
    }
}

/// How it is reached on this machine.
fn near(controller_info: &ControllerInfo) -> Option<JoinUrl> {
    let place = match (&controller_info.socket, controller_info.loopback) {
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
