//! Cancellation.

use std::sync::Arc;
use tokio::sync::watch;

/// Cancellation of runs. Clones share their state, so that a signal handler or another thread can have one.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<watch::Sender<Level>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Continue,
    Stop,
    Abort,
}

impl Default for Cancel {
    fn default() -> Self {
        Cancel(Arc::new(watch::Sender::new(Level::Continue)))
    }
}

impl Cancel {
    /// Ends the present run early, with the results so far. No further run starts.
    pub fn stop(&self) {
        self.raise(Level::Stop);
    }

    /// Ends the present run at once. Its rows so far are in its folder.
    pub fn abort(&self) {
        self.raise(Level::Abort);
    }

    /// Returns whether runs are stopped or aborted.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow() >= Level::Stop
    }

    /// Returns whether runs are aborted.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        *self.0.borrow() >= Level::Abort
    }

    /// Waits until runs are stopped or aborted.
    pub async fn stopped(&self) {
        self.reached(Level::Stop).await;
    }

    /// Waits until runs are aborted.
    pub async fn aborted(&self) {
        self.reached(Level::Abort).await;
    }

    fn raise(&self, to: Level) {
        self.0.send_if_modified(|level| {
            let raised = to > *level;
            *level = to.max(*level);
            raised
        });
    }

    async fn reached(&self, wanted: Level) {
        // The sender exists as long as `self`.
        let _ = self.0.subscribe().wait_for(|level| *level >= wanted).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abort_is_also_a_stop_and_stays() {
        let cancel = Cancel::default();
        let other = cancel.clone();
        assert!(!cancel.is_stopped());
        other.stop();
        assert!(cancel.is_stopped() && !cancel.is_aborted());
        other.abort();
        other.stop();
        assert!(cancel.is_stopped() && cancel.is_aborted());
    }
}
