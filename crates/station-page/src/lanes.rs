//! The browser's connections to the ports of the server, which HTTP/1.1 limits.

use netburn_units::{Duration, Instant};

/// Connections of a browser to one origin over HTTP/1.1 (the same in Chromium, Firefox and Safari).
pub(crate) const CONNECTIONS: usize = 6;

/// The requests in progress to each port, in the order of their start. The first ones have the connections.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Vec<Vec<Waiting>>);

#[derive(Debug)]
struct Waiting {
    request: u64,
    /// Index of the workload.
    owner: usize,
    /// Start of the wait, if other workloads have the connections.
    since: Option<Instant>,
}

/// A request no longer waits for connections of other workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waited {
    pub(crate) owner: usize,
    pub(crate) wait: Duration,
}

impl Lanes {
    /// Adds a request of the workload `owner`.
    pub(crate) fn begin(&mut self, now: Instant, lane: usize, request: u64, owner: usize) {
        if self.0.len() <= lane {
            self.0.resize_with(lane + 1, Vec::new);
        }
        let requests = &mut self.0[lane];
        let waits = requests.len() >= CONNECTIONS;
        let behind_others = waits && requests[..CONNECTIONS].iter().any(|other| other.owner != owner);
        requests.push(Waiting {
            request,
            owner,
            since: behind_others.then_some(now),
        });
    }

    /// Removes a request. Returns the waits that end.
    pub(crate) fn end(&mut self, now: Instant, request: u64) -> Vec<Waited> {
        let place = self.0.iter().enumerate().find_map(|(lane, requests)| {
            let at = requests.iter().position(|other| other.request == request)?;
            Some((lane, at))
        });
        let Some((lane, at)) = place else { return Vec::new() };
        let mut ended = self.0[lane].remove(at);
        let next = self.0[lane].iter_mut().take(CONNECTIONS);
        let waits = std::iter::once(&mut ended).chain(next).filter_map(|waiting| {
            let since = waiting.since.take()?;
            Some(Waited {
                owner: waiting.owner,
                wait: now.checked_since(since).unwrap_or_default(),
            })
        });
        waits.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_only_for_the_connections_of_other_workloads() {
        let mut lanes = Lanes::default();
        let at = Instant::from_millis;
        for request in 0..6 {
            lanes.begin(at(0), 1, request, 0);
        }
        lanes.begin(at(0), 1, 6, 0);
        lanes.begin(at(5), 1, 7, 1);
        lanes.begin(at(5), 0, 8, 1);
        assert_eq!(lanes.end(at(10), 0), [], "the next one is of the same workload");
        let wait = Duration::from_millis(15);
        assert_eq!(lanes.end(at(20), 3), [Waited { owner: 1, wait }]);
        assert_eq!(lanes.end(at(30), 7), [], "a wait is reported once");
        assert_eq!(lanes.end(at(30), 8), []);
        assert_eq!(lanes.end(at(30), 8), []);
    }

    #[test]
    fn a_waiting_request_that_ends_reports_its_wait() {
        let mut lanes = Lanes::default();
        let at = Instant::from_millis;
        (0..8).for_each(|request| lanes.begin(at(0), 0, request, 0));
        lanes.begin(at(0), 0, 8, 1);
        let waited = |millis| Waited {
            owner: 1,
            wait: Duration::from_millis(millis),
        };
        assert_eq!(lanes.end(at(5), 6), [], "it waited for requests of its own workload");
        assert_eq!(lanes.end(at(5), 0), []);
        assert_eq!(
            lanes.end(at(5), 7),
            [waited(5)],
            "five are left before the other workload"
        );
        lanes.begin(at(5), 0, 9, 1);
        lanes.begin(at(5), 0, 10, 1);
        assert_eq!(lanes.end(at(9), 10), [waited(4)]);
        assert_eq!(lanes.end(at(9), 9), [waited(4)]);
        assert_eq!(lanes.end(at(9), 8), []);
        assert_eq!(lanes.0[0].len(), 5);
    }
}
