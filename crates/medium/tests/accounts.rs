//! A channel's time is accounted to the nanosecond.

mod util;

use netburn_medium::air::{Air, ChannelAccount, ChannelConfig, Output};
use netburn_medium::config::{Band, Guard};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::{Modulation, TxVector, dsss};
use netburn_units::{Duration, Instant};
use proptest::prelude::*;
use util::{Uplink, ampdu, ht20, packet};

const fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Each of `stations` sends `packets`, queued at once, until the air is idle. Returns the end of
/// the last frame, and the channel's account.
fn run(air: &mut Air<u64>, stations: usize, packets: u64) -> (Instant, ChannelAccount) {
    for station in 1..=stations {
        for number in 0..packets {
            air.handle_packet(
                Instant::ZERO,
                NodeId(station as u16),
                NodeId(0),
                packet(1_500, 0, number),
            );
        }
    }
    let mut end = Instant::ZERO;
    while let Some((at, _)) = air.poll_timeout() {
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            if let Output::Sent { at, .. } = output {
                end = at;
            }
        }
    }
    (end, air.channel_account(0))
}

/// One station, 100 packets: data 228 µs, ACK 28 µs. Between them SIFS and AIFS (43 µs) and whole
/// slots of 9 µs: 0 to 15 of them.
#[test]
fn one_station() {
    let (end, account) = run(&mut Uplink::default().open(), 1, 100);
    assert_eq!(account.data, us(100 * 228));
    assert_eq!(account.control, us(100 * 28));
    assert_eq!(account.busy, us(100 * 256));
    let idle = end.since(Instant::ZERO) - account.busy;
    let slots = idle - us(100 * 16 + 99 * 43);
    assert_eq!(slots.as_nanos() % 9_000, 0);
    assert!(slots.as_nanos() / 9_000 <= 99 * 15);
}

/// With RTS and CTS, 28 µs each at 24 Mbit/s, and three SIFS in an exchange.
#[test]
fn with_rts() {
    let uplink = Uplink {
        rts_threshold: Some(0),
        ..Uplink::default()
    };
    let (end, account) = run(&mut uplink.open(), 1, 50);
    assert_eq!(account.data, us(50 * 228));
    assert_eq!(account.control, us(50 * 3 * 28));
    let slots = end.since(Instant::ZERO) - account.busy - us(50 * 3 * 16 + 49 * 43);
    assert_eq!(slots.as_nanos() % 9_000, 0);
}

/// Beside an 802.11b station, OFDM frames follow a CTS-to-self, or RTS and CTS, in DSSS (802.11-2020 clause 10.27.2): 192 µs of
/// preamble and header, and 14 or 20 bytes at 11 Mbit/s. SIFS is 10, AIFS 70 and a slot 20 µs. A frame at 6.5 Mbit/s follows a
/// CTS at 5.5 Mbit/s, which is the highest basic rate below, and a DSSS frame follows none.
#[test]
fn with_protection() {
    let sent = |vector, rts_threshold, exchange: u64| {
        let uplink = Uplink {
            channel: ChannelConfig::for_band(Band::Ghz2_4, true),
            vector,
            rts_threshold,
            ..Uplink::default()
        };
        let (end, account) = run(&mut uplink.open(), 1, 50);
        let spaces = us(50 * exchange * 10 + 49 * 70);
        let slots = end.since(Instant::ZERO) - account.busy - spaces;
        assert_eq!(slots.as_nanos() % 20_000, 0);
        (account.data, account.control)
    };
    let fast = ht20(7, 1, Guard::Ns800);
    assert_eq!(sent(fast, None, 2), (us(50 * 228), us(50 * (203 + 28))));
    assert_eq!(sent(fast, Some(0), 3), (us(50 * 228), us(50 * (207 + 203 + 28))));
    let (_, control) = sent(ht20(0, 1, Guard::Ns800), None, 2);
    assert_eq!(control, us(50 * (213 + 44)));
    let dsss = TxVector {
        modulation: Modulation::Dsss(dsss::Rate::M11),
        ..fast
    };
    let (_, control) = sent(dsss, None, 1);
    assert_eq!(control, us(50 * 203));
}

/// A CTS-to-self has no response, so data follow a collided one too. Two stations that start together both send their data.
#[test]
fn collided_protection_is_followed_by_data() {
    let uplink = Uplink {
        stations: 6,
        channel: ChannelConfig::for_band(Band::Ghz2_4, true),
        ..Uplink::default()
    };
    let mut air = uplink.open();
    let (_, account) = run(&mut air, 6, 200);
    let sent: u64 = (1..=6).map(|station| air.account(NodeId(station)).transmissions).sum();
    assert!(sent > 1_200, "no collision");
    assert!(account.overlapped_data > Duration::ZERO);
    assert_eq!(account.data + account.overlapped_data, us(sent * 228));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Stations that hear each other, without losses: the channel's data time equals the merged
    /// time of their transmissions.
    #[test]
    fn sent_airtime_is_accounted(stations in 1_usize..12, packets in 1_u64..60, aggregate: bool, snr in 5_i32..40, seed: u64) {
        let uplink = Uplink { stations, seed, snr_db: Some(f64::from(snr)), ..Uplink::default() };
        let uplink = if aggregate { Uplink { limits: ampdu(Duration::from_millis(4)), ..uplink } } else { uplink };
        let mut air = uplink.open();
        air.trace();
        let (end, account) = run(&mut air, stations, packets);
        let mut sent: Vec<(i64, i64)> = Vec::new();
        while let Some(transmission) = air.poll_transmission() {
            let at = transmission.at.as_nanos();
            sent.push((at, at + transmission.duration.as_nanos() as i64));
        }
        sent.sort_unstable();
        let (mut union, mut several, mut until, mut whole) = (0, 0, i64::MIN, 0);
        for (from, to) in sent {
            whole += to - from;
            // Collisions here start at one instant: a later start overlaps with the earlier
            // transmission.
            several += (until.min(to) - from).max(0);
            union += (to - from.max(until)).max(0);
            until = until.max(to);
        }
        prop_assert_eq!((account.data + account.overlapped).as_nanos() as i64, union);
        prop_assert_eq!((account.data + account.overlapped_data).as_nanos() as i64, whole);
        prop_assert!(account.overlapped.as_nanos() as i64 <= several);
        prop_assert_eq!(account.data + account.control + account.overlapped, account.busy);
        prop_assert!(account.busy <= end.since(Instant::ZERO));
        let of_nodes: Duration = (1..=stations).map(|node| air.account(NodeId(node as u16)).sent).sum();
        prop_assert_eq!(of_nodes, account.data + account.overlapped_data);
        prop_assert_eq!(of_nodes, air.account(NodeId(0)).received);
    }
}
