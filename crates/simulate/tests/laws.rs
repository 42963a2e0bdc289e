//! Laws of all plans, checked on random small ones.

use netburn_medium::queue::{Place, QueueKind};
use netburn_record::Row;
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::Duration;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A Wi-Fi station, as lines of its section.
#[derive(Debug, Clone)]
struct OnAir {
    standard: &'static str,
    streams: u8,
    signal: i32,
    rate_control: &'static str,
    workload: &'static str,
    lines: String,
}

/// A small network: one radio and its stations.
#[derive(Debug, Clone)]
struct Small {
    seed: u64,
    width: &'static str,
    queue: &'static str,
    busy: u8,
    delay_ms: u64,
    stations: Vec<OnAir>,
}

/// Seconds of load.
const SECONDS: u64 = 4;

impl Small {
    fn text(&self) -> String {
        let mut text = format!(
            "seed = {}\nduration = \"{SECONDS} s\"\nbaseline = \"0.5 s\"\ndrain = \"0.5 s\"\n[server]\nlink = {{ delay = \"{} ms\" }}\n\
             [ap.home]\nqueue = \"{}\"\n[ap.home.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"{}\"\nchannel_busy = \"{} %\"\n",
            self.seed, self.delay_ms, self.queue, self.width, self.busy
        );
        for (number, station) in self.stations.iter().enumerate() {
            text.push_str(&format!(
                "[station.s{number}]\njoins = \"home.5g\"\nstandard = \"{}\"\nstreams = {}\nsignal = \"{} dBm\"\nrate_control = \"{}\"\n\
                 workload = \"{}\"\n{}\n",
                station.standard, station.streams, station.signal, station.rate_control, station.workload, station.lines
            ));
        }
        text
    }

    fn rows(&self) -> Vec<Row> {
        rows(&self.text())
    }
}

fn plan(text: &str) -> Plan {
    let document = Document::from_toml("small.toml", text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let resolved = document.resolve_for(Environment::Simulate);
    resolved.unwrap_or_else(|error| panic!("{error:?}\n{text}")).0
}

fn rows(text: &str) -> Vec<Row> {
    let mut all = Vec::new();
    let done = netburn_simulate::run(&plan(text), |_, rows| {
        all.extend(rows);
        ControlFlow::Continue(())
    });
    done.unwrap();
    all
}

fn station(workloads: &'static [&'static str]) -> impl Strategy<Value = OnAir> {
    (
        prop::sample::select(&["802.11n", "802.11ac"][..]),
        1_u8..3,
        -80_i32..-40,
        prop::sample::select(&["ideal", "minstrel"][..]),
        prop::sample::select(workloads),
    )
        .prop_map(|(standard, streams, signal, rate_control, workload)| OnAir {
            standard,
            streams,
            signal,
            rate_control,
            workload,
            lines: String::new(),
        })
}

const WORKLOADS: &[&str] = &["browsing", "4kstream", "voip", "download", "upload", "probe"];

fn small(
    stations: std::ops::Range<usize>,
    workloads: &'static [&'static str],
    busy: std::ops::Range<u8>,
) -> impl Strategy<Value = Small> {
    (
        any::<u32>(),
        prop::sample::select(&["20 MHz", "40 MHz", "80 MHz"][..]),
        prop::sample::select(
            QueueKind::all_on(Place::Radio)
                .into_iter()
                .map(QueueKind::name)
                .collect::<Vec<_>>(),
        ),
        busy,
        0_u64..40,
        prop::collection::vec(station(workloads), stations),
    )
        .prop_map(|(seed, width, queue, busy, delay_ms, stations)| Small {
            seed: seed.into(),
            width,
            queue,
            busy,
            delay_ms,
            stations,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The airtime of all stations of a channel does not exceed the interval. A frame counts
    /// completely in the interval in which it ends. Colliding frames count once for each sender.
    /// Five stations and their access point cause at most a quarter of such time. (For the channel
    /// itself, a law of the medium is exact.)
    #[test]
    fn the_air_is_used_once(small in small(1..5, WORKLOADS, 0..60)) {
        let mut used: BTreeMap<_, Duration> = BTreeMap::new();
        for row in small.rows() {
            if let Row::Air(row) = row {
                *used.entry(row.at).or_default() += row.airtime_down + row.airtime_up;
            }
        }
        let longest = Duration::from_micros(5_484);
        for (at, used) in used {
            prop_assert!(used <= Duration::from_millis(125) + longest, "{used} at {at}");
        }
    }

    /// The bytes of a workload's intervals equal the bytes of its operations.
    #[test]
    fn bytes_are_conserved(small in small(1..4, WORKLOADS, 0..60)) {
        let (mut intervals, mut operations): (BTreeMap<_, u64>, BTreeMap<_, u64>) = Default::default();
        for row in small.rows() {
            match row {
                Row::Interval(row) => *intervals.entry((row.station, row.workload)).or_default() += row.bytes_down + row.bytes_up,
                Row::Operation(row) => *operations.entry((row.station, row.workload)).or_default() += row.operation.bytes,
                _ => {}
            }
        }
        for (key, bytes) in &intervals {
            prop_assert_eq!(operations.get(key), Some(bytes), "{:?}", key);
        }
        for (key, bytes) in &operations {
            // A probe's datagrams are not content.
            let probes = *key != (key.0, netburn_record::row::BASELINE) && small.stations[usize::from(key.0)].workload != "probe";
            prop_assert!(!probes || *bytes == 0 || intervals.contains_key(key));
        }
    }

    /// One band of `pfifo_fast` is a FIFO. The weight of the only station has no effect.
    /// `hidden_from` is symmetric. A wired hop without a rate may be split in two.
    #[test]
    fn equivalent_plans_have_equal_rows(small in small(1..4, WORKLOADS, 0..60)) {
        let fifo = Small { queue: "fifo", ..small.clone() };
        let pfifo_fast = Small { queue: "pfifo-fast", ..small.clone() };
        prop_assert_eq!(fifo.rows(), pfifo_fast.rows());

        let mut alone = Small { queue: "airtime", ..small.clone() };
        alone.stations.truncate(1);
        let mut weighted = alone.clone();
        weighted.stations[0].lines = "weight = 1024".into();
        prop_assert_eq!(alone.rows(), weighted.rows());

        if small.stations.len() > 1 {
            let hidden = |from: usize, other: usize| {
                let mut hidden = small.clone();
                hidden.stations[from].lines = format!("hidden_from = [\"s{other}\"]");
                hidden.rows()
            };
            prop_assert_eq!(hidden(0, 1), hidden(1, 0));
        }

        let text = small.text();
        let one = text.replace(&format!("delay = \"{} ms\"", small.delay_ms), &format!("delay = \"{} ms\"", small.delay_ms + 7));
        let two = text.replace("[ap.home]\n", "[ap.home]\nwan = { delay = \"7 ms\" }\n");
        prop_assert_eq!(rows(&one), rows(&two));
    }
}
