//! How figures and differences are written for people.

use super::figure::{Key, Unit, What};
use crate::text::figure::{mbps, ms};
use netburn_stats::contrast::Answer;
use netburn_stats::judge::Judgement;
use netburn_stats::{Effect, Interval};

/// A value without its unit.
pub(super) fn value(value: f64, unit: Unit) -> String {
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
    }
}

/// A difference, with its sign; what rounds to nothing has none.
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

/// A difference as a share of what it was, where that says something.
pub(super) fn share(share: Option<f64>, unit: Unit) -> String {
    match share {
        Some(share) if unit != Unit::Share && share.abs() >= 10.0 => format!(" (×{:.0})", share + 1.0),
        Some(share) if unit != Unit::Share && share.abs() >= 0.0005 => {
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

/// A probability.
pub(super) fn probability(p: f64) -> String {
    match p {
        ..0.0001 => "<0.0001".to_owned(),
        ..0.01 => format!("{p:.4}"),
        ..0.995 => format!("{p:.2}"),
        _ => "1".to_owned(),
    }
}

/// How large an effect is: in a word, and in how many of a hundred pairs of runs it shows.
pub(super) fn effect(effect: Effect) -> String {
    let larger = effect.larger();
    let (share, way) = match larger {
        0.5.. => (larger, "higher"),
        _ => (1.0 - larger, "lower"),
    };
    match effect.delta == 0.0 {
        true => "none".to_owned(),
        false => format!("{}, {way} in {:.0} %", effect.size().name(), (share * 100.0).floor()),
    }
}

/// Which figure, without its station.
pub(super) fn what(key: &Key, several_goals: bool) -> String {
    let what = match &key.what {
        What::Met(_, goal) if several_goals => format!("{goal}, met %"),
        what => what.name().to_owned(),
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
        (Judgement::Same, "the same"),
        (Judgement::CantTell, "can't be told"),
    ];
    let some = order.into_iter().filter_map(|(wanted, words)| {
        match answers.clone().filter(|answer| answer.judgement == wanted).count() {
            0 => None,
            count => Some(format!("{count} {words}")),
        }
    });
    some.collect::<Vec<_>>().join(", ")
}

/// So many runs.
pub(super) fn runs(count: usize) -> String {
    match count {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    }
}
