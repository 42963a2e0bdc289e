//! Limit on unauthenticated connections.
//!
//! [`PendingConnections`](super::admission::PendingConnections) and [`Hub`](super::machine::Hub) close
//! connections that stay unauthenticated. During that time further connections can arrive. Therefore each
//! connection needs a ticket before it is accepted; until then it stays in the kernel's queue.

use super::machine::MAX_PENDING_CONNECTIONS;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of unauthenticated connections: accepted, with an open WebSocket, and closing.
pub(super) const MAX_OPEN: usize = 2 * MAX_PENDING_CONNECTIONS + MAX_LINGERING;
/// Maximum number of closing connections that are still read, so that their last message is not lost by a
/// TCP reset.
const MAX_LINGERING: usize = 256;
/// Tickets for unauthenticated connections.
#[derive(Debug)]
pub(super) struct AdmissionLimit {
    open: Arc<Semaphore>,
    lingering: Arc<Semaphore>,
    /// Highest number of tickets in use since the last [`take_peak`](Self::take_peak).
    peak: AtomicUsize,
}

/// Ticket of an unauthenticated connection. Released when its last clone is dropped or the peer
/// authenticates.
#[derive(Debug, Clone)]
pub(super) struct Ticket(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl AdmissionLimit {
    pub(super) fn new() -> AdmissionLimit {
        AdmissionLimit {
            open: Arc::new(Semaphore::new(MAX_OPEN)),
            lingering: Arc::new(Semaphore::new(MAX_LINGERING)),
            peak: AtomicUsize::new(0),
        }
    }

    /// Waits for a ticket.
    pub(super) async fn ticket(&self) -> Ticket {
        let permit = Arc::clone(&self.open).acquire_owned().await;
        self.peak.fetch_max(self.open(), Ordering::Relaxed);
        Ticket(Arc::new(Mutex::new(permit.ok())))
    }

    /// Permission to read from a closing connection; `None` if there are too many.
    pub(super) fn linger(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.lingering).try_acquire_owned().ok()
    }

    /// Highest number of tickets in use since the last call. A flood may begin and end between two calls.
    pub(super) fn take_peak(&self) -> usize {
        let open = self.open();
        self.peak.swap(open, Ordering::Relaxed).max(open)
    }

    /// Number of tickets in use.
    fn open(&self) -> usize {
        MAX_OPEN - self.open.available_permits()
    }
}

impl Ticket {
    /// A ticket that is not counted, for connections from this machine.
    pub(super) fn uncounted() -> Ticket {
        Ticket(Arc::default())
    }

    /// Releases the ticket, because the peer has authenticated.
    pub(super) fn release(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_limited_and_released_after_authentication() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let admission_limit = AdmissionLimit::new();
            let mut acquired = Vec::new();
            for _ in 0..MAX_OPEN {
                acquired.push(admission_limit.ticket().await);
            }
            assert_eq!((admission_limit.open(), MAX_OPEN), (2304, 2304));
            let full = |admission_limit: &AdmissionLimit| admission_limit.open.available_permits() == 0;
            assert!(full(&admission_limit));
            let known = acquired.pop().unwrap();
            let again = known.clone();
            again.release();
            known.release();
            assert_eq!(
                admission_limit.open(),
                2303,
                "a place that is released twice is free once"
            );
            acquired.push(admission_limit.ticket().await);
            assert!(full(&admission_limit));
            drop(acquired);
            assert_eq!(admission_limit.open(), 0);
            assert_eq!([admission_limit.take_peak(), admission_limit.take_peak()], [2304, 0]);
            let heard: Vec<_> = (0..300).filter_map(|_| admission_limit.linger()).collect();
            assert_eq!(heard.len(), 256);
        });
    }
}
