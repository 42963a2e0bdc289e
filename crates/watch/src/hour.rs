//! Records of one hour each: when a record begins and ends, and the name of its folder.
//!
//! Hours are those of UTC, so that a name occurs once, also when a time zone changes to winter time.

use netburn_record::UnixTime;
use netburn_units::{Duration, Instant};

/// Length of a record.
pub const HOUR: Duration = Duration::from_secs(3600);
/// Shortest rest of an hour that gets a record of its own. A shorter rest belongs to the record of the next hour.
const MIN_REST: Duration = Duration::from_secs(10);
/// Difference between the two clocks from which a record ends. A time server changes a running clock by at most 500 ppm,
/// which is 1.8 s in an hour (adjtimex(2)).
const JUMP: Duration = Duration::from_secs(5);

const NANOS: i64 = 1_000_000_000;

/// The two clocks of a computer at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Wall clock.
    pub wall: UnixTime,
    /// Monotonic clock. It stops while the computer is suspended.
    pub mono: Instant,
}

/// A record's place in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Start of its hour.
    pub hour: UnixTime,
    /// Time at which it began.
    pub begun: Reading,
    /// Planned length.
    pub length: Duration,
}

/// Reason for which a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its hour is over.
    Over,
    /// The wall clock is ahead by this time: the computer was suspended, or its clock was set.
    Ahead(Duration),
    /// The wall clock is behind by this time: it was set.
    Behind(Duration),
}

impl Segment {
    /// The record that begins `now`, with records of `period`: at least 1 s.
    #[must_use]
    pub fn begin(now: Reading, period: Duration) -> Segment {
        let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX).max(NANOS);
        let shortest = shortest(period);
        let into = now.wall.0.rem_euclid(period);
        let rest = period - into;
        let (hour, length) = if rest < shortest {
            (now.wall.0.saturating_add(rest), rest.saturating_add(period))
        } else {
            (now.wall.0.saturating_sub(into), rest)
        };
        Segment {
            hour: UnixTime(hour),
            begun: now,
            length: Duration::from_nanos(length.unsigned_abs()),
        }
    }

    /// Returns the reason for which the record ends, if it does. A jump of the wall clock ends it at once, because its times would be wrong.
    #[must_use]
    pub fn check(&self, now: Reading) -> Option<End> {
        let ran = i128::from(now.mono.as_nanos()) - i128::from(self.begun.mono.as_nanos());
        let passed = i128::from(now.wall.0) - i128::from(self.begun.wall.0);
        let by = passed - ran;
        let size = Duration::from_nanos(u64::try_from(by.unsigned_abs()).unwrap_or(u64::MAX));
        if size > JUMP {
            return Some(if by > 0 { End::Ahead(size) } else { End::Behind(size) });
        }
        (ran >= i128::from(self.length.as_nanos())).then_some(End::Over)
    }

    /// Time until the planned end; 0 after it.
    #[must_use]
    pub fn rest(&self, now: Instant) -> Duration {
        let ran = now.checked_since(self.begun.mono).unwrap_or(Duration::ZERO);
        self.length.saturating_sub(ran)
    }

    /// True if it has a whole hour, except for its first seconds.
    #[must_use]
    pub fn is_whole(&self, period: Duration) -> bool {
        let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX).max(NANOS);
        i64::try_from(self.length.as_nanos()).is_ok_and(|length| length >= period - shortest(period))
    }

    /// Name of its folder: `2026-12-01T14Z`. Hours of another length have the time in full.
    #[must_use]
    pub fn name(&self) -> String {
        folder(self.hour)
    }
}

/// Shortest rest of an hour of this length in nanoseconds.
fn shortest(period: i64) -> i64 {
    i64::try_from(MIN_REST.as_nanos()).unwrap_or(0).min(period / 10)
}

/// Name of the folder of an hour: `2026-12-01T14Z`, and `2026-12-01T14-05-20Z` for a time within an hour.
#[must_use]
pub fn folder(hour: UnixTime) -> String {
    let whole = hour.for_file_name();
    match whole.strip_suffix("-00-00Z") {
        Some(short) if hour.0.rem_euclid(3600 * NANOS) == 0 => format!("{short}Z"),
        _ => whole,
    }
}

/// Reads the name of a folder: its hour, and the number of its record, from 1. Further records of an hour are
/// `2026-12-01T14Z-2` and so on. `None` for any other name.
#[must_use]
pub fn parse(name: &str) -> Option<(UnixTime, u32)> {
    let (time, number) = name.split_once('Z')?;
    let number = match number {
        "" => 1,
        number => number.strip_prefix('-')?.parse().ok().filter(|number| *number >= 2)?,
    };
    let (date, clock) = time.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let mut clock = clock.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    if !(1700..2262).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let hour = clock.next()?.ok()?;
    let minute = clock.next().transpose().ok()?.unwrap_or(0);
    let second = clock.next().transpose().ok()?.unwrap_or(0);
    if [hour, minute, second].iter().any(|value| !(0..60).contains(value)) {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let at = UnixTime(seconds * NANOS);
    // Any other notation of the same time is not a name of ours.
    let canonical = match number {
        1 => folder(at),
        number => format!("{}-{number}", folder(at)),
    };
    (canonical == name).then_some((at, number))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}
