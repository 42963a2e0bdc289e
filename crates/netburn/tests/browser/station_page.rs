//! The station page in a real browser, as a station of real runs. It needs only the URL.

use crate::support::browser::Browser;
use crate::support::pictures;
use crate::support::{Bench, Ended, Running, finish, start, station};
use netburn_record::{EventKind, Row, Run};
use netburn_workload::Outcome;
use serde_json::Value;
use std::time::Duration;

/// A fleet on loopback, and its browsers.
struct PageFleet {
    bench: Bench,
    controller: Running,
}

impl PageFleet {
    fn new() -> PageFleet {
        let bench = Bench::new();
        let command = bench.with_state(
            "state",
            &[
                "fleet",
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--host",
                "127.0.0.1",
                "--quiet",
            ],
        );
        let mut controller = start(command);
        controller.wait_for("the address to join", |run| run.stdout_so_far().contains('#'));
        PageFleet { bench, controller }
    }

    /// The join URL.
    fn url(&self) -> String {
        self.controller.stdout_so_far().lines().next().unwrap().to_owned()
    }

    /// The URL without the key.
    fn bare(&self) -> String {
        self.url().split('#').next().unwrap().to_owned()
    }

    /// A browser that has joined as `name`.
    fn joined(&self, name: &str) -> Browser {
        let browser = Browser::start(&self.bench);
        self.join(&browser, name);
        browser
    }

    /// Joins as `name`.
    fn join(&self, browser: &Browser, name: &str) {
        browser.open(&self.url());
        browser.wait_for("Join");
        browser.write("#station-name", name);
        browser.click("form button");
        browser.wait_for("Waiting for a run");
    }

    /// Starts a run of this scenario.
    fn run(&self, scenario: &str) -> Running {
        self.bench.write("page.toml", scenario);
        start(self.bench.with_state(
            "state",
            &[
                "run",
                "page.toml",
                "--on",
                "fleet",
                "--yes",
                "--format",
                "json",
                "--out",
                "record",
            ],
        ))
    }
}

/// A station `phone` with these workloads, and a server with a limit of `mbit` Mbit/s.
fn scenario(title: &str, uses: &str, seconds: u64, mbps: u64) -> String {
    format!(
        "title = {title:?}\nduration = \"{seconds} s\"\nbaseline = \"1 s\"\ndrain = \"3 s\"\n\
         [server]\nlink = {{ rate = \"{mbps} Mbit/s\" }}\n[station.phone]\nworkload = {uses}\n"
    )
}

/// The workload with this name.
#[track_caller]
fn workload<'a>(station: &'a Value, name: &str) -> &'a Value {
    let list = station["workloads"].as_array().unwrap();
    list.iter()
        .find(|w| w["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {station:#}"))
}

/// Events of the record: kind, length in ns and text.
fn events(bench: &Bench) -> Vec<(EventKind, u64, String)> {
    let mut events = Vec::new();
    let run = Run::open(&bench.path("record")).unwrap();
    run.rows(&mut |row| {
        if let Row::Event(row) = row {
            events.push((row.kind, row.length, row.detail.text().into_owned()));
        }
    })
    .unwrap();
    events
}

fn ended(run: Running) -> Ended {
    let ended = run.finish();
    // 0: measured. 3: measured, but unreliable: timers are late on a busy machine.
    assert!(matches!(ended.code(), 0 | 3), "{}\n{}", ended.out(), ended.stderr);
    ended
}

#[test]
fn a_browser_runs_all_four_workloads() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    // A name with markup is shown as text.
    let title = "<img src=x onerror=\"document.title='owned'\">Four uses & one phone";
    let uses = r#"["browsing", "4kstream", "voip", "upload"]"#;
    let run = fleet.run(&scenario(title, uses, 12, 60));
    browser.wait_for("Measuring");
    assert_eq!(browser.text_of("#title"), title);
    assert_eq!(
        browser.run("return document.querySelectorAll('main img, main script').length"),
        0
    );
    browser.wait_for("buffered");
    let ended = ended(run);
    let summary = ended.json();
    assert_eq!(summary["environment"], "fleet");
    let phone = station(&summary, "phone");
    assert!(phone["verdict"].is_string() && phone["verdict"] != "none", "{phone:#}");
    assert!(phone["idle_latency_ms"].as_f64().is_some(), "{phone:#}");
    for (name, least) in [("browsing", 3), ("4kstream", 10), ("voip", 80)] {
        let seen = workload(phone, name);
        assert!(seen["operations"].as_u64().unwrap() >= least, "{seen:#}");
        assert!(
            seen["goals"].as_array().is_some_and(|goals| !goals.is_empty()),
            "{seen:#}"
        );
    }
    assert!(
        workload(phone, "upload")["throughput_mbps"].as_f64().unwrap() > 0.5,
        "{phone:#}"
    );
    let events = events(&fleet.bench);
    let printed = |what: &str| {
        events
            .iter()
            .any(|(kind, _, text)| *kind == EventKind::Warning && text.contains(what))
    };
    assert!(
        printed("6 connections to one port")
            && printed("each workload has a port of its own")
            && printed("clock steps by"),
        "{events:?}"
    );
    // The values on the page are those of the summary, as far as the page has them.
    browser.wait_for("Done");
    let shown = browser.text();
    assert!(shown.contains("Web pages") && shown.contains("Upload"), "{shown}");
    assert!(!browser.run("return document.title").as_str().unwrap().contains("owned"));
    let kept = browser.run("return Object.keys(sessionStorage).filter(key => key.startsWith('netburn.run.'))");
    assert_eq!(kept, serde_json::json!([]), "delivered results are deleted");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn background_time_and_a_reload_are_recorded() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    let run = fleet.run(&scenario("Away and back", "\"voip\"", 30, 20));
    browser.wait_for("within 150");
    browser.show_other_tab(Duration::from_secs(1));
    browser.wait_for("was in the background");
    browser.reload();
    browser.wait_for("not started");
    let ended = ended(run);
    let summary = ended.json();
    let calls = workload(station(&summary, "phone"), "voip");
    // 30 s of a call every 131.072 ms: all are in the record, those of the gap as misses.
    let operations = calls["operations"].as_u64().unwrap();
    assert!((227..=229).contains(&operations), "{calls:#}");
    assert!(calls["goal_misses"].as_u64().unwrap() >= 1, "{calls:#}");
    let events = events(&fleet.bench);
    let lasted = |what: &str| {
        let found = events
            .iter()
            .find(|(kind, _, text)| *kind == EventKind::Warning && text.contains(what));
        found.unwrap_or_else(|| panic!("no {what}: {events:?}")).1
    };
    // The page's own clock measures the length, slightly late. A unit test checks the arithmetic.
    assert!(lasted("was in the background") > 0, "{events:?}");
    assert!(lasted("was reloaded") > 0, "{events:?}");
    browser.wait_for("Done");
}

#[test]
fn a_killed_run_frees_the_page_and_its_results_are_delivered() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    let mut run = fleet.run(&scenario("Killed", "\"voip\"", 60, 20));
    run.wait_for_load();
    browser.wait_for("within 150");
    std::thread::sleep(Duration::from_secs(3));
    run.signal("KILL");
    run.finish().expect(128 + 9);
    // Without any input, the page shows the reason, delivers its results, and waits.
    browser.wait_for(
        "The last run ended early: the process of this run has ended. All results of this device were delivered.",
    );
    browser.wait_for("Waiting for a run");
    assert_eq!(browser.text_of("h1"), "Ready");
    let report = fleet
        .bench
        .with_state("state", &["report", "record", "--format", "json"]);
    let phone = finish(report).json();
    let calls = workload(station(&phone, "phone"), "voip");
    assert!(calls["operations"].as_u64().unwrap() >= 4, "{phone:#}");
    assert_eq!(calls["failures"], 0, "{phone:#}");
    let kept = browser.run("return Object.keys(sessionStorage).filter(key => key.startsWith('netburn.run.'))");
    assert_eq!(kept, serde_json::json!([]), "delivered results are deleted");
    // It is available to the next run.
    fleet.bench.write("page.toml", scenario("The next", "\"voip\"", 2, 20));
    let next = ["run", "page.toml", "--on", "fleet", "--format", "json", "--out", "next"];
    let next = ended(start(fleet.bench.with_state("state", &next))).json();
    let calls = workload(station(&next, "phone"), "voip");
    // A call every 131 ms.
    assert!((13..=16).contains(&calls["operations"].as_u64().unwrap()), "{next:#}");
    // The browser logs its failed requests for the run.
    let complaints = browser.console_errors();
    let others: Vec<&String> = complaints.iter().filter(|text| !text.contains("/run/")).collect();
    assert_eq!(others, Vec::<&String>::new());
}

#[test]
fn a_missing_or_wrong_key_is_explained_on_the_page() {
    let fleet = PageFleet::new();
    let browser = Browser::start(&fleet.bench);
    browser.open(&fleet.bare());
    browser.wait_for("key is missing from this address");
    browser.open(&format!("{}#AAAAAAAAAAAAAAAAAAAAAA.x", fleet.bare()));
    browser.wait_for("Join");
    assert_eq!(
        browser.run("return location.hash"),
        "",
        "the page removes the key from the URL"
    );
    browser.write("#station-name", "<b>tablet</b>");
    browser.click("form button");
    browser.wait_for("letters, digits");
    browser.write("#station-name", "tablet");
    browser.click("form button");
    browser.wait_for("not valid for this fleet");
    assert_eq!(browser.text_of("h1"), "Wrong key");
    // With the correct key it is admitted, and a reload keeps the key.
    browser.open(&fleet.url());
    browser.wait_for("Join");
    assert!(browser.run("return document.querySelector('#station-name').value") == "tablet");
    browser.click("form button");
    browser.wait_for("Waiting for a run");
    browser.reload();
    browser.wait_for("Waiting for a run");
    let list = finish(fleet.bench.with_state("state", &["fleet", "list", "--format", "json"])).expect(0);
    assert!(list.out().contains("tablet"), "{}", list.out());
}

#[test]
fn the_page_in_all_states() {
    let fleet = PageFleet::new();
    let browser = Browser::start(&fleet.bench);
    browser.prefer("light");
    browser.open(&fleet.url());
    browser.wait_for("Join");
    browser.write("#station-name", "phone");
    browser.picture(&fleet.bench.picture("station-join.png"));
    pictures::check_words("station-join", &browser, "h1, h2, label, button");
    browser.click("form button");
    browser.wait_for("Waiting for a run");
    let run = fleet.run(&scenario(
        "Is one network good enough for all of us?",
        r#"["browsing", "voip"]"#,
        8,
        50,
    ));
    browser.prefer("dark");
    browser.wait_for("within 500");
    browser.picture(&fleet.bench.picture("station-running.png"));
    pictures::check_words("station-running", &browser, "h1, h2, th, button");
    // No element is wider than the screen.
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    ended(run);
    browser.wait_for("Done");
    browser.prefer("light");
    browser.picture(&fleet.bench.picture("station-result.png"));
    pictures::check_words("station-result", &browser, "h1, h2, th, button");
}

#[test]
fn a_browser_downloads_and_the_page_promises_no_verdict() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    let run = fleet.run(&scenario("A download", r#"["download", "voip"]"#, 6, 40));
    browser.wait_for("Done");
    browser.wait_for("Measured");
    let text = browser.text();
    assert!(
        text.contains("The verdict is in the report") && !text.contains("Pass"),
        "{text}"
    );
    let summary = ended(run).json();
    let phone = station(&summary, "phone");
    // 40 Mbit/s for 6 s, minus the start, the calls and the limits of a browser on a busy machine; never more.
    let rate = workload(phone, "download")["throughput_mbps"].as_f64().unwrap();
    assert!(rate > 1.0 && rate <= 41.0, "{summary:#}");
    // The page has the same value, rounded: without the bytes of the drain.
    let shown = browser.text_of("#workloads li .value");
    let shown: f64 = shown.split_whitespace().next().unwrap().parse().unwrap();
    assert!(
        (shown - rate).abs() <= 0.51,
        "{shown} on the page, {rate} in the report"
    );
    let list = finish(fleet.bench.with_state("state", &["fleet", "list"])).out();
    assert!(list.contains("browser, Chrome on Android"), "{list}");
}

/// The player begins with the lowest bit rate, because its buffer is empty. Above `reservoir` plus `cushion` (4 s) it selects
/// the highest one.
#[test]
fn a_browser_plays_adaptive_streaming() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    let film = "[workload.film]\nkind = \"dash\"\ngoal = \"no stall\"\n[workload.film.dash]\n\
                ladder = [\"500 kbit/s\", \"1 Mbit/s\", \"2 Mbit/s\", \"4 Mbit/s\"]\n\
                segment = \"1 s\"\nstart = \"1 s\"\nmax_buffer = \"8 s\"\nreservoir = \"1 s\"\ncushion = \"3 s\"\n";
    let run = fleet.run(&(scenario("A film", "\"film\"", 12, 8) + film));
    browser.wait_for("s buffered");
    browser.wait_for("Done");
    assert!(browser.text().contains("Adaptive streaming"), "{}", browser.text());
    let summary = ended(run).json();
    let segments = &workload(station(&summary, "phone"), "film")["segments"];
    // 12 s of playback, and up to 8 s in the buffer.
    let complete = segments["complete"].as_u64().unwrap();
    assert!((8..=20).contains(&complete), "{summary:#}");
    assert!(segments["switches"].as_u64().unwrap() >= 2, "{summary:#}");
    let mut sizes = Vec::new();
    let record = Run::open(&fleet.bench.path("record")).unwrap();
    record
        .rows(&mut |row| {
            if let Row::Operation(row) = row
                && row.workload == 0
                && row.operation.outcome == Outcome::Finished
            {
                sizes.push(row.operation.bytes);
            }
        })
        .unwrap();
    // A second of 500 kbit/s has 62,500 bytes.
    assert_eq!(sizes[..2], [62_500; 2], "{sizes:?}");
    assert!(
        sizes
            .iter()
            .all(|size| [62_500, 125_000, 250_000, 500_000].contains(size)),
        "{sizes:?}"
    );
    assert!(sizes.contains(&500_000), "{sizes:?}");
    assert_eq!(sizes.len() as u64, complete);
}

/// Two agents and a browser in one voice workload, on loopback.
#[test]
fn a_browser_and_two_agents_are_in_one_verdict_table_of_a_voice_workload() {
    let fleet = PageFleet::new();
    let join = |name: &str| {
        let url = fleet.url();
        let words = ["fleet", "join", &url, "--name", name];
        start(fleet.bench.with_state(name, &words))
    };
    let _agents = [join("alpha"), join("beta")];
    let browser = fleet.joined("phone");
    let run = fleet.run(
        "title = \"Three stations talk\"\nduration = \"12 s\"\nbaseline = \"2 s\"\ndrain = \"3 s\"\n\
         [station.alpha]\nworkload = \"voice\"\n[station.beta]\nworkload = \"voice\"\n\
         [station.phone]\nworkload = [\"voice\", \"game\"]\n",
    );
    browser.wait_for("Done");
    let summary = ended(run).json();
    for name in ["alpha", "beta", "phone"] {
        let voice = workload(station(&summary, name), "voice");
        // A packet every 20 ms in each direction for 12 s.
        let operations = voice["operations"].as_u64().unwrap();
        assert!((1_190..=1_200).contains(&operations), "{name}: {voice:#}");
        let goals = voice["goals"].as_array().unwrap();
        assert!(goals[0]["samples"].as_u64().unwrap() >= 1, "{name}: {voice:#}");
        assert!(
            voice["verdict"].is_string() && voice["verdict"] != "none",
            "{name}: {voice:#}"
        );
    }
    let game = workload(station(&summary, "phone"), "game");
    // 64 packets per second in each direction.
    assert!(
        (1_530..=1_536).contains(&game["operations"].as_u64().unwrap()),
        "{game:#}"
    );
    let events = events(&fleet.bench);
    assert!(
        events
            .iter()
            .any(|(_, _, text)| text.contains("messages of a WebRTC data channel")),
        "{events:?}"
    );
    assert!(
        !events.iter().any(|(_, _, text)| text.contains("skipped")),
        "{events:?}"
    );
    let report = finish(fleet.bench.with_state("state", &["report", "record"])).out();
    for name in ["alpha", "beta", "phone"] {
        let mut lines = report.lines();
        assert!(
            lines.any(|line| line.starts_with(name) && line.contains("voice")),
            "{report}"
        );
    }
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// A browser and an agent in a video call each, on loopback. The rate rises from 400 kbit/s to the target of 792 kbit/s.
#[test]
fn a_browser_and_an_agent_have_video_calls() {
    let fleet = PageFleet::new();
    let url = fleet.url();
    let _agent = start(
        fleet
            .bench
            .with_state("alpha", &["fleet", "join", &url, "--name", "alpha"]),
    );
    let browser = fleet.joined("phone");
    let frames = "{ interval = \"33.333333 ms\", burst = 3, size = \"1100 B\" }";
    let run = fleet.run(&format!(
        "title = \"Two meetings\"\nduration = \"15 s\"\nbaseline = \"2 s\"\ndrain = \"3 s\"\n\
         [station.alpha]\nworkload = \"meeting\"\n[station.phone]\nworkload = \"meeting\"\n\
         [workload.meeting]\nkind = \"video-call\"\nup = {frames}\ndown = {frames}\n\
         adaptation = {{ min_rate = \"100 kbit/s\", start_rate = \"400 kbit/s\" }}\n"
    ));
    browser.wait_for("frames as lost");
    browser.wait_for("Done");
    let summary = ended(run).json();
    for name in ["alpha", "phone"] {
        let meeting = workload(station(&summary, name), "meeting");
        // 30 frames per second in each direction for 15 s.
        let operations = meeting["operations"].as_u64().unwrap();
        assert!((890..=900).contains(&operations), "{name}: {meeting:#}");
        let goals = meeting["goals"].as_array().unwrap();
        assert!(!goals.is_empty() && meeting["verdict"] != "none", "{name}: {meeting:#}");
    }
    // Sizes of complete frames by direction. A frame at the start rate has 400 kbit/s × 33.3 ms, which are 1666 bytes, and one
    // at the target rate 3300.
    let mut sizes: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
    let record = Run::open(&fleet.bench.path("record")).unwrap();
    let phone = record
        .header()
        .plan
        .stations
        .iter()
        .position(|station| station.name == "phone")
        .unwrap();
    record
        .rows(&mut |row| {
            if let Row::Operation(row) = row
                && usize::from(row.station) == phone
                && row.workload == 0
                && row.operation.outcome == Outcome::Finished
            {
                sizes[(row.operation.sequence % 2) as usize].push(row.operation.bytes);
            }
        })
        .unwrap();
    for sizes in sizes {
        assert!(sizes.len() > 300, "{} frames", sizes.len());
        assert!((1_600..=1_700).contains(&sizes[0]), "{sizes:?}");
        assert!(sizes.iter().all(|size| (416..=3_300).contains(size)), "{sizes:?}");
        // A busy machine delays packets, after which the rate falls again.
        assert!(sizes.iter().any(|size| *size > sizes[0]), "{sizes:?}");
    }
    let events = events(&fleet.bench);
    assert!(
        !events.iter().any(|(_, _, text)| text.contains("skipped")),
        "{events:?}"
    );
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn a_browser_without_data_channels_is_excluded_from_voice_with_the_reason() {
    let fleet = PageFleet::new();
    let browser = Browser::start(&fleet.bench);
    browser.run_first("window.RTCPeerConnection = undefined");
    fleet.join(&browser, "phone");
    let run = fleet.run(&scenario("No channel", r#"["voice", "voip"]"#, 2, 20));
    browser.wait_for("Done");
    let summary = ended(run).json();
    let phone = station(&summary, "phone");
    assert_eq!(workload(phone, "voice")["operations"], 0, "{phone:#}");
    assert!(
        workload(phone, "voip")["operations"].as_u64().unwrap() >= 10,
        "{phone:#}"
    );
    let events = events(&fleet.bench);
    let reason = "skipped: this browser has no WebRTC";
    assert!(events.iter().any(|(_, _, text)| text == reason), "{events:?}");
    let report = finish(fleet.bench.with_state("state", &["report", "record"])).out();
    assert!(report.contains(reason), "{report}");
}

/// A browser sends probes to the server only. The fit of a link without a limit takes long, so it is stopped.
#[test]
fn a_browser_takes_part_in_a_measurement() {
    let fleet = PageFleet::new();
    let browser = fleet.joined("phone");
    let command = ["measure", "phone", "--out", "record"];
    let mut measure = start(fleet.bench.with_state("state", &command));
    measure.wait_for("the fit", |run| {
        run.stderr_so_far().contains("simulating models of the network")
    });
    measure.signal("INT");
    let ended = measure.finish().expect(3);
    assert!(
        ended.stderr.contains("netburn fit record --out record/network.toml"),
        "{}",
        ended.stderr
    );
    let report = fleet
        .bench
        .with_state("state", &["report", "record", "--format", "json"]);
    let summary = finish(report).json();
    let phone = station(&summary, "phone");
    // Idle, down and up.
    let names: Vec<&str> = phone["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| workload["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["to-server", "phase-2-down", "phase-3-up"]);
    // A probe each 50 ms for 16 s.
    let probes = workload(phone, "to-server");
    assert!(
        (319..=321).contains(&probes["operations"].as_u64().unwrap()),
        "{probes:#}"
    );
    for name in &names[1..] {
        let transfer = workload(phone, name);
        assert!(transfer["throughput_mbps"].as_f64().unwrap() > 0.0, "{transfer:#}");
    }
    browser.wait_for("Measured");
}
