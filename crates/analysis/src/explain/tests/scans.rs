//! Scans of stations that miss no goal.

use super::*;

const PLAN: &str = "duration = \"40 s\"\n[station.phone]\nworkload = \"ping\"\n[workload.ping]\nkind = \"probe\"\ninterval = \"20 ms\"\n";
/// A scan of 80 ms in each 800 ms.
const PERIOD: i64 = 800;
const SCAN: i64 = 80;

/// Probes each 20 ms that take `delay(due)` ms.
fn probes(delay: impl Fn(i64) -> i64) -> Vec<Row> {
    (0..2_000)
        .map(|n| operation(0, 0, n * 20, delay(n * 20) as u64))
        .collect()
}

/// Delay in ms with scans at the begin of each period: what waits arrives at their end.
fn scanning(due: i64) -> i64 {
    let within = due % PERIOD;
    if within < SCAN { SCAN - within + 2 } else { 2 }
}

/// Reports of the scans by the driver.
fn events() -> impl Iterator<Item = Row> {
    (0..40_000 / PERIOD).map(|n| {
        Row::Event(EventRow {
            station: Some(0),
            workload: None,
            at: Instant::from_millis(n * PERIOD),
            length: SCAN as u64 * 1_000_000,
            kind: EventKind::Scan,
            detail: "scanned".to_owned().into(),
        })
    })
}

fn causes_with(rows: Vec<Row>) -> Vec<Cause> {
    explained(PLAN, &rows, &[]).causes
}

/// A tenth of the probes waits for up to 82 ms, so the 95th percentile is about half of it. No goal is missed.
#[test]
fn scans_that_delay_a_probe_are_notable_without_a_missed_goal() {
    let mut reported = probes(scanning);
    reported.extend(events());
    for rows in [reported, probes(scanning)] {
        let causes = causes_with(rows);
        assert_eq!(kinds(&causes), [Kind::Scans], "{causes:#?}");
        assert_eq!(causes[0].severity, Severity::Notable);
        assert_eq!(causes[0].stations, ["phone"]);
    }
    let causes = causes_with(probes(scanning));
    assert!(
        causes[0].evidence.starts_with("Each 800 ms nothing arrived at phone"),
        "{causes:#?}"
    );
}

#[test]
fn other_delays_are_no_scans() {
    // Scans that delay nothing.
    let mut quiet = probes(|_| 2);
    quiet.extend(events());
    assert_eq!(causes_with(quiet), []);
    // The delays are as high at other times: each fifth probe, at any phase of the scans.
    let mut busy = probes(|due| if due / 20 % 5 == 0 { 60 } else { 2 });
    busy.extend(events());
    assert_eq!(causes_with(busy), []);
    // A queue fills and empties.
    assert_eq!(causes_with(probes(|due| 2 + due % PERIOD / 16)), []);
    // A device that dozes waits for the beacons (102.4 ms), and wakes for its own packets at times.
    let dozing = |due: i64| {
        let left = 1_024 - due * 10 % 1_024;
        if due / 800 % 4 == 0 { left / 10 + 2 } else { 2 }
    };
    assert_eq!(causes_with(probes(dozing)), []);
    // 12 ms are less than people notice.
    assert_eq!(causes_with(probes(|due| if due % PERIOD < SCAN { 14 } else { 2 })), []);
}
