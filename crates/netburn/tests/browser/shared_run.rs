//! One run of agents, stations of a lab and a browser.

use crate::support::browser::Browser;
use crate::support::fleet::{Fleet, operations, summary, token};
use crate::support::{finish, start};

/// Two agents, two stations of a lab, and a browser.
const FIVE: &str = r#"
duration = "5 s"
baseline = "500 ms"
drain = "1 s"
[station.alpha]
workload = "voip"
[station.beta]
workload = "browsing"
[station.inside-1]
workload = "voip"
[station.inside-2]
workload = "voip"
[station.phone]
workload = "voip"
"#;

/// The lab of two of them.
const LAB: &str = r#"
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.inside-1]
joins = "home.5g"
signal = "-60 dBm"
workload = "voip"
[station.inside-2]
joins = "home.5g"
signal = "-60 dBm"
workload = "voip"
"#;

#[test]
fn agents_lab_stations_and_a_browser_share_one_run() {
    let fleet = Fleet::new();
    fleet.bench.write("five.toml", FIVE);
    fleet.bench.write("lab.toml", LAB);
    let (_alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let socket = fleet.bench.path("owner/fleet/controller.sock");
    let near = format!("unix:{}#{}", socket.display(), token(fleet.url()));
    let program = env!("CARGO_BIN_EXE_netburn");
    let join = |name: &'static str| -> Vec<String> {
        let words = [
            "--and", "--at", name, "--", program, "fleet", "join", &near, "--name", name, "--server", "server",
        ];
        words.map(str::to_owned).to_vec()
    };
    let secret = fleet.bench.path("owner/fleet/token").display().to_string();
    let serve = [
        "lab", "lab.toml", "--at", "server", "--", program, "serve", "--fleet", &secret,
    ]
    .map(str::to_owned);
    let words = [serve.to_vec(), join("inside-1"), join("inside-2")].concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut lab = start(fleet.with_state("lab", &words));
    lab.wait_for("the lab's stations to join", |lab| {
        lab.stderr_so_far().matches("is in the fleet").count() == 2
    });
    let browser = Browser::start(&fleet.bench);
    browser.open(fleet.url());
    browser.wait_for("Join");
    browser.write("#station-name", "phone");
    browser.click("form button");
    browser.wait_for("Waiting for a run");
    let ended = finish(fleet.command(&["run", "five.toml", "--on", "fleet", "--yes", "--format", "json"]));
    let found = summary(&ended);
    let kept = found["run"].as_str().unwrap().to_owned();
    let names: Vec<_> = found["stations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].clone())
        .collect();
    assert_eq!(names, ["alpha", "beta", "inside-1", "inside-2", "phone"]);
    for (name, fewest) in [("alpha", 36), ("inside-1", 36), ("inside-2", 36), ("phone", 30)] {
        // 38 are due in 5 s, one every 131 ms. The worker of a browser may be delayed on a busy machine.
        assert!(
            (fewest..=39).contains(&operations(&found, name)),
            "{name}: {found:#}\n{}\nin the lab:\n{}",
            ended.stderr,
            lab.stderr_so_far()
        );
    }
    assert!(operations(&found, "beta") >= 1);
    let report = finish(fleet.command(&["report", &kept]));
    for name in ["alpha", "beta", "inside-1", "inside-2", "phone"] {
        assert!(
            report.out().lines().any(|line| line.starts_with(name)),
            "{}",
            report.out()
        );
    }
    drop(browser);
    lab.signal_group("INT");
}
