//! The executable with all commands.

use std::process::ExitCode;

fn main() -> ExitCode {
    netburn::main()
}
