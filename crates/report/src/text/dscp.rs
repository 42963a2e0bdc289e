//! Lines about packets whose DSCP the path changed.

use crate::sanitise::sanitise;
use netburn_analysis::format::percent;
use netburn_record::summary::{StationSummary, WorkloadSummary};
use netburn_record::{DscpArrivals, DscpChange, DscpTreatment, Summary};
use netburn_units::{Dscp, DscpMapping};
use netburn_workload::Direction;

/// `phone, call: packets marked EF (46) arrived …`, for each direction of each workload whose marks were changed.
pub(crate) fn lines(summary: &Summary) -> Vec<String> {
    let stations = summary.stations.iter();
    let workloads = stations.flat_map(|station| station.workloads.iter().map(move |workload| (station, workload)));
    workloads
        .flat_map(|(station, workload)| changes(station, workload))
        .collect()
}

fn changes<'a>(station: &'a StationSummary, workload: &'a WorkloadSummary) -> impl Iterator<Item = String> + 'a {
    let name = format!("{}, {}", sanitise(&station.name), sanitise(&workload.name));
    let changed = workload.dscp.iter();
    changed.filter_map(move |arrivals| Some(format!("{name}: {}", sentence(arrivals, arrivals.change()?))))
}

fn sentence(arrivals: &DscpArrivals, change: DscpChange) -> String {
    let (sent, DscpChange { to, packets, of }) = (arrivals.sent, change);
    let marked = if sent == Dscp::default() {
        "unmarked packets".to_owned()
    } else {
        format!("packets marked {sent}")
    };
    let which = if packets == of {
        marked
    } else {
        format!("{} of the {marked}", percent(packets as f64 / of as f64))
    };
    let at = match arrivals.direction {
        Direction::Up => "server",
        Direction::Down => "station",
    };
    let cause = match change.treatment(sent) {
        DscpTreatment::Cleared => "cleared the DSCP",
        DscpTreatment::UpperBitsCleared => "cleared the upper three bits of the DSCP",
        DscpTreatment::Replaced => "set another DSCP",
    };
    let (before, after) = (access_category(sent), access_category(to));
    let effect = if before == after {
        String::new()
    } else {
        format!(" From there on, WMM sends them as {after} instead of {before}.")
    };
    format!("{which} arrived at the {at} as {to}: the path {cause}.{effect}")
}

/// Access category of 802.11-2020 table 10-1 for packets with this DSCP.
fn access_category(dscp: Dscp) -> &'static str {
    match DscpMapping::default().user_priority(dscp.value()) {
        1 | 2 => "background",
        4 | 5 => "video",
        6 | 7 => "voice",
        _ => "best effort",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines_of(direction: &str, sent: u8, arrived: serde_json::Value) -> Vec<String> {
        let workload = json!({ "name": "call", "kind": "voice", "verdict": "none", "provisional": false, "operations": 0,
            "goal_misses": 0, "failures": 0, "unfinished": 0, "throughput_mbps": 0.0, "latency_ms": { "count": 0 },
            "goals": [], "dscp": [{ "direction": direction, "sent": sent, "arrived": arrived }] });
        let station = json!({ "name": "phone\u{1b}", "verdict": "none", "throughput_mbps": 0.0, "airtime_share": null,
            "idle_latency_ms": null, "workloads": [workload] });
        let summary = json!({ "schema": netburn_record::summary::SCHEMA, "run": "runs/x", "scenario": "x",
            "environment": "fleet", "seed": 1, "duration_s": 1.0, "verdict": "none", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p50": 0.0, "p99": 0.0, "max": 0.0 }, "missed_sends": 0,
                            "cpu_saturated": false, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null }, "stations": [station], "repeats": [],
            "intervals": {} });
        lines(&serde_json::from_value(summary).unwrap())
    }

    /// RFC 8325: EF has user priority 6 (voice), CS0 has 0 (best effort). 6 has no class of service: its upper three bits
    /// are 0. AF41 (34) and CS5 (40) are both video.
    #[test]
    fn a_changed_mark_is_a_sentence_with_its_effect() {
        let lost = lines_of("up", 46, json!({ "0": 10 }));
        assert_eq!(lost.len(), 1);
        assert!(!lost[0].contains('\u{1b}'));
        let sentence = ", call: packets marked EF (46) arrived at the server as CS0 (0): the path cleared the DSCP. \
                        From there on, WMM sends them as best effort instead of voice.";
        assert!(lost[0].ends_with(sentence), "{lost:?}");
        let bleached = lines_of("down", 46, json!({ "6": 10 }));
        let sentence = "arrived at the station as 6: the path cleared the upper three bits of the DSCP. \
                        From there on, WMM sends them as best effort instead of voice.";
        assert!(bleached[0].ends_with(sentence), "{bleached:?}");
        let replaced = lines_of("up", 34, json!({ "34": 30, "40": 10 }));
        let sentence = ", call: 25 % of the packets marked AF41 (34) arrived at the server as CS5 (40): \
                        the path set another DSCP.";
        assert!(replaced[0].ends_with(sentence), "{replaced:?}");
        let marked = lines_of("up", 0, json!({ "8": 10 }));
        assert!(
            marked[0].contains(": unmarked packets arrived at the server as CS1 (8): "),
            "{marked:?}"
        );
        assert_eq!(lines_of("up", 46, json!({ "46": 10 })), [""; 0]);
    }
}
