//! Legend below the panels.

use super::canvas::Canvas;
use super::coverage::{self, CLASSES};
use super::labels::text_width;
use super::markers::{self, Sign};
use super::scale::WIDTH;
use super::{Drawing, coverage_note};

/// Height of a line.
const LINE: f64 = 20.0;
/// Left edge.
const LEFT: f64 = 8.0;
/// Width of a symbol with the gap behind it.
const SYMBOL: f64 = 26.0;

/// Symbol of an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Symbol {
    /// Class of the coverage; the last one has no colour.
    Class(usize),
    Border,
    Wall,
    AccessPoint,
    Station,
    Path,
    Sign(Sign),
    Missed,
    /// A line of text.
    Note,
}

/// An entry with its position; `line` counts from 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    symbol: Symbol,
    text: String,
    x: f64,
    line: usize,
}

/// Entries of a drawing: only symbols that it has.
pub(super) fn entries(drawing: &Drawing<'_>) -> Vec<Entry> {
    let plan = drawing.plan;
    let mut wanted: Vec<(Symbol, String)> = Vec::new();
    let cells = || plan.floors.iter().flat_map(|floor| &floor.coverage);
    for class in 0..=CLASSES.len() {
        if cells().any(|cell| coverage::class(cell.dbm) == class) {
            wanted.push((Symbol::Class(class), coverage::class_name(class)));
        }
    }
    let mut part = |is_present: bool, symbol: Symbol, text: &str| {
        if is_present {
            wanted.push((symbol, text.to_owned()));
        }
    };
    let first = cells().next().map(|cell| cell.transmitter);
    part(
        cells().any(|cell| Some(cell.transmitter) != first),
        Symbol::Border,
        "another access point is the strongest",
    );
    part(
        plan.floors.iter().any(|floor| !floor.walls.is_empty()),
        Symbol::Wall,
        "wall",
    );
    part(true, Symbol::AccessPoint, "access point");
    part(!plan.stations.is_empty(), Symbol::Station, "station");
    let moves = plan.stations.iter().any(|station| !station.way.legs().is_empty());
    part(
        moves,
        Symbol::Path,
        "path of a station, with the time since the start of the load",
    );
    for sign in Sign::ALL {
        part(markers::has(drawing, sign), Symbol::Sign(sign), sign.name());
    }
    part(!drawing.misses.is_empty(), Symbol::Missed, "missed latency goal");
    let mut placed = flow(wanted);
    let line = placed.last().map_or(0, |last: &Entry| last.line + 1);
    placed.push(Entry {
        symbol: Symbol::Note,
        text: coverage_note(plan),
        x: LEFT,
        line,
    });
    placed
}

/// Arranges entries in lines. The signs of the building begin a new line after the colours.
fn flow(entries: Vec<(Symbol, String)>) -> Vec<Entry> {
    let (mut x, mut line) = (LEFT, 0);
    let mut was_class = true;
    let placed = entries.into_iter().map(|(symbol, text)| {
        let is_class = matches!(symbol, Symbol::Class(_));
        let takes = SYMBOL + text_width(&text) + 14.0;
        let is_full = x > LEFT && x + takes > WIDTH;
        if is_full || was_class != is_class {
            (x, line) = (LEFT, line + 1);
        }
        was_class = is_class;
        let at = x;
        x += takes;
        Entry {
            symbol,
            text,
            x: at,
            line,
        }
    });
    placed.collect()
}

/// Height of the entries in pixels.
pub(super) fn height(entries: &[Entry]) -> f64 {
    entries.last().map_or(0.0, |last| (last.line + 1) as f64 * LINE + 8.0)
}

/// Draws the entries.
pub(super) fn draw(canvas: &mut Canvas, entries: &[Entry], top: f64) {
    let theme = canvas.theme();
    for Entry { symbol, text, x, line } in entries {
        let y = top + *line as f64 * LINE + 10.0;
        let middle = (x + 9.0, y);
        let stroke = format!("M{x:.1} {y:.1}h18");
        match symbol {
            Symbol::Class(class) => {
                let area = format!("M{x:.1} {:.1}h18v12h-18z", y - 6.0);
                coverage::swatch(canvas, &area, *class);
                canvas.outline(*x, y - 6.0, 18.0, 12.0, theme.grid());
            }
            Symbol::Border => canvas.dashes(&stroke, theme.ink()),
            Symbol::Wall => canvas.line((*x, y), (x + 18.0, y), theme.ink(), 3.0),
            Symbol::AccessPoint => markers::access_point(canvas, middle, ""),
            Symbol::Station => markers::station(canvas, middle, 1, ""),
            Symbol::Path => {
                canvas.way(&stroke, &theme.hue(1));
                markers::dot(canvas, middle, 1);
            }
            Symbol::Sign(sign) => markers::event(canvas, middle, *sign, ""),
            Symbol::Missed => markers::missed(canvas, middle, ""),
            Symbol::Note => {
                canvas.quiet(*x, y + 4.0, "start", text);
                continue;
            }
        }
        canvas.text(x + SYMBOL, y + 4.0, "start", theme.ink(), text);
    }
}
