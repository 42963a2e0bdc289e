//! The lab's helper process as a separate program, for this crate's tests. The `netburn` command contains it.

fn main() {
    std::process::exit(netburn_lab::init::main());
}
