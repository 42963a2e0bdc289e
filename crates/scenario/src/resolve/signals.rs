//! Signals of radios at a station: checks of the radios, and of combinations with other keys.

use super::Names;
use super::air::check_radio;
use crate::decode::{Context, Section};
use crate::plan::StationSection;
use crate::plan::{Joins, Plan};
use crate::problem::Problem;
use crate::suggest::list;

/// Checks the key `signals` of a station.
pub(super) fn check(section: &StationSection, joins: Option<&Joins>, plan: &Plan, names: &Names, cx: &mut Context) {
    let Some(signals) = &section.signals else { return };
    let others = section.present();
    let other = |wanted: &str| others.iter().find(|(key, ..)| *key == wanted);
    for key in ["position", "path"] {
        if let Some((_, place, path)) = other(key) {
            let message = format!("`{key}` and `signals` exclude each other");
            let help = Some("remove one of them".to_owned());
            cx.problems.push(Problem::new((*place).clone(), path, message, help));
        }
    }
    for key in ["signal", "distance", "mcs"] {
        if let Some((_, place, path)) = other(key) {
            let message = format!("`{key}` has no effect: `signals` has the signal of each radio");
            let help = Some("remove one of them".to_owned());
            cx.problems.push(Problem::new((*place).clone(), path, message, help));
        }
    }
    let found = cx.problems.len();
    for at in &signals.0 {
        check_radio(at, &at.radio, &plan.aps, names, cx);
    }
    let Some(joins) = joins.filter(|_| cx.problems.len() == found) else {
        return;
    };
    let radios = plan.radios_of(joins);
    for at in &signals.0 {
        if !radios.contains(&&at.radio) {
            let message = match joins {
                Joins::Network(name) => format!("the network `{name}` has no radio `{}`", at.radio),
                Joins::Radio(radio) => format!("the station joins `{radio}` and not `{}`", at.radio),
            };
            let texts: Vec<String> = radios.iter().map(ToString::to_string).collect();
            let help = format!("remove it; expected {}", list(texts.iter().map(String::as_str)));
            cx.problem_at(at, message, help);
        }
    }
    // An invalid signal was reported already.
    if signals.0.is_empty()
        || cx
            .problems
            .iter()
            .any(|problem| problem.path.starts_with(&signals.path))
    {
        return;
    }
    for radio in radios {
        if !signals.0.iter().any(|at| at.radio == *radio) {
            let help = format!("add its signal: `\"{radio}\" = \"-60 dBm\"`");
            cx.problem_at(
                signals,
                format!("`{radio}` has no signal, and the station can join it"),
                help,
            );
        }
    }
}
