//! `netburn.exe` under Wine. `scripts/test-windows` installs what it needs, and runs it. Other test runs do not.
//!
//! Wine shows that the program for Windows starts, that its calls of the system work together, and that its results are those
//! of Linux. It shows neither how exact a timer of Windows is, nor what a driver reports.

mod results;
#[path = "../support/mod.rs"]
mod support;
mod wine;
