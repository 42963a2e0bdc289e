//! Instants and durations: nanoseconds since the run began.

use crate::quantity::{self, FormatUnit, QuantityError, Unit, format_unit, unit};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

/// A point in time: nanoseconds since the run began, negative before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(i64);

/// A span of time in nanoseconds; never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

const FITS: &str = "a time that fits 64 bits of nanoseconds";

/// The earlier of two optional instants; `None` if both are `None`.
#[must_use]
#[inline]
pub fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Instant {
    /// Start of the run.
    pub const ZERO: Instant = Instant(0);

    /// Before all events.
    pub const MIN: Instant = Instant(i64::MIN);

    /// After all events.
    pub const MAX: Instant = Instant(i64::MAX);

    /// `nanos` nanoseconds after the start of the run.
    #[must_use]
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds after the run began.
    #[must_use]
    #[inline]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.checked_mul(1_000).expect(FITS))
    }

    /// `millis` milliseconds after the run began.
    #[must_use]
    #[inline]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.checked_mul(1_000_000).expect(FITS))
    }

    /// `secs` seconds after the run began.
    #[must_use]
    #[inline]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.checked_mul(1_000_000_000).expect(FITS))
    }

    /// Nanoseconds since the run began.
    #[must_use]
    #[inline]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Seconds since the run began, for display and statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time from `earlier` to this instant, `None` if `earlier` is later.
    #[must_use]
    #[inline]
    pub fn checked_since(self, earlier: Instant) -> Option<Duration> {
        let nanos = i128::from(self.0) - i128::from(earlier.0);
        u64::try_from(nanos).ok().map(Duration)
    }

    /// Time from `earlier` to this instant.
    ///
    /// # Panics
    /// If `earlier` is later: swapped operands are a programming error, never a distance.
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn since(self, earlier: Instant) -> Duration {
        self.checked_since(earlier)
            .unwrap_or_else(|| panic!("{earlier:?} is later than {self:?}"))
    }

    /// This instant moved later, `None` on overflow.
    #[must_use]
    #[inline]
    pub fn checked_add(self, span: Duration) -> Option<Instant> {
        self.0.checked_add_unsigned(span.0).map(Instant)
    }

    /// This instant moved earlier, `None` on overflow.
    #[must_use]
    #[inline]
    pub fn checked_sub(self, span: Duration) -> Option<Instant> {
        self.0.checked_sub_unsigned(span.0).map(Instant)
    }
}

impl Duration {
    /// Zero.
    pub const ZERO: Duration = Duration(0);

    /// `nanos` nanoseconds.
    #[must_use]
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    #[must_use]
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.checked_mul(1_000).expect(FITS))
    }

    /// `millis` milliseconds.
    #[must_use]
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.checked_mul(1_000_000).expect(FITS))
    }

    /// `secs` seconds.
    #[must_use]
    #[inline]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.checked_mul(1_000_000_000).expect(FITS))
    }

    /// In nanoseconds.
    #[must_use]
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// In whole milliseconds, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// In seconds, for display and statistics.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds, for display and statistics.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns true if the duration is zero.
    #[must_use]
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, `None` on overflow.
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Duration) -> Option<Duration> {
        self.0.checked_add(other.0).map(Duration)
    }

    /// The difference, `None` when `other` is longer.
    #[must_use]
    #[inline]
    pub fn checked_sub(self, other: Duration) -> Option<Duration> {
        self.0.checked_sub(other.0).map(Duration)
    }

    /// The difference, or zero if `other` is longer.
    #[must_use]
    #[inline]
    pub fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// The product, `None` on overflow.
    #[must_use]
    #[inline]
    pub fn checked_mul(self, factor: u64) -> Option<Duration> {
        self.0.checked_mul(factor).map(Duration)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[track_caller]
    #[inline]
    fn add(self, span: Duration) -> Instant {
        self.checked_add(span).expect("an instant within 292 years of the run")
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    #[track_caller]
    #[inline]
    fn sub(self, span: Duration) -> Instant {
        self.checked_sub(span).expect("an instant within 292 years of the run")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Duration;
    #[track_caller]
    #[inline]
    fn add(self, other: Duration) -> Duration {
        self.checked_add(other).expect("a duration below 584 years")
    }
}

impl AddAssign for Duration {
    #[track_caller]
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[track_caller]
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        self.checked_sub(other).expect("the longer minus the shorter")
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[track_caller]
    #[inline]
    fn mul(self, factor: u64) -> Duration {
        self.checked_mul(factor).expect("a duration below 584 years")
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    #[track_caller]
    #[inline]
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}

impl std::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(iter: I) -> Duration {
        iter.fold(Duration::ZERO, Add::add)
    }
}

const UNITS: &[Unit] = &[
    unit(&["s", "sec"], 1_000_000_000),
    unit(&["ms"], 1_000_000),
    unit(&["us", "µs", "μs"], 1_000),
    unit(&["ns"], 1),
    unit(&["min", "m"], 60_000_000_000),
    unit(&["h"], 3_600_000_000_000),
];

// Minutes and hours only for whole numbers: 1.35 min is hard to read.
const FORMAT_UNITS: &[FormatUnit] = &[
    format_unit("h", 3_600_000_000_000, 0),
    format_unit("min", 60_000_000_000, 0),
    format_unit("s", 1_000_000_000, 9),
    format_unit("ms", 1_000_000, 6),
    format_unit("us", 1_000, 3),
    format_unit("ns", 1, 0),
];

impl FromStr for Duration {
    type Err = QuantityError;

    /// Parses `"5min"`, `"1.5 s"`, `"131 ms"`, `"50us"`, `"2 h"`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let nanos = quantity::parse(text, UNITS, "5 s")?;
        u64::try_from(nanos)
            .map(Duration)
            .map_err(|_| QuantityError::out_of_range(text, "a duration is 0 to 584 years"))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.pad("0 s");
        }
        quantity::format(self.0, FORMAT_UNITS, f)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "+" };
        f.pad(&format!("{sign}{}", Duration(self.0.unsigned_abs())))
    }
}
