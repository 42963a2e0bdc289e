//! Airtime of one A-MPDU of six packets of 1500 bytes by MCS: 20 MHz, one stream, a guard interval of 800 ns.

use netburn_medium::aggregation::mpdu::{in_aggregate, last_in_aggregate};
use netburn_medium::aggregation::{Framing, Sending};
use netburn_medium::config::{Guard, Width};
use netburn_medium::phy::{Modulation, TxVector};
use netburn_units::Duration;

/// Preamble, symbols of data, packet extension, and BlockAck, in µs. HT MCS 7 is computed by hand:
///
/// - An MPDU has 26 + 8 + 1500 + 4 = 1538 bytes. In an A-MPDU each has a delimiter of 4 bytes, and all but the last are
///   padded to a multiple of 4: 5 · 1544 + 1542 = 9262 bytes (IEEE 802.11-2020, 9.7.1).
/// - 65 Mbit/s are 260 bits in a symbol of 4 µs. 16 bits of service, 6 of tail and 8 · 9262 of data are 286 symbols
///   (19.4.3): 1144 µs after a preamble of 36 µs.
/// - The BlockAck of 32 bytes at 24 Mbit/s takes 20 + 4 · ⌈(22 + 8 · 32) / 96⌉ = 32 µs (17.4.3).
///
/// The rate of MCS 0 is a tenth of that of MCS 7: 26 bits in a symbol, 2851 symbols, 11 404 µs. Its BlockAck is sent at
/// 6 Mbit/s: 20 + 4 · ⌈(22 + 256) / 24⌉ = 68 µs. (A sender splits such an aggregate, because a PPDU lasts at most 5484 µs.)
///
/// MCS 1 and 2 have a BlockAck at 12 Mbit/s: 20 + 4 · ⌈278 / 48⌉ = 44 µs. It is the highest mandatory rate that is not
/// faster than the PPDU (10.6.6.5.2).
///
/// HE MCS 7: 234 subcarriers with 5 bits each are 1170 bits in a symbol of 13.6 µs. The same bits are 64 symbols, 870.4 µs.
///
/// EHT-SIG has 52 bits, in symbols of 4 µs with 26 bits at MCS 0 and 52 bits above. So the preamble of MCS 0 is 4 µs
/// longer: L-STF, L-LTF, L-SIG, RL-SIG, U-SIG and EHT-STF take 36 µs, EHT-SIG 8 or 4, and the EHT-LTF 7.2.
///
/// There is no extension: the signal extension exists in 2.4 GHz only, and the packet extension of HE and EHT is 0.
const EXPECTED: &str = "\
HT 0: 36 + 11404 + 0, BlockAck 68
HT 1: 36 + 5704 + 0, BlockAck 44
HT 2: 36 + 3804 + 0, BlockAck 44
HT 3: 36 + 2852 + 0, BlockAck 32
HT 4: 36 + 1904 + 0, BlockAck 32
HT 5: 36 + 1428 + 0, BlockAck 32
HT 6: 36 + 1268 + 0, BlockAck 32
HT 7: 36 + 1144 + 0, BlockAck 32
VHT 0: 40 + 11404 + 0, BlockAck 68
VHT 1: 40 + 5704 + 0, BlockAck 44
VHT 2: 40 + 3804 + 0, BlockAck 44
VHT 3: 40 + 2852 + 0, BlockAck 32
VHT 4: 40 + 1904 + 0, BlockAck 32
VHT 5: 40 + 1428 + 0, BlockAck 32
VHT 6: 40 + 1268 + 0, BlockAck 32
VHT 7: 40 + 1144 + 0, BlockAck 32
VHT 8: 40 + 952 + 0, BlockAck 32
HE 0: 43.2 + 8622.4 + 0, BlockAck 68
HE 1: 43.2 + 4311.2 + 0, BlockAck 44
HE 2: 43.2 + 2883.2 + 0, BlockAck 44
HE 3: 43.2 + 2162.4 + 0, BlockAck 32
HE 4: 43.2 + 1441.6 + 0, BlockAck 32
HE 5: 43.2 + 1088 + 0, BlockAck 32
HE 6: 43.2 + 965.6 + 0, BlockAck 32
HE 7: 43.2 + 870.4 + 0, BlockAck 32
HE 8: 43.2 + 720.8 + 0, BlockAck 32
HE 9: 43.2 + 652.8 + 0, BlockAck 32
HE 10: 43.2 + 584.8 + 0, BlockAck 32
HE 11: 43.2 + 530.4 + 0, BlockAck 32
EHT 0: 51.2 + 8622.4 + 0, BlockAck 68
EHT 1: 47.2 + 4311.2 + 0, BlockAck 44
EHT 2: 47.2 + 2883.2 + 0, BlockAck 44
EHT 3: 47.2 + 2162.4 + 0, BlockAck 32
EHT 4: 47.2 + 1441.6 + 0, BlockAck 32
EHT 5: 47.2 + 1088 + 0, BlockAck 32
EHT 6: 47.2 + 965.6 + 0, BlockAck 32
EHT 7: 47.2 + 870.4 + 0, BlockAck 32
EHT 8: 47.2 + 720.8 + 0, BlockAck 32
EHT 9: 47.2 + 652.8 + 0, BlockAck 32
EHT 10: 47.2 + 584.8 + 0, BlockAck 32
EHT 11: 47.2 + 530.4 + 0, BlockAck 32
EHT 12: 47.2 + 489.6 + 0, BlockAck 32
EHT 13: 47.2 + 435.2 + 0, BlockAck 32
";

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

#[test]
fn an_aggregate_of_six_packets_by_mcs() {
    let mpdu = Framing::QOS.mpdu(1500);
    assert_eq!(mpdu, 1538);
    let length = 5 * in_aggregate(mpdu) + last_in_aggregate(mpdu);
    assert_eq!(length, 9262);
    let mut table = String::new();
    let mut row = |name: &str, mcs: u8, modulation, guard| {
        let vector = TxVector {
            modulation,
            width: Width::Mhz20,
            guard,
            streams: 1,
            signal_extension: false,
            short_preamble: false,
        };
        let time = vector.ppdu(length).unwrap();
        let response = Sending::new(&vector, 64, 1).unwrap().response(6);
        table += &format!(
            "{name} {mcs}: {} + {} + {}, BlockAck {}\n",
            micros(time.preamble),
            micros(time.data),
            micros(time.extension),
            micros(response)
        );
    };
    for mcs in 0..8 {
        row("HT", mcs, Modulation::Ht { mcs }, Guard::Ns800);
    }
    for mcs in 0..9 {
        row("VHT", mcs, Modulation::Vht { mcs }, Guard::Ns800);
    }
    for mcs in 0..12 {
        row("HE", mcs, Modulation::He { mcs }, Guard::Ns800);
    }
    for mcs in 0..14 {
        row("EHT", mcs, Modulation::Eht { mcs }, Guard::Ns800);
    }
    assert!(table == EXPECTED, "{table}");
}
