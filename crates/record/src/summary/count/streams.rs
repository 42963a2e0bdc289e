//! Counts the packets of streams of datagrams.

use super::packets::{Packets, worse};
use crate::aggregate::EvaluatedTime;
use crate::summary::evidence::{FrameEvidence, RoundTrips, StreamEvidence, StreamsEvidence, VideoEvidence};
use netburn_quality::{Frames, LossRuns, Packet, Silences, bursts, jitter, round_trips, silences};
use netburn_units::Duration;
use netburn_workload::config::GAP;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::verdict::loss_windows;
use netburn_workload::{Config, Direction, Goal, PacketStream, Tally};

/// One direction.
struct Stream {
    video: Option<VideoEvidence>,
    packets: Vec<Packet>,
    gaps: Option<Silences>,
    frames: Option<FrameEvidence>,
}

/// Evidence of the streams, and a tally for each goal. `judged` is the time from the first due time on.
pub(super) fn finish(
    packets: Packets,
    config: &Config,
    judged: Option<EvaluatedTime>,
) -> (StreamsEvidence, Vec<Tally>) {
    let streams = config.packet_streams();
    let video = config.video();
    let [up, down] = packets.with_bytes();
    let of = |frames: &[super::video::Frame], direction| {
        let stream = video?.streams.get(direction)?;
        Some(super::video::evidence(frames, config, stream))
    };
    let mut videos = [of(&up, Direction::Up), of(&down, Direction::Down)];
    let [up, down] = [up, down].map(numbered);
    let trips = config.kind().has_round_trips;
    let trips = streams
        .down
        .filter(|_| trips)
        .map(|answers| trips_of(&up, &down, answers));
    let frames = streams.down.filter(|_| config.rating() == Some(Rating::CloudGaming));
    let mut frames = frames.map(|stream| frames_of(&down, stream));
    let mut directions = [(streams.up, up), (streams.down, down)].map(|(stream, packets)| {
        stream.map(|_| {
            let packets: Vec<Packet> = packets.into_iter().map(|(_, packet)| packet).collect();
            let gaps = (config.rating() == Some(Rating::Game)).then(|| silences(&packets, GAP));
            Stream {
                packets,
                gaps,
                frames: None,
                video: None,
            }
        })
    });
    for (direction, video) in directions.iter_mut().zip(&mut videos) {
        if let Some(direction) = direction {
            direction.video = video.take();
        }
    }
    if let Some(down) = &mut directions[1] {
        down.frames = frames.take();
    }
    let tallies = config.goals.iter().map(|goal| match (goal, &trips) {
        (Goal::Latency { limit }, Some(trips)) => times_within(&trips.times, trips.lost, *limit),
        _ => {
            let of_each = directions.iter().flatten();
            // Only one direction has frames.
            let of_goal = of_each.filter(|stream| *goal != Goal::Frames || stream.frames.is_some());
            let tallies = of_goal.map(|stream| tally(stream, *goal, judged));
            tallies
                .reduce(|one, other| worse(*goal, one, other))
                .unwrap_or_default()
        }
    });
    let tallies = tallies.collect();
    let [up, down] = directions.map(|stream| stream.map(evidence));
    let evidence = StreamsEvidence {
        up,
        down,
        round_trips: trips,
    };
    (evidence, tallies)
}

/// Packets with their numbers, without their bytes.
fn numbered(packets: Vec<(u64, Packet, u64)>) -> Vec<(u64, Packet)> {
    let packets = packets.into_iter();
    packets.map(|(number, packet, _)| (number, packet)).collect()
}

/// Round trips of the packets up, which the bursts down answer.
fn trips_of(up: &[(u64, Packet)], down: &[(u64, Packet)], answers: PacketStream) -> RoundTrips {
    let inputs: Vec<Packet> = up.iter().map(|(_, packet)| *packet).collect();
    let trips = round_trips(&inputs, &bursts(down, answers.burst));
    RoundTrips {
        lost: trips.iter().filter(|trip| trip.is_none()).count() as u64,
        times: trips.into_iter().flatten().map(Duration::as_nanos).collect(),
    }
}

/// Frames of a stream. A frame may take one interval longer than the smallest delay of a packet.
fn frames_of(packets: &[(u64, Packet)], stream: PacketStream) -> FrameEvidence {
    let delays = packets.iter().filter_map(|(_, packet)| packet.delay);
    let least = delays.min().unwrap_or_default();
    let frames = bursts(packets, stream.burst);
    FrameEvidence {
        counts: Frames::from_bursts(&frames, least, stream.interval),
        delays: frames
            .iter()
            .filter_map(|frame| frame.delay)
            .map(Duration::as_nanos)
            .collect(),
    }
}

fn tally(stream: &Stream, goal: Goal, judged: Option<EvaluatedTime>) -> Tally {
    let packets = &stream.packets;
    match (goal, judged) {
        (Goal::Latency { limit }, _) => {
            let times: Vec<u64> = delays(packets).collect();
            let lost = packets.len() - times.len();
            times_within(&times, lost as u64, limit)
        }
        (Goal::Frames, _) => {
            let counts = stream.frames.as_ref().map(|frames| frames.counts).unwrap_or_default();
            Tally {
                samples: counts.frames,
                met: counts.on_time(),
                ..Tally::default()
            }
        }
        (Goal::NoFreeze, _) => {
            let freezes = stream.video.iter().flat_map(|video| &video.freezes);
            let freezes = freezes.copied().next().unwrap_or_default();
            Tally {
                stalls: freezes.count,
                stalled: freezes.total,
                watched: freezes.observed,
                ..Tally::default()
            }
        }
        (Goal::NoGap, _) => {
            let gaps = stream.gaps.unwrap_or_default();
            Tally {
                stalls: gaps.count,
                stalled: gaps.total,
                watched: gaps.observed,
                ..Tally::default()
            }
        }
        (goal, Some(part)) => loss_windows(packets, goal, part.from, part.to),
        (_, None) => Tally::default(),
    }
}

fn evidence(stream: Stream) -> StreamEvidence {
    let packets = &stream.packets;
    StreamEvidence {
        delays: delays(packets).collect(),
        losses: vec![LossRuns::from_sequence(
            packets.iter().map(|packet| packet.delay.is_none()),
        )],
        // The jitter of RFC 3550 is that of packets.
        jitter_ms: jitter(packets)
            .filter(|_| stream.video.is_none())
            .map(|jitter| jitter.mean_ms)
            .into_iter()
            .collect(),
        gaps: stream.gaps.into_iter().collect(),
        frames: stream.frames,
        video: stream.video,
    }
}

/// One-way delays of the packets that arrived, in ns.
fn delays(packets: &[Packet]) -> impl Iterator<Item = u64> {
    let delays = packets.iter().filter_map(|packet| packet.delay);
    delays.map(Duration::as_nanos)
}

/// Counts the times that are at most `limit`. A lost packet is a miss.
fn times_within(times: &[u64], lost: u64, limit: Duration) -> Tally {
    let limit = limit.as_nanos();
    let longest = times.iter().max();
    Tally {
        samples: times.len() as u64 + lost,
        met: times.iter().filter(|time| **time <= limit).count() as u64,
        worst: longest.map(|longest| *longest as f64 / limit.max(1) as f64),
        ..Tally::default()
    }
}
