//! Familiar grades on the page of a run and in its text.

use netburn_analysis::View;
use netburn_record::row::BASELINE;
use netburn_record::{Header, IntervalRow, OperationRow, Recorder, Row, RunStatus, Sink};
use netburn_report::html;
use netburn_report::text::{grades, text as report_text};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Operation, Outcome};

/// A station that downloads for ten seconds and probes.
fn plan() -> Plan {
    let workload = |name: &str, config: Config| StationWorkload::new(name, config);
    Plan {
        duration: Duration::from_secs(10),
        warmup: Duration::ZERO,
        stations: vec![Station {
            workloads: vec![
                workload("download", Config::download()),
                workload("probe", Config::probe()),
            ],
            ..Station::new("laptop")
        }],
        ..Plan::new("by-hand")
    }
}

fn probe(workload: u16, sequence: u64, due_ms: i64, took_ms: u64) -> Row {
    let due = Instant::from_millis(due_ms);
    let finished = Some(due + Duration::from_millis(took_ms));
    Row::Operation(OperationRow {
        station: 0,
        workload,
        operation: Operation {
            sequence,
            due,
            started: Some(due),
            first_byte: finished,
            finished,
            outcome: Outcome::Finished,
            ..Operation::default()
        },
    })
}

/// Idle 2 ms. Under the download 100 probes take 42 ms: 40 ms more, which is B on the scale of dslreports.
fn view() -> View {
    let bench = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&bench.path().join("run"), Header::simulated(plan())).unwrap();
    let idle = (0..20).map(|n| probe(BASELINE, n, 50 * n as i64 - 2_000, 2));
    let loaded = (0..100).map(|n| probe(1, n, 50 * n as i64, 42));
    let bytes = Row::Interval(IntervalRow {
        station: 0,
        workload: 0,
        at: Instant::ZERO,
        bytes_down: 1_000_000,
        bytes_up: 0,
    });
    for row in idle.chain(loaded).chain([bytes]) {
        recorder.put(&row).unwrap();
    }
    View::from_run(&recorder.finish(&RunStatus::Complete).unwrap())
}

#[test]
fn a_page_has_the_grades_and_their_scales() {
    let page = html::report(&view());
    for part in [
        "<section id=\"part-grades\"",
        "<h2 id=\"h-grades\">Familiar grades</h2>",
        "These grades are not verdicts",
        "<td>+40.0\u{a0}ms (B)</td>",
        "<td>needs 6 probes while stations only upload</td>",
        "A+ below 5 ms, A below 30 ms, B below 60 ms",
        "<th scope=\"row\">QoO of 100: games (goresponsiveness)</th>",
        // 100 probes are too few for p99.
        "<td>needs 300 probes (found 100)</td>",
        "AIM (Cloudflare)",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_page_without_a_probe_has_no_grades() {
    let mut view = view();
    view.summary.stations[0].workloads.pop();
    assert!(!html::report(&view).contains("Familiar grades"));
    assert_eq!(grades(&view.summary, 100), "");
}

/// QoO: p95 is 42 ms and below 50 ms, so LibreQoS's uses have 100 points.
#[test]
fn text_has_a_line_for_each_grade() {
    let summary = view().summary;
    let text = grades(&summary, 4000);
    assert!(
        !report_text(&summary, 4000, false).contains("QoO"),
        "only below the causes"
    );
    for line in [
        "laptop, probe: no bufferbloat letter (scale of dslreports); download +40.0 ms (B); idle 2.00 ms mean; a letter \
         needs 6 probes while stations only upload.",
        "laptop, probe: QoO of 100, round trip: games needs 300 probes (found 100) (goresponsiveness); real-time games \
         100, video conference 100, browsing 100, streaming 100, audio 100, backup 100 (LibreQoS); 0 % lost.",
        "laptop, probe: no AIM class (Cloudflare): needs 6 probes while a station uploads.",
        "These grades are not verdicts",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn many_probes_are_shortened() {
    let mut view = view();
    let stations = &mut view.summary.stations;
    for _ in 0..6 {
        stations.push(stations[0].clone());
    }
    let text = grades(&view.summary, 4000);
    assert_eq!(text.matches("QoO of 100").count(), 4, "{text}");
    assert!(text.contains("--format json shows the grades of 3 more."), "{text}");
}
