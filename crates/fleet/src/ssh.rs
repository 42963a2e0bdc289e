//! Why a login over SSH takes as long as it does. Pure: what OpenSSH's client says of itself goes in, line by line with its times, and
//! what is known of both machines; phases and findings come out.
//!
//! - [`transcript`]: `ssh -vvv`, line by line, as phases.
//! - [`findings()`]: which phase is slow, what usually makes it so, and what helps.

pub mod findings;
pub mod transcript;

pub use findings::{Facts, Finding, findings};
pub use transcript::{Phase, Step, Transcript};

#[doc(hidden)]
pub mod fuzz;
#[cfg(test)]
mod tests;
