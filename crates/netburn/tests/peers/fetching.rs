//! `fetch` with servers of other projects.

use crate::support::{Bench, Running, finish, start};
use netburn_test_support::unused_address;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server process that ends with its test.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts it, and waits until it accepts connections at `address`.
    fn start(mut command: Command, address: SocketAddr) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Server { child, address };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{command:?} does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// nginx in one process, with the bench's directory as its root. It logs every request with its bytes.
    fn nginx(bench: &Bench) -> Self {
        let address = unused_address();
        let root = bench.path("").display().to_string();
        let config = format!(
            "daemon off; master_process off; pid {root}/nginx.pid; error_log {root}/error.log;\n\
             events {{}}\n\
             http {{\n\
               log_format counted '$request_method $status $body_bytes_sent';\n\
               access_log {root}/access.log counted;\n\
               client_body_temp_path {root}/body; proxy_temp_path {root}/proxy; fastcgi_temp_path {root}/fastcgi;\n\
               uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;\n\
               server {{ listen {address}; root {root}; keepalive_requests 1000000; }}\n\
             }}\n"
        );
        let config = bench.write("nginx.conf", config);
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("nginx");
        command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
        command.args(["-e", &format!("{root}/error.log"), "-c"]).arg(config);
        Server::start(command, address)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pages_and_bytes_agree_with_the_log_of_nginx() {
    let bench = Bench::new();
    bench.write("file", vec![b'x'; 128 * 1024]);
    let nginx = Server::nginx(&bench);
    // At 40 Mbit/s, pages of 4 × 128 KiB are 9.5 a second. If one takes longer, the next one is delayed.
    let args = [
        "fetch",
        &nginx.url("file"),
        "-c",
        "4",
        "-r",
        "40",
        "-t",
        "3",
        "--idle",
        "300ms",
        "--format",
        "json",
    ];
    let report = finish(bench.netburn(args.iter().chain(&["-o", "pages.csv"])))
        .expect(0)
        .json();
    drop(nginx);
    let log = std::fs::read_to_string(bench.path("access.log")).unwrap();
    let mut requests = 0.0;
    let mut bytes = 0.0;
    for line in log.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields[..2] == ["GET", "200"] {
            requests += 1.0;
            bytes += fields[2].parse::<f64>().unwrap();
        }
    }
    let pages = report["finished"].as_f64().unwrap();
    assert_eq!(report["finished"], report["pages"], "{report:#}");
    assert!((1.0..=31.0).contains(&pages), "{report:#}");
    assert!(
        (4.0 * pages / requests - 1.0).abs() <= 0.01,
        "{pages} pages of 4, {requests} requests"
    );
    let ours = report["bytes"].as_f64().unwrap();
    assert!((ours / bytes - 1.0).abs() <= 0.01, "{ours} bytes, {bytes} logged");
    assert_eq!(
        report["latency_ms"]["p99"],
        serde_json::Value::Null,
        "30 pages support no 99th percentile"
    );

    finish(bench.netburn(args.iter().chain(&["-o", "pages.csv", "-t", "1"]))).code();
    let table = std::fs::read_to_string(bench.path("pages.csv")).unwrap();
    assert!(
        table.starts_with("hostname,timestamp") && table.lines().count() >= 2,
        "{table}"
    );
}

#[test]
fn each_second_is_printed_when_it_ends() {
    let bench = Bench::new();
    bench.write("file", vec![b'x'; 10_000]);
    let address = unused_address();
    let mut command = Command::new("python3");
    command
        .args(["-m", "http.server", "--bind"])
        .args([address.ip().to_string(), address.port().to_string()])
        .arg("--directory")
        .arg(bench.path(""));
    let python = Server::start(command, address);
    let url = python.url("file");
    let args = [
        "fetch",
        &url,
        "-r",
        "1",
        "-t",
        "3",
        "--idle",
        "300ms",
        "--percentile",
        "75.5",
        "--batch",
    ];
    let text = finish(bench.netburn(args)).expect(0).out();
    let seconds: Vec<&str> = text
        .lines()
        .filter(|l| l.trim_start().starts_with(['1', '2', '3']))
        .collect();
    assert!(seconds.len() >= 3 && text.contains("p75.5"), "{text}");
    let lines = finish(bench.netburn(args.iter().chain(&["--format", "json"])))
        .expect(0)
        .out();
    let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["second"], 1);
    assert_eq!(lines.last().unwrap()["schema"], "netburn.fetch/1");
}

#[test]
fn invalid_targets_of_fetch_are_errors() {
    let bench = Bench::new();
    let nginx = Server::nginx(&bench);
    for (url, code, printed) in [
        (nginx.url("nothing"), 3, "404"),
        (format!("http://{}/", unused_address()), 3, "127."),
        ("ftp://127.0.0.1/".to_owned(), 2, "http"),
    ] {
        let ended = finish(bench.netburn(["fetch", &url])).expect(code);
        assert!(
            ended.stderr.contains(printed) && ended.stdout.is_empty(),
            "{url}: {}",
            ended.stderr
        );
    }
    bench.write("file", "x");
    let url = nginx.url("file");
    let ended = finish(bench.netburn(["fetch", &url, "-o", "no/such/place.csv"])).expect(2);
    assert!(ended.stderr.contains("place.csv"), "{}", ended.stderr);
}

#[test]
fn ctrl_c_ends_fetch_with_a_report() {
    let bench = Bench::new();
    bench.write("file", vec![b'x'; 1000]);
    let nginx = Server::nginx(&bench);
    let mut fetch: Running = start(bench.netburn(["fetch", &nginx.url("file"), "-r", "1", "-t", "600"]));
    fetch.wait_for("two seconds", |fetch| fetch.stderr_so_far().lines().count() >= 3);
    fetch.signal("INT");
    let ended = fetch.finish().expect(3);
    assert!(ended.out().contains("pages"), "{}", ended.out());
}

#[test]
fn a_remote_server_is_not_load_tested_without_confirmation() {
    // Two machines on one wire: network namespaces that an Ethernet pair connects.
    let bench = Bench::new();
    bench.write("file", vec![b'x'; 1000]);
    let script = r#"
        set -e
        far() { nsenter --target "$far" --net "$@"; }
        unshare --net sleep 600 & far=$!
        trap 'kill "$far" $serving 2>/dev/null; wait' EXIT
        while [ "$(readlink /proc/$far/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
        ip link add near type veth peer name far netns "$far"
        ip address add 192.0.2.1/24 dev near && ip link set near up
        far ip address add 192.0.2.2/24 dev far && far ip link set far up
        nsenter --target "$far" --net python3 -m http.server --bind 192.0.2.2 8000 >/dev/null 2>&1 & serving=$!
        nsenter --target "$far" --net "$1" serve --listen 192.0.2.2:4480 --operator 'the remote operator' >/dev/null 2>&1 & serving="$serving $!"
        for port in 8000 4480; do
            python3 -c '
import socket, sys, time
for _ in range(200):
    try: socket.create_connection(("192.0.2.2", int(sys.argv[1])), 1).close(); break
    except OSError: time.sleep(0.05)' $port
        done
        set +e
        "$1" fetch http://192.0.2.2:8000/file -t 1 --idle 0s; echo "unasked $?"
        "$1" fetch http://192.0.2.2:8000/file -t 1 --idle 0s -r 1 --yes >/dev/null; echo "confirmed $?"
        "$1" fetch http://192.0.2.2:4480/bytes/1KiB -t 1 --idle 0s -r 1 >/dev/null; echo "agreed $?"
    "#;
    let ended = finish(bench.inside::<&str>(&["--net"], script, [])).expect(0);
    for printed in ["unasked 2", "confirmed 0", "agreed 0"] {
        assert!(ended.out().contains(printed), "{}{}", ended.out(), ended.stderr);
    }
    assert!(
        ended.stderr.contains("--yes") && ended.stderr.contains("the remote operator"),
        "{}",
        ended.stderr
    );
}
