//! The station page's modules, in node: their own tests, their messages against the schema, and their state
//! machine against the agents'.

use netburn_protocol::messages::standing::FromMember;
use netburn_protocol::messages::{Message, ToController};
use netburn_scenario::{Document, Environment};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Stream};
use netburn_workload::kinds::video_call::video::{VideoConfig, VideoEnd, VideoTransmit};
use netburn_workload::{
    Action, Adaptation, Connection, Direction, Failure, Outcome, PacketStream, RequestId, Wake, Workload,
};
use serde_json::{Value, json};
use std::fmt::Write;
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

#[test]
fn a_workload_in_a_browser_equals_an_agents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases");
    let mut random = netburn_units::Seed(20).stream("cases", 0);
    let mut text = String::new();
    for _ in 0..300 {
        writeln!(text, "{}", case(&mut random)).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let said = node(&["web/tests/against_rust.js", path.to_str().unwrap()], &[]);
    assert_eq!(said.trim(), "300 cases");
}

/// One workload with random settings, its inputs, and its outputs.
fn case(random: &mut Stream) -> Value {
    let text = scenario(random);
    let document = Document::from_toml("case.toml", &text).unwrap();
    let (plan, _) = document
        .resolve_for(Environment::Local)
        .unwrap_or_else(|e| panic!("{e:?}: {text}"));
    let station = &plan.stations[0];
    let start = Instant::ZERO + station.start;
    let end = (Instant::ZERO + station.end(plan.duration)).max(start);
    let config = station.workloads[0].config.clone();
    let index = random.below(1 << 32);
    let mut machine = Workload::new(config, start, end, end + plan.drain, plan.seed, index);
    let (mut steps, mut said) = (Vec::new(), Vec::new());
    let mut under_way: Vec<RequestId> = Vec::new();
    let mut now = Instant::from_millis(-100);
    for _ in 0..150 {
        let (step, id) = input(random, &mut machine, &mut now, &under_way);
        if let Some(id) = id {
            under_way.retain(|other| *other != id);
        }
        steps.push(step);
        said.push(heard(&mut machine, &mut under_way));
        if machine.is_settled() {
            break;
        }
    }
    let target = json!({ "address": "192.0.2.1:4480", "datagram_port": 4480 });
    let assign = json!({ "plan": plan.to_json(), "stations": [0], "target": target });
    json!({ "assign": assign, "index": index, "steps": steps, "said": said })
}

fn scenario(random: &mut Stream) -> String {
    let kinds = [
        "pages",
        "stream",
        "calls",
        "download",
        "upload",
        "probe",
        "voice",
        "datagrams",
        "game",
        "cloud-gaming",
        "dash",
        "video-call",
    ];
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
fn dash(random: &mut Stream) -> String {
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

/// An input of the machine: its kind, and the request that it ends.
fn input(
    random: &mut Stream,
    machine: &mut Workload,
    now: &mut Instant,
    under_way: &[RequestId],
) -> (Value, Option<RequestId>) {
    let some = (!under_way.is_empty()).then(|| under_way[random.below(under_way.len() as u64) as usize]);
    let choice = random.below(20);
    *now += Duration::from_nanos(random.below(15_000_000));
    if let (Some(id), 0..=14) = (some, choice) {
        let mut step = json!({ "now": now.as_nanos(), "operation": id.operation, "object": id.object });
        if machine.config().kind().is_datagram() && choice < 12 {
            // The arrival of a packet can be known late.
            let at = *now - Duration::from_nanos(random.below(30_000_000));
            if machine.config().video().is_some() {
                let size = 1 + random.below(20_000);
                machine.handle_frame(*now, id, at, ByteSize::from_bytes(size));
                (step["do"], step["at"], step["size"]) = ("arrival".into(), at.as_nanos().into(), size.into());
            } else if machine.config().kind().is_one_way() {
                machine.handle_arrival(*now, id, at);
                (step["do"], step["at"]) = ("arrival".into(), at.as_nanos().into());
            } else {
                machine.handle_reply(*now, id, None);
                step["do"] = "reply".into();
            }
            return (step, Some(id));
        }
        let what = match choice {
            0..=7 => {
                let bytes = 1 + random.below(1_500_000);
                machine.handle_bytes(*now, id, bytes);
                step["bytes"] = bytes.into();
                "bytes"
            }
            8..=13 => {
                machine.handle_finished(*now, id);
                "finished"
            }
            _ => {
                machine.handle_failed(*now, id, Failure::Connection);
                step["how"] = "failed_connection".into();
                "failed"
            }
        };
        step["do"] = what.into();
        return (step, (what != "bytes").then_some(id));
    }
    if choice == 19 && random.below(40) == 0 {
        machine.handle_stop(*now);
        return (json!({ "do": "stop", "now": now.as_nanos() }), None);
    }
    if let Some((at, _)) = machine.poll_timeout() {
        // Usually in time, sometimes early or late.
        *now = (*now).max(at) + Duration::from_nanos([0, 0, 0, random.below(300_000_000)][random.below(4) as usize]);
    }
    machine.handle_timeout(*now);
    (json!({ "do": "timeout", "now": now.as_nanos() }), None)
}

fn heard(machine: &mut Workload, under_way: &mut Vec<RequestId>) -> Value {
    let mut actions = Vec::new();
    while let Some(action) = machine.poll_action() {
        actions.push(match action {
            Action::Begin(request) => {
                under_way.push(request.id);
                let slot = match request.connection {
                    Connection::New => None,
                    Connection::Kept(slot) => Some(slot),
                };
                let RequestId { operation, object } = request.id;
                json!([
                    "begin",
                    operation,
                    object,
                    request.due.as_nanos(),
                    slot,
                    request.size.as_bytes()
                ])
            }
            Action::Cancel(id) => {
                under_way.retain(|other| *other != id);
                json!(["cancel", id.operation, id.object])
            }
            Action::Send { id, due, size } => {
                under_way.push(id);
                json!(["send", id.operation, id.object, due.as_nanos(), null, size.as_bytes()])
            }
            Action::SendOneWay {
                id,
                due,
                size,
                direction,
            } => {
                under_way.push(id);
                let direction = match direction {
                    Direction::Up => "up",
                    Direction::Down => "down",
                };
                json!([
                    "send-one-way",
                    id.operation,
                    id.object,
                    due.as_nanos(),
                    direction,
                    size.as_bytes()
                ])
            }
        });
    }
    let mut operations = Vec::new();
    while let Some(o) = machine.poll_operation() {
        let at = |instant: Option<Instant>| instant.map(Instant::as_nanos);
        operations.push(json!([
            o.sequence,
            o.due.as_nanos(),
            at(o.started),
            at(o.first_byte),
            at(o.finished),
            o.bytes,
            outcome(o.outcome),
        ]));
    }
    let mut stalls = Vec::new();
    while let Some(stall) = machine.poll_stall() {
        stalls.push(json!([stall.began.as_nanos(), stall.length.as_nanos()]));
    }
    let timeout = machine
        .poll_timeout()
        .map(|(at, why)| json!([at.as_nanos(), wake(why)]));
    json!({ "actions": actions, "operations": operations, "stalls": stalls, "timeout": timeout })
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Finished => "finished",
        Outcome::Failed(_) => "failed_connection",
        Outcome::TimedOut => "timed_out",
        Outcome::NotStarted => "not_started",
        Outcome::Unfinished => "unfinished",
        Outcome::Cut => "cut",
    }
}

fn wake(why: Wake) -> &'static str {
    match why {
        Wake::Due => "due",
        Wake::Timeout => "time-out",
        Wake::Stall => "stall",
        Wake::Stage => "stage",
        Wake::Pause => "pause",
        Wake::End => "end",
        Wake::Settle => "settle",
    }
}

/// Two ends of a video call over a path with a delay, a rate and losses that change. Each input and output of one end is a step.
#[test]
fn a_video_call_in_a_browser_equals_an_agents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls");
    let mut random = netburn_units::Seed(22).stream("calls", 0);
    let text: String = (0..20).map(|_| format!("{}\n", call(&mut random))).collect();
    std::fs::write(&path, text).unwrap();
    let output = node(&["web/tests/video_against_rust.js", path.to_str().unwrap()], &[]);
    assert_eq!(output.trim(), "20 calls");
}

/// Delay, loss and rate of a path between two ends, in both directions.
#[derive(Clone, Copy)]
struct Conditions {
    /// From the transmission to the arrival, without jitter.
    delay: Duration,
    /// Percentage of datagrams that are lost.
    loss: u64,
    /// Time to transmit one datagram.
    gap: Duration,
}

/// The datagrams in one direction of a path.
#[derive(Default)]
struct Flight {
    /// The previous transmission ends at this time.
    free: Instant,
    /// Times of arrival, and datagrams.
    datagrams: Vec<(Instant, VideoTransmit)>,
}

impl Flight {
    fn send(&mut self, conditions: Conditions, random: &mut Stream, now: Instant, datagram: VideoTransmit) {
        self.free = self.free.max(now) + conditions.gap;
        if random.below(100) >= conditions.loss {
            let jitter = Duration::from_micros(random.below(3000));
            self.datagrams.push((self.free + conditions.delay + jitter, datagram));
        }
    }

    /// Removes the datagrams that arrived, in the order of their transmission.
    fn arrivals(&mut self, now: Instant) -> impl Iterator<Item = VideoTransmit> + use<> {
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.datagrams)
            .into_iter()
            .partition(|(at, _)| *at <= now);
        self.datagrams = later;
        due.into_iter().map(|(_, datagram)| datagram)
    }
}

fn call(random: &mut Stream) -> Value {
    let interval = Duration::from_millis(20 + random.below(40));
    let stream = PacketStream {
        interval,
        burst: 1 + random.below(12) as u32,
        spacing: Duration::ZERO,
        size: ByteSize::from_bytes(1100),
    };
    let config = VideoConfig {
        stream,
        adaptation: Adaptation {
            min_rate: BitRate::from_bps(50_000),
            start_rate: BitRate::from_bps(50_000 + random.below(200_000)),
        },
        timeout: Duration::from_millis(300 + random.below(1700)),
    };
    let mut ends = [VideoEnd::new(config), VideoEnd::new(config)];
    let mut to = [Flight::default(), Flight::default()];
    let (mut steps, mut expected) = (Vec::new(), Vec::new());
    let (mut now, mut frame) = (Instant::ZERO, 0);
    let mut conditions = Conditions {
        delay: Duration::from_millis(20),
        loss: 0,
        gap: Duration::from_micros(1000),
    };
    while now < Instant::from_millis(8000) {
        // In one of 40 steps the page is up to 15 ms late.
        let late = if random.below(40) == 0 { random.below(15_000) } else { 0 };
        now += Duration::from_micros(500 + late);
        if random.below(2000) == 0 {
            conditions = Conditions {
                delay: Duration::from_millis(1 + random.below(150)),
                loss: random.below(25),
                gap: Duration::from_micros(200 + random.below(8000)),
            };
        }
        for number in 0..2 {
            if now >= Instant::ZERO + interval * u64::from(frame) && number == 0 {
                for end in &mut ends {
                    end.send_frame(now, frame);
                }
                steps.push(json!({ "do": "frame", "now": now.as_nanos(), "number": frame }));
                expected.push(outputs(&mut ends[0], &mut to[1], conditions, random, now));
                outputs(&mut ends[1], &mut to[0], conditions, random, now);
                frame += 1;
            }
            let end = &mut ends[number];
            for datagram in to[number].arrivals(now) {
                match &datagram {
                    VideoTransmit::Media(packet) => end.handle_media(now, packet),
                    VideoTransmit::Feedback(feedback) => end.handle_feedback(now, feedback),
                }
                let output = outputs(end, &mut to[1 - number], conditions, random, now);
                if number == 0 {
                    steps.push(json!({ "do": "datagram", "now": now.as_nanos(), "datagram": sent(&datagram) }));
                    expected.push(output);
                }
            }
            if end.poll_timeout().is_some_and(|(at, _)| at <= now) {
                end.handle_timeout(now);
                let output = outputs(end, &mut to[1 - number], conditions, random, now);
                if number == 0 {
                    steps.push(json!({ "do": "timeout", "now": now.as_nanos() }));
                    expected.push(output);
                }
            }
        }
    }
    json!({
        "config": {
            "stream": { "interval": interval.as_nanos(), "burst": stream.burst, "size": 1100 },
            "adaptation": {
                "minRate": config.adaptation.min_rate.as_bps(),
                "startRate": config.adaptation.start_rate.as_bps(),
            },
            "timeout": config.timeout.as_nanos(),
        },
        "steps": steps,
        "expected": expected,
    })
}

/// Drains the outputs of an end. Its datagrams enter the path to the other end, where some are lost.
fn outputs(end: &mut VideoEnd, to: &mut Flight, conditions: Conditions, random: &mut Stream, now: Instant) -> Value {
    let mut out = Vec::new();
    while let Some(datagram) = end.poll_transmit() {
        out.push(sent(&datagram));
        to.send(conditions, random, now, datagram);
    }
    let mut frames = Vec::new();
    while let Some(frame) = end.poll_frame() {
        frames.push(json!([frame.number, frame.size.as_bytes()]));
    }
    json!({
        "out": out,
        "frames": frames,
        "rate": end.rate().as_bps(),
        "timeout": end.poll_timeout().map(|(at, _)| at.as_nanos()),
    })
}

fn sent(datagram: &VideoTransmit) -> Value {
    match datagram {
        VideoTransmit::Media(packet) => json!({ "media": {
            "transport": packet.transport,
            "frame": packet.frame,
            "index": packet.index,
            "count": packet.count,
            "size": packet.size.as_bytes(),
        } }),
        VideoTransmit::Feedback(feedback) => json!({ "feedback": {
            "stamp": feedback.stamp.as_nanos(),
            "from": feedback.from,
            "ages": feedback.ages.iter().map(|age| age.map(Duration::as_nanos)).collect::<Vec<_>>(),
        } }),
    }
}
