//! One link, and stations of different priorities, against published figures: HT, 1472 bytes of UDP in packets of 1500.

mod util;

use netburn_medium::aggregation::Limits;
use netburn_medium::config::{Guard, HardwareQueue, Width};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::phy::{Modulation, TxVector, ofdm};
use netburn_units::Duration;
use util::{Uplink, goodput, ht20};

/// Background, best effort, video, voice.
const TIDS: [u8; 4] = [1, 0, 5, 6];
const NAMES: [&str; 4] = ["BK", "BE", "VI", "VO"];

fn compare(what: &str, got: f64, expected: f64, within: f64) -> bool {
    let off = got / expected - 1.0;
    let ok = off.abs() <= within;
    println!(
        "{what}: {got:.2}, expected {expected:.2}, {:+.2} %{}",
        off * 100.0,
        if ok { "" } else { "  <<<" }
    );
    ok
}

fn aggregate(bytes: u64, amsdu: u32) -> Limits {
    Limits {
        ampdu: bytes > 0,
        frames: 64,
        time: Limits::PPDU,
        bytes,
        amsdu,
        tries: 7,
    }
}

fn with_txop(micros: u64) -> [EdcaParameters; 4] {
    Uplink::default().edca.map(|parameters| EdcaParameters {
        txop: Duration::from_micros(micros),
        ..parameters
    })
}

/// Closed form: 1472 · 8 · n over PPDU, SIFS, answer, AIFS and the mean backoff. With a TXOP limit: ns-3.44, whose hardware, like this one, puts frames
/// together when they are sent, so that a shorter A-MSDU fills the end of a TXOP. ns-3 also reserves the medium for the whole TXOP and gives the rest
/// back by CF-End (clause 10.23.2.9: it may), which costs 16 + 52 µs where they fit. Here each frame reserves as far as its answer, and the next is
/// heard: without aggregation 12 · 11 776 / (3440 + 110.5) in place of … + 68, which is 2 % more; with A-MSDUs likewise.
#[test]
fn aggregation() {
    let mut ok = true;
    for (what, limits, closed, txop) in [
        ("A-MPDU 65 535", aggregate(65_535, 0), 59.75, 58.37),
        ("none", aggregate(0, 0), 30.79, 38.93),
        ("A-MSDU 7935", aggregate(0, 7_935), 51.90, 52.54),
        ("A-MPDU 32 k, A-MSDU 3839", aggregate(32_768, 3_839), 59.08, 58.48),
    ] {
        let got = goodput(
            &mut Uplink {
                limits,
                ..Uplink::default()
            }
            .open(),
            &[0],
            5,
        )[0];
        ok &= compare(what, got, closed, 0.01);
        let uplink = Uplink {
            limits,
            hardware: HardwareQueue::Frames(256),
            edca: with_txop(3_520),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &[0], 5)[0];
        ok &= compare(&format!("{what}, TXOP 3520 µs"), got, txop, 0.03);
    }
    assert!(ok);
}

/// 802.11a at 54 Mbit/s without aggregation.
#[test]
fn txop_of_802_11a() {
    let mut ok = true;
    for (tid, txop, expected) in [(0, 0, 28.87), (0, 4_096, 36.82), (5, 4_096, 37.20), (5, 0, 32.49)] {
        let uplink = Uplink {
            vector: TxVector {
                modulation: Modulation::Ofdm(ofdm::Rate::M54),
                ..ht20(0, 1, Guard::Ns800)
            },
            edca: with_txop(txop),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &[tid], 5)[0];
        ok &= compare(&format!("TID {tid}, TXOP {txop} µs"), got, expected, 0.03);
    }
    assert!(ok);
}

/// ns-3.44, one link, A-MPDUs of up to 65 535 bytes (HT) and 64 frames. Where a whole window of 64 goes out in each PPDU, an exchange takes the
/// source 105 to 120 µs longer than its frames and spaces last: as long as one more AIFS and mean backoff (110.5 µs), which is undone here.
#[test]
fn one_link() {
    let ht = |width, mcs, guard| TxVector {
        width,
        ..ht20(mcs, 1, guard)
    };
    let vht = |width, mcs, guard| TxVector {
        modulation: Modulation::Vht { mcs },
        ..ht(width, 0, guard)
    };
    let (long, short) = (Guard::Ns800, Guard::Ns400);
    let mut ok = true;
    for (vector, bytes, expected) in [
        (ht(Width::Mhz20, 0, long), 65_535, 5.82),
        (ht(Width::Mhz20, 0, short), 65_535, 6.57),
        (ht(Width::Mhz20, 1, long), 65_535, 11.84),
        (ht(Width::Mhz20, 2, long), 65_535, 17.81),
        (ht(Width::Mhz20, 3, short), 65_535, 26.45),
        (ht(Width::Mhz20, 4, long), 65_535, 35.76),
        (ht(Width::Mhz20, 5, long), 65_535, 47.65),
        (ht(Width::Mhz20, 6, long), 65_535, 53.63),
        (ht(Width::Mhz20, 7, long), 65_535, 59.58),
        (ht(Width::Mhz20, 7, short), 65_535, 66.22),
        (ht(Width::Mhz40, 0, long), 65_535, 12.22),
        (ht(Width::Mhz40, 4, long), 65_535, 74.27),
        (ht(Width::Mhz40, 7, long), 65_535, 122.18),
        (ht(Width::Mhz40, 7, short), 65_535, 135.04),
        (vht(Width::Mhz20, 8, long), 1_048_575, 71.4),
        (vht(Width::Mhz40, 9, long), 1_048_575, 160.0),
        (vht(Width::Mhz80, 0, long), 1_048_575, 26.5),
        (vht(Width::Mhz80, 4, short), 1_048_575, 172.4),
        (vht(Width::Mhz80, 7, long), 1_048_575, 250.2),
        (vht(Width::Mhz80, 9, long), 1_048_575, 323.1),
        (vht(Width::Mhz80, 9, short), 1_048_575, 354.1),
    ] {
        let uplink = Uplink {
            vector,
            limits: aggregate(bytes, 0),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &[0], 5)[0];
        let window = 64.0 * 1_472.0 * 8.0;
        let fills_window = 64 * 1_544 * 8 * 1_000_000 / vector.rate().unwrap().as_bps() < 5_400;
        let expected = match fills_window && bytes > 65_535 {
            true => window / (window / expected - 110.5),
            false => expected,
        };
        ok &= compare(
            &format!("{:?} {:?} {:?}", vector.modulation, vector.width, vector.guard),
            got,
            expected,
            0.03,
        );
    }
    assert!(ok);
}

/// One station per category, without aggregation or TXOP. What a starved category gets hangs on few successes, and on how much later than those who
/// collided the others begin to count (EIFS against the end of the ACK time-out: 15 µs): over 30 seeds of 20 s, best effort beside voice gets 0.98
/// (standard deviation 0.055), beside video and voice 0.67, beside all 0.68; the source has one seed of 20 s and 0.87, 0.49 and 0.38. Below
/// 1 Mbit/s only the kind is compared: less than 0.4 apart.
#[test]
fn categories() {
    let mut ok = true;
    for (stations, expected) in [
        (vec![0], vec![28.05]),
        (vec![1], vec![30.65]),
        (vec![2], vec![34.79]),
        (vec![3], vec![36.79]),
        (vec![1, 3], vec![0.87, 35.04]),
        (vec![1, 2], vec![6.48, 26.83]),
        (vec![0, 1], vec![8.64, 22.10]),
        (vec![1, 2, 3], vec![0.49, 8.17, 22.92]),
        (vec![0, 1, 2, 3], vec![0.003, 0.38, 8.22, 23.00]),
    ] {
        let tids: Vec<u8> = stations.iter().map(|category| TIDS[*category]).collect();
        let uplink = Uplink {
            stations: tids.len(),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &tids, 40);
        let names: Vec<&str> = stations.iter().map(|category| NAMES[*category]).collect();
        for ((name, got), expected) in names.iter().zip(got).zip(expected) {
            let what = format!("{name} of {}", names.join("+"));
            ok &= compare(&what, got, expected, 0.05) || expected < 1.0 && (got - expected).abs() < 0.4;
        }
    }
    assert!(ok);
}
