//! Streams of datagrams: due times, volume, limits, and the windows of the loss goal.

use crate::util::ms;
use crate::util::network::Network;
use netburn_quality::Packet;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Probability};
use netburn_workload::kinds::packets::Rating;
use netburn_workload::kinds::{Packets, VideoCall};
use netburn_workload::{
    Config, Direction, Goal, Operation, Outcome, PacketStream, Streams, Tally, Verdict, judge, loss_windows,
};
use proptest::prelude::*;

/// A frame of 3 packets of 1000 B every 10 ms, with 2 ms between its packets.
const FRAMES: PacketStream = PacketStream {
    interval: Duration::from_millis(10),
    burst: 3,
    spacing: Duration::from_millis(2),
    size: ByteSize::from_bytes(1000),
};

fn in_direction(operations: &[Operation], direction: Direction) -> Vec<&Operation> {
    let is = |operation: &&Operation| Direction::of_packet(operation.sequence) == direction;
    operations.iter().filter(is).collect()
}

/// Packets 0 to 2 are due at 0, 2 and 4 ms, packet 3 begins the next frame at 10 ms. Before 14 ms are those at 0, 2, 4, 10
/// and 12 ms. 3 · 1000 · 8 bit in 10 ms are 2.4 Mbit/s.
#[test]
fn bursts_are_on_a_grid() {
    let due: Vec<u64> = (0..5)
        .map(|number| FRAMES.offset(number).unwrap().as_millis())
        .collect();
    assert_eq!(due, [0, 2, 4, 10, 12]);
    assert_eq!(FRAMES.packets_within(Duration::from_millis(14)), 5);
    assert_eq!(FRAMES.packets_within(Duration::from_millis(10)), 3);
    assert_eq!(FRAMES.packets_within(Duration::ZERO), 0);
    assert_eq!(FRAMES.rate(), BitRate::from_bps(2_400_000));
    let at_once = PacketStream {
        spacing: Duration::ZERO,
        ..FRAMES
    };
    assert_eq!(at_once.offset(5), Some(Duration::from_millis(10)));
    assert_eq!(at_once.packets_within(Duration::from_nanos(1)), 3);
}

/// 10 s are 1000 frames down. The first one is due less than 10 ms after the first packet up, which is due less than 100 ms
/// after the start. A round trip of 30 ms is 15 ms each way. Bytes: 1000 B down, 50 B up.
#[test]
fn the_directions_of_datagrams_are_independent() {
    let streams = Streams {
        up: Some(PacketStream::single(
            Duration::from_millis(100),
            ByteSize::from_bytes(50),
        )),
        down: Some(FRAMES),
    };
    let config = Config::from(Packets::new(Rating::Loss, streams));
    assert_eq!(config.validate(), Ok(()));
    let run = Network::new(30, 100).run(&config, ms(10_000), 3);
    let (up, down) = (
        in_direction(&run.operations, Direction::Up),
        in_direction(&run.operations, Direction::Down),
    );
    assert_eq!(up.len(), 100);
    assert!((2_967..=3_000).contains(&down.len()), "{}", down.len());
    assert!(down[0].due.since(up[0].due) < Duration::from_millis(10));
    for (packets, gaps, size) in [(&up, vec![100], 50), (&down, vec![2, 2, 6], 1000)] {
        for (pair, gap) in packets.windows(2).zip(gaps.iter().cycle()) {
            assert_eq!(pair[1].due.since(pair[0].due), Duration::from_millis(*gap));
        }
        for packet in packets.iter().filter(|packet| packet.due < ms(9_900)) {
            assert_eq!(packet.latency(), Some(Duration::from_millis(15)));
            assert_eq!(packet.bytes, size);
        }
    }
    for one in [Direction::Up, Direction::Down] {
        let single = match one {
            Direction::Up => Streams { down: None, ..streams },
            Direction::Down => Streams { up: None, ..streams },
        };
        let single = Config::from(Packets::new(Rating::Loss, single));
        let run = Network::new(30, 100).run(&single, ms(1_000), 3);
        assert!(!run.operations.is_empty());
        assert_eq!(in_direction(&run.operations, one).len(), run.operations.len());
    }
}

/// From 2 s to 5 s: 3 s have 312.5 intervals of 9.6 ms. The first packet up is due within one interval of the start, the
/// first one down within two.
#[test]
fn a_stream_has_the_window_of_its_workload() {
    let mut config = Config::datagrams();
    (config.activity.start, config.activity.stop) = (Duration::from_secs(2), Some(Duration::from_secs(5)));
    let run = Network::new(30, 100).run(&config, ms(10_000), 3);
    for (direction, counts, intervals) in [(Direction::Up, 312..=313, 1), (Direction::Down, 311..=313, 2)] {
        let packets = in_direction(&run.operations, direction);
        assert!(counts.contains(&packets.len()), "{}", packets.len());
        let (first, last) = (packets[0].due, packets[packets.len() - 1].due);
        let latest = ms(2_000) + Duration::from_micros(9_600) * intervals;
        assert!(
            first >= ms(2_000) && first < latest && last < ms(5_000),
            "{first:?} to {last:?}"
        );
    }
}

/// 64 packets per second in each direction: 100 · 64 · 8 = 51.2 kbit/s up, 250 · 64 · 8 = 128 kbit/s down.
#[test]
fn a_game_has_64_ticks_per_second() {
    let config = Config::game();
    assert_eq!(config.mean_rate(), Some(BitRate::from_bps(179_200)));
    let run = Network::new(30, 100).run(&config, ms(10_000), 1);
    for (direction, size) in [(Direction::Up, 100), (Direction::Down, 250)] {
        let packets = in_direction(&run.operations, direction);
        assert!((639..=640).contains(&packets.len()), "{}", packets.len());
        for pair in packets.windows(2) {
            assert_eq!(pair[1].due.since(pair[0].due), Duration::from_micros(15_625));
        }
        assert!(packets.iter().all(|packet| [0, size].contains(&packet.bytes)));
    }
}

/// 25 Mbit/s at 60 Hz are 52,083 B, which are 43.4 packets of 1200 B. 43 packets are 24.768 Mbit/s. They are sent within 40 % of
/// 16.667 ms: 43 times 155 µs. 15 Mbit/s at 30 Hz are 62,500 B: 52 packets.
#[test]
fn frames_are_bursts_of_packets() {
    let config = Config::cloud_gaming();
    let down = config.packet_streams().down.unwrap();
    assert_eq!((down.burst, down.spacing.as_nanos() / 1000), (43, 155));
    assert_eq!(down.rate().as_bps() / 1000, 24_767);
    let other = PacketStream::frames(
        Duration::from_nanos(33_333_333),
        BitRate::from_mbps(15),
        ByteSize::from_bytes(1200),
    );
    assert_eq!(other.burst, 52);
    // A frame has at least one packet.
    let little = PacketStream::frames(
        Duration::from_millis(10),
        BitRate::from_bps(1),
        ByteSize::from_bytes(100),
    );
    assert_eq!((little.burst, little.spacing), (1, Duration::from_millis(4)));
    let run = Network::new(30, 100).run(&config, ms(1_000), 1);
    assert!((124..=125).contains(&in_direction(&run.operations, Direction::Up).len()));
    // 60 frames, the first of which is due within 16.7 ms or 24.7 ms.
    assert!((58 * 43..=60 * 43).contains(&in_direction(&run.operations, Direction::Down).len()));
}

/// Gaps are judged as stalls: none is a pass, up to 1 % of the time is marginal.
#[test]
fn gaps_are_judged_by_their_share_of_the_time() {
    for (gaps, millis, expected) in [
        (0, 0, Verdict::Pass),
        (1, 100, Verdict::Marginal),
        (6, 600, Verdict::Marginal),
        (6, 601, Verdict::Fail),
    ] {
        let tally = Tally {
            stalls: gaps,
            stalled: Duration::from_millis(millis),
            watched: Duration::from_secs(60),
            ..Tally::default()
        };
        let result = judge(Goal::NoGap, &tally);
        assert_eq!((result.verdict, result.excess), (expected, None), "{millis} ms");
    }
    assert_eq!(judge(Goal::NoGap, &Tally::default()).verdict, Verdict::Inconclusive);
}

/// No packet is held back because others have no answer: all of an outage of 1.5 s are sent, and lost after 2 s.
#[test]
fn an_outage_does_not_stop_a_stream() {
    let run = Network::new(30, 100)
        .outage(ms(2_000), ms(3_500))
        .run(&Config::datagrams(), ms(10_000), 1);
    for direction in [Direction::Up, Direction::Down] {
        // One each 9.6 ms.
        let lost: Vec<_> = in_direction(&run.operations, direction)
            .into_iter()
            .filter(|packet| packet.outcome == Outcome::TimedOut)
            .collect();
        assert!((156..=157).contains(&lost.len()), "{}", lost.len());
        for packet in lost {
            assert_eq!(packet.finished, Some(packet.due + Duration::from_secs(2)));
        }
    }
}

#[test]
fn impossible_streams_are_rejected() {
    type Case = (fn(&mut Packets), &'static str);
    let cases: &[Case] = &[
        (
            |c| c.streams = Streams::default(),
            "`up` or `down` is required for kind `datagrams`",
        ),
        (
            |c| c.streams.up.as_mut().unwrap().burst = 0,
            "`up` has an invalid `burst`: found 0 packets, expected 1 to 1000",
        ),
        (
            |c| c.streams.down.as_mut().unwrap().size = ByteSize::from_bytes(31),
            "`down` has an invalid `size`: found 31 B, expected 32 B to 1400 B",
        ),
        (
            |c| c.streams.down.as_mut().unwrap().interval = Duration::from_millis(1001),
            "`down` has an invalid `interval`: found 1.001 s, expected up to 1 s",
        ),
        (
            |c| c.streams.up.as_mut().unwrap().burst = 97,
            "`up` has an invalid `interval`: found 9.6 ms for 97 packets, expected at least 9.7 ms, which is 10000 packets per second",
        ),
        (
            |c| {
                let up = c.streams.up.as_mut().unwrap();
                (up.burst, up.spacing) = (4, Duration::from_micros(3_200));
            },
            "`up` has an invalid `spacing`: found 3.2 ms between 4 packets, expected less than 9.6 ms in all",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(
            Config::with(*change).validate().expect_err(expected).to_string(),
            *expected
        );
    }
    type CommonCase = (fn(&mut Config), &'static str);
    let cases: &[CommonCase] = &[
        (|c| c.timeout = Duration::from_secs(3), "`timeout` is 3 s; 10 ms to 2 s"),
        (
            |c| c.goals = vec![loss(0)],
            "`goal` is a loss of 0 %; expected more than 0 %, less than 100 %",
        ),
        (
            |c| c.goals = vec![Config::voice().goals[0]],
            "`goal` is not supported on kind `datagrams`; a rating is a goal for `voice`",
        ),
        (
            |c| c.goals = vec![Goal::NoGap],
            "`goal` is not supported on kind `datagrams`; `no gap` is a goal for `game`",
        ),
        (
            |c| c.goals = vec![Goal::Frames],
            "`goal` is not supported on kind `datagrams`; `frames on time` is a goal for `cloud-gaming`",
        ),
    ];
    for (change, expected) in cases {
        let mut config = Config::datagrams();
        change(&mut config);
        assert_eq!(config.validate().expect_err(expected).to_string(), *expected);
    }
    let up = Streams {
        down: None,
        ..Config::game().packet_streams()
    };
    assert_eq!(
        Config::from(Packets::new(Rating::Game, up))
            .validate()
            .unwrap_err()
            .to_string(),
        "`up` and `down` are required for kind `game`"
    );
    type VideoCase = (fn(&mut VideoCall), &'static str);
    let cases: &[VideoCase] = &[
        (
            |c| c.streams.up = None,
            "`up` and `down` are required for kind `video-call`",
        ),
        // 64 B every 33.333333 ms are 15.36 kbit/s.
        (
            |c| c.adaptation.min_rate = BitRate::from_bps(15_000),
            "`adaptation` has an invalid `min_rate`: found 15 kbit/s, expected at least 16 kbit/s for frames of 64 B",
        ),
        (
            |c| c.adaptation.start_rate = BitRate::from_bps(99_000),
            "`adaptation` has an invalid `start_rate`: found 99 kbit/s, expected at least `min_rate`, which is 100 kbit/s",
        ),
        (
            |c| c.streams.down.as_mut().unwrap().size = ByteSize::from_bytes(99),
            "`down` has an invalid `size`: found 99 B, expected at least 100 B for a video call",
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(
            Config::with(*change).validate().expect_err(expected).to_string(),
            *expected
        );
    }
    let video = Config {
        goals: vec![Goal::Frames],
        ..Config::video_call()
    };
    assert_eq!(
        video.validate().unwrap_err().to_string(),
        "`goal` is not supported on kind `video-call`; `frames on time` is a goal for `cloud-gaming`"
    );
    let voip = Config {
        goals: vec![loss(10_000_000)],
        ..Config::voip()
    };
    assert_eq!(
        voip.validate().unwrap_err().to_string(),
        "`goal` is not supported on kind `calls`; a loss is a goal for `datagrams`, `game`, `cloud-gaming` and `video-call`"
    );
}

/// 1200 B every 9.6 ms are 1 Mbit/s. In a minute, 60 s / 9.6 ms = 6250 packets are due in each direction.
#[test]
fn the_volume_of_streams_is_predicted() {
    let config = Config::datagrams();
    assert_eq!(config.mean_rate(), Some(BitRate::from_mbps(2)));
    let minute = Duration::from_secs(60);
    for direction in [Direction::Up, Direction::Down] {
        assert_eq!(config.volume(direction, minute).scheduled, 6_250 * 1200);
    }
}

fn loss(parts_per_billion: u32) -> Goal {
    Goal::Loss {
        at_most: Probability::from_ppb(parts_per_billion).unwrap(),
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }
}

/// 20 s of packets every 10 ms. Of those from 10 s to 11 s every fifth is lost, which is 20.
fn packets() -> Vec<Packet> {
    let packet = |number: i64| Packet {
        due: ms(number * 10),
        delay: (!(1000..1100).contains(&number) || number % 5 != 0).then_some(Duration::from_millis(7)),
    };
    (0..2000).map(packet).collect()
}

/// The windows begin at 0, 1, …, 10 s and have 1000 packets. All but the first have the 20 lost ones: 2 %, which is twice a
/// limit of 1 %.
#[test]
fn loss_is_counted_in_windows() {
    let end = Instant::from_secs(20);
    let tally = loss_windows(&packets(), loss(10_000_000), Instant::ZERO, end);
    assert_eq!((tally.samples, tally.met, tally.worst), (11, 1, Some(2.0)));
    assert_eq!(judge(loss(10_000_000), &tally).verdict, Verdict::Fail);
    let tally = loss_windows(&packets(), loss(20_000_000), Instant::ZERO, end);
    assert_eq!((tally.samples, tally.met, tally.worst), (11, 11, Some(1.0)));
    let result = judge(loss(20_000_000), &tally);
    assert_eq!(
        (result.verdict, result.met, result.provisional),
        (Verdict::Pass, Some(1.0), true)
    );
    // Too short for a window, and without packets.
    let tally = loss_windows(&packets(), loss(10_000_000), Instant::from_secs(11), end);
    assert_eq!(judge(loss(10_000_000), &tally).verdict, Verdict::Inconclusive);
    assert_eq!(loss_windows(&[], loss(10_000_000), Instant::ZERO, end).samples, 0);
}

fn stream() -> impl Strategy<Value = PacketStream> {
    (1_u32..50, 100_u64..20_000, 0_u64..100).prop_map(|(burst, each_us, share)| {
        let interval = Duration::from_micros(each_us * u64::from(burst)).min(Duration::from_secs(1));
        PacketStream {
            interval,
            burst,
            spacing: interval / u64::from(burst) * share / 100,
            size: ByteSize::from_bytes(100),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Due times increase, or are equal within a burst without spacing.
    #[test]
    fn packets_are_due_in_the_order_of_their_numbers(stream in stream()) {
        prop_assert_eq!(stream.validate(), Ok(()));
        for number in 0..200 {
            prop_assert!(stream.offset(number) <= stream.offset(number + 1));
        }
    }

    /// The number of packets before a time is the number of due times before it.
    #[test]
    fn the_number_of_packets_is_the_number_of_due_times(stream in stream(), micros in 0_u64..2_000_000) {
        let span = Duration::from_micros(micros);
        let count = stream.packets_within(span);
        prop_assert!(count == 0 || stream.offset(count - 1).unwrap() < span);
        prop_assert!(stream.offset(count).unwrap() >= span);
    }
}
