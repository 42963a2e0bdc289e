//! Reports and comparisons, made anew from the records: a file in a run's folder may be anybody's.

use netburn_record::runs::{State, inspect};
use netburn_record::{Error, Run};
use netburn_report::compare::{Comparison, Options, Side, name};
use netburn_report::{View, html};
use std::path::Path;

/// What a comparison is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Page,
    /// For programs.
    Document,
}

/// Why there is nothing to show.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotShown {
    /// Nobody asked for it to be finished.
    #[error("this run was cut short, and is shown once its record is brought back")]
    Left,
    #[error(transparent)]
    Record(#[from] Error),
}

/// A run's report as a page.
pub(crate) fn report(folder: &Path) -> Result<Vec<u8>, NotShown> {
    left_alone(folder)?;
    Ok(html::report(&View::open(folder)?).into_bytes())
}

/// What the first made better or worse than the second.
pub(crate) fn comparison([a, b]: [&Path; 2], form: Form) -> Result<Vec<u8>, NotShown> {
    let (mut these, mut against) = (side(a)?, side(b)?);
    name(&mut [&mut these, &mut against]);
    let compared = Comparison::new(these, against, Options::default());
    Ok(match form {
        Form::Document => serde_json::to_vec(&compared.json()).expect("a comparison has only text for keys"),
        Form::Page => compared.html(&[View::open(a)?], &[View::open(b)?]).into_bytes(),
    })
}

fn side(folder: &Path) -> Result<Side, NotShown> {
    left_alone(folder)?;
    let (run, _) = Run::open_partly(folder)?;
    let mut side = Side::new("");
    side.add(&run);
    Ok(side)
}

/// Opening a record that was left would finish it; that is for whoever asks for it.
fn left_alone(folder: &Path) -> Result<(), NotShown> {
    match inspect(folder).map(|listed| listed.state) {
        Some(State::Unfinished) => Err(NotShown::Left),
        Some(State::Live) => Err(Error::Live(folder.to_owned()).into()),
        _ => Ok(()),
    }
}
