//! Laws of records, of their names, and of their deletion.

use netburn_record::UnixTime;
use netburn_units::{ByteSize, Duration, Instant};
use netburn_watch::hour::{End, HOUR, Reading, Segment, folder, parse};
use netburn_watch::keep::{Recorded, to_delete};
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;
/// 2026-12-01T00:00:00Z (`date -u -d 2026-12-01 +%s`).
const DAY: i64 = 1_796_083_200 * SECOND;

fn at(wall: i64, mono: i64) -> Reading {
    Reading {
        wall: UnixTime(wall),
        mono: Instant::from_nanos(mono),
    }
}

#[test]
fn a_record_ends_with_its_hour() {
    let begun = at(DAY + 14 * 3600 * SECOND + 600 * SECOND, 7 * SECOND);
    let segment = Segment::begin(begun, HOUR);
    assert_eq!(segment.name(), "2026-12-01T14Z");
    assert_eq!(segment.length, Duration::from_secs(3000));
    assert!(!segment.is_whole(HOUR));
    let later = |seconds: i64, jump: i64| {
        at(
            begun.wall.0 + (seconds + jump) * SECOND,
            begun.mono.as_nanos() + seconds * SECOND,
        )
    };
    assert_eq!(segment.check(later(2999, 0)), None);
    assert_eq!(segment.check(later(3000, 0)), Some(End::Over));
    // A suspended computer, and clocks that were set. A time server changes a clock by less.
    assert_eq!(
        segment.check(later(10, 600)),
        Some(End::Ahead(Duration::from_secs(600)))
    );
    assert_eq!(
        segment.check(later(10, -86_400)),
        Some(End::Behind(Duration::from_secs(86_400)))
    );
    assert_eq!(segment.check(later(2999, 2)), None);
    assert_eq!(segment.check(later(3600, -2)), Some(End::Over));
}

#[test]
fn a_short_rest_belongs_to_the_next_hour() {
    let segment = Segment::begin(at(DAY + 3595 * SECOND, 0), HOUR);
    assert_eq!(
        (segment.name(), segment.length),
        ("2026-12-01T01Z".to_owned(), Duration::from_secs(3605))
    );
    assert!(segment.is_whole(HOUR));
    let segment = Segment::begin(at(DAY + 3590 * SECOND, 0), HOUR);
    assert_eq!(
        (segment.name(), segment.length),
        ("2026-12-01T00Z".to_owned(), Duration::from_secs(10))
    );
}

#[test]
fn other_names_are_not_hours() {
    assert_eq!(parse("2026-12-01T14Z"), Some((UnixTime(DAY + 14 * 3600 * SECOND), 1)));
    assert_eq!(parse("2026-12-01T14Z-2"), Some((UnixTime(DAY + 14 * 3600 * SECOND), 2)));
    for name in [
        "",
        "Z",
        "2026-12-01",
        "2026-12-01T14",
        "2026-12-01T14Z-1",
        "2026-12-01T14Z-02",
        "2026-12-01T14Z-",
        "2026-12-01T24Z",
        "2026-02-30T10Z",
        "2026-12-01T14-00-00Z",
        "2026-12-01T14Z/..",
        "2026-12-1T14Z",
        "2026-12-01T14Zx",
        "+2026-12-01T14Z",
        "2026-12-01T14-05Z",
        "9999999999999999999-01-01T00Z",
        "2026-12-01T99999999999Z",
    ] {
        assert_eq!(parse(name), None, "{name}");
    }
}

proptest! {
    /// Consecutive records leave no gap and do not overlap, and each lies in its hour except for the first seconds.
    #[test]
    fn records_follow_each_other(start in 0_i64..4_000_000_000, nanos in 0_i64..SECOND, period in 10_u64..7200) {
        let period = Duration::from_secs(period);
        let mut now = at(start * SECOND + nanos, 5);
        for round in 0..5 {
            let segment = Segment::begin(now, period);
            let length = i64::try_from(segment.length.as_nanos()).unwrap();
            prop_assert!(length > 0 && segment.length <= period + period / 10);
            let end = at(now.wall.0 + length, now.mono.as_nanos() + length);
            prop_assert_eq!(segment.check(at(end.wall.0 - 1, end.mono.as_nanos() - 1)), None);
            prop_assert_eq!(segment.check(end), Some(End::Over));
            prop_assert_eq!(end.wall.0 % i64::try_from(period.as_nanos()).unwrap(), 0);
            prop_assert_eq!(segment.rest(end.mono), Duration::ZERO);
            prop_assert_eq!(segment.rest(now.mono), segment.length);
            prop_assert!(round == 0 || segment.is_whole(period));
            now = end;
        }
    }

    /// A jump of the wall clock is found at any time of a record, whatever its direction.
    #[test]
    fn a_jump_ends_a_record(start in 0_i64..4_000_000_000, ran in 0_i64..3600, jump in prop_oneof![-1_000_000_i64..-5, 6_i64..1_000_000]) {
        let begun = at(start * SECOND, 0);
        let segment = Segment::begin(begun, HOUR);
        let end = segment.check(at((start + ran + jump) * SECOND, ran * SECOND));
        let size = Duration::from_secs(jump.unsigned_abs());
        let expected = if jump > 0 { End::Ahead(size) } else if jump < -5 { End::Behind(size) } else { return Ok(()) };
        prop_assert_eq!(end, Some(expected));
    }

    /// The name of a folder has its hour, and names sort like hours.
    #[test]
    fn a_name_is_an_hour(one in 0_i64..9_000_000_000, other in 0_i64..9_000_000_000, number in 2_u32..10_000) {
        let hour = UnixTime(one * SECOND);
        prop_assert_eq!(parse(&folder(hour)), Some((hour, 1)));
        prop_assert_eq!(parse(&format!("{}-{number}", folder(hour))), Some((hour, number)));
        let whole = |seconds: i64| folder(UnixTime(seconds / 3600 * 3600 * SECOND));
        prop_assert_eq!(whole(one).cmp(&whole(other)), (one / 3600).cmp(&(other / 3600)));
    }

    #[test]
    fn any_name_is_read_without_a_panic(name in "\\PC{0,40}") {
        if let Some((hour, _)) = parse(&name) {
            prop_assert!(name.starts_with(&folder(hour)));
        }
    }

    /// The oldest hours are deleted, no more than necessary, and never an open one.
    #[test]
    fn the_oldest_hours_are_deleted(sizes in prop::collection::vec((0_u64..1000, prop::bool::weighted(0.1)), 0..40), keep in 0_u64..20_000) {
        let hours: Vec<Recorded> = sizes
            .iter()
            .map(|&(size, is_open)| Recorded { size: ByteSize::from_bytes(size), is_open })
            .collect();
        let deleted = to_delete(&hours, ByteSize::from_bytes(keep));
        prop_assert!(deleted.iter().all(|&index| !hours[index].is_open));
        let rest = |without: &[usize]| -> u64 {
            (0..sizes.len()).filter(|index| !without.contains(index)).map(|index| sizes[index].0).sum()
        };
        let closed: Vec<usize> = (0..hours.len()).filter(|&index| !hours[index].is_open).collect();
        // What is deleted are the first closed hours.
        prop_assert_eq!(&closed[..deleted.len()], &deleted[..]);
        prop_assert!(rest(&deleted) <= keep || deleted.len() == closed.len());
        if let Some((_, before)) = deleted.split_last() {
            prop_assert!(rest(before) > keep);
        }
    }
}
