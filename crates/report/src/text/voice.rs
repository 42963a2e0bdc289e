//! Lines about the directions of each call.

use crate::sanitise::sanitise;
use netburn_analysis::format::{short, span};
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

/// A share of lost or late packets in percent: two decimals, and never 0 if there is one.
pub(crate) fn loss(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.01 => "<0.01 %".to_owned(),
        percent => format!("{} %", short(percent)),
    }
}

fn line(name: &str, stream: &VoiceStreamSummary) -> String {
    let (Some(rating), Some(mos), Some(buffer)) = (stream.rating, stream.mos, stream.buffer_ms) else {
        return match stream.packets {
            0 => format!("{name}: no packet was sent."),
            packets => format!("{name}: none of {packets} packets arrived."),
        };
    };
    let mut facts = vec![format!(
        "R {rating:.1} (MOS {mos:.2}) with a playout buffer of {}",
        span(buffer)
    )];
    let delay = stream.delay_ms.unwrap_or_default();
    let levels = [(delay.p50, "median"), (delay.p95, "p95"), (delay.max, "max")];
    let levels: Vec<String> = levels
        .iter()
        .filter_map(|(value, level)| Some(format!("{} {level}", span((*value)?))))
        .collect();
    if !levels.is_empty() {
        facts.push(format!("one-way delay {}", levels.join(", ")));
    }
    let lost = stream.lost_share.unwrap_or(0.0);
    facts.push(match stream.longest_loss_packets {
        0 => "no loss".to_owned(),
        1 => format!("{} lost, at most 1 packet in a row", loss(lost)),
        longest => format!("{} lost, at most {longest} packets in a row", loss(lost)),
    });
    if let Some(late) = stream.late_share.filter(|late| *late > 0.0) {
        facts.push(format!("{} late", loss(late)));
    }
    if let Some(jitter) = stream.jitter_ms {
        facts.push(format!("jitter {}", span(jitter)));
    }
    if let Some(share) = stream.gap_share.filter(|_| stream.gaps > 0) {
        facts.push(format!("gaps in {} of the time", loss(share)));
    }
    if let Some(flent) = stream.mos_flent {
        facts.push(format!("MOS (flent) {flent:.2}"));
    }
    format!("{name}: {}.", facts.join("; "))
}
