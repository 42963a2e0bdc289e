//! Scales of a sweep's charts: values of a key that are numbers, and units of a metric.

use netburn_record::metrics;
use netburn_report::chart::Unit;
use netburn_units::{BitRate, ByteSize, Dbm, Distance, Duration, Probability};

/// Unit of a metric's values on the axis.
pub(crate) const fn unit(of: metrics::Unit) -> Unit {
    match of {
        metrics::Unit::Ms => Unit::Ms,
        metrics::Unit::Mbps => Unit::Mbps,
        metrics::Unit::Share => Unit::Share,
        metrics::Unit::Count | metrics::Unit::Points | metrics::Unit::Rpm | metrics::Unit::Verdict => Unit::Count,
    }
}

/// Returns the values as numbers and their unit, if all are distinct numbers with the same unit.
pub(crate) fn scale(values: &[String]) -> Option<(Vec<f64>, &str)> {
    let parts: Option<Vec<(f64, &str)>> = values.iter().map(|value| number(value)).collect();
    let parts = parts?;
    let unit = parts.first()?.1;
    let mut numbers: Vec<f64> = parts.iter().map(|(number, _)| *number).collect();
    let same = parts.iter().all(|(_, other)| *other == unit);
    numbers.sort_by(f64::total_cmp);
    let distinct = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    (same && distinct && values.len() > 1).then(|| (parts.into_iter().map(|(number, _)| number).collect(), unit))
}

fn number(value: &str) -> Option<(f64, &str)> {
    let value = value.trim().trim_matches('"').trim();
    let end = value
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*at == 0 && matches!(c, '-' | '+' | '−'))))
        .map_or(value.len(), |(at, _)| at);
    let unit = value[end..].trim();
    let number: f64 = value[..end].replace('−', "-").parse().ok()?;
    // `20 MHz` and `20ms` are numbers; `5g` and `802.11n` are names.
    let is_quantity = unit.is_empty()
        || value[end..].starts_with(char::is_whitespace)
        || UNITS_WITHOUT_TYPE.contains(&unit)
        || has_known_unit(value);
    (number.is_finite() && is_quantity).then_some((number, unit))
}

/// Units of channel widths, queue limits and hardware queues, which have no type of their own.
const UNITS_WITHOUT_TYPE: [&str; 4] = ["MHz", "packets", "frames", "aggregates"];

fn has_known_unit(value: &str) -> bool {
    value.parse::<Dbm>().is_ok()
        || value.parse::<Duration>().is_ok()
        || value.parse::<BitRate>().is_ok()
        || value.parse::<ByteSize>().is_ok()
        || value.parse::<Distance>().is_ok()
        || value.parse::<Probability>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_one_unit_form_a_scale() {
        let scale = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
            scale(&values).map(|(numbers, unit)| (numbers, unit.to_owned()))
        };
        let dbm = |numbers: [f64; 2]| Some((numbers.to_vec(), "dBm".to_owned()));
        assert_eq!(scale(&["-80dBm", "-70 dBm"]), dbm([-80.0, -70.0]));
        assert_eq!(scale(&["20ms", "5 ms"]), Some((vec![20.0, 5.0], "ms".to_owned())));
        assert_eq!(scale(&["20MHz", "40 MHz"]), Some((vec![20.0, 40.0], "MHz".to_owned())));
        assert_eq!(scale(&["1", "2.5", "10"]), Some((vec![1.0, 2.5, 10.0], String::new())));
        // A hyphen, and the minus sign that netburn prints.
        assert_eq!(scale(&["-86 dBm", "−40.5 dBm"]), dbm([-86.0, -40.5]));
        for no in [
            &["fifo", "airtime"][..],
            &["1 ms", "1 s"],
            &["802.11n", "802.11ac"],
            &["5g", "2g"],
            &["1"],
            &["1", "1.0"],
        ] {
            assert_eq!(scale(no), None, "{no:?}");
        }
    }
}
