//! The playground in Chromium and Firefox, and its engine against the command.

use crate::support::browser::Browser;
use crate::support::firefox::Firefox;
use crate::support::{Bench, finish, start};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const READY: &str = "document.body.dataset.ready === 'true'";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Answers of the stored engine, in Node.
fn engine(bench: &Bench, requests: &[Value]) -> Vec<Value> {
    let mut command = Command::new("node");
    command
        .arg(repository().join("crates/netburn/tests/support/engine.mjs"))
        .arg(repository().join("web/playground/engine.wasm.gz"));
    let mut node = bench
        .prepared(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = node.stdin.take().unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    answers
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The page in a file, as `netburn playground` writes it. Returns its address.
fn written(bench: &Bench, arguments: &[&str]) -> String {
    let written = finish(bench.netburn([&["playground", "--out", "page.html"], arguments].concat())).expect(0);
    assert_eq!(written.out(), "page.html\n");
    format!("file://{}", bench.path("page.html").display())
}

fn wait_until(browser: &Browser, expression: &str) {
    let script = format!("return Boolean({expression})");
    browser.wait_until(expression, |_| browser.run(&script) == true);
}

/// Opens a page of the playground, and waits for its first results.
fn open(browser: &Browser, url: &str) {
    // A change of the fragment alone loads nothing.
    browser.open("about:blank");
    browser.open(url);
    wait_until(browser, READY);
}

fn scenario_text(browser: &Browser) -> String {
    let read = "const text = document.querySelector('#text').value; return text";
    browser.run(read).as_str().unwrap().to_owned()
}

/// The page computes what the command computes: ten scenarios that use different parts of the models, with three seeds.
#[test]
fn the_engine_and_the_command_have_the_same_results() {
    let scenarios = [
        "archer-c7-split",
        "boost",
        "four-uses",
        "penalty-box",
        "relay-chain",
        "rrul-house",
        "sleeping-phone",
        "slow-neighbour-both",
        "small-queues-usb",
        "three-unit-house",
    ];
    let bench = Bench::new();
    let opened = engine(&bench, &scenarios.map(|name| json!({ "do": "open", "name": name })));
    // Unoptimised simulations are slow.
    let shorter = opened.into_iter().map(|mut answer| {
        let mut scenario = answer["ok"]["scenario"].take();
        assert!(scenario.is_object(), "{answer}");
        scenario["duration"] = "2 s".into();
        scenario["baseline"] = "1 s".into();
        json!({ "do": "edit", "scenario": scenario })
    });
    let edited = engine(&bench, &shorter.collect::<Vec<_>>());
    let mut runs = Vec::new();
    for answer in &edited {
        assert!(answer["ok"].is_object(), "{answer}");
        for seed in [1, 7, 1_u64 << 40] {
            runs.push((answer["ok"]["text"].as_str().unwrap(), &answer["ok"]["scenario"], seed));
        }
    }
    let requests: Vec<Value> = (runs.iter())
        .map(|(_, scenario, seed)| json!({ "do": "run", "scenario": scenario, "seed": seed }))
        .collect();
    for ((text, _, seed), mut answer) in runs.iter().zip(engine(&bench, &requests)) {
        bench.write("home.toml", text);
        let seed = seed.to_string();
        let arguments = [
            "run",
            "home.toml",
            "--on",
            "simulate",
            "--seed",
            &seed,
            "--format",
            "json",
        ];
        let ended = finish(bench.netburn(arguments));
        assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
        let mut summary = ended.json();
        // The command names the run after its folder.
        summary["run"] = "home".into();
        assert_eq!(answer["ok"]["summary"].take(), summary, "seed {seed} of\n{text}");
    }
}

#[test]
fn a_home_is_simulated_and_repaired_on_a_phone() {
    let bench = Bench::new();
    let browser = Browser::start(&bench);
    let url = written(&bench, &[]);
    open(&browser, &url);
    browser.wait_for("laptop and tv do not get what they need.");
    assert!(browser.text_of("#causes").contains("Bufferbloat"), "{}", browser.text());
    // The page is as wide as the screen.
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    // The best change is simulated, and then made.
    wait_until(&browser, "document.querySelector('.card.best')");
    assert!(browser.text_of(".card.best").contains("pass"), "{}", browser.text());
    browser.click(".card.best button");
    browser.wait_for("Every device gets what it needs.");
    browser.click("#undo");
    browser.wait_for("laptop and tv do not get what they need.");
    // A device is added, selected, moved with the keyboard, and removed.
    browser.run(
        "const add = document.querySelector('#add-device'); add.value = 'game'; add.dispatchEvent(new Event('change'))",
    );
    wait_until(&browser, "document.querySelector('[data-item=\"station console\"]')");
    let label =
        || browser.run("return document.querySelector('[data-item=\"station console\"]').getAttribute('aria-label')");
    let before = label();
    browser.run("document.querySelector('[data-item=\"station console\"]').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', bubbles: true, cancelable: true }))");
    browser.wait_until("another place", |_| label() != before);
    browser.run("document.querySelector('[data-item=\"station console\"]').dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true, cancelable: true }))");
    wait_until(&browser, "!document.querySelector('[data-item=\"station console\"]')");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// A home of three rooms in which a phone uploads: described, drawn, seen to fail, and repaired.
#[test]
fn a_home_of_three_rooms_is_described_and_repaired_on_a_phone() {
    let bench = Bench::new();
    let browser = Browser::start(&bench);
    let url = written(&bench, &[]);
    open(&browser, &format!("{url}#describe"));
    wait_until(&browser, "document.querySelector('#describe').open");
    let value = |selector: &str, value: &str| {
        browser.run(&format!("document.querySelector({selector:?}).value = {value:?}"));
    };
    // A wrong rating is an error in the dialog, and the home behind it stays.
    value("#d-rating", "QX1");
    browser.click("#d-done");
    browser.wait_for("no speed rating");
    value("#d-rating", "AX1800");
    value("#d-down", "50");
    value("#d-up", "8");
    value("[data-of=also]", "call");
    // The laptop stays in its room while the name of the room is edited.
    browser.run(
        "const name = document.querySelectorAll('#d-rooms [data-of=name]')[1]; \
         for (const text of ['stud', '', 'office']) { name.value = text; name.dispatchEvent(new Event('input')); }",
    );
    browser.click("#d-done");
    wait_until(&browser, "!document.querySelector('#describe').open");
    browser.wait_for("laptop does not get what it needs.");
    let text = scenario_text(&browser);
    assert!(text.contains("[station.laptop]\n# In the room office."), "{text}");
    assert!(
        text.contains("up    = \"8 Mbit/s\"") && text.contains("rating   = \"AX1800\""),
        "{text}"
    );
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);

    // Simulations of changes take long on a busy machine, so that shorter ones must do.
    browser.run(
        "const text = document.querySelector('#text'); text.value = text.value.replace('\"30 s\"', '\"12 s\"'); \
         document.querySelector('#use-text').click()",
    );
    browser.wait_until("the shorter run", |_| {
        browser.text_of("#state").starts_with("12 s simulated")
    });
    browser.wait_for("laptop does not get what it needs.");

    // A wall is drawn with a finger.
    let walls = |browser: &Browser| scenario_text(browser).matches(" m to ").count();
    let before = walls(&browser);
    browser.click("#walls summary");
    browser.click("#walls details button");
    browser.run("document.querySelector('#drawing svg').scrollIntoView({ block: 'center', behavior: 'instant' })");
    let bounds = browser.run(
        "const box = document.querySelector('#drawing svg').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]",
    );
    let [left, top, width, height] = [0, 1, 2, 3].map(|place| bounds[place].as_f64().unwrap());
    browser.drag(
        (left + 0.3 * width, top + 0.3 * height),
        (left + 0.3 * width, top + 0.7 * height),
    );
    browser.wait_until("another wall", |_| walls(&browser) == before + 1);
    browser.click("#walls details button");

    // The best change makes the call clear.
    wait_until(&browser, "document.querySelector('.card.best')");
    browser.click(".card.best button");
    browser.wait_for("Every device gets what it needs.");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn a_home_is_shared_as_a_link_that_opens_the_same_text() {
    let bench = Bench::new();
    let text = "# My own words.\nduration = \"5 s\"\n[ap.home]\n[ap.home.radio.5g]\n[station.desk]\njoins = \"home.5g\"\n\
                signal = \"-50 dBm\"\nworkload = \"voice\"\n";
    bench.write("own.toml", text);
    let browser = Browser::start(&bench);
    let url = written(&bench, &["own.toml"]);
    open(&browser, &url);
    browser.wait_for("Every device gets what it needs.");
    assert_eq!(scenario_text(&browser), text);
    browser.click("#share");
    wait_until(&browser, "location.hash.startsWith('#home=')");
    let link = browser.run("return location.href").as_str().unwrap().to_owned();
    let without = written(&bench, &[]);
    open(&browser, &format!("{without}#{}", link.split_once('#').unwrap().1));
    assert_eq!(scenario_text(&browser), text);
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// The part of an address behind `#` is foreign text.
#[test]
fn a_hostile_link_is_an_error_and_opens_the_first_home() {
    let bench = Bench::new();
    let browser = Browser::start(&bench);
    let url = written(&bench, &[]);
    open(&browser, &url);
    let packed = |text: &str| {
        let script = format!(
            "return new Response(new Blob([{text}]).stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer()\
             .then((packed) => btoa(String.fromCharCode(...new Uint8Array(packed))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''))"
        );
        browser.run(&script).as_str().unwrap().to_owned()
    };
    let markup = r#"'title = "<img src=x onerror=document.title=1>"\n[ap.home]\n[ap.home.radio.5g]\n[station.desk]\njoins = "home.5g"\nsignal = "-50 dBm"\nworkload = "voice"'"#;
    let cases = [
        ("#home=%%%".to_owned(), "The link is damaged"),
        ("#home=AAAA".to_owned(), "The link is damaged"),
        // A hundred megabytes in 100 kB.
        (format!("#home={}", packed("'x'.repeat(1e8)")), "more than 65536 bytes"),
        (
            format!("#home={}", packed("new Uint8Array([0xff, 0xfe])")),
            "The link is damaged",
        ),
        (format!("#home={}", packed("'[station'")), "Line 1"),
        (
            format!(
                "#home={}",
                packed(
                    "'duration = \"400 s\"\\n[ap.a]\\n[ap.a.radio.5g]\\n[station.b]\\njoins = \"a.5g\"\\nsignal = \"-50 dBm\"\\nworkload = \"voice\"'"
                )
            ),
            "at most 5 min",
        ),
        ("#scenario=none".to_owned(), "no built-in scenario"),
        (
            format!("#home={}", packed(markup)),
            "<img src=x onerror=document.title=1>",
        ),
    ];
    for (fragment, expected) in cases {
        open(&browser, &format!("{url}{fragment}"));
        browser.wait_for(expected);
        assert_ne!(browser.run("return document.title"), "1");
        assert_eq!(
            browser.run("return document.querySelectorAll('[onerror], main img').length"),
            0
        );
        // The page remains usable.
        wait_until(&browser, "document.querySelector('#devices li')");
    }
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// A person cancels a home that takes long, and an edit does so too.
#[test]
fn a_long_simulation_is_cancelled() {
    let bench = Bench::new();
    let mut text = "duration = \"300 s\"\n[ap.home]\n[ap.home.radio.5g]\n".to_owned();
    for number in 0..60 {
        text += &format!(
            "[station.s{number}]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = [\"download\", \"upload\"]\n"
        );
    }
    bench.write("long.toml", text);
    let browser = Browser::start(&bench);
    browser.open(&written(&bench, &["long.toml"]));
    wait_until(&browser, "!document.querySelector('#cancel').hidden");
    browser.click("#cancel");
    browser.wait_for("Cancelled");
    browser.click("#run");
    wait_until(&browser, "!document.querySelector('#cancel').hidden");
    browser.click("#new");
    browser.wait_for("laptop and tv do not get what they need.");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn every_story_plays() {
    let bench = Bench::new();
    let browser = Browser::desk(&bench);
    let url = written(&bench, &[]);
    open(&browser, &url);
    let ids = browser.run("return [...document.querySelectorAll('#stories a')].map((one) => one.hash)");
    let ids = ids.as_array().unwrap();
    assert_eq!(ids.len(), 8, "{ids:?}");
    for id in ids {
        open(&browser, &format!("{url}{}", id.as_str().unwrap()));
        loop {
            assert_eq!(browser.text_of("#mistakes"), "", "{id}");
            wait_until(
                &browser,
                "document.querySelector('#devices li') && document.querySelector('#story')?.dataset.shown",
            );
            if browser.run("return document.querySelector('#next').disabled") == true {
                break;
            }
            browser.click("#next");
        }
    }
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn firefox_shows_the_same_results() {
    let bench = Bench::new();
    let url = written(&bench, &[]);
    let shown =
        "return document.querySelector('#headline').textContent + document.querySelector('#devices').textContent";
    let browser = Browser::desk(&bench);
    open(&browser, &url);
    let mut firefox = Firefox::start(&bench);
    firefox.open(&url);
    firefox.wait_until(READY);
    assert_eq!(firefox.run(shown), browser.run(shown));
    firefox.wait_until("document.querySelector('.card.best')");
    firefox.run("document.querySelector('.card.best button').click()");
    firefox.wait_until("document.querySelector('#headline').textContent === 'Every device gets what it needs.'");
}

#[test]
fn the_local_page_of_runs_has_the_playground() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    let mut ui = start(bench.netburn(["ui", "--listen", "127.0.0.1:0"]));
    ui.wait_for("the address", |run| run.stdout_so_far().contains("/runs/#key="));
    let browser = Browser::laptop(&bench);
    browser.open(ui.stdout_so_far().trim());
    browser.wait_for("Try a home");
    browser.click("#playground-link");
    wait_until(&browser, READY);
    browser.wait_for("laptop and tv do not get what they need.");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// axe-core finds no fault that it calls serious or critical: <https://github.com/dequelabs/axe-core>.
#[test]
fn people_with_a_screen_reader_or_a_keyboard_can_use_the_page() {
    let bench = Bench::new();
    let browser = Browser::desk(&bench);
    let url = written(&bench, &[]);
    open(&browser, &url);
    wait_until(&browser, "document.querySelector('.card.best')");
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        let found = browser.accessibility_faults();
        assert_eq!(found, Vec::<String>::new(), "{scheme}");
    }
}
