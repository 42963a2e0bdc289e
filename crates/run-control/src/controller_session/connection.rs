//! One connection to the controller, from `hello` to its end.

use super::dial::{ANSWER_TIMEOUT, Dial};
use crate::error::ConnectionError;
use crate::join::Join;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::{self, Hello, ToAgent, ToController, Welcome};
use netburn_protocol::own_clock::{OwnClock, to_std};
use netburn_protocol::transport::{ChannelError, Receiver, Sender};
use netburn_units::Duration;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum number of received messages in the queue.
const MAX_INCOMING: usize = 16;
/// Maximum number of messages to send in the queue.
const MAX_OUTGOING: usize = 16;
/// Time limit for sending one message: the maximum length, 1 MiB, at 0.3 Mbit/s.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for closing.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A message with its time of arrival, or the reason for the end of the connection.
pub(super) type Incoming = (Stamp, Result<ToAgent, ConnectionError>);

/// A connection after `welcome`.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) incoming: mpsc::Receiver<Incoming>,
    pub(super) outgoing: mpsc::Sender<ToController>,
    /// Time of the last received message.
    pub(super) heard: Instant,
    reader: JoinHandle<()>,
    writer: Option<JoinHandle<()>>,
}

impl Connection {
    /// Opens a connection, sends `hello` and waits for `welcome`.
    pub(super) async fn open(
        dial: &mut impl Dial,
        join: &Join,
        reconnect: bool,
        clock: OwnClock,
    ) -> Result<(Connection, Welcome), ConnectionError> {
        let channel = dial.dial().await?;
        let (tell, incoming) = mpsc::channel(MAX_INCOMING);
        let (outgoing, queue) = mpsc::channel(MAX_OUTGOING);
        let reader = tokio::spawn(read_loop(channel.receiver, clock, tell.clone()));
        let writer = tokio::spawn(write_loop(channel.sender, queue, clock, tell));
        let mut connection = Connection {
            incoming,
            outgoing,
            heard: Instant::now(),
            reader,
            writer: Some(writer),
        };
        let hello = Hello {
            protocol: messages::VERSION,
            role: join.role,
            name: join.name.clone(),
            token: join.token.clone(),
            version: concat!("netburn ", env!("CARGO_PKG_VERSION")).to_owned(),
            reconnect,
        };
        let said = connection.outgoing.send(ToController::Hello(hello)).await;
        said.map_err(|_| ChannelError::Closed)?;
        match timeout(to_std(ANSWER_TIMEOUT), connection.incoming.recv()).await {
            Ok(Some((_, Ok(ToAgent::Welcome(welcome))))) => Ok((connection, welcome)),
            Ok(Some((_, Ok(ToAgent::Rejected(rejected))))) => Err(ConnectionError::Rejected(rejected)),
            Ok(Some((_, Ok(ToAgent::Bye(bye))))) => Err(ConnectionError::Bye(bye)),
            Ok(Some((_, Ok(_)))) => Err(ConnectionError::OutOfOrder),
            Ok(Some((_, Err(error)))) => Err(error),
            Ok(None) => Err(ChannelError::Closed.into()),
            Err(_) => Err(ConnectionError::NoAnswer(ANSWER_TIMEOUT)),
        }
    }

    /// Closes the connection after all queued messages are sent.
    pub(super) async fn close(mut self) {
        let (unheard, _) = mpsc::channel(1);
        self.outgoing = unheard;
        if let Some(writer) = self.writer.take() {
            let _ = timeout(to_std(CLOSE_TIMEOUT), writer).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reader.abort();
        if let Some(writer) = &self.writer {
            writer.abort();
        }
    }
}

/// Receives messages and stamps them at once, independent of other load.
async fn read_loop(mut receiver: Receiver, clock: OwnClock, tell: mpsc::Sender<Incoming>) {
    loop {
        let received = receive(&mut receiver).await;
        let (at, last) = (clock.now(), received.is_err());
        if tell.send((at, received)).await.is_err() || last {
            return;
        }
    }
}

async fn receive(receiver: &mut Receiver) -> Result<ToAgent, ConnectionError> {
    Ok(receiver.message().await??)
}

/// Sends queued messages, independent of other load.
async fn write_loop(
    mut sender: Sender,
    mut queue: mpsc::Receiver<ToController>,
    clock: OwnClock,
    tell: mpsc::Sender<Incoming>,
) {
    while let Some(message) = queue.recv().await {
        let message = match message {
            // The time in the queue must not count as network delay.
            ToController::Pong(pong) => ToController::Pong(messages::Pong {
                sent: clock.now().0,
                ..pong
            }),
            message => message,
        };
        let failed = match timeout(to_std(SEND_TIMEOUT), sender.message(&message)).await {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error.into(),
            Err(_) => ConnectionError::SendTimeout(SEND_TIMEOUT),
        };
        let _ = tell.send((clock.now(), Err(failed))).await;
        return;
    }
    sender.close().await;
}
