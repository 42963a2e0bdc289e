//! Data rates.

use crate::quantity::{self, FormatUnit, QuantityError, Unit, format_unit, unit};
use crate::{ByteSize, Duration};
use std::fmt;
use std::str::FromStr;

/// Data rate in bits per second (decimal: 1 Mbit/s is 1 000 000 bit/s).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// `bits` bit/s.
    #[must_use]
    pub const fn from_bps(bits: u64) -> Self {
        Self(bits)
    }

    /// `megabits` Mbit/s; at most 18 × 10¹².
    #[must_use]
    pub const fn from_mbps(megabits: u64) -> Self {
        Self(
            megabits
                .checked_mul(1_000_000)
                .expect("a rate that fits 64 bits of bit/s"),
        )
    }

    /// In bit/s.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// In Mbit/s, for display and statistics.
    #[must_use]
    pub fn as_mbps_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Transmission time of `size` at this rate, rounded up to a nanosecond; `None` if the rate is
    /// zero or the time overflows.
    #[must_use]
    pub fn time_for(self, size: ByteSize) -> Option<Duration> {
        let bits = u128::from(size.as_bytes()) * 8;
        let nanos = (bits * 1_000_000_000).checked_add(u128::from(self.0).checked_sub(1)?)? / u128::from(self.0);
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    /// Mean rate of `size` over `span`, rounded down; `None` if `span` is zero.
    #[must_use]
    pub fn mean(size: ByteSize, span: Duration) -> Option<BitRate> {
        let bits = u128::from(size.as_bytes()) * 8 * 1_000_000_000;
        let rate = bits.checked_div(u128::from(span.as_nanos()))?;
        u64::try_from(rate).ok().map(BitRate)
    }
}

const UNITS: &[Unit] = &[
    unit(&["Mbit/s", "Mbps", "Mb/s"], 1_000_000),
    unit(&["Gbit/s", "Gbps", "Gb/s"], 1_000_000_000),
    unit(&["kbit/s", "kbps", "kb/s"], 1_000),
    unit(&["bit/s", "bps", "b/s"], 1),
];

const FORMAT_UNITS: &[FormatUnit] = &[
    format_unit("Gbit/s", 1_000_000_000, 9),
    format_unit("Mbit/s", 1_000_000, 6),
    format_unit("kbit/s", 1_000, 3),
    format_unit("bit/s", 1, 0),
];

impl FromStr for BitRate {
    type Err = QuantityError;

    /// Parses `"25 Mbit/s"`, `"1Gbit/s"`, `"300kbps"`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bits = quantity::parse(text, UNITS, "25 Mbit/s")?;
        u64::try_from(bits)
            .map(BitRate)
            .map_err(|_| QuantityError::out_of_range(text, "a rate is 0 to 18 Ebit/s"))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::format(self.0, FORMAT_UNITS, f)
    }
}
