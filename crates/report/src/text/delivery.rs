//! Facts about the packets of one direction, for calls and streams of datagrams.

use netburn_analysis::format::{fine_percent, span};
use netburn_record::summary::{DeliverySummary, LatencyMs};

/// Fact about a direction in which no packet arrived.
pub(super) fn none_arrived(of: &DeliverySummary) -> String {
    match of.packets {
        0 => "no packet was sent".to_owned(),
        packets => format!("none of {packets} packets arrived"),
    }
}

/// `one-way delay 12 ms median, 30 ms p95, 41 ms max`, if there are any.
pub(super) fn delays(what: &str, delay: &LatencyMs) -> Option<String> {
    let levels = [(delay.p50, "median"), (delay.p95, "p95"), (delay.max, "max")];
    let levels: Vec<String> = levels
        .iter()
        .filter_map(|(value, level)| Some(format!("{} {level}", span((*value)?))))
        .collect();
    (!levels.is_empty()).then(|| format!("{what} {}", levels.join(", ")))
}

/// Share of the lost packets, and their longest run.
pub(super) fn losses(of: &DeliverySummary) -> String {
    let lost = of.lost_share.unwrap_or(0.0);
    match of.longest_loss_packets {
        0 => "no loss".to_owned(),
        1 => format!("{} lost, at most 1 packet in a row", fine_percent(lost)),
        longest => format!("{} lost, at most {longest} packets in a row", fine_percent(lost)),
    }
}

/// `jitter 1.3 ms`, if it is known.
pub(super) fn jitter(of: &DeliverySummary) -> Option<String> {
    Some(format!("jitter {}", span(of.jitter_ms?)))
}
