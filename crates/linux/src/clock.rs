//! The kernel's monotonic clock as a plain number.

use netburn_units::Duration;
use std::ops::Add;

/// An instant of the monotonic clock, in nanoseconds (CLOCK_MONOTONIC: since boot, without suspension). All processes
/// of one machine read the same clock; elsewhere than on Linux it counts from the process's first reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monotonic(i64);

impl Monotonic {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self(read())
    }

    /// `nanos` nanoseconds of the clock.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// In nanoseconds of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to here, `None` when `earlier` is later.
    #[must_use]
    pub fn checked_since(self, earlier: Monotonic) -> Option<Duration> {
        u64::try_from(self.0 - earlier.0).ok().map(Duration::from_nanos)
    }

    /// The time from `earlier` to here, nothing when `earlier` is later.
    #[must_use]
    pub fn saturating_since(self, earlier: Monotonic) -> Duration {
        self.checked_since(earlier).unwrap_or(Duration::ZERO)
    }
}

impl From<std::time::Instant> for Monotonic {
    /// The same moment. std's clock is this one on Linux, but doesn't say its numbers: both are read, which costs some
    /// 50 ns in time and in accuracy.
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

    /// Later by `span`; at the clock's end (292 years) it stays there.
    fn add(self, span: Duration) -> Monotonic {
        Monotonic(self.0.saturating_add_unsigned(span.as_nanos()))
    }
}

#[cfg(target_os = "linux")]
fn read() -> i64 {
    crate::cpu::read_clock(libc::CLOCK_MONOTONIC).expect("every Linux has CLOCK_MONOTONIC")
}

#[cfg(not(target_os = "linux"))]
fn read() -> i64 {
    static ORIGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let origin = ORIGIN.get_or_init(std::time::Instant::now);
    i64::try_from(origin.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// How long this machine has slept since it was started (suspend to memory or disk), to within a millisecond: by so much its
/// monotonic clock is behind others' (CLOCK_BOOTTIME less CLOCK_MONOTONIC). Elsewhere than on Linux nothing.
#[must_use]
pub fn slept() -> Duration {
    slept_by(2).unwrap_or(Duration::ZERO)
}

#[cfg(target_os = "linux")]
fn slept_by(tries: u32) -> Option<Duration> {
    const CLOSE: Duration = Duration::from_millis(1);
    let before = Monotonic::now();
    let awake_and_asleep = crate::cpu::read_clock(libc::CLOCK_BOOTTIME).ok()?;
    let after = Monotonic::now();
    // Whoever takes the processor away between the readings would count as sleep: the least that it can have been.
    match after.checked_since(before).is_some_and(|apart| apart < CLOSE) || tries == 0 {
        true => Monotonic(awake_and_asleep)
            .checked_since(after)
            .or(Some(Duration::ZERO)),
        false => slept_by(tries - 1),
    }
}

#[cfg(not(target_os = "linux"))]
fn slept_by(_tries: u32) -> Option<Duration> {
    None
}

/// The hour of the day where this machine stands, 0 to 23; where that isn't known, that of UTC.
#[must_use]
pub fn local_hour() -> u8 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    hour_at(seconds)
}

#[cfg(unix)]
fn hour_at(seconds: u64) -> u8 {
    // SAFETY: all zeros are a `timespec`, which is plain numbers; its seconds are a `time_t` by whatever name.
    let mut at: libc::timespec = unsafe { std::mem::zeroed() };
    at.tv_sec = seconds.try_into().unwrap_or_default();
    // SAFETY: all zeros are a `tm`, which is plain numbers and a pointer that may be null.
    let mut broken_down: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that live through the call; the kernel of it keeps neither.
    let known = unsafe { !libc::localtime_r(&raw const at.tv_sec, &raw mut broken_down).is_null() };
    match known {
        true => u8::try_from(broken_down.tm_hour).unwrap_or(0),
        false => 0,
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
    fn it_never_goes_back() {
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
        // Each is wrong by what passes between the two clocks' readings, all of which are over by now.
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
