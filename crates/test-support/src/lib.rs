//! Report of a test that cannot run on this machine. Only tests use this crate.

use std::io::Write;

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
