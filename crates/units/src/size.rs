//! Amounts of data.

use crate::quantity::{self, QuantityError, Unit, unit};
use std::fmt;
use std::str::FromStr;

/// An amount of data in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Nothing.
    pub const ZERO: ByteSize = ByteSize(0);

    /// `bytes` bytes.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `kib` × 1024 bytes.
    #[must_use]
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib << 10)
    }

    /// `mib` × 1024² bytes.
    #[must_use]
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// `gib` × 1024³ bytes.
    #[must_use]
    pub const fn from_gib(gib: u64) -> Self {
        Self(gib << 30)
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

const WRITTEN_BINARY: &[(&str, u64)] = &[("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

const WRITTEN: &[(&str, u64)] = &[
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

impl FromStr for ByteSize {
    type Err = QuantityError;

    /// Reads `"128KiB"`, `"1 GiB"`, `"1.5 MB"`, `"64 B"`.
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bytes = quantity::parse(text, UNITS, "128 KiB")?;
        u64::try_from(bytes)
            .map(ByteSize)
            .map_err(|_| QuantityError::OutOfRange {
                found: text.to_owned(),
                why: "a size is 0 to 16 EiB",
            })
    }
}

impl fmt::Display for ByteSize {
    /// Binary units where the size is a multiple of 1024, else decimal ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = self.0 >= 1024 && self.0.is_multiple_of(1024);
        quantity::format(self.0, if binary { WRITTEN_BINARY } else { WRITTEN }, f)
    }
}
