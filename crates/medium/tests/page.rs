//! Example of docs/contributing/one-ampdu.md: the model's instants are those of the page.

mod util;

use netburn_medium::aggregation::Limits;
use netburn_medium::air::Output;
use netburn_medium::config::{AdapterRate, Guard, HardwareQueue};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::NodeId;
use netburn_units::Instant;
use util::{Cell, ampdu, fifo, ht20, packet};

const PAGE: &str = include_str!("../../../docs/contributing/one-ampdu.md");

#[test]
fn one_ampdu() {
    let cell = Cell {
        vectors: vec![ht20(7, 1, Guard::Ns800)],
        limits: ampdu(Limits::PPDU),
        hardware: HardwareQueue::Aggregates(2),
        seed: 1,
        limit: AdapterRate::default(),
    };
    let edca = EdcaParameters::default_set(15).map(|parameters| EdcaParameters {
        cw_min: 0,
        cw_max: 0,
        ..parameters
    });
    let mut air = cell.open_with(fifo(1_000), edca);
    air.trace();
    for number in 0..8 {
        air.handle_packet(Instant::ZERO, NodeId(0), NodeId(1), packet(1_500, 0, number));
    }
    let (mut delivered, mut sent) = (Vec::new(), Vec::new());
    while let Some((at, _)) = air.poll_timeout() {
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            match output {
                Output::Delivered { at, packet, .. } => delivered.push((at.as_nanos(), packet.payload)),
                Output::Sent { at, packets, .. } => sent.push((at.as_nanos(), packets)),
                Output::Dropped { .. } | Output::Group { .. } => panic!("nothing is lost here"),
            }
        }
    }
    let transmissions: Vec<_> = std::iter::from_fn(|| air.poll_transmission())
        .map(|t| (t.at.as_nanos(), t.duration.as_nanos(), t.mpdus, t.length))
        .collect();
    assert_eq!(transmissions, [(0, 228_000, 1, 1_538), (315_000, 1_368_000, 7, 10_806)]);
    let seven = (1..8).map(|number| (1_683_000, number));
    assert_eq!(delivered, [(228_000, 0)].into_iter().chain(seven).collect::<Vec<_>>());
    assert_eq!(sent, [(272_000, 1), (1_731_000, 7)]);
    // Responses start SIFS after the data; at their end the sender is informed.
    for (data_ends, answer, known) in [(228, 28, 272), (1_683, 32, 1_731)] {
        assert_eq!(data_ends + 16 + answer, known);
    }
    let rows: Vec<u64> = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok())
        .collect();
    assert_eq!(rows, [0, 228, 244, 272, 315, 1_683, 1_699, 1_731]);
}

/// Every file that the page names exists.
#[test]
fn its_files_exist() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let named: Vec<&str> = PAGE
        .split('`')
        .filter(|word| {
            (word.ends_with(".rs") || word.ends_with('/')) && !word.contains(' ') && !word.starts_with("crates/")
        })
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for file in named {
        assert!(source.join(file).exists(), "{file}");
    }
}
