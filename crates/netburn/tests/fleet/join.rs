//! Other ways to join a fleet: TLS with your own certificate, a remote server, a device with a full disk, and the text
//! on terminals.

use crate::support::fleet::{Fleet, on_fleet, operations, summary};
use crate::support::{LOOPBACK_UP, finish, start, station};
use std::process::Command;

/// Adds a second address to the loopback device that is no loopback address (netdevice(7), SIOCSIFADDR).
const FAR: &str = "python3 -c 'import fcntl, socket, struct
address = socket.inet_aton(\"10.9.8.7\")
request = struct.pack(\"16sH2s4s8x\", b\"lo:1\", socket.AF_INET, bytes(2), address)
fcntl.ioctl(socket.socket(), 0x8916, request)' &&";

/// Requests the page over plain HTTP, and prints the status and the redirect.
const ASK: &str = "python3 -c 'import http.client
asked = http.client.HTTPConnection(\"10.9.8.7\", 4484)
asked.request(\"GET\", \"/\")
answer = asked.getresponse()
print(answer.status, answer.getheader(\"location\"))' >&3";

#[test]
fn with_a_certificate_agents_use_tls_and_plain_http_is_redirected() {
    let fleet = Fleet::new();
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args([
            "-subj",
            "/CN=fleet.test",
            "-addext",
            "subjectAltName=DNS:localhost,IP:10.9.8.7",
        ])
        .args([
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-keyout",
            "key.pem",
            "-out",
            "chain.pem",
        ])
        .current_dir(fleet.bench.path("."))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let certified = ["--cert", "chain.pem", "--key", "key.pem"];
    let arguments = [
        &[
            "fleet",
            "serve",
            "--quiet",
            "--listen",
            "127.0.0.1:0",
            "--host",
            "localhost",
        ][..],
        &certified,
    ]
    .concat();
    let mut serve = start(fleet.with_state("secure", &arguments));
    serve.wait_for("the address", |serve| serve.stdout_so_far().contains('\n'));
    let url = serve.stdout_so_far().lines().next().unwrap().to_owned();
    // No fingerprint: the system's root certificates verify the certificate.
    assert!(url.starts_with("https://localhost:") && !url.contains('.'), "{url}");
    let mut trusting = fleet.joining("x", &url, &[]);
    trusting.env("SSL_CERT_FILE", fleet.bench.path("chain.pem"));
    let mut agent = start(trusting);
    agent.wait_for("the agent to join", |agent| {
        agent.stderr_so_far().contains("is in the fleet")
    });
    let printed = finish(fleet.joining("y", &url, &[])).expect(2).stderr;
    assert!(printed.contains("certificate"), "{printed}");
    drop((agent, serve));
    // A remote device that requests the page over plain HTTP is redirected to HTTPS.
    let script = format!(
        "{LOOPBACK_UP} {FAR} {{ \"$@\" & serve=$!; for try in $(seq 100); do sleep 0.3; {ASK} && break; done; \
         kill $serve; wait; }} 3>&1 >/dev/null"
    );
    let arguments = [
        &[
            "fleet",
            "serve",
            "--quiet",
            "--listen",
            "10.9.8.7",
            "--host",
            "fleet.test",
        ][..],
        &certified,
    ]
    .concat();
    let mut command = fleet.bench.inside(&["--net"], &script, arguments);
    command.env("NETBURN_STATE", fleet.bench.path("far"));
    let ended = finish(command);
    assert_eq!(ended.out().trim(), "308 https://fleet.test:4484/", "{}", ended.stderr);
}

#[test]
fn another_machine_runs_the_server() {
    let fleet = Fleet::new();
    let (_alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let printed = finish(fleet.run(&["--server", "nas", "--wait", "100ms"]))
        .expect(3)
        .stderr;
    assert!(printed.contains("the server nas is not connected"), "{printed}");
    let mut nas = fleet.agent("nas", &["--serve"]);
    let found = summary(&finish(fleet.run(&["--server", "nas"])));
    for name in ["caller", "reader"] {
        assert!((29..=31).contains(&operations(&found, name)), "{found:#}");
    }
    nas.wait_for("the end of its workload", |nas| {
        nas.stderr_so_far().contains("results are delivered")
    });
}

#[test]
fn an_agent_with_a_full_disk_keeps_rows_in_memory() {
    let fleet = Fleet::new();
    // 1,000 probes a second are about 60 kB of rows a second.
    fleet.bench.write(
        "often.toml",
        "duration = \"8 s\"\nbaseline = \"2 s\"\n[station.alpha]\nworkload = \"often\"\n\
         [workload.often]\nkind = \"probe\"\ninterval = \"1ms\"\n",
    );
    let script = "mkdir -p full && mount -t tmpfs -o size=256k tmpfs full && exec \"$@\"";
    let join = ["fleet", "join", fleet.url(), "--name", "alpha"];
    let mut command = fleet.bench.inside(&["--mount"], script, join);
    command.env("NETBURN_STATE", fleet.bench.path("full"));
    let mut agent = start(command);
    agent.wait_for("the agent to join", |agent| {
        agent.stderr_so_far().contains("is in the fleet")
    });
    let run = on_fleet("often.toml", "saved");
    let found = summary(&finish(fleet.command(&run)));
    // A thousand a second, without those that a busy machine did not start.
    assert!(operations(&found, "alpha") >= 6000, "{found:#}");
    assert_eq!(station(&found, "alpha")["workloads"][0]["unfinished"], 0, "{found:#}");
    let printed = fleet.bench.events("saved");
    assert!(
        printed
            .iter()
            .any(|text| text.contains("results can't be stored on the agent's disk")),
        "{printed:?}"
    );
}

#[test]
fn terminals_get_sentences_without_log_lines() {
    let fleet = Fleet::new();
    let (alpha, beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let (base, fingerprint) = (
        fleet.url().split('#').next().unwrap(),
        fleet.url().rsplit('.').next().unwrap(),
    );
    let wrong = format!("{base}#AAAAAAAAAAAAAAAAAAAAAA.{fingerprint}");
    finish(fleet.joining("guest", &wrong, &[])).expect(3);
    let mut run = start(fleet.run(&[]));
    run.wait_for_load();
    beta.signal("KILL");
    let run = run.finish().expect(3);
    let serve = fleet.serve.as_ref().unwrap().stderr_so_far();
    let denied = "guest was rejected: wrong token";
    assert!(serve.contains(denied), "{serve}");
    for printed in [&run.stderr, &alpha.stderr_so_far(), &serve] {
        for mark in ["WARN", "INFO", "netburn_"] {
            assert!(!printed.contains(mark), "{mark}:\n{printed}");
        }
    }
    // The URL to copy is on a line of its own, below the QR code.
    let command = format!("\n  netburn fleet join '{}'\n", fleet.url());
    assert!(serve.contains(&command), "{serve}");
    // A new token is printed in the same form.
    finish(fleet.command(&["fleet", "revoke"])).expect(0);
    let mut serve = fleet.serve;
    serve.as_mut().unwrap().wait_for("the new address", |serve| {
        serve.stderr_so_far().matches("  netburn fleet join 'http").count() == 2
    });
}
