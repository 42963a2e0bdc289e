//! Strategies for quantities.

use netburn_units::{BitRate, ByteSize, Dbm, Duration, Probability};
use proptest::prelude::*;

pub(crate) fn span(low: u64, high: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![
        (low..=high).prop_map(Duration::from_nanos),
        (low.div_ceil(1_000_000_000)..=high / 1_000_000_000).prop_map(Duration::from_secs),
    ]
}

pub(crate) const MINUTE: u64 = 60_000_000_000;

pub(crate) fn rate() -> impl Strategy<Value = BitRate> {
    prop_oneof![
        (1_000..=1_000_000_000_000_u64).prop_map(BitRate::from_bps),
        (1..=1000_u64).prop_map(BitRate::from_mbps)
    ]
}

pub(crate) fn size(low: u64, high: u64) -> impl Strategy<Value = ByteSize> {
    (low..=high).prop_map(ByteSize::from_bytes)
}

pub(crate) fn share() -> impl Strategy<Value = Probability> {
    (0..=990_000_000_u32).prop_map(|ppb| Probability::from_ppb(ppb).expect("at most one"))
}

pub(crate) fn signal() -> impl Strategy<Value = Dbm> {
    (-11_000..=0).prop_map(Dbm::from_hundredths)
}
