//! The page of a comparison in a real browser.

use crate::support::browser::Browser;
use crate::support::pictures;
use crate::support::{Bench, finish, house};

/// Names of stations, files and folders are untrusted input.
const HOSTILE: &str = "<img src=x onerror=alert(1)>";

/// A scenario whose title and question contain markup.
fn hostile() -> Bench {
    let bench = Bench::new();
    let head = format!("title = {HOSTILE:?}\nquestion = \"</script><b id=bold>?\"\n");
    bench.write("house.toml", head + &house("6 s", "1 s"));
    bench
}

fn page(bench: &Bench, args: &[&str], name: &str) -> String {
    let args = ["compare"].iter().chain(args).chain(&["--format", "html"]);
    let html = finish(bench.netburn(args)).expect(0).out();
    assert!(html.len() < 1 << 20, "{} bytes", html.len());
    format!("file://{}", bench.write(name, html).display())
}

#[test]
fn both_sides_are_drawn_in_one_chart() {
    let bench = hostile();
    // The name of a side is that of its folder.
    bench.recorded("<b id=bold>new", "25 ms", 8);
    bench.recorded("old", "5 ms", 8);
    let url = page(&bench, &["<b id=bold>new", "--against", "old"], "compare.html");
    let browser = Browser::start(&bench);
    browser.open(&url);
    browser.wait_for("Differences: server.link.delay 5 ms → 25 ms");
    let text = browser.text();
    assert!(text.contains("<b id=bold>new against old"), "{text}");
    let count = |selector: &str| {
        browser
            .run(&format!("return document.querySelectorAll({selector:?}).length"))
            .as_u64()
            .unwrap()
    };
    assert_eq!(count("#bold, img"), 0, "names are text");
    // Latency of two workloads and throughput of one station, each with a chart and a table.
    assert_eq!(
        (
            count("figure[data-chart]"),
            count("figure canvas"),
            count("figure details table")
        ),
        (3, 3, 3)
    );
    let places = "return [...document.querySelectorAll('figure[data-chart]')].map(f => f.querySelector('h3').textContent).join(' | ')";
    let titles = browser.run(places).as_str().unwrap().to_owned();
    assert!(
        titles.starts_with("caller, voip: latency by percentile | caller, probe: latency"),
        "{titles}"
    );
    // Each metric has a chart, and a regression is also described in words.
    assert_eq!(count("tbody svg"), count("#part-metrics tbody tr"));
    assert!(count("#part-metrics .badge.fail") >= 2);
    // On a phone, only elements that scroll by themselves are wider than the screen.
    let overflow = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(overflow, 0);
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

#[test]
fn rankings_and_matrices_are_pages() {
    let bench = hostile();
    for (folder, delay) in [
        ("all/calm/base", "5 ms"),
        ("all/calm/one", "5 ms"),
        ("all/wild/base", "5 ms"),
        ("all/wild/one", "45 ms"),
    ] {
        std::fs::create_dir_all(bench.path(folder).parent().unwrap()).unwrap();
        bench.recorded(folder, delay, 7);
    }
    let browser = Browser::start(&bench);
    browser.open(&page(&bench, &["--matrix", "all"], "matrix.html"));
    browser.wait_for("worst first");
    let first = browser.text_of("#part-matrix tbody tr");
    assert!(first.contains("wild") && first.contains("worse"), "{first}");
    browser.click("#part-matrix tbody tr a");
    let place =
        browser.run("return location.hash + document.querySelector(location.hash).querySelector('h2').textContent");
    assert_eq!(place, "#part-c-2[2] wild: one against base");
    let args = ["all/wild/one", "all/wild/base", "all/calm/one", "--ranked"];
    browser.open(&page(&bench, &args, "ranking.html"));
    browser.wait_for("ranks first");
    assert_eq!(
        browser.run("return document.querySelectorAll('#part-standings tbody tr').length"),
        3
    );
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// All columns of the table are within the page: no scrolling is needed to see the interval.
#[test]
fn the_metrics_fit_a_laptop_screen() {
    let bench = Bench::new();
    for (folder, delay) in [("fast", "5 ms"), ("slow", "25 ms")] {
        let set = format!("server.link.delay={delay}");
        let short = ["--set", "duration=6 s", "--set", "warmup=0 s", "--repeat", "7"];
        let args = [&short[..], &["--set", &set, "--set", "ap.home.queue=\"fifo\""]].concat();
        bench.simulate("four-uses", folder, &args);
    }
    let browser = Browser::laptop(&bench);
    browser.open(&page(&bench, &["slow", "--against", "fast"], "compare.html"));
    browser.wait_for("Differences: server.link.delay 5 ms → 25 ms");
    let sizes = "const box = document.querySelector('#part-metrics .wide'); return [box.scrollWidth, box.clientWidth]";
    let sizes = browser.run(sizes);
    assert!(sizes[0].as_u64() <= sizes[1].as_u64(), "{sizes}");
    let interval = browser.text_of("#part-metrics tbody td:nth-child(8)");
    assert!(interval.contains(" … ") || interval.contains(" to "), "{interval}");
}

/// The pictures of the documentation.
#[test]
fn the_page_on_a_desktop() {
    let bench = Bench::new();
    for queue in ["fifo", "airtime"] {
        let set = format!("ap.home.queue=\"{queue}\"");
        bench.simulate("anomaly", queue, &["--set", &set, "--duration", "5 s", "--repeat", "7"]);
    }
    let browser = Browser::desk(&bench);
    browser.open(&page(&bench, &["airtime", "--against", "fifo"], "compare.html"));
    browser.wait_for("Differences: ap.home.queue fifo → airtime");
    let table = browser.text_of("#part-metrics tbody");
    assert!(table.contains("better") && table.contains("fast-1"), "{table}");
    browser.picture(&bench.picture("compare.png"));
    pictures::check_words("compare", &browser, "h1, h2, th");
    browser.prefer("dark");
    browser.run("document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('#part-curves').scrollIntoView()");
    browser.picture(&bench.path("compare-dark.png"));
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}
