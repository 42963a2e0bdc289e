//! The laws of the state machine under arbitrary drivers: the committed corpus, and pseudo-random behaviours.

use crate::util::ms;
use crate::util::network::Network;
use netburn_units::{ByteSize, Duration, Seed};
use netburn_workload::config::{PRESETS, Requests};
use netburn_workload::fuzz::check;
use netburn_workload::kinds::{KindSettings, Packets, VideoCall};
use netburn_workload::{Config, Connections};
use proptest::prelude::*;
use std::path::PathBuf;

/// Written by `examples/write-workload-corpus.rs`.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus/driver")
}

#[test]
fn the_corpus_keeps_the_laws() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the corpus is there");
    for file in files {
        check(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn thousands_of_random_drivers_keep_the_laws() {
    for round in 0..3000 {
        let mut random = Seed(round).stream("driver", 0);
        let length = random.below(600) as usize;
        let data: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
        if let Err(broken) = std::panic::catch_unwind(|| check(&data)) {
            eprintln!("round {round}: {data:?}");
            std::panic::resume_unwind(broken);
        }
    }
}

/// A random built-in workload on a random network.
fn any_run() -> impl Strategy<Value = (Config, Network, u64)> {
    // The objects of `responsiveness` are too large for this network. Its laws have a test of their own.
    let presets: Vec<&str> = PRESETS
        .iter()
        .copied()
        .filter(|name| *name != "responsiveness")
        .collect();
    let use_ = prop::sample::select(presets).prop_map(|name| Config::preset(name).expect("a known use"));
    let network = (
        1_u64..200,
        1_u64..200,
        prop::option::of((0_i64..8000, 1_i64..4000)),
        0_u64..20,
    );
    let shape = (any::<bool>(), 1_u32..12, 50_u64..4000, 1_u64..1024);
    (use_, network, shape, any::<u64>()).prop_map(|(mut config, network, shape, seed)| {
        let (round_trip, mbps, outage, lag) = network;
        let (new, outstanding, timeout, kib) = shape;
        let connections = if new { Connections::New } else { Connections::Keep };
        let object_size = ByteSize::from_kib(kib);
        config.timeout = Duration::from_millis(timeout);
        let change =
            |requests: &mut Requests| (requests.connections, requests.object_size) = (connections, object_size);
        match &mut config.settings {
            KindSettings::Pages(pages) => change(&mut pages.requests),
            KindSettings::Stream(stream) => change(&mut stream.requests),
            KindSettings::Periodic(calls) => {
                change(&mut calls.requests);
                calls.outstanding = outstanding;
            }
            KindSettings::Bulk(bulk) => change(&mut bulk.requests),
            KindSettings::Probe(probe) => probe.outstanding = outstanding,
            KindSettings::DashClient(client) => client.connections = connections,
            // Fewer packets than in a real frame, so that the test is fast.
            KindSettings::Packets(Packets { streams, .. }) | KindSettings::VideoCall(VideoCall { streams, .. }) => {
                streams.down.iter_mut().for_each(|down| down.burst = down.burst.min(4));
            }
            // Others keep their defaults.
            _ => {}
        }
        let mut network = Network::new(round_trip, mbps).driver_lag(Duration::from_millis(lag));
        if let Some((from, length)) = outage {
            network = network.outage(ms(from), ms(from + length));
        }
        (config, network, seed)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_driver_keeps_the_laws(data in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&data);
    }

    #[test]
    fn any_preset_on_any_network_keeps_the_laws((config, network, seed) in any_run()) {
        // `run` uses the checked workload, which verifies every law.
        let run = network.run(&config, ms(10_000), seed);
        let moved: u64 = run.operations.iter().map(|o| o.bytes).sum();
        let arrived: u64 = run.bins.values().sum();
        if !config.kind().is_datagram() && network.driver_lag.is_zero() {
            prop_assert_eq!(moved, arrived, "bytes are conserved");
        } else if !config.kind().is_datagram() {
            // Bytes that reach a late driver after the timeout don't count.
            prop_assert!(moved <= arrived);
        }
        let size = config.operation_size().unwrap();
        let size = config.dash().map_or(size, |dash| dash.segment_size(dash.lowest())).as_bytes();
        let least = network.round_trip + network.time_for(size);
        for operation in &run.operations {
            if let Some(latency) = operation.latency().filter(|_| !config.kind().is_datagram()) {
                prop_assert!(latency >= least, "faster than the network: {:?}", operation);
                match config.dash() {
                    Some(dash) => prop_assert!(dash.rate_of(operation.bytes).is_some(), "no segment: {:?}", operation),
                    None => prop_assert_eq!(operation.bytes, size),
                }
            }
        }
        prop_assert_eq!(&run.trace, &network.run(&config, ms(10_000), seed).trace, "one seed, one trace");
    }

    #[test]
    fn additional_timeouts_change_nothing((config, network, seed) in any_run(), every in 1_u64..500) {
        let network = network.driver_lag(Duration::ZERO);
        let once = network.run(&config, ms(10_000), seed);
        let nosy = network.woken_every(Duration::from_millis(every)).run(&config, ms(10_000), seed);
        prop_assert_eq!(once.operations, nosy.operations);
        prop_assert_eq!(once.stalls, nosy.stalls);
    }
}
