//! Counts the packets of a call.

use crate::aggregate::EvaluatedTime;
use crate::summary::evidence::{VoiceEvidence, VoiceStreamEvidence};
use netburn_quality::{Codec, Packet, StreamQuality};
use netburn_units::Duration;
use netburn_workload::verdict::{judge, quality_windows};
use netburn_workload::{Config, Direction, Goal, Operation, Tally};

/// Packets of both directions in the evaluated time.
#[derive(Debug, Default)]
pub(super) struct VoiceCounter {
    up: Vec<Packet>,
    down: Vec<Packet>,
}

impl VoiceCounter {
    /// Records an operation with its one-way delay; `None` if it did not arrive. A packet that was
    /// not sent is no packet.
    pub(super) fn packet(&mut self, operation: &Operation, delay: Option<Duration>) {
        if operation.started.is_none() {
            return;
        }
        let packets = match Direction::of_packet(operation.sequence) {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        };
        packets.push(Packet {
            due: operation.due,
            delay,
        });
    }

    /// Evidence of a call, and a tally for each goal. `judged` is the time from the first due time on.
    pub(super) fn finish(self, config: &Config, judged: Option<EvaluatedTime>) -> (VoiceEvidence, Vec<Tally>) {
        let packetisation = config.interval.unwrap_or_default();
        let stream = |mut packets: Vec<Packet>| {
            packets.sort_by_key(|packet| packet.due);
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
        let ((up, up_tallies), (down, down_tallies)) = (stream(self.up), stream(self.down));
        let directions = up_tallies.into_iter().zip(down_tallies);
        let tallies = directions
            .zip(&config.goals)
            .map(|((up, down), goal)| worse(*goal, up, down))
            .collect();
        (VoiceEvidence { up, down }, tallies)
    }
}

/// The tally with the worse verdict; of two with the same verdict the one with fewer windows that
/// met the goal.
fn worse(goal: Goal, one: Tally, other: Tally) -> Tally {
    let key = |tally: &Tally| (judge(goal, tally).verdict, tally.samples.saturating_sub(tally.met));
    if key(&other) > key(&one) { other } else { one }
}
