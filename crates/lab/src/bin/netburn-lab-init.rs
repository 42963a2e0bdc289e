//! The lab's helper process as a separate program, for this crate's tests. The `netburn` command contains it.

#[cfg(target_os = "linux")]
fn main() {
    std::process::exit(netburn_lab::init::main());
}

#[cfg(not(target_os = "linux"))]
fn main() {
    std::process::exit(2);
}
