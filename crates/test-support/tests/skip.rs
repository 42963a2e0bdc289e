//! A skipped test prints a line that the harness does not hide, and fails if `CI` is `true`.

use netburn_test_support::skip;
use std::process::{Command, Output};

/// Set in the process whose test is skipped.
const SKIPPED: &str = "NETBURN_TEST_SKIPPED";

fn skipped(ci: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "a_skipped_test_is_visible_and_fails_in_ci"])
        .env(SKIPPED, "1")
        .env_remove("CI");
    command.envs(ci.map(|ci| ("CI", ci))).output().unwrap()
}

#[test]
fn a_skipped_test_is_visible_and_fails_in_ci() {
    if std::env::var_os(SKIPPED).is_some() {
        return skip("needs the moon");
    }
    let line = "skipped: a_skipped_test_is_visible_and_fails_in_ci: needs the moon";
    for ci in [None, Some("false")] {
        let output = skipped(ci);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.lines().any(|printed| printed == line),
            "{text}"
        );
    }
    let output = skipped(Some("true"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("cannot run here: needs the moon"), "{text}");
}
