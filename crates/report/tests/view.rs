//! Views, charts and pages of runs whose rows are written by hand.

mod fitted_document;

use fitted_document::fit;
use netburn_analysis::View;
use netburn_analysis::explain::Unexplained;
use netburn_analysis::view::MarkKind;
use netburn_record::{
    AirRow, Detail, Environment, EventKind, EventRow, Header, IntervalRow, LinkChange, LinkEvent, OperationRow,
    QualityIssue, Recorder, Row, Run, RunStatus, Sink,
};
use netburn_report::chart::{Chart, Scale, Theme, png, svg, table};
use netburn_report::compare::{Variant, overlays};
use netburn_report::html;
use netburn_report::run_charts::charts;
use netburn_scenario::{Document, Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Operation, Outcome};
use std::path::Path;

fn station(name: &str, workload: &str, config: Config) -> Station {
    Station {
        workloads: vec![StationWorkload::new(workload, config)],
        ..Station::new(name)
    }
}

/// A caller and a television for ten seconds, of which the first two are not evaluated.
fn plan(names: [&str; 2]) -> Plan {
    Plan {
        duration: Duration::from_secs(10),
        warmup: Duration::from_secs(2),
        stations: vec![
            station(names[0], "voip", Config::voip()),
            station(names[1], "4kstream", Config::stream_4k()),
        ],
        ..Plan::new("by-hand")
    }
}

fn ms(ms: i64) -> Instant {
    Instant::from_millis(ms)
}

fn operation(station: u16, sequence: u64, due: i64, took: u64, outcome: Outcome) -> Row {
    let finished = (outcome == Outcome::Finished).then(|| ms(due) + Duration::from_millis(took));
    Row::Operation(OperationRow {
        station,
        workload: 0,
        operation: Operation {
            sequence,
            due: ms(due),
            started: Some(ms(due)),
            connected: None,
            first_byte: finished,
            finished,
            bytes: 16_384,
            outcome,
            far: None,
            tcp_connected: None,
        },
    })
}

fn event(station: Option<u16>, at: i64, length: u64, kind: EventKind, text: &str) -> Row {
    Row::Event(EventRow {
        station,
        workload: station.map(|_| 0),
        at: ms(at),
        length: Duration::from_millis(length).as_nanos(),
        kind,
        detail: text.into(),
    })
}

/// The caller's operations are due every 10 ms from 0 on; number `n` takes 1 + `n` % 100 ms, one never ends. The television gets
/// 2.5 Mbit in every tenth of a second, twice its rate at 20 Mbit/s.
fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for number in 0..1000_u64 {
        let due = number as i64 * 10;
        rows.push(operation(0, number, due, 1 + number % 100, Outcome::Finished));
    }
    rows.push(operation(0, 1000, 5005, 0, Outcome::TimedOut));
    for tenth in 0..100 {
        rows.push(Row::Interval(IntervalRow {
            station: 1,
            workload: 0,
            at: ms(tenth * 100),
            bytes_down: 312_500,
            bytes_up: 0,
        }));
        for (station, share) in [(0, 10), (1, 30)] {
            rows.push(Row::Air(AirRow {
                station,
                at: ms(tenth * 100),
                airtime_down: Duration::from_millis(share),
                transmissions: 2,
                mpdus: 2 + u64::from(station) * 6,
                backlog: tenth as u64,
                ..AirRow::default()
            }));
        }
    }
    rows.push(event(Some(1), 0, 2000, EventKind::Startup, ""));
    rows.push(event(None, 5000, 0, EventKind::Change, text));
    rows.push(event(Some(0), 6000, 350, EventKind::Roam, text));
    rows.push(event(Some(1), 7000, 500, EventKind::Stall, ""));
    rows
}

fn recorded(folder: &Path, plan: Plan, text: &str) -> Run {
    let header = Header {
        environment: Environment::Simulate,
        ..Header::simulated(plan)
    };
    let mut recorder = Recorder::create(folder, header).unwrap();
    for row in rows(text) {
        recorder.put(&row).unwrap();
    }
    recorder.finish(&RunStatus::Complete).unwrap()
}

fn view(text: &str) -> View {
    let bench = tempfile::tempdir().unwrap();
    View::from_run(&recorded(&bench.path().join("run"), plan(["caller", "tv"]), text))
}

#[test]
fn a_view_matches_its_rows() {
    let view = view("the microwave");
    assert_eq!((view.bin_s, view.bins, view.runs), (0.1, 100, 1));
    let caller = &view.stations[0].workloads[0];
    // Operations due before 2 s are not evaluated: 800 that took 1 to 100 ms, eight times each, and
    // one that never ended.
    let curve = &caller.latency;
    assert_eq!((curve.count, curve.unbounded), (801, 1));
    assert_eq!((curve.min_ms, curve.max_ms), (Some(1.0), Some(100.0)));
    // The summary's own percentiles are exact: rank 401 of 801 is the 51st of 100 values.
    assert_eq!(curve.at(0.5), Some(Some(51.0)));
    assert_eq!(curve.at(0.99), Some(Some(100.0)));
    assert!((curve.at(0.7).flatten().unwrap() - 71.0).abs() <= 71.0 / 256.0);
    assert_eq!(curve.at(0.999), None, "801 don't support it");
    assert_eq!(caller.latency_goal_ms, Some(150.0));
    // The bin of 5.0 s has ten that took 1 to 10 ms, and the one that never ended.
    let bin = caller.over_time[50].unwrap();
    assert_eq!((bin.count, bin.unbounded), (11, 1));
    assert_eq!((bin.min_ms, bin.max_ms, bin.p95_ms), (Some(1.0), Some(10.0), None));
    assert!((bin.p50_ms.unwrap() - 6.0).abs() <= 0.1, "{bin:?}");
    // 312 500 bytes in a tenth of a second are 25 Mbit/s.
    let tv = &view.stations[1].workloads[0];
    assert!(tv.down_mbps.iter().all(|rate| (rate - 25.0).abs() < 1e-9));
    assert_eq!(tv.rate_goal_mbps, Some(20.0));
    // The air: 10 and 30 of 100 ms; aggregates of 1 and of 4.
    let air: Vec<_> = view
        .stations
        .iter()
        .map(|station| station.air.as_ref().unwrap())
        .collect();
    assert!((air[0].bins[3].airtime - 0.1).abs() < 1e-9 && (air[1].bins[3].airtime - 0.3).abs() < 1e-9);
    assert_eq!((air[0].mean_aggregate, air[1].mean_aggregate), (Some(1.0), Some(4.0)));
    assert!((air[1].airtime_share.unwrap() - 0.75).abs() < 1e-9);
    assert_eq!(air[0].bins[42].backlog, 42);
    // The player: 1.25 s of media a second; from 2 s on it plays, but for the stall.
    let buffer = tv.buffer.as_ref().unwrap();
    assert!((buffer.end_s[19].unwrap() - 2.5).abs() < 1e-6, "{:?}", buffer.end_s[19]);
    assert!((buffer.end_s[59].unwrap() - 3.5).abs() < 1e-6, "{:?}", buffer.end_s[59]);
    let marks: Vec<(f64, MarkKind)> = view.marks.iter().map(|mark| (mark.at_s, mark.kind)).collect();
    assert_eq!(
        marks,
        [(5.0, MarkKind::Change), (6.0, MarkKind::Roam), (7.0, MarkKind::Stall)]
    );
    assert!(view.missing.is_empty(), "{:?}", view.missing);
}

/// Of ten seconds, two are warm-up. `early` moves 250 kB in each tenth, 80 × 250 kB = 20 MB in the eight evaluated seconds.
/// `late` starts at 6 s and moves 500 kB in each tenth, 40 × 500 kB = 20 MB. Its rate is 40 Mbit/s, as much as the mean rate
/// of both over the run, because it is a mean over four seconds.
#[test]
fn a_station_that_starts_later_has_its_share_of_the_content() {
    let mut late = station("late", "download", Config::download());
    late.start = Duration::from_secs(6);
    let plan = Plan {
        duration: Duration::from_secs(10),
        warmup: Duration::from_secs(2),
        stations: vec![station("early", "download", Config::download()), late],
        ..Plan::new("by-hand")
    };
    let bench = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&bench.path().join("run"), Header::simulated(plan)).unwrap();
    for (station, from, bytes_down) in [(0, 0, 250_000), (1, 60, 500_000)] {
        for tenth in from..100 {
            let at = ms(tenth * 100);
            let bytes = IntervalRow {
                station,
                workload: 0,
                at,
                bytes_down,
                bytes_up: 0,
            };
            recorder.put(&Row::Interval(bytes)).unwrap();
            let air = AirRow {
                station,
                at,
                airtime_down: Duration::from_millis(30),
                ..AirRow::default()
            };
            recorder.put(&Row::Air(air)).unwrap();
        }
    }
    let view = View::from_run(&recorder.finish(&RunStatus::Complete).unwrap());
    for station in &view.stations {
        let share = station.air.as_ref().unwrap().bytes_share;
        assert!((share.unwrap() - 0.5).abs() < 1e-9, "{}: {share:?}", station.name);
    }
    let rates: Vec<f64> = view.judged().map(|(_, judged)| judged.throughput_mbps).collect();
    assert_eq!((rates, view.summary.totals.throughput_mbps), (vec![20.0, 40.0], 40.0));
    // A chart of two runs has the same mean as the tables.
    let variants = ["before", "after"].map(|name| Variant {
        name,
        views: std::slice::from_ref(&view),
    });
    let charts = overlays(&variants);
    assert_eq!(
        chart(&charts, "throughput-1").description,
        "before: 40.0 Mbit/s on average; after: 40.0 Mbit/s on average."
    );
}

#[test]
fn several_runs_are_pooled() {
    let bench = tempfile::tempdir().unwrap();
    let folder = bench.path().join("runs");
    let plan = Plan {
        repeat: 2,
        ..plan(["caller", "tv"])
    };
    let mut repeats = netburn_record::RunSet::create(&folder).unwrap();
    for _ in 0..2 {
        let run = recorded(&repeats.next_path(), plan.clone(), "");
        repeats.add(run);
    }
    repeats.finish().unwrap();
    let view = View::open(&folder).unwrap();
    assert_eq!(
        (view.runs, view.run_dirs.as_slice()),
        (2, &["1".to_owned(), "2".to_owned()][..])
    );
    let caller = &view.stations[0].workloads[0];
    assert_eq!((caller.latency.count, caller.over_time[50].unwrap().count), (1602, 22));
    let tv = &view.stations[1];
    assert!(
        tv.workloads[0].down_mbps.iter().all(|rate| (rate - 25.0).abs() < 1e-9),
        "a mean"
    );
    assert!((tv.air.as_ref().unwrap().bins[3].airtime - 0.3).abs() < 1e-9, "a mean");
    assert!((tv.workloads[0].buffer.as_ref().unwrap().end_s[19].unwrap() - 2.5).abs() < 1e-6);
    assert_eq!(view.marks.iter().filter(|mark| mark.run == Some(2)).count(), 3);
    let page = html::report(&view);
    assert!(
        page.contains("<a href=\"2/report.html\">run 2</a>"),
        "the runs are linked"
    );
}

fn parsed(text: &str) -> resvg::usvg::Tree {
    resvg::usvg::Tree::from_str(text, &resvg::usvg::Options::default())
        .unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn chart<'a>(charts: &'a [Chart], id: &str) -> &'a Chart {
    charts
        .iter()
        .find(|chart| chart.id == id)
        .unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn every_chart_is_well_formed_and_has_its_table() {
    let charts = charts(&view("a change"));
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "latency-percentiles",
            "latency-over-time",
            "throughput-over-time",
            "buffer-over-time",
            "airtime-shares",
            "airtime-over-time",
            "aggregates",
            "backlog-over-time"
        ]
    );
    for chart in &charts {
        for look in [Theme::Page, Theme::File] {
            parsed(&svg(chart, look));
        }
        assert!(!chart.description.is_empty(), "{}", chart.id);
        let table = table(chart);
        assert!(
            table.rows.len() >= 2 && table.rows.iter().all(|row| row.len() == table.head.len()),
            "{}",
            chart.id
        );
    }
    let picture = png(&charts[0]).unwrap();
    assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
}

/// Percentiles in the table are the summary's; one that never ended makes the slowest unknown.
#[test]
fn the_table_of_percentiles_matches_the_summary() {
    let charts = charts(&view(""));
    let chart = chart(&charts, "latency-percentiles");
    assert_eq!(chart.x.scale, Scale::Percentile);
    let table = table(chart);
    assert_eq!(table.head[1], "caller, voip");
    let row = |name: &str| table.rows.iter().find(|row| row[0] == name).map(|row| row[1].as_str());
    assert_eq!(row("50 %"), Some("51.0 ms"));
    assert_eq!(row("99 %"), Some("100 ms"));
    assert_eq!(row("99.9 %"), None);
    assert_eq!(row("slowest"), Some("never finished"));
    assert_eq!(chart.levels[0].label, "goal of voip: 150 ms");
}

const HOSTILE: &str = "</title></script><img src=x onerror=alert(1)>\"'&\u{202e}\u{0}";

const WALK: &str = r#"
duration = "10 s"
[network.home]
radios = ["hall.5g", "attic.5g"]
[ap.hall]
position = "2 m, 0 m"
[ap.hall.radio.5g]
channel = 36
[ap.attic]
position = "22 m, 0 m"
[ap.attic.radio.5g]
channel = 149
[station.phone]
joins = "home"
path = ["2 m, 0 m", "22 m, 0 m"]
workload = "voip"
"#;

/// At 1 m/s from 2 m on, the station is at 9.5 m after 7.5 s. An event without typed data is no roam.
#[test]
fn the_page_has_the_floor_plan_and_the_roams() {
    let plan = Document::from_toml("walk.toml", WALK).unwrap().resolve().unwrap();
    let bench = tempfile::tempdir().unwrap();
    let header = Header {
        environment: Environment::Simulate,
        ..Header::simulated(plan)
    };
    let mut recorder = Recorder::create(&bench.path().join("run"), header).unwrap();
    let mut row = |at, detail| {
        let row = Row::Event(EventRow {
            station: Some(0),
            workload: None,
            at: ms(at),
            length: Duration::from_millis(33).as_nanos(),
            kind: EventKind::Roam,
            detail,
        });
        recorder.put(&row).unwrap();
    };
    let change = LinkChange::Roamed {
        from: Some("hall.5g".into()),
        to: Some("attic.5g".into()),
    };
    let text = "moved".into();
    row(7_500, Detail::Link(Box::new(LinkEvent { change, text })));
    row(8_000, "roamed from hall.5g to attic.5g".into());
    let view = View::from_run(&recorder.finish(&RunStatus::Complete).unwrap());
    let page = html::report(&view);
    assert!(page.contains("<h2 id=\"h-floor\">Floor plan</h2>"));
    let roams = &page[page.find("<caption>Roams</caption>").unwrap()..];
    let roams = &roams[..roams.find("</table>").unwrap()];
    assert!(
        roams.contains("<th scope=\"row\">phone</th><td>7.5\u{a0}s</td><td>9.5\u{a0}m, 0\u{a0}m</td><td>hall.5g</td><td>attic.5g</td><td>33.0\u{a0}ms</td>"),
        "{roams}"
    );
    assert_eq!(roams.matches("<tr>").count(), 2, "the head and one roam: {roams}");
    assert!(page.contains(">roam at 7.5 s, gap 33 ms<"));
    let without = html::report(&self::view(""));
    assert!(!without.contains("part-floor") && !without.contains("floor-plan"));
}

/// Names and texts from elsewhere never become markup, in the page, its scripts or its pictures.
#[test]
fn hostile_names_stay_text() {
    let mut view = view(HOSTILE);
    view.summary.title = Some(HOSTILE.into());
    view.summary.question = Some(HOSTILE.into());
    view.assumptions = vec![HOSTILE.into()];
    view.missing = vec![HOSTILE.into()];
    view.run_dirs = vec![format!("{HOSTILE}/..")];
    view.host.name = HOSTILE.into();
    for (station, judged) in view.stations.iter_mut().zip(&mut view.summary.stations) {
        (station.name, judged.name) = (HOSTILE.into(), HOSTILE.into());
        station.workloads[0].name = HOSTILE.into();
        judged.workloads[0].name = HOSTILE.into();
        judged.reasons = vec![QualityIssue::ResultsMissing { cause: HOSTILE.into() }];
    }
    let page = html::report(&view);
    assert!(!page.contains("<img"), "no element of theirs");
    assert_eq!(page.matches("</script").count(), 3, "our three scripts end");
    assert_eq!(
        page.matches("</title>").count(),
        // The page, the charts, and the stations over time.
        1 + charts(&view).len() + svg_titles(&view) + 1
    );
    parsed(&netburn_report::timeline::svg(&view, Theme::Page));
    for chart in charts(&view) {
        parsed(&svg(&chart, Theme::Page));
        png(&chart).unwrap();
    }
}

/// The titles within netburn's own pictures, without the first one of each.
fn svg_titles(view: &View) -> usize {
    let drawn = charts(view);
    let titles = drawn
        .iter()
        .map(|chart| svg(chart, Theme::Page).matches("</title>").count() - 1);
    titles.sum()
}

#[test]
fn likely_causes_come_after_the_verdicts_and_before_the_charts() {
    let mut view = view("");
    view.explanation.unexplained = vec![Unexplained {
        station: "tv".into(),
        what: vec!["4kstream stalled once".into()],
    }];
    let page = html::report(&view);
    let place = |id: &str| {
        page.find(&format!("<section id=\"{id}\""))
            .unwrap_or_else(|| panic!("no {id}"))
    };
    let places = ["stations", "part-causes", "part-latency", "part-metrics"].map(place);
    assert!(places.is_sorted(), "{places:?}");
}

fn view_with(fit: &serde_json::Value) -> View {
    let bench = tempfile::tempdir().unwrap();
    let folder = bench.path().join("run");
    recorded(&folder, plan(["caller", "tv"]), "");
    std::fs::write(folder.join("fit.json"), fit.to_string()).unwrap();
    View::open(&folder).unwrap()
}

#[test]
fn a_page_shows_whether_the_model_behaves_like_the_measurement() {
    let view = view_with(&fit(["caller", "tv"], "x"));
    assert!(view.missing.is_empty(), "{:?}", view.missing);
    let page = html::report(&view);
    let from = page.find("<h2 id=\"h-fit\">Model of the network</h2>").unwrap();
    let section = &page[from..from + page[from..].find("</section>").unwrap()];
    for expected in [
        "</span> agrees</strong> <span class=\"why\">The model behaves like the measurement in 5 of 6 values.</span>",
        "<th scope=\"row\">caller</th><td>2 of 3</td><td>goodput down while only this device downloads: measured \
         30.0\u{a0}Mbit/s, model 35.0\u{a0}Mbit/s to 45.0\u{a0}Mbit/s</td>",
        "<th scope=\"row\">tv</th><td>3 of 3</td><td>none above 5\u{a0}%</td>",
        "fifo 75 %, x 25 %. Misfit 1.2",
        "<td>50</td><td>40 to 60</td><td>Mbit/s</td><td>no, would need a faster link</td>",
    ] {
        assert!(section.contains(expected), "`{expected}` is not in {section}");
    }
    // The page says the same without the model, except for this section.
    assert!(!html::report(&self::view("")).contains("h-fit"));
}

#[test]
fn a_model_that_differs_is_not_recommended() {
    let of = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut fit = fit(["caller", "tv"], "x");
        change(&mut fit);
        html::report(&view_with(&fit))
    };
    let differs = of(&|fit| fit["explains"] = false.into());
    assert!(
        differs.contains("</span> differs</strong>") && differs.contains("Do not rely on predictions of the model")
    );
    // Four of six are less than 80 %.
    let partly = of(&|fit| fit["observations"][3]["measured"] = 20.0.into());
    assert!(partly.contains("</span> agrees in part</strong>") && partly.contains("measurement only in 4 of 6 values"));
}

/// 35 to 45 of an axis that ends at 45 + 5 %, from 96 to 400: 30 is outside and 12 is inside.
#[test]
fn a_measured_value_outside_its_interval_is_a_diamond() {
    let charts = charts(&view_with(&fit(["caller", "tv"], "x")));
    let goodput = svg(chart(&charts, "fit-goodput-1"), Theme::File);
    let place = |value: f64| 96.0 + 304.0 * value / (45.0 * 1.05);
    let bar = format!(
        "<rect x=\"{:.1}\" y=\"24.5\" width=\"{:.1}\"",
        place(35.0),
        place(45.0) - place(35.0)
    );
    assert!(goodput.contains(&bar), "{bar} is not in {goodput}");
    let diamond = format!("<path d=\"M{:.1} 23.5l5.5 5.5", place(30.0));
    assert!(
        goodput.contains(&diamond) && goodput.contains("#a40e26"),
        "{diamond} is not in {goodput}"
    );
    assert!(!goodput.contains("<circle"), "{goodput}");
    assert!(goodput.contains("mean, model: 35.0 Mbit/s to 45.0 Mbit/s, median 40.0 Mbit/s; measured 30.0 Mbit/s"));
    // The bounds belong to the interval.
    let latency = svg(chart(&charts, "fit-latency-1"), Theme::File);
    assert_eq!(
        (latency.matches("<circle").count(), latency.matches("#a40e26").count()),
        (2, 0)
    );
    let table = table(chart(&charts, "fit-latency-1"));
    assert_eq!(
        table.head,
        [
            "phase",
            "median, model",
            "median, measured",
            "p90, model",
            "p90, measured"
        ]
    );
    assert_eq!(
        table.rows,
        [[
            "only this device downloads: access point",
            "15.0 ms (10.0 ms to 20.0 ms)",
            "20.0 ms",
            "60.0 ms (50.0 ms to 200 ms)",
            "100 ms"
        ]]
    );
    for chart in &charts {
        parsed(&svg(chart, Theme::Page));
    }
}

#[test]
fn a_foreign_fit_is_reported_and_not_shown() {
    for other in [
        fit(["caller", "fridge"], "x"),
        serde_json::json!({ "schema": "netburn.fit/1" }),
    ] {
        let view = view_with(&other);
        assert!(view.fitted.is_none());
        assert!(view.missing[0].starts_with("fit.json: "), "{:?}", view.missing);
        assert!(html::report(&view).contains("Some data could not be read: fit.json"));
    }
}

/// A document beside a record is foreign text.
#[test]
fn hostile_texts_of_a_fit_stay_text() {
    let mut view = view_with(&fit(["caller", "tv"], HOSTILE));
    let fitted = view.fitted.as_mut().unwrap();
    for one in &mut fitted.observations {
        one.station = HOSTILE.into();
        one.target = one.target.is_some().then(|| HOSTILE.into());
        // The largest numbers of a document, and bounds in the wrong order.
        (one.measured, one.interval) = (1e9, [1e9, -1e9]);
    }
    for estimate in &mut fitted.estimates {
        (estimate.unit, estimate.needs) = (HOSTILE.into(), Some(HOSTILE.into()));
    }
    let page = html::report(&view);
    assert!(!page.contains("<img") && page.contains("h-fit"));
    assert_eq!(page.matches("</script").count(), 3, "our three scripts end");
    for chart in charts(&view) {
        parsed(&svg(&chart, Theme::Page));
        png(&chart).unwrap();
    }
}

#[test]
fn every_table_has_a_caption() {
    let page = html::report(&view(""));
    let tables = page.matches("<table").count();
    assert!(tables >= 3, "{tables}");
    assert_eq!(page.matches("<table><caption>").count(), tables);
}

/// The page loads nothing.
#[test]
fn a_page_is_one_file() {
    let page = html::report(&view(""));
    assert!(page.contains("default-src 'none'"));
    for outside in ["src=\"", "url(", "@import", "<link", "<iframe", "<base"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Names of SVG and of the policy's header, a key of the scenario, and a comment of the vendored library.
    let known = [
        "http://www.w3.org/2000/svg\"",
        "http-equiv",
        "http&quot;",
        "https://github.com/leeoniya/uPlot",
    ];
    for (at, _) in page.match_indices("http") {
        let rest: String = page[at..].chars().take(50).collect();
        assert!(known.iter().any(|known| rest.starts_with(known)), "{rest}");
    }
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert_eq!(page, html::report(&view("")), "the same rows, the same page");
}

/// A folder with a table that is truncated at any byte is shown without the table, with a message.
/// A folder without its `run.json`, or with half of it, is rejected.
#[test]
fn a_damaged_folder_shows_its_readable_parts() {
    let bench = tempfile::tempdir().unwrap();
    let folder = bench.path().join("run");
    recorded(&folder, plan(["caller", "tv"]), "");
    let whole = View::open(&folder).unwrap();
    assert!(whole.missing.is_empty());
    for name in ["operations", "intervals", "airtime", "connections", "link", "events"] {
        let path = folder.join(format!("{name}.parquet"));
        let bytes = std::fs::read(&path).unwrap();
        let step = (bytes.len() / 23).max(1);
        for length in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let view = View::open(&folder).unwrap();
            assert!(
                view.missing.iter().any(|said| said.contains(name)),
                "{name} {length}: {:?}",
                view.missing
            );
            assert_eq!(view.summary, whole.summary, "the summary is in run.json");
            let page = html::report(&view);
            assert!(page.contains("Some data could not be read"), "{name} {length}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!View::open(&folder).unwrap().missing.is_empty(), "{name} is missing");
        std::fs::write(&path, &bytes).unwrap();
    }
    let path = folder.join("run.json");
    let text = std::fs::read(&path).unwrap();
    for length in (0..text.len() - 2).step_by(text.len() / 40) {
        std::fs::write(&path, &text[..length]).unwrap();
        let error = View::open(&folder).unwrap_err().to_string();
        assert!(error.contains("run.json"), "{length}: {error}");
    }
    let newer = String::from_utf8(text)
        .unwrap()
        .replace("netburn.run/1", "netburn.run/9");
    std::fs::write(&path, newer).unwrap();
    let error = View::open(&folder).unwrap_err().to_string();
    assert!(error.contains("newer"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(View::open(&folder).is_err());
}

/// A run that ended at its start has a page without charts.
#[test]
fn an_empty_run_has_a_page() {
    let bench = tempfile::tempdir().unwrap();
    let header = Header::simulated(plan(["caller", "tv"]));
    let recorder = Recorder::create(&bench.path().join("run"), header).unwrap();
    let run = recorder.finish(&RunStatus::Interrupted).unwrap();
    let view = View::from_run(&run);
    assert_eq!(view.bins, 1);
    let page = html::report(&view);
    assert!(page.contains("The run could not be measured"), "{page}");
}
