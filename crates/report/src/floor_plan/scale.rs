//! From millimetres in the building to pixels of the drawing.

use netburn_analysis::floor_plan::FloorPlan;
use netburn_medium::geometry::Position;

/// Width of the drawing.
pub(super) const WIDTH: f64 = 760.0;
/// Room for the labels of the vertical axis.
pub(super) const LEFT: f64 = 48.0;
const RIGHT: f64 = 16.0;
/// Maximum height of a panel.
const MAX_HEIGHT: f64 = 520.0;
/// Minimum height of a panel, in which a label fits.
const MIN_HEIGHT: f64 = 60.0;
/// Maximum size of a metre.
const MAX_METRE: f64 = 60.0;

/// Extent and scale, the same for all floors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// South-western corner in mm.
    pub(super) south_west: (i64, i64),
    /// North-eastern corner in mm.
    pub(super) north_east: (i64, i64),
    /// Pixels for a metre.
    metre: f64,
    /// Height of a panel in pixels.
    pub(super) height: f64,
}

impl Frame {
    pub(super) fn new(plan: &FloorPlan) -> Self {
        let (south_west, north_east) = (plan.south_west, plan.north_east);
        let east = (north_east.0 - south_west.0) as f64 / 1_000.0;
        let north = (north_east.1 - south_west.1) as f64 / 1_000.0;
        let metre = ((WIDTH - LEFT - RIGHT) / east).min(MAX_HEIGHT / north).min(MAX_METRE);
        Frame {
            south_west,
            north_east,
            metre,
            height: (north * metre).max(MIN_HEIGHT),
        }
    }

    /// Length in pixels.
    pub(super) fn pixels(&self, mm: i64) -> f64 {
        mm as f64 / 1_000.0 * self.metre
    }

    /// Metres between two ticks, at least 40 pixels.
    pub(super) fn tick(&self) -> i64 {
        self.at_least(40.0)
    }

    /// Length of the scale bar in metres, at least 70 pixels.
    pub(super) fn bar(&self) -> i64 {
        self.at_least(70.0)
    }

    /// The smallest of 1, 2, 5, 10, 20, 50 … metres with this length.
    fn at_least(&self, pixels: f64) -> i64 {
        let mut decade = 1;
        loop {
            for step in [1, 2, 5] {
                if (step * decade) as f64 * self.metre >= pixels || decade >= 1_000_000 {
                    return step * decade;
                }
            }
            decade *= 10;
        }
    }
}

/// A floor in the drawing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    pub(super) frame: Frame,
    /// Its upper edge.
    pub(super) top: f64,
}

impl Panel {
    pub(super) const fn new(frame: Frame, top: f64) -> Self {
        Panel { frame, top }
    }

    pub(super) fn x(&self, mm: i64) -> f64 {
        LEFT + self.frame.pixels(mm - self.frame.south_west.0)
    }

    pub(super) fn y(&self, mm: i64) -> f64 {
        self.top + self.frame.pixels(self.frame.north_east.1 - mm)
    }

    pub(super) fn point(&self, at: Position) -> (f64, f64) {
        (self.x(at.x), self.y(at.y))
    }

    /// Left, upper, right and lower edge.
    pub(super) fn edges(&self) -> (f64, f64, f64, f64) {
        let right = self.x(self.frame.north_east.0);
        (LEFT, self.top, right, self.y(self.frame.south_west.1))
    }
}

/// Multiples of `step` metres within a range in mm.
pub(super) fn ticks(from: i64, to: i64, step: i64) -> impl Iterator<Item = i64> {
    let first = (from + step * 1_000 - 1).div_euclid(step * 1_000);
    let last = to.div_euclid(step * 1_000);
    (first..=last).map(move |tick| tick * step)
}

/// A length in metres.
pub(super) fn metres(mm: i64) -> String {
    let text = format!("{:.3}", mm as f64 / 1_000.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_multiples() {
        assert_eq!(ticks(-7_000, 7_000, 5).collect::<Vec<_>>(), [-5, 0, 5]);
        assert_eq!(ticks(0, 4_000, 2).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!(
            (metres(250), metres(2_000), metres(1_050)),
            ("0.25".into(), "2".into(), "1.05".into())
        );
    }

    /// 24 m in 760 − 48 − 16 = 696 pixels: 29 for a metre. Ticks of 2 m are 58 pixels, a bar of 5 m is 145.
    #[test]
    fn scale() {
        let frame = Frame {
            south_west: (0, -7_000),
            north_east: (24_000, 7_000),
            metre: 29.0,
            height: 406.0,
        };
        assert_eq!((frame.tick(), frame.bar()), (2, 5));
        let panel = Panel::new(frame, 50.0);
        assert_eq!(panel.edges(), (48.0, 50.0, 744.0, 456.0));
        let at = Position {
            x: 2_000,
            y: 0,
            floor: 0,
        };
        assert_eq!(panel.point(at), (106.0, 253.0));
    }
}
