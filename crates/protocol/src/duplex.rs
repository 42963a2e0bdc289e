//! Sending and receiving over one channel at the same time, until either side closes it.

use crate::own_clock::to_std;
use crate::transport::Channel;
use netburn_units::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Time limit for sending one message.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for which a connection closed from here is still read. Closing it with unread data would reset it,
/// and the peer would lose the last messages.
const LINGER_TIMEOUT: Duration = Duration::from_millis(200);

/// Runs a channel: passes each received text to `on_message`, and sends the items of `queue`, serialized by
/// `serialize`. Returns the reason when the peer closes or fails, when `on_message` returns an error, or when
/// `queue` is closed. After closing from here, reads on for a moment if `linger` returns a permission.
pub async fn run_connection<T, L, H: Future<Output = Result<(), String>>>(
    channel: Channel,
    mut queue: mpsc::Receiver<T>,
    serialize: impl Fn(T) -> String,
    mut on_message: impl FnMut(String) -> H,
    linger: impl FnOnce() -> Option<L>,
) -> String {
    let Channel {
        mut receiver,
        mut sender,
    } = channel;
    let read_loop = async {
        loop {
            match receiver.text().await {
                Ok(text) => {
                    if let Err(reason) = on_message(text).await {
                        return reason;
                    }
                }
                Err(error) => return error.to_string(),
            }
        }
    };
    let write_loop = async {
        while let Some(message) = queue.recv().await {
            match timeout(to_std(SEND_TIMEOUT), sender.text(serialize(message))).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return format!("sending a message took longer than {SEND_TIMEOUT}"),
            }
        }
        let _ = timeout(to_std(SEND_TIMEOUT), sender.close()).await;
        "closed from here".to_owned()
    };
    let reason = tokio::select! {
        reason = read_loop => return reason,
        reason = write_loop => reason,
    };
    if let Some(_leave) = linger() {
        let _ = timeout(to_std(LINGER_TIMEOUT), async { while receiver.text().await.is_ok() {} }).await;
    }
    reason
}
