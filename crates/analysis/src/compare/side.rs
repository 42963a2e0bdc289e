//! One side of a comparison: the summaries of its runs.

use super::methods::{Methods, Origin};
use netburn_record::{Environment, Run, Summary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The runs of one side, of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name: that of its first folder.
    pub name: String,
    /// Folders or files of its runs.
    pub sources: Vec<String>,
    /// One summary per run: each repeat is a run.
    pub runs: Vec<Summary>,
    /// The scenario with every default filled in, if it is known.
    pub plan: Option<Value>,
    /// True if its sources have several scenarios or environments.
    pub mixed: bool,
    /// Methods by which its workloads were measured, as far as they are known.
    pub methods: Methods,
    /// Programs that measured its runs.
    pub origins: BTreeSet<Origin>,
}

impl Side {
    /// A side without runs yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Side {
            name: name.to_owned(),
            sources: Vec::new(),
            runs: Vec::new(),
            plan: None,
            mixed: false,
            methods: Methods::default(),
            origins: BTreeSet::new(),
        }
    }

    /// Seeds of its runs, in order.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        let mut seeds: Vec<u64> = self.runs.iter().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds
    }

    /// Adds a run folder. Each of its repeats is a run.
    pub fn add(&mut self, run: &Run) {
        let plan = seedless(run.header().plan.to_json());
        self.methods.add(run);
        let origin = match &run.header().source {
            Some(source) => Origin::Program(source.program.clone()),
            None => Origin::Netburn,
        };
        self.add_summary_of(run.path(), run.summary(), Some(plan), origin);
    }

    /// Adds a summary from `source`. With `--repeat` each of its repeats is a run. The summary of an imported run does not
    /// name the program that measured it.
    pub fn add_summary(&mut self, source: &Path, summary: &Summary, plan: Option<Value>) {
        let origin = match summary.environment {
            Environment::Imported => Origin::Unknown,
            _ => Origin::Netburn,
        };
        self.add_summary_of(source, summary, plan, origin);
    }

    /// Adds a summary of a run that a known program measured.
    pub fn add_summary_of(&mut self, source: &Path, summary: &Summary, plan: Option<Value>, origin: Origin) {
        self.origins.insert(origin);
        let one = |run: &Summary| (run.scenario.clone(), run.environment);
        match self.runs.first() {
            Some(first) => {
                // The plan of a summary file is unknown; it may be the same.
                let differ = matches!((&self.plan, &plan), (Some(mine), Some(other)) if mine != other);
                self.mixed |= one(first) != one(summary) || differ;
                self.plan = self.plan.take().or(plan);
            }
            None => self.plan = plan,
        }
        self.sources.push(source.display().to_string());
        if summary.repeats.is_empty() {
            self.runs.push(summary.clone())
        } else {
            self.runs.extend(summary.repeats.iter().cloned())
        }
    }

    /// The environment of its first run.
    #[must_use]
    pub fn environment(&self) -> Option<Environment> {
        self.runs.first().map(|run| run.environment)
    }

    /// The scenario of its first run.
    #[must_use]
    pub fn scenario(&self) -> &str {
        self.runs.first().map_or("", |run| &run.scenario)
    }
}

/// Gives each side the shortest distinct name: its folder's name, or the whole path.
pub fn name(sides: &mut [&mut Side]) {
    let short = |side: &Side| {
        let first = side.sources.first().map_or("", String::as_str);
        let own = Path::new(first).file_name();
        own.map_or_else(|| first.to_owned(), |own| own.to_string_lossy().into_owned())
    };
    let names: Vec<String> = sides.iter().map(|side| short(side)).collect();
    let twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
    for (side, name) in sides.iter_mut().zip(names) {
        side.name = match (twice, side.sources.first()) {
            (true, Some(first)) => first.clone(),
            _ => name,
        };
        if side.sources.len() > 1 {
            side.name.push_str(&format!(" +{}", side.sources.len() - 1));
        }
    }
}

/// The plan without the seed, in which runs of one scenario differ.
fn seedless(mut plan: Value) -> Value {
    if let Some(fields) = plan.as_object_mut() {
        fields.shift_remove("seed");
        fields.shift_remove("repeat");
    }
    plan
}
