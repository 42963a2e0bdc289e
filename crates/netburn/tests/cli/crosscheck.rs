//! Comparison with ns-3 without ns-3: stored results, and the message if it is not installed.

use crate::support::{Bench, finish};

const STORED: &str = include_str!("../../../../validation/crosscheck/ns-3.jsonl");

#[test]
fn stored_results_are_compared_without_ns3() {
    let bench = Bench::new();
    let first: String = STORED.split_inclusive('\n').take(3).collect();
    // The last line is truncated, as by a run that was killed.
    bench.write("results.jsonl", first.clone() + "{\"plan\":4");
    let ended = finish(bench.netburn([
        "crosscheck",
        "--against",
        "ns-3",
        "--stored",
        "--results",
        "results.jsonl",
        "--format",
        "json",
    ]));
    assert!(matches!(ended.code(), 0 | 1), "{}", ended.stderr);
    let plans = ended.json();
    let numbers: Vec<u64> = plans
        .as_array()
        .unwrap()
        .iter()
        .map(|plan| plan["plan"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let after = std::fs::read_to_string(bench.path("results.jsonl")).unwrap();
    assert!(
        after.starts_with(&first) && after.ends_with("{\"plan\":4"),
        "the command changed its input"
    );
}

#[test]
fn a_missing_ns3_is_reported_with_the_command_that_installs_it() {
    let bench = Bench::new();
    bench.write("results.jsonl", STORED);
    let with = |python: &str| {
        finish(bench.netburn([
            "crosscheck",
            "--against",
            "ns-3",
            "--plans",
            "999999..999999",
            "--results",
            "results.jsonl",
            "--python",
            python,
        ]))
        .expect(2)
    };
    // The first path does not exist, the second is not Python.
    for python in ["/nonexistent/python", "true"] {
        let ended = with(python);
        assert!(ended.stderr.contains("pip install ns3=="), "{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    }
    assert_eq!(std::fs::read_to_string(bench.path("results.jsonl")).unwrap(), STORED);
}

#[test]
fn an_invalid_range_of_plans_is_an_error() {
    let bench = Bench::new();
    for range in ["5", "5..1", "0..3", "1..2000000", "a..b"] {
        let ended = finish(bench.netburn(["crosscheck", "--against", "ns-3", "--stored", "--plans", range])).expect(2);
        assert!(ended.stderr.contains("expected"), "{}", ended.stderr);
    }
}
