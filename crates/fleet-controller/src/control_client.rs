//! Operator's client: requests of this user's commands to this user's controller.

use crate::hub::control::{
    AcquireRun, ControlReply, ControlRequest, ControlWelcome, MAX_CONTROL_MESSAGE, MemberStatus, Members, Open,
};
use crate::hub::{CONTROL, ControllerInfo, State, StateError};
use netburn_fleet_member::endpoint::{ConnectError, ControllerEndpoint};
use netburn_protocol::join_url::{JoinUrl, Place};
use netburn_protocol::messages::{self, Malformed, Rejected};
use netburn_protocol::own_clock::to_std;
use netburn_protocol::transport::{Channel, ChannelError};
use netburn_units::Duration;
use tokio::time::timeout;

/// Time limit for an answer of the controller on this machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection to this user's controller.
#[derive(Debug)]
pub struct ControlClient {
    channel: Channel,
    welcome: ControlWelcome,
}

/// Error of a request to this user's controller.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No controller is running.
    #[error("no fleet controller is running on this machine for this user; start one with `netburn fleet serve`")]
    None,
    /// The state directory can't be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The controller does not answer.
    #[error("the fleet's controller (process {process}) does not answer: {source}")]
    Silent {
        /// Process ID of the controller.
        process: u32,
        /// Cause.
        source: ConnectError,
    },
    /// The connection ended.
    #[error("the connection to the fleet's controller is lost: {0}")]
    Gone(#[from] ChannelError),
    /// The controller rejected the request.
    #[error("the fleet's controller rejected the request: {}", .0.reason)]
    Rejected(Rejected),
    /// The first message of the controller is not `welcome`.
    #[error("the fleet's controller sent an unexpected message before `welcome`")]
    OutOfOrder,
    /// The controller sent an invalid message.
    #[error("the fleet's controller sent an invalid message: {0}")]
    Malformed(#[from] Malformed),
    /// The controller did not answer in time.
    #[error("the fleet's controller has not answered for {ANSWER_TIMEOUT}")]
    Slow,
}

impl ControlClient {
    /// Connects to this user's controller.
    ///
    /// # Errors
    /// If no controller is running or it does not answer.
    pub async fn connect(state: &State) -> Result<ControlClient, ControlError> {
        let Some(controller_info) = state.controller_info()? else {
            return Err(ControlError::None);
        };
        let endpoint = ControllerEndpoint::new(&local_url(&controller_info).ok_or(ControlError::None)?);
        let (channel, _) = endpoint
            .open(CONTROL, MAX_CONTROL_MESSAGE)
            .await
            .map_err(|source| match source {
                // The controller was killed and could not remove its address.
                ConnectError::Dial { .. } => ControlError::None,
                source => ControlError::Silent {
                    process: controller_info.process,
                    source,
                },
            })?;
        let mut channel = channel;
        let open = Open {
            protocol: messages::VERSION,
            secret: controller_info.secret,
        };
        channel.sender.message(&ControlRequest::Open(open)).await?;
        match timeout(to_std(ANSWER_TIMEOUT), channel.receiver.message::<ControlReply>()).await {
            Err(_) => Err(ControlError::Slow),
            Ok(answer) => match answer?? {
                ControlReply::Welcome(welcome) => Ok(ControlClient { channel, welcome }),
                ControlReply::Rejected(rejected) => Err(ControlError::Rejected(rejected)),
                _ => Err(ControlError::OutOfOrder),
            },
        }
    }

    /// First reply of the controller.
    #[must_use]
    pub fn welcome(&self) -> &ControlWelcome {
        &self.welcome
    }

    /// Members of the fleet.
    ///
    /// # Errors
    /// If the connection ends.
    pub async fn members(&mut self) -> Result<Vec<MemberStatus>, ControlError> {
        loop {
            if let ControlReply::Members(Members { members }) = self.answer().await? {
                return Ok(members);
            }
        }
    }

    /// Revokes the token and disconnects all members. Returns the new join addresses.
    ///
    /// # Errors
    /// If the controller rejects the request or does not answer.
    pub async fn revoke(&mut self) -> Result<ControlWelcome, ControlError> {
        self.send(&ControlRequest::Revoke).await?;
        loop {
            match self.answer().await? {
                ControlReply::Revoked(welcome) => return Ok(welcome),
                ControlReply::Rejected(rejected) => return Err(ControlError::Rejected(rejected)),
                _ => {}
            }
        }
    }

    /// Acquires a run.
    ///
    /// # Errors
    /// If the controller rejects it: a member is in another run.
    pub(crate) async fn acquire(&mut self, acquire: &AcquireRun) -> Result<(), ControlError> {
        self.send(&ControlRequest::Acquire(acquire.clone())).await?;
        loop {
            match self.answer().await? {
                ControlReply::Acquired(_) => return Ok(()),
                ControlReply::Rejected(rejected) => return Err(ControlError::Rejected(rejected)),
                _ => {}
            }
        }
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If the connection ended.
    pub async fn send(&mut self, message: &ControlRequest) -> Result<(), ControlError> {
        Ok(self.channel.sender.message(message).await?)
    }

    /// Returns the next reply. Cancellation loses no complete reply, but can leave a partial one; then the
    /// connection is unusable.
    ///
    /// # Errors
    /// If the connection ended.
    pub(crate) async fn recv(&mut self) -> Result<ControlReply, ControlError> {
        Ok(self.channel.receiver.message().await??)
    }

    /// Waits for a change and returns the members. After a cancellation, the connection can be unusable.
    ///
    /// # Errors
    /// If the connection ended.
    pub async fn next_members(&mut self) -> Result<Vec<MemberStatus>, ControlError> {
        loop {
            if let ControlReply::Members(Members { members }) = self.recv().await? {
                return Ok(members);
            }
        }
    }

    /// Closes the connection.
    pub(crate) async fn close(&mut self) {
        self.channel.sender.close().await;
    }

    async fn answer(&mut self) -> Result<ControlReply, ControlError> {
        let heard = timeout(to_std(ANSWER_TIMEOUT), self.channel.receiver.message()).await;
        Ok(heard.map_err(|_| ControlError::Slow)???)
    }
}

/// Address of the controller on this machine.
fn local_url(controller_info: &ControllerInfo) -> Option<JoinUrl> {
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
