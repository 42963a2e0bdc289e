//! A list of runs as text.

use crate::sanitise::sanitise;
use crate::table::{Cell, left, render};
use netburn_record::run_list::{RunEntry, State};
use netburn_record::{Environment, UnixTime};

/// A table with a row per run, then a line per unreadable or unfinished folder.
#[must_use]
pub fn text(listed: &[RunEntry], width: usize, colour: bool) -> String {
    let rows: Vec<Vec<Cell>> = listed
        .iter()
        .map(|run| {
            vec![
                sanitise(&run.path.display().to_string()).into(),
                match &run.state {
                    State::Finished(of) => Cell::verdict(*of, false),
                    State::Live => "running".to_owned().into(),
                    State::Unfinished => "unfinished".to_owned().into(),
                    State::Unreadable(_) => "unreadable".to_owned().into(),
                },
                run.environment.map_or("–", Environment::name).to_owned().into(),
                sanitise(run.scenario.as_deref().unwrap_or("–")).into(),
                run.at.map_or_else(|| "–".to_owned(), UnixTime::rfc3339).into(),
            ]
        })
        .collect();
    let columns = [left("RUN"), left("VERDICT"), left("ON"), left("SCENARIO"), left("TIME")];
    let mut lines = render(&columns, &rows, 1, width, colour);
    for run in listed {
        let path = sanitise(&run.path.display().to_string());
        match &run.state {
            // Most reasons name the folder themselves.
            State::Unreadable(why) if sanitise(why).contains(&path) => lines.push(sanitise(why)),
            State::Unreadable(why) => lines.push(format!("{path}: {}", sanitise(why))),
            State::Unfinished => lines.push(format!("{path}: run `netburn report` on it to recover its results")),
            State::Finished(_) | State::Live => {}
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
