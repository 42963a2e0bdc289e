//! When the pacing rates of a station's connections are sampled from its kernel (sock_diag).
//!
//! What a connection may have ahead of the air follows its pacing rate. In slow start that rate doubles with every round trip. So the
//! rate of a young connection is sampled more often: with an old rate the lab allows more, or less, than TCP Small Queues would.

use netburn_units::{Duration, Instant};

/// The time between two questions about connections that are no longer young.
const INTERVAL: Duration = Duration::from_millis(100);
/// The time between two questions about young ones: less than a round trip over Wi-Fi.
const YOUNG_INTERVAL: Duration = Duration::from_millis(1);
/// The time between two questions to any kernels. A question takes some 10 µs, in which no delivery is made.
const SPACING: Duration = Duration::from_micros(250);
/// A connection is young for so long: the round trips of slow start.
const YOUNG: Duration = Duration::from_secs(1);

/// When each station's kernel is asked next.
///
/// Laws: two questions are [`SPACING`] apart at least; a station is due as soon as one of its connections begins to send, and waits
/// for no more questions to others than there are others.
#[derive(Debug, Clone)]
pub(super) struct Asks {
    stations: Vec<Station>,
    /// The one that is looked at first.
    first: usize,
    /// No question before this.
    not_before: Instant,
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
            not_before: now,
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

    /// The milliseconds of the first 2 s in which a station is asked, with a look every 250 µs.
    fn asked(asks: &mut Asks, station: u16) -> Vec<i64> {
        let looks = (0..8_000).filter(|look| asks.poll(at(look * 250)) == Some(station));
        looks.map(|look| look / 4).collect()
    }

    #[test]
    fn who_begins_is_asked_at_once_and_every_millisecond_for_a_second() {
        let mut asks = Asks::new(at(0), 1);
        asks.handle_new_sender(at(0), 0);
        // The question at 1 s is the first that is followed by one after 100 ms.
        let expected: Vec<i64> = (0..1_000).chain((10..20).map(|n| n * 100)).collect();
        assert_eq!(asked(&mut asks, 0), expected);
        let mut asks = Asks::new(at(0), 1);
        assert_eq!(asked(&mut asks, 0), (0..20).map(|n| n * 100).collect::<Vec<_>>());
    }

    #[test]
    fn all_that_are_due_have_their_turn() {
        let mut asks = Asks::new(at(0), 4);
        for station in 0..4 {
            asks.handle_new_sender(at(5), station);
        }
        // Four within a millisecond, and no two at once.
        let mut turns: Vec<u16> = (0..100).filter_map(|look| asks.poll(at(5 + 10 * look))).collect();
        assert!(asks.poll(at(995)).is_none());
        turns.sort_unstable();
        assert_eq!(turns, [0, 1, 2, 3]);
        // One whose connections are new all the time doesn't keep the others from theirs.
        let mut others = Vec::new();
        for round in 5..9 {
            let now = at(round * 1_000);
            asks.handle_new_sender(now, 0);
            others.extend(asks.poll(now));
        }
        others.sort_unstable();
        others.dedup();
        assert_eq!(others, [0, 1, 2, 3]);
        assert_eq!(Asks::new(at(0), 0).poll(at(500_000)), None);
    }
}
