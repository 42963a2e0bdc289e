//! Wall-clock time in readable form.

use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// A wall-clock time: nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX.1-2017, 4.16).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixTime(pub i64);

impl UnixTime {
    /// Current time of this machine's wall clock.
    #[must_use]
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// RFC 3339 form, to the second: `2026-11-21T18:30:00Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        self.format(':')
    }

    /// The same, fit for a file name: `2026-11-21T18-30-00Z`.
    #[must_use]
    pub fn for_file_name(self) -> String {
        self.format('-')
    }

    /// The same with microseconds: `2026-11-21T18:30:00.000000Z`.
    #[must_use]
    pub fn rfc3339_micros(self) -> String {
        let micros = self.0.rem_euclid(1_000_000_000) / 1000;
        format!("{}.{micros:06}Z", self.rfc3339().trim_end_matches('Z'))
    }

    fn format(self, between: char) -> String {
        let seconds = self.0.div_euclid(1_000_000_000);
        let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (year, month, day) = civil(day);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}{between}{minute:02}{between}{second:02}Z")
    }
}

impl From<SystemTime> for UnixTime {
    /// Times outside the years 1677 to 2262 are clamped.
    fn from(time: SystemTime) -> Self {
        let nanos = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
        };
        Self(nanos)
    }
}

/// Year, month and day of the `day`th day after 1970-01-01 in the Gregorian calendar.
fn civil(day: i64) -> (i64, i64, i64) {
    // Years that begin in March end with the leap day, and 400 of them are always 146 097 days.
    let since_march_0000 = day + 719_468;
    let (era, in_era) = (
        since_march_0000.div_euclid(146_097),
        since_march_0000.rem_euclid(146_097),
    );
    let year_of_era = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March to January: five months of 153 days, over and over.
    let from_march = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (era * 400 + year_of_era + i64::from(month <= 2), month, in_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        let at = |seconds: i64| UnixTime(seconds * 1_000_000_000).rfc3339();
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(-1), "1969-12-31T23:59:59Z");
        // POSIX.1-2017, 4.16 and well-known round numbers.
        assert_eq!(at(1_000_000_000), "2001-09-09T01:46:40Z");
        assert_eq!(at(1_234_567_890), "2009-02-13T23:31:30Z");
        assert_eq!(at(2_147_483_647), "2038-01-19T03:14:07Z");
        // Leap days: 2000 has one, 2100 has none.
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(at(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(
            UnixTime(1_795_285_800_000_000_000).for_file_name(),
            "2026-11-21T18-30-00Z"
        );
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut last = civil(-200_000);
        for day in -199_999..200_000 {
            let (year, month, in_month) = civil(day);
            let leap = last.0 % 4 == 0 && (last.0 % 100 != 0 || last.0 % 400 == 0);
            let length = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][last.1 as usize - 1];
            let expected = match last {
                (y, 12, 31) => (y + 1, 1, 1),
                (y, m, d) if d == length => (y, m + 1, 1),
                (y, m, d) => (y, m, d + 1),
            };
            assert_eq!((year, month, in_month), expected);
            last = expected;
        }
    }
}
