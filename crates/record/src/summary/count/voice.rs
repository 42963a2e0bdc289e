//! Counts the packets of a call.

use super::packets::{Packets, worse};
use crate::aggregate::EvaluatedTime;
use crate::summary::evidence::{VoiceEvidence, VoiceStreamEvidence};
use netburn_quality::{Codec, Packet, StreamQuality};
use netburn_units::Duration;
use netburn_workload::verdict::quality_windows;
use netburn_workload::{Config, Tally};

/// Evidence of a call, and a tally for each goal. `judged` is the time from the first due time on.
pub(super) fn finish(packets: Packets, config: &Config, judged: Option<EvaluatedTime>) -> (VoiceEvidence, Vec<Tally>) {
    let packetisation = config.interval().unwrap_or_default();
    let stream = |packets: Vec<(u64, Packet)>| {
        let packets: Vec<Packet> = packets.into_iter().map(|(_, packet)| packet).collect();
        let tallies = config.goals.iter().map(|goal| match judged {
            Some(part) => quality_windows(&packets, packetisation, *goal, part.from, part.to),
            None => Tally::default(),
        });
        let tallies: Vec<Tally> = tallies.collect();
        let delays = packets.iter().filter_map(|packet| packet.delay);
        let evidence = VoiceStreamEvidence {
            delays: delays.map(Duration::as_nanos).collect(),
            calls: vec![StreamQuality::from_packets(
                &packets,
                packetisation,
                &Codec::G711_CONCEALED,
            )],
        };
        (evidence, tallies)
    };
    let [(up, up_tallies), (down, down_tallies)] = packets.sorted().map(stream);
    let directions = up_tallies.into_iter().zip(down_tallies);
    let tallies = directions
        .zip(&config.goals)
        .map(|((up, down), goal)| worse(*goal, up, down))
        .collect();
    (VoiceEvidence { up, down }, tallies)
}
