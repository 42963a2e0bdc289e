//! Reports of runs: text, pages and charts. It also renders comparisons, likely causes, and the live view of a run in
//! progress. This crate renders; `analysis` computes.
//!
//! Modules, from the top:
//!
//! - [`text`](mod@text): a [`Summary`](netburn_record::Summary) as text: environment, verdicts and reasons; familiar grades.
//! - [`html`] – self-contained pages.
//! - [`markdown`](mod@markdown): a report as Markdown, for CI.
//! - [`causes`] – likely causes as text.
//! - [`next_step`] – what to do after a measurement for a fit.
//! - [`live`] – current values of every station: a pure model, and a thin shell that draws it.
//! - [`run_list`] – a list of runs.
//! - [`before_after`] – two runs of one scenario side by side.
//! - [`compare`] – comparisons of runs as text, JSON and pages.
//! - [`decode`] – a decoded speed rating as JSON.
//! - [`environment`] – the sentence about the environment with which every output begins.
//! - [`run_charts`] – the charts of a run. [`chart`]: one chart as plain data, drawn as SVG, PNG and tables.
//! - [`floor_plan`] – the building of a scenario with its coverage, and the events of a run in it.
//! - [`week`] – the map of a week.
//! - [`table`] – columns that fit a width. [`style`]: colours. [`sanitise`]: text without control characters.

mod access_points;
pub mod before_after;
pub mod causes;
pub mod chart;
pub mod compare;
pub mod decode;
pub mod environment;
pub mod floor_plan;
pub mod html;
pub mod live;
pub mod markdown;
pub mod next_step;
pub mod remedies;
pub mod run_charts;
pub mod run_list;
pub mod sanitise;
pub mod style;
pub mod table;
mod tables;
pub mod text;
pub mod timeline;
pub mod week;

pub use live::Live;
pub use markdown::markdown;
pub use text::text;

/// Width of standard output in columns; `None` if it is no terminal.
#[must_use]
pub fn columns_of_stdout() -> Option<usize> {
    columns(&console::Term::stdout())
}

/// Width of standard error in columns; `None` if it is no terminal.
#[must_use]
pub fn columns_of_stderr() -> Option<usize> {
    columns(&console::Term::stderr())
}

fn columns(term: &console::Term) -> Option<usize> {
    let (_, columns) = term.size_checked()?;
    term.is_term().then_some(usize::from(columns))
}
