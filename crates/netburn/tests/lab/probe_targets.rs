//! Probes to the modelled access point and to the first hop beyond the router, by the kernel's ICMP. Needs namespaces.

use crate::support::{Bench, finish};
use serde_json::Value;

/// A line of 20/5 Mbit/s whose queue holds 200 ms downstream. The server is 20 ms beyond it.
const LINE: &str = r#"
duration = "8 s"
warmup   = "3 s"
baseline = "2 s"
[server.link]
delay = "10 ms"
[ap.home]
queue = "airtime"
wan = { down = "20 Mbit/s", up = "5 Mbit/s", delay = "5 ms", queue = "500 kB" }
[ap.home.radio.5g]
standard = "802.11ac"
width    = "80 MHz"
[workload.near]
kind   = "probe"
target = "near"
[workload.line]
kind   = "probe"
target = "line"
[station.phone]
joins    = "home.5g"
mcs      = 7
workload = ["near", "line", "probe"]
[station.laptop]
joins    = "home.5g"
mcs      = 7
workload = "download"
"#;

/// Idle: the line has 2 × 5 ms, the path beyond it 2 × 10 ms. CUBIC keeps the queue above 0.7 × (205 + 30) − 30 ms.
#[test]
fn the_hosts_on_the_way_answer_in_the_lab() {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    let ended = finish(bench.netburn(["run", "line.toml", "--on", "lab", "--out", "saved", "--format", "json"]));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let summary: Value = serde_json::from_str(&ended.out()).unwrap();
    let split = &summary["stations"][0]["split"];
    let value = |part: &str, name: &str| {
        let value = split[part][name].as_f64();
        value.unwrap_or_else(|| panic!("{part}.{name} in {split}"))
    };
    let within = |found: f64, low: f64, high: f64| assert!((low..high).contains(&found), "{found} in {split}");
    // No packet is earlier than the model permits. On a machine that is too busy packets are late, and the self-check
    // reports it.
    let most = |value: f64| if ended.code() == 0 { value } else { f64::INFINITY };
    within(value("wifi", "idle_ms"), 0.1, most(5.0));
    if ended.code() == 0 {
        within(value("line", "idle_ms"), 9.0, 14.0);
        within(value("server", "idle_ms"), 17.0, 24.0);
        within(value("line", "p50_ms") - value("line", "idle_ms"), 100.0, 215.0);
        within(value("server", "p50_ms"), 15.0, 30.0);
    }
    within(value("wifi", "p50_ms"), 0.1, most(25.0));
    // Nearly all probes were answered.
    for workload in summary["stations"][0]["workloads"].as_array().unwrap() {
        let lost = workload["probe"]["lost_share"].as_f64().unwrap();
        assert!(lost < if ended.code() == 0 { 0.1 } else { 1.0 }, "{workload}");
    }
    assert_eq!(summary["stations"][0]["workloads"][0]["probe"]["target"], "near");
}
