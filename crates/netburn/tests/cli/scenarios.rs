//! `netburn scenarios`, and `netburn` without arguments.

use crate::support::{Bench, Ended, finish};

fn scenarios(bench: &Bench, args: &[&str]) -> String {
    finish(bench.netburn(["scenarios"].iter().chain(args))).expect(0).out()
}

#[test]
fn every_built_in_scenario_is_listed_with_its_question() {
    let list = scenarios(&Bench::new(), &[]);
    let unwrapped = list.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, _) in netburn_scenario::built_in_scenarios() {
        let plan = netburn_scenario::load(name).unwrap().resolve().unwrap();
        let entry = format!("{name} {}", plan.question.unwrap());
        assert!(unwrapped.contains(&entry), "`{entry}` is not in:\n{list}");
    }
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
}

#[test]
fn a_shown_scenario_has_the_plan_of_the_built_in_one() {
    let bench = Bench::new();
    let plan = |scenario: &str| {
        let args = ["plan", scenario, "--on", "simulate", "--format", "json"];
        finish(bench.netburn(args)).expect(0).json()
    };
    for (name, _) in netburn_scenario::built_in_scenarios() {
        let file = format!("{name}.toml");
        bench.write(&file, scenarios(&bench, &["show", name]));
        assert_eq!(plan(&file), plan(name), "{name}");
    }
}

#[test]
fn a_scenario_has_its_american_spelling() {
    let bench = Bench::new();
    assert_eq!(
        scenarios(&bench, &["show", "slow-neighbor"]),
        scenarios(&bench, &["show", "slow-neighbour"])
    );
}

#[test]
fn an_unknown_scenario_suggests_the_nearest() {
    let ended = finish(Bench::new().netburn(["scenarios", "show", "slow-nieghbour"])).expect(2);
    assert!(ended.stdout.is_empty());
    assert!(
        ended.stderr.contains("no built-in scenario with this name")
            && ended.stderr.contains("did you mean `slow-neighbour`?"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_file_is_not_a_built_in_scenario() {
    let bench = Bench::new();
    bench.write("mine.toml", scenarios(&bench, &["show", "four-uses"]));
    finish(bench.netburn(["scenarios", "show", "mine.toml"])).expect(2);
}

#[test]
fn netburn_without_arguments_and_without_a_terminal_prints_the_first_commands() {
    let ended = finish(Bench::new().netburn::<&str>([])).expect(2);
    assert!(ended.stdout.is_empty());
    let commands: Vec<&str> = ended
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("  netburn "))
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    assert_eq!(
        commands,
        ["ui", "demo", "init", "playground", "scenarios"],
        "{}",
        ended.stderr
    );
}

/// Runs `netburn init FILE` with these answers.
fn described(bench: &Bench, file: &str, answers: &str) -> Ended {
    bench.write("answers", answers);
    let mut command = bench.netburn(["init", file]);
    command.stdin(std::fs::File::open(bench.path("answers")).unwrap());
    finish(command)
}

#[test]
fn answers_about_a_home_become_a_scenario_that_runs() {
    let bench = Bench::new();
    let answers = "AX3000\n100\n20\n\nliving 6x4\nstudy 4x4\n\nliving\nlaptop study video call\ntv living film\n\n";
    let done = described(&bench, "my home.toml", answers).expect(0);
    assert_eq!(done.out(), "my home.toml\n");
    assert!(
        done.stderr.contains("netburn run 'my home.toml' --on simulate"),
        "{}",
        done.stderr
    );
    let plan = finish(bench.netburn(["plan", "my home.toml", "--on", "simulate"]))
        .expect(0)
        .out();
    assert!(
        plan.contains("line router.wan: 100 Mbit/s down, 20 Mbit/s up"),
        "{plan}"
    );

    // What exists is not replaced, a folder that is missing is reported before the questions, and wrong answers leave no file.
    let again = described(&bench, "my home.toml", answers).expect(2);
    assert!(
        again.stderr.contains("exists, and netburn does not replace it"),
        "{}",
        again.stderr
    );
    let missing = described(&bench, "nowhere/home.toml", answers).expect(2);
    assert!(!missing.stderr.contains("Which rating"), "{}", missing.stderr);
    described(&bench, "other.toml", "QX1\n").expect(2);
    assert!(!bench.path("other.toml").exists());
}
