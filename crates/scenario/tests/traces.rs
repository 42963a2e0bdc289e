//! The example traces in `scenarios/traces`, and the rules that generate them.
//! `NETBURN_REGENERATE=1 cargo test -p netburn-scenario --test traces` writes the files.

use netburn_scenario::plan::Trace;
use netburn_units::BitRate;

/// Opportunities of 1500 bytes in ms, for a rate in kbit/s at each ms from 1 to `length`. Each ms adds its bits; 12 000 bits
/// are an opportunity.
fn opportunities(length: u32, rate: impl Fn(u32) -> u32) -> String {
    let (mut text, mut bits) = (String::new(), 0);
    for time in 1..=length {
        bits += rate(time - 1);
        while bits >= 12_000 {
            bits -= 12_000;
            text.push_str(&format!("{time}\n"));
        }
    }
    text
}

/// A mobile link: 10 s, with a new rate of 2 to 20 Mbit/s each 200 ms, and a handover of 60 ms each 5 s.
fn lte(time: u32) -> u32 {
    if (2_500..2_560).contains(&(time % 5_000)) {
        return 0;
    }
    2_000 + 1_000 * (time / 200 * 7 % 19)
}

/// Uplink over a satellite: 30 s, with a new satellite each 15 s after a gap of 120 ms, and small steps each second.
fn satellite(time: u32) -> u32 {
    if time % 15_000 < 120 {
        return 0;
    }
    let base = if time < 15_000 { 5_000 } else { 3_000 };
    base + 500 * (time / 1_000 * 3 % 4)
}

/// Mean rates by hand. LTE: the steps 7 k mod 19 of 50 k have the sum 2 × 171 + (those of k = 38 to 49). Those are 7 k mod
/// 19 for k = 0 to 11: 0, 7, 14, 2, 9, 16, 4, 11, 18, 6, 13, 1 = 101. So the mean is 2 + 443/50 = 10.86 Mbit/s, less the
/// two handovers of 60 ms, with 7 × 12 mod 19 = 8 and 7 × 37 mod 19 = 12: 10.86 − 0.06 × (10 + 14) ÷ 10 = 10.716. The
/// length ends with the last opportunity. Satellite: the steps are 0, 3, 2, 1 in turn, in 30 s the sum is 45. The gaps are
/// at 5 and 3.5 Mbit/s: 4 + 0.5 × 45/30 − 0.12 × 8.5 ÷ 30 = 4.716 Mbit/s.
#[test]
fn the_example_traces_follow_their_rules() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/");
    let traces = [
        ("lte", opportunities(10_000, lte), 10_716_000),
        ("satellite", opportunities(30_000, satellite), 4_716_000),
    ];
    for (name, text, mean) in traces {
        let path = format!("{directory}{name}.trace");
        if std::env::var_os("NETBURN_REGENERATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == text,
            "{name} differs from its rule"
        );
        let rate = Trace::parse(&text).unwrap().mean_rate();
        let expected = BitRate::from_bps(mean);
        assert!(
            rate.as_bps().abs_diff(expected.as_bps()) < mean / 500,
            "{rate} instead of {expected}"
        );
    }
}
