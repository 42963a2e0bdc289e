//! The station page's modules, in node: their own tests, their messages against the schema, and the compiled module
//! against its sources.

use netburn_protocol::messages::standing::FromMember;
use netburn_protocol::messages::{Message, ToController};
use netburn_scenario::{Document, Environment};
use netburn_station_page::Page;
use netburn_traffic::datagram::{Echo, EchoLimits};
use netburn_units::{Instant, RandomStream};
use netburn_workload::kinds::KINDS;
use serde_json::{Value, json};
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

/// The repository contains the module, so that a build needs no WebAssembly target.
#[test]
fn the_stored_module_is_not_older_than_its_sources() {
    let check = build_station_page().arg("--check").output().unwrap();
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
    let build = build_station_page().arg("--output").arg(&rebuilt).output().unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    behaves(&rebuilt);
}

/// The script, with the toolchain that built this test.
fn build_station_page() -> Command {
    let mut command = Command::new(root().join("scripts/build-station-page"));
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

/// Events of a page, and the replies of the same code outside a browser.
struct Recording {
    page: Page,
    steps: Vec<Value>,
    requests: Vec<u64>,
    datagrams: Vec<Vec<u8>>,
    echo: Echo,
    timeout: Option<i64>,
}

impl Recording {
    fn handle(&mut self, now: i64, event: Value) {
        let reply = match event["datagram"].as_str() {
            Some(digits) => self.page.handle_datagram(now, &unhex(digits)),
            None => self.page.handle_text(now, &event.to_string()),
        };
        let reply: Value = serde_json::from_str(&reply).unwrap();
        let sent: Vec<Vec<u8>> = std::iter::from_fn(|| self.page.poll_transmit()).collect();
        let digits: Vec<String> = sent.iter().map(|bytes| hex(bytes)).collect();
        for command in reply["commands"].as_array().unwrap() {
            let request = command["request"].as_u64().unwrap();
            if command["do"] == "begin" {
                self.requests.push(request);
            } else {
                self.requests.retain(|other| *other != request);
            }
        }
        self.timeout = reply["timeout"].as_i64();
        self.steps.push(json!([now, event, reply, digits]));
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

/// One workload with random settings, its events, and the replies.
fn case(random: &mut RandomStream) -> Value {
    let text = scenario(random);
    let document = Document::from_toml("case.toml", &text).unwrap();
    let (plan, _) = document
        .resolve_for(Environment::Local)
        .unwrap_or_else(|e| panic!("{e:?}: {text}"));
    let target = json!({ "address": "192.0.2.1:4480", "datagram_port": 4480 });
    let assign = json!({ "type": "assign", "plan": plan.to_json(), "stations": [0], "target": target });
    let mut recording = Recording {
        page: Page::new(),
        steps: Vec::new(),
        requests: Vec::new(),
        datagrams: Vec::new(),
        echo: Echo::new(&[7; 32], EchoLimits::default()),
        timeout: None,
    };
    let mut now = -1_200_000_000;
    recording.handle(now, json!({ "type": "assign", "text": assign.to_string() }));
    recording.handle(now, json!({ "type": "ready", "ports": 2, "resolution": 5000 }));
    let numbers = [format!("{:x}", random.next_u64()), format!("{:x}", random.next_u64())];
    recording.handle(now, json!({ "type": "start", "channel": true, "random": numbers }));
    recording.handle(now, json!({ "type": "idle", "until": -200_000_000 }));
    for _ in 0..250 {
        now += random.below(15_000_000) as i64;
        let event = event(random, &mut recording, &mut now);
        recording.handle(now, event);
    }
    recording.handle(now, json!({ "type": "save" }));
    recording.handle(now, json!({ "type": "stop" }));
    for event in ["flush", "results", "abandon"] {
        recording.handle(now, json!({ "type": event }));
    }
    recording.handle(now, json!({ "type": "view", "live": false }));
    recording.handle(now, json!({ "type": "health", "name": "one" }));
    Value::Array(recording.steps)
}

/// The next event. A timeout is usually in time, sometimes early or late.
fn event(random: &mut RandomStream, recording: &mut Recording, now: &mut i64) -> Value {
    let choice = random.below(20);
    if let (Some(bytes), 0..=9) = (recording.datagrams.pop(), choice) {
        return json!({ "datagram": hex(&bytes) });
    }
    if !recording.requests.is_empty() && choice < 15 {
        let at = random.below(recording.requests.len() as u64) as usize;
        let request = recording.requests[at];
        return match choice {
            0..=8 => json!({ "type": "bytes", "request": request, "bytes": 1 + random.below(1_500_000) }),
            9..=10 => json!({ "type": "connected", "request": request, "at": *now - 5_000_000 }),
            11..=13 => {
                recording.requests.remove(at);
                json!({ "type": "finished", "request": request })
            }
            _ => {
                recording.requests.remove(at);
                json!({ "type": "failed", "request": request, "failure": "connection" })
            }
        };
    }
    match choice {
        17 => json!({ "type": "view", "live": true }),
        18 => json!({ "type": "flush" }),
        _ => {
            if let Some(timeout) = recording.timeout {
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
