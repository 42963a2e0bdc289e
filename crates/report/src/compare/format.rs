//! Text form of values and differences.

use netburn_analysis::compare::{Key, MetricComparison};
use netburn_analysis::format::{mbps, met_number, ms};
use netburn_record::metrics::Unit;
use netburn_stats::Interval;
use netburn_stats::contrast::{Answer, SIGNIFICANCE};
use netburn_stats::metric_change::Judgement;

/// A metric's value without its unit. A share with a goal has the digits of a report.
#[must_use]
pub fn metric_value(value: f64, key: &Key) -> String {
    match key.goal {
        Some(_) => met_number(value),
        None => self::value(value, key.unit()),
    }
}

/// A value without its unit.
fn value(value: f64, unit: Unit) -> String {
    if value.is_infinite() {
        return "never".to_owned();
    }
    match unit {
        Unit::Mbps => mbps(value),
        Unit::Ms => ms(value),
        Unit::Share => match value * 100.0 {
            hundredths if hundredths.abs() >= 99.995 => format!("{hundredths:.0}"),
            hundredths if hundredths.abs() >= 10.0 => format!("{hundredths:.1}"),
            hundredths => format!("{hundredths:.2}"),
        },
        Unit::Points => format!("{value:.1}"),
        Unit::Rpm | Unit::Count | Unit::Verdict => format!("{value:.0}"),
    }
}

/// A difference with its sign; no sign if it rounds to zero.
pub(super) fn signed(difference: f64, unit: Unit) -> String {
    if difference.is_infinite() {
        return if difference > 0.0 { "+∞" } else { "−∞" }.to_owned();
    }
    let text = value(difference.abs(), unit);
    let nothing = text.chars().all(|c| matches!(c, '0' | '.'));
    match difference {
        _ if nothing => "0".to_owned(),
        ..0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Returns true if a difference in this unit is shown as it is, and not as a share of the baseline.
pub(super) fn is_absolute(unit: Unit) -> bool {
    matches!(unit, Unit::Share | Unit::Points)
}

/// A difference as a share of the baseline, if that is meaningful.
pub(super) fn share(share: Option<f64>, unit: Unit) -> String {
    match share {
        Some(share) if !is_absolute(unit) && share.abs() >= 10.0 => format!(" (×{:.0})", share + 1.0),
        Some(share) if !is_absolute(unit) && share.abs() >= 0.0005 => {
            let sign = if share < 0.0 { "−" } else { "+" };
            let percent = share.abs() * 100.0;
            match percent {
                ..10.0 => format!(" ({sign}{percent:.1} %)"),
                _ => format!(" ({sign}{percent:.0} %)"),
            }
        }
        _ => String::new(),
    }
}

/// An interval of a difference.
pub(super) fn interval(of: Option<Interval>, unit: Unit) -> String {
    of.map_or_else(String::new, |of| {
        format!("{} to {}", signed(of.low, unit), signed(of.high, unit))
    })
}

/// A probability, with enough digits to show if it is above or below [`SIGNIFICANCE`].
pub(super) fn probability(p: f64) -> String {
    let usual = match p {
        ..0.0001 => return "<0.0001".to_owned(),
        ..0.01 => 4,
        ..0.1 => 3,
        ..0.995 => 2,
        _ => return "1".to_owned(),
    };
    let as_it_is = |digits: usize| {
        let text = format!("{p:.digits$}");
        let shown: f64 = text.parse().ok()?;
        let right = (shown < SIGNIFICANCE) == (p < SIGNIFICANCE) && (shown == SIGNIFICANCE) == (p == SIGNIFICANCE);
        right.then_some(text)
    };
    (usual..17).find_map(as_it_is).unwrap_or_else(|| p.to_string())
}

/// Size of the effect on a metric that came out better or worse: a word, and the percentage of
/// pairs of runs that show it. Empty for other metrics, because among few runs chance alone often
/// causes an effect that looks large.
pub(super) fn effect(of: &MetricComparison) -> String {
    if !of.is_decided() {
        return String::new();
    }
    let effect = of.contrast().effect;
    let larger = effect.larger();
    let (share, way) = match larger {
        0.5.. => (larger, "higher"),
        _ => (1.0 - larger, "lower"),
    };
    format!("{}, {way} in {:.0} %", effect.size().name(), (share * 100.0).floor())
}

/// Name of a metric among `all` metrics, without its station. The share that met a goal has the goal's text if the workload
/// has several goals.
#[must_use]
pub fn metric_name<'a>(key: &Key, all: impl IntoIterator<Item = &'a Key>) -> String {
    let goal_of_it =
        |other: &&Key| other.station == key.station && other.workload == key.workload && other.goal.is_some();
    let what = match &key.goal {
        Some((_, goal)) if all.into_iter().filter(goal_of_it).nth(1).is_some() => format!("{goal}, met %"),
        _ => key.comparison.heading.to_owned(),
    };
    match &key.workload {
        Some(workload) => format!("{workload} {what}"),
        None => what,
    }
}

/// The counts of judgements in words: `2 worse, 10 the same`.
pub(super) fn counts<'a>(answers: impl Iterator<Item = &'a Answer> + Clone) -> String {
    let order = [
        (Judgement::Worse, "worse"),
        (Judgement::Better, "better"),
        (Judgement::Same, "same"),
        (Judgement::CantTell, "can't tell"),
    ];
    let some = order.into_iter().filter_map(|(wanted, words)| {
        match answers.clone().filter(|answer| answer.judgement == wanted).count() {
            0 => None,
            count => Some(format!("{count} {words}")),
        }
    });
    some.collect::<Vec<_>>().join(", ")
}

/// Number of runs in words.
pub(super) fn runs(count: usize) -> String {
    match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    }
}

#[cfg(test)]
mod tests {
    use super::{metric_name, probability};
    use netburn_analysis::compare::Key;
    use netburn_record::metrics::workload_quantities;

    #[test]
    fn a_met_share_is_named_by_its_goal_among_several() {
        let key = |station: &str, name: &str, goal| {
            let quantity = workload_quantities().find(|known| known.name == name).unwrap();
            Key {
                station: Some(station.to_owned()),
                workload: Some("talk".to_owned()),
                goal,
                quantity,
                comparison: quantity.comparison.as_ref().unwrap(),
            }
        };
        let met = |station, number, goal: &str| key(station, "met", Some((number, goal.to_owned())));
        let all = [
            met("tv", 0, "no freeze"),
            met("tv", 1, "frame delay ≤ 150 ms"),
            met("phone", 0, "no freeze"),
            key("phone", "p95_ms", None),
        ];
        assert_eq!(metric_name(&all[0], &all), "talk no freeze, met %");
        assert_eq!(metric_name(&all[1], &all), "talk frame delay ≤ 150 ms, met %");
        // The goals of another station don't count, and neither do other quantities.
        assert_eq!(metric_name(&all[2], &all), "talk met %");
        assert_eq!(metric_name(&all[3], &all), "talk p95 ms");
    }

    #[test]
    fn a_probability_is_printed_on_its_side_of_the_limit() {
        for (p, text) in [
            (0.0519, "0.052"),
            (0.0433, "0.043"),
            (0.0504, "0.0504"),
            (0.04996, "0.04996"),
            (0.050_000_1, "0.0500001"),
            (0.05, "0.050"),
            (0.00216, "0.0022"),
            (0.00004, "<0.0001"),
            (0.3, "0.30"),
            (0.999, "1"),
            (1.0, "1"),
        ] {
            assert_eq!(probability(p), text);
        }
    }
}
