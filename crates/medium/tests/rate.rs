//! Rate control by probing, compared with the ideal rate.

mod util;

use netburn_medium::aggregation::{Framing, Limits};
use netburn_medium::air::{Air, ChannelConfig};
use netburn_medium::config::{Guard, Standard, Width};
use netburn_medium::edca::{EdcaParameters, Timing};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, TxVector, dsss, ofdm};
use netburn_medium::rate::{MinstrelParameters, RateChoice};
use netburn_units::{Duration, Instant};
use util::{Uplink, saturate};

/// Fastest vector with two streams: HT 40 MHz, VHT 80, HE 80.
fn fastest(standard: Standard) -> TxVector {
    let (modulation, width, guard) = match standard {
        Standard::B => (Modulation::Dsss(dsss::Rate::M11), Width::Mhz20, Guard::Ns800),
        Standard::A => (Modulation::Ofdm(ofdm::Rate::M54), Width::Mhz20, Guard::Ns800),
        Standard::N => (Modulation::Ht { mcs: 7 }, Width::Mhz40, Guard::Ns400),
        Standard::Ac => (Modulation::Vht { mcs: 9 }, Width::Mhz80, Guard::Ns400),
        Standard::Be => (Modulation::Eht { mcs: 13 }, Width::Mhz160, Guard::Ns800),
        _ => (Modulation::He { mcs: 11 }, Width::Mhz80, Guard::Ns800),
    };
    TxVector {
        modulation,
        width,
        guard,
        streams: standard.max_streams().min(2),
        signal_extension: false,
        short_preamble: false,
    }
}

fn limits(standard: Standard) -> Limits {
    if matches!(standard, Standard::A | Standard::B) {
        return Limits::NONE;
    }
    Limits {
        ampdu: true,
        frames: u32::from(standard.block_ack_window()),
        window: u32::from(standard.block_ack_window()),
        time: Duration::from_millis(4),
        bytes: if standard == Standard::N { 65_535 } else { 1_048_575 },
        amsdu: 0,
        tries: 10,
    }
}

const MINSTREL: MinstrelParameters = MinstrelParameters {
    update: Duration::from_millis(50),
    weight: 0.25,
    probe: Duration::from_millis(20),
    probe_frames: 8,
};

fn open(standard: Standard, stations: usize, snr_db: f64, rate: RateChoice, seed: u64) -> Air<u64> {
    Uplink {
        stations,
        vector: fastest(standard),
        limits: limits(standard),
        rate,
        snr_db: Some(snr_db),
        seed,
        channel: ChannelConfig {
            timing: if standard == Standard::B {
                Timing::DSSS
            } else {
                Timing::OFDM
            },
            ..ChannelConfig::ofdm()
        },
        edca: EdcaParameters::default_set(15),
        framing: Framing::CCMP,
        ..Uplink::default()
    }
    .open()
}

/// Total goodput in Mbit/s of all stations in 5 s, after their rate control has converged. All
/// start with the slowest rate at the same time. With many stations, each has few transmissions to
/// probe.
fn steady(standard: Standard, stations: usize, snr_db: f64, rate: RateChoice, seed: u64) -> f64 {
    steady_for(5, standard, stations, snr_db, rate, seed)
}

/// The same for this number of seconds.
fn steady_for(seconds: i64, standard: Standard, stations: usize, snr_db: f64, rate: RateChoice, seed: u64) -> f64 {
    let mut air = open(standard, stations, snr_db, rate, seed);
    let known = 1 + stations as i64;
    let (begin, end) = (Instant::from_secs(known), Instant::from_secs(known + seconds));
    saturate(&mut air, stations, Instant::ZERO, begin);
    let bytes = saturate(&mut air, stations, begin, end);
    bytes.iter().sum::<u64>() as f64 * 8.0 / seconds as f64 / 1e6
}

const AGGREGATING: &[Standard] = &[Standard::N, Standard::Ac, Standard::Ax];

fn held_against_ideal(standards: &[Standard], stations: usize, signals: &[f64], seeds: &[u64]) {
    let mut short = 0;
    for standard in standards {
        for snr_db in signals {
            for seed in seeds {
                let ideal = steady(*standard, stations, *snr_db, RateChoice::Ideal, *seed);
                let got = steady(*standard, stations, *snr_db, RateChoice::Minstrel(MINSTREL), *seed);
                println!(
                    "{} {stations} stations {snr_db} dB seed {seed}: {got:.1} of {ideal:.1} Mbit/s, {:.1} %",
                    standard.name(),
                    100.0 * got / ideal
                );
                short += u32::from(got < 0.9 * ideal);
            }
        }
    }
    assert_eq!(short, 0, "below 90 %");
}

#[test]
fn alone() {
    held_against_ideal(AGGREGATING, 1, &[3.0, 8.0, 13.0, 18.0, 23.0, 28.0, 33.0, 45.0], &[1]);
}

#[test]
fn among_five() {
    held_against_ideal(AGGREGATING, 5, &[8.0, 18.0, 28.0], &[3]);
}

#[test]
fn among_ten() {
    held_against_ideal(AGGREGATING, 10, &[8.0, 18.0, 28.0], &[4]);
}

/// Single MPDUs are lost completely or not at all.
#[test]
fn without_aggregation() {
    held_against_ideal(&[Standard::A], 1, &[5.0, 9.0, 14.0, 17.0, 22.0, 30.0], &[11]);
    held_against_ideal(&[Standard::A], 5, &[9.0, 17.0, 30.0], &[12]);
}

/// After a change of 10 dB at 3 s: goodput from 4 s compared with the ideal for the new signal.
fn after_change(standard: Standard, stations: usize, from: f64, to: f64, seed: u64) -> bool {
    let run = |rate| {
        let mut air = open(standard, stations, from, rate, seed);
        saturate(&mut air, stations, Instant::ZERO, Instant::from_secs(3));
        for station in 1..=stations {
            air.set_snr(NodeId(station as u16), NodeId(0), Some(to));
        }
        saturate(&mut air, stations, Instant::from_secs(3), Instant::from_secs(4));
        let bytes = saturate(&mut air, stations, Instant::from_secs(4), Instant::from_secs(5));
        bytes.iter().sum::<u64>() as f64 * 8.0 / 1e6
    };
    let (ideal, got) = (run(RateChoice::Ideal), run(RateChoice::Minstrel(MINSTREL)));
    println!(
        "{} {stations} stations {from} to {to} dB seed {seed}: {got:.1} of {ideal:.1} Mbit/s, {:.1} %",
        standard.name(),
        100.0 * got / ideal
    );
    got >= 0.9 * ideal
}

#[test]
fn adapts_within_a_second() {
    let mut short = 0;
    for standard in [Standard::N, Standard::Ac, Standard::Ax] {
        for (from, to) in [(30.0, 20.0), (20.0, 30.0), (18.0, 8.0), (8.0, 18.0)] {
            short += u32::from(!after_change(standard, 1, from, to, 5));
        }
    }
    assert_eq!(short, 0, "below 90 %");
}

#[test]
fn adapts_within_a_second_under_contention() {
    let mut short = 0;
    for standard in [Standard::N, Standard::Ac] {
        for (from, to) in [(30.0, 20.0), (20.0, 30.0)] {
            short += u32::from(!after_change(standard, 5, from, to, 7));
        }
    }
    assert_eq!(short, 0, "below 90 %");
}

/// Goodput of a single station at every half decibel. The range starts where the slowest rate works
/// and ends where the fastest does. The goodput never decreases by more than 5 % with a stronger
/// signal, with ideal and probing rate control. Probing costs at most 10 %, in the mean of three runs
/// where the first one costs more.
fn stronger_is_not_slower(standard: Standard, seconds: i64, half_decibels: std::ops::RangeInclusive<i32>) {
    let (mut best, mut best_ideal): (f64, f64) = (0.0, 0.0);
    let mut faults = Vec::new();
    for half_db in half_decibels {
        let snr_db = f64::from(half_db) / 2.0;
        let measure = |rate: RateChoice, seed| steady_for(seconds, standard, 1, snr_db, rate, seed);
        let ideal = measure(RateChoice::Ideal, 1);
        let mut got = measure(RateChoice::Minstrel(MINSTREL), 1);
        if got < 0.9 * ideal {
            // Where the slowest rate loses half of the MPDUs, one run differs by more than the limit.
            let more = (2..=3).map(|seed| measure(RateChoice::Minstrel(MINSTREL), seed));
            got = (got + more.sum::<f64>()) / 3.0;
        }
        println!("{} {snr_db} dB: {got:.2} of {ideal:.2} Mbit/s", standard.name());
        if got < 0.95 * best || ideal < 0.95 * best_ideal || got < 0.9 * ideal {
            faults.push((snr_db, got, ideal));
        }
        (best, best_ideal) = (best.max(got), best_ideal.max(ideal));
    }
    assert_eq!(faults, []);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn stronger_is_not_slower_without_aggregation() {
    stronger_is_not_slower(Standard::A, 5, 6..=60);
    stronger_is_not_slower(Standard::B, 5, -6..=30);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn stronger_is_not_slower_with_ht() {
    stronger_is_not_slower(Standard::N, 2, 0..=80);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn stronger_is_not_slower_with_vht() {
    stronger_is_not_slower(Standard::Ac, 2, 0..=90);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn stronger_is_not_slower_with_he() {
    stronger_is_not_slower(Standard::Ax, 2, 0..=96);
}

#[test]
#[cfg_attr(not(feature = "all-tests"), ignore = "takes many seconds: scripts/test runs it")]
fn stronger_is_not_slower_with_eht() {
    stronger_is_not_slower(Standard::Be, 2, 0..=104);
}
