//! Counts and samples of a run's rows before goals are judged. Those of several runs can be added.

use super::segments::SegmentsEvidence;
use super::split::SplitEvidence;
use super::wifi::WifiEvidence;
use crate::DscpArrivals;
use crate::aggregate::LoadDirection;
use crate::health::{Clock, Health};
use crate::lab_health::LabHealth;
use crate::quality_issue::QualityIssue;
use netburn_quality::{Frames, Freezes, LossRuns, Silences, StreamQuality};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Tally;
use netburn_workload::responsiveness::{ScoredProbe, Scoring, WorkloadScore};

/// All that a summary is computed from, besides the plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunEvidence {
    pub(crate) stations: Vec<StationEvidence>,
    /// The run's evaluated time, for the totals.
    pub(crate) judged: Duration,
    pub(crate) health: Vec<Health>,
    pub(crate) clocks: Vec<Clock>,
    /// Reasons for which no result is reliable.
    pub(crate) quality_issues: Vec<QualityIssue>,
    /// The lab's report on its own work.
    pub(crate) lab: Option<LabHealth>,
    /// True if the run's server was lost and no station measured against it.
    pub(crate) server_unused: bool,
    /// Time of the last row, in nanoseconds since the run began.
    pub(crate) reached: i64,
}

/// One station's part.
#[derive(Debug, Clone, Default)]
pub(crate) struct StationEvidence {
    /// Idle round trips in ns.
    pub(crate) idle: Vec<u64>,
    /// Idle probes that were lost.
    pub(crate) idle_lost: u64,
    /// Differences between successive idle round trips.
    pub(crate) idle_variation: Variation,
    /// Reasons for which its results are incomplete: its agent, or the server that it used, was
    /// lost.
    pub(crate) lost: Vec<QualityIssue>,
    /// True if it measured against the run's server, and that was lost.
    pub(crate) server_lost: bool,
    /// Rejected rows of its agent.
    pub(crate) rejected: Vec<QualityIssue>,
    /// Reasons for which its reported bytes are impossible.
    pub(crate) unconfirmed: Vec<QualityIssue>,
    /// Content that is excluded from the total, as [`WorkloadEvidence::moved`].
    pub(crate) left_out: u128,
    /// Evaluated time.
    pub(crate) judged: Duration,
    /// Airtime of its data in the run's evaluated time, in nanoseconds × 10⁸.
    pub(crate) airtime: u128,
    pub(crate) wifi: WifiEvidence,
    /// Delays of Wi-Fi, line and server.
    pub(crate) split: SplitEvidence,
    pub(crate) workloads: Vec<WorkloadEvidence>,
}

/// One workload's part.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkloadEvidence {
    /// Evaluated time in which the workload runs.
    pub(crate) judged: Duration,
    pub(crate) counts: Counts,
    /// The agent's first warning about the workload.
    pub(crate) warning: Option<String>,
    /// From due to end in ns, of those that finished.
    pub(crate) latency: Vec<u64>,
    /// Content of finished operations.
    pub(crate) lengths: Lengths,
    /// From start to connected in ns.
    pub(crate) dial: Vec<u64>,
    /// Connection attempts that failed.
    pub(crate) undialled: u64,
    /// From due to the first byte in ns.
    pub(crate) first_byte: Vec<u64>,
    /// Counted operations without a first byte.
    pub(crate) byteless: u64,
    /// One tally per goal, in the plan's order.
    pub(crate) goals: Vec<Tally>,
    /// Content moved in the evaluated time: bytes × 10⁸ (weighted by nanoseconds of each 100 ms
    /// interval).
    pub(crate) moved: u128,
    /// The player's stalls, against the time watched.
    pub(crate) watched: Tally,
    /// The longest stall in the evaluated time, in ns.
    pub(crate) longest_stall: u64,
    /// Times from the start of players to their playback, in ns.
    pub(crate) startup: Vec<u64>,
    /// Answers that arrived after one sent later.
    pub(crate) reordered: u64,
    /// One-way delays in ns above the minimum.
    pub(crate) up: Vec<u64>,
    pub(crate) down: Vec<u64>,
    /// Both directions of a call.
    pub(crate) voice: Option<VoiceEvidence>,
    /// Streams of datagrams.
    pub(crate) streams: Option<StreamsEvidence>,
    /// Segments of `dash`.
    pub(crate) segments: Option<SegmentsEvidence>,
    /// Probes of `responsiveness`.
    pub(crate) responsiveness: Option<ResponsivenessEvidence>,
    /// Round trips under bulk load, for a probe.
    pub(crate) loaded: LoadedEvidence,
    /// DSCP with which packets arrived, at most one for each direction.
    pub(crate) dscp: Vec<DscpArrivals>,
}

/// Probes of a workload of kind `responsiveness`.
#[derive(Debug, Clone)]
pub(crate) struct ResponsivenessEvidence {
    pub(crate) scoring: Scoring,
    /// In the order of the due times of each run.
    pub(crate) probes: Vec<ScoredProbe>,
    pub(crate) foreign: ProbeCounts,
    pub(crate) own: ProbeCounts,
    /// Objects of the load that failed or timed out.
    pub(crate) load_failures: u64,
    /// Start and score of each period of one run; empty for several runs.
    pub(crate) periods: Vec<(Instant, Option<WorkloadScore>)>,
}

/// Numbers of probes of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProbeCounts {
    pub(crate) due: u64,
    pub(crate) answered: u64,
    pub(crate) late: u64,
}

impl ProbeCounts {
    fn add(&mut self, other: ProbeCounts) {
        self.due += other.due;
        self.answered += other.answered;
        self.late += other.late;
    }
}

impl ResponsivenessEvidence {
    fn add(&mut self, other: ResponsivenessEvidence) {
        self.probes.extend(other.probes);
        self.foreign.add(other.foreign);
        self.own.add(other.own);
        self.load_failures += other.load_failures;
        self.periods.clear();
    }
}

/// Round trips of a probe in ns, by the directions of the bulk load when they were due.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoadedEvidence {
    pub(crate) download: Vec<u64>,
    pub(crate) upload: Vec<u64>,
    pub(crate) both: Vec<u64>,
}

impl LoadedEvidence {
    pub(crate) fn put(&mut self, direction: LoadDirection, nanos: u64) {
        match direction {
            LoadDirection::Download => &mut self.download,
            LoadDirection::Upload => &mut self.upload,
            LoadDirection::Both => &mut self.both,
        }
        .push(nanos);
    }

    fn add(&mut self, other: LoadedEvidence) {
        self.download.extend(other.download);
        self.upload.extend(other.upload);
        self.both.extend(other.both);
    }
}

/// Differences between successive samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Variation {
    sum: u128,
    pairs: u64,
}

impl Variation {
    /// Differences of samples in ns, in the order in which they were sent.
    pub(crate) fn from_samples(samples: &[u64]) -> Self {
        let pairs = samples.windows(2).map(|pair| u128::from(pair[0].abs_diff(pair[1])));
        Variation {
            sum: pairs.sum(),
            pairs: samples.len().saturating_sub(1) as u64,
        }
    }

    /// Mean of the differences; `None` without any.
    pub(crate) fn mean(self) -> Option<Duration> {
        // The mean of values of 64 bits has 64 bits.
        let mean = self.sum.checked_div(self.pairs.into())?;
        Some(Duration::from_nanos(mean as u64))
    }

    fn add(&mut self, other: Variation) {
        self.sum = self.sum.saturating_add(other.sum);
        self.pairs += other.pairs;
    }
}

/// Streams of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamsEvidence {
    pub(crate) up: Option<StreamEvidence>,
    pub(crate) down: Option<StreamEvidence>,
    /// Round trips of the packets up, for kinds that have them.
    pub(crate) round_trips: Option<RoundTrips>,
}

/// Round trips of packets.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoundTrips {
    /// Round trips in ns.
    pub(crate) times: Vec<u64>,
    /// Packets that were lost or not answered.
    pub(crate) lost: u64,
}

/// One direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamEvidence {
    /// One-way delays in ns.
    pub(crate) delays: Vec<u64>,
    /// Losses of each run.
    pub(crate) losses: Vec<LossRuns>,
    /// Mean jitter of each run with two arrivals, in ms.
    pub(crate) jitter_ms: Vec<f64>,
    /// Gaps of each run, for kinds that are judged by them.
    pub(crate) gaps: Vec<Silences>,
    /// Frames, for kinds that have them.
    pub(crate) frames: Option<FrameEvidence>,
    /// Frames of a video call.
    pub(crate) video: Option<VideoEvidence>,
}

/// Frames of one direction of a video call.
#[derive(Debug, Clone, Default)]
pub(crate) struct VideoEvidence {
    /// Freezes of each run.
    pub(crate) freezes: Vec<Freezes>,
    /// Complete frames that were encoded at the target rate.
    pub(crate) at_target: u64,
    /// Bytes of the complete frames.
    pub(crate) bytes: u128,
    /// Number of frames times their interval, in ns.
    pub(crate) time: u128,
    /// Target rate.
    pub(crate) target: Option<BitRate>,
}

/// Frames of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrameEvidence {
    pub(crate) counts: Frames,
    /// Times from the due time of a frame to its completion, in ns.
    pub(crate) delays: Vec<u64>,
}

impl FrameEvidence {
    fn add(&mut self, other: FrameEvidence) {
        self.counts.frames += other.counts.frames;
        self.counts.late += other.counts.late;
        self.counts.incomplete += other.counts.incomplete;
        self.delays.extend(other.delays);
    }
}

impl VideoEvidence {
    fn add(&mut self, other: VideoEvidence) {
        self.freezes.extend(other.freezes);
        self.at_target += other.at_target;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.saturating_add(other.time);
    }
}

impl StreamsEvidence {
    fn add(&mut self, other: StreamsEvidence) {
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
}

/// Both directions of the calls of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct VoiceEvidence {
    pub(crate) up: VoiceStreamEvidence,
    pub(crate) down: VoiceStreamEvidence,
}

/// One direction of the calls of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct VoiceStreamEvidence {
    /// One-way delays in ns.
    pub(crate) delays: Vec<u64>,
    /// Quality of the call of each run.
    pub(crate) calls: Vec<StreamQuality>,
}

impl VoiceStreamEvidence {
    fn add(&mut self, other: VoiceStreamEvidence) {
        self.delays.extend(other.delays);
        self.calls.extend(other.calls);
    }
}

/// Operations by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) finished: u64,
    pub(crate) failed: u64,
    pub(crate) timed_out: u64,
    pub(crate) not_started: u64,
    pub(crate) unfinished: u64,
}

/// Bytes of content of finished operations: their sum, and that of their squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lengths {
    pub(crate) count: u64,
    pub(crate) sum: u128,
    pub(crate) squares: u128,
}

impl Lengths {
    pub(crate) fn put(&mut self, bytes: u64) {
        let bytes = u128::from(bytes);
        self.count += 1;
        self.sum = self.sum.saturating_add(bytes);
        self.squares = self.squares.saturating_add(bytes * bytes);
    }

    fn add(&mut self, other: &Lengths) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Mean and standard deviation in bytes; `None` when none finished.
    pub(crate) fn mean_and_deviation(&self) -> Option<(f64, f64)> {
        let count = (self.count > 0).then_some(self.count)? as f64;
        let mean = self.sum as f64 / count;
        Some((mean, (self.squares as f64 / count - mean * mean).max(0.0).sqrt()))
    }
}

impl Counts {
    pub(crate) fn all(&self) -> u64 {
        self.finished + self.failed + self.timed_out + self.not_started + self.unfinished
    }

    /// Operations that never finished.
    pub(crate) fn unbounded(&self) -> u64 {
        self.all() - self.finished
    }

    fn add(&mut self, other: &Counts) {
        self.finished += other.finished;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.not_started += other.not_started;
        self.unfinished += other.unfinished;
    }
}

impl RunEvidence {
    /// Pools another run of the same plan with this one.
    pub(crate) fn add(&mut self, other: RunEvidence) {
        self.judged += other.judged;
        self.reached = self.reached.max(other.reached);
        self.health.extend(other.health);
        self.clocks.extend(other.clocks);
        self.quality_issues.extend(other.quality_issues);
        self.server_unused |= other.server_unused;
        for (station, other) in self.stations.iter_mut().zip(other.stations) {
            station.add(other);
        }
    }
}

impl StationEvidence {
    /// Content of all its workloads, as [`WorkloadEvidence::moved`].
    pub(crate) fn moved(&self) -> u128 {
        self.workloads.iter().map(|workload| workload.moved).sum()
    }

    fn add(&mut self, other: StationEvidence) {
        self.idle.extend(other.idle);
        self.idle_lost += other.idle_lost;
        self.idle_variation.add(other.idle_variation);
        self.lost.extend(other.lost);
        self.server_lost |= other.server_lost;
        self.rejected.extend(other.rejected);
        self.unconfirmed.extend(other.unconfirmed);
        self.left_out += other.left_out;
        self.judged += other.judged;
        self.airtime = self.airtime.saturating_add(other.airtime);
        self.wifi.add(other.wifi);
        self.split.add(other.split);
        for (workload, other) in self.workloads.iter_mut().zip(other.workloads) {
            workload.add(other);
        }
    }
}

impl WorkloadEvidence {
    /// Adds packets by the DSCP with which they arrived.
    pub(crate) fn add_dscp(&mut self, arrivals: &DscpArrivals) {
        if !self.dscp.iter_mut().any(|known| known.add(arrivals)) {
            self.dscp.push(arrivals.clone());
        }
    }

    fn add(&mut self, other: WorkloadEvidence) {
        self.judged += other.judged;
        self.counts.add(&other.counts);
        self.latency.extend(other.latency);
        self.lengths.add(&other.lengths);
        self.dial.extend(other.dial);
        self.undialled += other.undialled;
        self.first_byte.extend(other.first_byte);
        self.byteless += other.byteless;
        for (goal, other) in self.goals.iter_mut().zip(&other.goals) {
            goal.add(other);
        }
        self.moved += other.moved;
        self.watched.add(&other.watched);
        self.longest_stall = self.longest_stall.max(other.longest_stall);
        self.warning = self.warning.take().or(other.warning);
        self.startup.extend(other.startup);
        self.reordered += other.reordered;
        self.up.extend(other.up);
        self.down.extend(other.down);
        self.loaded.add(other.loaded);
        other.dscp.iter().for_each(|arrivals| self.add_dscp(arrivals));
        if let (Some(voice), Some(other)) = (&mut self.voice, other.voice) {
            voice.up.add(other.up);
            voice.down.add(other.down);
        }
        if let (Some(streams), Some(other)) = (&mut self.streams, other.streams) {
            streams.add(other);
        }
        if let (Some(one), Some(other)) = (&mut self.segments, other.segments) {
            one.add(other);
        }
        if let (Some(one), Some(other)) = (&mut self.responsiveness, other.responsiveness) {
            one.add(other);
        }
    }
}
