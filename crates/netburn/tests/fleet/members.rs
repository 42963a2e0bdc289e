//! A controller, agents and their runs, all on this machine's loopback device.

use crate::support::fleet::{Fleet, end, on_fleet, operations, summary, token};
use crate::support::{finish, start, station};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn two_agents_are_the_stations_of_a_run() {
    let fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &["--label", "room=kitchen"]);
    let near = format!(
        "unix:{}#{}",
        fleet.bench.path("owner/fleet/controller.sock").display(),
        token(fleet.url())
    );
    let mut beta = start(fleet.joining("beta", &near, &[]));
    beta.wait_for("beta to join", |agent| {
        agent.stderr_so_far().contains("is in the fleet")
    });
    let list = fleet.list();
    assert_eq!(list[0]["name"], "alpha");
    assert_eq!(list[0]["about"]["labels"]["room"], "kitchen");
    let ended = finish(fleet.run(&["--out", "r"]));
    let found = summary(&ended);
    assert_eq!(found["environment"], "fleet");
    // A call every 131 ms for 4 s, plus the phase of the first.
    for name in ["caller", "reader"] {
        assert!((29..=31).contains(&operations(&found, name)), "{found:#}");
    }
    assert!(
        ended.stderr.contains("stations: caller is alpha, reader is beta"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("on the fleet: real devices")
            && ended.stderr.contains("your own network; the run may send up to")
    );
    assert!(end(alpha).stderr.contains("its results are delivered"));
    end(beta);
    end(fleet.serve.unwrap());
    assert!(!fleet.bench.path("owner/fleet/controller.sock").exists());
}

/// `netburn-agent` has only `fleet join`.
#[test]
fn the_small_executable_takes_part_in_a_run() {
    let fleet = Fleet::new();
    let small = |arguments: &[&str], state: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netburn-agent"));
        command.args(arguments).env("NETBURN_STATE", fleet.bench.path(state));
        fleet.bench.prepared(command)
    };
    let agents = ["alpha", "beta"].map(|name| {
        let mut agent = start(small(&["fleet", "join", fleet.url(), "--name", name], name));
        agent.wait_for("the agent to join", |agent| {
            agent.stderr_so_far().contains("is in the fleet `home`")
        });
        agent
    });
    let found = summary(&finish(fleet.run(&["--out", "r"])));
    // A call every 131 ms for 4 s, plus the phase of the first.
    for name in ["caller", "reader"] {
        assert!((29..=31).contains(&operations(&found, name)), "{found:#}");
    }
    for agent in agents {
        assert!(end(agent).stderr.contains("its results are delivered"));
    }
    let version = finish(small(&["--version"], "alpha")).expect(0).out();
    assert_eq!(version, format!("netburn {}\n", env!("CARGO_PKG_VERSION")));
    let unknown = finish(small(&["run", "two.toml"], "alpha")).expect(2);
    assert!(
        unknown.stderr.contains("unrecognized subcommand 'run'"),
        "{}",
        unknown.stderr
    );
}

/// An object of a call is 16 KiB: the seventh is the first beyond 100 KB.
#[test]
fn an_agent_at_its_own_byte_limit_is_inconclusive_with_the_reason() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &["--max-bytes", "100 KB"]);
    let _beta = fleet.agent("beta", &[]);
    let found = summary(&finish(fleet.run(&["--out", "r"])).expect(3));
    let caller = station(&found, "caller");
    assert_eq!(caller["verdict"], "inconclusive", "{caller:#}");
    let reasons = caller["reasons"].to_string();
    assert!(
        reasons.contains("limit of this device exceeded: at most 100 kB in a run"),
        "{caller:#}"
    );
    assert!((29..=31).contains(&operations(&found, "reader")), "{found:#}");
}

/// A download and an upload next to a call of 1 Mbit/s: 8 Mbit/s in each direction together. The record has a note.
#[test]
fn an_agent_limits_unpaced_workloads_to_its_own_rate() {
    let fleet = Fleet::new();
    fleet.bench.write(
        "greedy.toml",
        "duration = \"4 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\n[server]\nlink = { rate = \"200 Mbit/s\" }\n\
         [station.alpha]\nworkload = [\"download\", \"upload\", \"voip\"]\n",
    );
    let alpha = fleet.agent("alpha", &["--max-rate", "8 Mbit/s"]);
    let run = on_fleet("greedy.toml", "saved");
    let ended = finish(fleet.command(&run));
    let found = summary(&ended);
    let rates: Vec<f64> = (0..3)
        .map(|place| {
            station(&found, "alpha")["workloads"][place]["throughput_mbps"]
                .as_f64()
                .unwrap()
        })
        .collect();
    // The load at the beginning and the end is a few per cent. The download gets the 8 Mbit/s without the call's, the
    // upload all of them.
    assert!(rates[0] <= 7.7 && rates[1] <= 8.4, "{rates:?}");
    // A call moves 16 KiB every 131 ms: 1.0 Mbit/s.
    assert!(rates[2] <= 1.1 && rates[0] + rates[2] <= 8.4, "{rates:?}");
    // A busy machine moves less, and the self-check reports it.
    if ended.code() == 0 {
        assert!(rates[0] >= 3.5 && rates[1] >= 4.0 && rates[2] >= 0.9, "{rates:?}");
    }
    let report = finish(fleet.command(&["report", "saved", "--html", "kept.html"]));
    let page = std::fs::read_to_string(fleet.bench.path("kept.html")).unwrap();
    assert!(
        page.contains("limited to 8\u{a0}Mbit/s by this device"),
        "{}",
        report.stderr
    );
    end(alpha);
}

#[test]
fn a_run_waits_for_missing_members_and_is_then_inconclusive() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &[]);
    let mut run = start(fleet.run(&["--wait", "60s"]));
    run.wait_for("the wait", |run| {
        run.stderr_so_far().contains(": reader waits for the agent beta")
    });
    let beta = fleet.agent("beta", &[]);
    assert!(operations(&summary(&run.finish()), "reader") > 20);
    drop(beta);
    let begun = Instant::now();
    while fleet.list().to_string().contains("\"beta\"") {
        assert!(begun.elapsed() < Duration::from_secs(60), "beta is still in the fleet");
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = finish(fleet.run(&["--wait", "100ms"])).expect(3);
    let found = ended.json();
    assert_eq!(station(&found, "reader")["verdict"], "inconclusive");
    assert!(operations(&found, "caller") > 20);
    assert!(
        ended
            .stderr
            .contains("starting without: reader waits for the agent beta"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_run_without_a_controller_or_members_prints_instructions() {
    let fleet = Fleet::new();
    let printed = finish(fleet.run(&["--wait", "0s"])).expect(3).stderr;
    assert!(printed.contains("no devices available"), "{printed}");
    let printed = finish(fleet.with_state("other", &["run", "two.toml", "--on", "fleet"]))
        .expect(2)
        .stderr;
    assert!(printed.contains("netburn fleet serve"), "{printed}");
}

#[test]
fn unauthorized_devices_get_a_reason_and_stay_disconnected() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &[]);
    let fingerprint = fleet.url().rsplit('.').next().unwrap().to_owned();
    let base = fleet.url().split('#').next().unwrap().to_owned();
    let wrong = format!("{base}#AAAAAAAAAAAAAAAAAAAAAA.{fingerprint}");
    let printed = finish(fleet.joining("x", &wrong, &[])).expect(3).stderr;
    assert!(printed.contains("wrong token"), "{printed}");
    let printed = finish(fleet.joining("alpha", fleet.url(), &[])).expect(3).stderr;
    assert!(printed.contains("`alpha` is already connected"), "{printed}");
    let other = format!("{base}#{}.{}", token(fleet.url()), "A".repeat(43));
    let printed = finish(fleet.joining("x", &other, &[])).expect(2).stderr;
    assert!(printed.contains("certificate"), "{printed}");
    let printed = finish(fleet.joining("x", &base, &[])).expect(2).stderr;
    assert!(printed.contains("the token is missing"), "{printed}");
    let printed = finish(fleet.command(&["fleet", "serve", "--quiet", "--listen", "127.0.0.1:0"]))
        .expect(2)
        .stderr;
    assert!(
        printed.contains("a controller of this user is already running: process"),
        "{printed}"
    );
}

#[test]
fn revoking_the_token_disconnects_the_members() {
    let fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &[]);
    let new = finish(fleet.command(&["fleet", "revoke"])).expect(0).out();
    assert_ne!(token(new.lines().next().unwrap()), token(fleet.url()));
    let ended = alpha.finish().expect(3);
    assert!(ended.stderr.contains("revoked"), "{}", ended.stderr);
    finish(fleet.joining("alpha", fleet.url(), &[])).expect(3);
    let mut again = start(fleet.joining("alpha", new.lines().next().unwrap(), &[]));
    again.wait_for("the new token", |agent| {
        agent.stderr_so_far().contains("is in the fleet")
    });
}

#[test]
fn a_failed_revocation_prints_the_reason_and_changes_nothing() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &[]);
    // The token can't be replaced by a directory, not even by root.
    let path = fleet.bench.path("owner/fleet/token");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir_all(path.join("full")).unwrap();
    let key = || std::fs::read(fleet.bench.path("owner/fleet/runs-token")).unwrap();
    let before = key();
    let printed = finish(fleet.command(&["fleet", "revoke"])).expect(3).stderr;
    assert!(printed.contains("owner/fleet/token"), "{printed}");
    assert_eq!(key(), before, "the key to the runs");
    let list = finish(fleet.command(&["fleet", "list"])).expect(0).out();
    assert!(list.contains("alpha"), "{list}");
}

#[test]
fn revoking_renews_the_access_key_to_the_runs() {
    let mut fleet = Fleet::new();
    let at = fleet.at();
    let keys = |fleet: &Fleet| -> Vec<String> {
        let printed = fleet.serve.as_ref().unwrap().stderr_so_far();
        let words = printed
            .split_whitespace()
            .filter_map(|word| word.split_once("/runs/#key="));
        words.map(|(_, key)| key.to_owned()).collect()
    };
    let ask = |path: &str, key: &str| {
        let mut stream = TcpStream::connect(at).unwrap();
        let fields = format!("Host: {at}\r\nAuthorization: Bearer {key}\r\nConnection: close");
        write!(stream, "GET {path} HTTP/1.1\r\n{fields}\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, String::from_utf8_lossy(&status[9..]).into_owned())
    };
    let old = keys(&fleet).pop().unwrap();
    assert_eq!(ask("/runs/api/runs", &old).1, "200");
    let (mut watching, status) = ask("/runs/api/live", &old);
    assert_eq!(status, "200");
    let revoked = finish(fleet.command(&["fleet", "revoke"])).expect(0);
    assert!(
        revoked.stderr.contains("the dashboard has a new key"),
        "{}",
        revoked.stderr
    );
    fleet.serve.as_mut().unwrap().wait_for("the new address", |serve| {
        serve.stderr_so_far().matches("/runs/#key=").count() == 2 && serve.stderr_so_far().ends_with('\n')
    });
    let new = keys(&fleet).pop().unwrap();
    assert_eq!(ask("/runs/api/runs", &new).1, "200");
    assert_eq!(ask("/runs/api/runs", &old).1, "401");
    // Open pages with the old key are disconnected.
    watching.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    watching.read_to_end(&mut Vec::new()).unwrap();
    // The new key is stored with the same permissions.
    let serve = fleet.serve.take().unwrap();
    end(serve);
    fleet.serve(&at.to_string());
    assert_eq!(keys(&fleet), [new]);
}

#[test]
fn a_restarted_controller_does_not_interrupt_its_members() {
    let mut fleet = Fleet::new();
    let (_alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--set", "duration=\"8s\""]));
    run.wait_for_load();
    let (at, serve) = (fleet.at(), fleet.serve.take().unwrap());
    serve.signal("KILL");
    serve.finish().expect(128 + 9);
    fleet.serve(&at.to_string());
    let found = summary(&run.finish());
    for name in ["caller", "reader"] {
        assert!(operations(&found, name) >= 59, "all of it is home: {found:#}");
        assert_eq!(station(&found, name)["workloads"][0]["unfinished"], 0);
    }
}

#[test]
fn a_server_that_does_not_consent_to_the_fleet_gets_no_load() {
    let fleet = Fleet::new();
    let mut server = start(fleet.bench.netburn(["serve", "--listen", "127.0.0.1:0"]));
    server.wait_for("the server", |server| server.stdout_so_far().contains('\n'));
    let at = server
        .stdout_so_far()
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let _alpha = fleet.agent("alpha", &["--server", &at]);
    let _beta = fleet.agent("beta", &[]);
    let ended = finish(fleet.run(&[])).expect(3);
    assert!(
        ended.stderr.contains("does not consent to this fleet"),
        "{}",
        ended.stderr
    );
    assert_eq!(station(&ended.json(), "caller")["verdict"], "inconclusive");
    let served = end(server).stderr;
    // The request for consent is the only one.
    assert!(served.contains("served 1 requests"), "{served}");
}

#[test]
fn a_remote_server_consents_with_the_token() {
    let fleet = Fleet::new();
    let mut command = fleet.bench.netburn(["serve", "--listen", "127.0.0.1:0", "--fleet"]);
    command.arg(fleet.bench.path("owner/fleet/token"));
    let mut server = start(command);
    server.wait_for("the server", |server| server.stdout_so_far().contains('\n'));
    let at = server
        .stdout_so_far()
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let _alpha = fleet.agent("alpha", &["--server", &at]);
    let _beta = fleet.agent("beta", &["--max-duration", "1s"]);
    let ended = finish(fleet.run(&[]));
    let found = summary(&ended);
    assert!(operations(&found, "caller") > 20, "{}", ended.stderr);
    // The other server keeps its own limits.
    assert!(ended.stderr.contains("found 7 s, at most 1 s"), "{}", ended.stderr);
    assert_eq!(station(&found, "reader")["verdict"], "inconclusive");
}

#[test]
fn floods_and_idle_connections_do_not_stop_the_controller() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &[]);
    let at = fleet.at();
    // More connections than are admitted, and none sends a byte. All are files of this process.
    let _ = netburn_platform::raise_open_files();
    let mut silent: Vec<TcpStream> = (0..1100).filter_map(|_| TcpStream::connect(at).ok()).collect();
    // Half of a request's head.
    let mut slow = TcpStream::connect(at).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap();
    // A message of 1 GB is announced and begun.
    let mut huge = TcpStream::connect(at).unwrap();
    huge.write_all(
        b"GET /join HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    .unwrap();
    let mut answer = [0; 4096];
    let read = huge.read(&mut answer).unwrap();
    // The example of RFC 6455 §1.3.
    assert!(String::from_utf8_lossy(&answer[..read]).contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    let mut frame = vec![0x81, 0xff];
    frame.extend_from_slice(&(1u64 << 30).to_be_bytes());
    frame.extend_from_slice(&[0; 4]);
    huge.write_all(&frame).unwrap();
    let begun = Instant::now();
    let pieces = [b'x'; 1 << 16];
    while huge.write_all(&pieces).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the connection stays open");
    }
    // An agent with the token can still connect.
    let _beta = fleet.agent("beta", &[]);
    let names: Vec<_> = fleet
        .list()
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member["name"].clone())
        .collect();
    assert_eq!(names, ["alpha", "beta"]);
    let controller = fleet.serve.as_ref().unwrap().id();
    let status = std::fs::read_to_string(format!("/proc/{controller}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 256 << 10, "{kib} KiB");
    silent.clear();
}

#[test]
fn the_station_page_is_served_and_agents_need_tls() {
    let fleet = Fleet::new();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(fleet.at()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let page = get("/");
    assert!(
        page.starts_with("HTTP/1.1 200 ") && page.contains("content-security-policy: "),
        "{page}"
    );
    assert!(get("/nothing").starts_with("HTTP/1.1 404 "));
    assert!(get("/join").starts_with("HTTP/1.1 426 "));
    assert!(get("/run/none").starts_with("HTTP/1.1 426 "));
}
