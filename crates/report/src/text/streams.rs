//! Lines about the streams of datagrams.

use super::delivery::{delays, jitter, losses, none_arrived};
use super::grades::score;
use super::video;
use crate::sanitise::sanitise;
use netburn_analysis::format::{fine_percent, span};
use netburn_record::Summary;
use netburn_record::summary::{FrameSummary, StreamSummary, StreamsSummary};
use netburn_workload::config::GAP;

/// Meaning of the values of streams.
pub(crate) const NOTE: &str = "The one-way delay of a packet counts from its due time. A packet that does not arrive within the time-out is lost. A gap of a game is a time of 100 ms or more between two arrivals. The round trip of a packet up is its delay plus that of the first packet down that is due after its arrival. In cloud gaming, the answer to an input is a frame. A frame is late if its last packet arrives more than one interval after the due time plus the smallest delay of a packet.";

/// Every workload with streams, with the names of its station and itself.
pub(crate) fn all(summary: &Summary) -> impl Iterator<Item = (&str, &str, &StreamsSummary)> {
    summary.stations.iter().flat_map(|station| {
        let workloads = station.workloads.iter();
        workloads.filter_map(|workload| {
            let streams = workload.streams.as_ref()?;
            Some((station.name.as_str(), workload.name.as_str(), streams))
        })
    })
}

/// The streams of a workload by direction.
pub(crate) fn directions(streams: &StreamsSummary) -> impl Iterator<Item = (&'static str, &StreamSummary)> {
    let both = [("up", &streams.up), ("down", &streams.down)];
    both.into_iter()
        .filter_map(|(direction, stream)| Some((direction, stream.as_ref()?)))
}

/// `tv, datagrams down: …`, for each direction of each workload.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for (station, workload, streams) in all(summary) {
        let name = format!("{}, {}", sanitise(station), sanitise(workload));
        for (direction, stream) in directions(streams) {
            lines.push(format!("{name} {direction}: {}.", facts(stream)));
        }
        lines.extend(round_trips(streams).map(|facts| format!("{name}: {facts}.")));
    }
    lines
}

fn facts(stream: &StreamSummary) -> String {
    if let Some(video) = &stream.video {
        return video::facts(&stream.delivery, video).join("; ");
    }
    let Some(delay) = stream.delivery.delay_ms.filter(|delay| delay.max.is_some()) else {
        return none_arrived(&stream.delivery);
    };
    let mut facts: Vec<String> = delays("one-way delay", &delay).into_iter().collect();
    facts.push(losses(&stream.delivery));
    facts.extend(jitter(&stream.delivery));
    if let Some(gaps) = stream.gaps {
        facts.push(match gaps.count {
            0 => format!("no gap of {GAP}"),
            1 => format!("a gap of {}", span(gaps.longest_ms)),
            count => format!(
                "{count} gaps of {GAP} or more, the longest {}, {} of the time",
                span(gaps.longest_ms),
                fine_percent(gaps.share)
            ),
        });
    }
    if let Some(frames) = &stream.frames {
        facts.extend(frame_facts(frames));
    }
    facts.join("; ")
}

/// Frames by their completion, and their delay.
fn frame_facts(frames: &FrameSummary) -> Vec<String> {
    let (late, incomplete) = (frames.late_share.unwrap_or(0.0), frames.incomplete_share.unwrap_or(0.0));
    let counted = format!(
        "of {} frames {} late and {} incomplete",
        frames.frames,
        fine_percent(late),
        fine_percent(incomplete)
    );
    let delay = delays("frame delay", &frames.delay_ms);
    std::iter::once(counted).chain(delay).collect()
}

/// Round trips, and the quality of outcome of them.
fn round_trips(streams: &StreamsSummary) -> Option<String> {
    let mut facts: Vec<String> = delays("round trip", &streams.round_trip_ms?).into_iter().collect();
    facts.extend(
        streams
            .qoo
            .map(|qoo| format!("quality of outcome {} of 100", score(qoo))),
    );
    (!facts.is_empty()).then(|| facts.join("; "))
}
