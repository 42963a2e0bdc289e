//! Cells of the map of a week: one for each part, day and hour.

use netburn_record::UnixTime;
use netburn_units::Duration;
use std::collections::BTreeMap;

/// Number of days of the map.
pub const DAYS: i64 = 7;

const NANOS: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// Probes of one part in one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartResult {
    /// Probes that were answered.
    pub answered: u64,
    /// Probes that were lost.
    pub lost: u64,
    /// 95th percentile of the round trips; `None` if it is a lost probe. With too few probes for it, the longest one.
    pub p95: Option<Duration>,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HourResult {
    /// Start of its hour.
    pub hour: UnixTime,
    /// Difference of local time to UTC in that hour, in seconds.
    pub offset_s: i32,
    /// Name of its folder.
    pub folder: String,
    /// Results by part; `None` for a part that was not probed.
    pub parts: [Option<PartResult>; 3],
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// Probes of all records of the hour. The percentile is the largest one of the records, because that of all probes
    /// does not follow from those of the records.
    pub result: PartResult,
    /// Folder of the record with the most probes.
    pub folder: String,
    /// Number of its probes.
    largest: u64,
    /// True if the host answers no probes at all, but a host behind it does.
    pub is_mute: bool,
}

/// Grade of a cell, from the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// p95 of at most 20 ms.
    VeryShort,
    /// p95 of at most 50 ms.
    Short,
    /// p95 of at most 100 ms.
    Medium,
    /// p95 of at most 200 ms.
    Long,
    /// p95 above 200 ms, or more than 5 % lost.
    VeryLong,
    /// At least half of the probes are lost.
    Down,
    /// The host never answers.
    Mute,
}

impl Grade {
    /// All grades.
    pub const ALL: [Grade; 7] = [
        Grade::VeryShort,
        Grade::Short,
        Grade::Medium,
        Grade::Long,
        Grade::VeryLong,
        Grade::Down,
        Grade::Mute,
    ];
}

impl Cell {
    /// The grade.
    #[must_use]
    pub fn grade(&self) -> Grade {
        let PartResult { answered, lost, p95 } = self.result;
        let within = |ms: u64| p95.is_some_and(|p95| p95 <= Duration::from_millis(ms));
        if self.is_mute {
            Grade::Mute
        } else if lost >= answered {
            Grade::Down
        } else if within(20) {
            Grade::VeryShort
        } else if within(50) {
            Grade::Short
        } else if within(100) {
            Grade::Medium
        } else if within(200) {
            Grade::Long
        } else {
            Grade::VeryLong
        }
    }

    /// Share of lost probes, 0 to 1.
    #[must_use]
    pub fn loss(&self) -> f64 {
        let all = self.result.answered + self.result.lost;
        if all == 0 {
            0.0
        } else {
            self.result.lost as f64 / all as f64
        }
    }

    fn add(&mut self, part: PartResult, folder: &str) {
        let of = &mut self.result;
        let probes = part.answered + part.lost;
        let is_first = of.answered + of.lost == 0;
        // A percentile that is a lost probe is the largest.
        of.p95 = match (of.p95, part.p95) {
            _ if is_first => part.p95,
            (Some(one), Some(other)) => Some(one.max(other)),
            (known, _) if probes < 20 => known,
            _ => None,
        };
        of.answered += part.answered;
        of.lost += part.lost;
        if probes > self.largest {
            self.largest = probes;
            folder.clone_into(&mut self.folder);
        }
    }
}

/// A day of the map, in local time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// Date: `2026-12-01`.
    pub date: String,
    /// Day of the week: `Tue`.
    pub weekday: &'static str,
    /// Cells by part and hour; `None` is a gap.
    pub cells: [[Option<Cell>; 24]; 3],
}

/// The days from the first record of the last week to `today`, the oldest first. `now` is local time: UTC with `offset_s`
/// added.
#[must_use]
pub fn days(hours: &[HourResult], now: UnixTime, offset_s: i32) -> Vec<Day> {
    let today = day_and_hour(now, offset_s).0;
    let mut cells: BTreeMap<i64, [[Option<Cell>; 24]; 3]> = BTreeMap::new();
    for hour in hours {
        let (day, column) = day_and_hour(hour.hour, hour.offset_s);
        if day > today || day <= today - DAYS {
            continue;
        }
        let of_day = cells.entry(day).or_default();
        for (part, result) in hour.parts.iter().enumerate() {
            // A record without probes is a gap.
            if let Some(result) = result.filter(|result| result.answered + result.lost > 0) {
                of_day[part][column].get_or_insert_default().add(result, &hour.folder);
            }
        }
    }
    for of_day in cells.values_mut() {
        mark_mute(of_day);
    }
    let Some(&first) = cells.keys().next() else {
        return Vec::new();
    };
    (first..=today)
        .map(|day| Day {
            date: UnixTime(day * DAY * NANOS).rfc3339()[..10].to_owned(),
            weekday: weekday(day),
            cells: cells.remove(&day).unwrap_or_default(),
        })
        .collect()
}

/// Marks the cells of hosts that answer nothing while a host behind them answers.
fn mark_mute(cells: &mut [[Option<Cell>; 24]; 3]) {
    let mut behind = [false; 24];
    for of_part in cells.iter_mut().rev() {
        for (cell, behind) in of_part.iter_mut().zip(&mut behind) {
            if let Some(cell) = cell {
                cell.is_mute = *behind && cell.result.answered == 0;
                *behind |= cell.result.answered > 0;
            }
        }
    }
}

/// Day since 1970-01-01, and hour, in local time.
fn day_and_hour(at: UnixTime, offset_s: i32) -> (i64, usize) {
    let local = at.0.div_euclid(NANOS) + i64::from(offset_s);
    let hour = usize::try_from(local.rem_euclid(DAY) / 3600).unwrap_or(0);
    (local.div_euclid(DAY), hour)
}

/// 1970-01-01 was a Thursday.
fn weekday(day: i64) -> &'static str {
    const NAMES: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    NAMES[usize::try_from(day.rem_euclid(7)).unwrap_or(0)]
}
