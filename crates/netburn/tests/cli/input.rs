//! Wrong input: exit status 2, and a message with the fault, its position and valid values.

use crate::support::{Bench, finish, one_station};

/// Runs a file with this content. Checks that the error names the file and contains these texts.
#[track_caller]
fn rejected(content: impl AsRef<[u8]>, printed: &[&str]) {
    let bench = Bench::new();
    bench.write("wrong.toml", content);
    for command in ["run", "plan"] {
        let ended = finish(bench.netburn([command, "wrong.toml"])).expect(2);
        assert!(ended.stdout.is_empty(), "{}", ended.out());
        for part in ["wrong.toml"].iter().chain(printed) {
            assert!(ended.stderr.contains(part), "`{part}` is not in:\n{}", ended.stderr);
        }
        assert!(!ended.stderr.contains('\x1b'), "{}", ended.stderr);
    }
    assert!(!bench.path("runs").exists(), "rejected input left a record");
}

/// A valid file with more text below its station.
fn with(lines: &str) -> String {
    format!("{}{lines}\n", one_station("voip", 10, 1))
}

#[test]
fn a_seed_out_of_range_names_the_range() {
    let bench = Bench::new();
    bench.write("good.toml", one_station("voip", 10, 1));
    for seed in ["-1", "18446744073709551616", "one"] {
        let ended = finish(bench.netburn(["run", "good.toml", "--seed", seed])).expect(2);
        let printed = "expected a whole number from 0 to 18446744073709551615";
        assert!(ended.stderr.contains(printed), "{}", ended.stderr);
    }
}

#[test]
fn an_unknown_key_suggests_the_nearest() {
    // The section of the station begins at line 8 of the file of `one_station`, and its workload is line 9.
    rejected(with("strat = \"1s\""), &["10", "strat", "start"]);
}

#[test]
fn a_missing_unit_names_the_units() {
    rejected(with("start = \"1\""), &["10", "has no unit", "\"1 s\""]);
}

#[test]
fn an_impossible_value_lists_the_possible_ones() {
    rejected(with("start = \"99h\""), &["10", "start"]);
}

#[test]
fn an_unknown_workload_names_the_known_ones() {
    rejected(one_station("voipp", 10, 1), &["9", "voipp", "voip"]);
}

#[test]
fn a_duplicate_name_is_an_error() {
    rejected(with("\n[station.one]\nworkload = \"voip\""), &["11", "one"]);
}

#[test]
fn an_invalid_name_is_an_error() {
    rejected(
        with("\n[station.\"a b\"]\nworkload = \"voip\""),
        &["11", "a b", "letters"],
    );
}

#[test]
fn a_goal_that_the_workload_cannot_have_is_an_error() {
    rejected(
        with("\n[workload.endless]\nkind = \"upload\"\ngoal = \"no stall\""),
        &["13", "stall"],
    );
}

#[test]
fn an_empty_file_is_an_error() {
    rejected("", &["empty", "station"]);
}

#[test]
fn a_huge_file_is_an_error() {
    let bench = Bench::new();
    let path = bench.write("wrong.toml", "");
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    let ended = finish(bench.netburn(["run", "wrong.toml"])).expect(2);
    assert!(
        ended.stderr.contains("wrong.toml") && ended.stderr.contains("1 MiB"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_file_that_is_not_text_is_an_error() {
    rejected(b"title = \"a\"\nquestion = \"\xff\"\n", &["2", "UTF-8"]);
}

#[test]
fn an_unknown_scenario_is_an_error() {
    let ended = finish(Bench::new().netburn(["run", "four-use"])).expect(2);
    assert!(ended.stderr.contains("four-uses"), "{}", ended.stderr);
}

#[test]
fn changes_on_the_command_line_are_checked_like_the_file() {
    for (args, printed) in [
        (&["--set", "server.link.rat=1"][..], "server.link.rate"),
        (&["--set", "server.link.rate=15"], "unit"),
        (&["--set", "station.tv.workload"], "KEY=VALUE"),
        (&["--set", "station.missing.start=1s"], "missing"),
        (&["--duration", "5"], "unit"),
        (&["--repeat", "0"], "0"),
    ] {
        let bench = Bench::new();
        let all = ["run", "four-uses"].iter().chain(args);
        let ended = finish(bench.netburn(all)).expect(2);
        assert!(
            ended.stderr.contains(printed),
            "{args:?}: `{printed}` is not in:\n{}",
            ended.stderr
        );
    }
}

#[test]
fn a_folder_without_a_run_is_an_error() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("empty")).unwrap();
    for (folder, printed) in [("empty", "not a run"), ("nowhere", "nowhere")] {
        let ended = finish(bench.netburn(["report", folder])).expect(2);
        assert!(ended.stderr.contains(printed), "{}", ended.stderr);
    }
    let ended = finish(bench.netburn(["runs", "nowhere"])).expect(2);
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
    assert_eq!(finish(bench.netburn(["runs", "."])).expect(0).out(), "no runs in .\n");
    assert_eq!(
        finish(bench.netburn(["runs", ".", "--format", "json"])).expect(0).out(),
        "[]\n"
    );
}

#[test]
fn a_printed_plan_gives_the_same_plan_again() {
    let bench = Bench::new();
    let args = [
        "plan",
        "--on",
        "local",
        "four-uses",
        "--set",
        "server.link.rate=15 Mbit/s",
        "--duration",
        "10s",
    ];
    let text = finish(bench.netburn(args)).expect(0).out();
    assert!(text.starts_with("Nothing was run"), "{text}");
    assert!(
        text.contains("15 Mbit/s") && text.contains("expected traffic:"),
        "{text}"
    );
    let json = finish(bench.netburn(args.iter().chain(&["--format", "json"])))
        .expect(0)
        .json();
    assert_eq!(json["duration"], "10 s");
    let schema = finish(bench.netburn(["schema"])).expect(0).json();
    let valid = jsonschema::validate(&schema, &json);
    assert!(valid.is_ok(), "{valid:?}");
    let protocol = finish(bench.netburn(["schema", "protocol"])).expect(0).json();
    assert!(jsonschema::meta::is_valid(&protocol));
}

#[test]
fn an_unknown_option_is_wrong_input() {
    let ended = finish(Bench::new().netburn(["run", "four-uses", "--sed", "3"])).expect(2);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("--seed"),
        "{}",
        ended.stderr
    );
}
