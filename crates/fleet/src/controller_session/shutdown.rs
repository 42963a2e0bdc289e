//! An owner who wants an end.

use super::*;

/// Why a part ended that its owner ended.
pub(crate) const LEFT_BY_OWNER: &str = "its owner ended it";

/// Whether an agent's owner wants it to end now.
#[derive(Debug, Clone, Default)]
pub struct ShutdownSignal(Option<watch::Receiver<bool>>);

impl ShutdownSignal {
    /// Once this is true, or never.
    #[must_use]
    pub fn once(told: watch::Receiver<bool>) -> ShutdownSignal {
        ShutdownSignal(Some(told))
    }

    /// Whether it is wanted now.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|told| *told.borrow())
    }

    /// Until it is wanted.
    pub(crate) async fn requested(&mut self) {
        if let Some(told) = &mut self.0
            && told.wait_for(|told| *told).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
