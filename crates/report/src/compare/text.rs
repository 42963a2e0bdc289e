//! A comparison for a terminal.

use super::differs::Differing;
use super::pairing::Pairing;
use super::two::{Comparison, Held};
use super::written::{counts, effect, interval, probability, runs, share, signed, value, what};
use crate::environment::sentence;
use crate::paint::{Tone, paint};
use crate::plain::{sanitise, truncate, wrap};
use crate::table::{Cell, left, render, right};
use netburn_stats::contrast::{LEVEL, Test};
use netburn_stats::judge::MIN_RUNS;

/// The widest name of a side in a heading.
const NAME: usize = 18;

/// The most keys of the scenario that are listed.
const DIFFERING: usize = 12;

impl Comparison {
    /// As lines of about `width` columns, with colours where `colour`.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut lines = Vec::new();
        if let Some(environment) = self.these.environment() {
            lines.extend(wrap(sentence(environment), width, ""));
            lines.push(String::new());
        }
        lines.extend(self.lines(width, colour));
        lines.extend(wrap(&self.method(), width, "  "));
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    /// The same without what was measured and [how it was judged](Self::method): for one of several.
    #[must_use]
    pub fn lines(&self, width: usize, colour: bool) -> Vec<String> {
        let mut lines = wrap(&self.top(colour), width, "  ");
        for line in self.premises() {
            lines.extend(wrap(&format!("  {line}"), width, "    "));
        }
        if !self.figures.is_empty() {
            lines.push(String::new());
            lines.extend(self.table(width, colour));
        }
        lines.push(String::new());
        for line in self.remarks() {
            lines.extend(wrap(&line, width, "  "));
        }
        lines
    }

    /// What it comes to, in one line.
    fn top(&self, colour: bool) -> String {
        let judgement = self.judgement();
        let word = self.headline().to_uppercase();
        let counts = match self.figures.is_empty() {
            true => "nothing to compare".to_owned(),
            false => counts(self.figures.iter().map(|held| &held.answer)),
        };
        format!(
            "{} – {}: {counts}",
            paint(&word, judgement.into(), colour),
            paint(
                &format!(
                    "{} against {}",
                    sanitise(&self.these.name),
                    sanitise(&self.against.name)
                ),
                Tone::Heading,
                colour
            ),
        )
    }

    /// What was compared, and what tells it apart before anything is measured.
    pub(super) fn premises(&self) -> Vec<String> {
        let side = |side: &super::Side| {
            let environment = side.environment().map_or("nowhere", |environment| environment.name());
            format!(
                "{} of {} on {environment}",
                runs(side.runs.len()),
                sanitise(side.scenario())
            )
        };
        let mut lines = vec![format!("{}, against {}", side(&self.these), side(&self.against))];
        if let Some([these, against]) = self.environments() {
            lines.push(format!(
                "Other environments: {} against {}. What differs may be what the environments are, not what was changed.",
                these.name(),
                against.name()
            ));
        }
        for side in [&self.these, &self.against] {
            if side.mixed {
                lines.push(format!(
                    "{} mixes runs of different scenarios or environments: its median is of all of them together. `--ranked` holds \
                     each against the others.",
                    sanitise(&side.name)
                ));
            }
        }
        lines.extend(self.together());
        match &self.differing {
            Some(differing) if differing.is_empty() && !self.pairing.pairs.is_empty() => {
                lines.push("The scenarios are the same, and so are their seeds.".to_owned());
            }
            Some(differing) if differing.is_empty() => {
                lines.push("The scenarios are the same, but for their seeds.".to_owned());
            }
            Some(differing) => {
                let each = differing.iter().take(DIFFERING);
                let mut each: Vec<String> = each.map(Self::changed).collect();
                if differing.len() > DIFFERING {
                    each.push(format!("and {} more keys", differing.len() - DIFFERING));
                }
                lines.push(format!("What differs: {}", each.join("; ")));
            }
            None => {}
        }
        for (only, side) in self.only.iter().zip([&self.these, &self.against]) {
            if !only.is_empty() {
                let names: Vec<String> = only.iter().map(|name| sanitise(name)).collect();
                lines.push(format!("Only in {}: {}", sanitise(&side.name), names.join(", ")));
            }
        }
        let [these, against] = self.inconclusive();
        for (count, side) in [(these, &self.these), (against, &self.against)] {
            if count > 0 {
                lines.push(format!(
                    "{count} of the {} of {} could not be measured whole: its figures are in doubt.",
                    runs(side.runs.len()),
                    sanitise(&side.name)
                ));
            }
        }
        lines
    }

    fn table(&self, width: usize, colour: bool) -> Vec<String> {
        let (against, these) = (heading(&self.against.name), heading(&self.these.name));
        let columns = [
            left("STATION"),
            left("FIGURE"),
            right(&against),
            right(&these),
            right("DIFFERENCE"),
            left("JUDGED"),
            right("INTERVAL").apart(),
            right("p"),
            left("EFFECT"),
        ];
        let mut before: Option<&Option<String>> = None;
        let mut rows = Vec::new();
        for held in &self.figures {
            let station = match before == Some(&held.key.station) {
                true => String::new(),
                false => held
                    .key
                    .station
                    .as_ref()
                    .map_or_else(|| "(all)".to_owned(), |name| sanitise(name)),
            };
            before = Some(&held.key.station);
            rows.push(self.cells(station, held));
        }
        render(&columns, &rows, 2, width, colour)
    }

    fn cells(&self, station: String, held: &Held) -> Vec<Cell> {
        let (contrast, unit) = (held.contrast(), held.key.what.unit());
        let judgement = held.answer.judgement;
        vec![
            station.into(),
            sanitise(&what(&held.key, self.several_goals(held))).into(),
            value(contrast.medians[0], unit).into(),
            value(contrast.medians[1], unit).into(),
            format!("{}{}", signed(contrast.difference, unit), share(held.share(), unit)).into(),
            Cell::new(judgement.name(), judgement.into()),
            interval(contrast.interval, unit).into(),
            probability(held.answer.corrected).into(),
            effect(held).into(),
        ]
    }

    /// Whether the use has several goals, so that each needs its name.
    pub(super) fn several_goals(&self, held: &Held) -> bool {
        let of = |other: &&Held| {
            let (one, other) = (&held.key, &other.key);
            one.station == other.station && one.workload == other.workload && matches!(other.what, super::What::Met(..))
        };
        self.figures.iter().filter(of).count() > 1
    }

    /// What is missing, and what would tell more.
    pub(super) fn remarks(&self) -> Vec<String> {
        if self.figures.is_empty() {
            return vec![
                "They share no station and no figure: there is nothing that could be held against each other."
                    .to_owned(),
            ];
        }
        let mut lines = Vec::new();
        if !self.shares_a_station() {
            lines.push("They share no station: only what all stations together had is compared.".to_owned());
        }
        let fewest = self.these.runs.len().min(self.against.runs.len());
        match self.too_few() {
            Some(_) if fewest < MIN_RUNS => lines.push(format!(
                "Fewer than {MIN_RUNS} runs of a side tell nothing: run both with --repeat {}.",
                self.too_few().unwrap_or(MIN_RUNS)
            )),
            Some(needed) => lines.push(format!(
                "With {fewest} runs of a side none of the {} figures that vary can be told better or worse: {needed} of each can (--repeat {needed}).",
                self.judged_with
            )),
            None => {}
        }
        lines
    }

    /// How it was judged; empty where there was nothing to judge.
    #[must_use]
    pub fn method(&self) -> String {
        if self.figures.is_empty() {
            return String::new();
        }
        let percent = self.options.tolerance.map_or(5.0, |share| share * 100.0);
        let pairs = match self.figures.iter().any(|held| held.contrast().paired) {
            true => "Runs of one seed are compared in pairs. ",
            false => "",
        };
        let levels = self.figures.iter().map(|held| held.contrast().level);
        let level = match levels.reduce(f64::min) {
            Some(least) if least < LEVEL.as_f64() => format!(" (with so few runs {:.1} %)", least * 100.0),
            _ => String::new(),
        };
        let by = |test: Test| self.figures.iter().any(|held| held.answer.test == test);
        let test = match (by(Test::RankSum), by(Test::SignedRank)) {
            (_, false) => "the rank-sum test of Mann and Whitney",
            (false, true) => "Wilcoxon's signed-rank test of pairs",
            (true, true) => {
                "Wilcoxon's signed-rank test of pairs, or Mann and Whitney's rank-sum test where a figure has too few"
            }
        };
        format!(
            "Medians of runs. {pairs}Difference and interval: the estimate of Hodges and Lehmann, 95 % sure{level}. p: {test}, corrected for the \
             {} figures that vary (Holm). Better and worse: p below 0.05, and by more than {} % and, of a latency, 1 ms; the same: all of \
             the interval is within that. The effect, where one was found: how often a run of the one is above or below one of the other.",
            self.judged_with,
            crate::text::figure::short(percent),
        )
    }

    /// What the runs of both sides have in common.
    fn together(&self) -> Option<String> {
        let Pairing { pairs, identical } = &self.pairing;
        match (pairs.len(), *identical) {
            (1.., _) if self.pairing.is_identical() => Some(
                "Every run of the one is identical with a run of the other, to the last digit of every figure: nothing differs."
                    .to_owned(),
            ),
            (0, 1..) => Some(format!(
                "Both sides have {}, to the last digit of every figure: the sides are not independent.",
                match identical {
                    1 => "one identical run".to_owned(),
                    count => format!("{count} identical runs"),
                }
            )),
            (1.., 1..) => Some(format!("From the same seeds, and {identical} of the {} pairs are identical, to the last digit of every figure.", pairs.len())),
            (1.., 0) => Some("From the same seeds: the runs are compared in pairs.".to_owned()),
            (0, 0) => None,
        }
    }

    /// A key that differs.
    fn changed(differing: &Differing) -> String {
        let key = sanitise(&differing.key);
        let shown = |value: &str| truncate(&sanitise(value), 40);
        match (&differing.baseline, &differing.value) {
            (Some(baseline), Some(value)) => format!("{key} {} → {}", shown(baseline), shown(value)),
            (Some(baseline), None) => format!("{key} {} → nothing", shown(baseline)),
            (None, Some(value)) => format!("{key} nothing → {}", shown(value)),
            (None, None) => key,
        }
    }
}

/// A name as a column's heading.
pub(super) fn heading(name: &str) -> String {
    truncate(&sanitise(name), NAME)
}
