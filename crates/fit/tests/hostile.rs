//! Rows of any content are read in bounded time and memory, and never make a value that is not finite.

use netburn_fit::{Measurement, Schedule};
use netburn_record::row::{IntervalRow, LinkRow, OperationRow};
use netburn_record::{Header, MemoryRecorder, Row, RunStatus, Sink};
use netburn_scenario::{Document, Environment};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, Outcome};
use proptest::prelude::*;

fn row() -> impl Strategy<Value = Row> {
    let place = (
        0_u16..4,
        0_u16..12,
        prop_oneof![any::<i64>(), Just(i64::MAX), Just(i64::MIN), 0..60_000_000_000_i64],
    );
    let outcome = prop_oneof![
        Just(Outcome::Finished),
        Just(Outcome::TimedOut),
        Just(Outcome::Cut),
        Just(Outcome::Unfinished)
    ];
    prop_oneof![
        (place.clone(), any::<u64>(), any::<u64>()).prop_map(|((station, workload, at), bytes_down, bytes_up)| {
            Row::Interval(IntervalRow {
                station,
                workload,
                at: Instant::from_nanos(at),
                bytes_down,
                bytes_up,
            })
        }),
        (place.clone(), any::<Option<i64>>(), outcome).prop_map(|((station, workload, due), finished, outcome)| {
            let operation = Operation {
                due: Instant::from_nanos(due),
                finished: finished.map(Instant::from_nanos),
                outcome,
                ..Operation::default()
            };
            Row::Operation(OperationRow {
                station,
                workload,
                operation,
            })
        }),
        (place, any::<Option<i32>>(), any::<Option<u64>>(), any::<Option<u32>>()).prop_map(
            |((station, _, at), signal, rate, frequency_mhz)| {
                Row::Link(LinkRow {
                    station,
                    at: Instant::from_nanos(at),
                    signal,
                    rx_rate_bps: rate,
                    frequency_mhz,
                    ..LinkRow::default()
                })
            }
        ),
    ]
}

/// A run of another program: one load until the end, and idle time before it. Its times are moved by this idle time.
const IMPORTED: &str = r#"
duration = "30 s"
baseline = "5 s"
[station.one]
workload = ["load", "to-server"]
[station.two]
workload = ["load", "to-server"]
[workload.load]
kind = "upload"
goal = "none"
[workload.to-server]
kind = "probe"
interval = "200 ms"
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_rows_give_finite_values_or_a_reason(rows in proptest::collection::vec(row(), 0..400), is_imported: bool) {
        let scenario = if is_imported {
            IMPORTED.to_owned()
        } else {
            Schedule::measure(&["one".to_owned(), "two".to_owned()]).scenario()
        };
        let document = Document::from_toml("measure.toml", &scenario).expect("valid");
        let mut header = Header::simulated(document.resolve().expect("valid"));
        if is_imported {
            header.environment = Environment::Imported;
        }
        let mut recorder = MemoryRecorder::new(header);
        for row in &rows {
            recorder.put(row).expect("in memory");
        }
        let run = recorder.finish("hostile", &RunStatus::Complete);
        if let Ok(measurement) = Measurement::of_run(&run, Duration::from_secs(2)) {
            prop_assert!(measurement.values.iter().all(|value| value.is_finite()));
            for parameter in measurement.home.parameters() {
                let prior = parameter.prior(&measurement.home);
                prop_assert!(prior.value(prior.mean).is_finite() && prior.deviation > 0.0);
                prop_assert!(prior.value(-1e9).is_finite() && prior.value(1e9).is_finite());
            }
        }
    }
}
