//! Reports and comparisons, rendered from the records. A `report.html` in a run's folder is not trusted and not served.

use netburn_analysis::View;
use netburn_analysis::compare::{Comparison, Options, Side, name};
use netburn_record::run_list::{State, inspect};
use netburn_record::{Error, Run};
use netburn_report::{compare, html};
use std::path::Path;

/// Format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Page for a browser.
    Html,
    /// Document for programs.
    Json,
}

/// Error of a report or a comparison.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RenderError {
    /// The run was interrupted, and its record is not finished.
    #[error("this run was interrupted; recover its results first")]
    Unfinished,
    #[error(transparent)]
    Record(#[from] Error),
}

/// Report of a run as HTML.
pub(crate) fn report(folder: &Path) -> Result<Vec<u8>, RenderError> {
    check_finished(folder)?;
    Ok(html::report(&View::open(folder)?).into_bytes())
}

/// Comparison of the first run with the second one, the baseline.
pub(crate) fn comparison([a, b]: [&Path; 2], format: Format) -> Result<Vec<u8>, RenderError> {
    let (mut candidate, mut baseline) = (side(a)?, side(b)?);
    name(&mut [&mut candidate, &mut baseline]);
    let compared = Comparison::new(candidate, baseline, Options::default());
    Ok(match format {
        Format::Json => {
            serde_json::to_vec(&compare::json::comparison(&compared)).expect("all keys of a comparison are strings")
        }
        Format::Html => compare::html::comparison(&compared, &[View::open(a)?], &[View::open(b)?]).into_bytes(),
    })
}

fn side(folder: &Path) -> Result<Side, RenderError> {
    check_finished(folder)?;
    let (run, _) = Run::open_partly(folder)?;
    let mut side = Side::new("");
    side.add(&run);
    Ok(side)
}

/// Rejects runs in progress and interrupted runs.
fn check_finished(folder: &Path) -> Result<(), RenderError> {
    match inspect(folder).map(|listed| listed.state) {
        Some(State::Unfinished) => Err(RenderError::Unfinished),
        Some(State::Live) => Err(Error::Live(folder.to_owned()).into()),
        _ => Ok(()),
    }
}
