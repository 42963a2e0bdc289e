//! `netburn.exe` under Wine. Needs mingw, Wine, and the target `x86_64-pc-windows-gnu`.
//!
//! Wine shows that the program for Windows starts, that its calls of the system work together, and that its results are those
//! of Linux. It shows neither how exact a timer of Windows is, nor what a driver reports.

mod results;
#[path = "../support/mod.rs"]
mod support;
mod wine;
