//! When a station's kernel is asked how fast its connections pace.
//!
//! What a connection may have ahead follows its pacing rate. At its beginning that rate doubles with every round trip, so a young
//! connection's is asked for much more often than another's: an answer that is old lets it send more than its small queues would.

use netburn_units::{Duration, Instant};

/// The time between two questions about connections that are no longer young.
const INTERVAL: Duration = Duration::from_millis(100);
/// The time between two questions about young ones.
const YOUNG_INTERVAL: Duration = Duration::from_millis(10);
/// A connection is young for so long: the round trips of slow start.
const YOUNG: Duration = Duration::from_secs(1);

/// When each station's kernel is asked next.
///
/// Laws: a station is asked as soon as one of its connections begins to send; two questions to it are [`YOUNG_INTERVAL`] apart at
/// least, but for new connections; no station waits for more questions to others than there are others.
#[derive(Debug, Clone)]
pub(super) struct Asks {
    stations: Vec<Station>,
    /// The one that is looked at first.
    first: usize,
}

#[derive(Debug, Clone, Copy)]
struct Station {
    due: Instant,
    young_until: Instant,
}

impl Asks {
    /// Of so many stations, none of which has sent.
    pub(super) fn new(now: Instant, stations: usize) -> Asks {
        let station = Station {
            due: now,
            young_until: now,
        };
        Asks {
            stations: vec![station; stations],
            first: 0,
        }
    }

    /// A connection of the station sends content for the first time.
    pub(super) fn handle_new_sender(&mut self, now: Instant, station: u16) {
        self.stations[usize::from(station)] = Station {
            due: now,
            young_until: now + YOUNG,
        };
    }

    /// A station that is to be asked now. One at a time: all at once would keep deliveries waiting.
    pub(super) fn poll(&mut self, now: Instant) -> Option<u16> {
        let count = self.stations.len();
        let mut order = (self.first..count).chain(0..self.first);
        let found = order.find(|index| self.stations[*index].due <= now)?;
        let station = &mut self.stations[found];
        let young = now < station.young_until;
        station.due = now + if young { YOUNG_INTERVAL } else { INTERVAL };
        self.first = (found + 1) % count;
        u16::try_from(found).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// The milliseconds of the first 2 s in which a station is asked.
    fn asked(asks: &mut Asks, station: u16) -> Vec<i64> {
        (0..2000)
            .filter(|ms| std::iter::from_fn(|| asks.poll(at(*ms))).any(|asked| asked == station))
            .collect()
    }

    #[test]
    fn who_begins_is_asked_at_once_and_ten_times_as_often_for_a_second() {
        let mut asks = Asks::new(at(0), 3);
        asks.handle_new_sender(at(0), 1);
        let times = asked(&mut asks, 1);
        // Every 10 ms before 1 s; the question at 1 s is the first that is followed by one after 100 ms.
        let expected: Vec<i64> = (0..100).map(|n| n * 10).chain((10..20).map(|n| n * 100)).collect();
        assert_eq!(times, expected);
        let mut asks = Asks::new(at(0), 3);
        assert_eq!(asked(&mut asks, 0), (0..20).map(|n| n * 100).collect::<Vec<_>>());
    }

    #[test]
    fn all_that_are_due_have_their_turn() {
        let mut asks = Asks::new(at(0), 4);
        for station in 0..4 {
            asks.handle_new_sender(at(5), station);
        }
        let mut turns: Vec<u16> = std::iter::from_fn(|| asks.poll(at(5))).collect();
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2, 3]);
        // One whose connections are new all the time doesn't keep the others from theirs.
        let mut others = Vec::new();
        for ms in 15..19 {
            asks.handle_new_sender(at(ms), 0);
            others.extend(asks.poll(at(ms)));
        }
        others.sort_unstable();
        others.dedup();
        assert_eq!(others, [0, 1, 2, 3]);
        assert_eq!(Asks::new(at(0), 0).poll(at(500)), None);
    }
}
