//! The table of video calls on the page of a run.

use netburn_analysis::View;
use netburn_record::{Header, OperationRow, Recorder, Row, RunStatus, Sink};
use netburn_report::html;
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::kinds::VideoCall;
use netburn_workload::{Config, Direction, Operation, Outcome, PacketStream, Streams};

const INTERVAL: Duration = Duration::from_millis(40);

/// A call of 10 s with 25 frames per second, at the target of 1.8 Mbit/s of 9000 B.
fn plan() -> Plan {
    let target = BitRate::from_bps(1_800_000);
    let streams = Streams::both(PacketStream::adaptive(INTERVAL, target, ByteSize::from_bytes(1000)));
    let call = Config {
        timeout: Duration::from_secs(1),
        ..Config::with(|call: &mut VideoCall| call.streams = streams)
    };
    Plan {
        duration: Duration::from_secs(10),
        warmup: Duration::ZERO,
        stations: vec![Station {
            workloads: vec![StationWorkload::new("talk", call)],
            ..Station::new("laptop")
        }],
        ..Plan::new("by-hand")
    }
}

/// Up, all frames take 30 ms, and the first 50 of 250 have half of the target. Down, frame 100 takes 300 ms, and frame
/// 200 is lost.
fn view() -> View {
    let bench = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(&bench.path().join("run"), Header::simulated(plan())).unwrap();
    for direction in [Direction::Up, Direction::Down] {
        for number in 0..250 {
            let (delay, bytes) = match (direction, number) {
                (Direction::Up, 0..50) => (Some(30), 4_500),
                (Direction::Down, 100) => (Some(300), 9_000),
                (Direction::Down, 200) => (None, 0),
                _ => (Some(30), 9_000),
            };
            let due = Instant::ZERO + INTERVAL * number;
            let finished = delay.map(|ms| due + Duration::from_millis(ms));
            let operation = Operation {
                sequence: direction.operation(number),
                due,
                started: Some(due),
                first_byte: finished,
                finished,
                bytes,
                outcome: match delay {
                    Some(_) => Outcome::Finished,
                    None => Outcome::TimedOut,
                },
                ..Operation::default()
            };
            recorder
                .put(&Row::Operation(OperationRow {
                    station: 0,
                    workload: 0,
                    operation,
                }))
                .unwrap();
        }
    }
    View::from_run(&recorder.finish(&RunStatus::Complete).unwrap())
}

/// Cells of a row of a table. U+00A0 is shown as `_`.
fn cells(row: &str) -> Vec<String> {
    let parts = row.split("</t").filter_map(|part| part.rsplit_once('>'));
    let texts = parts.map(|(_, text)| text.replace('\u{a0}', "_"));
    texts.filter(|text| !text.trim().is_empty()).collect()
}

/// Up, 200 of 250 frames are at the target: 80 %. (50 · 4500 + 200 · 9000) B in 10 s are 1.62 Mbit/s.
///
/// Down, 1 of 250 frames is lost: 0.4 %. The frame before frame 100 is shown at 3990 ms and frame 100 at 4300 ms: a
/// freeze of 310 ms. The frame before frame 200 is shown at 7990 ms, and the next one after the time-out, at 9000 ms: a
/// freeze of 1010 ms. These are 1320 of the observed 9960 ms: 13.25 %. 249 of 250 frames have 9000 B: 99.6 % and
/// 1.7928 Mbit/s. 250 frames don't support the 99th percentile.
#[test]
fn a_page_has_a_row_for_each_direction_of_a_video_call() {
    let page = html::report(&view());
    let table = &page[page.find("<caption>Video calls</caption>").unwrap()..];
    let table = &table[..table.find("</table>").unwrap()];
    let rows: Vec<Vec<String>> = table.split("</tr>").map(cells).filter(|row| !row.is_empty()).collect();
    let lines: Vec<String> = rows.iter().map(|row| row.join(" | ")).collect();
    assert_eq!(
        lines[1..],
        [
            "laptop, talk, up | 250 | 30.0_ms | 30.0_ms | – | 30.0_ms | 0_% | 0 | 0_% | – | 1.6 | 1.8 | 80_%",
            "laptop, talk, down | 250 | 30.0_ms | 30.0_ms | – | 300_ms | 0.4_% | 2 | 13.25_% | 1.01_s | 1.8 | 1.8 | 99.6_%",
        ]
    );
    assert_eq!(rows[0].len(), rows[1].len(), "a heading for each cell: {}", lines[0]);
    assert!(!page.contains("<caption>Datagrams</caption>"));
}
