//! Counts of all houses as Markdown.

use super::{HouseResult, Remedy};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Relative error of a prediction that counts as right.
const CLOSE: f64 = 0.20;
/// Differences of latencies below this many ms count as right: a person can't perceive them.
const CLOSE_MS: f64 = 10.0;
/// Remedies whose distance from the goals differs by less than this share of that without a remedy are equally good.
const AS_GOOD: f64 = 0.10;

/// Tables of the results.
#[must_use]
pub fn markdown<'a>(results: impl IntoIterator<Item = &'a HouseResult>) -> String {
    let all: Vec<&HouseResult> = results.into_iter().collect();
    let mut text = String::new();
    let explained = all.iter().filter(|house| house.explains).count();
    let _ = writeln!(
        text,
        "{} houses; the model explains the measurement in {explained}.\n",
        all.len()
    );
    disciplines(&all, &mut text);
    parameters(&all, &mut text);
    if all.iter().any(|house| house.remedy.is_some()) {
        predictions(&all, &mut text);
        remedies(&all, &mut text);
    }
    text
}

fn disciplines(all: &[&HouseResult], text: &mut String) {
    let shown: Vec<_> = all.iter().filter(|house| house.shows_discipline).collect();
    let right = |house: &HouseResult| house.found.as_ref() == Some(&house.discipline);
    let count = shown.iter().filter(|house| right(house)).count();
    let wrong = all
        .iter()
        .filter(|house| house.found.is_some() && !right(house))
        .count();
    let _ = writeln!(
        text,
        "The queue discipline is identified in {count} of the {} houses whose measurement shows it, and wrong in {wrong} of \
         all {}.\n",
        shown.len(),
        all.len()
    );
}

fn parameters(all: &[&HouseResult], text: &mut String) {
    let _ = writeln!(
        text,
        "| parameter | interval contains the true value | identified | error of these: median | 80th percentile |\n\
         |---|---|---|---|---|"
    );
    let parameters = all.iter().flat_map(|house| &house.parameters);
    let mut of_kind: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for parameter in parameters {
        of_kind.entry(&parameter.kind).or_default().push(parameter);
    }
    for (kind, own) in of_kind {
        let held = own.iter().filter(|one| one.estimate.holds(one.truth)).count();
        let identified: Vec<_> = own.iter().filter(|one| one.is_identified).collect();
        let errors = identified
            .iter()
            .map(|one| (one.estimate.median / one.truth - 1.0).abs());
        let errors = sorted(errors);
        let _ = writeln!(
            text,
            "| {kind} | {held} of {} | {} | {} | {} |",
            own.len(),
            identified.len(),
            percent(&errors, 0.5),
            percent(&errors, 0.8)
        );
    }
}

fn predictions(all: &[&HouseResult], text: &mut String) {
    let _ = writeln!(
        text,
        "\n| predicted | cases | within 20 % or 10 ms | 90 % interval contains a run |\n|---|---|---|---|"
    );
    let values: Vec<_> = all.iter().flat_map(|house| &house.predicted).collect();
    let kinds: BTreeSet<&str> = values.iter().map(|value| value.kind.as_str()).collect();
    for kind in kinds {
        let own: Vec<_> = values.iter().filter(|value| value.kind == kind).collect();
        let is_close = |truth: f64, median: f64| {
            let difference = (median - truth).abs();
            difference <= CLOSE * truth || (kind != "throughput" && difference <= CLOSE_MS)
        };
        let close = own
            .iter()
            .filter(|value| is_close(value.truth, value.prediction.median))
            .count();
        let held = own.iter().filter(|value| value.prediction.holds(value.one)).count();
        let _ = writeln!(
            text,
            "| {kind} | {} | {} | {} |",
            own.len(),
            share(close, own.len()),
            share(held, own.len())
        );
    }
    let verdicts: Vec<_> = all.iter().flat_map(|house| &house.verdicts).collect();
    let right = verdicts.iter().filter(|one| one.truth == one.prediction).count();
    let sure: Vec<_> = verdicts.iter().filter(|one| one.is_sure).collect();
    let surely_right = sure.iter().filter(|one| one.truth == one.prediction).count();
    let _ = writeln!(
        text,
        "\nA station with a change meets its goals or not as predicted in {} of {} cases. If nine of ten models agree, this is \
         so in {} of {}.\n",
        share(right, verdicts.len()),
        verdicts.len(),
        share(surely_right, sure.len()),
        sure.len()
    );
}

fn remedies(all: &[&HouseResult], text: &mut String) {
    let remedies = all.iter().filter_map(|house| house.remedy.as_ref());
    let (missing, fine): (Vec<&Remedy>, Vec<&Remedy>) = remedies.partition(|remedy| remedy.before > 0.0);
    let (mut given, mut good, mut harmful, mut none) = (0, 0, 0, 0);
    for remedy in missing {
        match (&remedy.recommended, &remedy.best) {
            (Some((_, loss)), Some((_, best))) => {
                given += 1;
                good += usize::from(loss - best <= AS_GOOD * remedy.before);
                harmful += usize::from(*loss > remedy.before);
            }
            _ => none += 1,
        }
    }
    let without_need = fine.iter().filter(|remedy| remedy.recommended.is_some()).count();
    let _ = writeln!(
        text,
        "Of the houses that miss goals, {given} have a recommended remedy, and {none} have none. The recommended one is the best \
         of those proposed, or within 10 % of it, in {good} of {given}, and makes it worse in {harmful}. {without_need} houses \
         that meet all goals have a recommendation."
    );
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A quantile of sorted errors, in percent.
fn percent(sorted: &[f64], level: f64) -> String {
    let place = ((sorted.len() as f64 * level) as usize).min(sorted.len().saturating_sub(1));
    sorted
        .get(place)
        .map_or_else(String::new, |error| format!("{:.0} %", error * 100.0))
}

fn share(count: usize, of: usize) -> String {
    if of == 0 {
        return "–".to_owned();
    }
    format!("{:.0} %", count as f64 / of as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::super::{Interval, ParameterResult, Predicted, Verdicts};
    use super::*;

    fn house(found: Option<&str>, prediction: f64, loss: f64) -> HouseResult {
        let interval = |median: f64| Interval {
            low: median - 5.0,
            median,
            high: median + 5.0,
        };
        HouseResult {
            house: 1,
            stations: 2,
            line: (100.0, 40.0),
            discipline: "fifo".to_owned(),
            traits: Vec::new(),
            unexplained: Vec::new(),
            disciplines: Vec::new(),
            shows_discipline: true,
            found: found.map(str::to_owned),
            misfit: 1.0,
            explains: true,
            parameters: vec![ParameterResult {
                kind: "rate of the line down".to_owned(),
                truth: 100.0,
                estimate: interval(prediction),
                is_identified: true,
            }],
            predicted: vec![Predicted {
                change: "nothing".to_owned(),
                station: "tv".to_owned(),
                kind: "throughput".to_owned(),
                truth: 100.0,
                one: 99.0,
                prediction: interval(prediction),
            }],
            verdicts: vec![Verdicts {
                change: "nothing".to_owned(),
                station: "tv".to_owned(),
                truth: true,
                prediction: prediction > 90.0,
                is_sure: true,
            }],
            remedy: Some(Remedy {
                before: 2.0,
                recommended: Some(("airtime".to_owned(), loss)),
                best: Some(("airtime".to_owned(), loss.min(0.5))),
            }),
        }
    }

    #[test]
    fn right_and_wrong_results_are_counted() {
        let houses = [
            house(Some("fifo"), 98.0, 0.6),
            house(Some("airtime"), 70.0, 3.0),
            house(None, 110.0, 0.5),
        ];
        let text = markdown(&houses);
        for line in [
            "3 houses; the model explains the measurement in 3.",
            "The queue discipline is identified in 1 of the 3 houses whose measurement shows it, and wrong in 1 of all 3.",
            "| rate of the line down | 1 of 3 | 3 | 10 % | 30 % |",
            "| throughput | 3 | 67 % | 33 % |",
            "as predicted in 67 % of 3 cases.",
            "in 2 of 3, and makes it worse in 1.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}
