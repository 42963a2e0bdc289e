//! Report of a test that cannot run on this machine, and addresses for the servers of a test. Only tests use this crate.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};

/// Reports that the calling test cannot run here, because of `reason`. The test returns afterwards:
///
/// ```no_run
/// # let is_root = false;
/// if !is_root {
///     return netburn_test_support::skip("needs root");
/// }
/// ```
///
/// The test harness counts the test as passed. `scripts/test` counts the printed line, `skipped: TEST: REASON`, and
/// reports the test as skipped.
///
/// # Panics
/// If the environment variable `CI` is `true`: all tests must run there.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{test} cannot run here: {reason}"
    );
    // The harness hides what `println!` prints in a test that passes, but not what is written to the stream itself. The
    // line before may lack its end: the harness prints the name of a test before its result.
    let line = format!("\nskipped: {test}: {reason}\n");
    std::io::stdout()
        .write_all(line.as_bytes())
        .expect("standard output is open");
}

/// A loopback address at which no program listens and no other test will: for a server of another project, which can't
/// choose a free port itself, and for connections that are refused. A port that was free a moment before could belong to
/// another process by now.
///
/// # Panics
/// After 10,000 addresses of one process.
pub fn unused_address() -> SocketAddr {
    static NUMBER: AtomicU16 = AtomicU16::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    assert!(number < 10_000, "10,000 addresses");
    // The host part of 127.64.0.0/10 has 22 bits, as a process ID of Linux. The port is below those that kernels choose.
    let host = (127 << 24) | (64 << 16) | (std::process::id() & 0x3f_ffff);
    SocketAddr::from((Ipv4Addr::from_bits(host), 20_000 + number))
}
