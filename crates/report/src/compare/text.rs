//! A comparison for a terminal.

use super::two::{Comparison, Held};
use super::written::{counts, effect, interval, probability, runs, share, signed, value, what};
use crate::ground::sentence;
use crate::paint::{Tone, paint};
use crate::plain::{sanitise, truncate, wrap};
use crate::table::{Cell, left, render, right};
use netburn_stats::judge::FEWEST;

/// The widest name of a side in a heading.
const NAME: usize = 18;

/// The most keys of the scenario that are listed.
const DIFFERING: usize = 12;

impl Comparison {
    /// As lines of about `width` columns, with colours where `colour`.
    #[must_use]
    pub fn text(&self, width: usize, colour: bool) -> String {
        let mut lines = Vec::new();
        if let Some(ground) = self.these.ground() {
            lines.extend(wrap(sentence(ground), width, ""));
            lines.push(String::new());
        }
        lines.extend(wrap(&self.top(colour), width, "  "));
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
        let mut text = lines.join("\n");
        text.push('\n');
        text
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
            let ground = side.ground().map_or("nowhere", |ground| ground.name());
            format!("{} of {} on {ground}", runs(side.runs.len()), sanitise(side.scenario()))
        };
        let mut lines = vec![format!("{}, against {}", side(&self.these), side(&self.against))];
        if let Some([these, against]) = self.grounds() {
            lines.push(format!(
                "Other grounds: {} against {}. What differs may be what the grounds are, not what was changed.",
                these.name(),
                against.name()
            ));
        }
        for side in [&self.these, &self.against] {
            if side.mixed {
                lines.push(format!(
                    "{} mixes runs of different scenarios or grounds: its median is of all of them together. `--ranked` holds \
                     each against the others.",
                    sanitise(&side.name)
                ));
            }
        }
        match &self.differing {
            Some(differing) if differing.is_empty() => {
                lines.push("The scenarios are the same, but for their seeds.".to_owned())
            }
            Some(differing) => {
                let shown = |value: &Option<String>| {
                    value
                        .as_ref()
                        .map_or("nothing".to_owned(), |v| truncate(&sanitise(v), 40))
                };
                let each = differing.iter().take(DIFFERING);
                let mut each: Vec<String> = each
                    .map(|d| format!("{} {} → {}", sanitise(&d.key), shown(&d.baseline), shown(&d.value)))
                    .collect();
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
            right("95 % INTERVAL").apart(),
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
            effect(contrast.effect).into(),
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

    /// What it rests on, and what would tell more.
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
            Some(_) if fewest < FEWEST => lines.push(format!(
                "Fewer than {FEWEST} runs of a side tell nothing: run both with --repeat {}.",
                self.too_few().unwrap_or(FEWEST)
            )),
            Some(needed) => lines.push(format!(
                "With {fewest} runs of a side none of {} figures can be told better or worse: {needed} of each can (--repeat {needed}).",
                self.judged_with
            )),
            None => {}
        }
        let percent = self.options.tolerance.map_or(5.0, |share| share * 100.0);
        lines.push(format!(
            "Medians of runs. The interval of their difference: {} draws that resample runs, seed {}. p: Mann and Whitney's rank \
             test, corrected for {} figures (Holm). Better and worse: p below 0.05, and by more than {} % and, of a latency, 1 ms; \
             the same: all of the interval is within that. The effect: how often a run of {} is above or below one of {}.",
            self.options.draws,
            self.options.seed.0,
            self.judged_with,
            crate::text::figure::short(percent),
            sanitise(&self.these.name),
            sanitise(&self.against.name),
        ));
        lines
    }
}

/// A name as a column's heading.
pub(super) fn heading(name: &str) -> String {
    truncate(&sanitise(name), NAME)
}
