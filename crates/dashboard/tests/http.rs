//! HTTP routes and access control over real sockets.

use netburn_dashboard::{Config, Server};
use netburn_record::{Environment, Header, Recorder, RunStatus, UnixTime};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Duration;
use netburn_workload::Config as Workload;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use tokio::sync::oneshot;

/// A server and the directory of its runs. Stops when dropped.
struct TestServer {
    dir: tempfile::TempDir,
    address: SocketAddr,
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An HTTP response.
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl TestServer {
    /// Starts a server at `listen`, which has port 0. Requests always use the loopback address.
    fn new(listen: &str) -> TestServer {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("runs"));
        config.listen = listen.parse().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind(config).await.unwrap();
                sender.send((server.address(), server.local_url())).unwrap();
                let stopped = async {
                    let _ = stopped.await;
                };
                server.run(stopped).await;
            });
        });
        let (address, url) = receiver.recv().unwrap();
        TestServer {
            dir,
            address: SocketAddr::from(([127, 0, 0, 1], address.port())),
            url,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn runs(&self) -> std::path::PathBuf {
        self.dir.path().join("runs")
    }

    fn record(&self, name: &str, scenario: &str) {
        record(&self.runs().join(name), scenario);
    }

    fn key(&self) -> &str {
        self.url.split("#key=").nth(1).unwrap()
    }

    /// Sends this text and returns the response.
    fn send(&self, text: &str) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(30)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A server that closes the connection early may reset it.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Reply {
            status: head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    fn get_with(&self, path: &str, fields: &str) -> Reply {
        let (host, end) = (self.address, "Connection: close\r\n\r\n");
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}{end}"))
    }

    fn get(&self, path: &str) -> Reply {
        self.get_with(path, "")
    }

    fn post(&self, path: &str, kind: &str, body: &str) -> Reply {
        let (host, length) = (self.address, body.len());
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n\
             {body}"
        ))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

impl Reply {
    #[track_caller]
    fn expect(self, status: u16) -> Reply {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

fn header(scenario: &str) -> Header {
    Header {
        environment: Environment::Local,
        started: Some(UnixTime(1_795_285_800_000_000_000)),
        ..Header::simulated(Plan {
            duration: Duration::from_secs(10),
            title: Some(format!("About {scenario}")),
            stations: vec![Station {
                workloads: vec![StationWorkload::new("voip", Workload::voip())],
                ..Station::new("phone")
            }],
            ..Plan::new(scenario)
        })
    }
}

fn record(path: &Path, scenario: &str) {
    let recorder = Recorder::create(path, header(scenario)).unwrap();
    recorder.finish(&RunStatus::Complete).unwrap();
}

/// Special files are reported as unreadable without delay, and the other runs are listed.
#[test]
fn special_files_do_not_block_the_list() {
    let server = TestServer::new("127.0.0.1:0");
    for name in ["good", "fifo", "device", "folder"] {
        server.record(name, "house");
    }
    let document = |name: &str| server.runs().join(name).join("run.json");
    for name in ["fifo", "device", "folder"] {
        std::fs::remove_file(document(name)).unwrap();
    }
    fifo(&document("fifo"));
    fifo(&server.runs().join(".netburn-index.json"));
    std::os::unix::fs::symlink("/dev/zero", document("device")).unwrap();
    std::fs::create_dir(document("folder")).unwrap();
    std::fs::create_dir(server.runs().join("spooled")).unwrap();
    fifo(&server.runs().join("spooled/spool"));
    let all = server.get("/runs/api/runs?sort=name").expect(200).json();
    let states: Vec<(&str, &str)> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["name"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    let expected = [
        ("device", "unreadable"),
        ("fifo", "unreadable"),
        ("folder", "unreadable"),
        ("good", "finished"),
        ("spooled", "unreadable"),
    ];
    assert_eq!(states, expected);
}

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn the_list_shows_the_current_runs() {
    let server = TestServer::new("127.0.0.1:0");
    let list = |query: &str| server.get(&format!("/runs/api/runs{query}")).expect(200).json();
    assert_eq!(list("")["total"], 0, "a missing directory has no runs");
    server.record("a", "house");
    server.record("b", "office");
    let live = Recorder::create(&server.runs().join("c"), header("now")).unwrap();
    drop(Recorder::create(&server.runs().join("d"), header("left")).unwrap());
    server.record("e", "broken");
    std::fs::write(server.runs().join("e/run.json"), "{").unwrap();
    std::fs::create_dir(server.runs().join("nothing")).unwrap();
    let all = list("?sort=name");
    let states: Vec<(&str, &str)> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["name"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    let expected = [
        ("a", "finished"),
        ("b", "finished"),
        ("c", "live"),
        ("d", "unfinished"),
        ("e", "unreadable"),
    ];
    assert_eq!(states, expected);
    assert_eq!(all["runs"][0]["title"], "About house");
    // Unfinished runs have their title, too.
    for (place, name, title) in [(2, "c", "About now"), (3, "d", "About left")] {
        assert_eq!(all["runs"][place]["title"], title);
        let one = server.get(&format!("/runs/api/run?name={name}")).expect(200).json();
        assert_eq!(one["title"], title);
        assert_eq!(list(&format!("?q=about+{}", &title[6..]))["runs"][0]["name"], name);
    }
    assert_eq!(all["runs"][0]["stations"], json!([["phone", "inconclusive"]]));
    assert_eq!(list("?q=OFFICE")["runs"][0]["name"], "b");
    assert_eq!(list("?state=live")["matching"], 1);
    assert_eq!(
        list("?q=phone&verdict=inconclusive&sort=-name&count=1")["runs"][0]["name"],
        "b"
    );
    assert_eq!(list("?verdict=pass")["matching"], 0);
    // A changed record is read again, a deleted one is removed, and listing does not finish a record.
    live.finish(&RunStatus::Complete).unwrap();
    std::fs::remove_dir_all(server.runs().join("a")).unwrap();
    let all = list("?sort=name");
    assert_eq!(
        (&all["total"], &all["runs"][1]["state"]),
        (&json!(4), &json!("finished"))
    );
    assert!(server.runs().join("d/spool").exists() && !server.runs().join("d/run.json").exists());
    assert!(server.runs().join(".netburn-index.json").exists());
}

#[test]
fn a_run_is_described_rendered_and_finished_on_request() {
    let server = TestServer::new("127.0.0.1:0");
    server.record("a", "house");
    server.record("b", "house");
    let reply = server.get("/runs/api/run?name=a").expect(200).json();
    assert_eq!(
        (&reply["state"], &reply["summary"]["scenario"]),
        (&json!("finished"), &json!("house"))
    );
    let report = server.get("/runs/of/a/report.html").expect(200);
    assert!(
        report.body.contains("About house") && report.head.contains("text/html"),
        "{}",
        report.head
    );
    let compared = server.get("/runs/compare?a=a&b=b").expect(200);
    assert!(compared.body.starts_with("<!doctype html>") && compared.head.contains("text/html"));
    assert!(server.get("/runs/api/compare?a=a&b=b").expect(200).json().is_object());
    server.get("/runs/compare?a=a").expect(400);
    server.get("/runs/compare?a=a&b=none").expect(404);
    drop(Recorder::create(&server.runs().join("left"), header("left")).unwrap());
    assert_eq!(
        server.get("/runs/api/run?name=left").expect(200).json()["state"],
        "unfinished"
    );
    server.get("/runs/of/left/report.html").expect(409);
    assert!(
        !server.runs().join("left/run.json").exists(),
        "only a finish request finishes the record"
    );
    let finish = "/runs/api/finish?name=left";
    server.get(finish).expect(405);
    server.post(finish, "text/plain", "{}").expect(415);
    assert!(!server.runs().join("left/run.json").exists());
    let reply = server.post(finish, "application/json", "{}").expect(200).json();
    assert_eq!(
        (&reply["state"], &reply["summary"]["verdict"]),
        (&json!("finished"), &json!("inconclusive"))
    );
    let live = Recorder::create(&server.runs().join("live"), header("live")).unwrap();
    server
        .post("/runs/api/finish?name=live", "application/json", "{}")
        .expect(409);
    server.get("/runs/of/live/report.html").expect(409);
    drop(live);
}

#[test]
fn files_outside_the_directory_are_not_read() {
    let server = TestServer::new("127.0.0.1:0");
    server.record("a", "house");
    record(&server.dir.path().join("secret"), "secret");
    #[cfg(unix)]
    std::os::unix::fs::symlink(server.dir.path().join("secret"), server.runs().join("link")).unwrap();
    for name in [
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..",
        ".",
        "/etc",
        "%2fetc",
        "link",
        "a/../../secret",
        "a%00",
        "..%5csecret",
        "",
        "missing",
        ".netburn-index.json",
    ] {
        for path in [
            format!("/runs/api/run?name={name}"),
            format!("/runs/of/{name}/report.html"),
            format!("/runs/api/live?name={name}"),
        ] {
            let reply = server.get(&path);
            assert!(
                matches!(reply.status, 400 | 404),
                "{path}: {} {}",
                reply.status,
                reply.body
            );
            assert!(!reply.body.contains("About secret"), "{path}");
        }
    }
    for path in [
        "/runs/page/../../Cargo.toml",
        "/runs/page/",
        "/etc/passwd",
        "/runs/page/page.js/x",
        "//runs/",
        "/runs/api/",
    ] {
        server.get(path).expect(404);
    }
    let all = server.get("/runs/api/runs").expect(200).json();
    assert_eq!(all["total"], 1, "a link out of the directory is not a run: {all}");
}

#[test]
fn requests_from_other_sites_and_for_other_names_are_rejected() {
    let server = TestServer::new("127.0.0.1:0");
    server.record("a", "house");
    let port = server.address.port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "192.0.2.1".to_owned(),
        String::new(),
    ] {
        let reply = server.send(&format!(
            "GET /runs/api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ));
        assert!(
            matches!(reply.status, 400 | 421) && !reply.body.contains("house"),
            "{host}: {}",
            reply.body
        );
    }
    server
        .send("GET /runs/ HTTP/1.1\r\nConnection: close\r\n\r\n")
        .expect(421);
    server
        .get_with("/runs/api/runs", "Sec-Fetch-Site: cross-site\r\n")
        .expect(403);
    server
        .get_with("/runs/of/a/report.html", "Sec-Fetch-Site: same-site\r\n")
        .expect(403);
    server
        .get_with("/runs/api/runs", "Sec-Fetch-Site: same-origin\r\n")
        .expect(200);
    for path in [
        "/runs/",
        "/runs/page/page.js",
        "/runs/api/runs",
        "/runs/of/a/report.html",
    ] {
        let reply = server.get(path).expect(200);
        for field in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "frame-ancestors 'none'",
        ] {
            assert!(reply.head.contains(field), "{path}: {}", reply.head);
        }
        assert!(!reply.head.contains("access-control"), "{path}");
    }
    for method in ["PUT", "DELETE", "POST", "OPTIONS"] {
        server
            .send(&format!(
                "{method} /runs/api/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                server.address
            ))
            .expect(405);
    }
}

#[test]
fn beyond_loopback_a_key_is_required() {
    let server = TestServer::new("0.0.0.0:0");
    server.record("a", "house");
    server.get("/runs/").expect(200);
    for path in [
        "/runs/api/runs",
        "/runs/api/run?name=a",
        "/runs/of/a/report.html",
        "/runs/compare?a=a&b=a",
        "/runs/api/live",
    ] {
        let reply = server.get(path).expect(401);
        assert!(!reply.body.contains("house"), "{path}");
    }
    let login = |key: &str| {
        server.post(
            "/runs/api/login",
            "application/json",
            &json!({ "key": key }).to_string(),
        )
    };
    for wrong in ["", "x", &server.key()[1..], &server.key().to_uppercase()] {
        let reply = login(wrong).expect(401);
        assert!(!reply.head.contains("set-cookie"));
    }
    server
        .post(
            "/runs/api/login",
            "application/json",
            &format!("{{\"key\":\"{}\"}}", "x".repeat(4096)),
        )
        .expect(401);
    server.post("/runs/api/login", "application/json", "{").expect(401);
    let reply = login(server.key()).expect(200);
    let cookie = reply
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    assert!(
        cookie.contains("httponly") && cookie.contains("samesite=strict") && cookie.contains("path=/runs"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    server
        .get_with("/runs/api/runs", &format!("Cookie: a=b; {pair}\r\n"))
        .expect(200);
    server
        .get_with("/runs/api/runs", &format!("Authorization: Bearer {}\r\n", server.key()))
        .expect(200);
    server
        .get_with("/runs/api/runs", &format!("Cookie: {}\r\n", pair.replace('=', "=0")))
        .expect(401);
    let other = TestServer::new("0.0.0.0:0");
    assert_ne!(other.key(), server.key(), "each server has a new key");
}

#[test]
fn an_oversized_request_closes_the_connection() {
    let server = TestServer::new("127.0.0.1:0");
    let reply = server.get(&format!("/runs/api/runs?q={}", "x".repeat(64 << 10)));
    assert!(matches!(reply.status, 0 | 400 | 414 | 431), "{}", reply.status);
    let reply = server.get_with("/runs/", &format!("X: {}\r\n", "x".repeat(64 << 10)));
    assert!(matches!(reply.status, 0 | 400 | 431), "{}", reply.status);
    for garbage in ["GET\r\n\r\n", "\u{16}\u{3}\u{1}", "GET / HTTP/9.9\r\n\r\n"] {
        assert!(matches!(
            server.send(&format!("{garbage}\r\n\r\n")).status,
            0 | 400 | 505
        ));
    }
    server.get("/runs/").expect(200);
}

#[test]
fn a_run_in_progress_is_an_event_stream() {
    let server = TestServer::new("127.0.0.1:0");
    std::fs::create_dir_all(server.runs()).unwrap();
    let live = Recorder::create(&server.runs().join("live"), header("now")).unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(30)))
        .unwrap();
    write!(
        stream,
        "GET /runs/api/live?name=live HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address
    )
    .unwrap();
    let mut reply = String::new();
    let mut buffer = [0; 4096];
    while !reply.contains("\"state\":\"live\"") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{reply}");
        reply.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    assert!(
        reply.contains("text/event-stream") && reply.contains("event: run\ndata: {"),
        "{reply}"
    );
    live.finish(&RunStatus::Complete).unwrap();
    // The stream ends with the run.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("\"state\":\"finished\""));
}
