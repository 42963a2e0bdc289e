//! Floor plan of a run, and a table of the roams.

use super::{cells, escaped};
use crate::chart::{Theme, Unit};
use crate::floor_plan::{self, Drawing};
use crate::run_charts::station_colours;
use netburn_analysis::floor_plan::FloorPlan;
use netburn_analysis::view::{Mark, View};
use netburn_record::LinkChange;
use netburn_units::Instant;

/// Maximum number of roams that are listed.
const MAX_ROAMS: usize = 40;

/// The floor plan with the events, and the roams; empty without positions.
pub(super) fn floor(view: &View) -> String {
    let Some(floor) = &view.floor else {
        return String::new();
    };
    let title = "Coverage, paths, and events of the stations' links";
    let drawing = Drawing {
        id: "floor-plan",
        title,
        plan: &floor.plan,
        colours: &station_colours(view),
        marks: &view.marks,
        misses: &floor.misses,
    };
    let mut out = format!(
        "<figure class=\"chart\" id=\"floor-plan\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n\
         <div class=\"static\">{}</div>\n</figure>\n",
        escaped(title),
        "Positions are those of the scenario. An event is drawn at the position of its station at its start.",
        floor_plan::svg(&drawing, Theme::Page)
    );
    out.push_str(&roams(view, &floor.plan));
    out
}

/// The roams in order of time; empty without any.
fn roams(view: &View, plan: &FloorPlan) -> String {
    let runs = view.marks.iter().any(|mark| mark.run.is_some());
    let rows: Vec<Vec<String>> = view
        .marks
        .iter()
        .filter_map(|mark| row(view, plan, mark, runs))
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut head = vec!["station", "time", "position", "from", "to", "gap"];
    if runs {
        head.push("run");
    }
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let shown = &rows[..rows.len().min(MAX_ROAMS)];
    let more = match rows.len() - shown.len() {
        0 => String::new(),
        left => format!("<p class=\"note\">{left} more roams are in the record.</p>\n"),
    };
    format!("{}\n{more}", cells("Roams", &head, shown))
}

/// Row of an event that is a roam.
fn row(view: &View, plan: &FloorPlan, mark: &Mark, runs: bool) -> Option<Vec<String>> {
    let Some(LinkChange::Roamed { from, to }) = &mark.change else {
        return None;
    };
    let station = mark.station?;
    let at = Instant::from_nanos((mark.at_s * 1e9).round() as i64);
    let known = |radio: &Option<String>| radio.clone().unwrap_or_else(|| "unknown".to_owned());
    let mut row = vec![
        view.stations.get(station)?.name.clone(),
        Unit::Seconds.write(mark.at_s),
        plan.position(station, at).map_or_else(String::new, |at| at.to_string()),
        known(from),
        known(to),
        Unit::Ms.write(mark.length_s * 1_000.0),
    ];
    if runs {
        row.push(mark.run.map_or_else(String::new, |run| run.to_string()));
    }
    Some(row)
}
