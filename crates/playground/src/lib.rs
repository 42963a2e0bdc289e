//! The engine of the playground, a page on which a person draws a home and simulates it.
//!
//! [`call`] receives one request in JSON and returns one reply in JSON, and [`check`] tests a scenario without a page. Its results are those of the command for the same
//! scenario and seed, because both use the same models, rules and remedies.
//!
//! Modules, from the top:
//!
//! - `engine`: the requests, and their execution.
//! - `home`: a scenario as the page shows it: its text, its devices, its building with the coverage.
//! - `air`: transmissions in a part of a run.
//! - `limits`: what a page may simulate, because a shared scenario is foreign input.

mod air;
mod engine;
mod home;
mod limits;

pub use engine::{Progress, call};
pub use home::check;
pub use limits::{MAX_DURATION, MAX_STATIONS, MAX_TEXT};
