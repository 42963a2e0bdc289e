//! Shorter plans for the same question.

use netburn_scenario::Plan;
use netburn_units::Duration;
use netburn_workload::config::Activity;

/// Loads after the warm-up, the shortest first. The windows of a call's goal are 10 s long.
const LOADS: [Duration; 2] = [Duration::from_secs(12), Duration::from_secs(48)];
/// Load before the first load, in which the idle round trip is measured.
const BASELINE: Duration = Duration::from_secs(1);

/// The plan with less load, the shortest first. None if something in it depends on the time, or if it is short already.
pub(super) fn shorter(plan: &Plan) -> Vec<Plan> {
    if depends_on_time(plan) {
        return Vec::new();
    }
    let durations = LOADS.map(|load| plan.warmup + load).into_iter();
    let shorter = durations.filter(|duration| plan.duration > *duration + *duration / 4);
    let shorten = |duration| Plan {
        duration,
        baseline: plan.baseline.min(BASELINE),
        ..plan.clone()
    };
    shorter.map(shorten).collect()
}

fn depends_on_time(plan: &Plan) -> bool {
    let varies = plan
        .wans()
        .any(|wan| wan.trace_down.is_some() || wan.trace_up.is_some() || !wan.outages.is_empty());
    let scans = plan
        .aps
        .iter()
        .any(|ap| ap.scan_interval.is_some_and(|interval| interval > LOADS[0] / 4));
    let stations = plan.stations.iter().any(|station| {
        !station.start.is_zero()
            || station.stop.is_some()
            || station.air.path.len() > 1
            || !station.air.signals.is_empty()
            || station.air.roaming.is_some()
            || station.workloads.iter().any(|workload| {
                workload.config.activity != Activity::default() || workload.config.responsiveness().is_some()
            })
    });
    !plan.changes.is_empty() || !plan.meshes.is_empty() || varies || scans || stations
}
