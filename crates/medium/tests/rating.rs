//! Ratings, compared with known products.

use netburn_medium::config::{Band, Rating};
use netburn_medium::rating::{Antennas, Certainty, Decoded, chain, decode};

fn read(rating: &str, nodes: u32) -> Decoded {
    decode(rating.parse::<Rating>().unwrap(), nodes).unwrap()
}

fn streams(decoded: &Decoded) -> Vec<(Band, u8)> {
    decoded
        .best
        .radios
        .iter()
        .map(|radio| (radio.band, radio.streams))
        .collect()
}

/// Mbit/s per radio, rounded.
fn rates(decoded: &Decoded) -> Vec<u64> {
    decoded
        .best
        .radios
        .iter()
        .map(|radio| (radio.rate().as_bps() + 500_000) / 1_000_000)
        .collect()
}

const G2: Band = Band::Ghz2_4;
const G5: Band = Band::Ghz5;
const G6: Band = Band::Ghz6;

/// 2x2:2 dual band; 3x3:3 dual band; 4x4:4 dual band; from AC3200 on two radios in 5 GHz.
#[test]
fn the_table_for_802_11ac() {
    for (rating, each, radios) in [
        ("AC1200", 2, 1),
        ("AC1350", 2, 1),
        ("AC1750", 3, 1),
        ("AC1900", 3, 1),
        ("AC2300", 3, 1),
        ("AC2600", 4, 1),
    ] {
        let mut expected = vec![(G2, each)];
        expected.extend(std::iter::repeat_n((G5, each), radios));
        assert_eq!(streams(&read(rating, 1)), expected, "{rating}");
    }
    for rating in ["AC3200", "AC4000", "AC5300", "AC5400"] {
        let decoded = read(rating, 1);
        let five = decoded.best.radios.iter().filter(|radio| radio.band == G5).count();
        assert_eq!((decoded.best.radios.len(), five), (3, 2), "{rating}: {decoded:?}");
        assert_eq!(decoded.best.bands(), "tri-band");
    }
    assert_eq!(rates(&read("AC1200", 1)), [300, 867]);
    assert_eq!(rates(&read("AC1750", 1)), [450, 1_300]);
    assert_eq!(rates(&read("AC1900", 1)), [600, 1_300]);
    assert_eq!(rates(&read("AC2300", 1)), [600, 1_625]);
    assert_eq!(rates(&read("AC2600", 1)), [800, 1_733]);
    assert_eq!(rates(&read("AC3200", 1)), [600, 1_300, 1_300]);
    assert_eq!(rates(&read("AC4000", 1)), [750, 1_625, 1_625]);
    assert_eq!(rates(&read("AC5300", 1)), [1_000, 2_167, 2_167]);
    assert_eq!(read("AC1750", 1).certainty, Certainty::Likely);
    assert_eq!(read("AC1900", 1).certainty, Certainty::Likely);
}

#[test]
fn later_and_earlier_ones_by_their_own_arithmetic() {
    for (rating, radios, mbps) in [
        ("N150", vec![(G2, 1)], vec![150]),
        ("N300", vec![(G2, 2)], vec![300]),
        ("N450", vec![(G2, 3)], vec![450]),
        ("N600", vec![(G2, 2), (G5, 2)], vec![300, 300]),
        ("N900", vec![(G2, 3), (G5, 3)], vec![450, 450]),
        ("AX1800", vec![(G2, 2), (G5, 2)], vec![574, 1_201]),
        ("AX3000", vec![(G2, 2), (G5, 2)], vec![574, 2_402]),
        ("AX5400", vec![(G2, 2), (G5, 4)], vec![574, 4_804]),
        ("AX6000", vec![(G2, 4), (G5, 4)], vec![1_147, 4_804]),
        ("AX6600", vec![(G2, 2), (G5, 2), (G5, 4)], vec![574, 1_201, 4_804]),
        ("AX11000", vec![(G2, 4), (G5, 4), (G5, 4)], vec![1_147, 4_804, 4_804]),
        ("BE3600", vec![(G2, 2), (G5, 2)], vec![688, 2_882]),
        ("BE9300", vec![(G2, 2), (G5, 2), (G6, 2)], vec![688, 2_882, 5_765]),
        ("BE19000", vec![(G2, 4), (G5, 4), (G6, 4)], vec![1_376, 5_765, 11_529]),
    ] {
        let decoded = read(rating, 1);
        assert_eq!(
            (streams(&decoded), rates(&decoded)),
            (radios, mbps),
            "{rating}: {decoded:#?}"
        );
    }
}

/// Rates by data sheets: TP-Link Archer AXE75 and AXE95, Linksys Hydra 6E, ASUS GT-AXE11000 and GT-AXE16000, ASUS RT-AXE7800.
#[test]
fn wi_fi_6e_by_data_sheets() {
    for (rating, radios, mbps) in [
        ("AXE4200", vec![(G2, 2), (G5, 2), (G6, 2)], vec![574, 1_201, 2_402]),
        ("AXE5400", vec![(G2, 2), (G5, 2), (G6, 2)], vec![574, 2_402, 2_402]),
        ("AXE6600", vec![(G2, 2), (G5, 2), (G6, 4)], vec![574, 1_201, 4_804]),
        ("AXE7800", vec![(G2, 2), (G5, 4), (G6, 2)], vec![574, 4_804, 2_402]),
        ("AXE11000", vec![(G2, 4), (G5, 4), (G6, 4)], vec![1_147, 4_804, 4_804]),
        (
            "AXE16000",
            vec![(G2, 4), (G5, 4), (G5, 4), (G6, 4)],
            vec![1_147, 4_804, 4_804, 4_804],
        ),
    ] {
        let decoded = read(rating, 1);
        assert_eq!(
            (streams(&decoded), rates(&decoded)),
            (radios, mbps),
            "{rating}: {decoded:#?}"
        );
    }
    let mesh = read("AXE16200", 3);
    assert_eq!(rates(&mesh), [574, 2_402, 2_402], "three nodes of AXE5400");
}

/// 240 MHz in the 5 GHz band by data sheets of TP-Link Deco BE85 (BE22000) and BE65 (BE11000): 4 streams are
/// 4 × 2940 × 12 bit × 5/6 each 13.6 µs = 8647 Mbit/s. A client uses 160 MHz of it.
#[test]
fn ratings_with_240_mhz() {
    for (rating, mbps) in [("BE22000", [1_376, 8_647, 11_529]), ("BE11000", [688, 4_324, 5_765])] {
        let decoded = read(rating, 1);
        assert_eq!(rates(&decoded), mbps, "{rating}: {decoded:#?}");
        let five = decoded.best.radios[1];
        assert_eq!(
            (five.rated_mhz, five.width.as_mhz(), five.settings().width.as_mhz()),
            (240, 160, 160)
        );
    }
}

/// A set of three AC1200 nodes.
#[test]
fn a_mesh_adds_up() {
    let decoded = read("AC3600", 3);
    assert_eq!(streams(&decoded), [(G2, 2), (G5, 2)]);
    assert_eq!(rates(&decoded), [300, 867]);
    assert_eq!(rates(&read("AX9000", 3)), rates(&read("AX3000", 1)));
}

#[test]
fn ratings_without_a_combination() {
    let error = decode("AC100".parse().unwrap(), 1).unwrap_err();
    assert!(error.to_string().contains("mesh"), "{error}");
    assert!(decode("AC1200".parse().unwrap(), 40).is_err());
}

/// AC1900 and a client with two streams: of 1300 Mbit/s in 5 GHz, 867 are common. Full aggregates
/// of 64 yield about 0.8 of 867: 64 · 12 000 bit / (44 + 4 · ⌈(64 · 1560 · 8 + …) / …⌉ …). Each of
/// four stations gets a quarter.
#[test]
fn the_chain() {
    let decoded = read("AC1900", 1);
    let client: Antennas = "2x2".parse().unwrap();
    let five = chain(&decoded.best.radios[1], &client, 4);
    assert_eq!((five.streams, five.phy.as_bps() / 1_000_000), (2, 866));
    // 64 MPDUs of 1560 bytes at 3120 bits a symbol of 3.6 µs take 257 symbols: 925.2 µs, rounded up to 928. 48 µs come
    // before them, 110.5 and 16 µs around them, then a BlockAck of 32 µs.
    let micros = 928.0 + 48.0 + 110.5 + 16.0 + 32.0;
    let expected = 64.0 * 12_000.0 / micros;
    assert!(
        (five.goodput.as_mbps_f64() / expected - 1.0).abs() < 0.005,
        "{five:?}, by hand {expected}"
    );
    assert_eq!(five.share.as_bps(), five.goodput.as_bps() / 4);
    // 600 Mbit/s in 2.4 GHz need 256-QAM, which 802.11n doesn't have.
    let two = chain(&decoded.best.radios[0], &client, 1);
    assert_eq!((two.rated.as_bps(), two.phy.as_bps()), (600_000_000, 300_000_000));
    assert!(decoded.best.radios[0].beyond_standard());
    assert!(two.goodput.as_mbps_f64() > 150.0);
    // One stream halves it.
    let phone = chain(&decoded.best.radios[1], &"1x1".parse().unwrap(), 1);
    assert_eq!(phone.phy.as_bps() / 1_000_000, 433);
}

/// The radios of a rating are valid in a scenario: band, standard, width and streams as decoded.
#[test]
fn a_rating_becomes_settings() {
    for rating in ["N300", "AC1200", "AC1900", "AX3000", "AXE5400", "BE19000", "BE22000"] {
        for radio in read(rating, 1).best.radios {
            let settings = radio.settings();
            assert_eq!(
                (settings.band, settings.standard, settings.width, settings.streams),
                (radio.band, radio.standard, radio.width, radio.streams),
                "{rating}"
            );
        }
    }
}
