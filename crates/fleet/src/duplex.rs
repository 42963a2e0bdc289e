//! Listening and talking over one channel at once, until either side ends it.

use crate::own_clock::to_std;
use crate::transport::Channel;
use netburn_units::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long one message may take to be sent.
const SEND: Duration = Duration::from_secs(5);
/// How long a connection that was closed from here is still listened to: closing it on words that are on their way
/// would reset it, and take our last words from the other side.
const HEAR_OUT: Duration = Duration::from_millis(200);

/// Gives `hear` every text that comes, and sends what waits in `queue`, each `written` as a text. Ends when the other side
/// closes or breaks off, when `hear` gives a reason to, or when nothing will wait any more; says how that came. `linger`
/// gives leave to listen for a moment longer to one that was closed from here.
pub(crate) async fn run_connection<T, L, H: Future<Output = Result<(), String>>>(
    channel: Channel,
    mut queue: mpsc::Receiver<T>,
    written: impl Fn(T) -> String,
    mut hear: impl FnMut(String) -> H,
    linger: impl FnOnce() -> Option<L>,
) -> String {
    let Channel {
        mut receiver,
        mut sender,
    } = channel;
    let listen = async {
        loop {
            match receiver.text().await {
                Ok(text) => {
                    if let Err(reason) = hear(text).await {
                        return reason;
                    }
                }
                Err(error) => return error.to_string(),
            }
        }
    };
    let talk = async {
        while let Some(message) = queue.recv().await {
            match timeout(to_std(SEND), sender.text(written(message))).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return format!("it took no message for {SEND}"),
            }
        }
        let _ = timeout(to_std(SEND), sender.close()).await;
        "closed from here".to_owned()
    };
    let reason = tokio::select! {
        reason = listen => return reason,
        reason = talk => reason,
    };
    if let Some(_leave) = linger() {
        let _ = timeout(to_std(HEAR_OUT), async { while receiver.text().await.is_ok() {} }).await;
    }
    reason
}
