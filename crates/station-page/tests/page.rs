//! A page with requests that a test answers.

use netburn_protocol::messages::{Message, ToAgent};
use netburn_station_page::{Command, Event, Page, Reply};
use netburn_units::{Duration, Instant};
use serde_json::{Value, json};

fn assignment(workloads: &[(&str, Value)]) -> Event {
    read(&assignment_text(workloads))
}

fn read(text: &str) -> Event {
    match ToAgent::from_text(text) {
        Ok(ToAgent::Assign(assign)) => Event::Assign(Box::new(assign)),
        other => panic!("{other:?}"),
    }
}

fn assignment_text(workloads: &[(&str, Value)]) -> String {
    let names: Vec<&str> = workloads.iter().map(|(name, _)| *name).collect();
    let sections: serde_json::Map<String, Value> = workloads
        .iter()
        .map(|(name, section)| ((*name).to_owned(), section.clone()))
        .collect();
    let plan = json!({
        "name": "x", "title": "A test", "duration": "10 s", "baseline": "0 s", "drain": "2 s", "seed": 18446744073709551615_u64,
        "station": { "tv": { "workload": [names[0]] }, "7": { "workload": names } },
        "workload": sections,
    });
    let target = json!({ "address": "192.0.2.1:4480", "datagram_port": 4480 });
    json!({ "type": "assign", "plan": plan, "stations": [1], "target": target }).to_string()
}

fn ready(channel_error: Option<&str>) -> Event {
    Event::Ready {
        channel_error: channel_error.map(str::to_owned),
        ports: 1,
        resolution: 100_000,
    }
}

fn start() -> Event {
    Event::Start {
        channel: false,
        random: Vec::new(),
        saved: None,
        over: false,
        results: None,
    }
}

/// A reload during the delivery of the results: they are as before, and no further row is made.
#[test]
fn a_run_that_is_over_has_its_results_and_no_rows_after_a_reload() {
    let workloads = [("voip", calls("150 ms")), ("chat", json!({ "kind": "probe" }))];
    let (mut page, reply) = started(&workloads);
    answer_all(&mut page, reply);
    page.handle(at(13_000), Event::Flush);
    let results = page.handle(at(13_000), Event::Results).saved;
    assert!(results.is_some());

    let mut page = Page::new();
    page.handle(at(14_000), assignment(&workloads));
    page.handle(at(14_000), ready(Some("no WebRTC")));
    let over = Event::Start {
        channel: false,
        random: Vec::new(),
        saved: None,
        over: true,
        results: results.clone(),
    };
    let reply = page.handle(at(14_000), over);
    assert!(reply.commands.is_empty());
    let flushed = page.handle(at(14_200), Event::Flush);
    assert_eq!(flushed.batches.len(), 0);
    assert_eq!(page.handle(at(14_200), Event::Results).saved, results);
}

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

/// A page with these workloads after the start.
fn started(workloads: &[(&str, Value)]) -> (Page, Reply) {
    let mut page = Page::new();
    let reply = page.handle(at(-10), assignment(workloads));
    assert_eq!(reply.error, None);
    page.handle(at(-10), ready(Some("no WebRTC")));
    let reply = page.handle(at(-10), start());
    (page, reply)
}

fn calls(goal: &str) -> Value {
    json!({ "kind": "calls", "object_size": "16 KiB", "interval": "1 s", "outstanding": 8, "goal": [goal], "priority": "voice" })
}

fn begun(reply: &Reply) -> Vec<(u64, &str)> {
    let begun = reply.commands.iter().filter_map(|command| match command {
        Command::Begin { request, path, .. } => Some((*request, path.as_str())),
        Command::Cancel { .. } => None,
    });
    begun.collect()
}

/// Answers every request 20 ms after its begin, until the end.
fn answer_all(page: &mut Page, first: Reply) {
    let mut reply = first;
    while let Some(timeout) = reply.timeout {
        let now = Instant::from_nanos(timeout);
        reply = page.handle(now, Event::Timeout);
        let requests: Vec<u64> = begun(&reply).iter().map(|(request, _)| *request).collect();
        for request in requests {
            let later = now + Duration::from_millis(20);
            page.handle(later, Event::Bytes { request, bytes: 16384 });
            reply = page.handle(later, Event::Finished { request });
        }
    }
}

#[test]
fn a_run_of_calls_has_rows_a_verdict_and_a_report() {
    let (mut page, reply) = started(&[("voip", calls("150 ms"))]);
    answer_all(&mut page, reply);
    let flushed = page.handle(at(13_000), Event::Flush);
    assert!(flushed.settled);
    let rows: usize = flushed.batches.iter().map(|batch| batch.rows).sum();
    assert!(rows >= 10, "{rows}");
    let cards = page.handle(at(13_000), Event::View { live: false }).cards;
    assert_eq!((cards[0].label, cards[0].verdict), ("Call", "pass"), "{cards:?}");
    assert!(cards[0].line.contains("of 10 within 150"), "{cards:?}");
    let health = page.handle(
        at(13_000),
        Event::Health {
            name: "phone".to_owned(),
        },
    );
    let health = health.health.unwrap();
    assert_eq!(health.stations, ["7"]);
    assert_eq!((health.operations, health.bytes_down, health.cpu), (10, 163_840, None));
}

#[test]
fn a_request_contains_the_dscp_of_its_response_and_its_station() {
    let calls =
        json!({ "kind": "calls", "object_size": "9 B", "interval": "1 s", "priority": "best-effort", "goal": [] });
    let upload = json!({ "kind": "upload", "object_size": "9 B", "priority": "best-effort", "goal": [] });
    for (section, changes, path) in [
        (&calls, json!({}), "/bytes/9?n=1&station=1"),
        (&calls, json!({ "connections": "new" }), "/bytes/9?n=1&close&station=1"),
        (&calls, json!({ "dscp": 40 }), "/bytes/9?n=1&dscp=40&station=1"),
        (
            &calls,
            json!({ "priority": "voice", "connections": "new" }),
            "/bytes/9?n=1&dscp=48&close&station=1",
        ),
        (
            &calls,
            json!({ "cc": "reno", "connections": "new" }),
            "/bytes/9?n=1&cc=reno&close&station=1",
        ),
        (
            &calls,
            json!({ "dscp": 48, "cc": "bbr", "connections": "new" }),
            "/bytes/9?n=1&dscp=48&cc=bbr&close&station=1",
        ),
        (&upload, json!({}), "/sink?station=1"),
        (&upload, json!({ "connections": "new" }), "/sink?close&station=1"),
        (&upload, json!({ "dscp": 8 }), "/sink?dscp=8&station=1"),
        (
            &upload,
            json!({ "dscp": 48, "connections": "new" }),
            "/sink?dscp=48&close&station=1",
        ),
        (
            &upload,
            json!({ "dscp": 40, "cc": "bbr" }),
            "/sink?dscp=40&cc=bbr&station=1",
        ),
    ] {
        let mut section = section.clone();
        for (key, value) in changes.as_object().unwrap() {
            section[key] = value.clone();
        }
        if section["connections"].is_null() {
            section["connections"] = "keep".into();
        }
        let (mut page, reply) = started(&[("one", section)]);
        // The first call is due within one interval.
        let first = Instant::from_nanos(reply.timeout.unwrap()).max(at(0));
        let reply = page.handle(first, Event::Timeout);
        assert_eq!(begun(&reply), [(1, path)], "{changes}");
    }
}

#[test]
fn notes_name_the_restrictions_of_a_browser() {
    let probe = json!({ "kind": "probe", "object_size": "64 B", "interval": "50 ms", "priority": "voice", "goal": [] });
    let rpm = json!({ "kind": "responsiveness", "interval": "100 ms", "load_down": 0, "load_up": 0, "goal": [], "timeout": "5 s" });
    let workloads = [("9", probe), ("voip", calls("150 ms")), ("rpm", rpm)];
    let mut page = Page::new();
    let reply = page.handle(at(0), assignment(&workloads));
    let assigned = reply.assignment.unwrap_or_else(|| panic!("{:?}", reply.error));
    assert!(assigned.needs_channel);
    assert_eq!(
        (assigned.title.as_str(), assigned.workloads, assigned.tls),
        ("A test", 3, false)
    );
    let notes = page.handle(at(0), ready(Some("no WebRTC"))).notes;
    let about = |name: &str| notes.iter().filter(|note| note.contains(name)).count();
    assert!(notes.contains(&"9 of 7 is skipped: no WebRTC".to_owned()), "{notes:?}");
    assert_eq!(about("9 of 7"), 1, "no note about its priority");
    assert_eq!(about("steps by 100 µs"), 1, "{notes:?}");
    assert_eq!(
        about("for voip of 7, only the server's responses have it"),
        1,
        "{notes:?}"
    );
    assert_eq!(
        about("rpm of 7 is skipped: a browser does not measure the handshakes"),
        1,
        "{notes:?}"
    );
    assert_eq!(about("each is 65 bytes longer"), 0, "{notes:?}");
    let open = page.handle(at(0), ready(None)).notes;
    assert!(
        open.iter().any(|note| note.contains("each is 65 bytes longer")),
        "{open:?}"
    );
    let cards = page.handle(at(0), start());
    assert_eq!(cards.error, None);
}

#[test]
fn invalid_assignments_are_rejected() {
    let mut page = Page::new();
    let text = assignment_text(&[("voip", calls("150 ms"))]);
    for (from, to) in [
        (r#""stations":[1]"#, r#""stations":[2]"#),
        (r#""stations":[1]"#, r#""stations":[]"#),
        (r#""stations":[1]"#, r#""stations":[1,1]"#),
        (r#""kind":"calls""#, r#""kind":"shell""#),
        (r#""kind":"calls""#, r#""kind":"constructor""#),
        (r#""outstanding":8"#, r#""outstanding":1000000"#),
        (r#""interval":"1 s""#, r#""interval":"-1 s""#),
        (r#""goal":["150 ms"]"#, r#""goal":["soon"]"#),
        (r#""object_size":"16 KiB""#, r#""object_size":"0 B""#),
    ] {
        assert!(text.contains(from), "{from}");
        let wrong = text.replace(from, to);
        let reply = page.handle(at(0), read(&wrong));
        assert!(reply.error.is_some(), "{to}");
    }
    // Events without an assignment have no effect.
    for event in [
        start(),
        Event::Flush,
        Event::Save,
        Event::Timeout,
        Event::Idle { until: 9 },
        Event::View { live: true },
    ] {
        let reply = page.handle(at(0), event);
        assert!(reply.commands.is_empty() && reply.batches.is_empty() && reply.timeout.is_none());
    }
}

#[test]
fn a_reload_continues_with_the_next_operations() {
    let workloads = [
        ("voip", calls("150 ms")),
        (
            "down",
            json!({ "kind": "download", "object_size": "1 GiB", "goal": [] }),
        ),
    ];
    let (mut page, reply) = started(&workloads);
    let mut open = Vec::new();
    let mut reply = reply;
    while let Some(timeout) = reply.timeout.filter(|timeout| *timeout < 4_000_000_000) {
        reply = page.handle(Instant::from_nanos(timeout), Event::Timeout);
        open.extend(begun(&reply).iter().map(|(request, _)| *request));
    }
    assert_eq!(open.len(), 5, "four calls in 4 s, and the download");
    let saved = page.handle(at(4000), Event::Save).saved;
    let results = page.handle(at(4000), Event::Results).saved;
    let mut page = Page::new();
    page.handle(at(0), assignment(&workloads));
    page.handle(at(0), ready(Some("no WebRTC")));
    let reply = page.handle(
        at(6500),
        Event::Start {
            channel: false,
            random: Vec::new(),
            saved,
            over: false,
            results,
        },
    );
    assert_eq!(begun(&reply).len(), 1, "the next download");
    let text = serde_json::to_string(&page.handle(at(6500), Event::Flush).batches).unwrap();
    assert_eq!(text.matches("failed_stopped").count(), 5, "{text}");
    // Calls are due every second.
    let missed = text.matches("not_started").count();
    assert!((2..=3).contains(&missed), "{text}");
    let reply = page.handle(at(7600), Event::Timeout);
    assert_eq!(begun(&reply).len(), 1, "a call");
}

/// The player starts after 2 s. A reload at 4 s loses its buffer. It plays again with the two objects that arrive at 6 s, so
/// the time between is a stall, and not a second start-up.
#[test]
fn a_reload_during_playback_is_a_stall() {
    let stream = json!({ "kind": "stream", "object_size": "1 MB", "interval": "1 s", "goal": ["no stall"],
                         "player": { "rate": "8 Mbit/s", "start": "2 s" } });
    let workloads = [("film", stream)];
    let (mut page, _) = started(&workloads);
    let answer = |page: &mut Page, now: Instant| {
        let mut reply = page.handle(now, Event::Timeout);
        while let Some((request, _)) = begun(&reply).first().copied() {
            page.handle(
                now,
                Event::Bytes {
                    request,
                    bytes: 1_000_000,
                },
            );
            reply = page.handle(now, Event::Finished { request });
        }
    };
    answer(&mut page, at(2000));
    let saved = page.handle(at(4000), Event::Save).saved;
    let before = rows(&mut page, 4000);
    assert_eq!(
        (before.matches("startup").count(), before.matches("stall").count()),
        (1, 0),
        "{before}"
    );

    let mut page = Page::new();
    page.handle(at(0), assignment(&workloads));
    page.handle(at(0), ready(Some("no WebRTC")));
    let over = false;
    page.handle(
        at(4500),
        Event::Start {
            channel: false,
            random: Vec::new(),
            saved,
            over,
            results: None,
        },
    );
    answer(&mut page, at(6000));
    let after = rows(&mut page, 6000);
    assert_eq!(
        (after.matches("startup").count(), after.matches("stall").count()),
        (0, 1),
        "{after}"
    );
}

/// The rows of the page until now, as text.
fn rows(page: &mut Page, millis: i64) -> String {
    serde_json::to_string(&page.handle(at(millis), Event::Flush).batches).unwrap()
}
