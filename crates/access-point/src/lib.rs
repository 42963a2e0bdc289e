//! Telemetry of a real access point during a run, over SSH.
//!
//! netburn asks the access point once a second over one connection of the system's OpenSSH client. Nothing is installed
//! there and nothing is written: the other end is a POSIX shell that reads files of the kernel and runs `iw` and `tc`.
//!
//! Modules, from the top:
//!
//! - [`session`] – the connection, its time limits and its return. A thread.
//! - [`login`] – why a login failed. Pure.
//! - [`telemetry`] – from answers to rows of the record. Pure.
//! - [`snapshot`] – one answer as values. Pure.
//! - [`state`] – its parts.
//! - [`syslog`] – the system log, from one reading to the next. Pure.
//! - [`transcript`] – bytes of the connection as answers of limited size. Pure.
//! - [`dumps`] – files with the output of `iw` and `tc` as runs. Pure.
//! - [`target`] – the address of an access point.
//! - `parse` – the output of each program and file.

pub mod dumps;
pub mod login;
mod names;
mod parse;
pub mod session;
pub mod snapshot;
pub mod state;
pub mod syslog;
pub mod target;
pub mod telemetry;
pub mod transcript;

#[cfg(feature = "fuzz")]
pub mod fuzz;

pub use login::{LoginProblem, Refusal};
pub use session::{Login, Observer, ObserverError};
pub use target::{Destination, ParseTargetError, Target};
pub use telemetry::{AccessPointTelemetry, Addresses};
