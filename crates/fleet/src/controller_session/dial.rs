//! How a participant reaches the controller, the first time and again.

use crate::join::{INHERITED, Join};
use crate::local::FleetError;
use crate::own_clock::to_std;
use crate::protocol::MAX_TO_AGENT;
use crate::transport::Channel;
use netburn_units::Duration;
use tokio::time::timeout;

/// How long a controller has to answer.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// Opens connections to the controller of a run.
pub trait Dial: Send + 'static {
    /// A new connection. It may take as long as it likes: the participant goes on measuring meanwhile.
    ///
    /// # Errors
    /// When there is none to be had now.
    fn dial(&mut self) -> impl Future<Output = Result<Channel, FleetError>> + Send;
}

/// A connection that there is only once: when it is gone, the controller is.
#[derive(Debug)]
pub struct SingleConnection(Option<Channel>);

impl SingleConnection {
    /// That one.
    #[must_use]
    pub fn new(channel: Channel) -> SingleConnection {
        SingleConnection(Some(channel))
    }
}

impl Dial for SingleConnection {
    async fn dial(&mut self) -> Result<Channel, FleetError> {
        let gone = || FleetError::ControllerLost("it can't be reached again".to_owned());
        self.0.take().ok_or_else(gone)
    }
}

/// The controller that `join` names, as often as wanted, unless standard input is the connection.
#[derive(Debug)]
pub struct Reconnecting(Join);

impl Reconnecting {
    /// Where `join` says.
    #[must_use]
    pub fn new(join: &Join) -> Reconnecting {
        Reconnecting(join.clone())
    }
}

impl Dial for Reconnecting {
    async fn dial(&mut self) -> Result<Channel, FleetError> {
        connect(&self.0).await
    }
}

/// Opens the channel to the controller that `join` names.
pub(crate) async fn connect(join: &Join) -> Result<Channel, FleetError> {
    if join.url == INHERITED {
        let channel = inherited().map_err(|error| FleetError::Join(error.to_string()))?;
        return Ok(channel);
    }
    let opened = timeout(to_std(ANSWER), Channel::connect(&join.url, MAX_TO_AGENT)).await;
    let opened = opened.map_err(|_| FleetError::Join(format!("no answer for {ANSWER}")))?;
    opened.map_err(|error| FleetError::Join(error.to_string()))
}

/// The channel over the socket that standard input is.
#[cfg(unix)]
fn inherited() -> std::io::Result<Channel> {
    use std::os::fd::AsFd;
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    let stream = std::os::unix::net::UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    Ok(Channel::over(tokio::net::UnixStream::from_std(stream)?, MAX_TO_AGENT))
}

#[cfg(not(unix))]
fn inherited() -> std::io::Result<Channel> {
    Err(std::io::ErrorKind::Unsupported.into())
}
