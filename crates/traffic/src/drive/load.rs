//! Input and result of a drive.

use crate::client::Target;
use netburn_record::Row;
use netburn_workload::Workload;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Sender of rows: batches, 20 times a second; a batch may be empty. A dropped receiver does not stop the drive.
pub type Rows = mpsc::UnboundedSender<Vec<Row>>;

/// One workload of one station.
#[derive(Debug)]
pub struct Load {
    /// Number of the station in the plan.
    pub station: u16,
    /// Number of the workload within the station, or `record::row::BASELINE`.
    pub workload: u16,
    /// Schedule.
    pub machine: Workload,
    /// Server.
    pub target: Arc<Target>,
}

/// Cancels a drive: running operations are settled at once.
#[derive(Debug, Clone)]
pub struct CancelHandle(Arc<watch::Sender<bool>>);

/// Receiver of a [`CancelHandle`]'s cancellation.
#[derive(Debug, Clone)]
pub struct CancelToken(watch::Receiver<bool>);

impl CancelHandle {
    /// Creates a handle and its token.
    #[must_use]
    pub fn new() -> (CancelHandle, CancelToken) {
        let (sender, receiver) = watch::channel(false);
        (CancelHandle(Arc::new(sender)), CancelToken(receiver))
    }

    /// Cancels. Further calls have no effect.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl CancelToken {
    /// Returns a token that is never cancelled.
    #[must_use]
    pub fn never() -> CancelToken {
        CancelHandle::new().1
    }

    /// Returns whether the drive was cancelled.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for the cancellation; never returns if the handle was dropped without one.
    pub async fn stopped(&mut self) {
        if self.0.wait_for(|stopped| *stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
