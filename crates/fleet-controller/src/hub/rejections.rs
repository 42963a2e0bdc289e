//! Log lines about rejected connections: a few for each address, then a summary with the number of further
//! rejections.
//!
//! A client can be rejected any number of times. A line for each would hide everything else in the log.

use netburn_protocol::clock::Stamp;
use netburn_traffic::limiter::Client;
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Number of rejections of one address with a log line each.
const MAX_LOGGED: u32 = 5;
/// Time without a rejection after which an address is removed.
const EXPIRY: Duration = Duration::from_secs(600);
/// Time before the first summary of an address, and the maximum between two. Each is twice as long as the
/// one before.
const SUMMARY_INTERVAL: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
/// Maximum number of addresses that are counted separately.
const MAX_SOURCES: usize = 64;

/// Rejections of one address: number of log lines, and count for the next summary.
#[derive(Debug)]
struct Source {
    /// First rejected address. `None`: a Unix socket, or the addresses beyond the table.
    address: Option<IpAddr>,
    logged: u32,
    more: u64,
    last: Stamp,
    /// Time of the next summary.
    summary: Stamp,
    /// Time between this summary and the next.
    gap: Duration,
}

/// Summary of rejections without a log line of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RejectionSummary {
    /// Number of rejections.
    pub count: u64,
    /// Origin of the connections.
    pub from: Origin,
}

/// Origin of rejected connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This address, or others of its IPv6 /64.
    Address(IpAddr),
    /// This machine, over a Unix socket.
    Here,
    /// Addresses beyond the table.
    Others,
}

/// Rejections of a controller.
///
/// **Call order:** [`handle`](Self::handle) for each rejection; [`poll`](Self::poll) at intervals, until it
/// returns `None`.
#[derive(Debug, Default)]
pub(super) struct RejectionLog {
    sources: BTreeMap<Option<Client>, Source>,
    others: Option<Source>,
}

impl RejectionLog {
    /// Counts a rejection of an address (`None`: over a Unix socket). Returns whether it is logged.
    pub(super) fn handle(&mut self, now: Stamp, address: Option<IpAddr>) -> bool {
        let key = address.map(Client::at);
        let full = self.sources.len() >= MAX_SOURCES && !self.sources.contains_key(&key);
        let source = if full {
            self.others.get_or_insert_with(|| Source::new(now, None))
        } else {
            self.sources.entry(key).or_insert_with(|| Source::new(now, address))
        };
        source.last = now;
        if source.logged < MAX_LOGGED {
            source.logged += 1;
            return true;
        }
        if source.more == 0 {
            source.summary = now.after(source.gap);
        }
        source.more += 1;
        false
    }

    /// Next due summary; `None` when there is none.
    pub(super) fn poll(&mut self, now: Stamp) -> Option<RejectionSummary> {
        self.sources
            .retain(|_, source| source.more > 0 || source.last.after(EXPIRY) > now);
        self.others
            .take_if(|others| others.more == 0 && others.last.after(EXPIRY) <= now);
        let known = self.sources.iter_mut().find_map(|(key, source)| {
            let from = match (key, source.address) {
                (Some(_), Some(address)) => Origin::Address(address),
                _ => Origin::Here,
            };
            source.take(now).map(|count| RejectionSummary { count, from })
        });
        known.or_else(|| {
            let count = self.others.as_mut()?.take(now)?;
            let from = Origin::Others;
            Some(RejectionSummary { count, from })
        })
    }
}

impl Source {
    fn new(now: Stamp, address: Option<IpAddr>) -> Source {
        Source {
            address,
            logged: 0,
            more: 0,
            last: now,
            summary: now,
            gap: SUMMARY_INTERVAL.0,
        }
    }

    /// Number of rejections for a summary, if one is due.
    fn take(&mut self, now: Stamp) -> Option<u64> {
        if self.more == 0 || self.summary > now {
            return None;
        }
        self.gap = (self.gap * 2).min(SUMMARY_INTERVAL.1);
        Some(std::mem::take(&mut self.more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn polled(rejections: &mut RejectionLog, at: i64) -> Vec<RejectionSummary> {
        std::iter::from_fn(|| rejections.poll(Stamp(at * SECOND))).collect()
    }

    #[test]
    fn a_flood_is_a_few_lines_and_a_number() {
        let mut rejections = RejectionLog::default();
        let (flood, other) = ("10.77.0.15".parse().unwrap(), "10.77.0.16".parse().unwrap());
        // 4 s of rejections, and one of another address in between.
        let logged = (0..11_571)
            .filter(|n| rejections.handle(Stamp(n * 345_000), Some(flood)))
            .count();
        assert_eq!(logged, 5);
        assert!(rejections.handle(Stamp(SECOND), Some(other)));
        assert_eq!(polled(&mut rejections, 59), []);
        let more = |count| RejectionSummary {
            count,
            from: Origin::Address(flood),
        };
        assert_eq!(polled(&mut rejections, 61), [more(11_566)]);
        assert_eq!(polled(&mut rejections, 1000), [], "reported once");
        // It continues: a summary after 2 min, then after 4.
        let mut rejections = RejectionLog::default();
        let mut logged = Vec::new();
        for at in 0..1000 {
            rejections.handle(Stamp(at * SECOND), Some(flood));
            logged.extend(polled(&mut rejections, at).into_iter().map(|more| (at, more.count)));
        }
        assert_eq!(logged, [(65, 61), (186, 121), (427, 241), (908, 481)]);
    }

    #[test]
    fn an_address_is_logged_again_after_silence() {
        let mut rejections = RejectionLog::default();
        let address = Some("2001:db8::1".parse().unwrap());
        assert!((0..5).all(|_| rejections.handle(Stamp(0), address)));
        assert!(
            !rejections.handle(Stamp(0), Some("2001:db8::2".parse().unwrap())),
            "of the same /64"
        );
        assert_eq!(polled(&mut rejections, 60).len(), 1);
        assert_eq!(polled(&mut rejections, 600), []);
        assert!(rejections.handle(Stamp(601 * SECOND), address));
        assert!(
            (0..4).all(|_| rejections.handle(Stamp(602 * SECOND), None)),
            "a socket of this machine"
        );
    }

    #[test]
    fn the_table_is_bounded_and_the_rest_is_counted_together() {
        let mut rejections = RejectionLog::default();
        let logged = (0..100_000_u32)
            .filter(|n| rejections.handle(Stamp(0), Some(IpAddr::from(n.to_be_bytes()))))
            .count();
        // 64 addresses once each, and five of all others.
        assert_eq!((logged, rejections.sources.len()), (69, 64));
        let others = RejectionSummary {
            count: 100_000 - 69,
            from: Origin::Others,
        };
        assert_eq!(polled(&mut rejections, 60), [others]);
        assert_eq!(polled(&mut rejections, 700), []);
        assert!(rejections.sources.is_empty() && rejections.others.is_none());
    }
}
