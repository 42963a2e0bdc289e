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
/// - Operations of `tr398-like-several-stations`: nine downloads, and 60 probes of each of the nine stations in the
///   `baseline`: 549.
/// - Operations of `small-queues-pci`: one upload, and a probe every 50 ms. There are 60 probes in the `baseline` of 3 s
///   and 200 in the load.
/// - Operations of `wifi-or-line`: one download, and three probes of the phone: 3 × 200. Before the load the phone has 3 × 60
///   probes, and the laptop 60.
/// - Operations of `rpm-beside-download`: one download, and a foreign probe every 100 ms, which are 100 in the load. Both
///   stations have 60 probes in the `baseline` of 3 s: 221.
/// - Operations of `rrul`: eight bulk transfers, and four probes every 200 ms, which are 200 in the load. There are 100
///   idle probes in the `baseline` of 5 s.
const EXPECTED: &str = "\
anomaly 783 300 73544 2706 273753c780bd7ef8
archer-c7-one-ssid 333 400 231726 4050 4e29d839d1490410
archer-c7-split 351 400 140519 2453 e92cd8f8512e97d1
archer-c7-steered 333 400 231726 4050 4e29d839d1490410
boost 273 400 130841 2740 5ef84e1281aa5ff0
call-and-download 1121 200 64150 2064 63dc7b8c3b44407b
evening-at-home 2149 400 50612 3974 b8453b203e092e6a
four-uses 351 400 695629 2415 0b71e5e2e302b587
patch-under-test 5982 700 4850355 9475 d21d9a9e8c11b5f2
penalty-box 357 400 38732 2547 010385cbb4d2e177
ping-pong 136 100 1270 712 06cc2a786687875a
relay-chain 198 200 91632 2010 e89b2b4f2460df40
rpm-beside-download 221 200 25731 1251 53ede53fd2e5a53d
rrul 308 100 388637 3602 e286d27901e680ac
rrul-be 308 100 477278 4119 dac2eff86df16bca
rrul-house 608 400 200023 4908 505b1737d1dd375b
scan-during-call 226 200 24503 1337 ee14bbc77b40ae13
sleeping-phone 218 300 199176 1587 b8be3e98fb282889
slow-neighbour 464 200 30165 1626 034ca1c85ab41120
slow-neighbour-both 522 200 74672 1809 e90710c094c9f729
small-queues-pci 261 100 85054 908 dba82c72369df530
small-queues-usb 261 100 89399 908 28f400cd231f64f3
square-wave 152 100 497768 1120 94937c7cb47d283f
sticky-neighbour 352 400 157501 2789 5a13eb328946f56e
tcp-8down 158 100 438647 2920 114d8a12c3987c01
tcp-8up 158 100 510930 2920 018dadbadab99464
three-unit-house 258 300 402800 2129 4d3ca2176548a6b0
tr398-like-airtime-fairness 230 200 457238 1477 9a89a4929b6a53c6
tr398-like-bidirectional 262 100 1382100 1358 cf02791cd5a6af59
tr398-like-latency 504 500 1084893 2357 cd59c41711de390d
tr398-like-several-stations 549 900 712202 6346 7bc8b9cc72acf972
tr398-like-throughput 261 100 762744 864 241da03fbe3ce4d7
two-clients 524 200 94099 2707 b427c4a7911b8cdd
voip-rrul 1157 100 485600 4170 0ab4ad542720d3fa
walk-with-a-call 263 300 9904 1241 230eaf6d211d6358
wifi-or-line 841 200 89061 1683 997506923b668391
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
        // Likewise the desktop.
        if *name == "rpm-beside-download" {
            document.set("station.desktop.start", "5 s").unwrap();
        }
        // Likewise the second and the third load.
        if *name == "tr398-like-latency" {
            for (key, time) in [
                ("station.download.start", "1 s"),
                ("station.download.stop", "4 s"),
                ("station.upload.start", "5 s"),
                ("station.upload.stop", "7 s"),
                ("station.download-2.start", "8 s"),
                ("station.upload-2.start", "8 s"),
            ] {
                document.set(key, time).unwrap();
            }
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
