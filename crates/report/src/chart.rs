//! A chart as plain data, and what can be made of it: an SVG, a table, a document for scripts, a PNG.
//!
//! - [`svg`](mod@svg): an SVG with a title, a description and the colours of its page, or of its own.
//! - [`table`](mod@table): the same values as a table, for those who read rather than theme.
//! - [`json`](mod@json): the same for the script that draws it again where scripts run.
//! - [`png`](mod@png): a picture.
//! - [`axis`]: ticks, and how values are written on them.
//!
//! Pure: a chart and a theme in, text out.

pub mod axis;
pub mod json;
pub mod png;
pub mod svg;
pub mod table;

pub use axis::{Axis, Scale, Unit};
pub use json::json;
pub use png::png;
pub use svg::{Theme, svg};
pub use table::{Table, table};

use serde::Serialize;

/// The colours of series, in turn: those that people with any colour vision tell apart (Okabe and Ito, 2008), none too light or
/// dark for a white or a black background. From the seventh series on they come again with dashes.
pub const HUES: [&str; 6] = ["#0082c8", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#7a68d6"];

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its name on the page and as a file: small letters, digits and `-`.
    pub id: String,
    /// What it shows, as a heading.
    pub title: String,
    /// What is to be seen in it, for those who can't: one or two sentences.
    pub description: String,
    /// How its values came to be, where that isn't plain.
    pub note: String,
    /// Along.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn, in order.
    pub series: Vec<Series>,
    /// Levels that matter: goals.
    pub levels: Vec<Level>,
    /// What happened along the way.
    pub marks: Vec<At>,
    /// A stretch that doesn't count: from, to, and why.
    pub aside: Option<(f64, f64, String)>,
}

/// One series of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour: a place in [`HUES`], counted around, with other dashes each time around.
    pub colour_index: usize,
    /// How it is drawn.
    pub shape: Shape,
    /// Its points, by rising `x`.
    pub points: Vec<Datum>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Points joined by a line; from `low` to `high` a band.
    Line,
    /// The same in steps: a value holds until the next point.
    Steps,
    /// Points alone; from `low` to `high` a whisker.
    Points,
    /// Bars side by side, for an axis of names; from `low` to `high` a whisker.
    Bars,
}

/// A point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Datum {
    /// Where along; on an axis of names the name's place.
    pub x: f64,
    /// Its value; `None` where there is none, and the line has a gap.
    pub y: Option<f64>,
    /// The least of what it stands for.
    pub low: Option<f64>,
    /// The largest.
    pub high: Option<f64>,
}

/// A level that matters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Its height.
    pub y: f64,
    /// What it is.
    pub label: String,
    /// The series whose colour it has; `None` for all.
    pub colour_index: Option<usize>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct At {
    /// Where it began.
    pub x: f64,
    /// How far it went on; 0 for a moment.
    pub length: f64,
    /// A sign for it: one or two letters.
    pub sign: String,
    /// What it was.
    pub label: String,
    /// The series whose colour it has; `None` for all.
    pub colour_index: Option<usize>,
}

impl Datum {
    /// A point without a range.
    #[must_use]
    pub const fn new(x: f64, y: Option<f64>) -> Self {
        Datum {
            x,
            y,
            low: None,
            high: None,
        }
    }

    /// Its values: itself and its range.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        [self.low, self.y, self.high]
            .into_iter()
            .flatten()
            .filter(|value| value.is_finite())
    }
}

impl Series {
    /// A line through these points.
    #[must_use]
    pub fn line(name: &str, colour_index: usize, points: impl IntoIterator<Item = Datum>) -> Self {
        Series::new(name, colour_index, Shape::Line, points)
    }

    /// Steps from point to point.
    #[must_use]
    pub fn steps(name: &str, colour_index: usize, points: impl IntoIterator<Item = Datum>) -> Self {
        Series::new(name, colour_index, Shape::Steps, points)
    }

    fn new(name: &str, colour_index: usize, shape: Shape, points: impl IntoIterator<Item = Datum>) -> Self {
        Series {
            name: name.to_owned(),
            colour_index,
            shape,
            points: points.into_iter().collect(),
        }
    }
}

impl Chart {
    /// Returns true if there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series
            .iter()
            .all(|series| series.points.iter().all(|point| point.values().next().is_none()))
    }

    /// The least and the largest value along and up, levels included; `None` when there is nothing.
    #[must_use]
    pub fn extent(&self) -> Option<[(f64, f64); 2]> {
        let wider = |range: Option<(f64, f64)>, value: f64| match range {
            Some((low, high)) => Some((low.min(value), high.max(value))),
            None => Some((value, value)),
        };
        let (mut along, mut up) = (None, None);
        for point in self.series.iter().flat_map(|series| &series.points) {
            let mut any = false;
            for value in point.values() {
                up = wider(up, value);
                any = true;
            }
            if any && point.x.is_finite() {
                along = wider(along, point.x);
            }
        }
        for level in &self.levels {
            up = up.and_then(|up| wider(Some(up), level.y));
        }
        Some([along?, up?])
    }
}
