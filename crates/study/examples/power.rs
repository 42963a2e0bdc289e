//! False alarms and power of a comparison: pairs of sets of simulated runs, compared as in `netburn compare`.
//!
//! `cargo run --release -p netburn-study --example power [PAIRS] [REPEATS] [PERCENT]` (100, 20 and 10). Each pair has
//! four sets of runs. Two are of one scenario with different seeds. Two have a longer path to one station's access
//! point, which increases the median latency of its frames by PERCENT. Of these, one has different seeds, and one has
//! the seeds of the first set. Alarms are metrics of the first two sets that are better or worse.

use netburn_analysis::compare::{Comparison, Options, Side};
use netburn_parallel::pool::{map, processors};
use netburn_record::Summary;
use netburn_scenario::{Document, Plan};
use netburn_stats::metric_change::Judgement;
use netburn_units::Seed;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// A caller that shares a WAN link with another station; a reader and a download behind another WAN link.
const SCENARIO: &str = r#"
duration = "12 s"
warmup = "1 s"
baseline = "1 s"
drain = "1 s"
[server]
link = { rate = "1 Gbit/s", delay = "5 ms" }
[ap.home]
queue = "fq-codel"
wan = { down = "10 Mbit/s", up = "2 Mbit/s", delay = "5 ms" }
[ap.home.radio.5g]
standard = "802.11n"
[ap.next]
queue = "fq-codel"
wan = { down = "8 Mbit/s", up = "2 Mbit/s", delay = "10 ms" }
[ap.next.radio.2g]
standard = "802.11n"
[station.laptop]
joins = "home.5g"
signal = "-60 dBm"
workload = "browsing"
[station.desktop]
joins = "home.5g"
signal = "-55 dBm"
workload = "download"
[station.caller]
joins = "next.2g"
signal = "-62 dBm"
workload = ["voip", "probe"]
[station.neighbour]
joins = "next.2g"
signal = "-70 dBm"
workload = "voip"
"#;

/// Station whose latency is shifted, and the metric that shows it.
const SHIFTED: (&str, &str) = ("caller", "stations.caller.workloads.voip.latency_ms.p50");

/// Key that increases the delay of the caller's path.
const LONGER: &str = "ap.next.wan.delay";

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a number"))
        .collect();
    let number = |place: usize, usual: usize| numbers.get(place).copied().unwrap_or(usual);
    let (pairs, repeats, percent) = (number(0, 100), number(1, 20), number(2, 10));
    let begun = Instant::now();
    let usual = plan(None);
    let p50 = run(&usual)
        .stations
        .iter()
        .find(|s| s.name == SHIFTED.0)
        .unwrap()
        .workloads[0]
        .latency_ms
        .p50
        .unwrap();
    // A frame uses an open connection: one round trip.
    let more = p50 * percent as f64 / 200.0;
    let longer = plan(Some(&format!("{:.3} ms", 10.0 + more)));
    println!("{} takes {p50:.1} ms; {more:.3} ms more each way", SHIFTED.1);

    let outcomes = map(pairs, processors(), &|pair| {
        let side = |name: &str, plan: &Plan, set: usize| {
            let mut side = Side::new(name);
            for repeat in 0..repeats {
                let seed = Seed(1 + ((pair * 3 + set) * repeats + repeat) as u64);
                side.add_summary(Path::new(name), &run(&Plan { seed, ..plan.clone() }), None);
            }
            side
        };
        let (first, second) = (side("first", &usual, 0), side("second", &usual, 1));
        let [own, same] = [2, 0].map(|set| side("longer", &longer, set));
        let begun = Instant::now();
        let alike = Comparison::new(second, first.clone(), Options::default());
        let shifted = [own, same].map(|side| found(&Comparison::new(side, first.clone(), Options::default())));
        let each = begun.elapsed().as_secs_f64() / 3.0;
        (alarms(&alike), shifted, each)
    });
    let alarms: usize = outcomes.iter().map(|(alarms, ..)| alarms).sum();
    let alarmed = outcomes.iter().filter(|(alarms, ..)| *alarms > 0).count();
    println!(
        "{pairs} pairs of {repeats} runs, in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    println!("between seeds: {alarms} alarms, in {alarmed} pairs");
    let spans: Vec<f64> = outcomes.iter().map(|(.., each)| *each).collect();
    let most = spans.iter().copied().fold(0.0, f64::max);
    for (place, seeds) in ["seeds of its own", "the same seeds"].into_iter().enumerate() {
        let found: Vec<f64> = outcomes.iter().filter_map(|(_, found, _)| found[place]).collect();
        let share = found.iter().sum::<f64>() / found.len().max(1) as f64;
        println!(
            "{seeds}: a shift of {:.1} % on average, found in {}",
            share * 100.0,
            found.len()
        );
    }
    println!("a comparison takes {most:.3} s at most");
}

fn plan(delay: Option<&str>) -> Plan {
    let mut document = Document::from_toml("power.toml", SCENARIO).expect("a valid scenario");
    if let Some(delay) = delay {
        document.set(LONGER, &format!("\"{delay}\"")).expect("it is a key");
    }
    document.resolve().expect("a valid scenario")
}

fn run(plan: &Plan) -> Summary {
    netburn_simulate::summary(plan, "", &mut |_| ControlFlow::Continue(()))
        .expect("it can be simulated")
        .expect("it is not stopped")
}

/// Number of metrics that are better or worse.
fn alarms(of: &Comparison) -> usize {
    of.count(Judgement::Better) + of.count(Judgement::Worse)
}

/// Measured change of the shifted metric.
fn found(of: &Comparison) -> Option<f64> {
    let held = of.metrics.iter().find(|held| held.key.path() == SHIFTED.1)?;
    (held.answer.judgement == Judgement::Worse).then(|| held.share().unwrap_or_default())
}
