//! Built-in cases: every value is within its tolerance or explained, and docs/results/validation.md is current.

use netburn_dev::validate::{CaseFile, CaseResult, Outcome, built_in, markdown::markdown, run};
use netburn_runner::pool::processors;
use std::path::Path;

/// Line before the generated part of the page.
const GENERATED: &str =
    "<!-- generated: NETBURN_REGENERATE=1 cargo test -p netburn-dev --all-features --test built_in -->\n\n";

fn quick() -> Vec<CaseFile> {
    let quick = ["rates.toml", "durations.toml", "codel.toml"];
    let files = built_in::files().unwrap();
    files
        .into_iter()
        .filter(|file| quick.contains(&file.name.as_str()))
        .collect()
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn every_value_is_within_tolerance_or_explained_and_the_page_is_current() {
    let files = built_in::models().unwrap();
    let threads = processors();
    let outcomes = run(&files, threads, &|_, _| {});
    assert!(outcomes.len() > 500, "{}", outcomes.len());
    let beyond: Vec<&Outcome> = outcomes
        .iter()
        .filter(|one| one.result() == CaseResult::Beyond)
        .collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/validation.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let cases = markdown(&files, &outcomes);
    let (before, found) = text.split_once(GENERATED).unwrap();
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(page, format!("{before}{GENERATED}{cases}")).unwrap();
        return;
    }
    let (found, wanted) = (without_values(found), without_values(&cases));
    let differs = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "docs/results/validation.md is out of date: run this test with NETBURN_REGENERATE=1: {differs:?}"
    );
}

/// Lines of a page, with tables without the computed values, whose last digits change with the models.
fn without_values(page: &str) -> Vec<String> {
    let line = |line: &str| {
        if !line.starts_with("| ") {
            return line.to_owned();
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        let kept = cells.iter().enumerate().filter(|(place, _)| !matches!(place, 4 | 5));
        kept.map(|(_, cell)| *cell).collect::<Vec<_>>().join(" | ")
    };
    page.lines().map(line).collect()
}

/// Few values need an explanation.
#[test]
fn few_values_need_an_explanation() {
    let models = explained(&built_in::models().unwrap());
    assert!(models <= 10, "{models}");
    // Measurements of whole networks and kernels, each explained on the page of its case study. Half of them are in two
    // columns of the table of two clients. One column is not met; the other is that of FQ-CoDel, where the model has a
    // driver queue.
    let all = explained(&built_in::files().unwrap());
    assert!(all <= models + 37, "{all}");
}

fn explained(files: &[CaseFile]) -> usize {
    let expectations = files
        .iter()
        .flat_map(|file| &file.cases)
        .flat_map(|case| &case.expectations);
    let explained = expectations.filter(|one| {
        one.deviation
            .as_ref()
            .is_some_and(|deviation| deviation.explains.is_some())
    });
    explained.count()
}

/// A fast case of the case studies; `netburn-dev validate` runs all of them.
#[test]
fn a_case_study_is_within_tolerance() {
    let mut files = built_in::files().unwrap();
    for file in &mut files {
        file.cases.retain(|case| {
            case.name == "USB: pfifo_fast in place of FQ-CoDel changes nothing" && !case.input.is_slow()
        });
    }
    let outcomes = run(&files, 2, &|_, _| {});
    assert_eq!(outcomes.len(), 1);
    assert!(outcomes.iter().all(Outcome::ok), "{outcomes:#?}");
}

/// The delays of packets to sleeping stations: fast, unlike the other simulated models.
#[test]
fn delays_of_sleeping_stations_are_within_tolerance() {
    let mut files = built_in::files().unwrap();
    files.retain(|file| file.name == "power-save.toml");
    let outcomes = run(&files, 2, &|_, _| {});
    assert!(outcomes.len() >= 14, "{}", outcomes.len());
    assert!(outcomes.iter().all(Outcome::ok), "{outcomes:#?}");
}

/// The cases of roaming are fast; the test of all cases is not.
#[test]
fn roaming_is_within_tolerance() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/roaming.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let files = [CaseFile::parse("roaming.toml", &text).unwrap()];
    let outcomes = run(&files, processors(), &|_, _| {});
    assert!(outcomes.len() > 60, "{}", outcomes.len());
    let beyond: Vec<&Outcome> = outcomes
        .iter()
        .filter(|one| one.result() == CaseResult::Beyond)
        .collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
}

#[test]
fn every_file_of_the_directory_is_built_in() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation");
    let mut there: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    there.sort_unstable();
    let mut built_in: Vec<&str> = built_in::FILES.iter().map(|(name, _)| *name).collect();
    built_in.sort_unstable();
    assert_eq!(there, built_in);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let files = quick();
    let [one, several] = [1, 5].map(|threads| markdown(&files, &run(&files, threads, &|_, _| {})));
    assert_eq!(one, several);
}
