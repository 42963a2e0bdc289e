//! Bytes moved by a device, compared with its owner's rate limit over all runs.
//!
//! A part that exceeds the rate ends within two seconds. A controller could still exceed the rate most of
//! the time by starting run after run. Therefore the excess must drain before the next part.

use netburn_traffic::clock::RunClock;
use netburn_traffic::pace::VirtualLink;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum excess, as time at the limited rate, at the start of a part.
const MAX_BACKLOG: Duration = Duration::from_secs(2);

/// Budget of one device, shared by its parts in all runs.
#[derive(Debug, Clone)]
pub(super) struct RateBudget {
    clock: RunClock,
    links: Arc<Mutex<Links>>,
}

/// Virtual links with the limited rate, one per direction, that carry the moved bytes.
#[derive(Debug)]
struct Links {
    down: VirtualLink,
    up: VirtualLink,
}

impl RateBudget {
    /// Creates an unused budget.
    pub(super) fn new(rate: BitRate) -> RateBudget {
        let link = || VirtualLink::new(rate);
        RateBudget {
            clock: RunClock::starting_now(),
            links: Arc::new(Mutex::new(Links {
                down: link(),
                up: link(),
            })),
        }
    }

    /// Charges bytes that were moved until now.
    pub(super) fn charge(&self, down: u64, up: u64) {
        self.lock().charge(self.clock.now(), down, up);
    }

    /// Time until the device may take part again; `None` if it may now.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.lock().wait(self.clock.now())
    }

    fn lock(&self) -> MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Links {
    fn charge(&mut self, now: Instant, down: u64, up: u64) {
        for (link, bytes) in [(&mut self.down, down), (&mut self.up, up)] {
            if bytes > 0 {
                link.charge(now, ByteSize::from_bytes(bytes));
            }
        }
    }

    fn wait(&self, now: Instant) -> Option<Duration> {
        let free_at = self.down.free_at().max(self.up.free_at());
        free_at.checked_since(now).filter(|wait| *wait > MAX_BACKLOG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mbit/s are 1 MB/s. A stream of 100 MB that ends after 2 s exceeds the limit by 98 s. The link
    /// counts the first bytes as up to 25 ms old.
    #[test]
    fn excess_traffic_must_drain_before_the_next_part() {
        let link = || VirtualLink::new(BitRate::from_mbps(8));
        let mut links = Links {
            down: link(),
            up: link(),
        };
        let at = Instant::from_secs;
        assert_eq!(links.wait(at(0)), None);
        for tenth in 0..20 {
            links.charge(Instant::from_millis(tenth * 100), 5_000_000, 0);
        }
        let after = Duration::from_millis(97_975);
        assert_eq!(links.wait(at(2)), Some(after));
        assert_eq!(links.wait(at(97)), after.checked_sub(Duration::from_secs(95)));
        assert_eq!(links.wait(at(98)), None);
        // Traffic at the limited rate is never delayed.
        for tenth in 1000..2000 {
            links.charge(Instant::from_millis(tenth * 100), 100_000, 100_000);
        }
        assert_eq!(links.wait(at(200)), None);
    }
}
