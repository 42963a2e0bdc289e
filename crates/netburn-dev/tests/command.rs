//! Runs of the command: stored results without ns-3, the examples of the documentation, and the lab.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STORED: &str = include_str!("../../../validation/crosscheck/ns-3.jsonl");

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_netburn-dev"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn page(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Content of the first block of a page with this mark.
fn block<'p>(page: &'p str, mark: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("```{mark}\n")).expect("a block");
    rest.split_once("```").expect("an end").0
}

#[test]
fn stored_results_are_compared_without_ns3() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    // The last line is truncated, as by a run that was killed.
    let input = STORED.split_inclusive('\n').take(3).collect::<String>() + "{\"plan\":4";
    std::fs::write(&path, &input).unwrap();
    let arguments = [
        "crosscheck",
        "--against",
        "ns-3",
        "--stored",
        "--results",
        "results.jsonl",
    ];
    let ended = run(folder.path(), &arguments);
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{}", text(&ended.stderr));
    assert!(
        text(&ended.stdout).contains("3 plans, of which "),
        "{}",
        text(&ended.stdout)
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), input);
}

#[test]
fn a_missing_ns3_is_reported_with_the_command_that_installs_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    std::fs::write(&path, STORED).unwrap();
    // The first path does not exist, the second is not Python.
    for python in ["/nonexistent/python", "true"] {
        let plan = ["crosscheck", "--against", "ns-3", "--plans", "999999..999999"];
        let more = ["--results", "results.jsonl", "--python", python];
        let ended = run(folder.path(), &[&plan[..], &more].concat());
        assert_eq!(ended.status.code(), Some(2));
        assert!(
            text(&ended.stderr).contains("pip install ns3=="),
            "{}",
            text(&ended.stderr)
        );
        assert!(ended.stdout.is_empty());
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), STORED);
}

#[test]
fn an_invalid_range_of_plans_is_an_error() {
    for range in ["5", "5..1", "0..3", "1..2000000", "a..b"] {
        let arguments = ["crosscheck", "--against", "ns-3", "--stored", "--plans", range];
        let ended = run(Path::new("."), &arguments);
        assert_eq!(ended.status.code(), Some(2));
        assert!(text(&ended.stderr).contains("expected"), "{}", text(&ended.stderr));
    }
}

#[test]
fn the_example_of_the_documentation_has_the_printed_output() {
    let page = page("how-to/validate-your-own-access-point.md");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("my-access-point.toml"), block(&page, "toml")).unwrap();
    let ended = run(folder.path(), &["validate", "my-access-point.toml", "--all"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(text(&ended.stdout), block(&page, "text"));
}

#[test]
fn the_commands_of_the_documentation_have_valid_arguments() {
    let mut count = 0;
    for name in ["reference/crosscheck.md", "results/conformance.md"] {
        for line in page(name).lines() {
            let words = line.split(" #").next().unwrap_or_default();
            let Some((before, arguments)) = words.split_once("netburn-dev crosscheck ") else {
                continue;
            };
            if before.is_empty() || before == "chrt -r 5 " {
                // `--help` ends the parser after all options before it, so nothing runs.
                let arguments: Vec<&str> = arguments.split_whitespace().chain(["--help"]).collect();
                let ended = run(Path::new("."), &[&["crosscheck"], &arguments[..]].concat());
                assert!(ended.status.success(), "{line}: {}", text(&ended.stderr));
                count += 1;
            }
        }
    }
    assert!(count > 10, "{count} commands");
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "needs namespaces: scripts/test runs it")]
fn lab_and_simulator_agree() {
    // One run in the lab of a busy machine can differ by a fourth. The median of three does not.
    let ended = run(
        Path::new("."),
        &["crosscheck", "--against", "lab", "--quick", "--repeat", "3"],
    );
    let errors = text(&ended.stderr);
    if ended.status.code() == Some(2) && errors.contains("no lab") {
        netburn_test_support::skip("needs namespaces");
        return;
    }
    // A case with repeated quality issues is inconclusive. That is no failure here.
    assert!(matches!(ended.status.code(), Some(0 | 3)), "{errors}");
    let output = text(&ended.stdout);
    let count = |word: &str| output.lines().filter(|line| line.contains(word)).count();
    let compared = count("  agrees") + count("  within the spread") + count("  unreliable") + count("  differs, known");
    assert!(compared >= 3, "{output}");
    let inconclusive = count(": inconclusive: ");
    assert_eq!(inconclusive == 0, ended.status.success(), "{output}");
    // Exactly the values of a case with quality issues are unreliable.
    assert_eq!(count("  unreliable") > 0, inconclusive > 0, "{output}");
    assert_eq!(
        output.lines().filter(|line| line.ends_with("  differs")).count(),
        0,
        "{output}"
    );
}
