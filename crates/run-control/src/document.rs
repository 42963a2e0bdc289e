//! Serialized plans in messages to agents and the server.

use crate::error::ControllerError;
use netburn_protocol::messages::MAX_TO_AGENT;
use netburn_scenario::Plan;
use serde_json::{Map, Value};

/// Serializes a plan, if it fits into a message.
///
/// # Errors
/// [`ControllerError::PlanTooLong`] if it does not fit.
pub fn from_plan(plan: &Plan) -> Result<Value, ControllerError> {
    let document = plan.to_json();
    let length = document.to_string().len();
    if length + 4096 > MAX_TO_AGENT {
        Err(ControllerError::PlanTooLong { length })
    } else {
        Ok(document)
    }
}

/// Parses a plan.
pub(crate) fn to_plan(document: &Value) -> Result<Plan, String> {
    Plan::from_json(document).map_err(|error| format!("the plan can't be read: {error}"))
}

/// Maximum number of stations with which every agent receives the whole plan.
const MAX_FULL_STATIONS: usize = 32;

/// The part of a serialized plan that the agent of these stations needs. Of other stations in a large plan
/// it contains only the names: otherwise a thousand agents would receive a million stations.
pub(crate) fn for_stations(document: &Value, stations: &[u16]) -> Value {
    let all = document.get("station").and_then(Value::as_object);
    let Some(all) = all.filter(|all| all.len() > MAX_FULL_STATIONS) else {
        return document.clone();
    };
    let own = |number: usize| stations.iter().any(|station| usize::from(*station) == number);
    let thin: Map<String, Value> = all
        .iter()
        .enumerate()
        .map(|(number, (name, station))| {
            let station = if own(number) {
                station.clone()
            } else {
                Value::Object(Map::new())
            };
            (name.clone(), station)
        })
        .collect();
    let top = document.as_object().into_iter().flatten();
    // Timed changes concern the modelled network, and may refer to stations without settings.
    let top = top.filter(|(key, _)| !["station", "at"].contains(&key.as_str()));
    let mut reduced: Map<String, Value> = top.map(|(key, value)| (key.clone(), value.clone())).collect();
    reduced.insert("station".to_owned(), Value::Object(thin));
    Value::Object(reduced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;
    use std::fmt::Write;

    #[test]
    fn an_agent_receives_only_names_of_other_stations_of_a_large_plan() {
        let mut text = "duration = \"60 s\"\nwarmup = \"1 s\"\n".to_owned();
        for number in 0..200 {
            let workload = ["voip", "browsing", "download"][number % 3];
            write!(text, "[station.s{number}]\nworkload = \"{workload}\"\ncc = \"reno\"\n").unwrap();
        }
        let plan = Document::from_toml("many.toml", &text).unwrap().resolve().unwrap();
        let document = plan.to_json();
        let reduced = for_stations(&document, &[7, 150]);
        let parsed = to_plan(&reduced).unwrap();
        assert_eq!(parsed.stations.len(), 200);
        for number in [7, 150] {
            assert_eq!(parsed.stations[number], plan.stations[number]);
        }
        for (number, station) in parsed.stations.iter().enumerate() {
            assert_eq!(station.name, plan.stations[number].name);
        }
        assert_eq!(
            (parsed.duration, parsed.seed, &parsed.server),
            (plan.duration, plan.seed, &plan.server)
        );
        assert!(reduced.to_string().len() * 5 < document.to_string().len());
    }
}
