//! Colours of the coverage, and the line where the strongest access point changes.

use super::canvas::Canvas;
use super::scale::Panel;
use netburn_analysis::floor_plan::{Floor, FloorPlan};
use std::fmt::Write as _;

/// Lower limits of the classes in dBm. A further class is below the last one.
pub(super) const CLASSES: [f64; 6] = [-50.0, -60.0, -67.0, -70.0, -75.0, -82.0];

/// Opacity of each class: the stronger the signal, the stronger the colour.
const OPACITY: [f64; 6] = [0.52, 0.41, 0.31, 0.22, 0.14, 0.07];

/// Index into the hues.
const HUE: usize = 0;

/// Class of a signal in dBm: an index into [`CLASSES`], or its length for a weaker one.
pub(super) fn class(dbm: f64) -> usize {
    CLASSES.iter().position(|limit| dbm >= *limit).unwrap_or(CLASSES.len())
}

/// Name of a class in the legend.
pub(super) fn class_name(class: usize) -> String {
    match (CLASSES.get(class), CLASSES.last()) {
        (Some(limit), _) => format!("{limit:.0} dBm or more"),
        (None, Some(last)) => format!("below {last:.0} dBm"),
        (None, None) => String::new(),
    }
}

/// Draws the cells of a floor, one path for each class, and the line between the cells of different
/// access points.
pub(super) fn draw(canvas: &mut Canvas, plan: &FloorPlan, floor: &Floor, panel: &Panel) {
    let classes: Vec<usize> = floor.coverage.iter().map(|cell| class(cell.dbm)).collect();
    let edges = Edges { plan, panel };
    for wanted in 0..CLASSES.len() {
        let mut path = String::new();
        for row in 0..plan.rows {
            let cells = classes.get(row * plan.columns..(row + 1) * plan.columns).unwrap_or(&[]);
            let mut column = 0;
            for run in cells.chunk_by(|one, other| one == other) {
                if run[0] == wanted {
                    let (left, right) = (edges.x(column), edges.x(column + run.len()));
                    let (top, bottom) = (edges.y(row + 1), edges.y(row));
                    let _ = write!(path, "M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}z");
                }
                column += run.len();
            }
        }
        swatch(canvas, &path, wanted);
    }
    let border = border(plan, floor, &edges);
    if !border.is_empty() {
        canvas.dashes(&border, canvas.theme().ink());
    }
}

/// Fills a path in the colour of a class.
pub(super) fn swatch(canvas: &mut Canvas, path: &str, class: usize) {
    if let (Some(opacity), false) = (OPACITY.get(class), path.is_empty()) {
        canvas.fill(path, &canvas.theme().hue(HUE), *opacity);
    }
}

/// Edges of cells in pixels, within the panel.
struct Edges<'a> {
    plan: &'a FloorPlan,
    panel: &'a Panel,
}

impl Edges<'_> {
    fn x(&self, column: usize) -> f64 {
        let mm = self.plan.south_west.0 + self.plan.cell * column as i64;
        self.panel.x(mm.min(self.plan.north_east.0))
    }

    fn y(&self, row: usize) -> f64 {
        let mm = self.plan.south_west.1 + self.plan.cell * row as i64;
        self.panel.y(mm.min(self.plan.north_east.1))
    }
}

/// Edges between cells with different strongest access points.
fn border(plan: &FloorPlan, floor: &Floor, edges: &Edges<'_>) -> String {
    let ap = |column: usize, row: usize| {
        floor
            .coverage
            .get(row * plan.columns + column)
            .map(|cell| cell.transmitter)
    };
    let mut path = String::new();
    for column in 1..plan.columns {
        let x = edges.x(column);
        line(
            &mut path,
            plan.rows,
            |row| ap(column - 1, row) != ap(column, row),
            |path, from, to| {
                let _ = write!(path, "M{x:.1} {:.1}V{:.1}", edges.y(from), edges.y(to));
            },
        );
    }
    for row in 1..plan.rows {
        let y = edges.y(row);
        line(
            &mut path,
            plan.columns,
            |column| ap(column, row - 1) != ap(column, row),
            |path, from, to| {
                let _ = write!(path, "M{:.1} {y:.1}H{:.1}", edges.x(from), edges.x(to));
            },
        );
    }
    path
}

/// Joins neighbouring edges that are part of the line.
fn line(path: &mut String, count: usize, is_part: impl Fn(usize) -> bool, write: impl Fn(&mut String, usize, usize)) {
    let mut begin = None;
    for index in 0..=count {
        match (index < count && is_part(index), begin) {
            (true, None) => begin = Some(index),
            (false, Some(from)) => {
                write(path, from, index);
                begin = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 dBm at 10 m behind two walls: −61.4 dBm, the class from −67 dBm on.
    #[test]
    fn classes_include_their_limit() {
        for (dbm, limit) in [
            (-26.8, Some(-50.0)),
            (-50.0, Some(-50.0)),
            (-50.01, Some(-60.0)),
            (-61.4, Some(-67.0)),
            (-67.5, Some(-70.0)),
            (-75.0, Some(-75.0)),
            (-82.0, Some(-82.0)),
            (-82.1, None),
        ] {
            assert_eq!(CLASSES.get(class(dbm)).copied(), limit, "{dbm}");
        }
    }

    #[test]
    fn neighbouring_edges_are_one_line() {
        let mut path = String::new();
        line(
            &mut path,
            6,
            |index| [0, 1, 3, 5].contains(&index),
            |path, from, to| {
                let _ = write!(path, "{from}-{to} ");
            },
        );
        assert_eq!(path, "0-2 3-4 5-6 ");
    }
}
