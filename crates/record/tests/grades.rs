//! Familiar grades of runs whose rows are written by hand.

mod util;

use netburn_record::row::BASELINE;
use netburn_record::summary::{Grades, Missing, Summariser};
use netburn_record::{OperationRow, Row, RunStatus, Sink};
use netburn_scenario::{Plan, Station};
use netburn_units::Duration;
use netburn_workload::{Config, Outcome, Verdict};
use util::{header, interval, ms, operation, station};

const SECOND: Duration = Duration::from_secs(1);

/// Ten idle probes of the first station: 10 ms and 14 ms alternately. Their mean is 12 ms, their median (rank 5) 10 ms, and
/// each differs from the one before by 4 ms.
fn idle() -> Vec<Row> {
    let times = (0..10).map(|n| (n, if n % 2 == 0 { 10 } else { 14 }));
    let rows = times.map(|(n, took)| {
        let due = ms(50 * n as i64 - 2_000);
        operation(0, BASELINE, n, due, Outcome::Finished, Duration::from_millis(took))
    });
    rows.collect()
}

/// 100 probes of the first station from `from` on, each of which takes that long.
fn probes(from_s: i64, took_ms: u64) -> impl Iterator<Item = Row> {
    (0..100).map(move |n| {
        let due = ms(1000 * from_s + 50 * n);
        let sequence = 20 * from_s as u64 + n as u64;
        operation(0, 0, sequence, due, Outcome::Finished, Duration::from_millis(took_ms))
    })
}

/// A laptop that probes; a desktop that downloads from 0 s to 20 s; a camera that uploads from 30 s to 50 s.
fn plan() -> Plan {
    Plan {
        duration: SECOND * 60,
        warmup: Duration::ZERO,
        stations: vec![
            station("laptop", &[("probe", Config::probe())]),
            Station {
                stop: Some(SECOND * 20),
                ..station("desktop", &[("download", Config::download())])
            },
            Station {
                start: SECOND * 30,
                stop: Some(SECOND * 50),
                ..station("camera", &[("upload", Config::upload())])
            },
        ],
        ..Plan::new("grades")
    }
}

/// Grades of the first workload of the first station.
fn grades(plan: Plan, rows: impl IntoIterator<Item = Row>) -> Grades {
    let mut summariser = Summariser::new(header(plan));
    for row in rows {
        summariser.put(&row).unwrap();
    }
    let summary = summariser.finish("by hand", &RunStatus::Complete);
    summary.stations[0].workloads[0].grades.clone().unwrap()
}

/// Rows of [`plan`]: idle, 90 ms under download, 20 ms under upload, 12 ms without load.
fn rows() -> Vec<Row> {
    let mut rows = idle();
    rows.extend([interval(1, 0, 5_000, 1_000_000), interval(2, 0, 35_000, 1_000_000)]);
    rows.extend(probes(10, 90));
    rows.extend(probes(40, 20));
    rows.extend(probes(52, 12));
    rows
}

/// The means are 90 ms and 20 ms, the idle one 12 ms: increases of 78 ms (C) and 8 ms (A). Their mean is 43 ms (B).
#[test]
fn a_letter_is_for_the_mean_of_both_directions() {
    let bufferbloat = grades(plan(), rows()).bufferbloat;
    assert_eq!(
        (bufferbloat.scale.as_str(), bufferbloat.idle_ms),
        ("dslreports", Some(12.0))
    );
    let (download, upload) = (bufferbloat.download.unwrap(), bufferbloat.upload.unwrap());
    assert_eq!(
        (
            download.samples,
            download.mean_ms,
            download.increase_ms,
            &*download.letter
        ),
        (100, 90.0, 78.0, "C")
    );
    assert_eq!(
        (upload.samples, upload.mean_ms, upload.increase_ms, &*upload.letter),
        (100, 20.0, 8.0, "A")
    );
    assert_eq!((bufferbloat.both, bufferbloat.missing), (None, Vec::new()));
    assert_eq!(
        (bufferbloat.increase_ms, bufferbloat.letter.as_deref()),
        (Some(43.0), Some("B"))
    );
}

/// Of 300 round trips p50 is 20 ms, and p90, p95 and p99 are 90 ms. goresponsiveness: the lowest is that of p95,
/// (200 − 90) / 135 = 81.48 points. LibreQoS: (100 − 90) / 50 = 20 points at p95; for browsing (150 − 90) / 100 = 60 at
/// p90; for backups 100, as p95 is below 100 ms.
#[test]
fn scores_are_those_of_all_probes_that_count() {
    let scores = grades(plan(), rows()).qoo;
    let found: Vec<(&str, &str, f64)> = scores
        .iter()
        .map(|grade| {
            (
                &*grade.profile,
                &*grade.source,
                (grade.score.unwrap() * 100.0).round() / 100.0,
            )
        })
        .collect();
    let libreqos = "LibreQoS";
    assert_eq!(
        found,
        [
            ("games", "goresponsiveness", 81.48),
            ("real-time games", libreqos, 20.0),
            ("video conference", libreqos, 20.0),
            ("browsing", libreqos, 60.0),
            ("streaming", libreqos, 20.0),
            ("audio", libreqos, 20.0),
            ("backup", libreqos, 100.0),
        ]
    );
    assert!(
        scores
            .iter()
            .all(|grade| grade.path == "round trip" && grade.missing.is_empty())
    );
}

/// Idle 10 ms: 10 points. The worse direction is the download: 90 − 10 = 80 ms more, 0 points. Jitter 4 ms: 10 points. No
/// loss: 10 points. Gaming 10 + 10 + 0 = 20 is average, calls 10 + 10 + 10 + 0 = 30 is good. The laptop downloads nothing
/// itself, so streaming has no class.
#[test]
fn classes_use_the_worse_direction() {
    let classes = grades(plan(), rows()).aim;
    let found: Vec<_> = classes
        .iter()
        .map(|grade| (&*grade.name, grade.points, grade.class.as_deref(), &grade.missing[..]))
        .collect();
    assert_eq!(
        found,
        [
            ("streaming", None, None, &[Missing::OwnDownload][..]),
            ("gaming", Some(20), Some("average"), &[]),
            ("calls", Some(30), Some("good"), &[]),
        ]
    );
}

/// Download and upload at once, 40 ms: 28 ms more than the idle mean (A), 30 ms more than the idle median (5 points).
/// 750,000 B in each 100 ms are 60 Mbit/s (20 points). Streaming: 10 + 10 + 20 + 5 = 45, good. A time with one direction
/// alone is missing, so there is no letter for both.
#[test]
fn a_station_can_load_both_directions_itself() {
    let plan = Plan {
        stations: vec![station(
            "laptop",
            &[
                ("probe", Config::probe()),
                ("download", Config::download()),
                ("upload", Config::upload()),
            ],
        )],
        ..plan()
    };
    let mut rows = idle();
    rows.extend((0..600).map(|n| interval(0, 1, 100 * n, 750_000)));
    rows.push(interval(0, 2, 5_000, 1_000_000));
    rows.extend(probes(10, 40));
    let grades = grades(plan, rows);
    let both = grades.bufferbloat.both.unwrap();
    assert_eq!((both.increase_ms, &*both.letter), (28.0, "A"));
    assert_eq!(grades.bufferbloat.letter, None);
    assert_eq!(
        grades.bufferbloat.missing,
        [Missing::DownloadAlone, Missing::UploadAlone]
    );
    let streaming = &grades.aim[0];
    assert_eq!((streaming.points, streaming.class.as_deref()), (Some(45), Some("good")));
}

/// An upload without data is no load. Without it the letter and the classes lack a direction.
#[test]
fn a_workload_without_data_is_no_load() {
    let camera = |row: &Row| row.station() == Some(2);
    let of = grades(plan(), rows().into_iter().filter(|row| !camera(row)));
    assert!(of.bufferbloat.download.is_some() && of.bufferbloat.upload.is_none());
    assert_eq!(of.bufferbloat.missing, [Missing::UploadAlone]);
    assert_eq!(of.aim[0].missing, [Missing::OwnDownload, Missing::Upload]);
    assert_eq!(of.aim[1].missing, [Missing::Upload]);
}

#[test]
fn values_that_are_missing_are_listed() {
    let idle_probe = |row: &Row| matches!(row, Row::Operation(OperationRow { workload: BASELINE, .. }));
    let of = grades(plan(), rows().into_iter().filter(|row| !idle_probe(row)));
    assert_eq!(of.bufferbloat.missing, [Missing::Idle]);
    assert_eq!((of.bufferbloat.download, of.bufferbloat.letter), (None, None));
    assert_eq!(of.aim[2].missing, [Missing::Idle]);

    let of = grades(plan(), idle());
    assert_eq!(of.bufferbloat.missing, [Missing::Load]);
    assert_eq!(of.aim[1].missing, [Missing::Load]);
    let needed: Vec<&[Missing]> = of.qoo.iter().map(|grade| &grade.missing[..]).collect();
    let probes = |needed| Missing::Probes { needed, found: 0 };
    assert_eq!(needed[0], [probes(300)], "p99");
    assert_eq!(needed[1], [probes(60)], "p95");
    assert_eq!(needed[3], [probes(30)], "p90");
}

/// Of 309 probes 9 are lost: 2.9 % is more than any use accepts. p99 falls among them.
#[test]
fn lost_probes_rank_above_all_others() {
    let lost = (0..9).map(|n| {
        operation(
            0,
            0,
            5_000 + n,
            ms(58_000 + n as i64),
            Outcome::TimedOut,
            Duration::ZERO,
        )
    });
    let of = grades(plan(), rows().into_iter().chain(lost));
    let points: Vec<f64> = of.qoo.iter().map(|grade| grade.score.unwrap()).collect();
    assert_eq!(points, [0.0; 7]);
    // Loss of 9 / 309 = 2.9 % has 5 points instead of 10: gaming 10 + 5 + 0 = 15 is still average.
    assert_eq!(
        (of.aim[1].points, of.aim[1].class.as_deref()),
        (Some(15), Some("average"))
    );
}

/// Grades do not change the verdict: a probe without a goal has none.
#[test]
fn a_grade_is_no_verdict() {
    let mut summariser = Summariser::new(header(plan()));
    for row in rows() {
        summariser.put(&row).unwrap();
    }
    let summary = summariser.finish("by hand", &RunStatus::Complete);
    assert_eq!(summary.stations[0].workloads[0].verdict, Verdict::None);
    assert!(
        summary.stations[1].workloads[0].grades.is_none(),
        "only probes have grades"
    );
}
