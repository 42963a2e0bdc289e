//! Stopping an agent at its owner's request (signal, dropped handle).

use super::*;

/// Reason of a part that the owner ended.
pub(crate) const LEFT_BY_OWNER: &str = "stopped by its owner";

/// The owner's request to stop.
#[derive(Debug, Clone, Default)]
pub struct ShutdownSignal(Option<watch::Receiver<bool>>);

impl ShutdownSignal {
    /// Requests shutdown when the value becomes `true`.
    #[must_use]
    pub fn from_watch(receiver: watch::Receiver<bool>) -> ShutdownSignal {
        ShutdownSignal(Some(receiver))
    }

    /// Returns whether shutdown is requested now.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|receiver| *receiver.borrow())
    }

    /// Waits for the request.
    pub(crate) async fn requested(&mut self) {
        if let Some(receiver) = &mut self.0
            && receiver.wait_for(|receiver| *receiver).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
