//! Diagnosis of slow SSH logins. Pure: the output of OpenSSH's client with times and facts about both
//! machines in; phases and findings out.
//!
//! - [`transcript`]: phases of a login from `ssh -vvv`.
//! - [`findings()`]: slow phases, with probable causes and remedies.

pub mod findings;
pub mod transcript;

pub use findings::{Facts, Finding, findings};
pub use transcript::{Phase, Step, Transcript};

#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(test)]
mod tests;
