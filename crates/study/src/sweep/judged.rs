//! The values of one varied key judged against its first: what each station has of every use, better, worse or the same.

use super::columns::Measure;
use super::rows::Rows;
use crate::judge::{Better, FEWEST, Judged, Judgement, Tolerance, judge};
use netburn_report::plain::{sanitise, truncate, wrap};
use netburn_report::table::{Cell, left, render, right};
use netburn_scenario::Plan;
use netburn_workload::Kind;
use serde_json::{Value, json};

/// A sweep of one key, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgements {
    /// The varied key.
    pub key: String,
    /// Its first value: what the others are judged against.
    pub baseline: String,
    /// The other values, in their order.
    pub others: Vec<Against>,
}

/// One value judged against the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// The value.
    pub value: String,
    /// Every figure, station by station.
    pub figures: Vec<Figure>,
}

/// A figure of one use at one station.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The station.
    pub station: String,
    /// Its workload.
    pub workload: String,
    /// What is looked at: `throughput_mbps`, `p95_ms`, `p50_ms` where there are too few for that, `stalled_ms`.
    pub figure: &'static str,
    /// What that is measured in.
    pub measure: Measure,
    /// Which way is better.
    pub better: Better,
    /// What it comes to.
    pub judged: Judged,
}

/// Why a sweep can't be judged. The message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CantJudge {
    /// Several keys are varied.
    #[error(
        "--judge takes one --vary: the first value is how it was, the others are judged against it; several keys at once are one with `*`, as station.*.tsq"
    )]
    Keys,
    /// There is one value only.
    #[error("--judge needs a second value in --vary {0}: the first is how it was, the others are judged against it")]
    OneValue(String),
}

/// Whether a sweep of these keys and values can be judged.
///
/// # Errors
/// When it varies more than one key, or has one value only.
pub fn can_judge(keys: &[String], values: &[Vec<String>]) -> Result<(), CantJudge> {
    match (keys, values) {
        ([key], [values]) if values.len() < 2 => Err(CantJudge::OneValue(key.clone())),
        ([_], [_]) => Ok(()),
        _ => Err(CantJudge::Keys),
    }
}

/// Judges the rows of a sweep of one key with these `values`. `plan` is that of its first run: it knows what each workload is.
#[must_use]
pub fn judgements(rows: &Rows, values: &[String], plan: &Plan) -> Judgements {
    let (baseline, others) = values.split_first().expect("a key has at least one value");
    let against = |value: &String| Against {
        value: value.clone(),
        figures: plan
            .stations
            .iter()
            .flat_map(|station| station.workloads.iter().map(|workload| (&station.name, workload)))
            .filter_map(|(station, workload)| {
                let of = Use {
                    station,
                    workload: &workload.name,
                    kind: workload.config.kind,
                };
                of.judged(rows, baseline, value)
            })
            .collect(),
    };
    Judgements {
        key: rows.keys.join(", "),
        baseline: baseline.clone(),
        others: others.iter().map(against).collect(),
    }
}

/// One workload of one station.
struct Use<'a> {
    station: &'a str,
    workload: &'a str,
    kind: Kind,
}

impl Use<'_> {
    /// What a person would ask of such a use, judged. `None` where the rows don't have it.
    fn judged(&self, rows: &Rows, baseline: &str, value: &str) -> Option<Figure> {
        let place = |what: &str| rows.column(&format!("{}.{}.{what}", self.station, self.workload));
        let of = |place: usize, wanted: &str| -> Vec<Option<f64>> {
            let those = rows
                .rows
                .iter()
                .filter(|row| row.values.first().is_some_and(|value| value == wanted));
            those.map(|row| row.figures[place].number()).collect()
        };
        let supported = |place: &usize| rows.rows.iter().all(|row| row.figures[*place].number().is_some());
        let (figure, better, tolerance) = match self.kind {
            Kind::Download | Kind::Upload => ("throughput_mbps", Better::Higher, Tolerance::RATE),
            Kind::Stream => ("stalled_ms", Better::Lower, Tolerance::STALL),
            Kind::Pages | Kind::Calls | Kind::Probe => match place("p95_ms").filter(supported) {
                Some(_) => ("p95_ms", Better::Lower, Tolerance::LATENCY),
                None => ("p50_ms", Better::Lower, Tolerance::LATENCY),
            },
        };
        let place = place(figure)?;
        Some(Figure {
            station: self.station.to_owned(),
            workload: self.workload.to_owned(),
            figure,
            measure: rows.columns[place].measure,
            better,
            judged: judge(&of(place, baseline), &of(place, value), better, tolerance),
        })
    }
}

impl Judgements {
    /// As tables for a terminal, `width` columns wide: one for each value.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut text = String::new();
        for against in &self.others {
            self.table(against, width, colour, &mut text);
            text.push('\n');
        }
        let legend = "The same: within 5 % and, of a latency, 1 ms. Better and worse: by more than that, and the interval of the \
                      difference (95 % sure, or as sure as so few runs make it) does not reach nought. Of twenty figures that don't change \
                      one may come out as if it had.";
        for line in wrap(legend, width, "") {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn table(&self, against: &Against, width: usize, colour: bool, text: &mut String) {
        let shown = |value: &str| truncate(&sanitise(value), 40);
        let runs = against.figures.first().map_or([0, 0], |figure| figure.judged.runs);
        let runs = match runs {
            [1, 1] => "one run of each".to_owned(),
            [one, other] if one == other => format!("{one} runs of each"),
            [one, other] => format!("{one} runs and {other}"),
        };
        let title = format!(
            "{} = {} against {}, {runs}",
            sanitise(&self.key),
            shown(&against.value),
            shown(&self.baseline)
        );
        text.push_str(&title);
        text.push_str("\n\n");
        let (without, with) = (shown(&self.baseline), shown(&against.value));
        let columns = [
            left("STATION"),
            left("USE"),
            right(&without),
            right(&with),
            right("DIFFERENCE"),
            right("INTERVAL"),
            left("JUDGED"),
        ];
        let mut before = "";
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        for figure in &against.figures {
            let name = if figure.station == before { "" } else { &figure.station };
            before = &figure.station;
            cells.push(figure.cells(name));
        }
        for line in render(&columns, &cells, 2, width, colour) {
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
        let count = |wanted: Judgement| {
            let those = against
                .figures
                .iter()
                .filter(|figure| figure.judged.judgement == wanted);
            match those.count() {
                0 => None,
                some => Some(format!("{some} {}", wanted.name())),
            }
        };
        let counts: Vec<String> = Judgement::ALL.into_iter().filter_map(count).collect();
        text.push_str(&counts.join(", "));
        text.push('\n');
        if against
            .figures
            .iter()
            .any(|figure| figure.judged.runs.iter().min() < Some(&FEWEST))
        {
            text.push_str(&format!(
                "Fewer than {FEWEST} runs of each tell nothing: --repeat 5 makes five.\n"
            ));
        }
    }

    /// For scripts: `{ key, baseline, against: [{ value, figures: [{ station, workload, figure, unit, better, baseline, value,
    /// difference, low, high, level, same_within, runs, judgement }] }] }`; what isn't known is `null`.
    #[must_use]
    pub fn json(&self) -> Value {
        let against: Vec<Value> = self
            .others
            .iter()
            .map(|against| {
                let figures: Vec<Value> = against.figures.iter().map(Figure::json).collect();
                json!({ "value": against.value, "figures": figures })
            })
            .collect();
        json!({ "key": self.key, "baseline": self.baseline, "against": against })
    }

    /// As CSV (RFC 4180), a line for each figure under one header line.
    #[must_use]
    pub fn csv(&self) -> String {
        const HEADER: [&str; 15] = [
            "key",
            "baseline_value",
            "value",
            "station",
            "workload",
            "figure",
            "better",
            "baseline",
            "with",
            "difference",
            "low",
            "high",
            "level",
            "same_within",
            "judgement",
        ];
        let mut text = String::new();
        super::csv::line(&mut text, HEADER.into_iter());
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        for against in &self.others {
            for figure in &against.figures {
                let judged = &figure.judged;
                let shift = judged.shift;
                let fields = [
                    self.key.clone(),
                    self.baseline.clone(),
                    against.value.clone(),
                    figure.station.clone(),
                    figure.workload.clone(),
                    figure.figure.to_owned(),
                    figure.better.name().to_owned(),
                    number(judged.medians[0]),
                    number(judged.medians[1]),
                    number(shift.map(|shift| shift.estimate)),
                    number(shift.map(|shift| shift.interval.low)),
                    number(shift.map(|shift| shift.interval.high)),
                    number(shift.map(|shift| shift.level)),
                    judged.tolerance.to_string(),
                    judged.judgement.name().to_owned(),
                ];
                super::csv::line(&mut text, fields.iter().map(String::as_str));
            }
        }
        text
    }
}

impl Figure {
    fn cells(&self, station: &str) -> Vec<Cell> {
        let judged = &self.judged;
        let what = match self.figure {
            "throughput_mbps" => "Mbit/s",
            "stalled_ms" => "stalled ms",
            "p50_ms" => "p50 ms",
            _ => "p95 ms",
        };
        let written = |value: f64| super::table::written(value, self.measure);
        let known = |value: Option<f64>| value.map_or(Cell::EMPTY, |value| written(value).into());
        let signed = |value: f64| {
            // What rounds to nothing has no sign.
            let text = written(value.abs());
            let nothing = text.chars().all(|c| matches!(c, '0' | '.'));
            match value {
                _ if nothing => text,
                ..0.0 => format!("−{text}"),
                _ => format!("+{text}"),
            }
        };
        let interval = |low: f64, high: f64| format!("{} to {}", signed(low), signed(high));
        vec![
            sanitise(station).into(),
            format!("{} {what}", sanitise(&self.workload)).into(),
            known(judged.medians[0]),
            known(judged.medians[1]),
            judged.shift.map_or(Cell::EMPTY, |shift| signed(shift.estimate).into()),
            judged.shift.map_or(Cell::EMPTY, |shift| {
                interval(shift.interval.low, shift.interval.high).into()
            }),
            Cell::new(judged.judgement.name(), judged.judgement.into()),
        ]
    }

    fn json(&self) -> Value {
        let judged = &self.judged;
        let shift = judged.shift;
        json!({
            "station": self.station,
            "workload": self.workload,
            "figure": self.figure,
            "unit": self.measure.unit(),
            "better": self.better.name(),
            "baseline": judged.medians[0],
            "value": judged.medians[1],
            "difference": shift.map(|shift| shift.estimate),
            "low": shift.map(|shift| shift.interval.low),
            "high": shift.map(|shift| shift.interval.high),
            "level": shift.map(|shift| shift.level),
            "same_within": judged.tolerance,
            "runs": judged.runs,
            "judgement": judged.judgement.name(),
        })
    }
}
