//! The executable for devices with little memory, which only join fleets.

use std::process::ExitCode;

fn main() -> ExitCode {
    netburn::agent()
}
