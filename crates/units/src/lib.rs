//! Quantities as types: integers with names, and how people write them.
//!
//! [`Instant`] and [`Duration`] are nanoseconds, [`BitRate`] is bits per second, [`ByteSize`] bytes, [`Dbm`]
//! hundredths of a decibel-milliwatt, [`Probability`] parts per billion, [`Distance`] millimetres. Each is written
//! and read as people write it (`"5min"`, `"25 Mbit/s"`, `"128KiB"`, `"-62 dBm"`, `"1 %"`, `"6 m"`): a number without
//! its unit is an error that says which units would do. What is written is exact, and reads back as the same value.
//!
//! [`Seed`] hands out one named stream of random numbers per cause, so that adding a draw in one place changes
//! nothing elsewhere.
//!
//! No clock, no float: floats appear only in the `as_*_f64` getters, for display and statistics.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod distance;
#[doc(hidden)]
pub mod fuzz;
mod power;
mod probability;
mod quantity;
mod rate;
mod seed;
mod size;
mod time;

pub use distance::Distance;
pub use power::Dbm;
pub use probability::Probability;
pub use quantity::QuantityError;
pub use rate::BitRate;
pub use seed::{Seed, Stream};
pub use size::ByteSize;
pub use time::{Duration, Instant};
