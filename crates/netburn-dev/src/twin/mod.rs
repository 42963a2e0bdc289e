//! Checks of fits with networks whose truth is known.
//!
//! A random [`House`](netburn_fit::houses::House) is measured by the simulator or by the lab. [`check()`] fits models to the
//! measurement, predicts what changes do to a household, and compares that with the house that has the change.
//! [`page::markdown()`] counts the results of all houses.
//!
//! The simulator as the house checks the inference only, because house and models share each part. The lab has the kernel's
//! TCP, real programs and real time; the air is the modelled one in both.

mod changes;
mod check;
pub mod page;
mod result;

pub use changes::{HouseChange, changes};
pub use check::{CheckError, Extent, IN_REAL_TIME, Truth, check, load_of};
pub use result::{HouseResult, Interval, ParameterResult, Predicted, Remedy, Verdicts};
