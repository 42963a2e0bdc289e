//! Opening of connections to the controller.

use crate::error::ConnectionError;
use crate::join::{INHERITED, Join};
use netburn_protocol::messages::MAX_TO_AGENT;
use netburn_protocol::own_clock::to_std;
use netburn_protocol::transport::{Channel, ChannelError};
use netburn_units::Duration;
use tokio::time::timeout;

/// Time limit for the controller's answer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens connections to the controller of a run.
pub trait Dial: Send + 'static {
    /// Opens a connection. There is no time limit: the agent continues to measure meanwhile.
    ///
    /// # Errors
    /// If no connection is possible now.
    fn dial(&mut self) -> impl Future<Output = Result<Channel, ConnectionError>> + Send;
}

/// A single connection that can't be replaced.
#[derive(Debug)]
pub struct SingleConnection(Option<Channel>);

impl SingleConnection {
    /// Uses this connection.
    #[must_use]
    pub fn new(channel: Channel) -> SingleConnection {
        SingleConnection(Some(channel))
    }
}

impl Dial for SingleConnection {
    async fn dial(&mut self) -> Result<Channel, ConnectionError> {
        self.0.take().ok_or(ConnectionError::SessionEnded)
    }
}

/// Connects to the controller of a [`Join`] any number of times, unless standard input is the connection.
#[derive(Debug)]
pub struct Reconnecting(Join);

impl Reconnecting {
    /// Uses the address of `join`.
    #[must_use]
    pub fn new(join: &Join) -> Reconnecting {
        Reconnecting(join.clone())
    }
}

impl Dial for Reconnecting {
    async fn dial(&mut self) -> Result<Channel, ConnectionError> {
        connect(&self.0).await
    }
}

/// Opens the channel to the controller of `join`.
pub(crate) async fn connect(join: &Join) -> Result<Channel, ConnectionError> {
    if join.url == INHERITED {
        return Ok(inherited().map_err(ChannelError::from)?);
    }
    let opened = timeout(to_std(ANSWER_TIMEOUT), Channel::connect(&join.url, MAX_TO_AGENT)).await;
    Ok(opened.map_err(|_| ConnectionError::NoAnswer(ANSWER_TIMEOUT))??)
}

/// Channel over the socket that is standard input.
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
