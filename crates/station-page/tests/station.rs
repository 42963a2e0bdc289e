//! A station with a browser, a controller and a server that a test plays.

use netburn_driver::consent::Consent;
use netburn_driver::consent::fleet::FleetKey;
use netburn_protocol::clock::Stamp;
use netburn_station_page::browser::{Entries, Loaded};
use netburn_station_page::view::{State, View};
use netburn_station_page::{Effect, Input, Station};
use netburn_units::{ByteSize, RandomStream, Seed};
use serde_json::{Value, json};
use std::collections::VecDeque;

const TOKEN: &str = "fleet-token-0123456789";

/// The browser: it stores strings, opens sockets and answers requests for consent at once.
struct Browser {
    station: Station,
    now: i64,
    tab: Entries,
    device: Entries,
    inputs: VecDeque<Input>,
    /// Sockets by number, with their addresses.
    sockets: Vec<(u64, String)>,
    sent: Vec<Value>,
    view: View,
    is_address_clean: bool,
    wake: Option<i64>,
}

impl Browser {
    fn load(hash: &str, tab: Entries, device: Entries) -> Browser {
        let loaded = Loaded {
            tab: tab.clone(),
            device: device.clone(),
            hash: hash.to_owned(),
            host: "controller:4484".to_owned(),
            hostname: "controller".to_owned(),
            resolution: 5_000,
            random: "00".repeat(32),
            ..Loaded::default()
        };
        let mut browser = Browser {
            station: Station::new(),
            now: 1_000_000_000,
            tab,
            device,
            inputs: VecDeque::new(),
            sockets: Vec::new(),
            sent: Vec::new(),
            view: View::default(),
            is_address_clean: false,
            wake: None,
        };
        browser.handle(Input::Load(Box::new(loaded)));
        browser
    }

    /// A member that takes part in run `r-1`.
    fn in_run() -> Browser {
        let mut browser = Browser::load(&format!("#{TOKEN}.x"), Entries::new(), Entries::new());
        browser.join("tv");
        browser.text(
            "/join",
            json!({ "type": "welcome", "protocol": 1, "version": "", "fleet": "home" }),
        );
        browser.text(
            "/join",
            json!({ "type": "invite", "run": "r-1", "name": "tv", "token": "run-token" }),
        );
        browser.text("/run/r-1", json!({ "type": "welcome", "protocol": 1, "version": "" }));
        browser
    }

    fn join(&mut self, name: &str) {
        let name = name.to_owned();
        self.handle(Input::Join { name });
    }

    /// Sends a message over the socket to this path.
    fn text(&mut self, path: &str, message: Value) {
        self.raw(path, message.to_string());
    }

    fn raw(&mut self, path: &str, text: String) {
        let socket = self.sockets.iter().find(|(_, url)| url.ends_with(path));
        if let Some(&(socket, _)) = socket {
            self.handle(Input::Text { socket, text });
        }
    }

    fn handle(&mut self, input: Input) {
        self.inputs.push_back(input);
        while let Some(input) = self.inputs.pop_front() {
            for effect in self.station.handle(Stamp(self.now), input) {
                self.execute(effect);
            }
        }
    }

    fn execute(&mut self, effect: Effect) {
        match effect {
            Effect::Open { socket, url } => {
                self.sockets.push((socket, url));
                self.inputs.push_back(Input::Opened { socket });
            }
            Effect::Send { text, .. } => self.sent.push(serde_json::from_str(&text).unwrap()),
            Effect::Close { socket } => {
                self.sockets.retain(|(other, _)| *other != socket);
                self.inputs.push_back(Input::Closed { socket });
            }
            Effect::Get { get, url } => {
                let nonce = url.rsplit_once('=').unwrap().1;
                let mut consent = Consent::new("", ByteSize::from_gib(1)).unwrap();
                consent.fleet = FleetKey::new("run-token").answer(nonce);
                let text = consent.to_json();
                self.inputs.push_back(Input::Response { get, status: 200, text });
            }
            Effect::Store { number, tab, device } => {
                for (entries, stored) in [(tab, &mut self.tab), (device, &mut self.device)] {
                    for (key, value) in entries {
                        match value {
                            Some(value) => drop(stored.insert(key, value)),
                            None => drop(stored.remove(&key)),
                        }
                    }
                }
                self.inputs.push_back(Input::Stored { number });
            }
            Effect::HideKey => self.is_address_clean = true,
            Effect::Show { view } => self.view = *view,
            Effect::Wake { at } => self.wake = Some(at),
            Effect::Begin { .. }
            | Effect::Cancel { .. }
            | Effect::Abort { .. }
            | Effect::Connect { .. }
            | Effect::Answer { .. }
            | Effect::Disconnect { .. } => {}
        }
    }

    /// Advances the time.
    fn advance(&mut self, millis: i64) {
        let end = self.now + millis * 1_000_000;
        while let Some(wake) = self.wake.take_if(|wake| *wake <= end) {
            self.now = self.now.max(wake);
            self.handle(Input::Timeout {});
        }
        self.now = end;
    }

    /// The last message of this type.
    fn last(&self, name: &str) -> &Value {
        let mut messages = self.sent.iter().rev();
        messages
            .find(|message| message["type"] == name)
            .unwrap_or_else(|| panic!("no {name} in {:?}", self.sent))
    }
}

fn assign() -> Value {
    let calls = json!({ "kind": "calls", "object_size": "16 KiB", "interval": "1 s", "goal": ["150 ms"] });
    let plan = json!({ "name": "x", "title": "A test", "duration": "10 s", "baseline": "0 s", "drain": "1 s", "seed": 7,
        "station": { "tv": { "workload": ["voip"] } }, "workload": { "voip": calls } });
    let target = json!({ "address": "192.0.2.1:4480", "datagram_port": 4480 });
    json!({ "type": "assign", "plan": plan, "stations": [0], "target": target })
}

#[test]
fn the_token_is_removed_from_the_address_and_stored() {
    let key = "abcDEF0123456789_-abcd";
    let first = Browser::load(&format!("#{key}.fingerprint"), Entries::new(), Entries::new());
    assert!(first.is_address_clean);
    assert_eq!((first.view.state, first.view.form), (State::Join, true));
    let reload = Browser::load("", first.tab.clone(), first.device.clone());
    assert_eq!((reload.view.state, reload.is_address_clean), (State::Join, false));
    let mut other_tab = Browser::load("", Entries::new(), first.device.clone());
    other_tab.join("tv");
    assert_eq!(other_tab.last("register")["token"], key);
    for wrong in [
        "",
        "#x",
        "#<script>alert(1)</script>",
        "#0123456789abcde",
        "#äöüäöüäöüäöüäöüäöü",
    ] {
        let page = Browser::load(wrong, Entries::new(), Entries::new());
        assert_eq!((page.view.state, page.view.form), (State::NoKey, false), "{wrong}");
    }
}

#[test]
fn a_name_is_checked_stored_and_used_again() {
    let mut page = Browser::load(&format!("#{TOKEN}"), Entries::new(), Entries::new());
    assert!(page.view.suggestion.starts_with("station-"), "{}", page.view.suggestion);
    page.join("<b>");
    assert_eq!((page.view.state, page.view.name_error.is_empty()), (State::Join, false));
    page.join(" the tv ");
    assert_eq!((page.view.state, page.view.name.as_str()), (State::Joining, "the-tv"));
    let reload = Browser::load("", page.tab.clone(), page.device.clone());
    assert_eq!(reload.last("register")["name"], "the-tv");
    // The user leaves, and the next load shows the form.
    page.handle(Input::Leave {});
    assert_eq!(page.last("bye"), &json!({ "type": "bye" }));
    let later = Browser::load("", page.tab.clone(), page.device.clone());
    assert_eq!(
        (later.view.state, later.view.suggestion.as_str()),
        (State::Join, "the-tv")
    );
    // Another key is another fleet.
    let mut tab = reload.tab.clone();
    tab.insert("netburn.joined".to_owned(), "yes".to_owned());
    let other = Browser::load("#another-token-0123456789", tab, page.device);
    assert_eq!(other.view.state, State::Join);
}

#[test]
fn an_assignment_that_is_no_message_is_refused_with_a_reason() {
    for (key, value, reason) in [
        ("stations", json!(["0"]), "invalid assignment: "),
        ("stations", json!([4]), "invalid assignment: the plan has no station 4"),
        ("stations", Value::Null, "invalid assignment: "),
        (
            "target",
            json!({ "address": "evil.test:1", "datagram_port": 1 }),
            "invalid assignment: ",
        ),
        (
            "plan",
            json!({ "station": null }),
            "invalid assignment: the plan can't be read: ",
        ),
    ] {
        let mut page = Browser::in_run();
        let mut message = assign();
        message[key] = value;
        page.text("/run/r-1", message);
        let error = page.last("done")["error"].as_str().unwrap();
        assert!(error.starts_with(reason), "{key}: {error}");
    }
}

#[test]
fn a_start_lies_in_the_run_and_not_far_ahead() {
    let start = |at: i64| {
        let mut page = Browser::in_run();
        page.text("/run/r-1", assign());
        assert_eq!(page.last("ready")["reach"], json!({}));
        let at = page.now.saturating_add(at);
        page.text("/run/r-1", json!({ "type": "start", "at": at }));
        page
    };
    let second = 1_000_000_000;
    for (at, reason) in [
        (
            6 * 3600 * second,
            "the start is 21600 s ahead: at most 1 min is allowed",
        ),
        (i64::MAX, "the start is 9223372035 s ahead: at most 1 min is allowed"),
        (-11 * second, "it reconnected after the start"),
        (i64::MIN, "it reconnected after the start"),
    ] {
        assert_eq!(start(at).last("done")["error"], reason, "{at}");
    }
    for at in [3 * second, -9 * second] {
        let mut page = start(at);
        page.advance(300);
        assert!(page.sent.iter().all(|message| message["type"] != "done"));
        assert_eq!(
            page.last("progress")["at"].as_i64().unwrap() / second,
            (250_000_000 - at) / second
        );
    }
}

#[test]
fn sequence_numbers_beyond_a_run_have_no_effect() {
    let mut page = Browser::in_run();
    for last in [u64::MAX, 1 << 60, 1 << 21] {
        page.text(
            "/run/r-1",
            json!({ "type": "welcome", "protocol": 1, "version": "", "last_sequence": last }),
        );
        page.text("/run/r-1", json!({ "type": "ack", "sequence": last }));
    }
    page.text("/run/r-1", json!({ "type": "bye" }));
    assert_eq!(page.view.state, State::Ended, "it has no results");
}

/// A member that is `Ready` for a run.
fn member() -> Browser {
    let mut page = Browser::load(&format!("#{TOKEN}.x"), Entries::new(), Entries::new());
    page.join("tv");
    page.text(
        "/join",
        json!({ "type": "welcome", "protocol": 1, "version": "", "fleet": "home" }),
    );
    page
}

#[test]
fn an_invitation_with_an_invalid_name_or_token_has_no_effect() {
    let long = "x".repeat(129);
    for (run, name, token) in [
        ("../x", "tv", "run-token"),
        ("", "tv", "run-token"),
        (".hidden", "tv", "run-token"),
        (&long, "tv", "run-token"),
        ("r-1", "<b>", "run-token"),
        ("r-1", "", "run-token"),
        ("r-1", "tv", &long),
        ("r-1", "tv", ""),
    ] {
        let mut page = member();
        page.text(
            "/join",
            json!({ "type": "invite", "run": run, "name": name, "token": token }),
        );
        assert_eq!(page.sockets.len(), 1, "{run} {name} {token}");
        assert_eq!(page.view.state, State::Member);
        assert!(
            page.view.line.starts_with("An invitation was rejected: "),
            "{}",
            page.view.line
        );
    }
}

/// Ends run `run` during the measurement, after its first rows.
fn end_early(page: &mut Browser, run: &str, last_sequence: u64) {
    let path = format!("/run/{run}");
    page.text(
        "/join",
        json!({ "type": "invite", "run": run, "name": "tv", "token": "run-token" }),
    );
    page.text(&path, json!({ "type": "welcome", "protocol": 1, "version": "" }));
    page.text(&path, assign());
    let at = page.now + 1_000_000_000;
    page.text(&path, json!({ "type": "start", "at": at }));
    page.advance(3_000);
    page.text(
        &path,
        json!({ "type": "welcome", "protocol": 1, "version": "", "last_sequence": last_sequence }),
    );
    page.text(&path, json!({ "type": "bye" }));
    // The page registers again.
    page.advance(1_000);
    page.text(
        "/join",
        json!({ "type": "welcome", "protocol": 1, "version": "", "fleet": "home" }),
    );
}

#[test]
fn at_most_64_runs_are_kept_for_the_controller() {
    let mut page = member();
    for run in 0..66 {
        end_early(&mut page, &format!("r-{run:02}"), 0);
    }
    let pending = page.last("register")["pending"].as_array().unwrap();
    assert_eq!((pending.len(), &pending[0]["run"]), (64, &json!("r-02")));
    let stored = |page: &Browser| {
        page.tab
            .keys()
            .filter(|key| key.starts_with("netburn.run.run."))
            .count()
    };
    assert_eq!(stored(&page), 64);
    let mut reload = Browser::load("", page.tab.clone(), page.device.clone());
    let pending = reload.last("register")["pending"].as_array().unwrap();
    assert_eq!(pending.len(), 64);
    reload.text("/join", json!({ "type": "discard", "run": "r-02" }));
    assert_eq!(stored(&reload), 63);
}

#[test]
fn late_results_wait_for_acknowledgements() {
    let mut page = member();
    end_early(&mut page, "r-1", 1 << 25);
    page.sent.clear();
    let late = |page: &Browser| {
        page.sent
            .iter()
            .filter(|message| message["type"] == "late-results")
            .count()
    };
    for _ in 0..3 {
        page.text("/join", json!({ "type": "request-results", "run": "r-1" }));
    }
    assert!(late(&page) <= 3 * 64, "{}", late(&page));
    page.sent.clear();
    page.text("/join", json!({ "type": "ack", "run": "r-1", "sequence": 10 }));
    assert_eq!(late(&page), 10);
    page.sent.clear();
    page.text("/join", json!({ "type": "ack", "run": "r-1", "sequence": 1 << 25 }));
    page.text("/join", json!({ "type": "ack", "run": "r-1", "sequence": 1_u64 << 40 }));
    assert!(late(&page) <= 64);
    assert!(page.last("late-results-end")["error"].is_string());
}

#[test]
fn a_run_has_at_most_64_assignments() {
    let mut page = Browser::in_run();
    for _ in 0..64 {
        page.text("/run/r-1", assign());
    }
    assert!(page.sent.iter().all(|message| message["type"] != "done"));
    page.text("/run/r-1", assign());
    let error = page.last("done")["error"].as_str().unwrap();
    assert_eq!(error, "more than 64 assignments in one run");
}

#[test]
fn a_page_has_a_limited_number_of_stations_workloads_and_requests() {
    let assignment = |stations: usize, workloads: usize, outstanding: u32| {
        let mut message = assign();
        let plan = message["plan"].as_object_mut().unwrap();
        let names: Vec<String> = (0..workloads).map(|number| format!("w{number}")).collect();
        let calls = json!({ "kind": "calls", "object_size": "16 KiB", "interval": "1 s", "outstanding": outstanding,
            "goal": ["150 ms"] });
        let sections = names.iter().map(|name| (name.clone(), calls.clone()));
        plan["workload"] = sections.collect::<serde_json::Map<_, _>>().into();
        let station = |number| (format!("s{number}"), json!({ "workload": names }));
        plan["station"] = (0..stations).map(station).collect::<serde_json::Map<_, _>>().into();
        message["stations"] = (0..stations).collect();
        message
    };
    let answer = |message| {
        let mut page = Browser::in_run();
        page.text("/run/r-1", message);
        match page.sent.last() {
            Some(ready) if ready["type"] == "ready" => String::new(),
            Some(done) => done["error"].as_str().unwrap_or_default().to_owned(),
            None => panic!("no answer"),
        }
    };
    assert_eq!(answer(assignment(64, 1, 1)), "");
    assert_eq!(answer(assignment(1, 64, 1)), "");
    assert_eq!(answer(assignment(1, 2, 5_000)), "");
    assert_eq!(
        answer(assignment(65, 1, 1)),
        "invalid assignment: 65 stations of one page: at most 64"
    );
    assert_eq!(
        answer(assignment(2, 33, 1)),
        "invalid assignment: 66 workloads of one page: at most 64"
    );
    assert_eq!(
        answer(assignment(1, 2, 5_001)),
        "invalid assignment: 10002 requests of one page at once: at most 10000"
    );
}

#[test]
fn long_reasons_of_a_controller_are_truncated() {
    let mut page = member();
    end_early(&mut page, "r-1", 0);
    page.text(
        "/join",
        json!({ "type": "invite", "run": "r-2", "name": "tv", "token": "run-token" }),
    );
    let reason = "x".repeat(1 << 20);
    page.text("/run/r-2", json!({ "type": "welcome", "protocol": 1, "version": "" }));
    page.text("/run/r-2", assign());
    page.text("/run/r-2", json!({ "type": "start", "at": page.now }));
    page.advance(2_000);
    page.text("/run/r-2", json!({ "type": "stop", "reason": reason }));
    page.text("/run/r-2", json!({ "type": "bye", "reason": reason }));
    assert!(page.tab.values().all(|value| value.len() < 20_000));
    assert!(page.view.line.len() < 5_000);
    page.text("/join", json!({ "type": "bye", "reason": "y".repeat(60_000) }));
    page.handle(Input::Leave {});
    assert!(page.view.line.len() < 5_000, "{}", page.view.line.len());
}

/// A run can have a state in which the machine fails. A reload does not restore it.
#[test]
fn a_run_that_the_page_has_left_is_not_continued() {
    let mut page = Browser::in_run();
    page.text("/run/r-1", assign());
    page.text("/run/r-1", json!({ "type": "start", "at": page.now + 1_000_000_000 }));
    page.advance(3_000);
    let mut tab = page.tab.clone();
    let reload = Browser::load("", tab.clone(), page.device.clone());
    assert!(reload.sockets.iter().any(|(_, url)| url.ends_with("/run/r-1")));
    // As the page's script does after a failure of the module.
    tab.remove("netburn.joined");
    let mut reload = Browser::load("", tab, page.device.clone());
    reload.join("tv");
    assert_eq!(reload.sockets.len(), 1);
    assert_eq!(reload.last("register")["pending"][0]["run"], "r-1");
    let again = Browser::load("", reload.tab.clone(), reload.device.clone());
    assert_eq!(again.sockets.len(), 1);
}

fn pick<'a, T>(random: &mut RandomStream, list: &'a [T]) -> &'a T {
    &list[random.below(list.len() as u64) as usize]
}

/// A message with fields of any type.
fn message(random: &mut RandomStream) -> String {
    if random.below(8) == 0 {
        let deep = format!("{{\"type\":\"assign\",\"plan\":{}", "[".repeat(3000));
        let texts = ["", "null", "[]", "{", "7", "\"x\"", "{\"type\":7}", deep.as_str()];
        return (*pick(random, &texts)).to_owned();
    }
    let types = [
        "welcome",
        "rejected",
        "ping",
        "assign",
        "start",
        "ack",
        "stop",
        "invite",
        "request-results",
        "discard",
        "bye",
        "serve",
        "__proto__",
    ];
    let fields = [
        "code",
        "reason",
        "last_sequence",
        "id",
        "plan",
        "stations",
        "target",
        "at",
        "sequence",
        "run",
        "name",
        "token",
        "fleet",
        "protocol",
        "version",
    ];
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(1.5),
        json!(1_u64 << 60),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("x"),
        json!("r-1"),
        json!("192.0.2.1:4480"),
        json!([]),
        json!([0]),
        json!([1e9]),
        json!({}),
        json!({ "station": null }),
        json!(true),
    ];
    let mut message = if random.below(3) == 0 { assign() } else { json!({}) };
    if random.below(4) > 0 || message.get("type").is_none() {
        message["type"] = json!(pick(random, &types));
    }
    for field in fields {
        if random.below(4) == 0 {
            message[field] = pick(random, &values).clone();
        }
    }
    message.to_string()
}

/// A controller, a server and a browser that send anything at any time.
#[test]
fn malformed_inputs_at_any_time_do_not_break_a_station() {
    for seed in 0..60 {
        let mut random = Seed(seed).stream("malformed", 0);
        let mut page = Browser::in_run();
        if random.below(2) == 0 {
            page.text("/run/r-1", assign());
            let at = page.now + 200_000_000;
            page.text("/run/r-1", json!({ "type": "start", "at": at }));
        }
        for _ in 0..60 {
            page.advance(random.below(200) as i64);
            let path = *pick(&mut random, &["/join", "/run/r-1", "/run/x"]);
            page.raw(path, message(&mut random));
            let number = *pick(&mut random, &[0, 1, 2, 3, 9, u64::MAX]);
            let (request, connection, get, socket) = (number, number, number, number);
            page.handle(match random.below(16) {
                0 => Input::Status {
                    request,
                    status: *pick(&mut random, &[0, 200, 503]),
                },
                1 => Input::Bytes {
                    request,
                    bytes: *pick(&mut random, &[0, 1, 16384, u64::MAX]),
                },
                2 => Input::Finished {
                    request,
                    connect_start: 0,
                    connect_end: *pick(&mut random, &[0, 1_000_000_000, i64::MIN]),
                },
                3 => Input::Failed { request },
                4 => Input::Sent {
                    request,
                    total: *pick(&mut random, &[0, 16384, u64::MAX]),
                },
                5 => Input::Closed { socket },
                6 => Input::Opened { socket },
                7 => Input::Response {
                    get,
                    status: 200,
                    text: message(&mut random),
                },
                8 => Input::Offer {
                    connection,
                    sdp: message(&mut random),
                },
                9 => Input::Channel { connection },
                10 => Input::ChannelClosed { connection },
                11 => Input::Hidden {
                    hidden: random.below(2) == 0,
                },
                12 => Input::Unsent { count: random.below(3) },
                13 => Input::Stored { number },
                14 => Input::Join {
                    name: message(&mut random),
                },
                _ => Input::Timeout {},
            });
            let bytes: Vec<u8> = (0..random.below(80)).map(|_| random.next_u64() as u8).collect();
            page.station.handle_datagram(page.now, &bytes);
            page.station.handle_text(page.now, &message(&mut random));
        }
        page.handle(Input::Leave {});
    }
}
