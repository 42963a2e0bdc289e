//! Text form of values: three significant digits. A value has the same text in a table, a chart, a card and a sentence.

use netburn_record::Summary;
use netburn_units::format_decimal;

/// A time in ms, without its unit: `0.23`, `12.5`, `1430`.
#[must_use]
pub fn ms(value: f64) -> String {
    format!("{value:.*}", decimals(value))
}

/// Number of decimals of three significant digits, at most two.
fn decimals(value: f64) -> usize {
    match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    }
}

/// A time in ms as text, with a suitable unit.
#[must_use]
pub fn span(value: f64) -> String {
    match value {
        ..1.0 => format!("{} µs", format_decimal(value * 1e3, decimals(value * 1e3))),
        1.0..1000.0 => format!("{} ms", ms(value)),
        _ => format!("{:.2} s", value / 1e3),
    }
}

/// A time in µs as text, with a suitable unit.
#[must_use]
pub fn span_us(value: f64) -> String {
    span(value / 1e3)
}

/// A rate in Mbit/s, without its unit.
#[must_use]
pub fn mbps(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.2}"),
        1.0..1000.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A share in percent, to the nearest tenth.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", format_decimal((share * 1000.0).round() / 10.0, 1))
}

/// A share that has to reach a limit, in percent, such as the share of operations that met a goal. It is rounded down, so
/// that it never looks as if it had reached the limit: only a share of 1 is `100 %`.
#[must_use]
pub fn met_percent(share: f64) -> String {
    format!("{} %", format_decimal(met_tenths(share) / 10.0, 1))
}

/// The number of [`met_percent`], without the unit and with its decimal: `88.7`, `100`.
#[must_use]
pub fn met_number(share: f64) -> String {
    match met_tenths(share) {
        1000.0 => "100".to_owned(),
        tenths => format!("{:.1}", tenths / 10.0),
    }
}

/// A share in tenths of a percent, rounded down. A thousandth of a step keeps 0.29 × 1000 = 289.999… at 29 %.
fn met_tenths(share: f64) -> f64 {
    (share * 1000.0 + 1e-3).floor()
}

/// A small share in percent, such as that of lost packets: two decimals, and never 0 if it is larger than 0.
#[must_use]
pub fn fine_percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.01 => "<0.01 %".to_owned(),
        percent => format!("{} %", short(percent)),
    }
}

/// At most two decimals, without trailing zeros.
#[must_use]
pub fn short(value: f64) -> String {
    format_decimal(value, 2)
}

/// Returns the number of stations of a run: `1 station`, `4 stations`.
#[must_use]
pub fn stations(summary: &Summary) -> String {
    match summary.stations.len() {
        1 => "1 station".to_owned(),
        n => format!("{n} stations"),
    }
}

/// Prefix of a duration with the number of runs: `3 runs of `; empty for one run.
#[must_use]
pub fn runs_of(summary: &Summary) -> String {
    match summary.repeats.len() {
        0 | 1 => String::new(),
        n => format!("{n} runs of "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_the_nearest_tenth() {
        for (share, text) in [
            (0.08575, "8.6 %"),
            (0.04292, "4.3 %"),
            (0.01052, "1.1 %"),
            (0.28080, "28.1 %"),
            (0.29, "29 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn a_share_with_a_goal_is_never_rounded_up() {
        for (share, text) in [
            (1.0, "100 %"),
            (0.9999, "99.9 %"),
            (0.99, "99 %"),
            (0.29, "29 %"),
            (0.8875, "88.7 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(met_percent(share), text);
            let number: f64 = met_number(share).parse().unwrap();
            assert_eq!(format!("{number} %"), text);
        }
    }

    #[test]
    fn a_loss_is_never_zero() {
        for (share, text) in [(0.0, "0 %"), (1e-6, "<0.01 %"), (0.1235, "12.35 %")] {
            assert_eq!(fine_percent(share), text);
        }
    }

    #[test]
    fn times_have_three_figures_and_a_unit_that_suits() {
        for (value, text) in [
            (0.04, "40 µs"),
            (0.98714, "987 µs"),
            (2.1, "2.10 ms"),
            (12.34, "12.3 ms"),
            (512.6, "513 ms"),
            (2050.0, "2.05 s"),
        ] {
            assert_eq!(span(value), text);
        }
        assert_eq!((ms(0.234), ms(1430.2)), ("0.23".to_owned(), "1430".to_owned()));
        assert_eq!(span_us(1500.0), "1.50 ms");
    }
}
