//! Fits simulated houses whose parameters are known, and prints how often the fit is right.
//!
//! Run it with `cargo run --release -p netburn-fit --example houses -- COUNT [FIRST] [STATIONS] [-v]`.

use netburn_fit::home::Parameter;
use netburn_fit::houses::{House, shows_discipline};
use netburn_fit::{Fit, Measurement, Predicted, Settings, fit};
use netburn_units::Seed;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Results of one kind of parameter.
#[derive(Default)]
struct Tally {
    houses: u32,
    covered: u32,
    identified: u32,
    errors: Vec<f64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default: u64| {
        arguments
            .get(place)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (count, first, most) = (number(0, 10), number(1, 1), number(2, 4));
    let is_verbose = arguments.iter().any(|argument| argument == "-v");
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let (mut shown, mut right, mut wrong, mut unclear, mut slowest) = (0, 0, 0, 0, 0.0_f64);
    for seed in first..first + count {
        let house = House::random(Seed(seed), most as usize);
        let settings = Settings {
            seed: Seed(seed),
            ..Settings::default()
        };
        let run = house.measure(Seed(seed + 1_000)).expect("a house can be simulated");
        let begun = Instant::now();
        let measurement = Measurement::of_run(&run, settings.length).expect("the run is a measurement");
        let result = fit(&measurement, &settings, &map).expect("models can be simulated");
        let seconds = begun.elapsed().as_secs_f64();
        slowest = slowest.max(seconds);
        let is_shown = shows_discipline(&house, &measurement);
        match result.discipline() {
            Some(found) if found == house.discipline => right += u32::from(is_shown),
            Some(_) => wrong += 1,
            None => unclear += u32::from(is_shown),
        }
        shown += u32::from(is_shown);
        println!(
            "house {seed}: {} stations, line {}/{}, {}{}; found {}; misfit {:.2}, {seconds:.1} s",
            house.stations,
            house.line.0,
            house.line.1,
            house.discipline.name(),
            if is_shown { "" } else { " (not shown)" },
            disciplines(&result),
            result.misfit
        );
        if is_verbose {
            println!(
                "  true modes {:?}\n  {:?} {:?} {:?} {:?}",
                house.modes(),
                measurement.home.highest,
                measurement.home.line_full,
                measurement.home.modes,
                measurement.home.signals
            );
        }
        for estimate in &result.estimates {
            let Some(truth) = house.value(estimate.parameter) else {
                continue;
            };
            if estimate.parameter == Parameter::QueueLimit && !estimate.parameter.exists_with(house.discipline) {
                continue;
            }
            let is_covered = (estimate.interval.0..=estimate.interval.1).contains(&truth);
            if is_verbose {
                println!(
                    "  {:28} true {truth:10.3} median {:10.3} [{:.3}, {:.3}] {}{}",
                    estimate.key,
                    estimate.median,
                    estimate.interval.0,
                    estimate.interval.1,
                    if is_covered { "" } else { "MISSED " },
                    if estimate.is_identified { "identified" } else { "" }
                );
            }
            let tally = tallies.entry(kind(estimate.parameter)).or_default();
            tally.houses += 1;
            tally.covered += u32::from(is_covered);
            if estimate.is_identified {
                tally.identified += 1;
                tally.errors.push((estimate.median / truth - 1.0).abs());
            }
        }
        if is_verbose {
            result
                .unexplained
                .iter()
                .take(8)
                .for_each(|text| println!("  unexplained: {text}"));
        }
    }
    println!(
        "\ndiscipline: {right} of {shown} right where the run shows it, {unclear} unclear, {wrong} wrong of {count}"
    );
    println!("slowest fit: {slowest:.1} s");
    for (name, tally) in &mut tallies {
        tally.errors.sort_by(f64::total_cmp);
        let at = |share: f64| {
            tally
                .errors
                .get((tally.errors.len() as f64 * share) as usize)
                .copied()
                .unwrap_or(0.0)
        };
        println!(
            "{name:12} interval holds {:3} of {:3}; identified {:3}; error of these p50 {:.1} %, p80 {:.1} %, p90 {:.1} %",
            tally.covered,
            tally.houses,
            tally.identified,
            at(0.5) * 100.0,
            at(0.8) * 100.0,
            at(0.9) * 100.0
        );
    }
}

fn disciplines(result: &Fit) -> String {
    let listed = result
        .disciplines
        .iter()
        .map(|(kind, weight)| format!("{} {weight:.2}", kind.name()));
    listed.collect::<Vec<_>>().join(", ")
}

const fn kind(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::ServerDelay => "server delay",
        Parameter::LineDelay => "line delay",
        Parameter::Line(netburn_workload::Direction::Down) => "line down",
        Parameter::Line(netburn_workload::Direction::Up) => "line up",
        Parameter::LineQueue => "line queue",
        Parameter::Busy => "busy",
        Parameter::QueueLimit => "queue limit",
        Parameter::Signal(_) => "signal",
    }
}

/// Calls `work` on all processors.
fn map(count: usize, work: &(dyn Fn(usize) -> Predicted + Sync)) -> Vec<Predicted> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let result = work(number);
                    results.lock().expect("no thread panicked").push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panicked");
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}
