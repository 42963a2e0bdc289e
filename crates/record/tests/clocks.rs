//! Results of a run with several clocks.

mod util;

use netburn_record::{Clock, Environment, EventKind, Header, Row, RunStatus, Sink};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::{Config, Outcome};
use util::{event, header, operation, station};

/// On a fleet, station and server have their own clocks. The station's gains 100 ppm and the
/// server's loses 50 ppm. Every probe takes 2 ms each way; one of them queues for 3 ms more on the
/// uplink.
#[test]
fn one_way_delays_need_two_known_clocks() {
    let queued = |known: bool, jump_ns: Option<i64>| {
        let clock = |name: &str, stations: &[&str], drift: f64| {
            let clock = Clock {
                name: name.into(),
                stations: stations.iter().map(|name| (*name).to_owned()).collect(),
                offset_ns: 0,
                error_ns: 1000,
                round_trip_ns: 0,
                exchanges: 60,
                drift_ppm: known.then_some(drift),
                drift_error_ppm: known.then_some(1.0),
                compared_ns: 0,
                jump_ns,
            };
            let Row::Event(mut row) = event(None, None, 0, Duration::ZERO, EventKind::Clock) else {
                unreachable!()
            };
            row.detail = clock.into();
            Row::Event(row)
        };
        let plan = Plan {
            duration: Duration::from_secs(60),
            stations: vec![station("a", &[("probe", Config::probe())])],
            ..Plan::new("probes")
        };
        let mut rows = vec![clock("a", &["a"], 100.0), clock("server", &[], -50.0)];
        for number in 0..1000u64 {
            // True times, and the times of both clocks.
            let sent = number as i64 * 50_000_000;
            let up = if number == 500 { 5_000_000 } else { 2_000_000 };
            let (there, back) = (sent + up, sent + up + 2_000_000);
            let by_a = |at: i64| Instant::from_nanos(at + at / 10_000);
            let by_server = |at: i64| 1_000_000_000 + at - at / 20_000;
            let Row::Operation(mut row) = operation(0, 0, number, by_a(sent), Outcome::Finished, Duration::ZERO) else {
                unreachable!()
            };
            row.operation.finished = Some(by_a(back));
            let far = by_server(there);
            row.operation.far = Some(netburn_workload::RemoteTimestamps {
                received: far,
                sent: far,
            });
            rows.push(Row::Operation(row));
        }
        let header = Header {
            environment: Environment::Fleet,
            ..header(plan)
        };
        let mut summariser = netburn_record::summary::Summariser::new(header);
        rows.iter().for_each(|row| summariser.put(row).unwrap());
        let summary = summariser.finish("x", &RunStatus::Complete);
        let probe = summary.stations[0].workloads[0].probe.unwrap();
        probe.queued_up_ms.zip(probe.queued_down_ms)
    };
    let (up, down) = queued(true, None).unwrap();
    // Over 50 s the clocks drift apart by 7.5 ms; after the correction only the 3 ms remain.
    assert!((up.max.unwrap() - 3.0).abs() < 0.001, "{up:?}");
    assert!(up.p50.unwrap() < 0.001 && down.max.unwrap() < 0.001, "{up:?} {down:?}");
    assert!(queued(false, None).is_none());
    assert!(queued(true, Some(1_000_000)).is_none());
}
