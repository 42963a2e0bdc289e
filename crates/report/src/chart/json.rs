//! A chart as JSON for the script that draws interactive charts: columns over common positions.

use super::svg::thin;
use super::{Chart, Datum, Scale, Shape};
use serde_json::{Map, Number, Value, json};

/// Maximum number of positions in a chart with few series. More positions are combined, with their
/// minimum and maximum.
const MAX_POINTS: usize = 1200;

/// Maximum number of values of all series of a chart together.
const ALTOGETHER: usize = 16_000;

/// The chart for `chart.js`. `x` holds the positions. Each series of `y` has a value or null for
/// each of them, with `low` and `high` if a point represents several values.
#[must_use]
pub fn json(chart: &Chart) -> Value {
    let most = (ALTOGETHER / chart.series.len().max(1)).clamp(60, MAX_POINTS);
    let thinned = chart.series.iter().map(|series| thin(&series.points, most));
    let thinned: Vec<Vec<Datum>> = thinned.collect();
    let mut along: Vec<f64> = thinned.iter().flatten().map(|datum| datum.x).collect();
    along.sort_by(f64::total_cmp);
    along.dedup();
    let series = chart.series.iter().zip(&thinned).map(|(series, points)| {
        let column = |of: fn(&Datum) -> Option<f64>| {
            let mut points = points.iter().peekable();
            let values = along.iter().map(|x| match points.next_if(|point| point.x == *x) {
                Some(point) => number(of(point)),
                None => Value::Null,
            });
            Value::Array(values.collect())
        };
        let mut document = Map::new();
        document.insert("name".to_owned(), json!(series.name));
        document.insert("hue".to_owned(), json!(series.colour_index));
        document.insert("shape".to_owned(), json!(series.shape));
        document.insert("y".to_owned(), column(|point| point.y));
        let ranged = |point: &Datum| point.low.zip(point.high).is_some_and(|(low, high)| high > low);
        if points.iter().any(ranged) {
            document.insert("low".to_owned(), column(|point| point.low));
            document.insert("high".to_owned(), column(|point| point.high));
        }
        Value::Object(document)
    });
    let series: Vec<Value> = series.collect();
    let ends = chart
        .extent()
        .map(|[along, up]| (chart.x.range(along), chart.y.range(up)));
    let axis = |axis: &super::Axis, ends: Option<(f64, f64)>| {
        let scale = match axis.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
            Scale::Percentile => "percentile",
            Scale::Names(_) => "names",
        };
        let ends = ends.map(|(low, high)| [precise(low), precise(high)]);
        json!({ "label": axis.label, "unit": axis.unit, "scale": scale, "ends": ends })
    };
    json!({
        "id": chart.id,
        "title": chart.title,
        "bars": chart.series.iter().any(|series| matches!(series.shape, Shape::Bars | Shape::Ranges)),
        "x": axis(&chart.x, ends.map(|(along, _)| along)),
        "y": axis(&chart.y, ends.map(|(_, up)| up)),
        "at": along.iter().map(|x| precise(*x)).collect::<Vec<Value>>(),
        "series": series,
        "levels": chart.levels,
        "marks": chart.marks,
        "aside": chart.aside,
    })
}

/// Four significant digits: more are not visible.
fn number(value: Option<f64>) -> Value {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return Value::Null;
    };
    if value == 0.0 {
        return json!(0);
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    let rounded = match digits {
        ..=0 => value.round(),
        digits => {
            let factor = 10_f64.powi(digits.min(12));
            (value * factor).round() / factor
        }
    };
    precise(rounded)
}

fn precise(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return json!(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_necessary_digits() {
        for (value, text) in [
            (0.0, "0"),
            (12.0, "12"),
            (0.123456, "0.1235"),
            (1234.56, "1235"),
            (98.7654, "98.77"),
            (-61.25, "-61.25"),
        ] {
            assert_eq!(number(Some(value)).to_string(), text);
        }
        assert_eq!(number(Some(f64::NAN)), Value::Null);
    }
}
