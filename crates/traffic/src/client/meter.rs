//! Counters of the bytes that connections move, at their sockets: heads, framing and TLS as well as content.

use crate::clock::RunClock;
use crate::pace::VirtualLink;
use netburn_units::{BitRate, ByteSize};
use netburn_workload::Direction;
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that a host's connections and datagrams have moved, readable from all threads. Clones share the counters. The
/// bytes are TCP and UDP payload; lower headers are unknown to a program.
#[derive(Debug, Clone, Default)]
pub struct Total(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    down: AtomicU64,
    up: AtomicU64,
}

impl Total {
    /// Returns the bytes received and sent.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        (self.0.down.load(Relaxed), self.0.up.load(Relaxed))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Total {}

/// Counts the bytes that the connections of one thread move.
#[derive(Debug, Default)]
pub struct Meter {
    total: Option<Total>,
    limit: Option<Limit>,
    /// Bytes that may still be received; `None` without a limit.
    left: Option<Cell<u64>>,
}

/// Rate limit.
#[derive(Debug)]
struct Limit {
    clock: RunClock,
    down: RefCell<VirtualLink>,
    up: RefCell<VirtualLink>,
}

impl Meter {
    /// Creates a meter that adds to `total` and charges one link of this rate per direction.
    #[must_use]
    pub fn new(clock: RunClock, rate: Option<BitRate>, total: Option<Total>) -> Self {
        let link = |rate| RefCell::new(VirtualLink::new(rate));
        Meter {
            total,
            limit: rate.map(|rate| Limit {
                clock,
                down: link(rate),
                up: link(rate),
            }),
            left: None,
        }
    }

    /// Creates a meter that limits the bytes received over all connections to `most`.
    #[must_use]
    pub fn receiving(most: u64) -> Self {
        Meter {
            left: Some(Cell::new(most)),
            ..Meter::default()
        }
    }

    /// Returns the link of this direction, with a rate limit.
    #[must_use]
    pub fn link(&self, way: Direction) -> Option<&RefCell<VirtualLink>> {
        let limit = self.limit.as_ref()?;
        Some(match way {
            Direction::Down => &limit.down,
            Direction::Up => &limit.up,
        })
    }

    /// Counts received bytes.
    ///
    /// # Errors
    /// An I/O error when the limit is exceeded.
    pub fn add_down(&self, bytes: usize) -> io::Result<()> {
        self.add(Direction::Down, bytes as u64);
        if let Some(left) = &self.left {
            let rest = left.get().checked_sub(bytes as u64);
            left.set(rest.ok_or_else(|| io::Error::other("the response is too long"))?);
        }
        Ok(())
    }

    /// Counts sent bytes.
    pub fn add_up(&self, bytes: usize) {
        self.add(Direction::Up, bytes as u64);
    }

    fn add(&self, way: Direction, bytes: u64) {
        if let Some(Total(counts)) = &self.total {
            let count = match way {
                Direction::Down => &counts.down,
                Direction::Up => &counts.up,
            };
            count.fetch_add(bytes, Relaxed);
        }
        if let Some(limit) = &self.limit
            && let Some(link) = self.link(way)
        {
            link.borrow_mut().charge(limit.clock.now(), ByteSize::from_bytes(bytes));
        }
    }
}
