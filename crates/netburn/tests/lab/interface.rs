//! `--interface`: traffic uses the named interface only, independent of the routes. The loss of the interface is
//! reported. In network namespaces of the test: two Ethernet pairs lead to one server.

use crate::support::{Bench, is_root};
use netburn_record::{EventKind, Row};
use netburn_traffic::client::{Method, Page, RequestError, Target, request};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelHandle, Idle, baseline};
use netburn_units::Duration;
use netburn_wifi_monitor::Adapter;
use netburn_workload::ProbeTarget;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;

/// Set in the process that runs inside the namespaces.
const INSIDE: &str = "NETBURN_TEST_INSIDE";

/// The server is 10.9.9.9 and fd09::9 on its own machine. Packets use `a0` unless a program selects `a1`.
const WORLD: &str = r#"
set -e
mount -t sysfs none /sys
ip link set lo up
unshare --net sh -c 'echo $$ >server.pid; exec sleep 600' &
while ! [ -s server.pid ] || [ "$(readlink /proc/$(cat server.pid)/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do :; done
server=$(cat server.pid)
trap 'kill $server' EXIT
there() { nsenter --net=/proc/$server/ns/net "$@"; }
there ip link set lo up
there ip addr add 10.9.9.9/32 dev lo
there ip addr add fd09::9/128 dev lo nodad
for n in 0 1; do
    ip link add a$n type veth peer name b$n netns $server
    ip addr add 10.1.$n.1/24 dev a$n
    ip addr add fd0$n::1/64 dev a$n nodad
    there ip addr add 10.1.$n.2/24 dev b$n
    there ip addr add fd0$n::2/64 dev b$n nodad
    ip link set a$n up
    there ip link set b$n up
    ip route add 10.9.9.9 via 10.1.$n.2 dev a$n metric 10$n
    ip -6 route add fd09::9 via fd0$n::2 dev a$n metric 10$n
done
there "$0" serve --listen 10.9.9.9:8080 --listen '[fd09::9]:8080' >serve.log 2>&1 &
netburn=$!
trap 'kill $netburn $server' EXIT
n=0
while ! there ss -Hltn | grep -q 8080; do kill -0 $netburn; n=$((n + 1)); [ $n -lt 1200 ]; sleep 0.05; done
"$@"
"#;

#[test]
fn traffic_uses_the_named_interface() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let bench = Bench::new();
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args([
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        "--",
        "sh",
        "-c",
        WORLD,
    ]);
    command
        .arg(env!("CARGO_BIN_EXE_netburn"))
        .arg(std::env::current_exe().unwrap());
    command.args(["--exact", "interface::traffic_uses_the_named_interface", "--nocapture"]);
    let output = bench.prepared(command).env(INSIDE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn sent(interface: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/sys/class/net/{interface}/statistics/tx_bytes")).unwrap();
    text.trim().parse().unwrap()
}

fn inside() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for address in ["10.9.9.9:8080", "[fd09::9]:8080"] {
        let address: SocketAddr = address.parse().unwrap();
        for (interface, used, other) in [(None, "a0", "a1"), (Some("a1"), "a1", "a0"), (Some("a0"), "a0", "a1")] {
            let target = Target {
                interface: interface.map(str::to_owned),
                ..Target::new(address)
            };
            let before = (sent(used), sent(other));
            let answers = runtime.block_on(probe(target.clone()));
            let middle = (sent(used), sent(other));
            // Each datagram has 64 bytes.
            assert!(
                middle.0 - before.0 > answers * 64,
                "{used} carried {} bytes",
                middle.0 - before.0
            );
            assert!(
                middle.1 - before.1 < 2_000,
                "{other} carried {} bytes",
                middle.1 - before.1
            );
            runtime.block_on(async {
                let answer = page(&target).await;
                answer.unwrap_or_else(|error| panic!("TCP by {interface:?}: {error}"));
            });
            let after = (sent(used), sent(other));
            assert!(
                after.0 - middle.0 > 200,
                "{used} carried {} bytes of TCP",
                after.0 - middle.0
            );
            assert!(
                after.1 - middle.1 < 2_000,
                "{other} carried {} bytes of TCP",
                after.1 - middle.1
            );
        }
    }
    vanishing(&runtime, "10.9.9.9:8080".parse().unwrap());
}

/// Sends idle probes until some are answered. Returns the number of answers.
async fn probe(target: Target) -> u64 {
    let (tell, mut output) = tokio::sync::mpsc::unbounded_channel::<Vec<Row>>();
    let (stopper, stop) = CancelHandle::new();
    let clock = RunClock::starting_now();
    let idle = Idle {
        station: 0,
        target: Arc::new(target),
        targets: vec![ProbeTarget::Server],
        datagrams: true,
    };
    let until = clock.now() + Duration::from_secs(60);
    let answered = async {
        let mut answers = 0;
        while let Some(rows) = output.recv().await {
            let came = |row: &&Row| matches!(row, Row::Operation(row) if row.operation.latency().is_some());
            answers += rows.iter().filter(came).count() as u64;
            if answers > 3 {
                stopper.stop();
            }
        }
        answers
    };
    let probes = baseline(vec![idle], until, netburn_units::Seed(1), clock, tell, stop);
    let (report, answers) = tokio::join!(probes, answered);
    report.unwrap();
    assert!(answers > 3, "{answers} answers to datagrams");
    answers
}

fn vanishing(runtime: &tokio::runtime::Runtime, address: SocketAddr) {
    let adapter = Adapter::find(Some("a1"), address.ip()).unwrap();
    let (tell, mut output) = tokio::sync::mpsc::unbounded_channel();
    let watching = adapter.watch(vec![0], RunClock::starting_now(), tell).unwrap().unwrap();
    assert!(
        Command::new("ip")
            .args(["link", "del", "a1"])
            .status()
            .unwrap()
            .success()
    );
    // It looks once a second. The row of an interface that has not returned is sent at the end.
    std::thread::sleep(std::time::Duration::from_secs(6));
    watching.end();
    let rows = output.try_recv().expect("a row");
    let Some(Row::Event(event)) = rows.first() else {
        panic!("{rows:?}")
    };
    assert_eq!((event.kind, event.station), (EventKind::Warning, Some(0)));
    assert!(
        event.detail.text().contains("a1 disappeared"),
        "{}",
        event.detail.text()
    );
    let target = Target {
        interface: Some("a1".to_owned()),
        ..Target::new(address)
    };
    let dialled = runtime.block_on(page(&target));
    assert!(dialled.is_err(), "it goes by no other");
    let why = Adapter::find(Some("a1"), address.ip()).unwrap_err();
    assert!(why.contains("unknown interface `a1`"), "{why}");
}

async fn page(target: &Target) -> Result<Page, RequestError> {
    request(
        target,
        Method::Get,
        "/.well-known/netburn",
        4096,
        std::time::Duration::from_secs(60),
    )
    .await
}
