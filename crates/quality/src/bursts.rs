//! Bursts of packets, such as the frames of a video, and the answers to inputs.

use crate::packet::Packet;
use netburn_units::Duration;
use netburn_units::Instant;

/// A burst all of whose packets were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Due time of its first packet.
    pub due: Instant,
    /// Time from `due` to the arrival of its last packet; `None` if a packet never arrived.
    pub delay: Option<Duration>,
}

/// Frames by their completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frames {
    /// Frames that were sent.
    pub frames: u64,
    /// Frames that were complete too late.
    pub late: u64,
    /// Frames of which a packet never arrived.
    pub incomplete: u64,
}

impl Frames {
    /// Counts frames. One is late if its last packet arrives more than `least` + `allowed` after the due time of the frame.
    /// `least` is the smallest delay of a packet: the delay that the network always has.
    #[must_use]
    pub fn from_bursts(bursts: &[Burst], least: Duration, allowed: Duration) -> Self {
        let limit = least.checked_add(allowed).unwrap_or(least);
        let mut counted = Frames::default();
        for burst in bursts {
            counted.frames += 1;
            counted.late += u64::from(burst.delay.is_some_and(|delay| delay > limit));
            counted.incomplete += u64::from(burst.delay.is_none());
        }
        counted
    }

    /// Frames that were complete in time.
    #[must_use]
    pub fn on_time(&self) -> u64 {
        self.frames.saturating_sub(self.late).saturating_sub(self.incomplete)
    }
}

/// Groups numbered packets, which are in sending order, into bursts of `size` packets: numbers 0 to `size` − 1 are the first
/// one. A burst without all of its packets is left out: it was not sent completely, or only a part of it was observed.
#[must_use]
pub fn bursts(packets: &[(u64, Packet)], size: u32) -> Vec<Burst> {
    let size = u64::from(size.max(1));
    let groups = packets.chunk_by(|(one, _), (next, _)| one / size == next / size);
    let whole = groups.filter(|group| group.len() as u64 == size);
    let burst = |group: &[(u64, Packet)]| {
        let due = group.first()?.1.due;
        let arrival = |packet: &Packet| packet.due.checked_add(packet.delay?);
        let arrivals: Option<Vec<Instant>> = group.iter().map(|(_, packet)| arrival(packet)).collect();
        let last = arrivals.and_then(|arrivals| arrivals.into_iter().max());
        Some(Burst {
            due,
            delay: last.and_then(|last| last.checked_since(due)),
        })
    };
    whole.filter_map(burst).collect()
}

/// Round trips of inputs, in their order; `None` for an input that was lost or never answered.
///
/// The answer to an input is the first burst that is due at the arrival of the input or later. The round trip is the delay of
/// the input plus the delay of its answer. The wait for the due time of the answer is not in it: it belongs to the server. If
/// the answer is incomplete, the next complete burst answers, and the time until then is in the round trip. Inputs that arrive
/// after the last burst have no round trip.
///
/// `inputs` and `answers` are in sending order.
#[must_use]
pub fn round_trips(inputs: &[Packet], answers: &[Burst]) -> Vec<Option<Duration>> {
    // For each answer, the completion of it or of the next complete one.
    let mut completions: Vec<Option<Instant>> = answers
        .iter()
        .map(|answer| answer.due.checked_add(answer.delay?))
        .collect();
    for index in (1..completions.len()).rev() {
        completions[index - 1] = completions[index - 1].or(completions[index]);
    }
    let mut trips = Vec::with_capacity(inputs.len());
    for input in inputs {
        let Some(arrival) = input.delay.and_then(|delay| input.due.checked_add(delay)) else {
            trips.push(None);
            continue;
        };
        let index = answers.partition_point(|answer| answer.due < arrival);
        let (Some(answer), Some(completion)) = (answers.get(index), completions.get(index)) else {
            continue;
        };
        let down = completion.and_then(|completion| completion.checked_since(answer.due));
        trips.push(down.zip(input.delay).and_then(|(down, up)| up.checked_add(down)));
    }
    trips
}
