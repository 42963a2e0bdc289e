//! A hop by hand, its laws, and changes of its settings while packets wait.

use super::*;
use netburn_scenario::plan::Outage;
use netburn_units::{ByteSize, Seed};
use proptest::prelude::*;

fn hop(rate: Option<u64>, delay_ms: u64, queue: u64) -> Hop<u32> {
    let config = HopConfig {
        rate: rate.map(BitRate::from_bps),
        delay: Duration::from_millis(delay_ms),
        loss: Probability::ZERO,
        queue: ByteSize::from_bytes(queue),
        framing: HopFraming::Fixed(ETHERNET),
        interrupt_interval: Duration::ZERO,
    };
    Hop::new(config, Seed(1).stream("loss", 0))
}

/// 1500 bytes and 38 of framing at 100 Mbit/s: 123.04 µs each, then 5 ms of propagation.
#[test]
fn by_hand() {
    let mut hop = hop(Some(100_000_000), 5, 10_000);
    assert!(hop.handle_packet(Instant::ZERO, 1_500, 1).is_ok());
    assert!(hop.handle_packet(Instant::ZERO, 1_500, 2).is_ok());
    assert_eq!(hop.backlog(Instant::from_nanos(123_039)), 1_500);
    assert_eq!(hop.backlog(Instant::from_nanos(123_040)), 0);
    let first = Instant::from_nanos(5_123_040);
    assert_eq!(hop.poll_timeout(), Some(first));
    assert_eq!(hop.poll_event(Instant::from_millis(5)), None);
    assert_eq!(hop.poll_event(first), Some((first, HopEvent::Arrived(1))));
    let second = Instant::from_nanos(5_246_080);
    assert_eq!(hop.poll_event(second), Some((second, HopEvent::Arrived(2))));
}

#[test]
fn a_full_queue_returns_the_packet() {
    let mut hop = hop(Some(1_000_000), 0, 3_000);
    for packet in 0..3 {
        assert!(hop.handle_packet(Instant::ZERO, 1_500, packet).is_ok());
    }
    assert_eq!(hop.handle_packet(Instant::ZERO, 1_500, 3), Err(3));
    assert_eq!(hop.count().dropped, 1);
}

/// At 1 Gbit/s a packet of 1500 bytes takes 12.304 µs. The first one causes an interrupt
/// immediately. Those that arrive within the next 50 µs share one interrupt at the end of the
/// 50 µs. After a pause the next one causes an interrupt immediately again.
#[test]
fn a_card_coalesces_packets_between_interrupts() {
    let mut hop = hop(Some(1_000_000_000), 0, 100_000);
    hop.set_config(
        Instant::ZERO,
        hop.config().with_interrupt_interval(Duration::from_micros(50)),
    );
    for packet in 0..8 {
        assert!(hop.handle_packet(Instant::ZERO, 1_500, packet).is_ok());
    }
    let mut arrived = Vec::new();
    while let Some(at) = hop.poll_timeout() {
        hop.handle_timeout(at);
        while let Some((at, left)) = hop.poll_event(at) {
            arrived.push((at.as_nanos(), left));
        }
    }
    let expected = [12_304, 62_304, 62_304, 62_304, 62_304, 112_304, 112_304, 112_304];
    let expected = expected.into_iter().zip((0..8).map(HopEvent::Arrived));
    assert_eq!(arrived, expected.collect::<Vec<_>>());
    let later = Instant::from_micros(500);
    assert!(hop.handle_packet(later, 1_500, 8).is_ok());
    hop.handle_timeout(Instant::from_nanos(512_304));
    let arrived = hop.poll_event(Instant::from_nanos(512_304));
    assert_eq!(arrived, Some((Instant::from_nanos(512_304), HopEvent::Arrived(8))));
}

proptest! {
    /// Interrupt moderation keeps the order. A packet is delivered at its arrival time at the
    /// earliest, and at most one interval later. Two interrupts are at least one interval
    /// apart.
    #[test]
    fn interrupts_are_an_interval_apart(
        rate in prop::option::of(1_000_000_u64..10_000_000_000),
        interval in 1_u64..500_000,
        packets in prop::collection::vec((0_u64..300_000, 20_u32..1_600), 1..60),
    ) {
        let arrivals = |interval: Duration| {
            let mut hop = hop(rate, 1, 1_000_000);
            hop.set_config(Instant::ZERO, hop.config().with_interrupt_interval(interval));
            let (mut now, mut arrived) = (Instant::ZERO, Vec::new());
            let mut take = |hop: &mut Hop<u32>, until: Instant| {
                while let Some(at) = hop.poll_timeout().filter(|at| *at <= until) {
                    hop.handle_timeout(at);
                    while let Some((when, left)) = hop.poll_event(at) {
                        arrived.push((when, left));
                    }
                }
            };
            for (number, (gap, length)) in (0_u32..).zip(&packets) {
                now += Duration::from_nanos(*gap);
                take(&mut hop, now);
                assert!(hop.handle_packet(now, *length, number).is_ok());
            }
            take(&mut hop, Instant::from_secs(1_000));
            arrived
        };
        let interval = Duration::from_nanos(interval);
        let (without, with) = (arrivals(Duration::ZERO), arrivals(interval));
        prop_assert_eq!((without.len(), with.len()), (packets.len(), packets.len()));
        for ((early, one), (late, other)) in without.iter().zip(&with) {
            prop_assert_eq!(one, other);
            prop_assert!(early <= late && *late <= *early + interval, "{early:?} and {late:?}");
        }
        for pair in with.windows(2) {
            prop_assert!(pair[0].0 == pair[1].0 || pair[0].0 + interval <= pair[1].0, "{pair:?}");
        }
    }

    /// Delivered = min(offered, rate) at every delay: over a second, within one or two packets.
    #[test]
    fn delivered_is_the_lesser(rate in 1_000_000_u64..200_000_000, offered in 1_000_000_u64..200_000_000, delay in 0_u64..500) {
        let mut hop = hop(Some(rate), delay, 15_000);
        let gap = (1_500 + u64::from(ETHERNET)) * 8 * 1_000_000_000 / offered;
        let mut at = 0;
        while at < 1_000_000_000 {
            let _ = hop.handle_packet(Instant::from_nanos(at as i64), 1_500, 0);
            at += gap;
        }
        hop.handle_timeout(Instant::from_secs(1));
        let mut out = 0_u64;
        while hop.poll_event(Instant::from_secs(1) + Duration::from_millis(delay)).is_some() {
            out += (1_500 + u64::from(ETHERNET)) * 8;
        }
        let expected = rate.min(offered);
        prop_assert!(out.abs_diff(expected) <= 3 * (1_500 + u64::from(ETHERNET)) * 8, "{out} of {expected}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Comparison with a queue in plain arithmetic. Serialisation starts when the packet comes
    /// or when the previous one ends, and takes bits ÷ rate; the packet arrives a delay later.
    /// A packet that doesn't fit is returned. Every accepted packet is lost or delivered; every
    /// one that was not dropped was serialised; none is delivered before its bound.
    #[test]
    fn a_hop_is_a_queue_a_rate_and_a_delay(
        rate in prop::option::of(100_000_u64..1_000_000_000),
        delay in 0_u64..20,
        queue in 0_u64..20_000,
        loss in prop::sample::select(vec![0_u32, 100_000_000, 1_000_000_000]),
        packets in prop::collection::vec((0_u64..3_000_000, 20_u32..1_600), 1..60),
    ) {
        let mut hop = hop(rate, delay, queue);
        hop.set_config(Instant::ZERO, HopConfig { loss: Probability::from_ppb(loss).unwrap(), ..hop.config() });
        hop.report_sent(true);
        let (mut now, mut waiting) = (0, VecDeque::new());
        // Accepted packets by number: end of serialisation and arrival.
        let (mut sent, mut expected, mut free) = (VecDeque::new(), Vec::new(), 0);
        let (mut reported, mut arrived, mut lost) = (0, Vec::new(), Vec::new());
        let mut take = |hop: &mut Hop<u32>, until: i64| {
            while let Some(at) = hop.poll_timeout().filter(|at| at.as_nanos() <= until) {
                let bound = hop.next_delivery();
                hop.handle_timeout(at);
                while let Some((when, left)) = hop.poll_event(at) {
                    match left {
                        HopEvent::Sent => reported += 1,
                        HopEvent::Lost(number) => lost.push((number, when.as_nanos())),
                        HopEvent::Dropped(number) => panic!("{number}: a hop has no discipline"),
                        HopEvent::Arrived(number) => {
                            assert!(bound.is_some_and(|bound| bound <= when));
                            arrived.push((number, when.as_nanos()));
                        }
                    }
                }
            }
            (reported, arrived.clone(), lost.clone())
        };
        for (number, (gap, length)) in (0_u32..).zip(&packets) {
            now += *gap as i64;
            take(&mut hop, now);
            while sent.front().is_some_and(|end: &i64| *end <= now) {
                sent.pop_front();
                waiting.pop_front();
            }
            // All but the first of these are queued.
            let backlog: u64 = waiting.iter().skip(1).map(|length: &u32| u64::from(*length)).sum();
            // Asking for the backlog must change nothing.
            if number % 2 == 0 {
                prop_assert_eq!(hop.backlog(Instant::from_nanos(now)), backlog);
            }
            let fits = sent.is_empty() || backlog + u64::from(*length) <= queue;
            let taken = hop.handle_packet(Instant::from_nanos(now), *length, number);
            prop_assert_eq!(taken.err(), (!fits).then_some(number));
            if fits {
                let span = rate.map_or(0, |rate| u64::from(length + ETHERNET) * 8_000_000_000 / rate) as i64;
                free = now.max(free) + span;
                expected.push((number, free));
                if rate.is_some() {
                    sent.push_back(free);
                    waiting.push_back(*length);
                }
            }
        }
        let (reported, arrived, lost) = take(&mut hop, i64::MAX);
        let count = hop.count();
        prop_assert_eq!(reported, expected.len());
        prop_assert_eq!(count.offered, packets.len() as u64);
        prop_assert_eq!(count.dropped, (packets.len() - expected.len()) as u64);
        prop_assert_eq!((count.lost, count.delivered), (lost.len() as u64, arrived.len() as u64));
        prop_assert_eq!(arrived.len() + lost.len(), expected.len());
        let bytes: u64 = arrived.iter().map(|(number, _)| u64::from(packets[*number as usize].1)).sum();
        prop_assert_eq!(count.delivered_bytes, bytes);
        prop_assert!(arrived.is_empty() || loss < 1_000_000_000);
        prop_assert!(lost.is_empty() || loss > 0);
        prop_assert!(arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (number, at) in arrived {
            let (_, end) = expected.iter().find(|(of, _)| *of == number).unwrap();
            // The rounding errors of earlier packets are compensated.
            let late = at - end - delay as i64 * 1_000_000;
            prop_assert!((0..=expected.len() as i64).contains(&late), "{late} ns");
        }
    }
}

proptest! {
    /// The planned ends of serialisation are the times of the reports.
    #[test]
    fn planned_ends_are_reported(
        rate in 5_000_000_u64..1_000_000_000,
        delay in 0_u64..20,
        loss in 0_u32..500_000_000,
        packets in prop::collection::vec((0_i64..200_000, 20_u32..1_600), 1..60),
    ) {
        let mut hop = hop(Some(rate), delay, 20_000);
        hop.set_config(Instant::ZERO, HopConfig { loss: Probability::from_ppb(loss).unwrap(), ..hop.config() });
        hop.report_sent(true);
        let (mut planned, mut reports, mut nanos) = (Vec::new(), Vec::new(), 0);
        let mut advance = |hop: &mut Hop<u32>, until| {
            while let Some(now) = hop.poll_timeout().filter(|at| *at <= until) {
                hop.handle_timeout(now);
                while let Some((at, event)) = hop.poll_event(now) {
                    assert_eq!(at, now);
                    reports.extend((event == HopEvent::Sent).then_some(at));
                }
            }
        };
        for (gap, length) in packets {
            nanos += gap;
            let now = Instant::from_nanos(nanos);
            advance(&mut hop, now);
            planned.extend(hop.handle_packet(now, length, 0));
            let later = planned.iter().filter(|at| **at > now);
            prop_assert!(hop.planned(now).iter().map(|(at, _)| at).eq(later));
        }
        advance(&mut hop, Instant::from_secs(100));
        prop_assert_eq!(reports, planned);
    }

    /// A new rate applies from the next packet on that begins its serialisation. Each packet is compared with its begin
    /// and end by hand.
    #[test]
    fn a_new_rate_applies_to_the_packets_that_wait(
        rates in prop::array::uniform2(5_000_000_u64..1_000_000_000),
        changed in 0_i64..5_000_000,
        packets in prop::collection::vec((0_i64..200_000, 20_u32..1_600), 1..60),
    ) {
        let mut hop = hop(Some(rates[0]), 7, 1_000_000);
        hop.report_sent(true);
        let changed = Instant::from_nanos(changed);
        let (mut expected, mut nanos, mut idle, mut has_changed) = (Vec::new(), 0, 0, false);
        for (number, (gap, length)) in packets.iter().enumerate() {
            nanos += gap;
            let now = Instant::from_nanos(nanos);
            if !has_changed && now >= changed {
                hop.set_config(changed, HopConfig { rate: Some(BitRate::from_bps(rates[1])), ..hop.config() });
                has_changed = true;
            }
            prop_assert!(hop.handle_packet(now, *length, number as u32).is_ok());
            let begin = idle.max(nanos);
            let rate = rates[usize::from(begin >= changed.as_nanos())];
            idle = begin + ((u64::from(*length) + 38) * 8 * 1_000_000_000 / rate) as i64;
            expected.push(idle);
        }
        if !has_changed {
            hop.set_config(changed, HopConfig { rate: Some(BitRate::from_bps(rates[1])), ..hop.config() });
        }
        let (mut sent, mut arrived) = (Vec::new(), Vec::new());
        while let Some((at, event)) = hop.poll_event(Instant::from_secs(100)) {
            match event {
                HopEvent::Sent => sent.push(at),
                HopEvent::Arrived(number) => arrived.push((number, at)),
                other => prop_assert!(false, "{other:?}"),
            }
        }
        prop_assert_eq!(sent.len(), expected.len());
        for (number, (sent, expected)) in sent.iter().zip(expected).enumerate() {
            // The rounding errors of earlier packets are compensated.
            prop_assert!((0..=packets.len() as i64).contains(&(sent.as_nanos() - expected)));
            prop_assert_eq!(arrived[number], (number as u32, *sent + Duration::from_millis(7)));
        }
    }
}

/// The list of packets that may wait is as long as those that do, also without a limit of the queue.
#[test]
fn packets_that_have_left_the_queue_are_forgotten() {
    let mut hop = hop(Some(12_304_000), 0, u64::MAX);
    // 1 ms for each packet, of which four wait.
    for number in 0..10_000 {
        let now = Instant::from_millis((number - 4_i64).max(0));
        assert!(hop.handle_packet(now, 1_500, number as u32).is_ok());
        while hop.poll_event(now).is_some() {}
        assert!(hop.queued.len() <= 8, "{}", hop.queued.len());
    }
    assert_eq!(hop.backlog(Instant::from_millis(9_995)), 4 * 1_500);
}

/// After an outage of a link without a rate, all packets that waited begin at one instant. A new loss keeps their order.
#[test]
fn packets_that_begin_together_keep_their_order() {
    let mut hop = hop(None, 10, 1_000_000);
    let outage = Outage {
        start: Duration::from_millis(2_000),
        length: Duration::from_millis(1_000),
    };
    hop.set_service(Service::new(&[outage], None).unwrap());
    let config = hop.config();
    let lossy = |ppb| HopConfig {
        loss: Probability::from_ppb(ppb).unwrap(),
        ..config
    };
    hop.set_config(Instant::ZERO, lossy(500_000_000));
    for number in 0..100 {
        assert!(hop.handle_packet(Instant::from_millis(2_100), 1_500, number).is_ok());
    }
    hop.set_config(Instant::from_millis(2_500), lossy(0));
    let mut arrived = Vec::new();
    while let Some((at, event)) = hop.poll_event(Instant::from_secs(100)) {
        match event {
            HopEvent::Arrived(number) if at == Instant::from_millis(3_010) => arrived.push(number),
            // The first one began its serialisation when it was offered.
            HopEvent::Lost(0) => arrived.push(0),
            other => panic!("{other:?} at {at:?}"),
        }
    }
    assert!(arrived.iter().copied().eq(0..100), "{arrived:?}");
}

/// A queue discipline may hold more packets for a link whose packet will be lost.
#[test]
fn a_lost_packet_bounds_the_next_delivery() {
    let mut hop = hop(Some(12_304_000), 5, 1_000_000);
    hop.report_idle();
    let config = HopConfig {
        loss: Probability::from_ppb(1_000_000_000).unwrap(),
        ..hop.config()
    };
    hop.set_config(Instant::ZERO, config);
    assert!(hop.handle_packet(Instant::ZERO, 1_500, 1).is_ok());
    assert_eq!(hop.next_delivery(), Some(Instant::from_millis(6)));
    assert!(!hop.is_idle(Instant::from_millis(1)), "until the event is processed");
    hop.handle_timeout(Instant::from_millis(1));
    assert!(hop.is_idle(Instant::from_millis(1)));
}

/// A shorter delay doesn't reorder packets.
#[test]
fn the_order_is_kept_when_the_delay_changes() {
    let mut hop = hop(None, 10, 1_000);
    assert!(!hop.is_passthrough());
    hop.handle_packet(Instant::ZERO, 100, 1).unwrap();
    let none = HopConfig {
        delay: Duration::ZERO,
        ..hop.config()
    };
    hop.set_config(Instant::ZERO, none);
    assert!(
        none.is_passthrough() && !hop.is_passthrough(),
        "one packet is still in flight"
    );
    hop.handle_packet(Instant::from_millis(1), 100, 2).unwrap();
    let at = Instant::from_millis(10);
    assert_eq!((hop.poll_timeout(), hop.next_delivery()), (Some(at), Some(at)));
    assert_eq!(hop.poll_event(Instant::from_millis(9)), None);
    assert_eq!(hop.poll_event(at), Some((at, HopEvent::Arrived(1))));
    assert_eq!(hop.poll_event(at), Some((at, HopEvent::Arrived(2))));
    assert!(hop.is_passthrough() && hop.poll_timeout().is_none());
    for config in [
        HopConfig {
            rate: Some(BitRate::from_mbps(1)),
            ..none
        },
        HopConfig {
            delay: Duration::from_nanos(1),
            ..none
        },
        HopConfig {
            loss: Probability::from_ppb(1).unwrap(),
            ..none
        },
    ] {
        assert!(!config.is_passthrough());
    }
}

/// 100 ms at the rate: 1.25 MB for 100 Mbit/s; 64 KiB below 5.24 Mbit/s.
#[test]
fn default_queues() {
    let usual = |rate: Option<u64>| HopConfig::default_queue(rate.map(BitRate::from_bps)).as_bytes();
    assert_eq!(usual(Some(100_000_000)), 1_250_000);
    assert_eq!(usual(Some(5_000_000)), 65_536);
    assert_eq!(usual(None), 65_536);
}
