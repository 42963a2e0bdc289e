//! Service time of packets of one size: the time that the slowest hop of the path needs for one packet.
//!
//! A stream that is faster than the line fills its queue. Packets then arrive one service time apart. The time of a block
//! of successive arrivals, divided by their number, is robust against jitter of the receiver. The median over the blocks
//! is robust against the few blocks in which the line also carried other packets, such as those of a report.

use crate::samples::Stream;
use netburn_units::{Duration, Instant};

/// Shortest time of a block: jitter of some 10 µs of a receiver is then less than 1 %.
const BLOCK: Duration = Duration::from_millis(20);
/// Least number of packets of a block, and of blocks.
const MIN_PACKETS: usize = 4;
const MIN_BLOCKS: usize = 6;
/// Share of the stream at its beginning that is not used: the queue fills.
const SETTLING: u64 = 4;
/// Loss above which a stream was faster than the path.
const LOSS: f64 = 0.02;
/// Added delay of the packets, beyond the service of some packets, below which nothing queued them.
const NO_QUEUE: Duration = Duration::from_millis(5);
/// Packets that a packet may wait for without a queue: those of other flows.
const PACKETS_BEFORE: u64 = 3;
/// Growth of the delay above which a stream was faster than the path.
const GROWTH: Duration = Duration::from_millis(8);

/// Service of packets of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Service {
    /// Length of the IP packet in bytes.
    pub size: u32,
    /// Service time of one packet in picoseconds, median of blocks.
    pub time_ps: u64,
    /// Standard error of the median, as a share of it.
    pub error: f64,
    /// Spread of the blocks: from the 10th to the 90th percentile, as a share of the median.
    pub spread: f64,
    /// Share of the packets that were lost.
    pub lost: f64,
    /// Delay of the arrived packets beyond the least one: median and 95th percentile.
    pub added: (Duration, Duration),
    /// True if the stream was faster than the path: packets were lost, or the delay grew.
    pub is_saturated: bool,
    /// True if packets were lost although those that arrived did not wait. `time_ps` is then the mean.
    pub is_policed: bool,
}

impl Service {
    /// Reads the service of a stream; `None` if too few packets arrived.
    #[must_use]
    pub fn from_stream(stream: &Stream) -> Option<Service> {
        let mut arrivals = stream.arrivals.clone();
        arrivals.sort_unstable();
        let begin = stream.start + stream.length / SETTLING;
        let used: Vec<(Instant, Instant)> = arrivals.iter().copied().filter(|(at, _)| *at >= begin).collect();
        let blocks = blocks(&used)?;
        let at = |percent: usize| blocks[(blocks.len() - 1) * percent / 100];
        let median = at(50).max(1);
        let spread = (at(90) - at(10)) as f64 / median as f64;
        // 1.25 standard deviations of a block per root of their number; 2.56 deviations lie between the two percentiles.
        let error = 1.25 * spread / 2.56 / (blocks.len() as f64).sqrt();
        let mut delays: Vec<Duration> = arrivals
            .iter()
            .map(|(at, due)| at.checked_since(*due).unwrap_or_default())
            .collect();
        delays.sort_unstable();
        let added = |percent: usize| delays[(delays.len() - 1) * percent / 100].saturating_sub(delays[0]);
        let lost = 1.0 - arrivals.len() as f64 / stream.sent.max(1) as f64;
        // Without a queue, packets of a constant rate are dropped in a rhythm, and a block has one packet more or less.
        let is_policed = lost > LOSS && added(50) < NO_QUEUE + Duration::from_nanos(median / 1000 * PACKETS_BEFORE);
        let (time_ps, error) = if is_policed {
            (mean_ps(&used)?, 2.0 / used.len() as f64)
        } else {
            (median, error)
        };
        Some(Service {
            size: stream.size,
            time_ps,
            error,
            spread,
            lost,
            added: (added(50), added(95)),
            is_saturated: lost > LOSS || added(95) > GROWTH,
            is_policed,
        })
    }

    /// Rate of the IP packets in bit/s.
    #[must_use]
    pub fn ip_rate(&self) -> u64 {
        let bits = u128::from(self.size) * 8 * 1_000_000_000_000;
        u64::try_from(bits / u128::from(self.time_ps.max(1))).unwrap_or(u64::MAX)
    }
}

/// Mean time between two arrivals, in picoseconds.
fn mean_ps(arrivals: &[(Instant, Instant)]) -> Option<u64> {
    let (first, last) = (arrivals.first()?.0, arrivals.last()?.0);
    let span = u128::from(last.checked_since(first)?.as_nanos()) * 1000;
    u64::try_from(span / (arrivals.len() as u128 - 1).max(1)).ok()
}

/// Times per packet of blocks, in picoseconds, in ascending order. `None` if there are too few.
fn blocks(arrivals: &[(Instant, Instant)]) -> Option<Vec<u64>> {
    let (first, last) = (arrivals.first()?.0, arrivals.last()?.0);
    let gaps = arrivals.len() - 1;
    let mean = last.checked_since(first)?.as_nanos() / u64::try_from(gaps).ok()?.max(1);
    let packets = usize::try_from(BLOCK.as_nanos().div_ceil(mean.max(1)))
        .ok()?
        .max(MIN_PACKETS);
    let packets = packets.min(gaps / MIN_BLOCKS);
    if packets == 0 {
        return None;
    }
    let ends: Vec<Instant> = arrivals.iter().step_by(packets).map(|(at, _)| *at).collect();
    let mut times: Vec<u64> = ends
        .windows(2)
        .map(|pair| {
            let span = u128::from(pair[1].checked_since(pair[0]).unwrap_or_default().as_nanos()) * 1000;
            u64::try_from(span / packets as u128).unwrap_or(u64::MAX)
        })
        .collect();
    times.sort_unstable();
    (times.len() >= MIN_BLOCKS).then_some(times)
}
