//! The model that was fitted to a run, and whether it behaves like the measurement.

use super::head::with_code;
use super::{badge, escaped, figure, noted, table};
use crate::chart::{Chart, Unit};
use crate::run_charts::fitted::{host_name, is_own, load};
use crate::table::{Badge, Table, numbers, words};
use netburn_analysis::fitted::{FittedView, QuantityName, Trust, Way};
use netburn_analysis::format::{percent, short};
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// Distance from an interval below which no value is named, as the logarithm of a ratio: 5 %.
const SMALL: f64 = 0.05;

/// The section; empty without a model.
pub(super) fn fitted(view: &View, charts: &[Chart]) -> String {
    let Some(fit) = &view.fitted else {
        return String::new();
    };
    let mut out = answer(fit);
    out.push_str(&table(&devices(fit)));
    out.push('\n');
    let own = charts.iter().filter(|chart| is_own(&chart.id));
    let _ = writeln!(
        out,
        "<div class=\"beside\">\n{}</div>",
        own.map(figure).collect::<String>()
    );
    out.push_str(&details(fit));
    out
}

/// The agreement of the model, in one sentence and its meaning.
fn answer(fit: &FittedView) -> String {
    let (sign, class, words, meaning) = match fit.trust() {
        Trust::Good => (
            "✓",
            "pass",
            "agrees",
            "The model is a good basis for predictions: `netburn explain` simulates changes of your network with it.",
        ),
        Trust::Partial => (
            "~",
            "marginal",
            "agrees in part",
            "Predictions can be wrong for the devices and loads that differ. They are marked in the table and in the charts.",
        ),
        Trust::None => (
            "✗",
            "fail",
            "differs",
            "Do not rely on predictions of the model: your network has a property that no model has, or something disturbed \
             the measurement. Measure again, without other load.",
        ),
    };
    let sentence = format!(
        "The model behaves like the measurement {}in {} of {} values.",
        if fit.trust() == Trust::Good { "" } else { "only " },
        fit.inside(),
        fit.observations.len()
    );
    let badge = badge(&Badge {
        sign,
        class,
        words,
        is_provisional: false,
    });
    format!(
        "<p class=\"verdict\">{badge} <span class=\"why\">{}</span></p>\n<p>{}</p>{}",
        escaped(&sentence),
        with_code(meaning),
        noted(
            "A value agrees if it is inside the 90 % interval that the model predicts. With a correct model, about 9 of 10 \
             values are."
        )
    )
}

/// Numbers of values of each device that agree, and the value that differs most.
fn devices(fit: &FittedView) -> Table {
    let rows = fit.stations().into_iter().map(|station| {
        let inside = fit.of_station(station).filter(|one| one.agrees()).count();
        let all = fit.of_station(station).count();
        vec![
            station.into(),
            format!("{inside} of {all}").into(),
            farthest(fit, station).into(),
        ]
    });
    Table {
        caption: "Values that agree, by device",
        columns: vec![words("device"), numbers("agree"), words("largest difference")],
        rows: rows.collect(),
        keys: 1,
    }
}

/// The value of a station that is farthest from its interval, as words.
fn farthest(fit: &FittedView, station: &str) -> String {
    let all = fit.of_station(station);
    let farthest = all.max_by(|one, other| one.distance().total_cmp(&other.distance()));
    let Some(one) = farthest.filter(|one| one.distance() >= SMALL) else {
        return "none above 5 %".to_owned();
    };
    let unit = match one.quantity {
        QuantityName::Goodput | QuantityName::Rate => Unit::Mbps,
        QuantityName::Latency => Unit::Ms,
    };
    let noun = match one.quantity {
        QuantityName::Goodput => "goodput",
        QuantityName::Rate => "link rate",
        QuantityName::Latency => "round trip",
    };
    let what = match (one.direction, one.host(), one.percentile) {
        (Some(Way::Down), ..) => format!("{noun} down"),
        (Some(Way::Up), ..) => format!("{noun} up"),
        (None, Some(host), Some(50)) => format!("median {noun} to the {}", host_name(host)),
        (None, Some(host), Some(level)) => format!("p{level} {noun} to the {}", host_name(host)),
        _ => "value".to_owned(),
    };
    let load = fit
        .phase_of(one)
        .map_or_else(String::new, |phase| load(fit, phase, station));
    format!(
        "{what} while {load}: measured {}, model {} to {}",
        unit.write(one.measured),
        unit.write(one.interval[0]),
        unit.write(one.interval[1])
    )
}

/// Parameters, gaps and assumptions, for engineers.
fn details(fit: &FittedView) -> String {
    let mut out = String::from("<details><summary>Parameters, assumptions and what the run does not show</summary>\n");
    let queues = fit.disciplines.iter().filter(|one| one.probability >= 0.005);
    let queues: Vec<String> = queues
        .map(|one| format!("{} {}", one.queue, percent(one.probability)))
        .collect();
    let _ = writeln!(
        out,
        "<p>Queue of the access point, with probabilities: {}. Misfit {:.1}: the mean square of the differences in standard \
         deviations, where 1 is expected and 4 is the limit.</p>",
        escaped(&queues.join(", ")),
        fit.misfit
    );
    let estimates = Table::for_items(
        "Parameters of the model",
        &fit.estimates,
        &[
            ("key", |one| one.key.clone()),
            ("median", |one| short(one.median)),
            ("90 % interval", |one| {
                format!("{} to {}", short(one.interval[0]), short(one.interval[1]))
            }),
            ("unit", |one| one.unit.clone()),
            ("identified by this run", |one| match &one.needs {
                Some(needs) if !one.identified => format!("no, would need {needs}"),
                _ => "yes".to_owned(),
            }),
        ],
    );
    out.push_str(&table(&estimates));
    for (title, list) in [
        ("The model differs from the run", &fit.unexplained),
        ("This run does not show", &fit.gaps),
        ("Assumed", &fit.assumptions),
    ] {
        if list.is_empty() {
            continue;
        }
        let items: String = list
            .iter()
            .map(|line| format!("<li>{}</li>\n", escaped(line)))
            .collect();
        let _ = writeln!(out, "<p>{title}:</p>\n<ul>\n{items}</ul>");
    }
    out.push_str("</details>\n");
    out
}
