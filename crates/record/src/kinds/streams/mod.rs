//! Delays, losses, gaps and frames of streams of datagrams, for `datagrams`, `game`, `cloud-gaming` and `video-call`.

mod metrics;
mod video;

pub use video::VideoSummary;

pub(super) use metrics::{BOTH, DOWN, UP};

use super::delivery::DeliverySummary;
use super::grades::qoo_score;
use super::packets::{Packets, worse};
use super::{End, KindCounter, Shared};
use crate::aggregate::{Counted, EvaluatedTime, LoadDirection};
use crate::latency_ms::LatencyMs;
use netburn_quality::grade::qoo::GAMES;
use netburn_quality::{Frames, LossRuns, Packet, Silences, bursts, jitter, round_trips, silences};
use netburn_stats::Distribution;
use netburn_units::Duration;
use netburn_workload::config::GAP;
use netburn_workload::kinds::packets::Rating;
use netburn_workload::verdict::loss_windows;
use netburn_workload::{Config, Direction, Goal, PacketStream, Tally};
use serde::{Deserialize, Serialize};
use video::VideoEvidence;

/// Results of streams of datagrams.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamsSummary {
    /// From the station to the server, if the workload has this stream.
    pub up: Option<StreamSummary>,
    /// From the server to the station, if the workload has this stream.
    pub down: Option<StreamSummary>,
    /// Round trips of the packets up, for `game` and `cloud-gaming`: the one-way delay of a packet, and
    /// that of its answer. The answer is the first packet or frame down that is due when the packet up
    /// has arrived. Lost packets rank above all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<LatencyMs>,
    /// Quality of outcome (draft-ietf-ippm-qoo) for `game`, 0 to 100: from the median, p95 and p99 of
    /// the round trips. 100 needs 30, 65 and 100 ms; 0 follows from 150, 200 or 250 ms. `null` if
    /// there are too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qoo: Option<f64>,
}

/// One direction of streams of datagrams. With `--repeat`, `jitter_ms` is the mean of the runs, and
/// the other values are those of all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Packets of this direction; frames of a `video-call`.
    #[serde(flatten)]
    pub delivery: DeliverySummary,
    /// Gaps, for `game`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gaps: Option<GapSummary>,
    /// Frames, for the direction down of `cloud-gaming`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameSummary>,
    /// Video, for `video-call`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
}

/// Frames of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FrameSummary {
    /// Frames sent.
    pub frames: u64,
    /// From the due time of a frame to the arrival of its last packet. Incomplete frames rank above all
    /// others.
    pub delay_ms: LatencyMs,
    /// Share of the frames that were complete later than one interval plus the smallest delay of a
    /// packet; `null` without frames.
    pub late_share: Option<f64>,
    /// Share of the frames of which a packet was lost.
    pub incomplete_share: Option<f64>,
    /// Share of the frames that were late or incomplete.
    pub missed_share: Option<f64>,
}

/// Gaps of a stream: times of 100 ms or more between two arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GapSummary {
    /// Number of gaps.
    pub count: u64,
    /// Duration of the longest gap; 0 without one.
    pub longest_ms: f64,
    /// Share of the observed time in gaps.
    pub share: f64,
}

/// Streams of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    /// Packets of one run.
    packets: Packets,
    up: Option<StreamEvidence>,
    down: Option<StreamEvidence>,
    /// Round trips of the packets up, for kinds that have them.
    round_trips: Option<RoundTrips>,
}

/// Round trips of packets.
#[derive(Debug, Clone, Default)]
struct RoundTrips {
    /// Round trips in ns.
    times: Vec<u64>,
    /// Packets that were lost or not answered.
    lost: u64,
}

/// One direction.
#[derive(Debug, Clone, Default)]
struct StreamEvidence {
    /// One-way delays in ns.
    delays: Vec<u64>,
    /// Losses of each run.
    losses: Vec<LossRuns>,
    /// Mean jitter of each run with two arrivals, in ms.
    jitter_ms: Vec<f64>,
    /// Gaps of each run, for kinds that are judged by them.
    gaps: Vec<Silences>,
    /// Frames, for kinds that have them.
    frames: Option<FrameEvidence>,
    /// Frames of a video call.
    video: Option<VideoEvidence>,
}

/// Frames of a stream.
#[derive(Debug, Clone, Default)]
struct FrameEvidence {
    counts: Frames,
    /// Times from the due time of a frame to its completion, in ns.
    delays: Vec<u64>,
}

impl FrameEvidence {
    fn add(&mut self, other: FrameEvidence) {
        self.counts.frames += other.counts.frames;
        self.counts.late += other.counts.late;
        self.counts.incomplete += other.counts.incomplete;
        self.delays.extend(other.delays);
    }
}

impl KindCounter for Streams {
    type Summary = StreamsSummary;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        let has_streams = config.kind().is_one_way() && config.rating() != Some(Rating::Voice);
        has_streams.then(Streams::default)
    }

    fn operation(&mut self, _config: &Config, counted: &Counted<'_>, _load: Option<LoadDirection>) {
        self.packets.put(counted.operation, counted.latency);
    }

    fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
        let config = of.config;
        let streams = config.packet_streams();
        let [up, down] = std::mem::take(&mut self.packets).with_bytes();
        let answers = streams.down.filter(|_| config.kind().has_round_trips);
        let trips = answers.map(|answers| trips_of(&numbered(&up), &numbered(&down), answers));
        let directions = [
            streams.up.map(|stream| Stream::new(config, Direction::Up, stream, &up)),
            streams
                .down
                .map(|stream| Stream::new(config, Direction::Down, stream, &down)),
        ];
        for (goal, to) in config.goals.iter().zip(goals) {
            *to = match (goal, &trips) {
                (Goal::Latency { limit }, Some(trips)) => times_within(&trips.times, trips.lost, *limit),
                _ => {
                    let of_each = directions.iter().flatten();
                    // Only one direction has frames.
                    let of_goal = of_each.filter(|stream| *goal != Goal::Frames || stream.frames.is_some());
                    let tallies = of_goal.map(|stream| tally(stream, *goal, of.judged.first().copied()));
                    tallies
                        .reduce(|one, other| worse(*goal, one, other))
                        .unwrap_or_default()
                }
            };
        }
        [self.up, self.down] = directions.map(|stream| stream.map(evidence));
        self.round_trips = trips;
    }

    fn add(&mut self, other: Self) {
        for (one, other) in [(&mut self.up, other.up), (&mut self.down, other.down)] {
            if let (Some(one), Some(other)) = (one, other) {
                one.delays.extend(other.delays);
                one.losses.extend(other.losses);
                one.jitter_ms.extend(other.jitter_ms);
                one.gaps.extend(other.gaps);
                if let (Some(one), Some(other)) = (&mut one.frames, other.frames) {
                    one.add(other);
                }
                if let (Some(one), Some(other)) = (&mut one.video, other.video) {
                    one.add(other);
                }
            }
        }
        if let (Some(one), Some(other)) = (&mut self.round_trips, other.round_trips) {
            one.times.extend(other.times);
            one.lost += other.lost;
        }
    }

    fn summarise(self, _of: &Shared<'_>) -> StreamsSummary {
        // Only a game has gaps.
        let is_game = [&self.up, &self.down]
            .into_iter()
            .flatten()
            .any(|stream| !stream.gaps.is_empty());
        let round_trips = self
            .round_trips
            .map(|trips| Distribution::from_samples(trips.times, trips.lost));
        // Lost packets count in the percentiles.
        let qoo = round_trips
            .as_ref()
            .filter(|_| is_game)
            .and_then(|trips| qoo_score(&GAMES, trips, 0.0).ok());
        StreamsSummary {
            up: self.up.map(StreamSummary::from),
            down: self.down.map(StreamSummary::from),
            round_trip_ms: round_trips.as_ref().map(LatencyMs::from),
            qoo,
        }
    }
}

/// One direction.
struct Stream {
    video: Option<VideoEvidence>,
    packets: Vec<Packet>,
    gaps: Option<Silences>,
    frames: Option<FrameEvidence>,
}

impl Stream {
    /// Packets of a direction in the order of their numbers, each with its bytes.
    fn new(config: &Config, direction: Direction, stream: PacketStream, packets: &[(u64, Packet, u64)]) -> Self {
        let rating = config.rating();
        let video = config.video().and_then(|call| call.streams.get(direction));
        let has_frames = direction == Direction::Down && rating == Some(Rating::CloudGaming);
        let frames = has_frames.then(|| frames_of(&numbered(packets), stream));
        let video = video.map(|target| video::evidence(packets, config, target));
        let packets: Vec<Packet> = packets.iter().map(|(_, packet, _)| *packet).collect();
        Stream {
            gaps: (rating == Some(Rating::Game)).then(|| silences(&packets, GAP)),
            packets,
            frames,
            video,
        }
    }
}

/// Packets with their numbers, without their bytes.
fn numbered(packets: &[(u64, Packet, u64)]) -> Vec<(u64, Packet)> {
    packets.iter().map(|(number, packet, _)| (*number, *packet)).collect()
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

impl From<&[Silences]> for GapSummary {
    fn from(runs: &[Silences]) -> Self {
        let sum = |value: fn(&Silences) -> Duration| {
            let nanos = runs.iter().map(|run| u128::from(value(run).as_nanos()));
            nanos.sum::<u128>() as f64
        };
        let (total, observed) = (sum(|run| run.total), sum(|run| run.observed));
        let longest = runs.iter().map(|run| run.longest).max().unwrap_or_default();
        GapSummary {
            count: runs.iter().map(|run| run.count).sum(),
            longest_ms: longest.as_millis_f64(),
            share: if observed > 0.0 { total / observed } else { 0.0 },
        }
    }
}

impl From<FrameEvidence> for FrameSummary {
    fn from(of: FrameEvidence) -> Self {
        let counts = of.counts;
        let share = |part: u64| (counts.frames > 0).then(|| part as f64 / counts.frames as f64);
        FrameSummary {
            frames: counts.frames,
            delay_ms: LatencyMs::from(&Distribution::from_samples(of.delays, counts.incomplete)),
            late_share: share(counts.late),
            incomplete_share: share(counts.incomplete),
            missed_share: share(counts.late + counts.incomplete),
        }
    }
}

impl From<StreamEvidence> for StreamSummary {
    fn from(of: StreamEvidence) -> Self {
        let packets = of.losses.iter().map(|losses| losses.packets).sum();
        let video = of.video;
        StreamSummary {
            delivery: DeliverySummary::new(&of.losses, of.delays, &of.jitter_ms),
            gaps: (!of.gaps.is_empty()).then(|| GapSummary::from(&of.gaps[..])),
            frames: of.frames.map(FrameSummary::from),
            video: video.map(|video| VideoSummary::new(&video, packets)),
        }
    }
}
