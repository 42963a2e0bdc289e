//! Reads a matrix: the folder of a sweep, or a folder of runs as SCENARIO/VARIANT.

use super::note;
use super::read::{Reader, summary};
use crate::exit::CliError;
use netburn_analysis::compare::{Matrix, Options, Side};
use netburn_record::regular;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// A scenario's name, its baseline and its variants.
type Scenario = (String, Side, Vec<Option<Side>>);

/// Reads the runs below `dir` and compares the variants of each scenario with its baseline.
pub(super) fn read(
    dir: &Path,
    baseline: Option<&str>,
    options: Options,
    reader: &mut Reader,
) -> Result<Matrix, CliError> {
    let (variants, scenarios) = if dir.join("sweep.json").is_file() {
        swept(dir, reader)?
    } else {
        folders(dir, reader)?
    };
    let place = match baseline {
        None => 0,
        Some(wanted) => variants.iter().position(|name| name == wanted).ok_or_else(|| {
            CliError::Usage(format!(
                "--baseline: unknown variant: found {wanted}, expected one of {}",
                variants.join(", ")
            ))
        })?,
    };
    if variants.len() < 2 {
        return Err(CliError::Usage(format!(
            "{}: too few variants: found 1, expected at least 2",
            dir.display()
        )));
    }
    let mut all: Vec<Scenario> = Vec::new();
    for (scenario, mut sides) in scenarios {
        match sides.remove(place) {
            Some(against) => all.push((scenario, against, sides)),
            None => {
                let why = format!("{scenario} has no runs of {} and is not compared", variants[place]);
                note(&why);
                reader.failed.push(why);
            }
        }
    }
    let others: Vec<String> = variants
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != place)
        .map(|(_, v)| v.clone())
        .collect();
    let matrix = Matrix::new(&variants[place], &others, all, options);
    if matrix.comparisons.is_empty() {
        Err(reader.unreadable(&format!("{}: there is nothing to compare", dir.display())))
    } else {
        Ok(matrix)
    }
}

/// The variants, and of every scenario a side for each of them.
type Found = (Vec<String>, Vec<(String, Vec<Option<Side>>)>);

/// The fields of `sweep.json` that the matrix needs.
#[derive(Deserialize)]
struct Sweep {
    scenario: String,
    vary: Vec<Varied>,
    runs: u64,
    #[serde(default)]
    impossible_runs: u64,
}

#[derive(Deserialize)]
struct Varied {
    key: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<String>,
}

fn swept(dir: &Path, reader: &mut Reader) -> Result<Found, CliError> {
    let file = dir.join("sweep.json");
    let wrong = |why: &dyn std::fmt::Display| CliError::Usage(format!("{}: {why}", file.display()));
    let text = regular::open(&file)
        .and_then(io::read_to_string)
        .map_err(|error| wrong(&error))?;
    let sweep: Sweep = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let (last, scenario_keys) = sweep.vary.split_last().ok_or_else(|| wrong(&"it varies nothing"))?;
    let mut scenarios: Vec<(String, Vec<Option<Side>>)> = Vec::new();
    let mut missing = 0_u64;
    for run in 1..=sweep.runs {
        let path = dir.join("runs").join(format!("{run}.json"));
        if !path.is_file() {
            missing += 1;
            continue;
        }
        let read = || -> Result<_, String> {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let Values { values } = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            Ok((values, summary(&path)?))
        };
        let (values, summary) = match read() {
            Ok(read) => read,
            Err(why) => {
                let why = format!("{}: {why}", path.display());
                note(&why);
                reader.failed.push(why);
                continue;
            }
        };
        let Some(variant) = values
            .last()
            .and_then(|value| last.values.iter().position(|known| known == value))
        else {
            continue;
        };
        let scenario = if scenario_keys.is_empty() {
            sweep.scenario.clone()
        } else {
            let each = scenario_keys
                .iter()
                .zip(&values)
                .map(|(varied, value)| format!("{}={value}", varied.key));
            each.collect::<Vec<_>>().join(" ")
        };
        let place = scenarios
            .iter()
            .position(|(name, _)| *name == scenario)
            .unwrap_or_else(|| {
                scenarios.push((scenario, vec![None; last.values.len()]));
                scenarios.len() - 1
            });
        let side = scenarios[place].1[variant].get_or_insert_with(|| Side::new(&last.values[variant]));
        side.add_summary(&path, &summary, None);
    }
    let possible = sweep.runs.saturating_sub(sweep.impossible_runs);
    match missing.saturating_sub(sweep.impossible_runs) {
        0 => {}
        unfinished => note(&format!("{unfinished} of the sweep's {possible} runs aren't finished")),
    }
    Ok((last.values.clone(), scenarios))
}

fn folders(dir: &Path, reader: &mut Reader) -> Result<Found, CliError> {
    let mut variants: Vec<String> = Vec::new();
    let mut found: Vec<(String, Vec<(String, Side)>)> = Vec::new();
    for scenario in below(dir)? {
        let mut sides = Vec::new();
        for variant in below(&scenario)? {
            let name = own_name(&variant);
            if let Some(side) = reader.side(std::slice::from_ref(&variant)) {
                if !variants.contains(&name) {
                    variants.push(name.clone());
                }
                sides.push((name.clone(), Side { name, ..side }));
            }
        }
        found.push((own_name(&scenario), sides));
    }
    if variants.is_empty() {
        return Err(reader.unreadable(&format!(
            "{}: neither a sweep's folder nor one of runs as SCENARIO/VARIANT",
            dir.display()
        )));
    }
    variants.sort();
    let scenarios = found.into_iter().map(|(scenario, sides)| {
        let mut all = vec![None; variants.len()];
        for (name, side) in sides {
            let place = variants.iter().position(|known| *known == name);
            all[place.expect("it was counted")] = Some(side);
        }
        (scenario, all)
    });
    let scenarios = scenarios.collect();
    Ok((variants, scenarios))
}

/// The folders directly below one, by name.
fn below(dir: &Path) -> Result<Vec<PathBuf>, CliError> {
    let wrong = |error: std::io::Error| CliError::Usage(format!("{}: {error}", dir.display()));
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn own_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
