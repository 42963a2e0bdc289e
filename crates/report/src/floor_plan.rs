//! A floor plan as an SVG: one panel for each floor, with walls, access points, stations, their paths
//! and the coverage of the strongest access point. The drawing of a run also has its events, and
//! the places at which operations missed their goal.
//!
//! Pure functions of a description and a theme.

mod canvas;
mod coverage;
mod labels;
mod legend;
mod markers;
mod scale;

use crate::chart::Theme;
use canvas::Canvas;
use netburn_analysis::floor_plan::{Floor, FloorPlan, model_name};
use netburn_analysis::view::{Mark, Misses};
use netburn_medium::config::Band;
use scale::{Frame, Panel};

/// A floor plan, and the events of a run.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// Identifier in the page: lower-case letters, digits and `-`.
    pub id: &'a str,
    /// Heading.
    pub title: &'a str,
    /// The building.
    pub plan: &'a FloorPlan,
    /// Colour of each station of the plan, as in the charts: its index into the hues.
    pub colours: &'a [usize],
    /// Events of stations. Those without a position are not drawn.
    pub marks: &'a [Mark],
    /// Places at which operations missed their goal.
    pub misses: &'a [Misses],
}

/// Height of the heading of a panel.
const HEADING: f64 = 24.0;
/// Height of the title of a file.
const TITLE: f64 = 26.0;
/// Height of the axis below a panel.
const AXIS: f64 = 44.0;

/// The drawing as an SVG document without a prologue. Foreign text is escaped, and nothing refers to
/// other documents. The highest floor is at the top.
#[must_use]
pub fn svg(drawing: &Drawing<'_>, theme: Theme) -> String {
    let frame = Frame::new(drawing.plan);
    let title = if theme == Theme::File { TITLE } else { 0.0 };
    let legend = legend::entries(drawing);
    let panels = drawing.plan.floors.len() as f64 * (HEADING + frame.height + AXIS);
    let height = title + panels + legend::height(&legend);
    let mut canvas = Canvas::new(drawing.id, drawing.title, &description(drawing), theme, height);
    let mut top = title;
    for floor in drawing.plan.floors.iter().rev() {
        panel(&mut canvas, drawing, floor, &Panel::new(frame, top + HEADING));
        top += HEADING + frame.height + AXIS;
    }
    legend::draw(&mut canvas, &legend, top);
    canvas.finish()
}

/// One floor.
fn panel(canvas: &mut Canvas, drawing: &Drawing<'_>, floor: &Floor, panel: &Panel) {
    let several = drawing.plan.floors.len() > 1;
    let heading = match (several, floor.number) {
        (true, number) => format!("Floor {number}"),
        (false, _) => String::new(),
    };
    canvas.text(scale::LEFT, panel.top - 8.0, "start", canvas.theme().ink(), &heading);
    coverage::draw(canvas, drawing.plan, floor, panel);
    axes(canvas, panel);
    for wall in &floor.walls {
        let [from, to] = [wall.from, wall.to].map(|at| panel.point(at));
        canvas.line(from, to, canvas.theme().ink(), 3.0);
    }
    markers::draw(canvas, drawing, floor.number, panel);
}

/// Frame, ticks in metres and scale bar.
fn axes(canvas: &mut Canvas, panel: &Panel) {
    let frame = panel.frame;
    let (left, top, right, bottom) = panel.edges();
    let grid = canvas.theme().grid();
    canvas.outline(left, top, right - left, bottom - top, grid);
    let step = frame.tick();
    for metres in scale::ticks(frame.south_west.0, frame.north_east.0, step) {
        let x = panel.x(metres * 1_000);
        canvas.line((x, bottom), (x, bottom + 4.0), grid, 1.0);
        canvas.quiet(x, bottom + 16.0, "middle", &metres.to_string());
    }
    for metres in scale::ticks(frame.south_west.1, frame.north_east.1, step) {
        let y = panel.y(metres * 1_000);
        canvas.line((left - 4.0, y), (left, y), grid, 1.0);
        canvas.quiet(left - 7.0, y + 4.0, "end", &metres.to_string());
    }
    canvas.quiet(left, bottom + 34.0, "start", "Axes in metres");
    let bar = frame.bar();
    let length = frame.pixels(bar * 1_000);
    let (from, y) = (right - length, bottom + 30.0);
    let ink = canvas.theme().ink();
    canvas.line((from, y), (right, y), ink, 2.0);
    for x in [from, right] {
        canvas.line((x, y - 4.0), (x, y + 4.0), ink, 2.0);
    }
    canvas.text(from - 8.0, y + 4.0, "end", ink, &format!("{bar} m"));
}

/// Description for readers who cannot see the picture.
fn description(drawing: &Drawing<'_>) -> String {
    let plan = drawing.plan;
    let aps: Vec<String> = plan
        .aps
        .iter()
        .map(|ap| format!("{} at {}", ap.name, ap.position))
        .collect();
    let stations = plan.stations.iter().map(|station| match station.way.legs() {
        [] => format!("{} at {}", station.name, station.way.first()),
        [.., last] => format!("{} from {} to {}", station.name, station.way.first(), last.to),
    });
    let stations: Vec<String> = stations.collect();
    let mut text = format!("Floor plan. Access points: {}. {}", first(&aps), coverage_note(plan));
    if !stations.is_empty() {
        text.push_str(&format!(" Stations: {}.", first(&stations)));
    }
    text
}

/// Explanation of the colours.
#[must_use]
pub fn coverage_note(plan: &FloorPlan) -> String {
    format!(
        "Colours: signal of the strongest access point in {} by {}, without shadowing and fading, in cells of {} m.",
        band_name(plan.band),
        model_name(plan.model),
        scale::metres(plan.cell)
    )
}

/// Frequency of a band.
const fn band_name(band: Band) -> &'static str {
    match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
        Band::Ghz6 => "6 GHz",
    }
}

/// The first few items as a list.
fn first(items: &[String]) -> String {
    match items.len() {
        ..=8 => items.join("; "),
        more => format!("{}; and {} more", items[..8].join("; "), more - 8),
    }
}

#[cfg(test)]
mod tests;
