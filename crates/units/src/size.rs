//! Amounts of data.

use crate::quantity::{self, FormatUnit, QuantityError, Unit, format_unit, unit};
use std::fmt;
use std::str::FromStr;

/// An amount of data in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Zero bytes.
    pub const ZERO: ByteSize = ByteSize(0);

    /// `bytes` bytes.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `kib` × 1024 bytes.
    #[must_use]
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib.checked_mul(1 << 10).expect("a size that fits 64 bits of bytes"))
    }

    /// `mib` × 1024² bytes.
    #[must_use]
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib.checked_mul(1 << 20).expect("a size that fits 64 bits of bytes"))
    }

    /// `gib` × 1024³ bytes.
    #[must_use]
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib.checked_mul(1 << 30).expect("a size that fits 64 bits of bytes"))
    }

    /// In bytes.
    #[must_use]
    pub const fn as_bytes(self) -> u64 {
        self.0
    }

    /// The sum, `None` on overflow.
    #[must_use]
    pub fn checked_add(self, other: ByteSize) -> Option<ByteSize> {
        self.0.checked_add(other.0).map(ByteSize)
    }

    /// The product, `None` on overflow.
    #[must_use]
    pub fn checked_mul(self, factor: u64) -> Option<ByteSize> {
        self.0.checked_mul(factor).map(ByteSize)
    }
}

const UNITS: &[Unit] = &[
    unit(&["KiB"], 1 << 10),
    unit(&["MiB"], 1 << 20),
    unit(&["GiB"], 1 << 30),
    unit(&["TiB"], 1 << 40),
    unit(&["kB", "KB"], 1_000),
    unit(&["MB"], 1_000_000),
    unit(&["GB"], 1_000_000_000),
    unit(&["TB"], 1_000_000_000_000),
    unit(&["B", "bytes"], 1),
];

const FORMAT_UNITS: &[FormatUnit] = &[
    format_unit("TiB", 1 << 40, 3),
    format_unit("TB", 1_000_000_000_000, 9),
    format_unit("GiB", 1 << 30, 3),
    format_unit("GB", 1_000_000_000, 9),
    format_unit("MiB", 1 << 20, 3),
    format_unit("MB", 1_000_000, 6),
    format_unit("KiB", 1 << 10, 3),
    format_unit("kB", 1_000, 3),
    format_unit("B", 1, 0),
];

impl FromStr for ByteSize {
    type Err = QuantityError;

    /// Parses `"128KiB"`, `"1 GiB"`, `"1.5 MB"`, `"64 B"`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bytes = quantity::parse(text, UNITS, "128 KiB")?;
        u64::try_from(bytes)
            .map(ByteSize)
            .map_err(|_| QuantityError::out_of_range(text, "a size is 0 to 16 EiB"))
    }
}

impl fmt::Display for ByteSize {
    /// Exact, in binary or decimal units, whichever needs fewer digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        quantity::format(self.0, FORMAT_UNITS, f)
    }
}
