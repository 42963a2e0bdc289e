//! The page over real sockets: who is told what.

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

/// A server and the directory of its runs; ends when dropped.
struct House {
    dir: tempfile::TempDir,
    at: SocketAddr,
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// An answer.
struct Told {
    status: u16,
    head: String,
    body: String,
}

impl House {
    /// `listen` with port 0; what is everywhere is still asked over loopback.
    fn new(listen: &str) -> House {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("runs"));
        config.listen = listen.parse().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind(config).await.unwrap();
                tell.send((server.address(), server.near_url())).unwrap();
                let stopped = async {
                    let _ = stopped.await;
                };
                server.run(stopped).await;
            });
        });
        let (at, url) = told.recv().unwrap();
        House {
            dir,
            at: SocketAddr::from(([127, 0, 0, 1], at.port())),
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

    /// Says exactly this.
    fn say(&self, text: &str) -> Told {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(30)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A server that ends the connection early may reset it.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Told {
            status: head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    fn get_with(&self, path: &str, fields: &str) -> Told {
        let (host, end) = (self.at, "Connection: close\r\n\r\n");
        self.say(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}{end}"))
    }

    fn get(&self, path: &str) -> Told {
        self.get_with(path, "")
    }

    fn post(&self, path: &str, kind: &str, body: &str) -> Told {
        let (host, length) = (self.at, body.len());
        self.say(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n\
             {body}"
        ))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

impl Told {
    #[track_caller]
    fn expect(self, status: u16) -> Told {
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

/// What is no file is said to be unreadable at once, and the other runs are listed.
#[test]
fn what_is_no_file_keeps_nobody_waiting() {
    let house = House::new("127.0.0.1:0");
    for name in ["good", "fifo", "device", "folder"] {
        house.record(name, "house");
    }
    let document = |name: &str| house.runs().join(name).join("run.json");
    for name in ["fifo", "device", "folder"] {
        std::fs::remove_file(document(name)).unwrap();
    }
    fifo(&document("fifo"));
    fifo(&house.runs().join(".netburn-index.json"));
    std::os::unix::fs::symlink("/dev/zero", document("device")).unwrap();
    std::fs::create_dir(document("folder")).unwrap();
    std::fs::create_dir(house.runs().join("spooled")).unwrap();
    fifo(&house.runs().join("spooled/spool"));
    let all = house.get("/runs/api/runs?sort=name").expect(200).json();
    let states: Vec<(&str, &str)> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["name"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("device", "unreadable"),
        ("fifo", "unreadable"),
        ("folder", "unreadable"),
        ("good", "finished"),
        ("spooled", "unreadable"),
    ];
    assert_eq!(states, wanted);
}

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn runs_are_listed_as_they_are_now() {
    let house = House::new("127.0.0.1:0");
    let list = |query: &str| house.get(&format!("/runs/api/runs{query}")).expect(200).json();
    assert_eq!(list("")["total"], 0, "a directory that isn't there yet has no runs");
    house.record("a", "house");
    house.record("b", "office");
    let live = Recorder::create(&house.runs().join("c"), header("now")).unwrap();
    drop(Recorder::create(&house.runs().join("d"), header("left")).unwrap());
    house.record("e", "broken");
    std::fs::write(house.runs().join("e/run.json"), "{").unwrap();
    std::fs::create_dir(house.runs().join("nothing")).unwrap();
    let all = list("?sort=name");
    let states: Vec<(&str, &str)> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["name"].as_str().unwrap(), run["state"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("a", "finished"),
        ("b", "finished"),
        ("c", "live"),
        ("d", "unfinished"),
        ("e", "unreadable"),
    ];
    assert_eq!(states, wanted);
    assert_eq!(all["runs"][0]["title"], "About house");
    // One under way, or left, is called by its title as well.
    for (place, name, title) in [(2, "c", "About now"), (3, "d", "About left")] {
        assert_eq!(all["runs"][place]["title"], title);
        let one = house.get(&format!("/runs/api/run?name={name}")).expect(200).json();
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
    // A record that changes is read again, one that goes is gone, and nothing was finished by looking.
    live.finish(&RunStatus::Complete).unwrap();
    std::fs::remove_dir_all(house.runs().join("a")).unwrap();
    let all = list("?sort=name");
    assert_eq!(
        (&all["total"], &all["runs"][1]["state"]),
        (&json!(4), &json!("finished"))
    );
    assert!(house.runs().join("d/spool").exists() && !house.runs().join("d/run.json").exists());
    assert!(house.runs().join(".netburn-index.json").exists());
}

#[test]
fn one_run_is_told_shown_and_finished_when_asked() {
    let house = House::new("127.0.0.1:0");
    house.record("a", "house");
    house.record("b", "house");
    let told = house.get("/runs/api/run?name=a").expect(200).json();
    assert_eq!(
        (&told["state"], &told["summary"]["scenario"]),
        (&json!("finished"), &json!("house"))
    );
    let report = house.get("/runs/of/a/report.html").expect(200);
    assert!(
        report.body.contains("About house") && report.head.contains("text/html"),
        "{}",
        report.head
    );
    let compared = house.get("/runs/compare?a=a&b=b").expect(200);
    assert!(compared.body.starts_with("<!doctype html>") && compared.head.contains("text/html"));
    assert!(house.get("/runs/api/compare?a=a&b=b").expect(200).json().is_object());
    house.get("/runs/compare?a=a").expect(400);
    house.get("/runs/compare?a=a&b=none").expect(404);
    drop(Recorder::create(&house.runs().join("left"), header("left")).unwrap());
    assert_eq!(
        house.get("/runs/api/run?name=left").expect(200).json()["state"],
        "unfinished"
    );
    house.get("/runs/of/left/report.html").expect(409);
    assert!(
        !house.runs().join("left/run.json").exists(),
        "it is finished for who asks for it"
    );
    let finish = "/runs/api/finish?name=left";
    house.get(finish).expect(405);
    house.post(finish, "text/plain", "{}").expect(415);
    assert!(!house.runs().join("left/run.json").exists());
    let told = house.post(finish, "application/json", "{}").expect(200).json();
    assert_eq!(
        (&told["state"], &told["summary"]["verdict"]),
        (&json!("finished"), &json!("inconclusive"))
    );
    let live = Recorder::create(&house.runs().join("live"), header("live")).unwrap();
    house
        .post("/runs/api/finish?name=live", "application/json", "{}")
        .expect(409);
    house.get("/runs/of/live/report.html").expect(409);
    drop(live);
}

#[test]
fn nothing_outside_the_directory_is_read() {
    let house = House::new("127.0.0.1:0");
    house.record("a", "house");
    record(&house.dir.path().join("secret"), "secret");
    #[cfg(unix)]
    std::os::unix::fs::symlink(house.dir.path().join("secret"), house.runs().join("link")).unwrap();
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
        "nobody",
        ".netburn-index.json",
    ] {
        for path in [
            format!("/runs/api/run?name={name}"),
            format!("/runs/of/{name}/report.html"),
            format!("/runs/api/live?name={name}"),
        ] {
            let told = house.get(&path);
            assert!(
                matches!(told.status, 400 | 404),
                "{path}: {} {}",
                told.status,
                told.body
            );
            assert!(!told.body.contains("About secret"), "{path}");
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
        house.get(path).expect(404);
    }
    let all = house.get("/runs/api/runs").expect(200).json();
    assert_eq!(all["total"], 1, "a link that leads elsewhere is no run: {all}");
}

#[test]
fn other_sites_and_other_names_are_told_nothing() {
    let house = House::new("127.0.0.1:0");
    house.record("a", "house");
    let port = house.at.port();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "192.0.2.1".to_owned(),
        String::new(),
    ] {
        let told = house.say(&format!(
            "GET /runs/api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ));
        assert!(
            matches!(told.status, 400 | 421) && !told.body.contains("house"),
            "{host}: {}",
            told.body
        );
    }
    house
        .say("GET /runs/ HTTP/1.1\r\nConnection: close\r\n\r\n")
        .expect(421);
    house
        .get_with("/runs/api/runs", "Sec-Fetch-Site: cross-site\r\n")
        .expect(403);
    house
        .get_with("/runs/of/a/report.html", "Sec-Fetch-Site: same-site\r\n")
        .expect(403);
    house
        .get_with("/runs/api/runs", "Sec-Fetch-Site: same-origin\r\n")
        .expect(200);
    for path in [
        "/runs/",
        "/runs/page/page.js",
        "/runs/api/runs",
        "/runs/of/a/report.html",
    ] {
        let told = house.get(path).expect(200);
        for field in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "frame-ancestors 'none'",
        ] {
            assert!(told.head.contains(field), "{path}: {}", told.head);
        }
        assert!(!told.head.contains("access-control"), "{path}");
    }
    for method in ["PUT", "DELETE", "POST", "OPTIONS"] {
        house
            .say(&format!(
                "{method} /runs/api/runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                house.at
            ))
            .expect(405);
    }
}

#[test]
fn beyond_loopback_there_is_a_key() {
    let house = House::new("0.0.0.0:0");
    house.record("a", "house");
    house.get("/runs/").expect(200);
    for path in [
        "/runs/api/runs",
        "/runs/api/run?name=a",
        "/runs/of/a/report.html",
        "/runs/compare?a=a&b=a",
        "/runs/api/live",
    ] {
        let told = house.get(path).expect(401);
        assert!(!told.body.contains("house"), "{path}");
    }
    let enter = |key: &str| {
        house.post(
            "/runs/api/enter",
            "application/json",
            &json!({ "key": key }).to_string(),
        )
    };
    for wrong in ["", "x", &house.key()[1..], &house.key().to_uppercase()] {
        let told = enter(wrong).expect(401);
        assert!(!told.head.contains("set-cookie"));
    }
    house
        .post(
            "/runs/api/enter",
            "application/json",
            &format!("{{\"key\":\"{}\"}}", "x".repeat(4096)),
        )
        .expect(401);
    house.post("/runs/api/enter", "application/json", "{").expect(401);
    let told = enter(house.key()).expect(200);
    let cookie = told
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    assert!(
        cookie.contains("httponly") && cookie.contains("samesite=strict") && cookie.contains("path=/runs"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    house
        .get_with("/runs/api/runs", &format!("Cookie: a=b; {pair}\r\n"))
        .expect(200);
    house
        .get_with("/runs/api/runs", &format!("Authorization: Bearer {}\r\n", house.key()))
        .expect(200);
    house
        .get_with("/runs/api/runs", &format!("Cookie: {}\r\n", pair.replace('=', "=0")))
        .expect(401);
    let other = House::new("0.0.0.0:0");
    assert_ne!(other.key(), house.key(), "a new one each time");
}

#[test]
fn what_is_too_long_ends_the_connection() {
    let house = House::new("127.0.0.1:0");
    let told = house.get(&format!("/runs/api/runs?q={}", "x".repeat(64 << 10)));
    assert!(matches!(told.status, 0 | 400 | 414 | 431), "{}", told.status);
    let told = house.get_with("/runs/", &format!("X: {}\r\n", "x".repeat(64 << 10)));
    assert!(matches!(told.status, 0 | 400 | 431), "{}", told.status);
    for garbage in ["GET\r\n\r\n", "\u{16}\u{3}\u{1}", "GET / HTTP/9.9\r\n\r\n"] {
        assert!(matches!(house.say(&format!("{garbage}\r\n\r\n")).status, 0 | 400 | 505));
    }
    house.get("/runs/").expect(200);
}

#[test]
fn a_run_under_way_is_told_as_events() {
    let house = House::new("127.0.0.1:0");
    std::fs::create_dir_all(house.runs()).unwrap();
    let live = Recorder::create(&house.runs().join("live"), header("now")).unwrap();
    let mut stream = TcpStream::connect(house.at).unwrap();
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(30)))
        .unwrap();
    write!(
        stream,
        "GET /runs/api/live?name=live HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        house.at
    )
    .unwrap();
    let mut told = String::new();
    let mut buffer = [0; 4096];
    while !told.contains("\"stand\":\"live\"") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    assert!(
        told.contains("text/event-stream") && told.contains("event: run\ndata: {"),
        "{told}"
    );
    live.finish(&RunStatus::Complete).unwrap();
    // The stream ends with the run.
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("\"stand\":\"finished\""));
}
