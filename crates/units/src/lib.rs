//! Quantities as integer types with units, and their text form.
//!
//! - [`Instant`] and [`Duration`]: nanoseconds. An instant counts from the beginning of the run.
//! - [`BitRate`] – bits per second.
//! - [`ByteSize`] – bytes.
//! - [`Dbm`] – power, in hundredths of a decibel-milliwatt; [`Db`]: a ratio, in hundredths of a decibel.
//! - [`Probability`] – a probability or a share, in parts per billion.
//! - [`Distance`] – millimetres; [`Speed`]: millimetres per second.
//! - [`Dscp`] – code point of a packet; [`DscpMapping`]: the user priority of 802.11 for it.
//! - [`Seed`] and [`RandomStream`]: random numbers, one named stream per cause. An additional draw in one
//!   stream changes nothing in the others.
//!
//! The text form is a number and a unit (`"5min"`, `"25 Mbit/s"`, `"128KiB"`, `"-62 dBm"`, `"1 %"`,
//! `"6 m"`). A number without its unit is a [`QuantityError`], which lists the known units. Formatting
//! is exact, and the text parses to the same value.
//!
//! [`variants`] implements the names of an enum's variants.
//!
//! There is no clock. Floats appear only in the `as_*_f64` getters and in [`format_decimal`], for
//! display and statistics.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

mod decimal;
mod distance;
mod dscp;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod power;
mod probability;
mod quantity;
mod rate;
mod seed;
mod size;
mod speed;
mod time;
mod variants;

pub use decimal::format_decimal;
pub use distance::Distance;
pub use dscp::{Dscp, DscpMapping};
pub use power::{Db, Dbm};
pub use probability::Probability;
pub use quantity::QuantityError;
pub use rate::BitRate;
pub use seed::{RandomStream, Seed};
pub use size::ByteSize;
pub use speed::Speed;
pub use time::{Duration, Instant, earlier};
