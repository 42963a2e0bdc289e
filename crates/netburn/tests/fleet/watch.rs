//! `netburn watch` on a laptop at home: behind a router, whose line ends at a router of the provider.

use crate::support::namespaces::Namespaces;
use crate::support::{Bench, Running, start};
use netburn_record::run_list::{State, list};
use netburn_record::{Row, Run};
use netburn_workload::Outcome;
use std::path::{Path, PathBuf};

/// The machines. The server is `netburn serve` on the machine of the provider.
struct Home {
    bench: Bench,
    provider: Namespaces,
    router: Namespaces,
    laptop: Namespaces,
    _server: Running,
}

impl Home {
    fn new() -> Home {
        let bench = Bench::new();
        let lo = "ip link set lo up";
        let server = Namespaces::new(&bench, &["--net", "--mount"], lo);
        let [provider, router] = [(); 2].map(|()| server.within(&bench, &["--net"], lo));
        let laptop = server.within(&bench, &["--net"], lo);
        let wire = |from: &Namespaces, to: &Namespaces, network: u8| {
            let script = format!(
                "ip link add to{network} type veth peer name from{network} netns {}
                 ip addr add 10.{network}.0.1/24 dev to{network}
                 ip link set to{network} up
                 echo 1 > /proc/sys/net/ipv4/ip_forward",
                to.id()
            );
            from.run(&bench, &script);
            let script = format!(
                "ip addr add 10.{network}.0.2/24 dev from{network}
                 ip link set from{network} up"
            );
            to.run(&bench, &script);
        };
        wire(&server, &provider, 91);
        wire(&provider, &router, 92);
        wire(&router, &laptop, 93);
        server.run(&bench, "ip route add default via 10.91.0.2");
        provider.run(&bench, "ip route add 10.93.0.0/24 via 10.92.0.2");
        // The second address is that of the router of another network.
        router.run(
            &bench,
            "ip route add default via 10.92.0.1; ip addr add 10.93.0.3/24 dev to93",
        );
        laptop.run(
            &bench,
            "ip route add default via 10.93.0.1; echo \"0 0\" > /proc/sys/net/ipv4/ping_group_range",
        );
        let mut serve = start(server.netburn(&bench, &["serve", "--quiet", "--listen", "10.91.0.1:4480"]));
        serve.wait_for("its address", |serve| serve.stdout_so_far().ends_with('\n'));
        Home {
            bench,
            provider,
            router,
            laptop,
            _server: serve,
        }
    }

    /// A watch with records of `period`.
    fn watch(&self, dir: &str, period: &str, more: &[&str]) -> Running {
        let args = ["watch", dir, "--period", period, "--server", "10.91.0.1:4480"];
        start(self.laptop.netburn(&self.bench, &[&args[..], more].concat()))
    }

    fn path(&self, dir: &str) -> PathBuf {
        let path = self.bench.path(dir);
        PathBuf::from(format!("/proc/{}/root{}", self.laptop.id(), path.display()))
    }
}

/// Names of the complete records of a folder.
fn complete(dir: &Path) -> Vec<String> {
    let runs = list(dir).unwrap().into_iter();
    let finished = runs.filter(|run| matches!(run.state, State::Finished(_)));
    finished.map(|run| run.name).collect()
}

/// True if these rows have at least two answered probes to the router, to the line and to the server.
fn are_answered(rows: &[Row]) -> bool {
    let mut counts = [0; 3];
    for row in rows {
        if let Row::Operation(row) = row
            && row.operation.outcome == Outcome::Finished
        {
            counts[usize::from(row.workload)] += 1;
        }
    }
    counts.iter().all(|count: &u32| *count >= 2)
}

/// The rows of a complete record.
fn rows(record: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let run = Run::open(record).unwrap();
    run.rows(&mut |row| rows.push(row)).unwrap();
    rows
}

fn kill(watch: &Running, signal: &str) {
    let id = watch.id().to_string();
    let killed = std::process::Command::new("kill").args([signal, &id]).status();
    assert!(killed.unwrap().success());
}

/// Records follow each other. A watch that is killed and started again continues, and a new router begins a new record.
#[test]
fn a_watch_that_is_killed_continues_in_a_further_record() {
    let home = Home::new();
    let dir = home.path("w");
    let mut first = home.watch("w", "8s", &["--metrics", "127.0.0.1:0"]);
    first.wait_for("a complete hour", |_| !complete(&dir).is_empty());
    let listening = first.stderr_so_far();
    let url = listening
        .lines()
        .find_map(|line| line.strip_prefix("metrics at "))
        .unwrap();
    let metrics = home
        .laptop
        .run(&home.bench, &format!("curl --silent --show-error --max-time 5 {url}"));
    for part in ["near", "line", "server"] {
        let series = format!(
            "netburn_operations_total{{scenario=\"watch\",environment=\"fleet\",station=\"computer\",workload=\"{part}\",outcome=\"finished\"}} "
        );
        let count = metrics
            .lines()
            .find_map(|line| line.strip_prefix(&series))
            .unwrap_or("0");
        assert!(count.parse::<u32>().unwrap() >= 1, "{metrics}");
    }
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    // Only one watch may write into the folder.
    let second = home.watch("w", "8s", &[]).finish().expect(2);
    assert!(
        second.stderr.contains("another `netburn watch` uses this folder"),
        "{}",
        second.stderr
    );
    let before = complete(&dir);
    // The record that is killed has probes on the disk. The one before it may still be in completion.
    let live = |home: &Home| {
        let mut runs = list(&home.path("w")).unwrap().into_iter();
        runs.rfind(|run| run.state == State::Live).map(|run| run.name)
    };
    let mut killed = String::new();
    first.wait_for("probes on the disk", |_| {
        killed = live(&home).unwrap_or_default();
        !killed.is_empty() && are_answered(&home.bench.rows_so_far(&format!("w/{killed}")))
    });
    kill(&first, "-KILL");
    first.wait_for("its end", |_| live(&home).is_none());
    let mut again = home.watch("w", "8s", &[]);
    again.wait_for("the completed record", |watch| {
        watch
            .stderr_so_far()
            .contains(&format!("{killed} was interrupted; its record is now complete"))
    });
    assert!(are_answered(&rows(&dir.join(&killed))));
    again.wait_for("its own record", |_| live(&home).is_some_and(|name| name != killed));
    home.laptop.run(&home.bench, "ip route replace default via 10.93.0.3");
    again.wait_for("the new router", |watch| {
        watch
            .stderr_so_far()
            .contains("another network: the router is 10.93.0.3 now")
    });
    again.wait_for("an hour after it", |_| complete(&dir).len() >= before.len() + 3);
    kill(&again, "-INT");
    let ended = again.finish().expect(0);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    // Each record has probes to all parts, and its page is on the map.
    let map = std::fs::read_to_string(dir.join("week.html")).unwrap();
    let records = complete(&dir);
    assert!(records.contains(&killed));
    for name in &records {
        assert!(dir.join(name).join("report.html").exists(), "{name}");
    }
    assert!(
        records
            .iter()
            .any(|name| map.contains(&format!("href=\"{name}/report.html\""))),
        "{map}"
    );
    for loads in ["<link", "src=\"http", "url(http"] {
        assert!(!map.contains(loads), "{loads}: the page loads something");
    }
}

/// A server that is down at the start does not end a watch with loads, because it may be up an hour later.
#[test]
fn a_watch_with_loads_starts_without_its_server() {
    let home = Home::new();
    home.provider.run(&home.bench, "ip route add unreachable 10.91.0.1/32");
    let dir = home.path("w");
    let mut watch = home.watch("w", "8s", &["--load", "1s"]);
    watch.wait_for("a complete hour", |_| !complete(&dir).is_empty());
    kill(&watch, "-INT");
    let ended = watch.finish().expect(0);
    let expected = "10.91.0.1:4480 does not answer now, so that it is not known whether it permits load tests";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

/// Without space the probes go on, and the record continues when there is space. An outage starts an alert, and its end
/// ends it.
#[test]
fn a_full_disk_and_an_outage_do_not_end_a_watch() {
    let home = Home::new();
    home.laptop.run(&home.bench, "mkdir disk");
    let disk = home
        .laptop
        .within(&home.bench, &["--mount"], "mount -t tmpfs -o size=16m tmpfs disk");
    let args = [
        "watch",
        "disk/w",
        "--period",
        "8s",
        "--server",
        "10.91.0.1:4480",
        "--alert",
        "server loss > 20 % for 10 s",
        "--exec",
        "echo \"$NETBURN_ALERT_STATE of $NETBURN_ALERT_RULE\"",
    ];
    let mut watch = start(disk.netburn(&home.bench, &args));
    watch.wait_for("its start", |watch| watch.stderr_so_far().contains("a record per hour"));
    let fill = "dd if=/dev/zero of=disk/other bs=64k 2>/dev/null || true";
    disk.run(&home.bench, fill);
    home.provider.run(&home.bench, "ip route add blackhole 10.91.0.1/32");
    watch.wait_for("the full disk", |watch| {
        watch.stderr_so_far().contains("not recording: ")
    });
    watch.wait_for("the alert", |watch| {
        watch.stdout_so_far().contains("start of server loss > 20 % for 10 s\n")
    });
    home.provider.run(&home.bench, "ip route del blackhole 10.91.0.1/32");
    disk.run(&home.bench, "rm disk/other");
    watch.wait_for("space", |watch| watch.stderr_so_far().contains("recording again"));
    watch.wait_for("the end of the alert", |watch| {
        watch.stdout_so_far().contains("end of server loss > 20 % for 10 s\n")
    });
    kill(&watch, "-TERM");
    let ended = watch.finish().expect(0);
    assert_eq!(ended.stderr.matches("not recording: ").count(), 1, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("alert start: ").count(), 1, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("alert end: ").count(), 1, "{}", ended.stderr);
    let path = format!("/proc/{}/root{}", disk.id(), home.bench.path("disk/w").display());
    let records = complete(Path::new(&path));
    assert!(!records.is_empty());
    let all = list(Path::new(&path)).unwrap();
    assert_eq!(records.len(), all.len(), "{all:?}");
    drop(home.router);
}
