//! The command `serve` alone.

use crate::support::{Bench, Running, start};
use std::io::{Read, Write};
use std::net::TcpStream;

fn serving(bench: &Bench, args: &[&str]) -> (Running, Vec<String>) {
    let mut server = start(bench.netburn(["serve"].iter().chain(args)));
    server.wait_for("its addresses", |s| {
        s.stderr_so_far().contains("serving") && s.stdout_so_far().ends_with('\n')
    });
    let urls = server.stdout_so_far().lines().map(str::to_owned).collect();
    (server, urls)
}

fn get(url: &str, path: &str) -> String {
    let at = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(at).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_server_prints_its_address_and_operator_and_ends_on_a_signal() {
    let bench = Bench::new();
    let listen = [
        "--listen",
        "127.0.0.1:0",
        "--listen",
        "[::1]:0",
        "--operator",
        "Ana of the lab",
    ];
    let (server, urls) = serving(&bench, &listen);
    assert_eq!(urls.len(), 2, "{urls:?}");
    assert!(
        urls[0].starts_with("http://127.0.0.1:") && urls[1].starts_with("http://[::1]:"),
        "{urls:?}"
    );
    for url in &urls {
        let answer = get(url, "/bytes/1KiB");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(get(url, "/.well-known/netburn").contains("Ana of the lab"));
    }
    server.signal("TERM");
    let ended = server.finish().expect(0);
    assert!(ended.stderr.contains("served 4 requests"), "{}", ended.stderr);
}

#[test]
fn a_server_with_tls_prints_its_fingerprint() {
    let bench = Bench::new();
    let (server, urls) = serving(
        &bench,
        &["--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0", "--no-consent"],
    );
    assert!(urls[1].starts_with("https://127.0.0.1:"), "{urls:?}");
    assert!(get(&urls[0], "/.well-known/netburn").contains("\"consents\": false"));
    server.signal("INT");
    let ended = server.finish().expect(0);
    let printed = ended
        .stderr
        .lines()
        .find_map(|line| line.strip_prefix("certificate SHA-256 "));
    assert!(printed.is_some_and(|hex| hex.len() == 64), "{}", ended.stderr);
}

/// Without another option, responsiveness tests need a certificate and consent.
#[test]
fn responsiveness_tests_are_permitted_by_options() {
    let bench = Bench::new();
    let tls = ["--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0"];
    for (more, status, printed) in [
        (
            &[][..],
            "200",
            Some("responsiveness tests of local clients: https://127.0.0.1:"),
        ),
        (
            &["--rpm", "all"],
            "200",
            Some("responsiveness tests of all clients: https://127.0.0.1:"),
        ),
        (&["--rpm", "none"], "404", None),
        (&["--no-consent"], "404", None),
        (&["--object", "1GiB"], "404", None),
    ] {
        let args: Vec<&str> = tls.iter().chain(more).copied().collect();
        let (server, urls) = serving(&bench, &args);
        for path in ["/.well-known/nq", "/config"] {
            let answer = get(&urls[0], path);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{more:?}: {answer}");
        }
        assert_eq!(get(&urls[0], "/").contains("/.well-known/nq"), printed.is_some());
        server.signal("TERM");
        let ended = server.finish().expect(0);
        match printed {
            Some(line) => assert!(ended.stderr.contains(line), "{}", ended.stderr),
            None => assert!(!ended.stderr.contains("responsiveness"), "{}", ended.stderr),
        }
    }
}

#[test]
fn an_address_in_use_is_named() {
    let bench = Bench::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let ended = crate::support::finish(bench.netburn(["serve", "--listen", &at])).expect(2);
    assert!(ended.stderr.contains(&at), "{}", ended.stderr);
    for (args, printed) in [
        (&["--listen", "localhost"][..], "127.0.0.1"),
        (&["--object", "17GiB"], "16 GiB"),
        (&["--rate", "100"], "unit"),
        (&["--cert", "nowhere.pem", "--key", "nowhere.key"], "nowhere"),
        (&["--cert", "nowhere.pem"], "--key"),
        (
            &["--rpm", "all"],
            "--rpm: missing certificate, expected TLS\nhelp: add --tls, or --cert and --key",
        ),
        (
            &["--rpm", "local", "--tls", "--object", "1GiB"],
            "--rpm: found --object 1 GiB, expected at least 8 GiB\nhelp: remove --object",
        ),
        (&["--rpm", "all", "--no-consent"], "--no-consent"),
    ] {
        let ended = crate::support::finish(bench.netburn(["serve"].iter().chain(args))).expect(2);
        assert!(ended.stderr.contains(printed), "{args:?}: {}", ended.stderr);
    }
}
