//! The dashboard in a real browser: `netburn ui`, and the controller of a fleet.

use crate::support::browser::Browser;
use crate::support::fleet::{Fleet, end};
use crate::support::pictures;
use crate::support::{Bench, Running, SMALL, finish, one_station, start};
use std::io::{Read, Write};
use std::net::TcpStream;

/// A name that contains markup and scripts.
const HOSTILE: &str = "<img src=x onerror=\"document.title='owned'\"><script>alert(1)<!-- & '";

/// `netburn ui` over the runs of a bench.
struct Dashboard {
    bench: Bench,
    ui: Running,
}

impl Dashboard {
    fn new() -> Dashboard {
        let bench = Bench::new();
        std::fs::create_dir(bench.path("runs")).unwrap();
        let listen = ["ui", "--listen", "127.0.0.1:0", "--join-listen", "127.0.0.1:0"];
        let mut ui = start(bench.with_state("owner", &listen));
        ui.wait_for("the address", |run| run.stdout_so_far().contains("/runs/#key="));
        Dashboard { bench, ui }
    }

    fn url(&self) -> String {
        self.ui.stdout_so_far().trim().to_owned()
    }

    /// Simulates two stations, and saves the run under this name.
    fn simulated(&self, name: &str, title: &str, seed: u64, signal: i32) {
        let scenario = format!("title = {title:?}\nquestion = \"Who waits, and why?\"\n{SMALL}");
        self.bench.write("small.toml", scenario);
        let seed = seed.to_string();
        let out = format!("runs/{name}");
        let signal = format!("station.reader.signal=\"{signal} dBm\"");
        self.bench
            .simulate("small.toml", &out, &["--seed", &seed, "--set", &signal]);
    }

    /// A browser of a phone's size with the page open.
    fn browser(&self) -> Browser {
        let browser = Browser::start(&self.bench);
        browser.open(&self.url());
        browser
    }

    /// Three runs of one scenario.
    fn three(&self) {
        let titles = [
            "Archer C7, one network",
            "Archer C7, two networks",
            "With fq_codel on the router",
        ];
        for (place, title) in titles.iter().enumerate() {
            let name = format!("2026-11-2{place}T18-30-00Z-archer");
            self.simulated(&name, title, place as u64, -60 - 8 * place as i32);
        }
    }
}

/// The texts of all elements that match a selector.
fn texts(browser: &Browser, selector: &str) -> Vec<String> {
    let script = format!("return [...document.querySelectorAll({selector:?})].map(one => one.textContent)");
    serde_json::from_value(browser.run(&script)).unwrap()
}

/// Checks that no text of a scenario became an element, a script or a dialog.
#[track_caller]
fn expect_no_injection(browser: &Browser) {
    // Single-file pages have their own scripts. Untrusted text adds no script, no image and no dialog, which would fail
    // the test.
    let added = browser.run("return document.querySelectorAll('main img, [onerror], script:not([type])[src]').length");
    assert_eq!(added, 0);
    assert_ne!(browser.run("return document.title"), "owned");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn runs_are_listed_searched_opened_and_compared() {
    let dashboard = Dashboard::new();
    dashboard.simulated("one", "A house", 1, -60);
    dashboard.simulated("two", "A house in the evening", 2, -75);
    dashboard.simulated(HOSTILE.replace('/', "-").as_str(), HOSTILE, 3, -70);
    let browser = dashboard.browser();
    browser.wait_for("3 runs");
    browser.wait_for(HOSTILE);
    expect_no_injection(&browser);
    // Words in any case and order.
    browser.write("#q", "EVENING house");
    browser.wait_for("1 run of 3");
    assert_eq!(texts(&browser, "#rows tr th a"), ["A house in the evening"]);
    browser.write("#q", "midnight");
    browser.wait_for("No matching runs");
    // The selection is part of the URL and survives a reload.
    browser.write("#q", "evening");
    browser.wait_for("1 run of 3");
    browser.reload();
    browser.wait_for("1 run of 3");
    assert_eq!(browser.run("return document.querySelector('#q').value"), "evening");
    // The short form, then the full one.
    browser.click("#rows tr th a");
    browser.wait_for("Open the report");
    assert_eq!(browser.text_of("#run h1"), "A house in the evening");
    assert!(
        browser.text().contains("caller") && browser.text().contains("voip"),
        "{}",
        browser.text()
    );
    browser.click("#run .strong");
    browser.wait_for("Who waits, and why?");
    assert!(
        browser
            .run("return location.pathname")
            .as_str()
            .unwrap()
            .ends_with("/runs/of/two/report.html")
    );
    expect_no_injection(&browser);
    // A new run appears in the list without a reload.
    browser.open(&dashboard.url());
    browser.wait_for("3 runs");
    dashboard.simulated("three", "A house at night", 4, -60);
    browser.wait_for("4 runs");
    // The name with markup, in the full and the short form.
    let hostile = "[...document.querySelectorAll('#rows tr')].find(row => row.textContent.includes('<img'))";
    browser.run(&format!("{hostile}.querySelector('th a').click()"));
    browser.wait_for("Open the report");
    assert_eq!(browser.text_of("#run h1"), HOSTILE);
    expect_no_injection(&browser);
    browser.click("#run .strong");
    browser.wait_for("Who waits, and why?");
    expect_no_injection(&browser);
    // Two runs are selected and compared.
    browser.open(&dashboard.url());
    browser.wait_for("4 runs");
    for name in ["one", "two"] {
        browser.click(&format!("tr[data-name=\"{name}\"] input"));
    }
    assert_eq!(texts(&browser, "#selected b"), ["one", "two"]);
    browser.click("#compare");
    browser.wait_for("two against one");
    browser.wait_for("can't tell");
    expect_no_injection(&browser);
}

#[test]
fn a_run_in_progress_is_followed_to_its_report() {
    let dashboard = Dashboard::new();
    let browser = dashboard.browser();
    browser.wait_for("No runs yet");
    let title = format!("title = {HOSTILE:?}\n");
    dashboard.bench.write(
        "call.toml",
        one_station("voip", 20, 30).replace("title = \"One station\"\n", &title),
    );
    let mut run = start(
        dashboard
            .bench
            .netburn(["run", "call.toml", "--on", "local", "--out", "runs/call"]),
    );
    run.wait_for_load();
    browser.wait_for("is running");
    browser.click("#now a");
    browser.wait_for("of 30 s");
    assert_eq!(browser.text_of("#live h1"), HOSTILE);
    assert_eq!(texts(&browser, "#live .stations h2"), ["one"]);
    let done = |browser: &Browser| -> u64 {
        let printed = texts(browser, "#live section .quiet").join(" ");
        let words: Vec<&str> = printed.split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with("done")).unwrap();
        words[at - 1].parse().unwrap()
    };
    browser.wait_for("done");
    let before = done(&browser);
    let begun = std::time::Instant::now();
    while done(&browser) < before + 8 {
        assert!(begun.elapsed().as_secs() < 60, "it does not go on: {}", browser.text());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    expect_no_injection(&browser);
    let ended = run.finish();
    // 0: measured. 3: measured, but unreliable: timers are late on a busy machine.
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    browser.wait_for("The run is finished");
    browser.click("#status .strong");
    browser.wait_for("voip");
    assert!(
        browser
            .run("return location.pathname")
            .as_str()
            .unwrap()
            .ends_with("/report.html")
    );
    expect_no_injection(&browser);
}

#[test]
fn a_run_whose_controller_was_killed_is_recovered_on_request() {
    let dashboard = Dashboard::new();
    dashboard.bench.write("call.toml", one_station("voip", 20, 30));
    let mut run = start(
        dashboard
            .bench
            .netburn(["run", "call.toml", "--on", "local", "--out", "runs/call"]),
    );
    run.wait_for_load();
    run.signal("KILL");
    drop(run);
    let browser = dashboard.browser();
    browser.wait_for("unfinished");
    browser.click("#rows tr th a");
    browser.wait_for("Recover the results");
    assert!(!dashboard.bench.path("runs/call/run.json").exists());
    browser.click("#run button");
    browser.wait_for("inconclusive");
    browser.wait_for("Open the report");
    assert!(dashboard.bench.path("runs/call/run.json").exists());
    expect_no_injection(&browser);
}

#[test]
fn the_runs_of_a_fleet_need_the_access_key() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.simulate("small.toml", "runs/saved", &[]);
    let serve = [
        "fleet",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--host",
        "127.0.0.1",
        "--quiet",
    ];
    let mut fleet = start(bench.with_state("state", &serve));
    fleet.wait_for("both addresses", |run| {
        let printed = run.stderr_so_far();
        printed.contains("#key=")
            && printed.ends_with('\n')
            && run.stdout_so_far().contains('#')
            && run.stdout_so_far().ends_with('\n')
    });
    let printed = fleet.stderr_so_far();
    let url = printed
        .split_whitespace()
        .find(|word| word.contains("/runs/#key="))
        .unwrap();
    let (bare, key) = url.split_once("#key=").unwrap();
    assert!(!fleet.stdout_so_far().contains(key), "agents do not get the key");
    let join = fleet.stdout_so_far();
    let token = join.trim().split('#').nth(1).unwrap().split('.').next().unwrap();
    let browser = Browser::start(&bench);
    browser.open(bare);
    browser.wait_for("Key required");
    // The fleet's token is not a key to the runs.
    browser.write("#key", token);
    browser.click("#login button");
    browser.wait_for("Wrong key");
    browser.open("about:blank");
    browser.open(url);
    browser.wait_for("1 run");
    assert_eq!(
        browser.run("return location.hash"),
        "",
        "the page removes the key from the URL"
    );
    browser.reload();
    browser.wait_for("1 run");
    // An event stream may last longer than an unauthenticated connection.
    assert_eq!(
        browser.run("return document.cookie"),
        "",
        "scripts cannot read the cookie"
    );
    // The station page is at its usual address.
    browser.open(bare.strip_suffix("runs/").unwrap());
    browser.wait_for("key is missing from this address");
}

#[test]
fn a_network_is_measured_from_the_page_of_its_controller() {
    let fleet = Fleet::new();
    let printed = fleet.serve.as_ref().unwrap().stderr_so_far();
    let url = printed.split_whitespace().find(|word| word.contains("/runs/#key="));
    let browser = Browser::start(&fleet.bench);
    browser.open(url.unwrap());
    browser.wait_for("No runs yet");
    browser.click("#measure-link");
    browser.wait_for("No device has joined yet");
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    browser.wait_for("1 device has joined: alpha. The measurement");
    let offer = browser.text_of("#offer");
    assert!(
        offer.contains("takes 2") && offer.contains("at most 1.0 GB at 1 Gbit/s"),
        "{offer}"
    );
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    browser.click("#measure-start");
    browser.wait_for("phase 1 of 3: idle");
    // The progress of a reloaded page is that of the measurement.
    browser.reload();
    browser.wait_for("phase 2 of 3: alpha down");
    let part = browser.run("return document.querySelector('#measure progress').value");
    assert!((0.3..0.8).contains(&part.as_f64().unwrap()), "{part}");
    browser.click("#measure-stop");
    browser.wait_for("The measurement was stopped, so there is no model of the network.");
    browser.click("#measure-start");
    browser.wait_for("phase 3 of 3: alpha up");
    browser.wait_for("Looking for a model of your network");
    browser.wait_for("The measurement is finished");
    assert!(texts(&browser, "#findings")[0].contains("alpha"), "{}", browser.text());
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    browser.click("#measure-status .strong");
    browser.wait_for("alpha");
    let path = browser.run("return location.pathname");
    assert!(path.as_str().unwrap().ends_with("-measure/report.html"), "{path}");
    expect_no_injection(&browser);
    end(alpha);
}

#[test]
fn a_browser_joins_from_the_start_page_and_is_measured() {
    let dashboard = Dashboard::new();
    let browser = dashboard.browser();
    browser.wait_for("No runs yet");
    browser.click("#measure-link");
    browser.wait_for("Let devices join");
    // Until then no other device reaches this process.
    assert!(!dashboard.bench.path("owner").join("fleet/controller.json").exists());
    browser.click("#invite");
    browser.wait_for("No device has joined yet.");
    assert_eq!(browser.run("return document.querySelectorAll('svg.code').length"), 1);
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    let elsewhere = Bench::new();
    let phone = Browser::start(&elsewhere);
    phone.open(&browser.text_of("#join-address"));
    phone.wait_for("Join");
    phone.write("#station-name", "phone");
    phone.click("form button");
    phone.wait_for("Waiting for a run");
    browser.wait_for("1 device has joined: phone. The measurement");
    browser.click("#measure-start");
    browser.wait_for("phase 1 of 3: idle");
    browser.click("#measure-stop");
    browser.wait_for("The measurement was stopped, so there is no model of the network.");
    browser.click("#measure-status + p a");
    browser.wait_for("phone");
    expect_no_injection(&browser);
    drop(phone);
    dashboard.ui.signal("INT");
    dashboard.ui.finish().expect(0);
}

#[test]
fn a_key_is_needed_and_only_known_names_are_answered() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("runs")).unwrap();
    let mut open = start(bench.netburn(["ui", "--listen", "0.0.0.0:0"]));
    open.wait_for("the address", |run| run.stdout_so_far().contains("#key="));
    let mut near = start(bench.netburn(["ui", "--listen", "127.0.0.1:0"]));
    near.wait_for("the address", |run| run.stdout_so_far().contains("#key="));
    let port = |run: &Running| -> u16 {
        let url = run.stdout_so_far();
        url.split(['/', ':'])
            .filter_map(|part| part.parse().ok())
            .next()
            .unwrap()
    };
    let ask = |port: u16, host: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "GET /runs/api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(ask(port(&open), "127.0.0.1"), "401");
    assert_eq!(ask(port(&near), "127.0.0.1"), "401");
    assert_eq!(ask(port(&near), "evil.example"), "421");
    near.signal("INT");
    near.finish().expect(0);
    // A missing directory is an error. Only the default directory may be created later.
    let wrong = finish(bench.netburn(["ui", "nowhere", "--listen", "127.0.0.1:0"])).expect(2);
    assert!(wrong.stderr.contains("nowhere"), "{}", wrong.stderr);
}

/// The page's background colour.
fn background(browser: &Browser) -> String {
    let colour = browser.run("return getComputedStyle(document.body).backgroundColor");
    colour.as_str().unwrap().to_owned()
}

#[test]
fn the_page_on_a_phone() {
    let dashboard = Dashboard::new();
    dashboard.three();
    let browser = dashboard.browser();
    browser.prefer("light");
    browser.wait_for("3 runs");
    // No element is wider than the screen.
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    browser.click("#rows tr:nth-child(2) input");
    browser.run("scrollTo({ top: 0, behavior: 'instant' })");
    browser.picture(&dashboard.bench.path("runs-narrow.png"));
    let light = background(&browser);
    browser.click("#rows tr:nth-child(2) th a");
    browser.wait_for("Open the report");
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    // The results are not wider than their region, which would cut them.
    let wide = "const region = document.querySelector('#run .wide'); return region.scrollWidth <= region.clientWidth";
    assert_eq!(browser.run(wide), true);
    let goals = browser.text_of("#run ul.goals li");
    assert!(goals.contains("150 ms: ") && goals.ends_with('%'), "{goals}");
    assert!(!browser.text().contains('`'), "{}", browser.text());
    browser.prefer("dark");
    assert_ne!(background(&browser), light);
    // The switch overrides the system's preference, and the choice is stored.
    browser.click("#theme");
    assert_eq!(background(&browser), light);
    browser.reload();
    browser.wait_for("Open the report");
    assert_eq!(background(&browser), light);
}

#[test]
fn the_page_on_a_desktop() {
    let dashboard = Dashboard::new();
    dashboard.three();
    let browser = Browser::desk(&dashboard.bench);
    browser.prefer("light");
    browser.open(&dashboard.url());
    dashboard.bench.write(
        "home.toml",
        "title = \"All at once\"\nquestion = \"Is one network enough for all of us?\"\nduration = \"30s\"\nbaseline = \"500ms\"\n\
         [server]\nlink = { rate = \"60 Mbit/s\" }\n[station.phone]\nworkload = \"voip\"\n[station.laptop]\nworkload = \"browsing\"\n\
         [station.desktop]\nworkload = \"upload\"\n",
    );
    let run = ["run", "home.toml", "--on", "local", "--yes", "--out", "runs/home"];
    let mut run = start(dashboard.bench.netburn(run));
    run.wait_for_load();
    browser.wait_for("is running");
    for row in [2, 3] {
        browser.click(&format!("#rows tr:nth-child({row}) input"));
    }
    browser.picture(&dashboard.bench.picture("runs.png"));
    pictures::check_words("runs", &browser, "h1, h2, #list th, #list label, button");
    // Every field has a label for screen readers.
    let named = "return [...document.querySelectorAll('#list input, #list select')].every(one => one.labels.length || one.ariaLabel)";
    assert_eq!(browser.run(named), true);
    let wide = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(browser.run(wide), true);
    browser.prefer("dark");
    browser.click("#now a");
    // From the ninth second on there are rows to show.
    browser.wait_until("the ninth second of 30", |text| {
        let before = text
            .split(" s of 30 s")
            .next()
            .filter(|before| before.len() < text.len());
        let second = before.and_then(|before| before.rsplit(' ').next()?.parse::<u32>().ok());
        second.is_some_and(|second| second >= 9)
    });
    browser.picture(&dashboard.bench.path("run-live.png"));
    assert_eq!(browser.run(wide), true);
    drop(run);
}

#[test]
fn ten_thousand_runs_are_listed() {
    let dashboard = Dashboard::new();
    dashboard.simulated("first", "A house", 1, -60);
    let document = std::fs::read(dashboard.bench.path("runs/first/run.json")).unwrap();
    for number in 0..9_999 {
        let folder = dashboard.bench.path(&format!("runs/run-{number}"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("run.json"), &document).unwrap();
    }
    let browser = dashboard.browser();
    browser.wait_for("100 of 10,000 runs shown");
    browser.run("document.querySelector('#more').click()");
    browser.wait_for("300 of 10,000 runs shown");
    assert_eq!(texts(&browser, "#rows tr").len(), 300);
    browser.write("#q", "run-77");
    // run-77, run-770 to run-779, run-7700 to run-7799.
    browser.wait_for("111 runs");
}

/// The documentation is readable and searchable from the local page, and from files without a server.
#[test]
fn the_documentation_is_read_and_searched_without_a_network() {
    let dashboard = Dashboard::new();
    let browser = dashboard.browser();
    browser.wait_for("No runs yet");
    browser.click("#docs-link");
    let search = |browser: &Browser| {
        browser.write("#search", "sqm router");
        browser.wait_for("sections have all words");
        let first = browser.text_of("#found a");
        assert!(first.contains("SQM"), "{first}");
        browser.click("#found a");
        browser.wait_until("the page that was found", |_| {
            browser.run("return location.pathname.endsWith('/docs/how-to/sqm.html')") == true
        });
        assert_eq!(browser.run("return document.documentElement.scrollWidth"), 390);
    };
    search(&browser);
    assert_eq!(browser.accessibility_faults(), Vec::<String>::new());
    // A case study has the playground in it, which runs when a person opens it.
    browser.run("location.pathname = '/runs/docs/docs/explanation/case-studies/2-slow-neighbour.html'");
    browser.wait_for("Try it on this page");
    browser.click(".figure summary");
    let inside = "document.querySelector('.figure iframe').contentDocument?.body?.dataset";
    browser.wait_until("the playground in the page", |_| {
        browser.run(&format!("return {inside}?.ready")) == "true"
    });
    finish(dashboard.bench.netburn(["generate", "site", "--out", "site"])).expect(0);
    let index = dashboard.bench.path("site/index.html");
    browser.open(&format!("file://{}", index.display()));
    browser.wait_for("I want to");
    search(&browser);
    // The words of a person, and not those of the pages.
    for (question, expected) in [
        (
            "my call stutters when someone uploads",
            "A call stutters while another device uploads",
        ),
        ("fq_codel", "fq-codel"),
        ("mesh before buying", "What to buy or change"),
        ("xyzzy", "what to do after a fail"),
    ] {
        browser.open(&format!("file://{}", index.display()));
        browser.write("#search", question);
        browser.wait_until(expected, |_| browser.text_of("#found").contains(expected));
    }
    let beside = dashboard.bench.path("site/playground.html");
    browser.open(&format!("file://{}#story=bufferbloat", beside.display()));
    browser.wait_for("Bufferbloat and SQM");
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
