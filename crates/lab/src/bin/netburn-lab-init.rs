//! The lab's helper as a program of its own, for the tests of this crate. The `netburn` command has it inside.

fn main() {
    std::process::exit(netburn_lab::init::main());
}
