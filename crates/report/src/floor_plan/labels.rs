//! Places for labels that do not overlap.

use super::canvas::FONT;
use crate::sanitise::{sanitise, truncate, width};

/// Mean width of a character, in sizes of the font.
const CHARACTER: f64 = 0.61;

/// Maximum number of characters of a name.
const MAX_NAME: usize = 24;

/// An occupied rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    /// A square around a point.
    pub(super) fn around((x, y): (f64, f64), half: f64) -> Self {
        Area {
            x: x - half,
            y: y - half,
            width: 2.0 * half,
            height: 2.0 * half,
        }
    }

    /// Area that both have.
    fn overlap(&self, other: &Area) -> f64 {
        let along = (self.x + self.width).min(other.x + other.width) - self.x.max(other.x);
        let down = (self.y + self.height).min(other.y + other.height) - self.y.max(other.y);
        along.max(0.0) * down.max(0.0)
    }
}

/// Occupied areas within the limits of a panel.
#[derive(Debug)]
pub(super) struct Labels {
    limits: Area,
    used: Vec<Area>,
}

impl Labels {
    pub(super) fn new((left, top, right, bottom): (f64, f64, f64, f64)) -> Self {
        let limits = Area {
            x: left,
            y: top,
            width: right - left,
            height: bottom - top,
        };
        Labels {
            limits,
            used: Vec::new(),
        }
    }

    /// Occupies an area.
    pub(super) fn occupy(&mut self, area: Area) {
        self.used.push(area);
    }

    /// Occupies the points of a line.
    pub(super) fn occupy_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let steps = (length / 5.0).ceil().clamp(1.0, 400.0) as usize;
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let point = (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1));
            self.occupy(Area::around(point, 2.0));
        }
    }

    /// Finds and occupies an area of this size near a point, at least `distance` away from it. Of several it takes the
    /// first one without an overlap, else the one with the least.
    pub(super) fn place(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), distance: f64) -> Area {
        let mut best: Option<(f64, Area)> = None;
        for away in [0.0, 18.0, 36.0, 54.0, 72.0, 96.0] {
            let gap = distance + away;
            let (right, left) = (x + gap, x - gap - width);
            let (above, below) = (y - gap - height, y + gap);
            let (middle, centre) = (y - height / 2.0, x - width / 2.0);
            for (x, y) in [
                (centre, above),
                (centre, below),
                (right, middle),
                (left, middle),
                (right, above),
                (right, below),
                (left, above),
                (left, below),
            ] {
                let area = self.limited(Area { x, y, width, height });
                let overlap: f64 = self.used.iter().map(|used| used.overlap(&area)).sum();
                if best.is_none_or(|(least, _)| overlap < least) {
                    best = Some((overlap, area));
                }
            }
            if best.is_some_and(|(overlap, _)| overlap <= 0.0) {
                break;
            }
        }
        let (_, area) = best.expect("there are candidates");
        self.used.push(area);
        area
    }

    /// The area, moved into the panel.
    fn limited(&self, area: Area) -> Area {
        let into = |at: f64, size: f64, from: f64, room: f64| at.min(from + room - size - 2.0).max(from + 2.0);
        Area {
            x: into(area.x, area.width, self.limits.x, self.limits.width),
            y: into(area.y, area.height, self.limits.y, self.limits.height),
            ..area
        }
    }
}

/// Approximate width of a text in pixels.
pub(super) fn text_width(text: &str) -> f64 {
    width(text) as f64 * FONT * CHARACTER
}

/// A name of limited length.
pub(super) fn short_name(name: &str) -> String {
    truncate(&sanitise(name), MAX_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        let mut labels = Labels::new((0.0, 0.0, 400.0, 400.0));
        labels.occupy(Area::around((200.0, 200.0), 8.0));
        let placed: Vec<Area> = (0..12)
            .map(|_| labels.place((200.0, 200.0), (60.0, 14.0), 10.0))
            .collect();
        for (index, one) in placed.iter().enumerate() {
            assert!(one.overlap(&Area::around((200.0, 200.0), 8.0)) <= 0.0);
            for other in &placed[index + 1..] {
                assert!(one.overlap(other) <= 0.0, "{one:?} {other:?}");
            }
        }
    }

    /// At the edge of the panel a label is inside of it.
    #[test]
    fn labels_stay_inside() {
        let mut labels = Labels::new((10.0, 10.0, 100.0, 100.0));
        let area = labels.place((98.0, 12.0), (50.0, 14.0), 4.0);
        assert!(
            area.x >= 10.0 && area.x + area.width <= 100.0 && area.y >= 10.0,
            "{area:?}"
        );
    }
}
