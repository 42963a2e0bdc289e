//! Output streams, and their format on terminals.

use crate::support::{Bench, finish, one_station, start, text};

#[test]
fn without_a_terminal_standard_output_has_only_plain_data() {
    let bench = Bench::new();
    bench.write("call.toml", one_station("voip", 20, 2));
    let ended = finish(bench.netburn(["run", "call.toml"]));
    let out = ended.out();
    assert!(
        out.starts_with("local: server and stations ran on this machine"),
        "{out}"
    );
    let unwrapped = out.replace('\n', " ");
    assert!(
        unwrapped.contains("no Wi-Fi was tested") && out.contains(" – One station"),
        "{out}"
    );
    assert!(
        !out.contains('\x1b') && !ended.stderr.contains('\x1b'),
        "{out}{}",
        ended.stderr
    );
    for printed in [
        "no --on, and the scenario describes no access point",
        "may send up to",
        "call: running",
        "\nsaved to runs/",
    ] {
        assert!(
            !out.contains(printed) && ended.stderr.contains(printed),
            "{printed}: {}",
            ended.stderr
        );
    }
    let listed = finish(bench.netburn(["runs", "--format", "json"])).expect(0).json();
    let folder = listed[0]["path"].as_str().unwrap();
    assert!(folder.ends_with("Z-call"), "{folder}");
    assert_eq!(finish(bench.netburn(["report", folder])).expect(0).out(), out);
    let list = finish(bench.netburn(["runs"])).expect(0).out();
    assert!(list.contains(folder) && list.contains("local"), "{list}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let bench = Bench::new();
    bench.write("call.toml", one_station("voip", 20, 1));
    let closed = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = bench.netburn(args);
        command.stdout(writer);
        let ended = start(command).finish();
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
        ended.code()
    };
    let code = closed(&["run", "call.toml", "--out", "saved"]);
    assert!(matches!(code, 0 | 3), "{code}");
    for args in [
        &["report", "saved"][..],
        &["runs", "."],
        &["plan", "four-uses"],
        &["schema"],
        &["scenarios"],
        &["demo", "--on", "simulate"],
        &["--help"],
    ] {
        assert_eq!(closed(args), 0, "{args:?}");
    }
}

#[test]
fn text_of_a_scenario_cannot_control_the_terminal() {
    let bench = Bench::new();
    let content = one_station("voip", 20, 1).replace("One station", "\\u001b]0;owned\\u0007\\u001b[2J");
    bench.write("evil.toml", content);
    for args in [&["plan", "evil.toml"][..], &["run", "evil.toml"]] {
        let ended = finish(bench.netburn(args));
        let all = format!("{}{}", ended.out(), ended.stderr);
        assert!(!all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
    }
}

#[test]
fn runs_of_a_set_are_pooled_and_listed() {
    let bench = Bench::new();
    bench.write("call.toml", one_station("voip", 20, 1));
    let args = [
        "run",
        "call.toml",
        "--repeat",
        "3",
        "--seed",
        "7",
        "--out",
        "saved",
        "--format",
        "json",
    ];
    let ended = finish(bench.netburn(args));
    let summary = ended.json();
    let rounds = summary["repeats"].as_array().unwrap();
    assert_eq!(rounds.len(), 3, "{}", text(&ended.stdout));
    let operations = |of: &serde_json::Value| of["stations"][0]["workloads"][0]["operations"].as_u64().unwrap();
    assert_eq!(operations(&summary), rounds.iter().map(operations).sum::<u64>());
    assert_eq!(rounds[0]["seed"], 7);
    assert_ne!(rounds[1]["seed"], 7);
    assert!(!summary["intervals"].as_object().unwrap().is_empty(), "{summary:#}");
    let again = finish(bench.netburn(["report", "saved", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(again, summary);
}

/// Errors of the floor plan, and the file.
#[test]
fn plan_draws_the_floor_plan() {
    let bench = Bench::new();
    let ended = finish(bench.netburn(["plan", "walk-with-a-call", "--svg", "house.svg"])).expect(0);
    assert!(ended.out().starts_with("Nothing was run"), "{}", ended.out());
    assert!(ended.stderr.contains("written to house.svg"), "{}", ended.stderr);
    let drawn = std::fs::read_to_string(bench.path("house.svg")).unwrap();
    for part in ["<svg ", ">hall<", ">attic<", ">phone<", ">20 s<", "</svg>"] {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let failed = |args: &[&str]| finish(bench.netburn(args)).expect(2).stderr.clone();
    let error = failed(&["plan", "four-uses", "--svg", "none.svg"]);
    assert!(
        error.contains(
            "--svg: the scenario has no positions\nhelp: set `ap.NAME.position`, such as `position = \"2 m, 0 m\"`"
        ),
        "{error}"
    );
    let error = failed(&["plan", "walk-with-a-call", "--svg", "none.svg", "--band", "6g"]);
    assert!(
        error.contains(
            "--svg: no access point has a radio in `6g`; found `5g`\nhelp: set --band to a band of these radios"
        ),
        "{error}"
    );
    assert!(!bench.path("none.svg").exists());
}
