//! The page of a run, which each run writes, opened from disk in a real browser.

use crate::support::browser::Browser;
use crate::support::pictures;
use crate::support::{Bench, finish, house};
use netburn_analysis::View;
use netburn_report::html;
use serde_json::json;
use std::fs;
use std::path::Path;

/// A caller, and a station that watches and browses while its signal weakens.
fn scenario() -> String {
    house("6 s", "1 s")
        + r#"
[station.viewer]
joins = "home.5g"
signal = "-70 dBm"
workload = ["4kstream", "browsing"]
[[at]]
time = "3 s"
set = { "station.viewer.signal" = "-80 dBm" }
"#
}

fn ran(bench: &Bench, more: &[&str]) {
    bench.write("house.toml", scenario());
    bench.simulate("house.toml", "record", more);
}

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn each_run_writes_a_page_and_report_writes_the_same() {
    let bench = Bench::new();
    ran(&bench, &[]);
    let page = bench.path("record/report.html");
    let first = fs::read(&page).unwrap();
    assert!(first.len() < 1_000_000, "{} bytes", first.len());
    fs::remove_file(&page).unwrap();
    let output = finish(bench.netburn(["report", "record"])).expect(0);
    assert!(output.stderr.contains("record/report.html"), "{}", output.stderr);
    assert!(fs::read(&page).unwrap() == first, "the same page");
    let charts = ["report", "record", "--html", "elsewhere.html", "--charts", "charts"];
    finish(bench.netburn(charts)).expect(0);
    assert!(
        fs::read(bench.path("elsewhere.html")).unwrap() == first,
        "the same page in another folder"
    );
    for name in ["latency-percentiles", "throughput-over-time", "airtime-shares"] {
        let svg = fs::read_to_string(bench.path(&format!("charts/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg "), "{name}");
        let png = fs::read(bench.path(&format!("charts/{name}.png"))).unwrap();
        assert_eq!(&png[1..4], b"PNG", "{name}");
    }
    let nowhere = finish(bench.netburn(["report", "record", "--html", "no/such/folder.html"]));
    assert_eq!(nowhere.code(), 3, "{}", nowhere.stderr);
}

#[test]
fn a_run_set_has_a_page_and_so_has_each_run() {
    let bench = Bench::new();
    ran(&bench, &["--repeat", "3", "--duration", "4s"]);
    let browser = Browser::desk(&bench);
    browser.open(&address(&bench.path("record/report.html")));
    browser.wait_for("Each run has its own page");
    let places =
        browser.run("return [...document.querySelectorAll('#part-rounds a')].map((a) => a.getAttribute('href'))");
    assert_eq!(places, json!(["1/report.html", "2/report.html", "3/report.html"]));
    browser.click("#part-rounds a");
    browser.wait_for("Stations");
    assert_eq!(
        browser.run("return document.querySelectorAll('#part-rounds').length"),
        0
    );
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// A folder with missing tables is shown without them. A record of a newer netburn is rejected with a clear message.
#[test]
fn an_incomplete_record_is_shown() {
    let bench = Bench::new();
    ran(&bench, &["--duration", "4s"]);
    let path = bench.path("record/intervals.parquet");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let output = finish(bench.netburn(["report", "record"])).expect(0);
    assert!(
        output.stderr.contains("intervals.parquet is damaged"),
        "{}",
        output.stderr
    );
    let page = fs::read_to_string(bench.path("record/report.html")).unwrap();
    assert!(page.contains("Some data could not be read") && page.contains("latency-percentiles"));
    let document = bench.path("record/run.json");
    let newer = fs::read_to_string(&document)
        .unwrap()
        .replace("netburn.run/1", "netburn.run/2");
    fs::write(&document, newer).unwrap();
    let output = finish(bench.netburn(["report", "record"])).expect(2);
    assert!(output.stderr.contains("newer netburn"), "{}", output.stderr);
}

/// Charts can be hidden, zoomed and read with the keyboard. The page makes no requests.
#[test]
fn the_page_works_from_disk() {
    let bench = Bench::new();
    ran(&bench, &[]);
    let browser = Browser::desk(&bench);
    browser.prefer("light");
    browser.open(&address(&bench.path("record/report.html")));
    browser.wait_for("Latency by percentile");
    let live = browser
        .run("return document.querySelectorAll('figure.live canvas').length")
        .as_u64()
        .unwrap();
    assert!(live >= 4, "{live} charts are drawn");
    let asked = browser.run("return performance.getEntriesByType('resource').length");
    assert_eq!(asked, 0, "nothing is asked for");
    let drawn = browser.run("return document.documentElement.dataset.drawn");
    eprintln!("drawn {} ms after it began to load", drawn.as_str().unwrap());
    // By keyboard: move, zoom in and zoom out.
    let plot = "#throughput-over-time .plot";
    browser.press(plot, "\u{e014}\u{e014}\u{e014}");
    let printed = browser.text_of("#throughput-over-time .readout");
    assert!(printed.contains(" s –") && printed.contains("Mbit/s"), "{printed}");
    // Hiding a chart, and the state for screen readers.
    let button = "#throughput-over-time .tools button";
    assert_eq!(
        browser.run(&format!("return document.querySelector('{button}').ariaPressed")),
        "true"
    );
    browser.press(button, "\u{e007}");
    assert_eq!(
        browser.run(&format!("return document.querySelector('{button}').ariaPressed")),
        "false"
    );
    // Each chart has a table and a description.
    let dumb = "return [...document.querySelectorAll('figure.chart')].filter((f) => \
                !f.querySelector('table tbody tr') || !f.querySelector('svg title') || !f.querySelector('svg desc').textContent).length";
    assert_eq!(browser.run(dumb), 0);
    // Dark by the switch, and stored.
    let background = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.run(background);
    browser.click("#theme");
    assert_ne!(browser.run(background), light);
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// Names never become an element, a script or a dialog.
#[test]
fn names_with_markup_stay_text_in_a_browser() {
    let bench = Bench::new();
    ran(&bench, &["--duration", "4s"]);
    let mut view = View::open(&bench.path("record")).unwrap();
    let hostile = "</script><script>document.body.id='owned'</script><img id=theirs src=x onerror=\"document.body.id='owned'\">\u{2028}'";
    view.summary.title = Some(hostile.into());
    view.summary.question = Some(hostile.into());
    view.assumptions = vec![hostile.into()];
    for mark in &mut view.marks {
        mark.text = hostile.into();
    }
    for (station, judged) in view.stations.iter_mut().zip(&mut view.summary.stations) {
        (station.name, judged.name) = (hostile.into(), hostile.into());
        judged.reasons = vec![netburn_record::QualityIssue::ResultsMissing { cause: hostile.into() }];
        for (workload, judged) in station.workloads.iter_mut().zip(&mut judged.workloads) {
            (workload.name, judged.name) = (hostile.into(), hostile.into());
        }
    }
    let path = bench.write("hostile.html", html::report(&view));
    let browser = Browser::desk(&bench);
    browser.open(&address(&path));
    browser.wait_for("Latency by percentile");
    assert_eq!(browser.run("return document.body.id"), "");
    assert_eq!(
        browser.run("return document.querySelectorAll('#theirs, main img').length"),
        0
    );
    assert!(
        browser
            .run("return document.querySelectorAll('figure.live').length")
            .as_u64()
            >= Some(3)
    );
    assert!(
        browser.text_of("h1").contains("<img id=theirs"),
        "it is there to be read"
    );
    browser.press("#throughput-over-time .plot", "\u{e014}\u{e014}");
    assert_eq!(browser.run("return document.querySelectorAll('#theirs').length"), 0);
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn the_report_in_all_styles() {
    let bench = Bench::new();
    bench.simulate("archer-c7-one-ssid", "record", &["--duration", "20s"]);
    let page = address(&bench.path("record/report.html"));
    let browser = Browser::desk(&bench);
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        browser.open(&page);
        browser.wait_for("Latency by percentile");
        if scheme == "light" {
            browser.picture(&bench.picture("report-light.png"));
            pictures::check_words("report-light", &browser, "h1, h2, th");
        }
        browser.run("document.querySelector('#part-throughput').scrollIntoView()");
        browser.picture(&bench.path(&format!("report-{scheme}-below.png")));
    }
    browser.print(&bench.path("report.pdf"));
    drop(browser);
    let phone = Browser::start(&bench);
    phone.prefer("light");
    phone.open(&page);
    phone.wait_for("Latency by percentile");
    phone.run("document.querySelector('#latency-percentiles').scrollIntoView()");
    phone.picture(&bench.path("report-phone.png"));
    assert_eq!(
        phone.run("return document.documentElement.scrollWidth"),
        390,
        "nothing is wider than the phone"
    );
}
