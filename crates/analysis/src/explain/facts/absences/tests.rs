//! Absences, periods and beacons of arrivals that are made with a known truth.

use super::*;
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

/// Probes each `interval` for `length`, each of which takes `delay(due)`.
fn probes(length: i64, interval: i64, delay: impl Fn(i64) -> i64) -> Vec<Arrival> {
    let dues = (0..length / interval).map(|n| n * interval);
    dues.map(|due| Arrival {
        stream: (0, false),
        due,
        end: Some(due + delay(due)),
    })
    .collect()
}

/// Delay of a station that is absent for `length` at the end of each `period`, and answers after 2 ms otherwise.
fn absent(period: i64, length: i64) -> impl Fn(i64) -> i64 {
    move |due| {
        let left = period - due.rem_euclid(period);
        if left <= length { left + 2 * MS } else { 2 * MS }
    }
}

fn found(arrivals: &[Arrival]) -> Option<Rhythm> {
    rhythm(&absences(arrivals), arrivals)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_period_and_the_length_of_absences_are_found(
        period in 300_i64..3_000,
        part in 8_i64..40,
        interval in 10_i64..60,
    ) {
        let length = (period * part / 100).max(2 * interval + 20);
        prop_assume!(length * 3 < period);
        let arrivals = probes(60 * S, interval * MS, absent(period * MS, length * MS));
        let rhythm = found(&arrivals).expect("a period");
        let found = rhythm.period.unwrap();
        prop_assert!((found / (period * MS) as f64 - 1.0).abs() < 0.01, "{}", found / 1e6);
        // The absence begins between two probes.
        let off = rhythm.length - length * MS;
        prop_assert!(off.abs() <= interval * MS + 2 * MS, "{off}");
    }

    /// A queue that fills and empties, as with the sawtooth of TCP, delays each packet behind the one before.
    #[test]
    fn a_queue_with_a_period_is_no_absence(period in 500_i64..4_000, depth in 50_i64..300) {
        let delay = |due: i64| 2 * MS + due.rem_euclid(period * MS) * depth / period;
        prop_assert_eq!(found(&probes(60 * S, 20 * MS, delay)), None);
    }

    #[test]
    fn any_arrivals_have_a_result(times in proptest::collection::vec((0_u16..3, 0_i64..10 * S, proptest::option::of(0_i64..S)), 0..200)) {
        let arrivals: Vec<Arrival> = times
            .into_iter()
            .map(|(workload, due, delay)| Arrival { stream: (workload, false), due, end: delay.map(|delay| due + delay) })
            .collect();
        if let Some(rhythm) = found(&arrivals) {
            prop_assert!(rhythm.period.is_some_and(|period| period.is_finite() && period > 0.0) && rhythm.length >= 0);
        }
        if let Some((strength, share)) = beacon_locked(&arrivals) {
            prop_assert!((0.0..=1.0 + 1e-9).contains(&strength) && (0.0..=1.0).contains(&share));
        }
    }
}

/// Ten absences at random times in a minute have no period. Chance makes one at most once in 1,000 times, so five of 1,000 are
/// too many by a factor that chance itself reaches once in 270 (Poisson).
#[test]
fn absences_at_random_times_have_no_period() {
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    let mut false_alarms = 0;
    for _ in 0..1_000 {
        let mut ends: Vec<i64> = (0..10).map(|_| random() % (60 * S)).collect();
        ends.sort_unstable();
        let away: Vec<Absence> = ends
            .into_iter()
            .map(|end| Absence {
                begin: end - 80 * MS,
                end,
            })
            .collect();
        let arrivals = [0, 40 * MS].map(|due| Arrival {
            stream: (0, false),
            due,
            end: Some(due),
        });
        false_alarms += usize::from(rhythm(&away, &arrivals).is_some());
    }
    assert!(false_alarms < 5, "{false_alarms}");
}

/// Absences of 80 ms that end at these times, and probes each 40 ms.
fn rhythm_of(ends: impl Iterator<Item = i64>) -> Option<Rhythm> {
    let away: Vec<Absence> = ends
        .map(|end| Absence {
            begin: end - 80 * MS,
            end,
        })
        .collect();
    rhythm(&away, &probes(S, 40 * MS, |_| 2 * MS))
}

/// 1,500 absences are 25 minutes of scans with one in a second. The device restarts after 1,000 of them, so the phase changes.
#[test]
fn the_absences_of_a_long_run_fit_the_period() {
    let rhythm = rhythm_of((0..1_500).map(|n| n * S + if n < 1_000 { 0 } else { 400 * MS })).unwrap();
    assert_eq!(rhythm.period, Some(1e9));
    // At the change of the phase, absences of both phases are in one part.
    assert!(rhythm.absences.len() >= 1_300, "{}", rhythm.absences.len());
    assert_eq!(rhythm_of((0..1_500).map(|n| n * S)).unwrap().absences.len(), 1_500);
}

/// A program starts to scan in the middle of a run, in which the first absences have no period.
#[test]
fn a_period_that_begins_late_is_found() {
    let irregular = |n: i64| n * S + n * n * 7_919 % 1_000 * MS;
    let rhythm = rhythm_of((0..190).map(irregular).chain((200..600).map(|n| n * S))).unwrap();
    assert!((rhythm.period.unwrap() / 1e9 - 1.0).abs() < 1e-3);
    // Some irregular ones are in the part in which the period begins, which makes its arc narrower.
    let begins = rhythm.absences.iter().map(|absence| absence.begin);
    let late = begins.filter(|begin| *begin >= 199 * S).count();
    assert!(late >= 390, "{late}");
    assert!(rhythm.absences.len() <= 420, "{}", rhythm.absences.len());
}

/// Packets that are lost in an absence have no end; the next one that arrives ends it.
#[test]
fn lost_packets_are_absences_too() {
    let mut arrivals = probes(60 * S, 20 * MS, |_| 2 * MS);
    for arrival in &mut arrivals {
        if arrival.due.rem_euclid(1_300 * MS) < 200 * MS {
            arrival.end = None;
        }
    }
    let rhythm = found(&arrivals).unwrap();
    let period = rhythm.period.unwrap();
    assert!((period / 1.3e9 - 1.0).abs() < 0.02, "{period}");
}

/// A lost packet takes no time, so it is within an absence only if it was due during one.
#[test]
fn a_lost_packet_is_within_an_absence_only_during_it() {
    let absences = [Absence {
        begin: 10 * S,
        end: 12 * S,
    }];
    for (wait, expected) in [
        ((11 * S, 11 * S), true),
        ((9 * S, 9 * S), false),
        ((13 * S, 13 * S), false),
        ((9 * S, 12 * S), true),
        ((2 * S, 11 * S), false),
    ] {
        assert_eq!(is_within(&absences, wait), expected, "{wait:?}");
    }
    assert!(!is_within(&[], (S, S)));
}

/// A device without absences, and one with the same or with others at the same times.
#[test]
fn absences_are_shared_if_the_other_station_has_them_too() {
    let away = probes(30 * S, 40 * MS, absent(S, 100 * MS));
    let present = probes(30 * S, 40 * MS, |_| 2 * MS);
    let own = absences(&away);
    assert_eq!(shared(&own, &away, &own), Some(1.0));
    assert_eq!(shared(&own, &present, &absences(&present)), Some(0.0));
    // Probes that are never due within the absences tell nothing.
    let rare = probes(30 * S, S, |_| 2 * MS);
    assert_eq!(shared(&own, &rare, &absences(&rare)), None);
}

/// A dozing device answers at the next beacon (802.11-2020 11.2.3). A constant or a random delay does not follow beacons.
#[test]
fn waits_of_a_dozing_device_end_with_the_beacons() {
    let beacon = 102_400_000;
    let dozing = probes(60 * S, 150 * MS, |due| beacon - due.rem_euclid(beacon) + MS);
    let (strength, share) = beacon_locked(&dozing).unwrap();
    assert!(strength > 0.95 && share > 0.8, "{strength} {share}");
    let spread = probes(60 * S, 150 * MS, |due| MS + due / MS * 7_919 % 101 * MS);
    assert!(beacon_locked(&spread).is_none_or(|(strength, _)| strength < 0.4));
    let constant = probes(60 * S, 150 * MS, |_| 40 * MS);
    assert_eq!(beacon_locked(&constant), None);
    // Probes in step with the beacons end in step with them, whatever delays them.
    let in_step = probes(60 * S, 2 * beacon, |due| 10 * MS + due / beacon % 3 * MS);
    assert!(beacon_locked(&in_step).is_none());
}
