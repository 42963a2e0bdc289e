//! Diagnosis of slow SSH logins.
//!
//! - [`check`] – a timed login into a host.
//! - [`transcript`] – phases of a login from the output of OpenSSH's client with times. Pure.
//! - [`findings()`] – slow phases, with probable causes and remedies, from facts about both machines. Pure.

pub mod check;
pub mod findings;
pub mod transcript;

pub use check::LoginCheck;
pub use findings::{Facts, Finding, findings};
pub use transcript::{Phase, Step, Transcript};

#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(test)]
mod tests;
