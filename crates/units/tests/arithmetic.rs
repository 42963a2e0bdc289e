//! Instants, durations and rates never wrap, and earlier minus later is an error.

use netburn_units::{BitRate, ByteSize, Dbm, Distance, Duration, Instant, Probability, earlier};
use proptest::prelude::*;

#[test]
fn the_earlier_of_two_optional_instants() {
    let (early, late) = (Some(Instant::from_secs(-3)), Some(Instant::from_secs(4)));
    for (one, other, expected) in [
        (early, late, early),
        (late, early, early),
        (None, late, late),
        (late, None, late),
        (None, None, None),
    ] {
        assert_eq!(earlier(one, other), expected);
    }
}

#[test]
fn earlier_minus_later_is_an_error() {
    let (early, late) = (Instant::from_secs(-3), Instant::from_secs(4));
    assert_eq!(late.checked_since(early), Some(Duration::from_secs(7)));
    assert_eq!(early.checked_since(late), None);
    assert_eq!(early.checked_since(early), Some(Duration::ZERO));
    assert_eq!(Duration::from_secs(1).checked_sub(Duration::from_secs(2)), None);
    assert_eq!(
        Duration::from_secs(1).saturating_sub(Duration::from_secs(2)),
        Duration::ZERO
    );
    let whole = Instant::from_nanos(i64::MAX).since(Instant::from_nanos(i64::MIN));
    assert_eq!(whole, Duration::from_nanos(u64::MAX), "the longest span fits");
}

#[test]
#[should_panic(expected = "Instant(4000000000) is later than Instant(-3000000000)")]
fn swapped_operands_panic() {
    let _ = Instant::from_secs(-3).since(Instant::from_secs(4));
}

#[test]
fn volume_overflow_is_none() {
    let nano = Duration::from_nanos(1);
    let longest = Duration::from_nanos(u64::MAX);
    assert_eq!(Instant::from_nanos(i64::MAX).checked_add(nano), None);
    assert_eq!(Instant::from_nanos(i64::MIN).checked_sub(nano), None);
    assert_eq!(
        Instant::from_nanos(i64::MIN).checked_add(longest),
        Some(Instant::from_nanos(i64::MAX))
    );
    assert_eq!(longest.checked_add(nano), None);
    assert_eq!(longest.checked_mul(2), None);
    assert_eq!(
        ByteSize::from_bytes(u64::MAX).checked_add(ByteSize::from_bytes(1)),
        None
    );
    assert_eq!(ByteSize::from_gib(1 << 33).checked_mul(2), None);
    assert_eq!(Probability::from_ppb(1_000_000_001), None);
}

fn refuses<Q>(make: fn() -> Q) {
    assert!(std::panic::catch_unwind(make).is_err());
}

#[test]
fn constructors_reject_overflow() {
    refuses(|| Duration::from_secs(18_446_744_074));
    refuses(|| Duration::from_micros(u64::MAX));
    refuses(|| Instant::from_secs(9_223_372_037));
    refuses(|| Instant::from_millis(i64::MIN));
    refuses(|| BitRate::from_mbps(u64::MAX / 1_000));
    refuses(|| ByteSize::from_kib(1 << 54));
    refuses(|| ByteSize::from_gib(1 << 34));
    refuses(|| Dbm::from_dbm(i32::MAX));
    refuses(|| Distance::from_metres(u64::MAX));
    assert_eq!(
        Duration::from_secs(18_446_744_073).as_nanos(),
        18_446_744_073_000_000_000
    );
    assert_eq!(ByteSize::from_gib((1 << 34) - 1).as_bytes(), u64::MAX - (1 << 30) + 1);
}

#[test]
fn a_rate_takes_its_time() {
    let time = |bits, bytes| {
        BitRate::from_bps(bits)
            .time_for(ByteSize::from_bytes(bytes))
            .map(Duration::as_nanos)
    };
    // 1500 bytes at 1 Gbit/s are 12 µs, 16 KiB at 1 Mbit/s are 131.072 ms.
    assert_eq!(time(1_000_000_000, 1_500), Some(12_000));
    assert_eq!(time(1_000_000, 16_384), Some(131_072_000));
    assert_eq!(time(3, 1), Some(2_666_666_667), "rounded up");
    assert_eq!(time(1, 0), Some(0));
    assert_eq!(time(0, 1), None);
    assert_eq!(time(1, u64::MAX), None);
    assert_eq!(
        BitRate::mean(ByteSize::from_bytes(1_500), Duration::from_micros(12)),
        Some(BitRate::from_mbps(1_000))
    );
    assert_eq!(
        BitRate::mean(ByteSize::from_bytes(1), Duration::from_secs(3)),
        Some(BitRate::from_bps(2)),
        "rounded down"
    );
    assert_eq!(BitRate::mean(ByteSize::from_bytes(1), Duration::ZERO), None);
    assert_eq!(
        BitRate::mean(ByteSize::from_bytes(u64::MAX), Duration::from_nanos(1)),
        None
    );
}

#[test]
fn for_display() {
    assert_eq!(Duration::from_micros(1_500).as_millis(), 1);
    assert_eq!(Duration::from_micros(1_500).as_millis_f64(), 1.5);
    assert_eq!(Duration::from_millis(1_500).as_secs_f64(), 1.5);
    assert_eq!(Instant::from_millis(-1_500).as_secs_f64(), -1.5);
    assert_eq!(BitRate::from_bps(7_200_000).as_mbps_f64(), 7.2);
    assert_eq!(Dbm::from_hundredths(-6_250).as_dbm_f64(), -62.5);
    assert_eq!(Probability::from_ppb(250_000_000).unwrap().as_f64(), 0.25);
}

proptest! {
    #[test]
    fn adding_and_subtracting_is_the_identity(at: i64, span: u64) {
        let (at, span) = (Instant::from_nanos(at), Duration::from_nanos(span));
        if let Some(later) = at.checked_add(span) {
            prop_assert_eq!(later.since(at), span);
            prop_assert_eq!(later.checked_sub(span), Some(at));
        }
    }

    #[test]
    fn one_of_two_instants_is_not_later(one: i64, other: i64) {
        let (one, other) = (Instant::from_nanos(one), Instant::from_nanos(other));
        let spans = [one.checked_since(other), other.checked_since(one)];
        prop_assert_eq!(spans.iter().flatten().count(), if one == other { 2 } else { 1 });
        prop_assert!(one == other || spans.iter().flatten().all(|span| !span.is_zero()));
    }

    #[test]
    fn the_mean_rate_inverts_the_time(bits in 1u64..100_000_000_000, bytes in 1u64..1 << 40) {
        let size = ByteSize::from_bytes(bytes);
        let Some(time) = BitRate::from_bps(bits).time_for(size) else { return Ok(()) };
        // The time is rounded up, by less than a nanosecond: the mean is at most the rate, and above it a nanosecond sooner.
        prop_assert!(BitRate::mean(size, time).is_none_or(|mean| mean.as_bps() <= bits));
        if let Some(sooner) = time.checked_sub(Duration::from_nanos(1)).filter(|time| !time.is_zero()) {
            prop_assert!(BitRate::mean(size, sooner).is_none_or(|mean| mean.as_bps() >= bits));
        }
    }
}
