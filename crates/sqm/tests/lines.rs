//! Lines whose truth is known, measured by the simulator.

use netburn_record::Row;
use netburn_scenario::{Document, Environment, Plan};
use netburn_sqm::capacity::LIMIT;
use netburn_sqm::lines::{self, Line};
use netburn_sqm::report::Context;
use netburn_sqm::samples::Collector;
use netburn_sqm::stage::{HEADERS_V4, Stage};
use netburn_sqm::verdict::Verdict;
use netburn_sqm::{Measured, Report, measure};
use netburn_units::{BitRate, Duration};
use netburn_workload::Direction;
use std::ops::ControlFlow;

fn plan(text: &str) -> Plan {
    let document = Document::from_toml("line", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let resolved = document.resolve_for(Environment::Simulate);
    resolved.unwrap_or_else(|error| panic!("{}", error.render(false))).0
}

fn simulate(text: &str, take: &mut dyn FnMut(&Row)) {
    netburn_simulate::run(&plan(text), |_, rows| {
        rows.iter().for_each(&mut *take);
        ControlFlow::Continue(())
    })
    .unwrap();
}

fn measured(line: &Line) -> Measured {
    let play = &mut |_: usize, stage: &Stage| -> Result<_, std::convert::Infallible> {
        let mut collector = Collector::new(stage, HEADERS_V4);
        simulate(&stage.scenario(&line.network(), Line::station()), &mut |row| {
            collector.put(row)
        });
        Ok((collector.finish(), ControlFlow::Continue(())))
    };
    measure(HEADERS_V4, play).unwrap()
}

/// 95th percentile of the delay that a load behind CAKE of this rate adds.
fn added(line: &Line, direction: Direction, rate: u64) -> Duration {
    netburn_sqm::capacity::added(&line.shaped(direction, BitRate::from_bps(rate))).unwrap()
}

/// Highest gross rate for which [`added`] is at most the limit, to 2 %, by bisection.
fn swept(line: &Line, direction: Direction, most: u64) -> u64 {
    let (mut low, mut high) = (most / 50, most);
    while high - low > high / 50 {
        let middle = u64::midpoint(low, high);
        if added(line, direction, middle) <= LIMIT {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The recommended rate, compared in IP packets of 1500 bytes, is at most the best one and at least 95 % of it. On a line that
/// varies, the delay grows slowly with the rate, and the capacity is another one while it is measured: the rate is within 20 %.
/// The bytes per packet are never too few by more than 2 %. Where they are identified, they are not too many by more than 6 %.
#[test]
fn the_recommended_rate_is_within_five_percent_of_the_best() {
    for line in lines::all() {
        let report = Report::new(&measured(&line), Context::default());
        for own in &report.verdicts {
            check(&line, own);
        }
    }
}

fn check(line: &Line, own: &Verdict) {
    let context = format!("{} {:?}: {own:?}", line.name, own.direction);
    let number = usize::from(own.direction == Direction::Up);
    assert_eq!(own.queue, Some(line.queues[number]), "{context}");
    assert_eq!(own.reasons, [], "{context}");
    let shaped = own.shaped_ip_rate().unwrap();
    let best = line.best(own.direction);
    let best = best.unwrap_or_else(|| line.ip_rate(swept(line, own.direction, 40_000_000)));
    let ratio = shaped as f64 / best as f64;
    let range = if own.varies { 0.8..=1.2 } else { 0.949..=1.0 };
    assert!(range.contains(&ratio), "{ratio}: {context}");
    let gross = own.shaper_with(line.layer).unwrap().as_bps();
    if gross < 200_000_000 {
        let added = added(line, own.direction, gross);
        // The capacity of a line that varies was another one during the measurement.
        let limit = if own.varies { LIMIT + LIMIT / 3 } else { LIMIT };
        assert!(added <= limit, "{added}: {context}");
    }
    for length in [60, 100, 300, 600, 1000, 1500] {
        let (found, truth) = (own.layer.bytes(length) as f64, line.layer.bytes(length) as f64);
        // Compared at the same rate of full packets.
        let relative = found / own.layer.bytes(1500) as f64 * line.layer.bytes(1500) as f64 / truth;
        assert!(relative > 0.98, "{length}: {relative} {context}");
        assert!(!own.is_identified || relative < 1.06, "{length}: {relative} {context}");
    }
}
