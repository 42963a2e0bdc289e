//! Parsing and formatting of quantities.

use netburn_units::{BitRate, ByteSize, Dbm, Distance, Duration, Instant, Probability, QuantityError};
use proptest::prelude::*;
use std::fmt::{Debug, Display};
use std::str::FromStr;

fn error<Q: FromStr<Err = QuantityError> + Debug>(text: &str) -> String {
    text.parse::<Q>().expect_err(text).to_string()
}

#[test]
fn durations_are_parsed() {
    for (text, nanos) in [
        ("5min", 300_000_000_000),
        ("5 m", 300_000_000_000),
        ("1.5 s", 1_500_000_000),
        (".5s", 500_000_000),
        ("131 ms", 131_000_000),
        ("50us", 50_000),
        ("50 µs", 50_000),
        ("50 μs", 50_000),
        ("2 h", 7_200_000_000_000),
        ("7ns", 7),
        ("  0 s ", 0),
        ("-0 s", 0),
        ("+3\u{a0}s", 3_000_000_000),
        ("1_000 ms", 1_000_000_000),
        ("0.000000001 s", 1),
        ("1.500000000000000000000000000 s", 1_500_000_000),
        ("00000000000000000000000000001 s", 1_000_000_000),
        ("18446744073.709551615 s", u64::MAX),
    ] {
        assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)), "{text:?}");
    }
}

#[test]
fn other_quantities_are_parsed() {
    for (text, bits) in [
        ("25 Mbit/s", 25_000_000),
        ("1Gbit/s", 1_000_000_000),
        ("300kbps", 300_000),
        ("7.2 Mbps", 7_200_000),
        ("144.4 Mb/s", 144_400_000),
        ("9 bit/s", 9),
        ("18446744073709551615 bit/s", u64::MAX),
    ] {
        assert_eq!(text.parse(), Ok(BitRate::from_bps(bits)), "{text:?}");
    }
    for (text, bytes) in [
        ("128KiB", 131_072),
        ("1 GiB", 1 << 30),
        ("0.5 KiB", 512),
        ("2 TiB", 1 << 41),
        ("1.5 MB", 1_500_000),
        ("16 GB", 16_000_000_000),
        ("1 kB", 1_000),
        ("1 KB", 1_000),
        ("64 B", 64),
        ("64 bytes", 64),
    ] {
        assert_eq!(text.parse(), Ok(ByteSize::from_bytes(bytes)), "{text:?}");
    }
    for (text, hundredths) in [
        ("-62 dBm", -6_200),
        ("\u{2212}62dBm", -6_200),
        ("16.02dBm", 1_602),
        ("0 dBm", 0),
    ] {
        assert_eq!(text.parse(), Ok(Dbm::from_hundredths(hundredths)), "{text:?}");
    }
    for (text, parts) in [
        ("1 %", 10_000_000),
        ("0.1%", 1_000_000),
        ("50 ppm", 50_000),
        ("100 %", 1_000_000_000),
    ] {
        assert_eq!(text.parse(), Ok(Probability::from_ppb(parts).unwrap()), "{text:?}");
    }
    // The international foot is 304.8 mm, to the millimetre: 305, 6096, 30480.
    for (text, millimetres) in [
        ("6 m", 6_000),
        ("1.5km", 1_500_000),
        ("30 cm", 300),
        ("1 ft", 305),
        ("20 ft", 6_096),
        ("100 ft", 30_480),
    ] {
        assert_eq!(text.parse(), Ok(Distance::from_millimetres(millimetres)), "{text:?}");
    }
}

#[test]
fn invalid_segments_are_rejected() {
    for text in [
        "",
        " ",
        "s",
        "five s",
        "5",
        "5.",
        "5. s",
        ". s",
        "1.2.3 s",
        "1,5 s",
        "_5 s",
        "5_ s",
        "1__0 s",
        "1_.5 s",
        "1._5 s",
        "+-5 s",
        "--5 s",
        "- 5 s",
        "+ 5 s",
        "5 S",
        "5 sec s",
        "5 parsecs",
        "5e3 s",
        "0x10 s",
        "∞ s",
        "NaN s",
        "٥ s",
        "5 s 3",
        "5 s\0",
        "5 min 3 s",
    ] {
        assert!(text.parse::<Duration>().is_err(), "{text:?}");
    }
    for text in ["25 MBit/s", "25 Mbit", "25 MB/s", "25 M"] {
        assert!(text.parse::<BitRate>().is_err(), "{text:?}");
    }
    for text in ["1 kib", "1 Kib", "1 mb", "1 Mbit", "128K"] {
        assert!(text.parse::<ByteSize>().is_err(), "{text:?}");
    }
    for text in ["-62 dB", "-62", "-62 dbm"] {
        assert!(text.parse::<Dbm>().is_err(), "{text:?}");
    }
}

#[test]
fn errors_contain_the_expected_form() {
    assert_eq!(
        error::<Duration>("5"),
        "missing unit: found `5`, expected for example `5 s`"
    );
    assert_eq!(
        error::<Duration>("5 parsecs"),
        "unknown unit `parsecs` in `5 parsecs`; expected one of s, ms, us, ns, min, h"
    );
    assert_eq!(
        error::<Duration>("1,5 s"),
        "invalid number: found `1,5 s`, expected for example `5 s`"
    );
    assert_eq!(
        error::<Duration>("-1 s"),
        "`-1 s` is out of range: a duration is 0 to 584 years"
    );
    assert_eq!(
        error::<Duration>("0.1 ns"),
        "`0.1 ns` has too many digits: finer than can be kept"
    );
    assert_eq!(
        error::<Duration>("123456789012345678901 ns"),
        "`123456789012345678901 ns` has too many digits: at most 20 digits"
    );
    assert_eq!(
        error::<BitRate>("20000000000 Gbit/s"),
        "`20000000000 Gbit/s` is out of range: a rate is 0 to 18 Ebit/s"
    );
    assert_eq!(
        error::<ByteSize>("-1 B"),
        "`-1 B` is out of range: a size is 0 to 16 EiB"
    );
    assert_eq!(
        error::<Dbm>("200.01 dBm"),
        "`200.01 dBm` is out of range: a power is −200 to 200 dBm"
    );
    assert_eq!(
        error::<Probability>("100.1 %"),
        "`100.1 %` is out of range: a share is 0 to 100 %"
    );
    assert_eq!(
        error::<Probability>("0.01"),
        "missing unit: found `0.01`, expected for example `1 %`"
    );
    assert_eq!(
        error::<Distance>("-1 m"),
        "`-1 m` is out of range: a distance is not negative"
    );
}

#[test]
fn an_error_truncates_a_long_text() {
    let long = format!("5 {}", "x".repeat(1_000_000));
    assert!(error::<Duration>(&long).len() < 250);
    let digits = format!("{} s", "9".repeat(1_000_000));
    assert!(error::<Duration>(&digits).len() < 250);
}

#[test]
fn quantities_are_formatted_exactly_and_short() {
    let duration = |nanos| Duration::from_nanos(nanos).to_string();
    assert_eq!(duration(0), "0 s");
    assert_eq!(duration(300_000_000_000), "5 min");
    assert_eq!(duration(90_000_000_000), "90 s");
    assert_eq!(duration(5_400_000_000_000), "90 min");
    assert_eq!(duration(7_200_000_000_000), "2 h");
    assert_eq!(duration(1_500_000_000), "1.5 s");
    assert_eq!(duration(131_072_000), "131.072 ms");
    assert_eq!(duration(335_544_320), "335.54432 ms");
    assert_eq!(duration(1_000_000_001), "1.000000001 s");
    assert_eq!(duration(u64::MAX), "18446744073.709551615 s");
    let rate = |bits| BitRate::from_bps(bits).to_string();
    assert_eq!(rate(0), "0 bit/s");
    assert_eq!(rate(25_000_000), "25 Mbit/s");
    assert_eq!(rate(7_200_000), "7.2 Mbit/s");
    assert_eq!(rate(1_100_000_000), "1.1 Gbit/s");
    assert_eq!(rate(300_000), "300 kbit/s");
    assert_eq!(rate(1_000_001), "1.000001 Mbit/s");
    let size = |bytes| ByteSize::from_bytes(bytes).to_string();
    assert_eq!(size(0), "0 B");
    assert_eq!(size(64), "64 B");
    assert_eq!(size(131_072), "128 KiB");
    assert_eq!(size(1 << 30), "1 GiB");
    assert_eq!(size(3 << 29), "1.5 GiB");
    assert_eq!(
        size(10_000_000_000),
        "10 GB",
        "a multiple of 1024 that users write in decimal"
    );
    assert_eq!(size(1_500), "1.5 kB");
    assert_eq!(size(1_234_567), "1.234567 MB");
    let dbm = |hundredths| Dbm::from_hundredths(hundredths).to_string();
    assert_eq!(
        [-6_200, 1_602, -50, 5, 0].map(dbm),
        ["-62 dBm", "16.02 dBm", "-0.5 dBm", "0.05 dBm", "0 dBm"]
    );
    let share = |parts| Probability::from_ppb(parts).unwrap().to_string();
    assert_eq!(
        [0, 1, 10_000_000, 1_000_000_000].map(share),
        ["0 %", "0.0000001 %", "1 %", "100 %"]
    );
    let distance = |millimetres| Distance::from_millimetres(millimetres).to_string();
    assert_eq!(
        [0, 300, 6_000, 6_096, 1_500_000].map(distance),
        ["0 mm", "300 mm", "6 m", "6.096 m", "1.5 km"]
    );
    assert_eq!(Instant::from_millis(-1_500).to_string(), "-1.5 s");
    assert_eq!(Instant::ZERO.to_string(), "+0 s");
    assert_eq!(
        format!("{:>8}|{:<8}", Duration::from_secs(5), Dbm::from_dbm(-3)),
        "     5 s|-3 dBm  "
    );
}

fn returns<Q: FromStr<Err = QuantityError> + Display + PartialEq + Debug>(value: &Q) -> Result<(), TestCaseError> {
    let read = value.to_string().parse::<Q>();
    prop_assert_eq!(read.as_ref(), Ok(value));
    Ok(())
}

/// Any value, and as often a round one: few digits and many zeros.
fn steps() -> impl Strategy<Value = u64> {
    let round = (0u64..10_000, 0u32..16, 0u32..30).prop_map(|(digits, ten, two)| {
        let round = digits.saturating_mul(10u64.saturating_pow(ten)) >> two.min(4);
        if two > 15 {
            digits.checked_shl(two).unwrap_or(digits)
        } else {
            round
        }
    });
    prop_oneof![any::<u64>(), round]
}

proptest! {
    #[test]
    fn formatting_round_trips(value in steps(), power in -20_000i32..=20_000, parts in 0u32..=1_000_000_000) {
        returns(&Duration::from_nanos(value))?;
        returns(&BitRate::from_bps(value))?;
        returns(&ByteSize::from_bytes(value))?;
        returns(&Distance::from_millimetres(value))?;
        returns(&Dbm::from_hundredths(power))?;
        returns(&Probability::from_ppb(parts).unwrap())?;
    }

    #[test]
    fn decimals_are_parsed_exactly(whole in 0u64..1_000_000, thousandths in 0u64..1_000) {
        let text = format!("{whole}.{thousandths:03} s");
        prop_assert_eq!(text.parse(), Ok(Duration::from_millis(whole * 1_000 + thousandths)));
    }

    #[test]
    fn feet_are_off_by_half_a_millimetre_at_most(tenths in 0u64..1_000_000) {
        let distance: Distance = format!("{}.{} ft", tenths / 10, tenths % 10).parse().unwrap();
        // In hundredths of a millimetre a tenth of a foot is 3048.
        prop_assert!((distance.as_millimetres() * 100).abs_diff(tenths * 3_048) <= 50);
    }
}
