//! What connections move, counted at their sockets: heads, framing and TLS as well as content.

use crate::clock::RunClock;
use crate::pace::VirtualLink;
use netburn_units::{BitRate, ByteSize};
use netburn_workload::Direction;
use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that a host's connections and datagrams have moved, readable from any thread. Clones count the same. It is the
/// payload of TCP and UDP: the headers of these and of IP aren't known to a program.
#[derive(Debug, Clone, Default)]
pub struct Total(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    down: AtomicU64,
    up: AtomicU64,
}

impl Total {
    /// Bytes towards this host and away from it.
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

/// Counts what the connections of one thread move.
#[derive(Debug, Default)]
pub struct Meter {
    total: Option<Total>,
    limit: Option<Limit>,
    /// What may still be received; `None`: as much as comes.
    left: Option<Cell<u64>>,
}

/// A bound on the rate.
#[derive(Debug)]
struct Limit {
    clock: RunClock,
    down: RefCell<VirtualLink>,
    up: RefCell<VirtualLink>,
}

impl Meter {
    /// Adds to `total`, and charges links of this rate, one each way.
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

    /// Lets connections receive `most` bytes together.
    #[must_use]
    pub fn receiving(most: u64) -> Self {
        Meter {
            left: Some(Cell::new(most)),
            ..Meter::default()
        }
    }

    /// The link of this direction, where the rate is bounded.
    #[must_use]
    pub fn link(&self, way: Direction) -> Option<&RefCell<VirtualLink>> {
        let limit = self.limit.as_ref()?;
        Some(match way {
            Direction::Down => &limit.down,
            Direction::Up => &limit.up,
        })
    }

    /// So much was received.
    ///
    /// # Errors
    /// When that is more than may be.
    pub fn add_down(&self, bytes: usize) -> io::Result<()> {
        self.add(Direction::Down, bytes as u64);
        if let Some(left) = &self.left {
            let rest = left.get().checked_sub(bytes as u64);
            left.set(rest.ok_or_else(|| io::Error::other("the answer is too long"))?);
        }
        Ok(())
    }

    /// So much was sent.
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
