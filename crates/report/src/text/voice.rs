//! Lines about the directions of each call.

use super::delivery::{delays, jitter, losses, none_arrived};
use crate::sanitise::sanitise;
use netburn_analysis::format::{fine_percent, span};
use netburn_record::Summary;
use netburn_record::summary::{VoiceStreamSummary, VoiceSummary};

/// Meaning of the values of a call.
pub(crate) const NOTE: &str = "R is the rating of the E-model (ITU-T G.107) for G.711 with concealment: above 80 users are satisfied, below 70 many are dissatisfied. MOS (playout) is the mean opinion score of R. R is that of the best fixed playout buffer. A packet that arrives after its playout time is late. MOS (flent) has no playout buffer. A gap is a window of 200 ms in which at least 10 % of the packets are lost or late.";

/// Every call with the names of its station and its workload.
pub(crate) fn calls(summary: &Summary) -> impl Iterator<Item = (&str, &str, &VoiceSummary)> {
    summary.stations.iter().flat_map(|station| {
        let calls = station.workloads.iter();
        calls.filter_map(|workload| Some((station.name.as_str(), workload.name.as_str(), workload.voice.as_ref()?)))
    })
}

/// Both directions of a call by name.
pub(crate) fn directions(voice: &VoiceSummary) -> [(&'static str, &VoiceStreamSummary); 2] {
    [("up", &voice.up), ("down", &voice.down)]
}

/// `phone, voice up: …`, for each direction of each call.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for (station, workload, voice) in calls(summary) {
        for (direction, stream) in directions(voice) {
            let name = format!("{}, {} {direction}", sanitise(station), sanitise(workload));
            lines.push(line(&name, stream));
        }
    }
    lines
}

fn line(name: &str, stream: &VoiceStreamSummary) -> String {
    let (Some(rating), Some(mos), Some(buffer)) = (stream.rating, stream.mos, stream.buffer_ms) else {
        return format!("{name}: {}.", none_arrived(&stream.delivery));
    };
    let mut facts = vec![format!(
        "R {rating:.1} (MOS {mos:.2}) with a playout buffer of {}",
        span(buffer)
    )];
    let delay = stream.delivery.delay_ms.unwrap_or_default();
    facts.extend(delays("one-way delay", &delay));
    facts.push(losses(&stream.delivery));
    if let Some(late) = stream.late_share.filter(|late| *late > 0.0) {
        facts.push(format!("{} late", fine_percent(late)));
    }
    facts.extend(jitter(&stream.delivery));
    if let Some(share) = stream.gap_share.filter(|_| stream.gaps > 0) {
        facts.push(format!("gaps in {} of the time", fine_percent(share)));
    }
    if let Some(flent) = stream.mos_flent {
        facts.push(format!("MOS (flent) {flent:.2}"));
    }
    format!("{name}: {}.", facts.join("; "))
}
