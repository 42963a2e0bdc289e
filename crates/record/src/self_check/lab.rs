//! Limits of the lab's health report.

use super::{CPU, MACHINE_BUSY, above, exceeded, exceeds, reaching};
use crate::lab_health::LabHealth;
use crate::quality_issue::{QualityIssue, Quantity};
use netburn_scenario::Plan;
use netburn_units::Duration;

/// Limit of the 99th percentile of a lab's delivery delay, in µs. A round trip has two deliveries;
/// on an idle channel it takes a millisecond.
pub const LAB_LATENESS_US: f64 = 500.0;
/// Limit of the share of time in which the forwarding thread stands still. It equals the share of
/// delayed packets; a pass allows 1 % of goal misses.
pub const STANDSTILL_SHARE: f64 = 0.01;
/// Limit of the machine's time that the hypervisor takes. It takes pieces of milliseconds, in which
/// no process runs.
pub const STEAL: f64 = 0.02;

/// Shorter suspensions cannot be distinguished from the time between two readings of clocks, in µs.
const SUSPENDED_US: f64 = 10_000.0;

/// The part of the strictest latency goal that a standstill may take.
const PART: u64 = 10;
/// Standstill limit without a latency goal: 1 % of the 2 s over which rates are judged.
pub const WITHOUT_GOAL: Duration = Duration::from_millis(20);
/// Lower bound of the standstill limit, and the limit without known goals. A machine with other
/// tasks has standstills of a few milliseconds.
pub const DEFAULT_STANDSTILL_LIMIT: Duration = Duration::from_millis(10);
/// Upper bound of the standstill limit: longer standstills are visible in any latency measurement.
pub const MAX_STANDSTILL_LIMIT: Duration = Duration::from_millis(50);

/// Longest tolerated standstill: a tenth of the plan's strictest latency goal, between 10 ms and 50
/// ms; 20 ms without a latency goal.
///
/// A standstill delays every running operation by up to its own length. Below a tenth of the goal,
/// it changes the result only for operations that took more than nine tenths of the goal anyway.
#[must_use]
pub fn standstill_limit(plan: &Plan) -> Duration {
    let workloads = plan.stations.iter().flat_map(|station| &station.workloads);
    let strictest = workloads.filter_map(|workload| workload.config.latency_limit()).min();
    strictest.map_or(WITHOUT_GOAL, |goal| {
        (goal / PART).clamp(DEFAULT_STANDSTILL_LIMIT, MAX_STANDSTILL_LIMIT)
    })
}

/// Reasons for which a lab's results are unreliable; empty if the check passes.
/// `limit` is the [limit](standstill_limit) of a standstill.
#[must_use]
pub fn lab_reasons(health: &LabHealth, limit: Duration) -> Vec<QualityIssue> {
    let mut reasons = Vec::new();
    let lab = String::new;
    reasons.extend(above(
        Quantity::LabDeliveryDelay,
        lab(),
        health.lateness_us_p99,
        LAB_LATENESS_US,
    ));
    let limit_us = limit.as_nanos() as f64 / 1e3;
    if exceeds(health.standstill_us_max, limit_us) {
        reasons.push(QualityIssue::Standstill {
            who: "the lab".to_owned(),
            count: health.standstills,
            longest_us: health.standstill_us_max,
            total_us: health.standstill_us_total,
            limit: limit_us,
        });
    } else {
        reasons.extend(above(Quantity::LabPacketLate, lab(), health.lateness_us_max, limit_us));
    }
    // In a lab that ran for 0.1 s, a standstill of 1 ms is 1 %.
    if health.standstill_us_total > limit_us {
        let share = health.standstill_us_total / health.span_us.max(1.0);
        reasons.extend(above(Quantity::StandstillShare, lab(), share, STANDSTILL_SHARE));
    }
    if exceeds(health.suspended_us, SUSPENDED_US) {
        reasons.push(exceeded(Quantity::MachineSuspended, lab(), health.suspended_us, 0.0));
    }
    for stopped in &health.stopped {
        reasons.push(QualityIssue::ProgramStopped {
            program: stopped.program.clone(),
            station: stopped.station.clone(),
            us: stopped.us,
        });
    }
    reasons.extend(above(Quantity::LabPacketsDropped, lab(), health.ring_drops as f64, 0.0));
    reasons.extend(above(Quantity::LabFramesFailed, lab(), health.write_errors as f64, 0.0));
    reasons.extend(above(Quantity::HypervisorSteal, lab(), health.steal, STEAL));
    reasons.extend(reaching(
        Quantity::LabMachineBusy,
        lab(),
        health.machine_busy,
        MACHINE_BUSY,
    ));
    reasons.extend(reaching(
        Quantity::ProcessorBusy,
        "packet forwarding".to_owned(),
        health.cpu,
        CPU,
    ));
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab_health::Stopped;

    /// A minute without a fault.
    fn sound() -> LabHealth {
        LabHealth {
            span_us: 60e6,
            real_time: true,
            lateness_us_p50: 20.0,
            lateness_us_p99: 195.0,
            lateness_us_max: 900.0,
            lateness_count: 10_000,
            standstill_us_max: 900.0,
            standstill_us_total: 900.0,
            standstills: 1,
            cpu: 0.3,
            machine_busy: 0.6,
            ..LabHealth::default()
        }
    }

    #[test]
    fn each_limit_has_its_message() {
        type Change = fn(&mut LabHealth);
        let table: &[(Change, &[&str])] = &[
            (|_| (), &[]),
            (|h| h.lateness_us_p99 = 500.0, &[]),
            (
                |h| h.lateness_us_p99 = 3_670.0,
                &["the lab delivered packets 3.67 ms late at p99; the limit is 0.5 ms"],
            ),
            (|h| h.standstill_us_max = 15_000.0, &[]),
            (
                |h| h.standstill_us_max = 15_001.0,
                &["the lab had a standstill of 15.001 ms; the limit is 15 ms"],
            ),
            (
                |h| (h.standstill_us_max, h.standstill_us_total) = (1.2e6, 1.2e6),
                &[
                    "the lab had a standstill of 1.2 s; the limit is 15 ms",
                    "standstills of the lab took 2 % of the time; the limit is 1 %",
                ],
            ),
            (
                |h| (h.standstill_us_max, h.standstill_us_total, h.standstills) = (98_000.0, 393_000.0, 4),
                &["the lab had 4 standstills, the longest of 98 ms, 393 ms in total; the limit is 15 ms"],
            ),
            (|h| (h.span_us, h.standstill_us_total) = (100_000.0, 15_000.0), &[]),
            (|h| h.standstill_us_total = 600_000.0, &[]),
            (
                |h| h.standstill_us_total = 601_000.0,
                &["standstills of the lab took 1.002 % of the time; the limit is 1 %"],
            ),
            (
                |h| h.lateness_us_max = 16_000.0,
                &["the lab delivered a packet 16 ms late; the limit is 15 ms"],
            ),
            (|h| h.suspended_us = 9_000.0, &[]),
            (
                |h| h.suspended_us = 31.5e6,
                &["the machine was suspended for 31.5 s; the limit is 0"],
            ),
            (
                |h| {
                    h.stopped.push(Stopped {
                        station: "a".into(),
                        program: "iperf3".into(),
                        us: 1.2e6,
                    });
                },
                &["a signal stopped iperf3 at a for 1.2 s; the limit is 0"],
            ),
            (
                |h| h.ring_drops = 3,
                &["the kernel dropped 3 packets before the lab could read them; the limit is 0"],
            ),
            (
                |h| h.write_errors = 2,
                &["the lab could not deliver 2 frames; the limit is 0"],
            ),
            (|h| h.steal = 0.02, &[]),
            (
                |h| h.steal = 0.03,
                &["the hypervisor took 3 % of the machine's time; the limit is 2 %"],
            ),
            (|h| h.machine_busy = 0.979, &[]),
            (
                |h| h.machine_busy = 0.98,
                &["the machine was 98 % busy while the lab ran; the limit is 98 %"],
            ),
            (
                |h| h.machine_busy = 0.980_04,
                &["the machine was 98.004 % busy while the lab ran; the limit is 98 %"],
            ),
            (|h| h.cpu = 0.949, &[]),
            (
                |h| h.cpu = 0.95,
                &["packet forwarding used 95 % of one core; the limit is 95 %"],
            ),
            (
                |h| h.cpu = f64::NAN,
                &["packet forwarding used NaN % of one core; the limit is 95 %"],
            ),
        ];
        for (change, expected) in table {
            let mut health = sound();
            change(&mut health);
            let reasons = lab_reasons(&health, Duration::from_millis(15));
            assert_eq!(reasons.iter().map(ToString::to_string).collect::<Vec<_>>(), *expected);
        }
    }

    #[test]
    fn the_limit_follows_the_strictest_goal() {
        let limit = |workloads: &str| {
            let text = format!(
                "duration = \"9 s\"\n[station.a]\nworkload = [{workloads}]\n[station.b]\nworkload = \"download\"\n"
            );
            let document = netburn_scenario::Document::from_toml("t.toml", &text).unwrap();
            standstill_limit(&document.resolve_for(netburn_scenario::Environment::Local).unwrap().0).as_nanos()
                / 1_000_000
        };
        // Goals of 150 ms and 500 ms; a rate over 2 s; none at all.
        assert_eq!(limit("\"voip\", \"browsing\""), 15);
        assert_eq!(limit("\"browsing\""), 50);
        assert_eq!(limit("\"4kstream\""), 20);
        assert_eq!(limit("\"upload\""), 20);
    }
}
