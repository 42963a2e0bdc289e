//! The built-in scenarios on power save and scans.

use netburn_dev::experiment::{Formula, Grid};

fn measure(scenario: &str, key: &str, value: &str, metric: &str) -> f64 {
    let mut grid = Grid::new(scenario);
    grid.set.push((key.to_owned(), value.to_owned()));
    let runs = grid.run(1).unwrap();
    Formula::parse(metric).unwrap().evaluate(&runs, &[])
}

/// The reply comes after 150 ms, when the phone has dozed for 50 ms. It waits for a beacon, 51 ms on
/// average. The standard error of the median of 60 uniform values over 102.4 ms is 102.4 / 2√62 = 6.5 ms.
/// The median without power save is that of the path.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn replies_wait_for_a_beacon() {
    let [off, legacy] = ["off", "legacy"].map(|power_save| {
        let metric = "station.phone.messages.p50_ms";
        measure("sleeping-phone", "station.phone.power_save", power_save, metric)
    });
    assert!((150.0..152.0).contains(&off), "{off} ms");
    let added = legacy - off;
    assert!((31.0..=71.0).contains(&added), "{added} ms");
}

/// With traffic, the longest absence is that on a passive channel, 111 ms (mac80211). A piece of the call
/// that is due at its start waits for all of it. There are three scans of 16 such channels, with a piece
/// each 131 ms, so some come early in one. Without scans no piece waits as long as one active channel takes.
#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn a_call_waits_for_the_longest_absence() {
    let metric = "station.laptop.voip.max_ms";
    let with = measure(
        "scan-during-call",
        "station.laptop.roaming.scan_interval",
        "20 s",
        metric,
    );
    let without = measure("scan-during-call", "station.laptop.roaming", "never", metric);
    assert!((100.0..=121.0).contains(&with), "{with} ms");
    assert!(without < 60.0, "{without} ms");
}
