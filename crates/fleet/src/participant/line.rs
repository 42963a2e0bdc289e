//! One connection to the controller, from `hello` to its end.

use super::dial::{ANSWER, Dial};
use crate::clock::Stamp;
use crate::join::Join;
use crate::local::FleetError;
use crate::own_clock::{OwnClock, std};
use crate::protocol::{self, Bye, Hello, Malformed, ToController, ToParticipant, Welcome};
use crate::transport::{Receiver, Sender};
use netburn_units::Duration;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The most messages that wait to be handled.
const INCOMING: usize = 16;
/// The most messages that wait to be sent.
const OUTGOING: usize = 16;
/// How long one message may take to be sent: the longest, 1 MiB, at 0.3 Mbit/s.
const SEND: Duration = Duration::from_secs(30);
/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A message and when it came, or why there will be no more.
pub(super) type Incoming = (Stamp, Result<ToParticipant, String>);

/// A connection that was welcomed.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) incoming: mpsc::Receiver<Incoming>,
    pub(super) outgoing: mpsc::Sender<ToController>,
    /// When something last came.
    pub(super) heard: Instant,
    listener: JoinHandle<()>,
    talker: Option<JoinHandle<()>>,
}

impl Line {
    /// Dials, says who we are and waits to be welcomed.
    pub(super) async fn open(
        dial: &mut impl Dial,
        join: &Join,
        again: bool,
        clock: OwnClock,
    ) -> Result<(Line, Welcome), FleetError> {
        let channel = dial.dial().await?;
        let (tell, incoming) = mpsc::channel(INCOMING);
        let (outgoing, queue) = mpsc::channel(OUTGOING);
        let listener = tokio::spawn(listen(channel.receiver, clock, tell.clone()));
        let talker = tokio::spawn(talk(channel.sender, queue, clock, tell));
        let mut line = Line {
            incoming,
            outgoing,
            heard: Instant::now(),
            listener,
            talker: Some(talker),
        };
        let hello = Hello {
            protocol: protocol::VERSION,
            role: join.role,
            name: join.name.clone(),
            token: join.token.clone(),
            version: concat!("netburn ", env!("CARGO_PKG_VERSION")).to_owned(),
            again,
        };
        let gone = || FleetError::Join("it closed the connection".to_owned());
        let said = line.outgoing.send(ToController::Hello(hello)).await;
        said.map_err(|_| gone())?;
        match timeout(std(ANSWER), line.incoming.recv()).await {
            Ok(Some((_, Ok(ToParticipant::Welcome(welcome))))) => Ok((line, welcome)),
            Ok(Some((_, Ok(ToParticipant::Refused(refused))))) => Err(FleetError::Refused(refused.reason)),
            Ok(Some((_, Ok(ToParticipant::Bye(bye))))) => Err(FleetError::Join(why(bye))),
            Ok(Some((_, Ok(_)))) => Err(FleetError::Join("the controller does not say welcome".to_owned())),
            Ok(Some((_, Err(reason)))) => Err(FleetError::Join(reason)),
            Ok(None) => Err(gone()),
            Err(_) => Err(FleetError::Join(format!("no answer for {ANSWER}"))),
        }
    }

    /// Ends it once all that was to be sent is sent.
    pub(super) async fn close(mut self) {
        let (unheard, _) = mpsc::channel(1);
        self.outgoing = unheard;
        if let Some(talker) = self.talker.take() {
            let _ = timeout(std(GOODBYE), talker).await;
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.listener.abort();
        if let Some(talker) = &self.talker {
            talker.abort();
        }
    }
}

/// Why a controller said goodbye.
pub(crate) fn why(bye: Bye) -> String {
    bye.reason.unwrap_or_else(|| "it said goodbye".to_owned())
}

/// Stamps what comes at once, however busy the rest is.
async fn listen(mut receiver: Receiver, clock: OwnClock, tell: mpsc::Sender<Incoming>) {
    loop {
        let heard: Result<Result<ToParticipant, Malformed>, _> = receiver.message().await;
        let at = clock.now();
        let (news, last) = match heard {
            Ok(Ok(message)) => (Ok(message), false),
            Ok(Err(malformed)) => (Err(malformed.to_string()), true),
            Err(error) => (Err(error.to_string()), true),
        };
        if tell.send((at, news)).await.is_err() || last {
            return;
        }
    }
}

/// Sends what is to be sent, however long the rest takes.
async fn talk(
    mut sender: Sender,
    mut queue: mpsc::Receiver<ToController>,
    clock: OwnClock,
    tell: mpsc::Sender<Incoming>,
) {
    while let Some(message) = queue.recv().await {
        let message = match message {
            // What it waited here is the pong's, not the network's.
            ToController::Pong(pong) => ToController::Pong(protocol::Pong {
                sent: clock.now().0,
                ..pong
            }),
            message => message,
        };
        let failed = match timeout(std(SEND), sender.message(&message)).await {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took no message for {SEND}"),
        };
        let _ = tell.send((clock.now(), Err(failed))).await;
        return;
    }
    sender.close().await;
}
