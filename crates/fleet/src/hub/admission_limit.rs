//! Connections of which it isn't known who they are: how many are open, and when their memory goes back to the system.
//!
//! Those that stand too long are sent away by [`Porch`](super::doors::Porch) and [`Hub`](super::machine::Hub), but that
//! takes a moment, in which others could come without end. So each needs a ticket before it is accepted; meanwhile the
//! kernel keeps who waits.

use super::machine::MAX_PENDING_CONNECTIONS;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most connections that haven't said who they are: those at the doors, those that have opened a conversation, and
/// those that are being sent away.
pub(super) const MAX_OPEN: usize = 2 * MAX_PENDING_CONNECTIONS + MAX_LINGERING;
/// The most of those sent away that are heard out, so that what is said to them at last isn't lost with a reset.
const MAX_LINGERING: usize = 256;
/// From so many connections on it is a crowd; with so few it is over.
const CROWD: (usize, usize) = (256, 64);
/// How many looks in a row it has to be over.
const CALM: u32 = 5;

/// Who may come in.
#[derive(Debug)]
pub(super) struct Crowd {
    open: Arc<Semaphore>,
    lingering: Arc<Semaphore>,
}

/// A connection's place among those unknown. It is free again when the last clone of this is dropped, or when it is known
/// who it is.
#[derive(Debug, Clone)]
pub(super) struct Ticket(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Crowd {
    pub(super) fn new() -> Crowd {
        Crowd {
            open: Arc::new(Semaphore::new(MAX_OPEN)),
            lingering: Arc::new(Semaphore::new(MAX_LINGERING)),
        }
    }

    /// A place for one more, once there is one.
    pub(super) async fn ticket(&self) -> Ticket {
        let permit = Arc::clone(&self.open).acquire_owned().await;
        Ticket(Arc::new(Mutex::new(permit.ok())))
    }

    /// Leave to hear out one that is sent away; `None`: there are too many of them.
    pub(super) fn linger(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.lingering).try_acquire_owned().ok()
    }

    /// How many are open.
    pub(super) fn open(&self) -> usize {
        MAX_OPEN - self.open.available_permits()
    }
}

impl Ticket {
    /// A place that does not count: for connections of this machine's own users.
    pub(super) fn uncounted() -> Ticket {
        Ticket(Arc::default())
    }

    /// It is known who it is: its place is free.
    pub(super) fn release(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Whether a crowd has gone: then what it took is worth giving back.
#[derive(Debug, Default)]
pub(super) struct Aftermath {
    crowded: bool,
    calm: u32,
}

impl Aftermath {
    /// Looks at how many connections are open; called at equal intervals. True once after each crowd, when all has been calm
    /// for a while.
    pub(super) fn sample(&mut self, open: usize) -> bool {
        self.crowded |= open >= CROWD.0;
        self.calm = if open <= CROWD.1 { self.calm + 1 } else { 0 };
        let over = self.crowded && self.calm >= CALM;
        self.crowded &= !over;
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_tickets_and_those_of_the_known_go_round() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let admission_limit = Crowd::new();
            let mut acquired = Vec::new();
            for _ in 0..MAX_OPEN {
                acquired.push(admission_limit.ticket().await);
            }
            assert_eq!((admission_limit.open(), MAX_OPEN), (2304, 2304));
            let full = |admission_limit: &Crowd| admission_limit.open.available_permits() == 0;
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
            let heard: Vec<_> = (0..300).filter_map(|_| admission_limit.linger()).collect();
            assert_eq!(heard.len(), 256);
        });
    }

    #[test]
    fn what_a_crowd_took_is_given_back_once_it_has_gone() {
        let mut aftermath = Aftermath::default();
        let mut looks = |counts: &[usize]| -> Vec<bool> { counts.iter().map(|open| aftermath.sample(*open)).collect() };
        assert!(
            !looks(&[10, 20, 255, 5, 5, 5, 5, 5, 5]).contains(&true),
            "no flood of connections"
        );
        assert!(
            !looks(&[900, 300, 64, 64, 64, 64, 65]).contains(&true),
            "more connections are still open than count as none"
        );
        assert_eq!(
            looks(&[0, 1, 0, 64, 0, 0, 0]),
            [false, false, false, false, true, false, false]
        );
    }
}
