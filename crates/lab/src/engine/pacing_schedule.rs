//! Schedule for sampling the pacing rates of a station's connections (sock_diag).
//!
//! The number of bytes that a connection may have in flight below TCP depends on its pacing rate. In slow start, this
//! rate doubles every round trip. Young connections are therefore sampled more often. With an old rate, the lab would
//! allow more or fewer bytes than TCP Small Queues.

use netburn_units::{Duration, Instant};

/// Sampling interval of connections that are not young.
const INTERVAL: Duration = Duration::from_millis(100);
/// Sampling interval of young connections: shorter than a round trip over Wi-Fi.
const YOUNG_INTERVAL: Duration = Duration::from_millis(1);
/// Minimum time between two samples of any stations. A sample takes about 10 µs, in which no packet is delivered.
const SPACING: Duration = Duration::from_micros(250);
/// Time for which a connection is young: several round trips of slow start.
const YOUNG: Duration = Duration::from_secs(1);

/// Next sampling time of each station.
///
/// Invariants:
///
/// - Two samples are at least [`SPACING`] apart.
/// - A station is due as soon as one of its connections starts to send.
/// - A due station waits for at most one sample of each other station.
#[derive(Debug, Clone)]
pub(super) struct PacingSchedule {
    stations: Vec<Station>,
    /// Index of the station that is checked first.
    first: usize,
    /// Earliest time of the next sample.
    not_before: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Station {
    due: Instant,
    young_until: Instant,
}

impl PacingSchedule {
    /// Creates a schedule for `stations` stations without connections.
    pub(super) fn new(now: Instant, stations: usize) -> PacingSchedule {
        let station = Station {
            due: now,
            young_until: now,
        };
        PacingSchedule {
            stations: vec![station; stations],
            first: 0,
            not_before: now,
        }
    }

    /// A connection of the station sends payload for the first time.
    pub(super) fn handle_new_sender(&mut self, now: Instant, station: u16) {
        self.stations[usize::from(station)] = Station {
            due: now,
            young_until: now + YOUNG,
        };
    }

    /// Returns a station that is due. Only one at a time, because several samples in a row would delay deliveries.
    pub(super) fn poll(&mut self, now: Instant) -> Option<u16> {
        if now < self.not_before {
            return None;
        }
        let count = self.stations.len();
        let mut order = (self.first..count).chain(0..self.first);
        let found = order.find(|index| self.stations[*index].due <= now)?;
        let station = &mut self.stations[found];
        let young = now < station.young_until;
        station.due = now + if young { YOUNG_INTERVAL } else { INTERVAL };
        self.first = (found + 1) % count;
        self.not_before = now + SPACING;
        u16::try_from(found).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: i64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// Returns the milliseconds of the first 2 s in which a station is sampled, with one poll every 250 µs.
    fn polled(schedule: &mut PacingSchedule, station: u16) -> Vec<i64> {
        let moderator = (0..8_000).filter(|poll| schedule.poll(at(poll * 250)) == Some(station));
        moderator.map(|poll| poll / 4).collect()
    }

    #[test]
    fn a_new_sender_is_sampled_at_once_and_every_millisecond_for_a_second() {
        let mut schedule = PacingSchedule::new(at(0), 1);
        schedule.handle_new_sender(at(0), 0);
        // The sample at 1 s is the first that is followed by one after 100 ms.
        let expected: Vec<i64> = (0..1_000).chain((10..20).map(|n| n * 100)).collect();
        assert_eq!(polled(&mut schedule, 0), expected);
        let mut schedule = PacingSchedule::new(at(0), 1);
        assert_eq!(polled(&mut schedule, 0), (0..20).map(|n| n * 100).collect::<Vec<_>>());
    }

    #[test]
    fn all_due_stations_are_sampled() {
        let mut schedule = PacingSchedule::new(at(0), 4);
        for station in 0..4 {
            schedule.handle_new_sender(at(5), station);
        }
        // Four samples within a millisecond, and never two at once.
        let mut turns: Vec<u16> = (0..100).filter_map(|poll| schedule.poll(at(5 + 10 * poll))).collect();
        assert!(schedule.poll(at(995)).is_none());
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2, 3]);
        // A station that always has new connections does not delay the samples of others.
        let mut others = Vec::new();
        for round in 5..9 {
            let now = at(round * 1_000);
            schedule.handle_new_sender(now, 0);
            others.extend(schedule.poll(now));
        }
        others.sort_unstable();
        others.dedup();
        assert_eq!(others, [0, 1, 2, 3]);
        assert_eq!(PacingSchedule::new(at(0), 0).poll(at(500_000)), None);
    }
}
