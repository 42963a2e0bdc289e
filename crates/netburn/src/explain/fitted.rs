//! `netburn explain` with models that are fitted to a measurement.

use super::contract::{Contract, contracts};
use super::{agreed, announce, opening, simulate_changes};
use crate::args::{ExplainArgs, Format};
use crate::causes;
use crate::exit::{CliError, ExitStatus};
use crate::fit;
use crate::record::unopened;
use crate::terminal::{TerminalStyle, document, eprint_message, print_stdout};
use netburn_analysis::explain::{Explanation, explain as by_rules};
use netburn_analysis::measurement::is_described;
use netburn_fit::difference::{Difference, differences};
use netburn_fit::{Measurement, Models, Schedule, Settings};
use netburn_record::Run;
use netburn_report::sanitise::{sanitise, wrap};
use netburn_report::style::{Tone, paint};
use netburn_runner::pool::processors;
use netburn_scenario::{Document, Plan};
use netburn_study::twin::{self, Agreement, Attempts, Diagnosis, NoModel};
use netburn_study::whatif::{
    AnswerError, Answers, Effects, Interventions, advice, advice_json, effects, json as described, text,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Note on measurements without a hop beyond the router.
const PATH: &str = "The internet line was not measured: no probe reached a hop beyond the router, as with a server in the home. The line \
                    of the models is the path to the server.";
/// Default number of models.
const MODELS: u16 = 12;

/// A measurement to which models can be fitted.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    measurement: Measurement,
}

/// The measurement to which models are fitted: the folder of `--model`, or the run itself, if its scenario does not describe
/// the radio. `None` if there is none.
pub(super) fn source(args: &ExplainArgs, run: &Run) -> Result<Option<Source>, CliError> {
    let length = Settings::default().length;
    match args.model.as_deref().map(Path::new) {
        Some(path) if path.is_dir() => Ok(Some(Source {
            path: path.to_owned(),
            measurement: fit::observed(path)?,
        })),
        Some(_) => Ok(None),
        None if is_described(&run.header().plan)
            || Schedule::for_environment(run.header().environment, &run.header().plan).is_err() =>
        {
            Ok(None)
        }
        None => match Measurement::of_run(run, length) {
            Ok(measurement) => Ok(Some(Source {
                path: args.run.clone(),
                measurement,
            })),
            Err(error) => {
                eprint_message(&sanitise(&format!("no model is fitted: {error}")));
                Ok(None)
            }
        },
    }
}

/// The load under which the network is judged.
struct Load {
    /// Workloads, with or without a network.
    plan: Plan,
    /// One sentence.
    sentence: String,
    /// The run whose workloads they are; `None` for a household.
    is_of_run: bool,
}

fn load(run: &Run, stations: &[String]) -> Result<Load, CliError> {
    if Schedule::of_plan(&run.header().plan).is_err() {
        return Ok(Load {
            plan: run.header().plan.clone(),
            sentence: "Simulated load: that of the run.".to_owned(),
            is_of_run: true,
        });
    }
    let plan = twin::household(stations).map_err(crate::plan::wrong)?;
    Ok(Load {
        plan,
        sentence: twin::household_sentence(stations),
        is_of_run: false,
    })
}

/// Contents of an output.
struct Explained<'a> {
    source: &'a Source,
    models: &'a Models,
    load: &'a Load,
    differences: Vec<Difference>,
    contracts: Vec<Contract>,
    agreement: Option<Agreement>,
    explanation: Explanation,
    proposed: Interventions,
    answers: Option<Answers>,
}

/// `netburn explain` of a measurement, or with a measurement as its model.
pub(super) fn explain(args: &ExplainArgs, run: &Run, source: &Source) -> Result<ExitStatus, CliError> {
    let threads = args.jobs.map_or_else(processors, usize::from);
    let stations = &source.measurement.schedule.stations;
    let load = load(run, stations)?;
    let fitted = fit::models(&source.path, &source.measurement, None, args.jobs)?;
    let count = usize::from(args.runs.unwrap_or(MODELS));
    let unusable = |error: NoModel| match error {
        NoModel::Scenario(error) => crate::plan::wrong(error),
        error => CliError::Usage(sanitise(&format!(
            "{} is no measurement of the network of this run: {error}",
            source.path.display()
        ))),
    };
    let models = twin::models(&load.plan, &fitted.scenarios(count)).map_err(unusable)?;
    let likely = Document::from_toml("fit", &fitted.likeliest()).map_err(crate::plan::wrong)?;
    let likely = twin::loaded(&load.plan, &likely).map_err(unusable)?;
    let (agreement, diagnosis) = if load.is_of_run {
        (agreed(run, &models, args.jobs)?, of_run(run, likely, threads)?)
    } else {
        let explain = |run: &Run, plan: &Plan, rules: &Explanation| {
            Ok::<_, CliError>(causes::on_plan(run, plan, rules, threads)?.0)
        };
        (None, Diagnosis::of_load(&likely, &models, threads, explain)?)
    };
    let (proposed, answers) = remedies(args, &models, &diagnosis)?;
    let result = Explained {
        source,
        models: &fitted,
        load: &load,
        differences: differences(&source.measurement),
        contracts: contracts(args, &fitted),
        agreement,
        explanation: diagnosis.explanation,
        proposed,
        answers,
    };
    let effects = result.answers.as_ref().map(|answers| effects(answers, &diagnosis.plan));
    let written = match args.format {
        Format::Json => document(&result.json(run, effects.as_ref())),
        Format::Text => result.text(run, effects.as_ref()),
    };
    print_stdout(&written)?;
    Ok(ExitStatus::Success)
}

/// Causes of the missed goals of a measured run, in the likeliest model.
fn of_run(run: &Run, likely: Plan, threads: usize) -> Result<Diagnosis, CliError> {
    let rules = by_rules(run).map_err(|error| unopened(run.path(), error))?;
    announce(&rules);
    let (explanation, _) = causes::on_plan(run, &likely, &rules, threads)?;
    Ok(Diagnosis {
        plan: likely,
        summary: run.summary().clone(),
        explanation,
    })
}

/// Changes for the causes, simulated on all models. Without a change, only the models are simulated.
fn remedies(
    args: &ExplainArgs,
    models: &[Plan],
    diagnosis: &Diagnosis,
) -> Result<(Interventions, Option<Answers>), CliError> {
    let attempts = diagnosis.attempts(models, args.duration.as_deref());
    let Attempts {
        proposed,
        models,
        changes,
    } = attempts.map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(match simulate_changes(&models, changes, args.jobs)? {
        Ok(answers) => (proposed, Some(answers)),
        Err(AnswerError::Stopped) => (Interventions::not_simulated(&"stopped before the first result"), None),
        Err(error) => (Interventions::not_simulated(&error), None),
    })
}

impl Explained<'_> {
    /// Warning about the models, if they do not explain what was measured.
    fn warning(&self) -> Option<String> {
        if !self.models.explains() {
            return Some(format!(
                "the model does not explain the measurement (misfit {:.1}, where 1 is expected), so each change may act \
                 differently in your network.",
                self.models.misfit
            ));
        }
        let is_poor = self.agreement.as_ref().is_some_and(Agreement::is_poor);
        is_poor.then(|| super::POOR.to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        let stations = &self.source.measurement.schedule.stations;
        self.differences.iter().map(|one| one.sentence(stations)).collect()
    }

    fn text(&self, run: &Run, effects: Option<&Effects<'_>>) -> String {
        let look = TerminalStyle::for_stdout();
        let warning = self.warning();
        let mut parts = Vec::new();
        let heading = |text: &str| wrap(&paint(text, Tone::Heading, look.colour), look.width, "").join("\n");
        parts.push(wrap(&sanitise(&self.load.sentence), look.width, "").join("\n"));
        if let Some(effects) = effects {
            parts.push(advice(
                effects,
                &self.explanation,
                warning.as_deref(),
                look.width,
                look.colour,
            ));
        }
        if !self.models.home().has_internet_line {
            parts.push(wrap(PATH, look.width, "").join("\n"));
        }
        let sentences = self.contracts.iter().map(Contract::sentence);
        parts.extend(sentences.map(|sentence| wrap(&sentence, look.width, "").join("\n")));
        if !self.differences.is_empty() {
            let mut lines = vec![heading("Not in the model, because only these devices have it:")];
            for sentence in self.sentences() {
                lines.extend(wrap(&format!("- {}", sanitise(&sentence)), look.width, "  "));
            }
            parts.push(lines.join("\n"));
        }
        let mut details = heading("Details:");
        details.push('\n');
        let model = format!(
            "Models fitted to {}: queue of the access point {}; misfit {:.1}.",
            self.source.path.display(),
            self.models.discipline_comment(),
            self.models.misfit
        );
        details.push_str(&wrap(&sanitise(&model), look.width, "").join("\n"));
        parts.push(details);
        if let Some(agreement) = &self.agreement {
            parts.push(twin::text(agreement, look.width, look.colour));
        }
        parts.push(text(
            &self.explanation,
            &self.proposed,
            self.answers.as_ref(),
            warning.as_deref(),
            look.width,
            look.colour,
        ));
        opening(run, look.width) + &parts.join("\n\n")
    }

    /// The document of an explanation, with these further keys: `fit`, `differences`, `contract`, `effects`, `uncertain`, and
    /// for the load of a run `agreement`.
    fn json(&self, run: &Run, effects: Option<&Effects<'_>>) -> Value {
        let mut object = described(
            &run.path().to_string_lossy(),
            &self.explanation,
            &self.proposed,
            self.answers.as_ref(),
        );
        object["fit"] = json!({
            "measurement": self.source.path.display().to_string(),
            "seed": self.models.seed.0,
            "explains": self.models.explains(),
            "misfit": self.models.misfit,
            "disciplines": twin::disciplines_json(self.models),
            "load": if self.load.is_of_run { "run" } else { "household" },
        });
        let stations = &self.source.measurement.schedule.stations;
        let difference = |one: &Difference| json!({ "kind": one.name(), "station": stations[one.station()], "what": one.sentence(stations) });
        object["differences"] = self.differences.iter().map(difference).collect();
        object["contract"] = self.contracts.iter().map(Contract::json).collect();
        object["effects"] = effects.map_or(Value::Null, advice_json);
        object["uncertain"] = self.warning().is_some().into();
        if let Some(agreement) = &self.agreement {
            object["agreement"] = twin::json(agreement);
        }
        object
    }
}
