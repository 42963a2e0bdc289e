//! The station page in a real browser, as a station of real runs: nothing but the address is needed.

use crate::browser::Browser;
use crate::common::{Bench, Ended, Running, finish, start, station};
use netburn_record::{EventKind, Row, Run};
use serde_json::Value;
use std::time::Duration;

/// A fleet on loopback, and whom it has.
struct House {
    bench: Bench,
    controller: Running,
}

impl House {
    fn new() -> House {
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
        controller.wait_for("the address to join", |run| run.printed().contains('#'));
        House { bench, controller }
    }

    /// The address to join.
    fn url(&self) -> String {
        self.controller.printed().lines().next().unwrap().to_owned()
    }

    /// The address without the key.
    fn bare(&self) -> String {
        self.url().split('#').next().unwrap().to_owned()
    }

    /// A browser that has joined as `name`.
    fn joined(&self, name: &str) -> Browser {
        let browser = Browser::start(&self.bench);
        browser.open(&self.url());
        browser.wait_for("Join");
        browser.write("#station-name", name);
        browser.click("form button");
        browser.wait_for("Waiting for a run");
        browser
    }

    /// A run of this scenario, under way.
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

/// One station, `phone`, with these uses on a server of so many Mbit/s.
fn scenario(title: &str, uses: &str, seconds: u64, mbps: u64) -> String {
    format!(
        "title = {title:?}\nduration = \"{seconds} s\"\nbaseline = \"1 s\"\ndrain = \"3 s\"\n\
         [server]\nlink = {{ rate = \"{mbps} Mbit/s\" }}\n[station.phone]\nworkload = {uses}\n"
    )
}

/// The workload of that name.
#[track_caller]
fn workload<'a>(station: &'a Value, name: &str) -> &'a Value {
    let list = station["workloads"].as_array().unwrap();
    list.iter()
        .find(|w| w["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {station:#}"))
}

/// The record's events: kind, length in ns and text.
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
    // 0: measured; 3: measured, and doubted: on a busy machine timers are late.
    assert!(matches!(ended.code(), 0 | 3), "{}\n{}", ended.out(), ended.stderr);
    ended
}

#[test]
fn a_browser_does_all_four_uses() {
    let house = House::new();
    let browser = house.joined("phone");
    // A name is shown as it is written, whatever it would be as markup.
    let title = "<img src=x onerror=\"document.title='owned'\">Four uses & one phone";
    let uses = r#"["browsing", "4kstream", "voip", "upload"]"#;
    let run = house.run(&scenario(title, uses, 12, 60));
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
    let events = events(&house.bench);
    let said = |what: &str| {
        events
            .iter()
            .any(|(kind, _, text)| *kind == EventKind::Warning && text.contains(what))
    };
    assert!(
        said("6 connections to one host") && said("clock steps by"),
        "{events:?}"
    );
    // What the page says of its own is what the summary says, as far as that knows it.
    browser.wait_for("Done");
    let shown = browser.text();
    assert!(shown.contains("Web pages") && shown.contains("Upload"), "{shown}");
    assert!(!browser.run("return document.title").as_str().unwrap().contains("owned"));
    let kept = browser.run("return Object.keys(sessionStorage).filter(key => key.startsWith('netburn.run.'))");
    assert_eq!(kept, serde_json::json!([]), "nothing of a run that is at home is kept");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn a_page_in_the_background_and_a_reload_are_in_the_record() {
    let house = House::new();
    let browser = house.joined("phone");
    let run = house.run(&scenario("Away and back", "\"voip\"", 30, 20));
    browser.wait_for("within 150");
    browser.look_elsewhere(Duration::from_secs(1));
    browser.wait_for("was in the background");
    browser.reload();
    browser.wait_for("not started");
    let ended = ended(run);
    let summary = ended.json();
    let calls = workload(station(&summary, "phone"), "voip");
    // 30 s of a call every 131.072 ms: each is there once, those of the gap as misses.
    let operations = calls["operations"].as_u64().unwrap();
    assert!((227..=229).contains(&operations), "{calls:#}");
    assert!(calls["goal_misses"].as_u64().unwrap() >= 1, "{calls:#}");
    let events = events(&house.bench);
    let lasted = |what: &str| {
        let found = events
            .iter()
            .find(|(kind, _, text)| *kind == EventKind::Warning && text.contains(what));
        found.unwrap_or_else(|| panic!("no {what}: {events:?}")).1
    };
    // How long is the page's own clock's to say, which hears of it a little late; its arithmetic is tested beside it.
    assert!(lasted("was in the background") > 0, "{events:?}");
    assert!(lasted("was reloaded") > 0, "{events:?}");
    browser.wait_for("Done");
}

#[test]
fn a_run_that_is_killed_lets_the_page_go_and_what_it_measured_comes_home() {
    let house = House::new();
    let browser = house.joined("phone");
    let mut run = house.run(&scenario("Killed", "\"voip\"", 60, 20));
    run.wait_for_load();
    browser.wait_for("within 150");
    std::thread::sleep(Duration::from_secs(3));
    run.signal("KILL");
    run.finish().expect(128 + 9);
    // Nobody touches the page: it says what happened, brings home what it has, and waits.
    browser.wait_for(
        "The last run ended early: the process of this run has ended. All results of this device were delivered.",
    );
    browser.wait_for("Waiting for a run");
    assert_eq!(browser.text_of("h1"), "Ready");
    let report = house
        .bench
        .with_state("state", &["report", "record", "--format", "json"]);
    let phone = finish(report).json();
    let calls = workload(station(&phone, "phone"), "voip");
    assert!(calls["operations"].as_u64().unwrap() >= 4, "{phone:#}");
    assert_eq!(calls["failures"], 0, "{phone:#}");
    let kept = browser.run("return Object.keys(sessionStorage).filter(key => key.startsWith('netburn.run.'))");
    assert_eq!(kept, serde_json::json!([]), "what is at home is kept here no longer");
    // It is there for the next.
    house.bench.write("page.toml", scenario("The next", "\"voip\"", 2, 20));
    let next = ["run", "page.toml", "--on", "fleet", "--format", "json", "--out", "next"];
    let next = ended(start(house.bench.with_state("state", &next))).json();
    let calls = workload(station(&next, "phone"), "voip");
    // A call every 131 ms.
    assert!((13..=16).contains(&calls["operations"].as_u64().unwrap()), "{next:#}");
    // The browser says itself that it looked for the run in vain.
    let complaints = browser.complaints();
    let others: Vec<&String> = complaints.iter().filter(|text| !text.contains("/run/")).collect();
    assert_eq!(others, Vec::<&String>::new());
}

#[test]
fn who_has_no_right_key_is_told_so_plainly() {
    let house = House::new();
    let browser = Browser::start(&house.bench);
    browser.open(&house.bare());
    browser.wait_for("key is missing from this address");
    browser.open(&format!("{}#AAAAAAAAAAAAAAAAAAAAAA.x", house.bare()));
    browser.wait_for("Join");
    assert_eq!(
        browser.run("return location.hash"),
        "",
        "the key is taken out of the address"
    );
    browser.write("#station-name", "<b>nobody</b>");
    browser.click("form button");
    browser.wait_for("letters, digits");
    browser.write("#station-name", "nobody");
    browser.click("form button");
    browser.wait_for("not valid for this fleet");
    assert_eq!(browser.text_of("h1"), "Wrong key");
    // With the right one it is let in, and is known after a reload.
    browser.open(&house.url());
    browser.wait_for("Join");
    assert!(browser.run("return document.querySelector('#station-name').value") == "nobody");
    browser.click("form button");
    browser.wait_for("Waiting for a run");
    browser.reload();
    browser.wait_for("Waiting for a run");
    let list = finish(house.bench.with_state("state", &["fleet", "list", "--format", "json"])).expect(0);
    assert!(list.out().contains("nobody"), "{}", list.out());
}

#[test]
fn the_page_as_it_looks() {
    let house = House::new();
    let browser = Browser::start(&house.bench);
    browser.prefer("light");
    browser.open(&house.url());
    browser.wait_for("Join");
    browser.write("#station-name", "phone");
    browser.picture(&house.bench.picture("station-join.png"));
    browser.click("form button");
    browser.wait_for("Waiting for a run");
    let run = house.run(&scenario(
        "Is one network good enough for all of us?",
        r#"["browsing", "voip"]"#,
        8,
        50,
    ));
    browser.prefer("dark");
    browser.wait_for("within 500");
    browser.picture(&house.bench.picture("station-running.png"));
    // Nothing is wider than the phone.
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    ended(run);
    browser.wait_for("Done");
    browser.prefer("light");
    browser.picture(&house.bench.picture("station-result.png"));
}

#[test]
fn a_browser_downloads_and_promises_no_verdict() {
    let house = House::new();
    let browser = house.joined("phone");
    let run = house.run(&scenario("A download", r#"["download", "voip"]"#, 6, 40));
    browser.wait_for("Done");
    browser.wait_for("Measured");
    let text = browser.text();
    assert!(
        text.contains("The verdict is in the report") && !text.contains("Pass"),
        "{text}"
    );
    let summary = ended(run).json();
    let phone = station(&summary, "phone");
    // 40 Mbit/s for 6 s, less the beginning and what the calls take, and what a busy machine's browser can't; never more.
    let rate = workload(phone, "download")["throughput_mbps"].as_f64().unwrap();
    assert!(rate > 1.0 && rate <= 41.0, "{summary:#}");
    let list = finish(house.bench.with_state("state", &["fleet", "list"])).out();
    assert!(list.contains("browser, Chrome on Android"), "{list}");
}
