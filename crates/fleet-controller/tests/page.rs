//! The station page's modules, in node: their own tests, their messages against the schema, and the compiled module
//! against its sources.

use netburn_driver::channel_offer::ChannelAnswer;
use netburn_driver::consent::Consent;
use netburn_driver::consent::fleet::FleetKey;
use netburn_protocol::messages::standing::FromMember;
use netburn_protocol::messages::{Message, ToController};
use netburn_scenario::{Document, Environment};
use netburn_station_page::Station;
use netburn_traffic::datagram::{Echo, EchoLimits};
use netburn_units::{ByteSize, Instant, RandomStream};
use netburn_workload::kinds::KINDS;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs node, which must succeed.
fn node(arguments: &[&str], more: &[(&str, &Path)]) -> String {
    let mut command = Command::new("node");
    command.current_dir(root()).args(arguments);
    command.envs(more.iter().copied());
    let output = command.output().expect("node is installed: scripts/install-test-needs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "node {arguments:?}:\n{said}\n{errors}");
    said
}

#[test]
fn the_modules_keep_their_own_tests_and_every_message_of_theirs_is_one_of_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("messages");
    node(&["--test", "web/tests/"], &[("NETBURN_MESSAGES", &messages)]);
    let schema = std::fs::read_to_string(root().join("docs/reference/protocol.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for line in std::fs::read_to_string(messages).unwrap().lines() {
        let (kind, text) = line.split_once(' ').unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        let name = value["type"].as_str().unwrap().to_owned();
        assert!(schema.is_valid(&value), "{line}");
        // The text is equal after parsing and serializing it.
        let (read, wrong) = match kind {
            "run" => (ToController::from_text(text).map(|m| m.to_text()), "a participant's"),
            _ => (FromMember::from_text(text).map(|m| m.to_text()), "a member's"),
        };
        let read = read.unwrap_or_else(|error| panic!("not {wrong}: {error}: {line}"));
        assert_eq!(plain(serde_json::from_str(&read).unwrap()), plain(value), "{line}");
        seen.insert(format!("{kind} {name}"));
    }
    let expected = [
        "run bye",
        "run done",
        "run health",
        "run hello",
        "run pong",
        "run progress",
        "run ready",
        "run rows",
        "standing bye",
        "standing heartbeat",
        "standing late-results",
        "standing late-results-end",
        "standing register",
    ];
    assert!(seen.iter().eq(expected.iter()), "{seen:?}");
}

/// Without absent, null and empty values, and numbers by value.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let all = map.into_iter().map(|(key, value)| (key, plain(value)));
            let some = all.filter(|(_, v)| !v.is_null() && *v != json!([]) && *v != json!({}));
            let mut some: Vec<_> = some.collect();
            some.sort_by(|(a, _), (b, _)| a.cmp(b));
            some.into_iter().collect()
        }
        Value::Array(list) => list.into_iter().map(plain).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other,
    }
}

/// The repository contains the modules of both pages, so that a build needs no WebAssembly target.
#[test]
fn the_stored_modules_are_not_older_than_their_sources() {
    let check = build_pages().arg("--check").output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

/// A module behaves as the same code in this process: the stored one, and a new one where the target is installed.
#[test]
fn the_module_behaves_as_its_sources() {
    let folder = tempfile::tempdir().unwrap();
    let cases = folder.path().join("cases");
    let mut random = netburn_units::Seed(20).stream("cases", 0);
    let text: String = (0..120).map(|_| format!("{}\n", case(&mut random))).collect();
    std::fs::write(&cases, text).unwrap();
    let behaves = |module: &Path| {
        let arguments = ["web/tests/replay.js", module.to_str().unwrap(), cases.to_str().unwrap()];
        assert_eq!(node(&arguments, &[]).trim(), "120 cases");
    };
    behaves(&root().join("web/station/page.wasm"));
    if !has_target() {
        netburn_test_support::skip("the target wasm32-unknown-unknown is not installed: scripts/install-test-needs");
        return;
    }
    let rebuilt = folder.path().join("page.wasm");
    let build = build_pages()
        .args(["station-page", "--output"])
        .arg(&rebuilt)
        .output()
        .unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    behaves(&rebuilt);
}

/// The script, with the toolchain that built this test.
fn build_pages() -> Command {
    let mut command = Command::new(root().join("scripts/build-pages"));
    command.env("CARGO", env!("CARGO")).env("RUSTC", rustc());
    command
}

fn rustc() -> PathBuf {
    Path::new(env!("CARGO")).with_file_name("rustc")
}

fn has_target() -> bool {
    let print = ["--print", "target-libdir", "--target", "wasm32-unknown-unknown"];
    let output = Command::new(rustc()).args(print).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists())
}

/// Inputs of a station, and the effects of the same code outside a browser.
struct Recording {
    station: Station,
    steps: Vec<Value>,
    /// Inputs that answer effects at once: sockets open, servers consent, and data channels too.
    answers: Vec<Value>,
    sockets: BTreeMap<String, u64>,
    requests: Vec<u64>,
    datagrams: Vec<Vec<u8>>,
    echo: Echo,
    timeout: Option<i64>,
}

/// Returns an input as the worker passes it to the module.
fn tagged(input: &Value) -> Value {
    let mut fields = input.as_object().unwrap().clone();
    let name = fields.remove("type").unwrap();
    json!({ name.as_str().unwrap(): fields })
}

impl Recording {
    /// Passes an input and the answers to its effects.
    fn handle(&mut self, now: i64, input: Value) {
        self.step(now, input);
        while let Some(answer) = self.answers.pop() {
            self.step(now, answer);
        }
    }

    /// Sends a message over the socket whose address ends so.
    fn send(&mut self, now: i64, path: &str, message: Value) {
        let socket = self.sockets[path];
        self.handle(
            now,
            json!({ "type": "text", "socket": socket, "text": message.to_string() }),
        );
    }

    fn execute(&mut self, effect: &Value) {
        match effect["do"].as_str().unwrap() {
            "open" => {
                let url = effect["url"].as_str().unwrap();
                let path = url.strip_prefix("ws://controller:4484").unwrap();
                self.sockets.insert(path.to_owned(), effect["socket"].as_u64().unwrap());
                self.answers
                    .push(json!({ "type": "opened", "socket": effect["socket"] }));
            }
            "get" => {
                let text = document(effect["url"].as_str().unwrap());
                self.answers
                    .push(json!({ "type": "response", "get": effect["get"], "status": 200, "text": text }));
            }
            "connect" => {
                let connection = &effect["connection"];
                let sdp = format!("a=mid:0\r\na=fingerprint:sha-256 {}\r\n", ["07"; 32].join(":"));
                self.answers
                    .push(json!({ "type": "offer", "connection": connection, "sdp": sdp }));
                self.answers
                    .push(json!({ "type": "channel", "connection": connection }));
            }
            "answer" => {
                let connection = &effect["connection"];
                self.answers
                    .push(json!({ "type": "channel-open", "connection": connection }));
            }
            "store" => self
                .answers
                .push(json!({ "type": "stored", "number": effect["number"] })),
            "wake" => self.timeout = effect["at"].as_i64(),
            "begin" => self.requests.push(effect["request"].as_u64().unwrap()),
            "cancel" => self.requests.retain(|other| effect["request"] != *other),
            _ => {}
        }
    }

    fn step(&mut self, now: i64, input: Value) {
        let effects = match input["datagram"].as_str() {
            Some(digits) => self.station.handle_datagram(now, &unhex(digits)),
            None => self.station.handle_text(now, &tagged(&input).to_string()),
        };
        let effects: Value = serde_json::from_str(&effects).unwrap();
        let sent: Vec<Vec<u8>> = std::iter::from_fn(|| self.station.poll_transmit()).collect();
        let digits: Vec<String> = sent.iter().map(|bytes| hex(bytes)).collect();
        for effect in effects.as_array().unwrap() {
            self.execute(effect);
        }
        self.steps.push(json!([now, input, effects, digits]));
        let from = "192.0.2.1:9".parse().unwrap();
        for mut bytes in sent {
            let length = self
                .echo
                .handle_datagram(Instant::from_nanos(now), from, |_| true, &mut bytes);
            self.datagrams.extend(length.map(|_| bytes));
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// The response of a server of the run: to a request for its consent, or to the offer of a data channel.
fn document(url: &str) -> String {
    if url.contains("/netburn/channel?") {
        return ChannelAnswer::new("U".repeat(48), "p".repeat(43), "0a".repeat(32), 4480).to_json();
    }
    let nonce = url.rsplit_once('=').unwrap().1;
    let mut consent = Consent::new("", ByteSize::from_gib(1)).unwrap();
    consent.fleet = FleetKey::new("run-token").answer(nonce);
    consent.to_json()
}

/// One workload with random settings, the inputs of its run, and the effects.
fn case(random: &mut RandomStream) -> Value {
    let text = scenario(random);
    let document = Document::from_toml("case.toml", &text).unwrap();
    let (plan, _) = document
        .resolve_for(Environment::Local)
        .unwrap_or_else(|e| panic!("{e:?}: {text}"));
    let target = json!({ "address": "192.0.2.1:4480", "datagram_port": 4480, "more_ports": [4481] });
    let assign = json!({ "type": "assign", "plan": plan.to_json(), "stations": [0], "target": target });
    let mut recording = Recording {
        station: Station::new(),
        steps: Vec::new(),
        answers: Vec::new(),
        sockets: BTreeMap::new(),
        requests: Vec::new(),
        datagrams: Vec::new(),
        echo: Echo::new(&[7; 32], EchoLimits::default()),
        timeout: None,
    };
    let mut now = 3_000_000_000;
    let random_digits: String = (0..4).map(|_| format!("{:016x}", random.next_u64())).collect();
    let page = json!({ "type": "load", "tab": { "netburn.joined": "yes" }, "device": { "netburn.name": "one" },
        "hash": "#fleet-token-0123456789", "host": "controller:4484", "hostname": "controller", "secure": false,
        "system": "a test", "hidden": false, "webrtc": true, "wake_lock": true, "resolution": 5000, "random": random_digits });
    recording.handle(now, page);
    recording.handle(now, json!({ "type": "join", "name": "one" }));
    let welcome = json!({ "type": "welcome", "protocol": 1, "version": "test", "fleet": "home" });
    recording.send(now, "/join", welcome);
    let invite = json!({ "type": "invite", "run": "r-1", "name": "one", "token": "run-token" });
    recording.send(now, "/join", invite);
    recording.send(
        now,
        "/run/r-1",
        json!({ "type": "welcome", "protocol": 1, "version": "test" }),
    );
    recording.send(now, "/run/r-1", json!({ "type": "ping", "id": 1 }));
    recording.send(now, "/run/r-1", assign);
    let start = now + 1_200_000_000;
    recording.send(now, "/run/r-1", json!({ "type": "start", "at": start }));
    for _ in 0..250 {
        now += random.below(15_000_000) as i64;
        let input = input(random, &mut recording, &mut now);
        recording.handle(now, input);
    }
    recording.send(now, "/run/r-1", json!({ "type": "ack", "sequence": 2 }));
    match random.below(3) {
        0 => recording.send(now, "/run/r-1", json!({ "type": "stop", "reason": "a test" })),
        1 => recording.send(now, "/run/r-1", json!({ "type": "bye" })),
        _ => recording.handle(now, json!({ "type": "leave" })),
    }
    Value::Array(recording.steps)
}

/// The next input. A timeout is usually in time, sometimes early or late.
fn input(random: &mut RandomStream, recording: &mut Recording, now: &mut i64) -> Value {
    let choice = random.below(20);
    if let (Some(bytes), 0..=9) = (recording.datagrams.pop(), choice) {
        return json!({ "datagram": hex(&bytes) });
    }
    if !recording.requests.is_empty() && choice < 15 {
        let at = random.below(recording.requests.len() as u64) as usize;
        let request = recording.requests[at];
        return match choice {
            0..=6 => json!({ "type": "bytes", "request": request, "bytes": 1 + random.below(1_500_000) }),
            7..=8 => {
                let status = [200, 200, 503][random.below(3) as usize];
                json!({ "type": "status", "request": request, "status": status })
            }
            9..=10 => json!({ "type": "sent", "request": request, "total": 1 + random.below(1_500_000) }),
            11..=13 => {
                recording.requests.remove(at);
                let connect_end = *now - 5_000_000 * random.below(2) as i64;
                json!({ "type": "finished", "request": request, "connect_start": *now - 5_000_000, "connect_end": connect_end })
            }
            _ => {
                recording.requests.remove(at);
                json!({ "type": "failed", "request": request })
            }
        };
    }
    match choice {
        17 => json!({ "type": "hidden", "hidden": random.below(2) == 0 }),
        18 => json!({ "type": "unsent", "count": random.below(3) }),
        _ => {
            if let Some(timeout) = recording.timeout.take() {
                let late = [0, 0, 0, random.below(300_000_000)][random.below(4) as usize];
                *now = (*now).max(timeout) + late as i64;
            }
            json!({ "type": "timeout" })
        }
    }
}

fn scenario(random: &mut RandomStream) -> String {
    // The page skips `responsiveness`.
    let kinds: Vec<&str> = KINDS
        .iter()
        .map(|kind| kind.name)
        .filter(|name| *name != "responsiveness")
        .collect();
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let every = 20 + random.below(400);
    let mut workload = format!("kind = \"{kind}\"\n");
    match kind {
        "probe" | "voice" => workload += &format!("object_size = \"{} B\"\n", 64 + random.below(1337)),
        "datagrams" | "game" | "cloud-gaming" | "dash" | "video-call" => {}
        _ => workload += &format!("object_size = \"{} B\"\n", 1 + random.below(2_000_000)),
    }
    if random.below(2) == 0 {
        workload += &format!("timeout = \"{} ms\"\n", 10 + random.below(900));
    }
    if matches!(kind, "pages" | "stream" | "calls") {
        workload += &format!("interval = \"{every}.{:03} ms\"\n", random.below(1000));
    }
    if matches!(kind, "pages" | "calls") {
        workload += &format!(
            "jitter = \"{} us\"\ngoal = \"{} ms\"\n",
            random.below(every * 500),
            1 + random.below(500)
        );
    }
    match kind {
        "probe" => {
            let outstanding = 1 + random.below(4);
            workload += &format!("interval = \"{every} ms\"\noutstanding = {outstanding}\ngoal = \"{every} ms\"\n");
        }
        "voice" => {
            workload += &format!(
                "interval = \"{}.{:03} ms\"\n",
                5 + random.below(195),
                random.below(1000)
            )
        }
        "datagrams" | "game" | "cloud-gaming" => {
            for direction in ["up", "down"] {
                let (every, burst) = (20 + random.below(200), 1 + random.below(5));
                let spacing = random.below(every * 1000 / burst);
                let stream =
                    format!("interval = \"{every} ms\", burst = {burst}, spacing = \"{spacing} us\", size = \"90 B\"");
                if kind != "datagrams" || direction == "up" || random.below(2) == 0 {
                    workload += &format!("{direction} = {{ {stream} }}\n");
                }
            }
        }
        "pages" => workload += &format!("objects = {}\n", 1 + random.below(4)),
        "calls" => workload += &format!("outstanding = {}\n", 1 + random.below(4)),
        "download" | "upload" => workload += &format!("streams = {}\n", 1 + random.below(4)),
        "stream" => {
            let (rate, start) = (1 + random.below(40), 1 + random.below(1500));
            let acquire = start + random.below(3000);
            let player = format!("rate = \"{rate} Mbit/s\", start = \"{start} ms\", max_buffer = \"{acquire} ms\"");
            workload += &format!("player = {{ {player} }}\ngoal = \"no stall\"\n");
        }
        "dash" => workload += &dash(random),
        "video-call" => {
            for direction in ["up", "down"] {
                let (every, burst) = (20 + random.below(200), 1 + random.below(20));
                let stream = format!("interval = \"{every} ms\", burst = {burst}, size = \"1000 B\"");
                workload += &format!("{direction} = {{ {stream} }}\n");
            }
            workload += "adaptation = { min_rate = \"30 kbit/s\", start_rate = \"30 kbit/s\" }\n";
        }
        _ => {}
    }
    if random.below(2) == 0 {
        // The station starts within the first second, and its load lasts 2 s or more: a window is in it.
        let runs_once = matches!(
            kind,
            "stream" | "voice" | "datagrams" | "game" | "cloud-gaming" | "dash" | "video-call"
        );
        let repeats = !runs_once && random.below(2) == 0;
        let start = if repeats {
            random.below(1500)
        } else {
            1000 + random.below(900)
        };
        workload += &format!(
            "start = \"{start} ms\"\nstop = \"{} ms\"\n",
            start + 100 + random.below(900)
        );
        if repeats {
            workload += &format!("repeat = \"{} ms\"\n", 1000 + random.below(100));
        }
    }
    if matches!(kind, "pages" | "calls") && random.below(2) == 0 {
        workload += "connections = \"new\"\n";
    }
    format!(
        "duration = \"{} ms\"\ndrain = \"{} ms\"\nseed = {}\n[station.one]\nstart = \"{} ms\"\nworkload = \"use\"\n[workload.use]\n{workload}",
        2000 + random.below(4000),
        random.below(2000),
        random.next_u64() >> 1,
        random.below(1000),
    )
}

/// A ladder whose segments are about as large as the inputs of a case, and a small buffer: the bit rate changes often.
fn dash(random: &mut RandomStream) -> String {
    let mut rate = 100 + random.below(2000);
    let ladder: Vec<String> = (0..1 + random.below(6))
        .map(|_| {
            rate += 1 + random.below(8000);
            format!("\"{rate} kbit/s\"")
        })
        .collect();
    let (segment, start) = (500 + random.below(1000), 1 + random.below(1500));
    format!(
        "goal = \"no stall\"\ndash = {{ ladder = [{}], segment = \"{segment} ms\", start = \"{start} ms\", \
         max_buffer = \"{} ms\", reservoir = \"{} ms\", cushion = \"{} ms\" }}\n",
        ladder.join(", "),
        start + segment + random.below(3000),
        random.below(1500),
        1 + random.below(3000),
    )
}
