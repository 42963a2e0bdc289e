//! Metrics of a run that are compared.

use netburn_record::Summary;
use netburn_record::summary::{LatencyMs, StationSummary, WorkloadSummary};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_stats::{P50, P95, percentile::supported};
use netburn_units::Probability;
use netburn_workload::Direction;

/// A metric of a station and a workload.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The station; `None` for the whole run.
    pub station: Option<String>,
    /// Workload; `None` for the whole station.
    pub workload: Option<String>,
    /// The compared quantity.
    pub quantity: Quantity,
}

/// A quantity that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Content moved, in Mbit/s.
    Throughput,
    /// The mean bit rate of the segments of adaptive streaming, in Mbit/s.
    BitRate,
    /// Jain's index of the airtime shares.
    Jain,
    /// The median round trip before the load, in ms.
    Idle,
    /// The median time from the instant an operation was due to its end, in ms.
    P50,
    /// The 95th percentile of the same.
    P95,
    /// The share of a goal's samples within its limit. Contains the goal's number and its text.
    Met(usize, String),
    /// The share of the observed time in which the player stalled.
    Stalled,
    /// The share of datagrams that were lost.
    Lost,
    /// Round trips per minute under load.
    Rpm,
    /// The rating R of one direction of a call.
    Rating(Direction),
    /// The share of packets of one direction of a call that were lost.
    LostOneWay(Direction),
    /// The share of packets of one direction of a stream of datagrams that were lost.
    LostOfStream(Direction),
    /// The share of frames that were late or incomplete.
    MissedFrames,
    /// The 95th percentile of the round trips of a game.
    RoundTrip,
    /// The share of the time of one direction of a game in gaps.
    InGaps(Direction),
    /// The 95th percentile of the frame delay of one direction of a video call.
    FrameDelay(Direction),
    /// The share of the time of one direction of a video call in freezes.
    Frozen(Direction),
    /// The share of the frames of one direction of a video call at the target rate.
    AtTarget(Direction),
}

/// Unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Mbit/s.
    Mbps,
    /// Milliseconds.
    Ms,
    /// A share, 0 to 1.
    Share,
    /// Points of the rating R, 0 to 93.
    Points,
    /// Round trips per minute.
    Rpm,
}

impl Quantity {
    /// Direction of improvement.
    #[must_use]
    pub const fn better(&self) -> Better {
        match self {
            Quantity::Throughput
            | Quantity::BitRate
            | Quantity::Jain
            | Quantity::Met(..)
            | Quantity::Rpm
            | Quantity::Rating(_)
            | Quantity::AtTarget(_) => Better::Higher,
            Quantity::Idle
            | Quantity::P50
            | Quantity::P95
            | Quantity::Stalled
            | Quantity::Lost
            | Quantity::LostOneWay(_)
            | Quantity::LostOfStream(_)
            | Quantity::RoundTrip
            | Quantity::MissedFrames
            | Quantity::InGaps(_)
            | Quantity::FrameDelay(_)
            | Quantity::Frozen(_) => Better::Lower,
        }
    }

    /// Tolerance below which a difference is irrelevant. `share` replaces the default.
    #[must_use]
    pub fn tolerance(&self, share: Option<f64>) -> Tolerance {
        let usual = match self {
            Quantity::Throughput | Quantity::BitRate | Quantity::Jain | Quantity::Rpm => Tolerance::RATE,
            Quantity::Idle | Quantity::P50 | Quantity::P95 | Quantity::RoundTrip | Quantity::FrameDelay(_) => {
                Tolerance::LATENCY
            }
            Quantity::Stalled
            | Quantity::Lost
            | Quantity::LostOneWay(_)
            | Quantity::LostOfStream(_)
            | Quantity::InGaps(_)
            | Quantity::Frozen(_)
            | Quantity::MissedFrames => Tolerance::LOSS,
            Quantity::Met(..) | Quantity::AtTarget(_) => Tolerance::MET,
            Quantity::Rating(_) => Tolerance::RATING,
        };
        match share {
            Some(share) if usual.share > 0.0 => Tolerance { share, ..usual },
            // For a quantity that is a share itself, the tolerance is absolute.
            Some(share) => Tolerance { least: share, ..usual },
            None => usual,
        }
    }

    /// Unit of the quantity.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        match self {
            Quantity::Throughput | Quantity::BitRate => Unit::Mbps,
            Quantity::Idle | Quantity::P50 | Quantity::P95 | Quantity::RoundTrip | Quantity::FrameDelay(_) => Unit::Ms,
            Quantity::Jain
            | Quantity::Met(..)
            | Quantity::Stalled
            | Quantity::Lost
            | Quantity::LostOneWay(_)
            | Quantity::LostOfStream(_)
            | Quantity::MissedFrames
            | Quantity::InGaps(_)
            | Quantity::Frozen(_)
            | Quantity::AtTarget(_) => Unit::Share,
            Quantity::Rating(_) => Unit::Points,
            Quantity::Rpm => Unit::Rpm,
        }
    }

    /// Short name with the displayed unit.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Quantity::Throughput => "Mbit/s",
            Quantity::BitRate => "video Mbit/s",
            Quantity::Jain => "airtime Jain %",
            Quantity::Idle => "idle ms",
            Quantity::P50 => "p50 ms",
            Quantity::P95 => "p95 ms",
            Quantity::Met(..) => "met %",
            Quantity::Stalled => "stalled %",
            Quantity::Lost => "lost %",
            Quantity::Rpm => "RPM",
            Quantity::Rating(Direction::Up) => "R up",
            Quantity::Rating(Direction::Down) => "R down",
            Quantity::LostOneWay(Direction::Up) | Quantity::LostOfStream(Direction::Up) => "lost up %",
            Quantity::LostOneWay(Direction::Down) | Quantity::LostOfStream(Direction::Down) => "lost down %",
            Quantity::RoundTrip => "round trip p95",
            Quantity::MissedFrames => "missed frames %",
            Quantity::InGaps(Direction::Up) => "gaps up %",
            Quantity::InGaps(Direction::Down) => "gaps down %",
            Quantity::FrameDelay(Direction::Up) => "frame p95 up",
            Quantity::FrameDelay(Direction::Down) => "frame p95 down",
            Quantity::Frozen(Direction::Up) => "frozen up %",
            Quantity::Frozen(Direction::Down) => "frozen down %",
            Quantity::AtTarget(Direction::Up) => "at target up %",
            Quantity::AtTarget(Direction::Down) => "at target down %",
        }
    }
}

impl Unit {
    /// Name in JSON documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Mbps => "mbps",
            Unit::Ms => "ms",
            Unit::Share => "share",
            Unit::Points => "points",
            Unit::Rpm => "rpm",
        }
    }
}

impl Key {
    /// The value's path in a summary, with stations and workloads by name:
    /// `stations.laptop.workloads.browsing.latency_ms.p50`.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = match (&self.station, &self.workload) {
            (None, _) => "totals".to_owned(),
            (Some(station), None) => format!("stations.{station}"),
            (Some(station), Some(workload)) => format!("stations.{station}.workloads.{workload}"),
        };
        path.push('.');
        path.push_str(&match &self.quantity {
            Quantity::Throughput => "throughput_mbps".to_owned(),
            Quantity::BitRate => "segments.mean_mbps".to_owned(),
            Quantity::Jain => "airtime_jain".to_owned(),
            Quantity::Idle => "idle_latency_ms".to_owned(),
            Quantity::P50 => "latency_ms.p50".to_owned(),
            Quantity::P95 => "latency_ms.p95".to_owned(),
            Quantity::Met(number, _) => format!("goals.{number}.met"),
            Quantity::Stalled => "player.stalled_share".to_owned(),
            Quantity::Lost => "probe.lost_share".to_owned(),
            Quantity::Rpm => "responsiveness.rpm".to_owned(),
            Quantity::Rating(Direction::Up) => "voice.up.rating".to_owned(),
            Quantity::Rating(Direction::Down) => "voice.down.rating".to_owned(),
            Quantity::LostOneWay(Direction::Up) => "voice.up.lost_share".to_owned(),
            Quantity::LostOneWay(Direction::Down) => "voice.down.lost_share".to_owned(),
            Quantity::LostOfStream(Direction::Up) => "streams.up.lost_share".to_owned(),
            Quantity::LostOfStream(Direction::Down) => "streams.down.lost_share".to_owned(),
            Quantity::RoundTrip => "streams.round_trip_ms.p95".to_owned(),
            Quantity::MissedFrames => "streams.down.frames.missed_share".to_owned(),
            Quantity::InGaps(Direction::Up) => "streams.up.gaps.share".to_owned(),
            Quantity::InGaps(Direction::Down) => "streams.down.gaps.share".to_owned(),
            Quantity::FrameDelay(Direction::Up) => "streams.up.delay_ms.p95".to_owned(),
            Quantity::FrameDelay(Direction::Down) => "streams.down.delay_ms.p95".to_owned(),
            Quantity::Frozen(Direction::Up) => "streams.up.video.frozen_share".to_owned(),
            Quantity::Frozen(Direction::Down) => "streams.down.video.frozen_share".to_owned(),
            Quantity::AtTarget(Direction::Up) => "streams.up.video.at_target_share".to_owned(),
            Quantity::AtTarget(Direction::Down) => "streams.down.video.at_target_share".to_owned(),
        });
        path
    }
}

/// Metrics of one run with their values, in display order; unknown ones are omitted. A percentile
/// among operations that never ended is infinite.
#[must_use]
pub fn metrics(summary: &Summary) -> Vec<(Key, f64)> {
    let mut all = Vec::new();
    for station in &summary.stations {
        station_metrics(station, &mut all);
    }
    let total = |quantity| Key {
        station: None,
        workload: None,
        quantity,
    };
    let totals = &summary.totals;
    all.push((total(Quantity::Throughput), Some(totals.throughput_mbps)));
    all.push((total(Quantity::Jain), totals.airtime_jain));
    let known = all.into_iter().filter_map(|(key, value)| Some((key, value?)));
    known.filter(|(_, value)| !value.is_nan()).collect()
}

fn station_metrics(station: &StationSummary, all: &mut Vec<(Key, Option<f64>)>) {
    let of = |workload: Option<&WorkloadSummary>, quantity| Key {
        station: Some(station.name.clone()),
        workload: workload.map(|workload| workload.name.clone()),
        quantity,
    };
    // The throughput of a station with one workload equals that of the workload.
    let several = station.workloads.iter().filter(|workload| moves(workload)).count() > 1;
    for workload in &station.workloads {
        let mut add = |quantity, value| all.push((of(Some(workload), quantity), value));
        if several && moves(workload) {
            add(Quantity::Throughput, Some(workload.throughput_mbps));
        }
        // Latency matters for workloads that a user waits for. For downloads and streams,
        // throughput and windows say more.
        // The probes of `responsiveness` have several kinds, which RPM combines.
        if !moves(workload) && workload.responsiveness.is_none() {
            let latency = &workload.latency_ms;
            add(Quantity::P50, at(latency.p50, P50, latency));
            add(Quantity::P95, at(latency.p95, P95, latency));
        }
        for (number, goal) in workload.goals.iter().enumerate() {
            add(Quantity::Met(number, goal.goal.clone()), goal.met);
        }
        if let Some(player) = &workload.player {
            add(Quantity::Stalled, Some(player.stalled_share));
        }
        if let Some(segments) = &workload.segments {
            add(Quantity::BitRate, segments.mean_mbps);
        }
        if let Some(probe) = &workload.probe {
            add(Quantity::Lost, probe.lost_share);
        }
        if let Some(streams) = &workload.streams {
            for (direction, stream) in [(Direction::Up, &streams.up), (Direction::Down, &streams.down)] {
                if let Some(stream) = stream {
                    add(Quantity::LostOfStream(direction), stream.delivery.lost_share);
                    if let Some(frames) = stream.frames {
                        add(Quantity::MissedFrames, frames.missed_share);
                    }
                    if let Some(gaps) = stream.gaps {
                        add(Quantity::InGaps(direction), Some(gaps.share));
                    }
                    if let Some(video) = stream.video {
                        let delay = stream.delivery.delay_ms;
                        add(
                            Quantity::FrameDelay(direction),
                            delay.and_then(|delay| at(delay.p95, P95, &delay)),
                        );
                        add(Quantity::Frozen(direction), video.frozen_share);
                        add(Quantity::AtTarget(direction), video.at_target_share);
                    }
                }
            }
            if let Some(trip) = &streams.round_trip_ms {
                add(Quantity::RoundTrip, trip.p95);
            }
        }
        if let Some(of) = &workload.responsiveness {
            add(Quantity::Rpm, of.rpm);
        }
        if let Some(voice) = &workload.voice {
            for (direction, stream) in [(Direction::Up, &voice.up), (Direction::Down, &voice.down)] {
                add(Quantity::Rating(direction), stream.rating);
                add(Quantity::LostOneWay(direction), stream.delivery.lost_share);
            }
        }
    }
    if !station.workloads.is_empty() {
        all.push((of(None, Quantity::Throughput), Some(station.throughput_mbps)));
    }
    all.push((of(None, Quantity::Idle), station.idle_latency_ms));
}

/// Returns true if throughput matters for a workload, rather than latency.
fn moves(workload: &WorkloadSummary) -> bool {
    matches!(workload.kind.as_str(), "download" | "upload" | "stream" | "dash")
}

fn at(value: Option<f64>, level: Probability, of: &LatencyMs) -> Option<f64> {
    match value {
        None if of.unbounded > 0 && supported(level, of.count) => Some(f64::INFINITY),
        value => value,
    }
}

#[cfg(test)]
#[path = "metric_tests.rs"]
mod tests;
