//! The kernel's monotonic clock as an integer.

use netburn_units::Duration;
#[cfg(target_os = "linux")]
use rustix::time::ClockId;
use std::ops::Add;

/// A reading of the monotonic clock in nanoseconds (CLOCK_MONOTONIC: time since boot without suspension). All processes
/// of one machine read the same clock. On other systems than Linux it counts from the process's first reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monotonic(i64);

impl Monotonic {
    /// Reads the clock.
    #[must_use]
    pub fn now() -> Self {
        Self(read())
    }

    /// Creates a reading from nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Returns the reading in nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Returns the time since `earlier`; `None` if `earlier` is later.
    #[must_use]
    pub fn checked_since(self, earlier: Monotonic) -> Option<Duration> {
        u64::try_from(self.0 - earlier.0).ok().map(Duration::from_nanos)
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub fn saturating_since(self, earlier: Monotonic) -> Duration {
        self.checked_since(earlier).unwrap_or(Duration::ZERO)
    }
}

impl From<std::time::Instant> for Monotonic {
    /// Converts an instant of std. On Linux std uses the same clock, but does not expose its value. Both clocks are
    /// therefore read, which takes about 50 ns and has that accuracy.
    fn from(moment: std::time::Instant) -> Self {
        let (here, now) = (std::time::Instant::now(), Self::now());
        let nanos = |span: std::time::Duration| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        Self(match moment.checked_duration_since(here) {
            Some(ahead) => now.0.saturating_add(nanos(ahead)),
            None => now.0.saturating_sub(nanos(here.duration_since(moment))),
        })
    }
}

impl Add<Duration> for Monotonic {
    type Output = Monotonic;

    /// Adds a duration. Saturates at the end of the clock (292 years).
    fn add(self, span: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add_unsigned(span.as_nanos()))
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn read_clock(clock: ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(target_os = "linux")]
fn read() -> i64 {
    read_clock(ClockId::Monotonic)
}

#[cfg(not(target_os = "linux"))]
fn read() -> i64 {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let origin = ORIGIN.get_or_init(std::time::Instant::now);
    i64::try_from(origin.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the time for which this machine has been suspended since boot, with an accuracy of 1 ms (CLOCK_BOOTTIME
/// minus CLOCK_MONOTONIC). Zero on other systems than Linux.
#[must_use]
pub fn suspended() -> Duration {
    suspended_with_retries(2).unwrap_or(Duration::ZERO)
}

#[cfg(target_os = "linux")]
fn suspended_with_retries(tries: u32) -> Option<Duration> {
    const MAX_READING_SPAN: Duration = Duration::from_millis(1);
    let before = Monotonic::now();
    let awake_and_asleep = read_clock(ClockId::Boottime);
    let after = Monotonic::now();
    // A preemption between the readings would count as suspension, so the lower bound is returned.
    if after
        .checked_since(before)
        .is_some_and(|apart| apart < MAX_READING_SPAN)
        || tries == 0
    {
        Monotonic(awake_and_asleep)
            .checked_since(after)
            .or(Some(Duration::ZERO))
    } else {
        suspended_with_retries(tries - 1)
    }
}

#[cfg(not(target_os = "linux"))]
fn suspended_with_retries(_tries: u32) -> Option<Duration> {
    None
}

/// Returns the hour of the day in the local time zone, 0 to 23; in UTC if the time zone is unknown.
#[must_use]
pub fn local_hour() -> u8 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    hour_at(seconds)
}

#[cfg(unix)]
fn hour_at(seconds: u64) -> u8 {
    // SAFETY: an all-zero `timespec` is valid; it contains only integers. The type of its seconds is `time_t`.
    let mut at: libc::timespec = unsafe { std::mem::zeroed() };
    at.tv_sec = seconds.try_into().unwrap_or_default();
    // SAFETY: an all-zero `tm` is valid; it contains integers and a nullable pointer.
    let mut broken_down: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid during the call, and the C library does not keep them.
    let known = unsafe { !libc::localtime_r(&raw const at.tv_sec, &raw mut broken_down).is_null() };
    if known {
        u8::try_from(broken_down.tm_hour).unwrap_or(0)
    } else {
        0
    }
}

#[cfg(not(unix))]
fn hour_at(seconds: u64) -> u8 {
    u8::try_from(seconds / 3600 % 24).expect("less than 24")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_decreases() {
        let mut last = Monotonic::now();
        for _ in 0..1000 {
            let now = Monotonic::now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn a_moment_of_std_is_the_same_moment() {
        let (before, moment) = (Monotonic::now(), std::time::Instant::now());
        let apart = std::time::Duration::from_millis(500);
        let (past, future) = (Monotonic::from(moment - apart), Monotonic::from(moment + apart));
        // Each conversion is inaccurate by the time between the readings of both clocks, which have all happened by
        // now.
        let here = before..=Monotonic::now();
        let apart = Duration::from_millis(500);
        assert!(here.contains(&(past + apart)), "{past:?} {here:?}");
        let ahead = *here.start() + apart..=*here.end() + apart;
        assert!(ahead.contains(&future), "{future:?} {ahead:?}");
    }

    #[test]
    fn differences_are_exact_and_never_negative() {
        let (early, late) = (Monotonic::from_nanos(5), Monotonic::from_nanos(12));
        assert_eq!(late.checked_since(early), Some(Duration::from_nanos(7)));
        assert_eq!(early.checked_since(late), None);
        assert_eq!(early.saturating_since(late), Duration::ZERO);
        assert_eq!(early + Duration::from_nanos(7), late);
    }
}
