//! Measurements that the page of a controller starts, over HTTP, with real agents.

use crate::support::fleet::{Fleet, end};
use crate::support::{Bench, Running, finish, start};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Longer than a measurement and its fit take on a busy machine.
const LIMIT: Duration = Duration::from_secs(280);

/// An HTTP client of the page.
struct Page {
    at: SocketAddr,
    key: String,
}

impl Page {
    fn new(fleet: &Fleet) -> Self {
        Page::printed(fleet.at(), &fleet.serve.as_ref().unwrap().stderr_so_far())
    }

    /// The page at this address, whose key is in the output of its server.
    fn printed(at: SocketAddr, printed: &str) -> Self {
        let (_, key) = printed.split_once("/runs/#key=").unwrap();
        let key = key.split_whitespace().next().unwrap().to_owned();
        Page { at, key }
    }

    /// Status and body of an answer.
    fn send(&self, method: &str, path: &str, more: &str, body: &str) -> (u16, String) {
        let at = self.at;
        let mut stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(
            stream,
            "{method} /runs/{path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn with_key(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let more = format!(
            "Authorization: Bearer {}\r\nContent-Type: application/json\r\n",
            self.key
        );
        self.send(method, path, &more, body)
    }

    fn get(&self) -> Value {
        let (status, body) = self.with_key("GET", "api/measure", "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn start(&self, devices: &[&str]) -> (u16, String) {
        self.with_key(
            "POST",
            "api/start-measurement",
            &json!({ "devices": devices }).to_string(),
        )
    }

    /// Waits for a state of the measurement.
    #[track_caller]
    fn wait_for(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let last = self.get()["last"].take();
            if is(&last) {
                return last;
            }
            assert!(begun.elapsed() < LIMIT, "no {what}: {last:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn text(state: &Value) -> &str {
    state["text"].as_str().unwrap_or_default()
}

#[test]
fn only_the_key_starts_a_measurement() {
    let fleet = Fleet::new();
    let page = Page::new(&fleet);
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let body = r#"{"devices":["alpha"]}"#;
    let json = "Content-Type: application/json\r\n";
    let (_, token) = fleet.url().split_once('#').unwrap();
    let token = token.split('.').next().unwrap();
    for more in [json.to_owned(), format!("{json}Authorization: Bearer {token}\r\n")] {
        for (method, path) in [
            ("GET", "api/measure"),
            ("POST", "api/start-measurement"),
            ("POST", "api/stop-measurement"),
            ("POST", "api/invite"),
        ] {
            assert_eq!(page.send(method, path, &more, body).0, 401, "{path}");
        }
    }
    // A page of another site can send neither of these with the cookie.
    let key = format!("Authorization: Bearer {}\r\n", page.key);
    let start = |more: &str| {
        page.send("POST", "api/start-measurement", &format!("{key}{more}"), body)
            .0
    };
    assert_eq!(start("Content-Type: text/plain\r\n"), 415);
    assert_eq!(start(&format!("{json}Sec-Fetch-Site: cross-site\r\n")), 403);
    assert_eq!(page.with_key("GET", "api/start-measurement", "").0, 405);
    assert_eq!(page.with_key("GET", "api/invite", "").0, 405);
    // The documentation needs no key, and has no other files.
    for (path, status) in [
        ("docs/docs/README.html", 200),
        ("docs/../api/measure", 401),
        ("docs/docs/%2e%2e/Cargo.toml", 401),
    ] {
        assert_eq!(page.send("GET", path, "", "").0, status, "{path}");
    }
    for wrong in [
        "",
        "{}",
        "[]",
        r#"{"devices":"alpha"}"#,
        r#"{"devices":["alpha"],"x":1}"#,
    ] {
        assert_eq!(page.with_key("POST", "api/start-measurement", wrong).0, 400, "{wrong}");
    }
    for (devices, why) in [
        (&["beta"][..], "beta has left"),
        (&["../x"], "../x has left"),
        (&["alpha", "alpha"], "`alpha` twice"),
        (&[], "no device to measure"),
    ] {
        let (status, body) = page.start(devices);
        assert!(status == 409 && body.contains(why), "{devices:?}: {status} {body}");
    }
    assert_eq!(page.get()["last"]["state"], "none");
    assert!(!fleet.bench.path("runs").exists());
    end(alpha);
}

/// `netburn ui` over an empty folder, at which devices would join at `join`.
fn start_page(bench: &Bench, join: &str) -> (Running, Page) {
    std::fs::create_dir_all(bench.path("runs")).unwrap();
    let mut ui = start(bench.with_state("owner", &["ui", "--listen", "127.0.0.1:0", "--join-listen", join]));
    ui.wait_for("the address", |run| run.stdout_so_far().contains("/runs/#key="));
    let printed = ui.stdout_so_far();
    let at = printed
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let page = Page::printed(at, &printed);
    (ui, page)
}

#[test]
fn devices_join_only_after_they_were_invited() {
    let bench = Bench::new();
    let (ui, page) = start_page(&bench, "127.0.0.1:0");
    let before = page.get();
    assert_eq!(before["invitation"], Value::Null);
    assert_eq!(before["problem"], "Devices can't join yet.");
    assert!(!bench.path("owner/fleet/controller.sock").exists());
    // Two requests at once start one controller.
    let invite = || page.with_key("POST", "api/invite", "{}");
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(invite);
        (invite(), other.join().unwrap())
    });
    assert_eq!((one.0, other.0), (200, 200), "{one:?} {other:?}");
    let invitation = page.get()["invitation"].clone();
    let address = invitation["address"].as_str().unwrap();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
    assert!(invitation["code"].as_array().unwrap().len() > 20);
    // The controller ends with the page.
    ui.signal("INT");
    ui.finish().expect(0);
    assert!(!bench.path("owner/fleet/controller.sock").exists());
}

#[test]
fn an_address_in_use_is_a_problem_that_the_page_shows() {
    let bench = Bench::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (ui, page) = start_page(&bench, &taken.local_addr().unwrap().to_string());
    let (status, body) = page.with_key("POST", "api/invite", "{}");
    assert!(status == 409 && body.contains("in use"), "{status} {body}");
    assert_eq!(page.get()["invitation"], Value::Null);
    ui.signal("INT");
    ui.finish().expect(0);
}

/// The agent limits its own rate, so the rate is known.
#[test]
fn the_page_measures_the_devices_that_joined() {
    let fleet = Fleet::new();
    let page = Page::new(&fleet);
    let none = page.get();
    assert_eq!(none["offer"], Value::Null);
    assert!(
        none["problem"]
            .as_str()
            .unwrap()
            .starts_with("No device has joined yet.")
    );
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let offer = &page.get()["offer"];
    assert_eq!(offer["devices"], json!(["alpha"]));
    // 4 s down and 4 s up at 1 Gbit/s.
    let extent = offer["extent"].as_str().unwrap();
    assert!(extent.starts_with("takes 2"), "{extent}");
    assert!(extent.contains("at most 1.0 GB at 1 Gbit/s"), "{extent}");
    assert!(offer["note"].as_str().unwrap().contains("measure with two or more"));
    let (status, body) = page.start(&["alpha"]);
    assert_eq!(status, 200, "{body}");
    let (status, body) = page.start(&["alpha"]);
    assert!(status == 409 && body.contains("in progress"), "{status} {body}");
    let state = page.wait_for("phase", |state| text(state).contains("phase 2 of 3: alpha down"));
    assert!((0.3..0.7).contains(&state["part"].as_f64().unwrap()), "{state:#}");
    let run = state["run"].as_str().unwrap();
    assert!(run.ends_with("-measure"), "{run}");
    let state = page.wait_for("result", |state| {
        !["measuring", "modelling"].contains(&state["state"].as_str().unwrap())
    });
    assert_eq!(state["state"], "done", "{state:#}");
    assert_eq!(state["run"], run);
    let findings = state["findings"].as_str().unwrap();
    let row = findings.lines().find(|line| line.starts_with("alpha")).unwrap();
    let down: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((down / 4.0 - 1.0).abs() < 0.1, "{row}");
    // On loopback there is no Wi-Fi, so that the models need not behave like this network. Then nothing is recommended.
    let explains = !findings.contains("No model behaves like this network");
    let next = explains.then(|| format!("netburn explain runs/{run}"));
    assert_eq!(state["next"], json!(next));
    assert!(fleet.bench.path(&format!("runs/{run}/network.toml")).exists());
    let (status, report) = page.with_key("GET", &format!("of/{run}/report.html"), "");
    assert!(status == 200 && report.contains("alpha"), "{status}");
    // The page offers the next one.
    assert_eq!(page.get()["offer"]["devices"], json!(["alpha"]));
    end(alpha);
}

#[test]
fn a_measurement_of_the_page_ends_early_with_its_reason() {
    let fleet = Fleet::new();
    let page = Page::new(&fleet);
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let begin = || {
        assert_eq!(page.start(&["alpha"]).0, 200);
        page.wait_for("phase", |state| text(state).contains("phase 1 of 3"));
    };
    let failed = |why: &str| {
        let state = page.wait_for("end", |state| state["state"] == "failed");
        assert!(text(&state).contains(why), "{state:#}");
        let folder = format!("runs/{}", state["run"].as_str().unwrap());
        finish(fleet.command(&["report", &folder]));
        assert!(!fleet.bench.path(&format!("{folder}/network.toml")).exists());
    };
    begin();
    assert_eq!(page.with_key("POST", "api/stop-measurement", "{}").0, 200);
    failed("the measurement was stopped");
    begin();
    page.wait_for("models", |state| state["state"] == "modelling");
    assert_eq!(page.with_key("POST", "api/stop-measurement", "{}").0, 200);
    failed("stopped: the measurement is saved, and `netburn fit runs/");
    begin();
    alpha.signal("KILL");
    failed("alpha left: ");
    drop(alpha);
}

#[test]
fn a_controller_that_ends_saves_its_measurement() {
    let mut fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let page = Page::new(&fleet);
    assert_eq!(page.start(&["alpha"]).0, 200);
    let state = page.wait_for("phase", |state| text(state).contains("phase 1 of 3"));
    let folder = format!("runs/{}", state["run"].as_str().unwrap());
    end(fleet.serve.take().unwrap());
    let report = finish(fleet.command(&["report", &folder]));
    assert!(report.out().contains("alpha"), "{}{}", report.out(), report.stderr);
    end(alpha);
}
