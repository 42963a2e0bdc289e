//! Members that leave a fleet during a run: the server, and a station of an open lab.

use crate::support::fleet::{Fleet, operations, summary};
use crate::support::{signal, start, station};
use serde_json::Value;
use std::time::Duration;

/// The reasons for which a station's results are unreliable.
fn reasons(summary: &Value, name: &str) -> String {
    station(summary, name)["reasons"].to_string()
}

#[test]
fn without_its_server_a_run_ends_on_schedule_and_other_stations_keep_their_verdicts() {
    for (signal, why) in [("INT", "stopped by its owner"), ("KILL", "and it did not reconnect")] {
        let fleet = Fleet::new();
        let mut other = fleet.bench.netburn(["serve", "--listen", "127.0.0.1:0", "--fleet"]);
        other.arg(fleet.bench.path("owner/fleet/token"));
        let mut other = start(other);
        other.wait_for("the other server", |server| server.stdout_so_far().contains('\n'));
        let at = other
            .stdout_so_far()
            .trim()
            .trim_start_matches("http://")
            .replace('/', "");
        let (_alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &["--server", &at]));
        let nas = fleet.agent("nas", &["--serve"]);
        let mut run = start(fleet.run(&["--server", "nas", "--set", "duration=\"15s\""]));
        run.wait_for_load();
        std::thread::sleep(Duration::from_secs(2));
        nas.signal(signal);
        let ended = run.finish().expect(3);
        let found = summary(&ended);
        let text = "the server (nas) was lost: ";
        assert!(
            ended.stderr.contains(text) && ended.stderr.contains(why),
            "{}",
            ended.stderr
        );
        // The station sends requests until the end. The answers before the server left are there, however late.
        assert_eq!(station(&found, "caller")["verdict"], "inconclusive");
        assert!(reasons(&found, "caller").contains(text), "{found:#}");
        let asked = &station(&found, "caller")["workloads"][0];
        let count = |field: &str| asked[field].as_u64().unwrap();
        let answered = count("operations") - count("failures") - count("unfinished");
        assert!((1..113).contains(&answered), "{found:#}");
        // A call every 131 ms for 15 s, and no quality issue except those of a busy machine.
        assert!((113..=115).contains(&operations(&found, "reader")), "{found:#}");
        assert_eq!(station(&found, "reader")["workloads"][0]["failures"], 0);
        assert!(!reasons(&found, "reader").contains("server"), "{found:#}");
    }
}

const LAB: &str = r#"
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.inside]
joins = "home.5g"
signal = "-60 dBm"
workload = "voip"
"#;

#[test]
fn a_lab_station_that_leaves_does_not_end_the_run() {
    let fleet = Fleet::new();
    fleet.bench.write("lab.toml", LAB);
    let _beta = fleet.agent("beta", &[]);
    let socket = fleet.bench.path("owner/fleet/controller.sock");
    let secret = fleet.bench.path("owner/fleet/token").display().to_string();
    let token = std::fs::read_to_string(&secret).unwrap();
    let near = format!("unix:{}#{}", socket.display(), token.trim());
    let program = env!("CARGO_BIN_EXE_netburn");
    let serve = [
        "lab", "lab.toml", "--serve", "--at", "server", "--", program, "serve", "--fleet", &secret,
    ];
    let join = [
        "--and", "--at", "inside", "--", program, "fleet", "join", &near, "--server", "server",
    ];
    let named = ["--name", "inside"];
    let mut lab = start(fleet.with_state("lab", &[&serve[..], &join, &named].concat()));
    lab.wait_for("the lab's station to join", |lab| {
        lab.stderr_so_far().contains("is in the fleet")
    });
    let agent = "station.caller.agent=inside";
    let mut run = start(fleet.run(&["--set", "duration=\"15s\"", "--set", agent]));
    run.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    // The commands get what Ctrl-C in the lab's terminal sends them. The lab stays open.
    for command in ["fleet", "serve"] {
        for id in lab.processes_with_subcommand(command) {
            signal(id, "INT");
        }
    }
    lab.wait_for("the commands' end", |lab| {
        lab.stderr_so_far().contains("the lab stays open")
    });
    let ended = run.finish().expect(3);
    let found = summary(&ended);
    assert_eq!(station(&found, "caller")["verdict"], "inconclusive");
    let why = "agent caller (inside) was lost: stopped by its owner";
    assert!(reasons(&found, "caller").contains(why), "{found:#}");
    assert!((8..113).contains(&operations(&found, "caller")), "{found:#}");
    assert!((113..=115).contains(&operations(&found, "reader")), "{found:#}");
    assert!(!reasons(&found, "reader").contains("lost"), "{found:#}");
    lab.signal_group("INT");
    lab.finish();
}
