//! Packets of the streams of a workload.

use netburn_quality::Packet;
use netburn_units::Duration;
use netburn_workload::verdict::judge;
use netburn_workload::{Direction, Goal, Operation, Tally};

/// Packets of both directions in the evaluated time, with their numbers and their bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Packets {
    up: Vec<(u64, Packet, u64)>,
    down: Vec<(u64, Packet, u64)>,
}

impl Packets {
    /// Records an operation with its one-way delay; `None` if it did not arrive. A packet that was
    /// not sent is no packet.
    pub(super) fn put(&mut self, operation: &Operation, delay: Option<Duration>) {
        if operation.started.is_none() {
            return;
        }
        let packets = match Direction::of_packet(operation.sequence) {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        };
        let packet = Packet {
            due: operation.due,
            delay,
        };
        packets.push((operation.sequence / 2, packet, operation.bytes));
    }

    /// Packets up and down with their numbers, in sending order.
    pub(super) fn sorted(self) -> [Vec<(u64, Packet)>; 2] {
        self.with_bytes().map(|packets| {
            packets
                .into_iter()
                .map(|(number, packet, _)| (number, packet))
                .collect()
        })
    }

    /// The same, with their bytes.
    pub(super) fn with_bytes(mut self) -> [Vec<(u64, Packet, u64)>; 2] {
        for packets in [&mut self.up, &mut self.down] {
            packets.sort_by_key(|(number, ..)| *number);
        }
        [self.up, self.down]
    }
}

/// The tally with the worse verdict; of two with the same verdict the one with fewer samples that
/// met the goal, or with longer gaps.
pub(super) fn worse(goal: Goal, one: Tally, other: Tally) -> Tally {
    let key = |tally: &Tally| {
        let missed = tally.samples.saturating_sub(tally.met);
        (judge(goal, tally).verdict, missed, tally.stalled)
    };
    if key(&other) > key(&one) { other } else { one }
}
