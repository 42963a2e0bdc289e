//! Homes with a known cause: the expected answers are in `homes.toml`, beside the scenarios, and were written before the first
//! run.
//!
//! - The test examines a part of the homes with one seed. `NETBURN_HOMES=all` examines all of them, and
//!   `NETBURN_HOMES=NAME` one, whose causes it prints.
//! - `NETBURN_REGENERATE=1` examines all homes with 15 seeds and writes the table into docs/results/confusion-matrix.md.

use netburn_analysis::explain::{Cause, Evidence, Explanation, Kind, Severity, likely_causes};
use netburn_parallel::Cancel;
use netburn_parallel::pool::{map, processors};
use netburn_record::summary::Summariser;
use netburn_record::{Environment, Header, RunStatus, Sink as _};
use netburn_scenario::{Document, Plan};
use netburn_study::causes::{Options, Simulator, decide, explain, missed};
use netburn_study::whatif::what_ifs;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

mod measured;

#[derive(Debug, Deserialize)]
struct File {
    home: Vec<Home>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Home {
    name: String,
    expected: Vec<Kind>,
    #[serde(default)]
    also: Vec<Kind>,
    by: Option<String>,
    why: String,
    #[serde(default)]
    unseen: bool,
    scenario: String,
}

/// Answers for one home.
#[derive(Debug, Default)]
struct Answers {
    runs: usize,
    right: usize,
    /// First serious cause by its count.
    first: BTreeMap<&'static str, usize>,
    /// Runs with a serious cause that is none of this home.
    wrong: usize,
}

/// Seeds of the page.
const SEEDS: u64 = 15;
/// Each home of this number is examined by the ordinary test.
const STEP: usize = 6;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn homes() -> Vec<Home> {
    let text = std::fs::read_to_string(root().join("crates/study/tests/homes/homes.toml")).unwrap();
    toml::from_str::<File>(&text).unwrap().home
}

fn plan(home: &Home, seed: u64) -> Plan {
    let document =
        Document::from_toml("home.toml", &home.scenario).unwrap_or_else(|error| panic!("{}: {error}", home.name));
    let mut plan = document
        .resolve()
        .unwrap_or_else(|error| panic!("{}: {error}", home.name));
    plan.seed = netburn_units::Seed(seed);
    plan
}

/// The causes that a report of a simulated run names.
fn answer(home: &Home, seed: u64) -> Explanation {
    let plan = plan(home, seed);
    let mut evidence = Evidence::new(&plan, Environment::Simulate);
    let mut summariser = Summariser::new(Header::simulated(plan.clone()));
    netburn_simulate::run(&plan, |_, rows| {
        for row in &rows {
            evidence.row(row);
            summariser.put(row).unwrap();
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    let summary = summariser.finish("home", &RunStatus::Complete);
    let rules = likely_causes(&evidence, &summary, &[]);
    let cancel = Cancel::default();
    let diagnosis = decide(
        &plan,
        &missed(&plan, &summary),
        &Simulator::new(1, &cancel, &|_| {}),
        Options::default(),
    );
    if std::env::var_os("NETBURN_HOMES").is_some() {
        println!(
            "{} (seed {seed}): {} runs, rules {:?}",
            home.name,
            diagnosis.runs,
            kinds(&rules)
        );
        for found in &diagnosis.found {
            println!(
                "   {:?} {} | {} | {:?}",
                found.kind, found.title, found.without, found.together
            );
            for finding in &found.findings {
                println!(
                    "      {}: {:?} → {:?}",
                    finding.victim.workload, finding.before, finding.after
                );
            }
        }
        println!(
            "   open {:?}, not reproduced {:?}",
            diagnosis.open, diagnosis.not_reproduced
        );
    }
    explain(&plan, &rules, &diagnosis)
}

fn kinds(explanation: &Explanation) -> Vec<Kind> {
    explanation.causes.iter().map(|cause| cause.kind).collect()
}

impl Answers {
    fn add(&mut self, home: &Home, explanation: &Explanation) {
        let serious: Vec<_> = explanation
            .causes
            .iter()
            .filter(|cause| cause.severity != Severity::Notable)
            .collect();
        let first = serious.first();
        self.runs += 1;
        *self
            .first
            .entry(first.map_or("–", |cause| cause.kind.name()))
            .or_default() += 1;
        let named = |cause: &&&netburn_analysis::explain::Cause| {
            home.by
                .as_ref()
                .is_none_or(|by| cause.by.contains(by) || cause.stations.contains(by))
        };
        self.right += usize::from(match first {
            Some(cause) => home.expected.contains(&cause.kind) && named(&cause),
            None => home.expected.is_empty(),
        });
        self.wrong += usize::from(serious.iter().any(|cause| {
            ![&home.expected, &home.also]
                .iter()
                .any(|kinds| kinds.contains(&cause.kind))
        }));
    }
}

fn examine(homes: &[&Home], seeds: u64) -> Vec<Answers> {
    let count = homes.len() * seeds as usize;
    let explanations = map(count, processors(), &|place| {
        let (home, seed) = (place / seeds as usize, place as u64 % seeds);
        answer(homes[home], seed + 1)
    });
    let each = explanations.chunks(seeds as usize).zip(homes);
    each.map(|(explanations, home)| {
        let mut answers = Answers::default();
        explanations
            .iter()
            .for_each(|explanation| answers.add(home, explanation));
        answers
    })
    .collect()
}

#[test]
fn the_file_states_at_least_sixty_homes() {
    let homes = homes();
    assert!(homes.len() >= 60, "{}", homes.len());
    assert!(homes.iter().filter(|home| home.unseen).count() >= 20);
    for home in &homes {
        assert!(!home.why.is_empty(), "{}", home.name);
        plan(home, 1);
    }
    let mut names: Vec<&str> = homes.iter().map(|home| home.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), homes.len());
}

const BEGIN: &str = "<!-- the homes -->\n";
const END: &str = "<!-- end of the homes -->\n";

/// At least 97 % of the runs name the right cause first, and at most 1 % name a serious cause that the home does not have.
#[test]
fn the_right_cause_comes_first() {
    let regenerate = std::env::var_os("NETBURN_REGENERATE").is_some();
    let chosen = std::env::var("NETBURN_HOMES").ok();
    let homes = homes();
    let selected: Vec<&Home> = match chosen.as_deref() {
        _ if regenerate => homes.iter().collect(),
        Some("all") => homes.iter().collect(),
        Some(name) => homes.iter().filter(|home| home.name.contains(name)).collect(),
        None => homes.iter().step_by(STEP).collect(),
    };
    let answers = examine(&selected, if regenerate { SEEDS } else { 1 });
    let (runs, right, wrong) = totals(&answers);
    let missed: Vec<String> = selected
        .iter()
        .zip(&answers)
        .filter(|(_, answers)| answers.right < answers.runs || answers.wrong > 0)
        .map(|(home, answers)| format!("{}: expected {:?}, {answers:?}", home.name, home.expected))
        .collect();
    if regenerate {
        let page = root().join("docs/results/confusion-matrix.md");
        let text = std::fs::read_to_string(&page).unwrap();
        let (before, rest) = text.split_once(BEGIN).expect("the marker before the homes");
        let (_, after) = rest.split_once(END).expect("the marker after the homes");
        std::fs::write(
            &page,
            format!("{before}{BEGIN}{}{END}{after}", table(&selected, &answers)),
        )
        .unwrap();
    }
    assert!(
        right as f64 >= 0.97 * runs as f64,
        "{right} of {runs} are right: {missed:#?}"
    );
    assert!(
        wrong as f64 <= 0.01 * runs as f64,
        "{wrong} of {runs} name a false cause: {missed:#?}"
    );
}

/// Runs of all homes: all of them, those that name the right cause first, and those that name a false one.
fn totals(answers: &[Answers]) -> (usize, usize, usize) {
    let sum = |of: fn(&Answers) -> usize| answers.iter().map(of).sum::<usize>();
    (sum(|a| a.runs), sum(|a| a.right), sum(|a| a.wrong))
}

fn table(homes: &[&Home], answers: &[Answers]) -> String {
    let mut text = "| home | expected | first cause | right |\n|---|---|---|---|\n".to_owned();
    for (home, answers) in homes.iter().zip(answers) {
        let list = |names: Vec<String>| {
            if names.is_empty() {
                "–".to_owned()
            } else {
                names.join(", ")
            }
        };
        let expected = list(home.expected.iter().map(|kind| format!("`{}`", kind.name())).collect());
        let first = list(
            answers
                .first
                .iter()
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect(),
        );
        text.push_str(&format!(
            "| {} | {expected} | {first} | {} of {} |\n",
            home.name, answers.right, answers.runs
        ));
    }
    let (runs, right, wrong) = totals(answers);
    text.push_str(&format!(
        "\nOf {runs} runs, {right} ({:.1} %) name the right cause first. {wrong} name a serious cause that the home does not\nhave.\n",
        right as f64 * 100.0 / runs as f64
    ));
    text
}

/// Each change that `explain` prints, set in the scenario as its author wrote it, gives the plan that was simulated.
#[test]
fn printed_changes_fit_the_scenario_as_it_was_written() {
    let mut changes = 0;
    for home in homes() {
        let plan = plan(&home, 1);
        let mut summary = Summariser::new(Header::simulated(plan.clone())).finish("", &RunStatus::Complete);
        for station in &mut summary.stations {
            station.throughput_mbps = 20.0;
        }
        let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
        let causes = Kind::ALL.map(|kind| Cause {
            kind,
            severity: Severity::Serious,
            title: String::new(),
            evidence: String::new(),
            advice: String::new(),
            stations: names.clone(),
            by: names.clone(),
        });
        for what_if in what_ifs(&plan, &summary, &causes).what_ifs {
            let mut document = Document::from_toml("home.toml", &home.scenario).unwrap();
            for (key, value) in &what_if.set {
                document
                    .set(key, value)
                    .unwrap_or_else(|error| panic!("{}: {}: {error}", home.name, what_if.label));
            }
            let changed = document
                .resolve()
                .unwrap_or_else(|error| panic!("{}: {}: {error}", home.name, what_if.label));
            let set = &what_if.set;
            // The seed of the test is not that of the file.
            let wanted = Plan {
                seed: changed.seed,
                ..what_if.plan
            };
            assert_eq!(
                changed.to_json(),
                wanted.to_json(),
                "{}: {}: {set:?}",
                home.name,
                what_if.label
            );
            changes += 1;
        }
    }
    // Homes have about ten changes each.
    assert!(changes > 500, "{changes}");
}
