//! Digests of whole runs: a change of a model, of a random stream or of the order of events changes them.
//!
//! A commit that changes a digest names the reason. An optimisation leaves all unchanged.

#[path = "../examples/fingerprint.rs"]
#[expect(dead_code, reason = "its main function is for the command line")]
mod example;

use example::{Fingerprint, fingerprint};
use netburn_scenario::{Document, built_in_scenarios, load};

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
archer-c7-one-ssid 351 400 221874 3498 bae5cd22025810f7
archer-c7-split 351 400 146289 2392 13478693a9bb65cd
archer-c7-steered 351 400 221874 3498 bae5cd22025810f7
boost 273 400 130841 2740 5ef84e1281aa5ff0
call-and-download 1121 200 65976 2065 ba1343fd65059829
evening-at-home 2149 400 51176 3977 68fc9b54494f6e4b
four-uses 351 400 754915 2408 6f39e4216513d0d5
iptv-over-wifi 412 300 28586 2037 531581197a212a16
patch-under-test 5982 700 4917703 9474 b1326b495dc9cac3
penalty-box 357 400 38732 2547 010385cbb4d2e177
ping-pong 136 100 1229 712 fb3297b47e1d64ac
relay-chain 198 200 103762 2143 27c49565d8f4ebfa
rpm-beside-download 221 200 25731 1250 53cc44e88b35db78
rrul 308 100 400743 3560 09d23a8491a0fe03
rrul-be 308 100 495135 4120 6020f42bacfeb9d6
rrul-house 608 400 252393 4869 5f9c48d6f4c701ea
scan-during-call 226 200 24290 1332 b97c4f07734cb194
sleeping-phone 218 300 214815 1579 0174f740a26d7ebb
slow-neighbour 464 200 30165 1626 034ca1c85ab41120
slow-neighbour-both 522 200 74672 1809 e90710c094c9f729
small-queues-pci 261 100 85054 908 dba82c72369df530
small-queues-usb 261 100 89399 908 28f400cd231f64f3
square-wave 152 100 529055 1120 026419e3ffa0e83c
sticky-neighbour 352 400 170504 2826 e9c2220bc4172c0c
tcp-8down 158 100 470528 2920 835117d7af4c588b
tcp-8up 158 100 552837 2920 74efe02e29285ae4
three-unit-house 258 300 461901 2129 daaba35348c9b1e4
tr398-like-airtime-fairness 231 200 517755 1478 f066abf33a359d90
tr398-like-bidirectional 262 100 1393803 1358 38f23a6bf373c590
tr398-like-latency 504 500 1189806 2359 81819bae8dded160
tr398-like-several-stations 549 900 862637 6366 b57a7e5fa3ee269b
tr398-like-throughput 262 100 1214058 909 bf270963e2d477d5
two-clients 524 200 94099 2707 b427c4a7911b8cdd
voip-rrul 1157 100 496114 4170 fafe15dcd4948137
walk-with-a-call 263 300 9211 1240 f006db819673c08c
wifi-or-line 841 200 90096 1684 64d7e8808bd17925
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

/// The link from the server changes while packets wait for it: its rate, its delay, and then its loss or its queue. The
/// digests are those of a link in which each end of a serialisation was an event of its own, and nothing was planned.
#[test]
fn a_link_that_changes_is_unchanged() {
    let changed = |last: &str| {
        let text = format!(
            "[server.link]\nrate = \"50 Mbit/s\"\ndelay = \"10 ms\"\n[ap.home.radio.5g]\n\
             [station.a]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"download\"\n\
             [station.b]\njoins = \"home.5g\"\nsignal = \"-55 dBm\"\nworkload = \"download\"\n\
             [[at]]\ntime = \"3 s\"\nset = {{ \"server.link.rate\" = \"10 Mbit/s\" }}\n\
             [[at]]\ntime = \"6 s\"\nset = {{ \"server.link.rate\" = \"80 Mbit/s\", \"server.link.delay\" = \"3 ms\" }}\n\
             [[at]]\ntime = \"8 s\"\nset = {{ {last} }}\n"
        );
        let mut document = Document::from_toml("changing", &text).unwrap();
        document.set("duration", "10 s").unwrap();
        let found = fingerprint(&document);
        (found.digest, found.packets)
    };
    assert_eq!(
        changed("\"server.link.loss\" = \"1 %\""),
        (0xdf21_c7e1_1059_0d38, 68_709)
    );
    assert_eq!(
        changed("\"server.link.queue\" = \"20 kB\""),
        (0x8452_9213_7529_34d7, 97_816)
    );
}
