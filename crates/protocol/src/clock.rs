//! Estimation of the offset between two clocks from short exchanges.
//!
//! An exchange is a ping and its pong: four stamps, two of each clock. With unknown delays `d₁` forward and
//! `d₂` back, its offset has the error `(d₁ − d₂)/2`, which is at most half its round trip. Of many
//! exchanges, the third with the shortest round trips is used. The error of the mean of their offsets is at
//! most half the mean of their round trips. This also holds with a steady drift of the clocks. (Half the
//! best round trip is the minimum error; the others add the spread.) A clock whose machine slept between two
//! exchanges counts as another clock. Only exchanges after that are used.
//!
//! Pure: stamps are arguments.

use netburn_record::Clock;
use netburn_units::Duration;

/// A reading of one monotonic clock, in ns since the beginning of that clock. Stamps of different clocks
/// are only comparable through an [`Estimate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stamp(pub i64);

/// A ping and its pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Time of sending the ping, on the local clock.
    pub sent: Stamp,
    /// Time of receiving the ping, on the remote clock.
    pub received: Stamp,
    /// Time of sending the pong, on the remote clock.
    pub answered: Stamp,
    /// Time of receiving the pong, on the local clock.
    pub returned: Stamp,
}

/// Estimate of the remote clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Time of the estimate, on the local clock.
    pub at: Stamp,
    /// Remote clock minus local clock, in ns.
    pub offset: i64,
    /// Maximum error of `offset`.
    pub error: Duration,
    /// Shortest round trip.
    pub round_trip: Duration,
    /// Number of exchanges in the mean.
    pub used: usize,
    /// Number of usable exchanges.
    pub exchanges: usize,
}

/// Estimates of the remote clock before and, unless it was lost, after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// Before the start.
    pub before: Estimate,
    /// After the end.
    pub after: Option<Estimate>,
}

/// Maximum drift of a computer's clock: 500 ppm, the limit of NTP (RFC 5905, §11.3: MAXFREQ).
const MAX_DRIFT_PPM: i128 = 500;

impl Stamp {
    /// Adds `nanos`, saturating.
    #[must_use]
    pub fn offset(self, nanos: i64) -> Stamp {
        Stamp(self.0.saturating_add(nanos))
    }

    /// Adds `span`, saturating.
    #[must_use]
    pub fn after(self, span: Duration) -> Stamp {
        Stamp(self.0.saturating_add_unsigned(span.as_nanos()))
    }

    /// Subtracts `span`, saturating.
    #[must_use]
    pub fn before(self, span: Duration) -> Stamp {
        Stamp(self.0.saturating_sub_unsigned(span.as_nanos()))
    }

    /// Time since `earlier`; `None` when `earlier` is later.
    #[must_use]
    pub fn checked_since(self, earlier: Stamp) -> Option<Duration> {
        u64::try_from(i128::from(self.0) - i128::from(earlier.0))
            .ok()
            .map(Duration::from_nanos)
    }
}

impl Exchange {
    /// Round-trip time without the time at the remote side; `None` when the stamps contradict each other.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let there = self.returned.checked_since(self.sent)?;
        let away = self.answered.checked_since(self.received)?;
        there.checked_sub(away)
    }

    /// Twice the offset of the remote clock, which is an integer.
    fn doubled_offset(&self) -> i128 {
        let there = i128::from(self.received.0) - i128::from(self.sent.0);
        let back = i128::from(self.answered.0) - i128::from(self.returned.0);
        there + back
    }

    /// Twice the middle of the exchange on the local clock, which is an integer.
    fn doubled_middle(&self) -> i128 {
        i128::from(self.sent.0) + i128::from(self.returned.0)
    }

    /// Maximum error of the round trip from the drift of the remote clock.
    fn slack(&self) -> i128 {
        (i128::from(self.answered.0) - i128::from(self.received.0)) * MAX_DRIFT_PPM / 1_000_000
    }
}

/// Estimates the remote clock; `None` when no exchange is usable.
#[must_use]
pub fn estimate(exchanges: &[Exchange]) -> Option<Estimate> {
    let mut usable: Vec<(Duration, &Exchange)> = exchanges
        .iter()
        .filter_map(|exchange| exchange.round_trip().map(|trip| (trip, exchange)))
        .collect();
    let usable = since_jump(&mut usable);
    usable.sort_by_key(|(trip, _)| *trip);
    let count = usable.len();
    let best = &usable[..count.div_ceil(3)];
    let (round_trip, _) = *best.first()?;
    let used = i128::try_from(best.len()).expect("a slice's length");
    let sum = |part: &dyn Fn(&(Duration, &Exchange)) -> i128| best.iter().map(part).sum::<i128>();
    let offset = sum(&|(_, exchange)| exchange.doubled_offset()).div_euclid(2 * used);
    let middle = sum(&|(_, exchange)| exchange.doubled_middle()).div_euclid(2 * used);
    let trips = sum(&|(trip, exchange)| i128::from(trip.as_nanos()) + exchange.slack());
    // The two roundings above are at most 1 ns each.
    let error = trips.unsigned_abs().div_ceil(2 * used.unsigned_abs()) + 2;
    Some(Estimate {
        at: Stamp(i64::try_from(middle).ok()?),
        offset: i64::try_from(offset).ok()?,
        error: Duration::from_nanos(u64::try_from(error).unwrap_or(u64::MAX)),
        round_trip,
        used: best.len(),
        exchanges: count,
    })
}

/// Exchanges after the last jump of either clock. Each exchange bounds the offset to an interval as wide as
/// its round trip, which widens by the maximum drift until the next exchange. An empty intersection shows a
/// jump.
fn since_jump<'a, 'b>(usable: &'a mut [(Duration, &'b Exchange)]) -> &'a mut [(Duration, &'b Exchange)] {
    let (mut first, mut common, mut before): (usize, Option<(i128, i128)>, i128) = (0, None, 0);
    for (index, (trip, exchange)) in usable.iter().enumerate() {
        // All values are doubled.
        let (offset, at) = (exchange.doubled_offset(), exchange.doubled_middle());
        let half = i128::from(trip.as_nanos()) + exchange.slack() + 2;
        let drifted = (at - before).abs() * MAX_DRIFT_PPM / 1_000_000 + 2;
        let (least, most) = (offset - half, offset + half);
        let within = common.map(|(low, high)| ((low - drifted).max(least), (high + drifted).min(most)));
        common = within.filter(|(low, high)| low <= high).or_else(|| {
            first = index;
            Some((least, most))
        });
        before = at;
    }
    &mut usable[first..]
}

impl Estimate {
    /// Converts a local stamp to the remote clock.
    #[must_use]
    pub fn to_far(&self, ours: Stamp) -> Stamp {
        ours.offset(self.offset)
    }
}

impl Comparison {
    /// Drift of the remote clock in parts per billion, and its maximum error; `None` without a later
    /// estimate.
    #[must_use]
    pub fn drift_ppb(&self) -> Option<(i64, u64)> {
        let after = self.after?;
        let span = i128::from(after.at.checked_since(self.before.at)?.as_nanos());
        let moved = i128::from(after.offset) - i128::from(self.before.offset);
        let error = i128::from(after.error.as_nanos()) + i128::from(self.before.error.as_nanos());
        let drift = (moved * 1_000_000_000).checked_div(span)?;
        let unsure = (error * 1_000_000_000).checked_div(span)?;
        Some((i64::try_from(drift).ok()?, u64::try_from(unsure).ok()?))
    }

    /// Maximum error of an instant converted between the clocks. The drift between the estimates can be
    /// removed, so only their own errors remain.
    #[must_use]
    pub fn error(&self) -> Duration {
        self.after
            .map_or(self.before.error, |after| after.error.max(self.before.error))
    }

    /// Jump of the remote clock between the estimates, in ns; `None` if drift and errors explain the
    /// change.
    #[must_use]
    pub fn jump(&self) -> Option<i64> {
        let after = self.after?;
        let span = i128::from(after.at.0) - i128::from(self.before.at.0);
        let moved = i128::from(after.offset) - i128::from(self.before.offset);
        let errors = i128::from(after.error.as_nanos()) + i128::from(self.before.error.as_nanos());
        let explained = span.abs() * MAX_DRIFT_PPM / 1_000_000 + errors;
        let moved_too_far = moved.abs() > explained;
        let limits = (i128::from(i64::MIN), i128::from(i64::MAX));
        moved_too_far.then(|| i64::try_from(moved.clamp(limits.0, limits.1)).expect("within the limits"))
    }

    /// Record of the clock of agent `name`, which drove `stations` in a run that began at `zero` on the
    /// local clock. Omits a drift that is smaller than its error, and the drift of a clock that jumped.
    #[must_use]
    pub fn report(&self, name: &str, stations: Vec<String>, zero: Stamp) -> Clock {
        let after = self.after.as_ref();
        let round_trip = after.map_or(self.before.round_trip, |after| {
            after.round_trip.min(self.before.round_trip)
        });
        let jump = self.jump();
        let compared = self.drift_ppb().filter(|_| jump.is_none());
        let drift = compared.filter(|(drift, unsure)| drift.unsigned_abs() > *unsure);
        Clock {
            name: name.to_owned(),
            stations,
            offset_ns: self.before.offset,
            error_ns: self.error().as_nanos(),
            round_trip_ns: round_trip.as_nanos(),
            exchanges: (self.before.exchanges + after.map_or(0, |after| after.exchanges)) as u64,
            drift_ppm: drift.map(|(drift, _)| drift as f64 / 1e3),
            drift_error_ppm: compared.map(|(_, unsure)| unsure as f64 / 1e3),
            compared_ns: self.before.at.0.saturating_sub(zero.0),
            jump_ns: jump,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exchange(sent: i64, received: i64, answered: i64, returned: i64) -> Exchange {
        Exchange {
            sent: Stamp(sent),
            received: Stamp(received),
            answered: Stamp(answered),
            returned: Stamp(returned),
        }
    }

    /// 30 forward, 10 back, remote clock 1000 ahead: the measured offset is 1000 + (30 − 10)/2.
    #[test]
    fn one_exchange_by_hand() {
        let one = exchange(100, 1130, 1135, 145);
        assert_eq!(one.round_trip(), Some(Duration::from_nanos(40)));
        let estimate = estimate(&[one]).unwrap();
        assert_eq!(estimate.offset, 1010);
        assert_eq!(
            estimate.error,
            Duration::from_nanos(22),
            "half of 40, and 2 for rounding"
        );
        assert_eq!(estimate.at, Stamp(122));
    }

    #[test]
    fn the_best_third_decides() {
        let quick = exchange(0, 505, 505, 10);
        let slow = exchange(100, 100 + 500 + 900, 1500, 1010);
        let got = estimate(&[slow, quick, slow]).unwrap();
        assert_eq!((got.offset, got.used, got.exchanges), (500, 1, 3));
        assert_eq!(got.round_trip, Duration::from_nanos(10));
    }

    #[test]
    fn contradictory_stamps_are_left_out() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[exchange(10, 0, 0, 5)]), None, "back before it left");
        assert_eq!(
            estimate(&[exchange(0, 0, 100, 50)]),
            None,
            "longer there than away from here"
        );
        assert_eq!(estimate(&[exchange(0, i64::MAX, i64::MIN, 50)]), None);
        assert_eq!(
            estimate(&[exchange(0, i64::MIN, i64::MIN, 50)]),
            None,
            "an offset that no stamp can hold"
        );
    }

    /// 10 forward, 10 back, 2 ms apart. After the fourth exchange the remote clock is set back by a second.
    /// The best third of all would contain one exchange of each side.
    #[test]
    fn exchanges_with_another_clock_do_not_count() {
        let at = |number: i64, offset: i64| {
            let sent = number * 2_000_000;
            exchange(sent, sent + 10 + offset, sent + 15 + offset, sent + 25)
        };
        let set = |number: i64| at(number, if number < 4 { 5_000 } else { 5_000 - 1_000_000_000 });
        let exchanges: Vec<Exchange> = (0..6).map(set).collect();
        let got = estimate(&exchanges).unwrap();
        assert_eq!((got.offset, got.exchanges, got.used), (5_000 - 1_000_000_000, 2, 1));
        assert_eq!(got.error, Duration::from_nanos(12), "half of 20, and 2 for rounding");
        // An imprecise exchange between them does not hide the jump.
        let mut wide = exchanges.clone();
        wide.insert(4, exchange(7_000_000, 7_000_000, 7_000_000, 2_007_000_000));
        assert_eq!(estimate(&wide).unwrap().offset, 5_000 - 1_000_000_000);
        // A jump within an exchange: its stamps contradict each other, or it adds no information.
        let torn = [
            set(3),
            exchange(7_000_000, 7_005_010, 7_005_015 - 1_000_000_000, 7_000_025),
            set(4),
            set(5),
        ];
        assert_eq!(estimate(&torn).unwrap().offset, 5_000 - 1_000_000_000);
        // The maximum drift is no jump: 100 µs in a second.
        let drifting: Vec<Exchange> = (0..500).map(|number| at(number, number * 200)).collect();
        assert_eq!(estimate(&drifting).unwrap().exchanges, 500);
    }

    #[test]
    fn drift_by_hand() {
        let at = |at: i64, offset: i64| Estimate {
            at: Stamp(at),
            offset,
            error: Duration::from_nanos(1_000),
            round_trip: Duration::from_nanos(2_000),
            used: 1,
            exchanges: 3,
        };
        let both = Comparison {
            before: at(0, 5_000),
            after: Some(at(1_000_000_000, 105_000)),
        };
        assert_eq!(
            both.drift_ppb(),
            Some((100_000, 2_000)),
            "100 µs in a second is 100 ppm"
        );
        assert_eq!(both.report("a", vec![], Stamp(500)).drift_ppm, Some(100.0));
        assert_eq!(both.report("a", vec![], Stamp(500)).drift_error_ppm, Some(2.0));
        assert_eq!(both.report("a", vec![], Stamp(500)).compared_ns, -500);
        let still = Comparison {
            before: at(0, 5_000),
            after: Some(at(1_000_000_000, 6_000)),
        };
        assert_eq!(still.report("a", vec![], Stamp(0)).drift_ppm, None, "within the errors");
    }

    /// In 10 s no clock drifts by more than 5 ms, and the error of each estimate is 1 µs.
    #[test]
    fn a_change_beyond_the_drift_is_a_jump() {
        let at = |at: i64, offset: i64| Estimate {
            at: Stamp(at),
            offset,
            error: Duration::from_nanos(1_000),
            round_trip: Duration::from_nanos(2_000),
            used: 1,
            exchanges: 3,
        };
        let moved = |by: i64| Comparison {
            before: at(0, 70_000),
            after: Some(at(10_000_000_000, 70_000 + by)),
        };
        assert_eq!(moved(5_002_000).jump(), None);
        assert_eq!(moved(5_002_001).jump(), Some(5_002_001));
        assert_eq!(moved(-5_002_001).jump(), Some(-5_002_001));
        let report = moved(-3_000_000_000).report("a", vec![], Stamp(0));
        assert_eq!((report.jump_ns, report.drift_ppm), (Some(-3_000_000_000), None));
        assert_eq!(report.drift_error_ppm, None);
        let once = Comparison {
            before: at(0, 0),
            after: None,
        };
        assert_eq!(once.jump(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// The true offset is within the bound for any delays and any drift.
        #[test]
        fn the_truth_is_within_the_bound(
            true_offset in -1_000_000_000_000_000i64..1_000_000_000_000_000,
            drift_ppm in -200i64..200,
            floor_there in 0i64..5_000_000,
            floor_back in 0i64..5_000_000,
            delays in prop::collection::vec((0i64..3_000_000, 0i64..3_000_000, 0i64..200_000), 1..60),
        ) {
            // The remote clock reads `true_offset + (1 + drift) t` when the local clock reads `t`.
            let far = |ours: i64| ours + true_offset + ours * drift_ppm / 1_000_000;
            let mut now = 0;
            let mut exchanges = Vec::new();
            for (there, back, away) in delays {
                let sent = now;
                let arrived = sent + floor_there + there;
                let left = arrived + away;
                let returned = left + floor_back + back;
                exchanges.push(exchange(sent, far(arrived), far(left), returned));
                now = returned + 2_000_000;
            }
            let got = estimate(&exchanges).unwrap();
            let truth = far(got.at.0) - got.at.0;
            let wrong = u64::try_from((got.offset - truth).abs()).unwrap();
            // The remote stamps of this test are rounded to whole nanoseconds too.
            prop_assert!(wrong <= got.error.as_nanos() + 2, "{wrong} > {:?}", got);
            prop_assert!(got.error.as_nanos() >= got.round_trip.as_nanos() / 2);
        }

        #[test]
        fn nothing_overflows(stamps in prop::collection::vec(any::<(i64, i64, i64, i64)>(), 0..9)) {
            let exchanges: Vec<_> = stamps.into_iter().map(|(a, b, c, d)| exchange(a, b, c, d)).collect();
            if let Some(before) = estimate(&exchanges) {
                let both = Comparison { before, after: Some(before) };
                let _ = (both.drift_ppb(), both.report("x", vec![], Stamp(i64::MIN)), before.to_far(Stamp(i64::MAX)));
            }
        }
    }
}
