//! Loss, jitter, playout and gaps: values by hand, and comparison with an exhaustive search.

use netburn_quality::{
    Burst, Codec, Frames, Gaps, Impairment, LossRuns, Packet, Silences, StreamQuality, best_fixed_buffer, bursts,
    flent_rating, gaps, jitter, mean_delay_variation, rating, round_trips, silences,
};
use netburn_units::{Duration, Instant};
use proptest::prelude::*;

const INTERVAL: Duration = Duration::from_millis(20);
const CODEC: Codec = Codec::G711_CONCEALED;

/// Packets every 20 ms with these delays in ms; `None` is lost.
fn stream(delays: &[Option<u64>]) -> Vec<Packet> {
    delays
        .iter()
        .zip(0..)
        .map(|(delay, index)| Packet {
            due: Instant::ZERO + INTERVAL * index,
            delay: delay.map(Duration::from_millis),
        })
        .collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// 10 packets: runs of 1, 2 and 1. Mean length 4/3. Under random loss of 40 % it would be 1 / 0.6.
/// The burst ratio is 4/3 · 0.6 = 0.8.
#[test]
fn runs_of_loss_are_counted() {
    let lost = [false, true, false, true, true, false, false, false, false, true];
    let runs = LossRuns::from_sequence(lost);
    assert_eq!((runs.packets, runs.lost, runs.runs, runs.longest), (10, 4, 3, 2));
    close(runs.share(), 0.4);
    close(runs.mean_length().unwrap(), 4.0 / 3.0);
    close(runs.burst_ratio(), 0.8);
    let none = LossRuns::from_sequence([false; 3]);
    assert_eq!((none.runs, none.longest, none.mean_length()), (0, 0, None));
    close(none.burst_ratio(), 1.0);
    let all = LossRuns::from_sequence([true; 3]);
    assert_eq!((all.runs, all.longest, all.mean_length()), (1, 3, Some(3.0)));
    close(all.burst_ratio(), 1.0);
}

/// For a Markov chain the burst ratio is 1 / (p + q). A sequence with runs of 4 lost and 12 received
/// packets has p = 1/12 and q = 1/4, so 1 / (4/12) = 3.
#[test]
fn the_burst_ratio_is_that_of_the_markov_chain() {
    let lost = (0..160).map(|index| index % 16 >= 12);
    close(LossRuns::from_sequence(lost).burst_ratio(), 3.0);
}

/// RFC 3550 A.8: delays 10, 26, 10 ms. J = 16/16 = 1, then 1 + (16 − 1)/16 = 1.9375.
#[test]
fn jitter_is_that_of_rfc_3550() {
    let packets = stream(&[Some(10), Some(26), None, Some(10)]);
    let jitter = jitter(&packets).unwrap();
    close(jitter.last_ms, 1.9375);
    close(jitter.max_ms, 1.9375);
    close(jitter.mean_ms, f64::midpoint(1.0, 1.9375));
    // Only the first two packets were sent one after the other and arrived.
    close(mean_delay_variation(&packets).unwrap(), 16.0);
    assert_eq!(netburn_quality::jitter(&packets[..1]), None);
    assert_eq!(mean_delay_variation(&packets[1..]), None);
}

/// The second packet takes 90 ms and arrives at 110 ms, after the third (at 50 ms) and before the
/// fourth (at 120 ms). In the order of arrival the delays are 10, 10, 90, 60: |D| = 0, 80, 30. J =
/// 0, 5, 5 + 25/16 = 6.5625.
#[test]
fn jitter_follows_the_order_of_arrival() {
    let jitter = jitter(&stream(&[Some(10), Some(90), Some(10), Some(60)])).unwrap();
    close(jitter.last_ms, 6.5625);
    close(jitter.max_ms, 6.5625);
}

/// 1000 packets, all of which take 40 ms. The only candidate is 40 ms; with 20 ms of packetisation
/// and 3.75 ms of look-ahead R is that of 63.75 ms.
#[test]
fn a_constant_delay_needs_no_buffer() {
    let packets = stream(&[Some(40); 1000]);
    let found = best_fixed_buffer(&packets, CODEC.added_delay(INTERVAL), &CODEC).unwrap();
    assert_eq!((found.delay, found.late, found.lost), (Duration::from_millis(40), 0, 0));
    let of = Impairment {
        delay: Duration::from_micros(63_750),
        loss: 0.0,
        burst_ratio: 1.0,
    };
    close(found.rating, rating(&of, &CODEC));
}

/// One packet of 1000 takes 400 ms, the others 40 ms. Late, it costs 95 · 0.1 / 25.2 = 0.38 points;
/// a buffer for it would cost 30 points. If 500 of the packets take 120 ms, a buffer for them costs
/// 2 points, and none costs 95 · 50 / 75.1 = 63 points.
#[test]
fn the_buffer_leaves_out_few_slow_packets() {
    let mut delays = vec![Some(40); 1000];
    delays[500] = Some(400);
    let found = best_fixed_buffer(&stream(&delays), Duration::ZERO, &CODEC).unwrap();
    assert_eq!((found.delay, found.late), (Duration::from_millis(40), 1));
    for delay in delays.iter_mut().step_by(2) {
        *delay = Some(120);
    }
    let found = best_fixed_buffer(&stream(&delays), Duration::ZERO, &CODEC).unwrap();
    assert_eq!((found.delay, found.late), (Duration::from_millis(120), 0));
}

/// A call of 1000 packets, of which the first part is lost in one outage, and the others take 40 ms. R without loss
/// is 93.2 − 1.2 at 40 ms. The lost packets that follow a lost one are nearly all: with a share p, Ie,eff is
/// that of random loss at √p. 16 %: 95 · 40 / 65.1 = 58.4, and 86 %: 95 · 92.7 / 117.8 = 74.8.
#[test]
fn a_longer_outage_is_worse() {
    let at = |lost: usize| {
        let mut delays = vec![Some(40); 1000];
        delays[..lost].fill(None);
        best_fixed_buffer(&stream(&delays), Duration::ZERO, &CODEC).unwrap()
    };
    let (none, short, long) = (at(0), at(160), at(860));
    for (found, lost) in [(short, 160), (long, 860)] {
        assert_eq!(
            (found.delay, found.late, found.lost),
            (Duration::from_millis(40), 0, lost)
        );
    }
    assert!((none.rating - short.rating - 58.4).abs() < 0.2, "{}", short.rating);
    assert!((none.rating - long.rating - 74.8).abs() < 0.2, "{}", long.rating);
}

#[test]
fn a_stream_of_which_nothing_arrives_has_no_buffer() {
    assert_eq!(best_fixed_buffer(&stream(&[None; 5]), INTERVAL, &CODEC), None);
    assert_eq!(best_fixed_buffer(&[], INTERVAL, &CODEC), None);
    let quality = StreamQuality::from_packets(&stream(&[None; 5]), INTERVAL, &CODEC);
    assert_eq!(
        (quality.loss.lost, quality.playout, quality.flent_rating),
        (5, None, None)
    );
    assert_eq!(quality.gaps, Gaps { windows: 1, gaps: 1 });
}

/// Delays of 30 and 50 ms in turn: mean 40 ms, |IPDV| 20 ms, so G.711 at 40 + 2 · 20 = 80 ms.
#[test]
fn flents_formula_adds_twice_the_variation() {
    let delays: Vec<_> = (0..100).map(|index| Some(30 + 20 * (index % 2))).collect();
    let of = Impairment {
        delay: Duration::from_millis(80),
        loss: 0.0,
        burst_ratio: 1.0,
    };
    close(flent_rating(&stream(&delays)).unwrap(), rating(&of, &Codec::G711));
}

/// 200 ms are 10 packets, so one lost or late packet makes a gap.
#[test]
fn gaps_are_windows_with_a_tenth_lost_or_late() {
    let mut delays = vec![Some(40); 40];
    delays[9] = None;
    delays[10] = Some(90);
    delays[39] = Some(60);
    let packets = stream(&delays);
    let playout = |ms| Some(Duration::from_millis(ms));
    assert_eq!(gaps(&packets, playout(60)), Gaps { windows: 4, gaps: 2 });
    assert_eq!(gaps(&packets, playout(90)), Gaps { windows: 4, gaps: 1 });
    assert_eq!(gaps(&packets, None), Gaps { windows: 4, gaps: 1 });
    assert_eq!(gaps(&[], None), Gaps::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// No other buffer is better, whether its length is the delay of a packet or not; and the values
    /// are those of a direct count.
    #[test]
    fn the_best_buffer_is_at_least_as_good_as_any(
        delays in prop::collection::vec(prop::option::weighted(0.9, prop_oneof![0_u64..60, 0_u64..600]), 1..120),
        other in 0_u64..700,
        added in 0_u64..40,
        codec in prop::sample::select(Codec::ALL.to_vec()),
    ) {
        let packets = stream(&delays);
        let added = Duration::from_millis(added);
        let at = |playout: Duration| {
            let missing = LossRuns::from_sequence(packets.iter().map(|p| p.delay.is_none_or(|delay| delay > playout)));
            let of = Impairment { delay: playout + added, loss: missing.share(), burst_ratio: missing.burst_ratio() };
            (rating(&of, &codec), missing)
        };
        let best = best_fixed_buffer(&packets, added, &codec);
        prop_assert_eq!(best.is_some(), delays.iter().any(Option::is_some));
        let Some(best) = best else { return Ok(()) };
        let (counted, missing) = at(best.delay);
        prop_assert_eq!(best.rating, counted);
        prop_assert_eq!(best.late + best.lost, missing.lost);
        // At least half of the packets that arrived are in time.
        let is_candidate = |playout: Duration| {
            let arrived = packets.iter().filter_map(|packet| packet.delay);
            let (in_time, late): (Vec<_>, Vec<_>) = arrived.partition(|delay| *delay <= playout);
            in_time.len() >= late.len()
        };
        for delay in packets.iter().filter_map(|packet| packet.delay).filter(|delay| is_candidate(*delay)) {
            prop_assert!(at(delay).0 <= best.rating, "{delay} is better than {}", best.delay);
        }
        prop_assert!(is_candidate(best.delay));
        // Between two candidates a buffer is longer than the lower one without an advantage.
        let other = Duration::from_millis(other);
        if is_candidate(other) {
            prop_assert!(at(other).0 <= best.rating + 0.11);
        }
    }

    #[test]
    fn a_shift_of_all_delays_shifts_the_jitter_by_nothing(delays in prop::collection::vec(prop::option::of(0_u64..100), 2..60), shift in 0_u64..100) {
        let later: Vec<_> = delays.iter().map(|delay| delay.map(|delay| delay + shift)).collect();
        prop_assert_eq!(jitter(&stream(&delays)), jitter(&stream(&later)));
        prop_assert_eq!(mean_delay_variation(&stream(&delays)), mean_delay_variation(&stream(&later)));
    }
}

fn packet(due_ms: i64, delay_ms: Option<u64>) -> Packet {
    Packet {
        due: Instant::from_millis(due_ms),
        delay: delay_ms.map(Duration::from_millis),
    }
}

/// Packets every 50 ms with a delay of 10 ms. Those due at 100 and 150 ms are lost: no arrival from 60 to 210 ms. The one due at
/// 250 ms takes 120 ms and arrives at 370 ms, after the ones of 300 and 350 ms at 310 and 360 ms: from 210 to 310 ms are
/// 100 ms. The last one, due at 400 ms, is lost; 370 to 400 ms are no silence.
#[test]
fn silences_are_between_arrivals() {
    let delays = [10, 10, 0, 0, 10, 120, 10, 10, 0];
    let packets: Vec<Packet> = (0..)
        .zip(delays)
        .map(|(number, delay)| packet(50 * number, (delay > 0).then_some(delay)))
        .collect();
    let found = silences(&packets, Duration::from_millis(100));
    assert_eq!(
        (found.count, found.longest.as_millis(), found.total.as_millis()),
        (2, 150, 250)
    );
    assert_eq!(found.observed, Duration::from_millis(390));
    let none: Vec<Packet> = (0..5).map(|number| packet(50 * number, None)).collect();
    let found = silences(&none, Duration::from_millis(100));
    assert_eq!(
        (found.count, found.longest.as_millis(), found.observed.as_millis()),
        (1, 200, 200)
    );
    assert_eq!(silences(&[], Duration::from_millis(100)), Silences::default());
}

/// Frames of 3 packets every 20 ms. Frame 1 has a lost packet. Frame 0 misses its first packet, because the observation began
/// later. The last packet of frame 2 arrives 4 + 9 ms after the due time of the frame, the others earlier.
#[test]
fn a_burst_is_complete_with_its_last_packet() {
    let mut packets = Vec::new();
    for number in 1..9_u64 {
        let due = 20 * (number / 3) as i64 + 2 * (number % 3) as i64;
        let delay = match number {
            4 => None,
            8 => Some(9),
            _ => Some(5),
        };
        packets.push((number, packet(due, delay)));
    }
    let found = bursts(&packets, 3);
    let expected = [
        Burst {
            due: Instant::from_millis(20),
            delay: None,
        },
        Burst {
            due: Instant::from_millis(40),
            delay: Some(Duration::from_millis(13)),
        },
    ];
    assert_eq!(found, expected);
}

/// Answers are due at 0, 20, 40, 60 ms and take 30 ms; that of 40 ms is lost. An input sent at 5 ms arrives at 15 ms: the answer of
/// 20 ms makes 10 + 30 ms. One that arrives at 35 ms is answered by that of 60 ms instead of 40 ms: 10 + 20 + 30 ms. The third is
/// lost. The fourth arrives at 75 ms, after the last answer.
#[test]
fn a_round_trip_has_no_wait_for_the_answer() {
    let answers: Vec<Burst> = [(0, true), (20, true), (40, false), (60, true)]
        .into_iter()
        .map(|(due, arrives)| Burst {
            due: Instant::from_millis(due),
            delay: arrives.then_some(Duration::from_millis(30)),
        })
        .collect();
    let inputs = [
        packet(5, Some(10)),
        packet(25, Some(10)),
        packet(45, None),
        packet(65, Some(10)),
    ];
    let trips: Vec<Option<u64>> = round_trips(&inputs, &answers)
        .into_iter()
        .map(|trip| trip.map(Duration::as_millis))
        .collect();
    assert_eq!(trips, [Some(40), Some(60), None]);
    assert_eq!(round_trips(&inputs, &[]), [None]);
}

/// The network always delays by 10 ms, and a frame may take 16 ms longer: 26 ms are in time, 27 ms are late.
#[test]
fn a_frame_is_late_after_its_interval() {
    let frames: Vec<Burst> = [Some(10), Some(26), Some(27), None]
        .into_iter()
        .zip(0..)
        .map(|(delay, number)| Burst {
            due: Instant::from_millis(16 * number),
            delay: delay.map(Duration::from_millis),
        })
        .collect();
    let counted = Frames::from_bursts(&frames, Duration::from_millis(10), Duration::from_millis(16));
    let expected = Frames {
        frames: 4,
        late: 1,
        incomplete: 1,
    };
    assert_eq!((counted, counted.on_time()), (expected, 2));
}
