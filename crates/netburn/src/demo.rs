//! `netburn demo`: a slow network, its cause, and the change that helps most.

use crate::args::DemoArgs;
use crate::exit::{self, CliError, ExitStatus};
use crate::page;
use crate::plan::{self, Chosen, wrong};
use crate::record::unopened;
use crate::remedies::simulate_changes;
use crate::run::{environment, is_interrupted, recorded};
use crate::terminal::{TerminalStyle, eprint_message, print_stdout, stderr_columns};
use netburn_analysis::View;
use netburn_record::{Summary, UnixTime, make_folder};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_runner::RunError;
use netburn_scenario::{Document, Environment};
use netburn_study::demo::{self, SIMULATIONS, text};
use netburn_study::whatif::{Answer, Answers, Change, best, repeated, what_ifs};
use std::path::{Path, PathBuf};

/// Maximum width of the text in columns.
const WIDTH: usize = 90;
/// Minimum width of the text in columns. A narrower terminal wraps the lines.
const MIN_WIDTH: usize = 40;
/// Names of the two runs and their folders.
const BEFORE: &str = "before";
const AFTER: &str = "after";
/// End of the name of a folder whose run was simulated instead of a run in the lab.
const INSTEAD_OF_LAB: &str = "-simulated";
/// Name of the page in the folder of the demonstration.
const FILE: &str = "demo.html";

/// `netburn demo`.
pub(crate) fn demo(args: &DemoArgs) -> Result<ExitStatus, CliError> {
    let document = demo::document(args.seed).map_err(wrong)?;
    let chosen = plan::chosen(&document, args.on.map(Into::into))?;
    announce(&chosen);
    let folder = make_folder(&args.out.clone().unwrap_or_else(default_folder)).map_err(RunError::Create)?;
    let mut stage = Stage {
        first: chosen.environment,
        on: chosen.environment,
        folder: folder.clone(),
    };
    let look = TerminalStyle::for_stdout();
    let style = text::Style {
        width: look.width.clamp(MIN_WIDTH, WIDTH),
        colour: look.colour,
    };

    let before = stage.run(&document, chosen, BEFORE)?;
    print_stdout(&text::problem(&before.view.summary, &before.view.explanation, style))?;

    let answers = simulated(&document, &before.view)?;
    let best = best(&answers);
    print_stdout(&text::changes(&answers, best, style))?;
    let page = match best {
        Some(applied) => {
            let [before, after] = stage.with_change(&document, applied, before)?;
            let summaries = [&before.view.summary, &after.view.summary];
            print_stdout(&text::result(
                summaries[0],
                summaries[1],
                applied,
                &before.view.explanation,
                style,
            ))?;
            let path = folder.join(FILE);
            write(&path, &[before, after], &answers, applied)?;
            path
        }
        None => before.page,
    };
    eprint_message(&format!("saved to {}", folder.display()));
    print_stdout(&next_steps(&page))?;
    Ok(ExitStatus::Success)
}

/// Prints the environment with the reason for it, and how long the lab takes.
fn announce(chosen: &Chosen) {
    if let Some(why) = &chosen.why {
        note(why);
    }
    if chosen.environment == Environment::Lab {
        note("The demo takes about 80 s in the lab. All of its traffic stays within this machine.");
    }
}

/// Prints a message on standard error.
fn note(text: &str) {
    print_wrapped(text, "");
}

/// Prints an item of a list on standard error.
fn note_item(text: &str) {
    print_wrapped(&format!("- {text}"), "  ");
}

/// Prints lines on standard error. Those after the first are indented.
fn print_wrapped(text: &str, indent: &str) {
    let width = stderr_columns().map_or(WIDTH, |columns| columns.min(WIDTH));
    eprint_message(&wrap(&sanitise(text), width, indent).join("\n"));
}

/// A run of the demonstration.
struct Shown {
    view: View,
    /// Page of the run.
    page: PathBuf,
}

/// Environment and folder of the runs.
struct Stage {
    /// Environment of the first run.
    first: Environment,
    /// Environment of the next run.
    on: Environment,
    folder: PathBuf,
}

impl Stage {
    /// Runs the scenario. If the results of the lab are unreliable, the run is simulated, and so are the next ones.
    fn run(&mut self, document: &Document, chosen: Chosen, name: &str) -> Result<Shown, CliError> {
        let lab = chosen.environment == Environment::Lab;
        let shown = self.recorded(document, chosen, name)?;
        if is_reliable(&shown.view) {
            return Ok(shown);
        }
        let reasons = reasons(&shown.view.summary);
        if !lab {
            let list = reasons.iter().map(|reason| format!("\n- {}", sanitise(reason)));
            let list: String = list.collect();
            return Err(CliError::Failed(format!("the results are unreliable:{list}")));
        }
        note("The results of the lab are unreliable:");
        for reason in &reasons {
            note_item(reason);
        }
        note(&format!(
            "The demo continues in the simulator. The names of the folders of these runs end in `{INSTEAD_OF_LAB}`. For \
             results of the lab, run the demo again on an idle machine."
        ));
        self.on = Environment::Simulate;
        self.recorded(document, Chosen::requested(self.on), name)
    }

    /// Runs the scenario with a change. Returns both runs, which are of one environment.
    fn with_change(&mut self, document: &Document, applied: &Answer, before: Shown) -> Result<[Shown; 2], CliError> {
        let on = self.on;
        let changed = demo::changed(document, &applied.what_if).map_err(wrong)?;
        let after = self.run(&changed, Chosen::requested(on), AFTER)?;
        if self.on == on {
            Ok([before, after])
        } else {
            Ok([self.run(document, Chosen::requested(self.on), BEFORE)?, after])
        }
    }

    fn recorded(&self, document: &Document, chosen: Chosen, name: &str) -> Result<Shown, CliError> {
        let instead = self.first == Environment::Lab && chosen.environment == Environment::Simulate;
        let folder = self.folder.join(if instead {
            format!("{name}{INSTEAD_OF_LAB}")
        } else {
            name.to_owned()
        });
        let (plan, _) = plan::resolved(document, chosen.environment)?;
        let done = recorded(&plan, &*environment(chosen, None)?, &folder)?;
        let path = done.run.path();
        if is_interrupted(&done) {
            return Err(CliError::Failed(format!(
                "interrupted; the rows so far are in {}",
                path.display()
            )));
        }
        let view = View::open(path).map_err(|error| unopened(path, error))?;
        let page = page::keep(path, &view).unwrap_or_else(|| path.join(page::FILE));
        Ok(Shown { view, page })
    }
}

/// Returns whether no station is inconclusive.
fn is_reliable(view: &View) -> bool {
    exit::of_run(&view.summary, false, None) == ExitStatus::Success
}

/// Reasons for which results are unreliable, each once.
fn reasons(summary: &Summary) -> Vec<String> {
    let stations = summary.stations.iter().flat_map(|station| &station.reasons);
    let all = summary
        .reasons
        .iter()
        .chain(&summary.self_check.reasons)
        .chain(stations);
    let mut texts: Vec<String> = all.map(ToString::to_string).collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Simulates the changes that could remove the causes of a run.
fn simulated(document: &Document, before: &View) -> Result<Answers, CliError> {
    let (plan, _) = plan::resolved(document, Environment::Simulate)?;
    let proposed = what_ifs(&plan, &before.summary, &before.explanation.causes);
    let changes = proposed.what_ifs.into_iter().map(Change::from).collect();
    simulate_changes(&repeated(&plan, SIMULATIONS.into()), changes, None)?
        .map_err(|error| CliError::Failed(error.to_string()))
}

/// Writes the page of both runs.
fn write(path: &Path, runs: &[Shown; 2], answers: &Answers, applied: &Answer) -> Result<(), CliError> {
    let links = runs.each_ref().map(|run| relative(&run.page));
    let html = demo::page(
        runs.each_ref().map(|run| &run.view),
        answers,
        applied,
        links.each_ref().map(String::as_str),
    );
    page::whole(path, html.as_bytes()).map_err(|error| CliError::Failed(format!("{}: {error}", path.display())))
}

/// Path of the page of a run from the folder of the demonstration.
fn relative(page: &Path) -> String {
    let mut parts = page.components().rev().map(|part| part.as_os_str().to_string_lossy());
    let (file, run) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{run}/{file}")
}

/// The last lines: what to do next.
fn next_steps(page: &Path) -> String {
    let open = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    format!(
        "\nNext:\n  Test your own Wi-Fi:  netburn ui\n  Open the page:        {open} {}\n  \
         Describe your home:   netburn init home.toml\n",
        sanitise(&page.display().to_string())
    )
}

fn default_folder() -> PathBuf {
    PathBuf::from("runs").join(format!("{}-demo", UnixTime::now().for_file_name()))
}
