//! The built-in cases: every figure is where it must be, and the page about them is current.

use netburn_study::validate::{CaseFile, Outcome, CaseResult, built_in, json::json, markdown::markdown, run};
use std::path::Path;

fn quick() -> Vec<CaseFile> {
    let quick = ["rates.toml", "durations.toml", "codel.toml"];
    let files = built_in::files().unwrap();
    files
        .into_iter()
        .filter(|file| quick.contains(&file.name.as_str()))
        .collect()
}

#[test]
fn every_figure_is_within_tolerance_or_explained_and_the_page_tells_of_it() {
    let files = built_in::models().unwrap();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes = run(&files, threads, &|_, _| {});
    assert!(outcomes.len() > 500, "{}", outcomes.len());
    let beyond: Vec<&Outcome> = outcomes
        .iter()
        .filter(|one| one.result() == CaseResult::Beyond)
        .collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/VALIDATION.md");
    let page = std::fs::read_to_string(page).unwrap();
    let cases = markdown(&files, &outcomes);
    let (_, found) = page.split_once("a test keeps it current.\n\n").unwrap();
    let (found, wanted) = (without_figures(found), without_figures(&cases));
    let differs = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "docs/VALIDATION.md is not current; put in what `netburn validate --format markdown` prints: {differs:?}"
    );
}

/// The lines of a page, of the tables without what was got: a mend of a model moves that in the last digits.
fn without_figures(page: &str) -> Vec<String> {
    let line = |line: &str| match line.starts_with("| ") {
        false => line.to_owned(),
        true => {
            let cells: Vec<&str> = line.split(" | ").collect();
            let kept = cells.iter().enumerate().filter(|(place, _)| !matches!(place, 4 | 5));
            kept.map(|(_, cell)| *cell).collect::<Vec<_>>().join(" | ")
        }
    };
    page.lines().map(line).collect()
}

/// What an explanation excuses is rare, and every exception is explained.
#[test]
fn few_figures_need_an_explanation() {
    let models = excused(&built_in::models().unwrap());
    assert!(models <= 7, "{models}");
    // Measurements of whole houses and kernels, each explained on its question's page: half of them are of two columns of two
    // clients' table: the one that isn't met, and FQ-CoDel's, whose driver queue stands in the model.
    let all = excused(&built_in::files().unwrap());
    assert!(all <= models + 37, "{all}");
}

fn excused(files: &[CaseFile]) -> usize {
    let excused = files
        .iter()
        .flat_map(|file| &file.cases)
        .flat_map(|case| &case.expectations);
    let excused = excused.filter(|one| {
        one.deviation
            .as_ref()
            .is_some_and(|deviation| deviation.explains.is_some())
    });
    excused.count()
}

/// Of the questions only what takes a moment; `netburn validate` has them all.
#[test]
fn a_question_is_answered() {
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

#[test]
fn every_file_of_the_directory_is_shipped() {
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
fn the_number_of_threads_changes_nothing() {
    let files = quick();
    let names = ["a", "b", "c"];
    let one = json(&run(&files, 1, &|_, _| {}), &names);
    let several = json(&run(&files, 5, &|_, _| {}), &names);
    assert_eq!(one, several);
}

#[test]
fn json_has_what_scripts_rely_on() {
    let outcomes = run(&quick(), 1, &|_, _| {});
    let document = json(&outcomes, &["rates.toml", "durations.toml", "codel.toml"]);
    let first = document[0].as_object().unwrap();
    for key in [
        "case",
        "source",
        "metric",
        "expected",
        "got",
        "tolerance",
        "ok",
        "trust",
    ] {
        assert!(first.contains_key(key), "{key}");
    }
    assert_eq!(first["case"], "802.11n, 20 MHz, 800 ns, MCS 0");
    assert_eq!(
        (first["expected"].as_f64(), first["got"].as_f64()),
        (Some(6.5), Some(6.5))
    );
    assert_eq!((&first["ok"], &first["trust"]), (&true.into(), &"derived".into()));
    let with_deviation = document
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one.get("deviation").is_some())
        .unwrap();
    assert!(with_deviation["deviation"]["what"].is_string());
}
