//! Sending and receiving over one channel at the same time, until either side closes it.

use crate::own_clock::to_std;
use crate::transport::Channel;
use netburn_units::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Time limit for sending one message.
const SEND: Duration = Duration::from_secs(5);
/// Time for which a connection closed from here is still read. Closing it with unread data would reset it,
/// and the peer would lose the last messages.
const HEAR_OUT: Duration = Duration::from_millis(200);

/// Runs a channel: passes each received text to `hear`, and sends the items of `queue`, serialized by
/// `written`. Returns the reason when the peer closes or fails, when `hear` returns an error, or when
/// `queue` is closed. After closing from here, reads on for a moment if `linger` returns a permission.
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
                Err(_) => return format!("sending a message took longer than {SEND}"),
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
