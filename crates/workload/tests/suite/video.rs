//! Both ends of a video call on a modelled path.

use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::config::frame_size;
use netburn_workload::kinds::VideoCall;
use netburn_workload::kinds::video_call::video::{
    CompleteFrame, Feedback, MediaPacket, VideoConfig, VideoEnd, VideoTransmit,
};
use netburn_workload::{Adaptation, Config, PacketStream};
use proptest::prelude::*;

/// One-way delay of both directions.
const DELAY: Duration = Duration::from_millis(20);

/// 9000 B every 40 ms are 1.8 Mbit/s: 9 packets of 1000 B.
fn config(start_rate: BitRate) -> VideoConfig {
    VideoConfig {
        stream: PacketStream::adaptive(
            Duration::from_millis(40),
            BitRate::from_bps(1_800_000),
            ByteSize::from_bytes(1_000),
        ),
        adaptation: Adaptation {
            min_rate: BitRate::from_bps(100_000),
            start_rate,
        },
        timeout: Duration::from_secs(2),
    }
}

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

/// A sender and a receiver with a constant delay. `lose` decides by the transport number whether a packet is lost,
/// and by its number whether a feedback is.
struct Path<L> {
    ends: [VideoEnd; 2],
    now: Instant,
    next_frame: u32,
    frames: u32,
    /// Time of arrival, number, receiving end.
    flights: Vec<(Instant, usize, VideoTransmit)>,
    lose: L,
    feedbacks: u64,
    sent: Vec<(Instant, MediaPacket)>,
    complete: Vec<(Instant, CompleteFrame)>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Media(u64),
    Feedback(u64),
}

impl<L: FnMut(Item) -> bool> Path<L> {
    fn new(start_rate: BitRate, frames: u32, lose: L) -> Self {
        Path {
            ends: [VideoEnd::new(config(start_rate)), VideoEnd::new(config(start_rate))],
            now: Instant::ZERO,
            next_frame: 0,
            frames,
            flights: Vec::new(),
            lose,
            feedbacks: 0,
            sent: Vec::new(),
            complete: Vec::new(),
        }
    }

    fn drain(&mut self) {
        for end in 0..2 {
            while let Some(transmit) = self.ends[end].poll_transmit() {
                let item = match &transmit {
                    VideoTransmit::Media(packet) => {
                        self.sent.push((self.now, *packet));
                        Item::Media(packet.transport)
                    }
                    VideoTransmit::Feedback(_) => {
                        self.feedbacks += 1;
                        Item::Feedback(self.feedbacks - 1)
                    }
                };
                if !(self.lose)(item) {
                    self.flights.push((self.now + DELAY, 1 - end, transmit));
                }
            }
            while let Some(frame) = self.ends[end].poll_frame() {
                self.complete.push((self.now, frame));
            }
        }
    }

    fn run(&mut self, until: Instant) {
        loop {
            self.drain();
            let frame = (self.next_frame < self.frames)
                .then(|| Instant::ZERO + Duration::from_millis(40) * u64::from(self.next_frame));
            let arrival = self.flights.iter().map(|(at, ..)| *at).min();
            let timeouts = self.ends.iter().filter_map(|end| end.poll_timeout().map(|(at, _)| at));
            let next = timeouts.chain(frame).chain(arrival).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                self.now = until;
                return;
            };
            assert!(next >= self.now, "a timeout of the past");
            self.now = next;
            if frame == Some(next) {
                self.ends[0].send_frame(next, self.next_frame);
                self.next_frame += 1;
                continue;
            }
            if let Some(place) = self.flights.iter().position(|(at, ..)| *at == next) {
                let (_, end, transmit) = self.flights.remove(place);
                match transmit {
                    VideoTransmit::Media(packet) => self.ends[end].handle_media(next, &packet),
                    VideoTransmit::Feedback(feedback) => self.ends[end].handle_feedback(next, &feedback),
                }
                continue;
            }
            self.ends.iter_mut().for_each(|end| end.handle_timeout(next));
        }
    }
}

/// 2.5 Mbit/s and 33.333333 ms are 10,416.67 B: 9 packets of 1158 B, which are 2.50128 Mbit/s. At 1.2 Mbit/s a frame
/// has 4999 B.
#[test]
fn the_built_in_video_call_has_the_frames_of_720p30() {
    let stream = VideoCall::default().streams.down.unwrap();
    assert_eq!((stream.burst, stream.size.as_bytes()), (9, 1158));
    assert_eq!(stream.burst_size().as_bytes(), 10_422);
    assert_eq!(stream.rate().as_bps() / 1000, 2_501);
    assert_eq!(
        frame_size(BitRate::from_bps(1_200_000), stream.interval).as_bytes(),
        4_999
    );
    assert_eq!(Config::video_call().validate(), Ok(()));
}

/// At 0.9 Mbit/s a frame has 4500 B: 5 packets of 900 B. The pacer sends at 2.25 Mbit/s, so a packet every 3.2 ms.
/// The last one is sent 12.8 ms after the first, and arrives 20 ms later.
#[test]
fn a_frame_is_divided_and_paced() {
    let mut path = Path::new(BitRate::from_bps(900_000), 1, |_| false);
    path.run(at(39));
    let sent: Vec<_> = path
        .sent
        .iter()
        .map(|(at, packet)| (at.as_nanos() / 1000, packet.size.as_bytes()))
        .collect();
    assert_eq!(
        sent,
        [(0, 900), (3_200, 900), (6_400, 900), (9_600, 900), (12_800, 900)]
    );
    let expected = CompleteFrame {
        number: 0,
        size: ByteSize::from_bytes(4_500),
    };
    assert_eq!(path.complete, [(Instant::from_micros(32_800), expected)]);
}

/// The packets of 4501 B differ by at most one byte.
#[test]
fn packets_have_about_equal_sizes() {
    let mut path = Path::new(BitRate::from_bps(900_200), 1, |_| false);
    path.run(at(39));
    let sizes: Vec<u64> = path.sent.iter().map(|(_, packet)| packet.size.as_bytes()).collect();
    assert_eq!(sizes, [901, 900, 900, 900, 900]);
}

/// Packet 2 of frame 0 is lost. The first feedback leaves at 20 ms, with the first arrival. Packet 3 arrives at 29.6
/// ms, which reveals the loss: the next feedback leaves 20 ms after the first, at 40 ms. It arrives at 60 ms. The
/// pacer sends nothing then, except the rest of frame 1, which was encoded at 40 ms: its last packet leaves by 52.8
/// ms. So packet 2 is sent again at 60 ms and arrives at 80 ms.
#[test]
fn a_lost_packet_is_sent_again() {
    let mut path = Path::new(BitRate::from_bps(900_000), 2, |item| matches!(item, Item::Media(2)));
    path.run(at(300));
    let frame = |number| path.complete.iter().find(|(_, frame)| frame.number == number).unwrap();
    assert_eq!(frame(0).0, at(80));
    assert_eq!(frame(0).1.size.as_bytes(), 4_500);
    let again: Vec<_> = path
        .sent
        .iter()
        .filter(|(_, packet)| (packet.frame, packet.index) == (0, 2))
        .collect();
    assert_eq!(again.len(), 2);
    assert_eq!((again[1].0, again[1].1.transport), (at(60), 10));
}

/// The content of the lost feedback is in the next one as well: all packets are reported, and the rate rises without
/// a loss. Of the feedbacks, which leave every 100 ms, every second one is lost.
#[test]
fn a_lost_feedback_has_no_effect_on_the_rate() {
    let rate = |lose: fn(Item) -> bool| {
        let mut path = Path::new(BitRate::from_bps(600_000), 250, lose);
        path.run(at(10_050));
        assert_eq!(path.complete.len(), 250);
        path.ends[0].rate().as_mbps_f64()
    };
    let (all, half) = (
        rate(|_| false),
        rate(|item| matches!(item, Item::Feedback(number) if number % 2 == 1)),
    );
    // 10 s at 8 % per second: 0.6 · 1.08^10 = 1.295.
    assert!((all - 1.295).abs() < 0.03, "{all}");
    assert!((half - all).abs() < 0.03, "{half}");
}

/// Bytes that are sent again are missing in the next frames: in all, no more than the target rate is sent. Every
/// tenth packet is lost, which is no reason to lower the rate (2 to 10 %). After 10 s there are 250 frames of 9000 B.
#[test]
fn retransmissions_are_part_of_the_rate() {
    let mut path = Path::new(
        BitRate::from_bps(1_800_000),
        250,
        |item| matches!(item, Item::Media(number) if number % 10 == 9),
    );
    path.run(at(12_000));
    let sent: u64 = path.sent.iter().map(|(_, packet)| packet.size.as_bytes()).sum();
    let again = path.sent.len()
        - path
            .complete
            .iter()
            .map(|(_, frame)| frame.size.as_bytes().div_ceil(1000) as usize)
            .sum::<usize>();
    assert!(again > 100, "{again}");
    assert!(sent <= 250 * 9_000 + 2 * 9_000, "{sent}");
    assert_eq!(path.complete.len(), 250, "all frames become complete");
}

/// A frame that is older than 2 s is not sent any more: without any feedback about it nothing is sent again.
#[test]
fn without_an_answer_the_sender_stops() {
    let mut path = Path::new(BitRate::from_bps(900_000), 10, |item| matches!(item, Item::Media(_)));
    path.run(at(20_000));
    assert_eq!(path.sent.len(), 50);
    assert!(path.complete.is_empty());
    assert_eq!(path.ends[0].poll_timeout(), None);
}

/// 20 Mbit/s in packets of 100 B are 150 packets in 6 ms. A feedback has 300 numbers and repeats the previous one, so it
/// can't wait for 100 ms.
#[test]
fn many_packets_have_a_feedback_at_once() {
    let mut end = VideoEnd::new(config(BitRate::from_mbps(1)));
    let mut arrive = |numbers: std::ops::Range<u64>| {
        for transport in numbers {
            end.handle_media(
                at(0),
                &MediaPacket {
                    transport,
                    frame: transport as u32,
                    index: 0,
                    count: 2,
                    size: ByteSize::from_bytes(100),
                },
            );
        }
        end.handle_timeout(at(0));
        match end.poll_transmit() {
            Some(VideoTransmit::Feedback(feedback)) => Some(feedback.ages.len()),
            _ => None,
        }
    };
    assert_eq!(arrive(0..1), Some(1), "the first packet has a feedback at once");
    assert_eq!(arrive(1..150), None);
    assert_eq!(
        arrive(150..151),
        Some(151),
        "150 new ones, and one of the previous feedback"
    );
    assert_eq!(arrive(151..301), Some(300));
}

fn media() -> impl Strategy<Value = MediaPacket> {
    let transport = prop_oneof![0_u64..600, any::<u64>()];
    let frame = prop_oneof![0_u32..40, any::<u32>()];
    (transport, frame, 0_u16..12, 0_u16..1200, 0_u64..1400).prop_map(|(transport, frame, index, count, size)| {
        MediaPacket {
            transport,
            frame,
            index,
            count: if size % 3 == 0 { count } else { 9 },
            size: ByteSize::from_bytes(size),
        }
    })
}

fn feedback() -> impl Strategy<Value = Feedback> {
    let ages = prop::collection::vec(
        prop::option::of((0_u64..5_000_000).prop_map(Duration::from_micros)),
        0..300,
    );
    let stamp = prop_oneof![
        (0_i64..100_000).prop_map(Instant::from_millis),
        any::<i64>().prop_map(Instant::from_nanos)
    ];
    (prop_oneof![0_u64..600, any::<u64>()], stamp, ages).prop_map(|(from, stamp, ages)| Feedback { stamp, from, ages })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// For arbitrary packets and feedbacks of the other end: the rate is in its range, a frame is complete at most
    /// once, the timeout is stable, and it moves when it is handled. What is sent in a time is bounded by 2.5 times
    /// the maximum rate, and by one feedback for each received packet.
    #[test]
    fn an_end_is_bounded_for_every_input(
        steps in prop::collection::vec((0_u64..60, prop_oneof![
            media().prop_map(VideoTransmit::Media),
            feedback().prop_map(VideoTransmit::Feedback),
        ]), 1..150),
    ) {
        let mut end = VideoEnd::new(config(BitRate::from_bps(900_000)));
        let (mut now, mut number, mut received) = (Instant::ZERO, 0, 0_usize);
        let (mut bytes, mut feedbacks) = (0_u64, 0_usize);
        let mut complete = std::collections::BTreeSet::new();
        for (wait, input) in steps {
            now += Duration::from_millis(wait);
            while let Some((at, wake)) = end.poll_timeout().filter(|(at, _)| *at <= now) {
                prop_assert_eq!(end.poll_timeout(), Some((at, wake)));
                end.handle_timeout(at);
                let moved = end.poll_timeout().is_none_or(|(next, _)| next > at);
                prop_assert!(moved, "{:?} at {:?} has no effect", wake, at);
            }
            match input {
                VideoTransmit::Media(packet) => {
                    received += 1;
                    end.handle_media(now, &packet);
                }
                VideoTransmit::Feedback(feedback) => end.handle_feedback(now, &feedback),
            }
            end.send_frame(now, number);
            number += 1;
            prop_assert!((100_000..=1_800_000).contains(&end.rate().as_bps()));
            while let Some(frame) = end.poll_frame() {
                prop_assert!(complete.insert(frame.number), "frame {} is complete twice", frame.number);
            }
            while let Some(transmit) = end.poll_transmit() {
                match transmit {
                    VideoTransmit::Media(packet) => bytes += packet.size.as_bytes(),
                    VideoTransmit::Feedback(feedback) => {
                        feedbacks += 1;
                        prop_assert!(feedback.ages.len() <= 300);
                    }
                }
            }
        }
        // 4.5 Mbit/s are 562.5 B per ms. The pacer catches up 5 ms, and the packet at the start is free.
        let most = now.since(Instant::ZERO).as_nanos() / 1_000_000 * 563 + 563 * 6 + 1_000;
        prop_assert!(bytes <= most, "{} of {} bytes", bytes, most);
        prop_assert!(feedbacks <= received);
    }
}
