//! A chart as plain data, with conversions to SVG, PNG, a table and JSON.
//!
//! - [`svg`](mod@svg): an SVG with a title, a description and the colours of its page, or of its own.
//! - [`table`](mod@table): the same values as a table, for readers who cannot see the picture.
//! - [`json`](mod@json): the same for the script that draws interactive charts.
//! - [`png`](mod@png): a picture.
//! - [`axis`] – ticks, and the format of values on them.
//!
//! Pure functions of a chart and a theme.

pub mod axis;
pub mod json;
pub mod png;
pub mod svg;
pub mod table;

pub use axis::{Axis, Scale, Unit};
pub use json::json;
pub use png::png;
pub use svg::{Theme, escaped, panels, svg};
pub use table::{Table, table};

use serde::Serialize;

/// Colours of series, in turn. People with any colour vision can distinguish them (Okabe and Ito,
/// 2008), on a white or a black background. From the seventh series on they are repeated with
/// dashes.
pub const HUES: [&str; 6] = ["#0082c8", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#7a68d6"];

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Identifier on the page and in file names: lower-case letters, digits and `-`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Description for readers who cannot see the chart: one or two sentences.
    pub description: String,
    /// Explanation of its values; empty if they are obvious.
    pub note: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series in drawing order.
    pub series: Vec<Series>,
    /// Horizontal lines: goals.
    pub levels: Vec<Level>,
    /// Events.
    pub marks: Vec<At>,
    /// A range that is not evaluated: from, to, and the reason.
    pub aside: Option<(f64, f64, String)>,
}

/// One series of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Index into [`HUES`], modulo its length; each repetition has other dashes.
    pub colour_index: usize,
    /// Shape of the series.
    pub shape: Shape,
    /// Points by increasing `x`.
    pub points: Vec<Datum>,
}

/// Shape of a series.
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
    /// For an axis of names: a bar from `low` to `high` with a line at the value. The next series of points has a measured
    /// value beside each of them.
    Ranges,
}

/// A point of a series.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Datum {
    /// Position; on an axis of names the index of the name.
    pub x: f64,
    /// Value; `None` for a gap.
    pub y: Option<f64>,
    /// Minimum of the values that the point represents.
    pub low: Option<f64>,
    /// The largest.
    pub high: Option<f64>,
}

/// A horizontal line, such as a goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Value on the vertical axis.
    pub y: f64,
    /// Name of the quantity.
    pub label: String,
    /// The series whose colour it has; `None` for all.
    pub colour_index: Option<usize>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct At {
    /// Start.
    pub x: f64,
    /// Duration; 0 for an instant.
    pub length: f64,
    /// A sign for it: one or two letters.
    pub sign: String,
    /// Label of the event.
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

    /// The value and its range.
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

    /// Minimum and maximum along both axes, levels included; `None` without points.
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
