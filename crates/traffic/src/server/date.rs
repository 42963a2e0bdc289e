//! Dates in HTTP format.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

/// The present date in the format of RFC 9110 §5.6.7, computed once per second.
#[derive(Debug, Default)]
pub(crate) struct Dates(RefCell<(u64, String)>);

impl Dates {
    /// Calls a function with the date.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(&str) -> T) -> T {
        let seconds = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |span| span.as_secs());
        let mut kept = self.0.borrow_mut();
        if kept.0 != seconds || kept.1.is_empty() {
            *kept = (seconds, fixdate(seconds));
        }
        use_it(&kept.1)
    }
}

/// Formats `seconds` since 1970 as an IMF-fixdate.
fn fixdate(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let weekday = DAYS[(days % 7) as usize];
    // With years that begin in March, the leap day is last; 146 097 days are 400 years.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let day = day - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = era * 400 + year + u64::from(month < 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let month = MONTHS[month as usize];
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        // The example of RFC 9110 §5.6.7; the others are from `date -u -d @N`.
        for (seconds, text) in [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (951_868_799, "Tue, 29 Feb 2000 23:59:59 GMT"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            assert_eq!(fixdate(seconds), text);
        }
    }

    #[test]
    fn the_date_is_computed_once_per_second() {
        let dates = Dates::default();
        assert_eq!(dates.with(str::len), 29);
        assert!(dates.with(|date| date.ends_with(" GMT")));
    }
}
