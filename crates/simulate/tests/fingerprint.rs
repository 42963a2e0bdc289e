//! Digests of whole runs: a change of a model, of a random stream or of the order of events changes them.
//!
//! A commit that changes a digest names the reason. An optimisation leaves all unchanged.

#[path = "../examples/fingerprint.rs"]
#[expect(dead_code, reason = "its main function is for the command line")]
mod example;

use example::{Fingerprint, fingerprint};
use netburn_scenario::{built_in_scenarios, load};

/// Ten seconds of each built-in scenario: operations, airtime rows of the load, packets sent, rows, and the
/// digest of the rows. By hand:
///
/// - Airtime rows: one for each station and 100 ms, also for wired stations and before their start. That is 100 for each
///   station: 400 for the four of `four-uses`.
/// - Operations of `small-queues-pci`: one upload, and a probe every 50 ms. There are 60 probes in the `baseline` of 3 s
///   and 200 in the load.
const EXPECTED: &str = "\
anomaly 783 300 73544 2706 273753c780bd7ef8
archer-c7-one-ssid 333 400 231726 4050 4e29d839d1490410
archer-c7-split 351 400 140519 2453 e92cd8f8512e97d1
archer-c7-steered 333 400 231726 4050 4e29d839d1490410
boost 273 400 130841 2740 5ef84e1281aa5ff0
call-and-download 1121 200 64150 2064 63dc7b8c3b44407b
evening-at-home 2548 400 48443 4373 a8af849a12efaf57
four-uses 351 400 695629 2415 0b71e5e2e302b587
patch-under-test 5982 700 4850355 9475 d21d9a9e8c11b5f2
penalty-box 357 400 38732 2547 010385cbb4d2e177
ping-pong 136 100 1270 712 06cc2a786687875a
relay-chain 198 200 91632 2010 e89b2b4f2460df40
scan-during-call 226 200 24503 1337 ee14bbc77b40ae13
sleeping-phone 218 300 199176 1587 b8be3e98fb282889
slow-neighbour 464 200 30165 1626 034ca1c85ab41120
slow-neighbour-both 522 200 74672 1809 e90710c094c9f729
small-queues-pci 261 100 85054 908 dba82c72369df530
small-queues-usb 261 100 89399 908 28f400cd231f64f3
sticky-neighbour 352 400 157501 2789 5a13eb328946f56e
three-unit-house 258 300 402800 2129 4d3ca2176548a6b0
two-clients 524 200 94099 2707 b427c4a7911b8cdd
walk-with-a-call 263 300 9904 1241 230eaf6d211d6358
";

#[test]
fn runs_of_the_built_in_scenarios_are_unchanged() {
    let mut table = String::new();
    for (name, _) in built_in_scenarios() {
        let mut document = load(name).unwrap();
        document.set("duration", "10 s").unwrap();
        // By default the tablet starts after the ten seconds.
        if *name == "slow-neighbour" {
            document.set("station.tablet.start", "3 s").unwrap();
        }
        let Fingerprint {
            digest,
            rows,
            packets,
            operations,
            air,
        } = fingerprint(&document);
        table += &format!("{name} {operations} {air} {packets} {rows} {digest:016x}\n");
    }
    assert!(table == EXPECTED, "{table}");
}
