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
    pub fn once(told: watch::Receiver<bool>) -> ShutdownSignal {
        ShutdownSignal(Some(told))
    }

    /// Returns whether shutdown is requested now.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|told| *told.borrow())
    }

    /// Waits for the request.
    pub(crate) async fn requested(&mut self) {
        if let Some(told) = &mut self.0
            && told.wait_for(|told| *told).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
