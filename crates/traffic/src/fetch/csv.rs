//! Results as lines of a CSV file (RFC 4180) that grows, with the columns of the original netburn.

use super::Report;
use netburn_interop::export::csv::quoted;
use netburn_stats::percentile::{P50, P75, P90, P95, P99};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The columns: those of an exported run. The columns about Wi-Fi stay empty.
pub use netburn_interop::export::csv::HEADING as COLUMNS;

/// Appends the report to the file at `path`, preceded by the heading if the file is new or empty. Other writers wait
/// meanwhile.
///
/// # Errors
/// An I/O error when the file cannot be opened, locked or written.
pub fn append(path: &Path, report: &Report, at: SystemTime) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.lock()?;
    let written = write(&mut file, report, at);
    // Closing the file also unlocks it.
    let _ = file.unlock();
    written
}

fn write(file: &mut File, report: &Report, at: SystemTime) -> io::Result<()> {
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text.push_str(&COLUMNS.join(","));
        text.push_str("\r\n");
    }
    text.push_str(&line(report, &hostname(), at));
    text.push_str("\r\n");
    // One write, so that a full disk cannot leave a partial line unless it cuts this write.
    file.write_all(text.as_bytes())
}

/// Returns the report as one line without a line end. Values that the sample count does not support are empty.
#[must_use]
pub fn line(report: &Report, hostname: &str, at: SystemTime) -> String {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.3}"));
    let latency = |level| number(report.latency_ms(level));
    let nanos = |value: Option<u64>| number(value.map(|nanos| nanos as f64 / 1e6));
    let kilo = |bytes: Option<f64>| number(bytes.map(|bytes| bytes / 1e3));
    let mut fields = vec![quoted(hostname), timestamp(at)];
    fields.extend(std::iter::repeat_n(String::new(), 9));
    fields.extend([
        number(Some(report.elapsed.as_secs_f64())),
        report.concurrency.to_string(),
        report.finished.to_string(),
        number(Some(report.bytes as f64 / 1e6)),
        kilo(report.page_mean),
        number(report.percent_ok()),
        kilo(report.page_deviation),
        number(Some(report.throughput_mbps())),
        nanos(report.latency.max),
        latency(P99),
        latency(P95),
        latency(P90),
        latency(P75),
        latency(P50),
        nanos(report.latency.min),
        number(report.latency_mean_ms),
        number(Some(report.jitter.as_millis_f64())),
        number(report.idle_ms),
    ]);
    fields.join(",")
}

/// Returns this machine's host name; empty if there is none.
#[must_use]
pub fn hostname() -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let name = kernel.or_else(|_| std::env::var("HOSTNAME").map_err(io::Error::other));
    name.unwrap_or_default().trim().to_owned()
}

/// Formats a time in UTC as in RFC 3339, with a resolution of 1 s.
#[must_use]
pub fn timestamp(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the Gregorian date of a day since 1970-01-01, computed in 400-year cycles that begin in March, so that the
/// leap day is last.
fn date(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 146_097;
    // 1970-01-01 is day 719,468 after 0000-03-01.
    let days = days + 719_468;
    let (cycle, day) = (days / CYCLE, days % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timestamps_are_gregorian_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
