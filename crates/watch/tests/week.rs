//! Cells of the map of a week.

use netburn_record::UnixTime;
use netburn_units::Duration;
use netburn_watch::week::{Day, Grade, HourResult, PartResult, days};
use netburn_watch::{Part, retry};
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;
/// 2026-12-01T00:00:00Z, a Tuesday (`date -u -d 2026-12-01 '+%s %a'`).
const DAY: i64 = 1_796_083_200 * SECOND;

fn part(answered: u64, lost: u64, p95_ms: Option<u64>) -> Option<PartResult> {
    Some(PartResult {
        answered,
        lost,
        p95: p95_ms.map(Duration::from_millis),
    })
}

fn hour(at: i64, parts: [Option<PartResult>; 3]) -> HourResult {
    HourResult {
        hour: UnixTime(at),
        offset_s: 3600,
        folder: format!("at-{at}"),
        parts,
    }
}

fn grade(day: &Day, part: Part, column: usize) -> Option<Grade> {
    day.cells[part.index()][column].as_ref().map(|cell| cell.grade())
}

#[test]
fn rows_are_local_days_with_gaps() {
    // 23:00 UTC of the 30th is midnight of the 1st, one hour ahead of UTC.
    let hours = [
        hour(DAY - HOUR, [part(3600, 0, Some(4)), None, None]),
        hour(DAY - 26 * HOUR, [part(3600, 0, Some(40)), None, None]),
    ];
    let found = days(&hours, UnixTime(DAY + 5 * HOUR), 3600);
    let dates: Vec<(&str, &str)> = found.iter().map(|day| (day.weekday, day.date.as_str())).collect();
    assert_eq!(
        dates,
        [("Sun", "2026-11-29"), ("Mon", "2026-11-30"), ("Tue", "2026-12-01")]
    );
    assert_eq!(grade(&found[0], Part::Near, 23), Some(Grade::Short));
    assert_eq!(grade(&found[2], Part::Near, 0), Some(Grade::VeryShort));
    let filled: usize = found
        .iter()
        .flat_map(|day| &day.cells)
        .flatten()
        .filter(|cell| cell.is_some())
        .count();
    assert_eq!(filled, 2);
    assert!(days(&[], UnixTime(DAY), 0).is_empty());
}

#[test]
fn records_of_one_hour_are_one_cell() {
    let hours = [
        hour(DAY, [part(100, 0, Some(30)), None, None]),
        HourResult {
            folder: "longest".to_owned(),
            ..hour(DAY, [part(900, 100, None), None, None])
        },
        hour(DAY, [part(50, 0, Some(10)), None, None]),
    ];
    let found = days(&hours, UnixTime(DAY), 3600);
    let cell = found[0].cells[0][1].clone().unwrap();
    assert_eq!(
        (cell.result.answered, cell.result.lost, cell.result.p95),
        (1050, 100, None)
    );
    assert_eq!(cell.folder, "longest");
    assert_eq!(cell.grade(), Grade::VeryLong);
}

/// A router that answers no pings is not down while the server behind it answers.
#[test]
fn a_host_that_answers_no_pings_is_not_down() {
    let mute = part(0, 3600, None);
    let found = days(&[hour(DAY, [mute, mute, part(3600, 0, Some(20))])], UnixTime(DAY), 3600);
    let grades = Part::ALL.map(|part| grade(&found[0], part, 1));
    assert_eq!(grades, [Some(Grade::Mute), Some(Grade::Mute), Some(Grade::VeryShort)]);
    let found = days(&[hour(DAY, [part(3600, 0, Some(1)), mute, mute])], UnixTime(DAY), 3600);
    let grades = Part::ALL.map(|part| grade(&found[0], part, 1));
    assert_eq!(grades, [Some(Grade::VeryShort), Some(Grade::Down), Some(Grade::Down)]);
}

#[test]
fn a_failed_action_is_repeated_three_times() {
    let pauses: Vec<Option<u64>> = (0..6)
        .map(|failed| retry::pause(failed).map(Duration::as_millis))
        .collect();
    assert_eq!(pauses, [None, Some(10_000), Some(50_000), Some(300_000), None, None]);
}

proptest! {
    /// Each probe of the last seven days is in exactly one cell, whatever the time zone, and the last day is today.
    #[test]
    fn each_probe_is_in_one_cell(ages in prop::collection::vec(0_i64..300, 0..60), offset_s in -43_200_i32..50_400) {
        let now = UnixTime(DAY + 15 * HOUR);
        let hours: Vec<HourResult> = ages
            .iter()
            .map(|age| HourResult { offset_s, ..hour(now.0 - age * HOUR, [part(1, 1, Some(1)), None, part(2, 0, Some(1))]) })
            .collect();
        let local = |at: i64| (at / SECOND + i64::from(offset_s)).div_euclid(86_400);
        let recent = hours.iter().filter(|hour| local(now.0) - local(hour.hour.0) < 7).count() as u64;
        let found = days(&hours, now, offset_s);
        prop_assert!(found.len() <= 7);
        prop_assert_eq!(found.is_empty(), recent == 0);
        let sum: u64 = found
            .iter()
            .flat_map(|day| day.cells.iter().flatten().flatten())
            .map(|cell| cell.result.answered + cell.result.lost)
            .sum();
        prop_assert_eq!(sum, 4 * recent);
        let today = UnixTime(local(now.0) * 86_400 * SECOND).rfc3339();
        prop_assert!(found.last().is_none_or(|day| today.starts_with(&day.date)));
    }
}
