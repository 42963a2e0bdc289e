//! One link, and stations with different priorities, compared with published values: HT, 1472 bytes
//! of UDP in packets of 1500.

mod util;

use netburn_medium::aggregation::Limits;
use netburn_medium::air::ChannelConfig;
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
        window: 64,
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

/// Closed form: 1472 · 8 · n over PPDU, SIFS, response, AIFS and the mean backoff. The values with
/// a TXOP limit are from ns-3.44. Its hardware builds frames at transmission, as here, so a shorter
/// A-MSDU fills the end of a TXOP. ns-3 also reserves the medium for the whole TXOP and releases
/// the rest by CF-End (clause 10.23.2.9 permits it). This costs 16 + 52 µs where they fit. Here
/// each frame reserves the medium up to its response. Without aggregation the result is 12 · 11 776
/// / (3440 + 110.5) instead of … + 68, which is 2 % more; with A-MSDUs likewise.
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

/// ns-3.44, one link, A-MPDUs of up to 65 535 bytes, which is its default for VHT too: 42 MPDUs, as
/// its captures show. The remaining 0.2 to 0.5 % are its beacons and, for VHT, VHT-SIG-B and the
/// rounding of the short guard interval, which it leaves out.
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
        (vht(Width::Mhz20, 8, long), 65_535, 71.4),
        (vht(Width::Mhz40, 9, long), 65_535, 160.0),
        (vht(Width::Mhz80, 0, long), 65_535, 26.5),
        (vht(Width::Mhz80, 4, short), 65_535, 172.4),
        (vht(Width::Mhz80, 7, long), 65_535, 250.2),
        (vht(Width::Mhz80, 9, long), 65_535, 323.1),
        (vht(Width::Mhz80, 9, short), 65_535, 354.1),
    ] {
        let uplink = Uplink {
            vector,
            limits: aggregate(bytes, 0),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &[0], 5)[0];
        ok &= compare(
            &format!("{:?} {:?} {:?}", vector.modulation, vector.width, vector.guard),
            got,
            expected,
            0.03,
        );
    }
    assert!(ok);
}

/// One station per category, without aggregation or TXOP. The lowest category gets the time after
/// collisions. By the source's captures, participants in a collision count again 79 µs after it and
/// their backoff, as here. A station that only heard the collision starts to receive one of the two
/// frames if that frame is stronger. Then the station waits for EIFS (103 µs for best effort, 94
/// for video). Otherwise it waits for AIFS (34 µs) from the end of the collision. So the result
/// depends on the positions, which are unknown for this set. Best effort beside video and voice
/// gets 0.49 there. In ns-3 runs it gets 0.53 with stations 1, 2 and 3 m from the access point, and
/// 2.5 with all at 5 m ([`categories_at_equal_distance`]). Here it gets 0.47: every station that
/// can't decode a frame waits for EIFS. The result also depends on the seed. All four on a circle
/// of 5 m, three seeds of 20 s: 0.37, 0.52, 0.53. Best effort beside voice alone, four seeds: 0.82
/// to 1.02; here 0.99 over 40 runs of 20 s with a standard deviation of 0.06. Below 1 Mbit/s the
/// tolerance is absolute: less than 0.25 apart.
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
            ok &= compare(&what, got, expected, 0.05) || expected < 1.0 && (got - expected).abs() < 0.25;
        }
    }
    assert!(ok);
}

/// The same with all stations 5 m from the access point: ns-3.44, mean of three seeds of 20 s. No
/// station starts to receive one of two equally strong frames, so no station waits for EIFS.
#[test]
fn categories_at_equal_distance() {
    let mut ok = true;
    let channel = ChannelConfig {
        eifs: None,
        ..ChannelConfig::ofdm()
    };
    for (stations, expected) in [(vec![1, 2, 3], vec![2.541, 8.322, 20.718])] {
        let tids: Vec<u8> = stations.iter().map(|category| TIDS[*category]).collect();
        let uplink = Uplink {
            stations: tids.len(),
            channel: channel.clone(),
            ..Uplink::default()
        };
        let got = goodput(&mut uplink.open(), &tids, 60);
        for ((station, got), expected) in stations.iter().zip(got).zip(expected) {
            ok &= compare(NAMES[*station], got, expected, 0.05);
        }
    }
    assert!(ok);
}
