//! Runs held against runs: what a change made better, and what worse.
//!
//! - [`Side`]: the runs of one side; every repeat is a run, and all that is resampled and ranked are runs.
//! - [`Comparison`]: two sides, figure by figure. [`judge_together`] judges several as one.
//! - [`Ranking`]: more than two sides. [`Matrix`]: many scenarios, each under several variants.
//! - Each as text, as JSON and as a page.

mod differs;
mod figure;
mod html;
mod json;
mod matrix;
mod overlay;
mod pairing;
mod ranking;
mod side;
mod text;
mod two;
mod written;

pub use differs::{Differing, differing};
pub use figure::{Key, Unit, What, figures};
pub use matrix::{Cell, Matrix, Row};
pub use overlay::{Variant, overlays};
pub use pairing::Pairing;
pub use ranking::{Ranked, Ranking, Standing};
pub use side::{Side, name};
pub use two::{Comparison, Doubt, Held, Options, judge_together};
pub use written::{value as written, what as figure_name};

#[cfg(test)]
mod tests;
