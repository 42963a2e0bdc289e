//! Runs that measured a network for a fit. Their transfers fill the network on purpose, so long delays are expected.

use crate::fitted::FittedView;
use netburn_record::RunStatus;
use netburn_scenario::{Document, Environment, Plan, StationWorkload};
use netburn_workload::config::KindSettings;
use serde::Serialize;

/// A measurement for a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeasurementView {
    /// True if the scenario describes the network. `netburn explain` then uses the fitted models only with `--model`.
    pub is_described: bool,
}

/// Next step of the user after a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Try changes on the models.
    Explain {
        /// True if models are fitted already.
        is_fitted: bool,
        /// True if `netburn explain` needs `--model`.
        needs_model: bool,
    },
    /// The model does not explain the measurement: measure again.
    Differs,
    /// The measurement did not end as planned: measure again.
    Incomplete,
}

impl MeasurementView {
    /// The next step after a measurement with this status and this fitted model.
    #[must_use]
    pub fn next_step(self, status: &RunStatus, fitted: Option<&FittedView>) -> NextStep {
        match fitted {
            _ if *status != RunStatus::Complete => NextStep::Incomplete,
            Some(fit) if !fit.explains => NextStep::Differs,
            fit => NextStep::Explain {
                is_fitted: fit.is_some(),
                needs_model: self.is_described,
            },
        }
    }
}

/// The measurement that a run with this plan is: a run with a fitted model, or one whose load is only that of a measurement.
/// `None` for other runs.
pub(crate) fn measurement(plan: &Plan, fitted: Option<&FittedView>) -> Option<MeasurementView> {
    (fitted.is_some() || measures(plan)).then(|| MeasurementView {
        is_described: is_described(plan),
    })
}

/// True if the scenario of a run describes the radio, so that it can be simulated.
#[must_use]
pub fn is_described(plan: &Plan) -> bool {
    let plan = Document::from_json(&plan.to_json());
    plan.resolve_for(Environment::Simulate).is_ok()
}

/// True if all workloads are probes, or transfers in phases without a goal, and if there are both. `netburn scenarios measure`
/// writes such scenarios. The download of a user has no end, or it has a goal.
fn measures(plan: &Plan) -> bool {
    let workloads = || plan.stations.iter().flat_map(|station| &station.workloads);
    let is_probe = |one: &StationWorkload| matches!(one.config.settings, KindSettings::Probe(_));
    let is_phase = |one: &StationWorkload| {
        matches!(one.config.settings, KindSettings::Bulk(_))
            && one.config.goals.is_empty()
            && one.config.activity.stop.is_some()
            && one.config.activity.repeat.is_none()
    };
    workloads().all(|one| is_probe(one) || is_phase(one)) && workloads().any(is_probe) && workloads().any(is_phase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(workloads: &str) -> Plan {
        let text = format!(
            "duration = \"20 s\"\n[station.laptop]\nworkload = [\"one\", \"two\"]\n{workloads}\n\
             [workload.two]\nkind = \"probe\"\ntarget = \"server\"\ninterval = \"50 ms\"\n"
        );
        let document = Document::from_toml("plan", &text).unwrap();
        document.resolve_for(Environment::Fleet).unwrap().0
    }

    #[test]
    fn a_measurement_has_phases_without_goals_and_probes() {
        let phase = "[workload.one]\nkind = \"download\"\nstart = \"5 s\"\nstop = \"9 s\"\ngoal = \"none\"";
        assert!(measures(&plan(phase)));
        assert!(measures(&plan(&phase.replace("download", "upload"))));
        let others = [
            // The download of a user: it lasts as long as the run, or it repeats.
            phase.replace("stop = \"9 s\"\n", ""),
            format!("{phase}\nrepeat = \"10 s\""),
            phase.replace("\"none\"", "\"10 Mbit/s\""),
            "[workload.one]\nkind = \"voice\"".to_owned(),
            // Probes only.
            "[workload.one]\nkind = \"probe\"\ntarget = \"near\"\ninterval = \"50 ms\"".to_owned(),
        ];
        for other in others {
            assert!(!measures(&plan(&other)), "{other}");
        }
        let mut without_probes = plan(phase);
        without_probes.stations[0].workloads.pop();
        assert!(!measures(&without_probes));
    }
}
