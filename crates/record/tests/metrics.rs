//! Laws of the catalogue of metrics.

use netburn_record::metrics::{Quantity, Table, Unit, run_quantities, station_quantities, workload_quantities};
use std::collections::{BTreeMap, BTreeSet};

/// The unit is in the name, as in stored columns. Rates, shares and times of one name have one unit.
#[test]
fn names_end_with_their_unit() {
    let all = run_quantities()
        .chain(station_quantities())
        .chain(workload_quantities());
    for Quantity { name, unit, .. } in all {
        let suffix = match unit {
            Unit::Ms => "_ms",
            Unit::Mbps => "_mbps",
            _ => "",
        };
        assert!(name.ends_with(suffix), "{name}");
        assert!(!name.ends_with("_ms") || *unit == Unit::Ms, "{name}");
        assert!(!name.ends_with("_mbps") || *unit == Unit::Mbps, "{name}");
        assert!(!name.ends_with("_share") || *unit == Unit::Share, "{name}");
    }
}

/// Kinds of workload that measure the same use one name, each with a path of its own.
#[test]
fn paths_are_unique_and_one_name_has_one_unit() {
    let levels: [Vec<&Quantity>; 3] = [
        run_quantities().collect(),
        station_quantities().collect(),
        workload_quantities().collect(),
    ];
    for level in levels {
        let paths: BTreeSet<&str> = level.iter().map(|quantity| quantity.path).collect();
        assert_eq!(paths.len(), level.len());
        let mut units = BTreeMap::new();
        for quantity in level {
            assert_eq!(
                *units.entry(quantity.name).or_insert(quantity.unit),
                quantity.unit,
                "{}",
                quantity.name
            );
        }
    }
}

/// Kinds of workload that measure the same can share a column of a table.
#[test]
fn a_column_of_a_table_has_one_unit() {
    for table in [Table::Stations, Table::Workloads, Table::Markdown, Table::Sweep] {
        let mut units = BTreeMap::new();
        for quantity in station_quantities().chain(workload_quantities()) {
            if let Some(heading) = quantity.heading(table) {
                assert_eq!(
                    *units.entry(heading).or_insert(quantity.unit),
                    quantity.unit,
                    "{heading}"
                );
            }
        }
        assert!(!units.is_empty(), "{table:?}");
    }
}

/// Validation cases, sweeps and their files contain these names, so they stay.
#[test]
fn names_in_files_of_users_are_known() {
    let names: BTreeSet<&str> = workload_quantities().map(|quantity| quantity.name).collect();
    for name in [
        "verdict",
        "throughput_mbps",
        "operations",
        "goal_misses",
        "failures",
        "min_ms",
        "p50_ms",
        "p75_ms",
        "p90_ms",
        "p95_ms",
        "p99_ms",
        "max_ms",
        "met",
        "excess",
        "stalls",
        "stalled_ms",
        "bit_rate_mbps",
        "at_highest_share",
        "switches",
        "lost_share",
        "missed_frames_share",
        "round_trip_p50_ms",
        "round_trip_p95_ms",
        "qoo",
        "delay_up_p50_ms",
        "delay_down_p95_ms",
        "lost_up_share",
        "freezes_up",
        "frozen_down_share",
        "rate_up_mbps",
        "at_target_up_share",
        "rpm",
        "foreign_rpm",
        "loaded_rpm",
        "p90_rpm",
        "lost_probes",
        "rating_up",
        "rating_down",
    ] {
        assert!(names.contains(name), "{name}");
    }
    for name in [
        "totals.throughput_mbps",
        "totals.airtime_jain",
        "throughput_mbps",
        "worst_p95_ms",
    ] {
        assert!(run_quantities().any(|quantity| quantity.is_named(name)), "{name}");
    }
    for name in ["idle_ms", "idle_latency_ms", "airtime_share"] {
        assert!(station_quantities().any(|quantity| quantity.is_named(name)), "{name}");
    }
}
