//! PPDU durations compared with published vectors: one stream, long DSSS preamble. The source is
//! ns-3's `tx-duration-test`. Its values are those of the standard with three exceptions. Each is
//! named where the test compensates for it.

use netburn_medium::phy::{Guard, Modulation, PpduTime, TxVector, Width, dsss, ofdm};

fn vector(modulation: Modulation, width: Width, guard: Guard) -> TxVector {
    TxVector {
        modulation,
        width,
        guard,
        streams: 1,
        signal_extension: false,
        short_preamble: false,
    }
}

fn time(modulation: Modulation, width: Width, guard: Guard, bytes: u64) -> PpduTime {
    vector(modulation, width, guard).ppdu(bytes).unwrap()
}

#[test]
fn dsss_and_ofdm() {
    let dsss = |rate, bytes| {
        time(Modulation::Dsss(rate), Width::Mhz20, Guard::Ns800, bytes)
            .total()
            .as_nanos()
    };
    assert_eq!(dsss(dsss::Rate::M11, 14), 203_000);
    assert_eq!(dsss(dsss::Rate::M11, 76), 248_000);
    assert_eq!(dsss(dsss::Rate::M11, 1536), 1_310_000);
    assert_eq!(dsss(dsss::Rate::M1, 14), 304_000);
    let ofdm = |bytes| {
        time(Modulation::Ofdm(ofdm::Rate::M54), Width::Mhz20, Guard::Ns800, bytes)
            .total()
            .as_nanos()
    };
    assert_eq!((ofdm(14), ofdm(76), ofdm(1536)), (24_000, 32_000, 248_000));
    let mut g = vector(Modulation::Ofdm(ofdm::Rate::M54), Width::Mhz20, Guard::Ns800);
    g.signal_extension = true;
    assert_eq!(g.ppdu(1536).unwrap().total().as_nanos(), 254_000);
}

/// The source doesn't round a short guard interval's symbols up to whole 4 µs (eq. 19-91):
/// compensated here.
#[test]
fn ht() {
    let ht = |mcs, width, guard, bytes| {
        let time = time(Modulation::Ht { mcs }, width, guard, bytes);
        (time.total() - time.rounding).as_nanos()
    };
    assert_eq!(ht(7, Width::Mhz20, Guard::Ns800, 14), 40_000);
    assert_eq!(ht(7, Width::Mhz20, Guard::Ns800, 76), 48_000);
    assert_eq!(ht(7, Width::Mhz20, Guard::Ns800, 1536), 228_000);
    assert_eq!(ht(0, Width::Mhz20, Guard::Ns400, 1536), 1_742_400);
    assert_eq!(ht(7, Width::Mhz40, Guard::Ns800, 1536), 128_000);
    assert_eq!(ht(7, Width::Mhz40, Guard::Ns400, 1536), 118_800);
    // 1706.4 µs of symbols last until 1708.
    let rounded = time(Modulation::Ht { mcs: 0 }, Width::Mhz20, Guard::Ns400, 1536);
    assert_eq!(rounded.total().as_nanos(), 1_744_000);
}

/// The source leaves out VHT-SIG-B for a single user as well: compensated here.
#[test]
fn vht() {
    let vht = |mcs, width, guard| {
        let time = time(Modulation::Vht { mcs }, width, guard, 1536);
        (time.total() - time.rounding - time.second_signal).as_nanos()
    };
    assert_eq!(vht(8, Width::Mhz20, Guard::Ns800), 196_000);
    assert_eq!(vht(0, Width::Mhz80, Guard::Ns800), 460_000);
    assert_eq!(vht(9, Width::Mhz80, Guard::Ns800), 68_000);
    assert_eq!(vht(9, Width::Mhz80, Guard::Ns400), 64_800);
    assert_eq!(vht(8, Width::Mhz160, Guard::Ns800), 56_000);
}

/// The source counts every LTF as 8 µs, for every type and guard interval: substituted here.
fn with_source_training(time: PpduTime) -> u64 {
    (time.total() - time.training).as_nanos() + 8_000
}

#[test]
fn he() {
    let he = |mcs, width, guard, bytes| with_source_training(time(Modulation::He { mcs }, width, guard, bytes));
    assert_eq!(he(0, Width::Mhz20, Guard::Ns800, 14), 71_200);
    assert_eq!(he(0, Width::Mhz20, Guard::Ns800, 76), 125_600);
    assert_eq!(he(0, Width::Mhz20, Guard::Ns800, 1536), 1_485_600);
    assert_eq!(he(0, Width::Mhz80, Guard::Ns800, 1536), 397_600);
    assert_eq!(he(11, Width::Mhz20, Guard::Ns800, 1536), 139_200);
    assert_eq!(he(11, Width::Mhz80, Guard::Ns800, 1536), 71_200);
    assert_eq!(he(0, Width::Mhz20, Guard::Ns3200, 1536), 1_740_000);
    // 2x LTF: 6.4 µs and the guard interval.
    assert_eq!(
        time(Modulation::He { mcs: 0 }, Width::Mhz20, Guard::Ns800, 14)
            .total()
            .as_nanos(),
        70_400
    );
}

/// The source also sizes EHT-SIG as HE-SIG-B: 49 bits in 20 MHz, 58 in 80 MHz, 106 in 320 MHz. Its
/// symbols have 26 bits at MCS 0 and 104 at the higher ones. The standard has 52 bits to one user
/// in any width (clause 36.3.12.8).
#[test]
fn eht() {
    let eht = |mcs, width, source_sig_micros: u64| {
        let time = time(Modulation::Eht { mcs }, width, Guard::Ns800, 1536);
        with_source_training(time) - time.second_signal.as_nanos() + source_sig_micros * 1_000
    };
    assert_eq!(eht(0, Width::Mhz20, 8), 1_493_600);
    assert_eq!(eht(0, Width::Mhz80, 12), 409_600);
    assert_eq!(eht(0, Width::Mhz320, 20), 159_200);
    assert_eq!(eht(13, Width::Mhz20, 4), 129_600);
    assert_eq!(eht(13, Width::Mhz80, 4), 75_200);
    assert_eq!(eht(13, Width::Mhz160, 4), 61_600);
}

/// Half- and quarter-clocked operation: everything lasts two or four times as long (802.11-2020
/// clause 17.3.2.4).
#[test]
fn a_slower_clock_stretches_everything() {
    for modulation in [
        Modulation::Ofdm(ofdm::Rate::M54),
        Modulation::Ht { mcs: 7 },
        Modulation::Vht { mcs: 0 },
        Modulation::He { mcs: 0 },
        Modulation::Eht { mcs: 0 },
    ] {
        for signal_extension in [false, true] {
            let vector = TxVector {
                signal_extension,
                ..vector(modulation, Width::Mhz20, Guard::Ns800)
            };
            let format = vector.format().unwrap();
            for times in [1, 2, 4] {
                let slow = format.slower(times);
                assert_eq!(slow.duration(1_536), format.duration(1_536) * times);
                assert_eq!(slow.training, format.training * times);
                assert_eq!(slow.second_signal, format.second_signal * times);
                assert_eq!(slow.rate.as_bps(), format.rate.as_bps() / times);
            }
        }
    }
}

/// Preambles of several streams, from the fields of figures 19-1, 21-4, 27-8 and 36-29. Each starts
/// with L-STF 8 µs, L-LTF 8, L-SIG 4. Then:
///
/// - HT: HT-SIG 8, HT-STF 4
/// - VHT: VHT-SIG-A 8, VHT-STF 4, VHT-SIG-B 4
/// - HE: RL-SIG 4, HE-SIG-A 8, HE-STF 4
/// - EHT: RL-SIG 4, U-SIG 8, EHT-SIG 8 (MCS 0) or 4, EHT-STF 4
///
/// Table 21-13 has the number of long training fields. Each takes 4 µs or, in HE and EHT, 6.4 or
/// 12.8 and the guard interval. The bits in a symbol of one stream are those of the standard's rate
/// tables.
#[test]
fn several_streams() {
    let fields = [1, 2, 4, 4, 6, 6, 8, 8];
    for (streams, count) in (1_u8..).zip(fields) {
        let of = |modulation, guard| TxVector {
            streams,
            ..vector(modulation, Width::Mhz20, guard)
        };
        for (modulation, guard, before, each, bits, most) in [
            (Modulation::Ht { mcs: 0 }, Guard::Ns800, 32_000, 4_000, 26, 4),
            (Modulation::Vht { mcs: 0 }, Guard::Ns800, 36_000, 4_000, 26, 8),
            (Modulation::He { mcs: 0 }, Guard::Ns800, 36_000, 7_200, 117, 8),
            (Modulation::He { mcs: 0 }, Guard::Ns1600, 36_000, 8_000, 117, 8),
            (Modulation::He { mcs: 0 }, Guard::Ns3200, 36_000, 16_000, 117, 8),
            (Modulation::Eht { mcs: 0 }, Guard::Ns800, 44_000, 7_200, 117, 8),
            (Modulation::Eht { mcs: 1 }, Guard::Ns800, 40_000, 7_200, 234, 8),
        ] {
            let vector = of(modulation, guard);
            if streams > most {
                assert!(vector.ppdu(1_000).is_err(), "{vector:?}");
                continue;
            }
            let time = vector.ppdu(1_000).unwrap();
            assert_eq!(time.training.as_nanos(), count * each, "{vector:?}");
            assert_eq!(time.preamble.as_nanos(), before + count * each, "{vector:?}");
            // 16 bits of service before 8000, and at most 6 of tail after them.
            let in_a_symbol = bits * u64::from(streams);
            let symbols = (16 + 8_000_u64).div_ceil(in_a_symbol)..=(16 + 8_000_u64 + 6).div_ceil(in_a_symbol);
            assert!(
                symbols.contains(&time.symbols),
                "{vector:?} {} {symbols:?}",
                time.symbols
            );
        }
    }
}

/// Data rates of one stream in the standard's tables, in units of 0.1 Mbit/s.
#[test]
fn rates() {
    let tenths =
        |modulation, width, guard| (vector(modulation, width, guard).rate().unwrap().as_bps() + 50_000) / 100_000;
    let ht: Vec<u64> = (0..8)
        .map(|mcs| tenths(Modulation::Ht { mcs }, Width::Mhz20, Guard::Ns800))
        .collect();
    assert_eq!(ht, [65, 130, 195, 260, 390, 520, 585, 650]);
    assert_eq!(tenths(Modulation::Ht { mcs: 0 }, Width::Mhz20, Guard::Ns400), 72);
    assert_eq!(tenths(Modulation::Ht { mcs: 7 }, Width::Mhz20, Guard::Ns400), 722);
    assert_eq!(tenths(Modulation::Vht { mcs: 9 }, Width::Mhz80, Guard::Ns400), 4_333);
    assert_eq!(tenths(Modulation::Vht { mcs: 9 }, Width::Mhz160, Guard::Ns400), 8_667);
    assert_eq!(tenths(Modulation::He { mcs: 0 }, Width::Mhz20, Guard::Ns800), 86);
    assert_eq!(tenths(Modulation::He { mcs: 11 }, Width::Mhz20, Guard::Ns800), 1_434);
    assert_eq!(tenths(Modulation::He { mcs: 11 }, Width::Mhz80, Guard::Ns800), 6_005);
    assert_eq!(tenths(Modulation::He { mcs: 11 }, Width::Mhz160, Guard::Ns800), 12_010);
    assert_eq!(tenths(Modulation::Eht { mcs: 13 }, Width::Mhz160, Guard::Ns800), 14_412);
    assert_eq!(tenths(Modulation::Eht { mcs: 13 }, Width::Mhz320, Guard::Ns800), 28_824);
}

#[test]
fn mcs_missing_in_the_standard() {
    let vht = |mcs, width, streams| {
        let mut vector = vector(Modulation::Vht { mcs }, width, Guard::Ns800);
        vector.streams = streams;
        vector.rate().map_err(|error| error.to_string())
    };
    assert_eq!(
        vht(9, Width::Mhz20, 2).unwrap_err(),
        "invalid MCS 9 for 2 stream(s) in 20 MHz; expected 0 to 8"
    );
    assert!(vht(9, Width::Mhz20, 3).is_ok());
    assert_eq!(
        vht(6, Width::Mhz80, 3).unwrap_err(),
        "invalid MCS 6 for 3 stream(s) in 80 MHz; expected 0 to 9 but not 6"
    );
    assert!(vht(10, Width::Mhz80, 1).is_err());
    assert!(vht(0, Width::Mhz320, 1).is_err());
    assert!(vht(0, Width::Mhz80, 9).is_err());
    assert!(
        vector(Modulation::He { mcs: 0 }, Width::Mhz20, Guard::Ns400)
            .rate()
            .is_err()
    );
}
