//! When an aggregate is composed: by the driver, or by the radio at its transmit opportunity.

mod util;

use netburn_medium::aggregation::Limits;
use netburn_medium::air::{Air, AirConfig, ChannelConfig, LinkConfig, NodeConfig, Output};
use netburn_medium::config::{Composition, Guard, HardwareQueue, Standard};
use netburn_medium::edca::EdcaParameters;
use netburn_medium::packet::NodeId;
use netburn_medium::queue::codel::CodelParameters;
use netburn_medium::queue::fq::FqParameters;
use netburn_medium::queue::fq_mac::FqMac;
use netburn_medium::rate::RateChoice;
use netburn_units::{Duration, Instant, Seed};
use util::{Queue, ampdu, fifo, ht20, packet};

const AP: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);
const OTHER: NodeId = NodeId(2);

/// An access point that sends by 802.11n at 65 Mbit/s to stations with these SNRs, without backoff slots.
fn air(composition: Composition, hardware: HardwareQueue, snrs: &[Option<f64>], queue: Queue) -> Air<u64> {
    air_with(ampdu(Limits::PPDU), composition, hardware, snrs, queue)
}

/// The same with these limits of an aggregate.
fn air_with(
    limits: Limits,
    composition: Composition,
    hardware: HardwareQueue,
    snrs: &[Option<f64>],
    queue: Queue,
) -> Air<u64> {
    let link = |(to, snr_db): (usize, Option<f64>)| LinkConfig {
        to,
        vector: ht20(7, 1, Guard::Ns800),
        rate: RateChoice::Fixed,
        snr_db,
        limits,
    };
    let node = |links| NodeConfig {
        edca: EdcaParameters::default_set(15).map(|parameters| EdcaParameters {
            cw_min: 0,
            cw_max: 0,
            txop: Duration::ZERO,
            ..parameters
        }),
        hardware,
        composition,
        ..NodeConfig::for_standard(0, Standard::N, links)
    };
    let mut nodes = vec![node((1..).zip(snrs.iter().copied()).map(link).collect())];
    let mut queues = vec![queue];
    for _ in snrs {
        nodes.push(node(vec![link((0, None))]));
        queues.push(fifo(1_000));
    }
    let config = AirConfig {
        channels: vec![ChannelConfig::ofdm()],
        nodes,
        hidden: Vec::new(),
        seed: Seed(1),
    };
    let mut air = Air::new(&config, queues).unwrap();
    air.trace();
    air
}

fn one(composition: Composition, hardware: HardwareQueue) -> Air<u64> {
    air(composition, hardware, &[None], fifo(1_000))
}

fn us(micros: i64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

fn offer(air: &mut Air<u64>, now: Instant, to: NodeId, numbers: std::ops::Range<u64>) {
    for number in numbers {
        air.handle_packet(now, AP, to, packet(1_500, u32::from(to.0), number));
    }
}

/// Runs until `end`. Returns the delivered packets.
fn run(air: &mut Air<u64>, end: Instant) -> Vec<u64> {
    let mut delivered = Vec::new();
    while let Some((at, _)) = air.poll_timeout().filter(|(at, _)| *at <= end) {
        air.handle_timeout(at);
        while let Some(output) = air.poll_output() {
            if let Output::Delivered { packet, .. } = output {
                delivered.push(packet.payload);
            }
        }
    }
    delivered
}

/// Start in µs and MPDUs of each transmission since the last call.
fn sent(air: &mut Air<u64>) -> Vec<(i64, usize)> {
    std::iter::from_fn(|| air.poll_transmission())
        .map(|t| (t.at.as_nanos() / 1_000, t.mpdus as usize))
        .collect()
}

/// Eight packets arrive at once, and the first one is sent alone: 232 µs (1554 bytes with CCMP), an ACK and AIFS. The driver
/// composes the next aggregate of the second packet alone, because it enters the hardware first. The radio
/// composes it when it is sent, of all seven.
#[test]
fn an_aggregate_that_waits_takes_later_packets() {
    let first = 36 + 4 * ((16 + 6 + 8 * 1_554 + 259) / 260);
    let second = first + 16 + 28 + 43;
    let third = second + first + 16 + 28 + 43;
    for (composition, wanted) in [
        (Composition::Txop, vec![(0, 1), (second, 7)]),
        (Composition::Driver, vec![(0, 1), (second, 1), (third, 6)]),
    ] {
        for hardware in [
            HardwareQueue::Aggregates(2),
            HardwareQueue::Time(Duration::from_millis(1)),
        ] {
            let mut air = one(composition, hardware);
            offer(&mut air, us(0), STATION, 0..8);
            assert_eq!(run(&mut air, us(10_000)), Vec::from_iter(0..8));
            if hardware == HardwareQueue::Aggregates(2) {
                assert_eq!(sent(&mut air), wanted, "{composition:?}");
            }
        }
    }
}

/// The receiver is away, so the first attempt fails. Packets that arrive meanwhile join the second attempt, unless the driver has
/// composed it.
#[test]
fn a_failed_aggregate_is_composed_again() {
    for hardware in [
        HardwareQueue::Aggregates(1),
        HardwareQueue::Frames(8),
        HardwareQueue::Unlimited,
    ] {
        for (composition, again) in [(Composition::Txop, 5), (Composition::Driver, 1)] {
            let mut air = one(composition, hardware);
            air.set_away(us(0), STATION, true);
            offer(&mut air, us(0), STATION, 0..1);
            run(&mut air, us(100));
            offer(&mut air, us(100), STATION, 1..5);
            run(&mut air, us(400));
            air.set_away(us(400), STATION, false);
            assert_eq!(run(&mut air, us(10_000)), Vec::from_iter(0..5));
            assert_eq!(sent(&mut air)[1].1, again, "{hardware:?} {composition:?}");
        }
    }
}

/// A station that sleeps gets nothing, wherever its packets wait. They are sent in order when it wakes.
#[test]
fn hardware_returns_the_packets_of_a_sleeping_station() {
    for hardware in [
        HardwareQueue::Aggregates(2),
        HardwareQueue::Frames(8),
        HardwareQueue::Unlimited,
    ] {
        let mut air = one(Composition::Txop, hardware);
        offer(&mut air, us(0), STATION, 0..20);
        run(&mut air, us(100));
        air.set_asleep(us(100), AP, STATION, true);
        let mut delivered = run(&mut air, us(20_000));
        assert_eq!(delivered, [0], "{hardware:?}");
        assert_eq!(air.backlog(AP), 19);
        air.set_asleep(us(20_000), AP, STATION, false);
        delivered.extend(run(&mut air, us(60_000)));
        assert_eq!(delivered, Vec::from_iter(0..20), "{hardware:?}");
        assert_eq!(air.backlog(AP), 0);
    }
}

/// The rate falls from 65 to 6.5 Mbit/s while an aggregate waits. It is composed at the new rate: 2 MPDUs of 1554 bytes in 5484 µs
/// (26 data bits per 4 µs symbol), and none is lost.
#[test]
fn an_aggregate_that_waits_is_composed_at_the_new_rate() {
    let mut air = one(Composition::Txop, HardwareQueue::Aggregates(2));
    offer(&mut air, us(0), STATION, 0..30);
    run(&mut air, us(100));
    air.set_vector(AP, STATION, ht20(0, 1, Guard::Ns800)).unwrap();
    assert_eq!(run(&mut air, us(200_000)), Vec::from_iter(0..30));
    let most = (5_484 - 36) / 4 * 26 / 8 / (1_554 + 6);
    let slow = sent(&mut air).split_off(1);
    assert_eq!(slow.len(), 29_usize.div_ceil(most));
    assert!(
        slow[..slow.len() - 1].iter().all(|(_, mpdus)| *mpdus == most),
        "{slow:?}"
    );
}

/// Offers both stations six packets every millisecond for two seconds. Returns the aggregates of each: MPDUs, and those that
/// arrived.
fn two_busy_stations(air: &mut Air<u64>) -> [Vec<(u32, u32)>; 2] {
    let mut aggregates = [Vec::new(), Vec::new()];
    for (ms, number) in (0..2_000).zip((0..).step_by(6)) {
        let now = us(ms * 1_000);
        offer(air, now, STATION, number..number + 6);
        offer(air, now, OTHER, number..number + 6);
        run(air, us(ms * 1_000 + 999));
        for transmission in std::iter::from_fn(|| air.poll_transmission()) {
            aggregates[transmission.to.unwrap().index() - 1].push((transmission.mpdus, transmission.arrived));
        }
    }
    aggregates
}

/// A station that loses most of its MPDUs (SNR of 23 dB) has retransmissions after every aggregate. They don't take the places of
/// another station: round robin by aggregate gives both the same number.
#[test]
fn retransmissions_take_no_places_of_other_stations() {
    for hardware in [HardwareQueue::Aggregates(2), HardwareQueue::Aggregates(1)] {
        let queue = Box::new(FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211));
        let mut air = air(Composition::Txop, hardware, &[Some(23.0), None], queue);
        let [lossy, clean] = two_busy_stations(&mut air);
        let (mpdus, arrived) = lossy.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert!(arrived * 2 < mpdus && arrived > 0, "{arrived} of {mpdus}");
        let (lossy, clean) = (lossy.len(), clean.len());
        assert!(lossy.abs_diff(clean) <= clean / 20, "{lossy} and {clean} aggregates");
    }
}

/// Two stations that always have packets in the hardware get the same number of aggregates, whatever limits the hardware and
/// composes: a packet that did not fit into an aggregate adds no turn.
#[test]
fn packets_that_did_not_fit_add_no_turns() {
    for composition in [Composition::Txop, Composition::Driver] {
        for hardware in [
            HardwareQueue::Aggregates(2),
            HardwareQueue::Frames(500),
            HardwareQueue::Unlimited,
            HardwareQueue::Time(Duration::from_millis(10)),
        ] {
            let queue = Box::new(FqMac::new(FqParameters::MAC80211, CodelParameters::MAC80211));
            let mut air = air(composition, hardware, &[None, None], queue);
            let [first, second] = two_busy_stations(&mut air).map(|aggregates| aggregates.len());
            assert!(
                first > 150 && first.abs_diff(second) <= first / 10,
                "{composition:?}, {hardware:?}: {first} and {second} aggregates"
            );
        }
    }
}

/// Without A-MPDU, an A-MSDU of up to 7935 bytes takes five packets: 5 · 1524 bytes with headers of subframes and padding. The
/// first packet is sent alone, and 40 more in eight transmissions.
#[test]
fn an_amsdu_takes_all_packets_that_fit() {
    let limits = Limits {
        ampdu: false,
        amsdu: 7_935,
        ..ampdu(Limits::PPDU)
    };
    let mut air = air_with(
        limits,
        Composition::Txop,
        HardwareQueue::Aggregates(2),
        &[None],
        fifo(1_000),
    );
    offer(&mut air, us(0), STATION, 0..41);
    assert_eq!(run(&mut air, us(100_000)), Vec::from_iter(0..41));
    assert_eq!(sent(&mut air).len(), 9);
}
