//! Rate of a shaper for a line whose capacity varies.
//!
//! A shaper that sends at a constant rate in front of a line with a varying one fills the queue of the line whenever the line is
//! slower. How far depends on TCP, so the simulator plays a load behind CAKE on a line that has the measured capacity.

use crate::samples::percentile;
use crate::stage::STATION;
use netburn_record::Row;
use netburn_record::row::BASELINE;
use netburn_scenario::plan::Trace;
use netburn_scenario::{Document, Environment};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Direction;
use std::ops::ControlFlow;

/// Added delay that a shaper may leave in the queue of the line, 95th percentile. It is the limit of the grade A of the bufferbloat
/// letters.
pub const LIMIT: Duration = Duration::from_millis(30);
/// The same on the measured capacity. The capacity of the next minutes is another one, and can be less.
const MEASURED_LIMIT: Duration = Duration::from_millis(20);
/// Length of a packet on the line of the trace: 1500 bytes and the 38 of Ethernet.
const PACKET: u64 = 1538;
/// Relative width at which the search ends: 1/64.
const WIDTH: u64 = 64;
/// Keys of a station that connect it to the router, faster than the line.
pub(crate) const WIRED: &str = "wired = \"2.5 Gbit/s\"";
/// Time over which a load is simulated, in seconds, after two seconds.
const LOAD_SECONDS: u64 = 20;
/// Bits of a ms of a trace that count at most: 1 Gbit/s.
const MAX_BITS: u64 = 1_000_000;
/// Bits of an opportunity of a trace.
const OPPORTUNITY: u64 = 8 * Trace::OPPORTUNITY as u64;
/// Least rate of a shaper in bit/s.
const MIN_RATE: u64 = 100_000;

/// The highest rate of a shaper with which the queue of the line adds at most two thirds of [`LIMIT`] to 95 % of the probes. `capacity` is the
/// number of bits of full packets that the line carries in each `window`, and `packet` the bytes of such a packet there. The
/// rate counts the same bytes.
#[must_use]
pub fn shaped_rate(
    capacity: &[u64],
    window: Duration,
    packet: u32,
    direction: Direction,
    round_trip: Duration,
) -> Option<BitRate> {
    let line = Shaped {
        trace: trace(capacity, window, packet)?,
        direction,
        round_trip,
    };
    let most = capacity.iter().copied().max()?;
    let most = u64::try_from(u128::from(most) * 1_000_000_000 / u128::from(window.as_nanos().max(1))).ok()?;
    let (mut low, mut high) = (0, most);
    while high - low > high / WIDTH {
        let middle = u64::midpoint(low, high);
        if middle < MIN_RATE {
            return None;
        }
        let rate = BitRate::from_bps(scaled(middle, PACKET, u64::from(packet)));
        if added(&line.scenario(rate))? <= MEASURED_LIMIT {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low >= MIN_RATE).then(|| BitRate::from_bps(low))
}

fn scaled(value: u64, to: u64, from: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(to) / u128::from(from.max(1))).unwrap_or(u64::MAX)
}

/// Opportunities to send 1500 bytes with the framing, in ms: of the first windows that a trace can have.
fn trace(capacity: &[u64], window: Duration, packet: u32) -> Option<Vec<u64>> {
    let ms = window.as_millis();
    let mut all = 0;
    let rates = capacity
        .iter()
        .map(|bits| (scaled(*bits, PACKET, u64::from(packet)) / ms.max(1)).min(MAX_BITS))
        .take_while(|bits| {
            all += bits * ms;
            all / OPPORTUNITY < Trace::MAX as u64
        });
    let trace = opportunities(rates.flat_map(|bits| (0..ms).map(move |_| bits)));
    (trace.len() > 1).then_some(trace)
}

/// 95th percentile of the delay that the load of a scenario adds: that of a probe, the first workload, beyond the median of the
/// baseline.
#[must_use]
pub fn added(scenario: &str) -> Option<Duration> {
    let document = Document::from_toml("shaped", scenario).ok()?;
    let (plan, _) = document.resolve_for(Environment::Simulate).ok()?;
    let (mut idle, mut loaded) = (Vec::new(), Vec::new());
    let begin = Instant::ZERO + plan.warmup;
    let ran = netburn_simulate::run(&plan, |_, rows| {
        for row in rows {
            let Row::Operation(own) = row else { continue };
            let Some(latency) = own.operation.latency() else {
                continue;
            };
            if own.workload == BASELINE {
                idle.push(latency);
            } else if own.workload == 0 && own.operation.due >= begin {
                loaded.push(latency);
            }
        }
        ControlFlow::Continue(())
    });
    ran.ok()?;
    Some(percentile(&loaded, 95)?.saturating_sub(percentile(&idle, 50)?))
}

/// A line that carries what was measured, with a load behind CAKE.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shaped {
    /// Opportunities to send 1500 bytes, in ms.
    trace: Vec<u64>,
    /// Direction of the load.
    direction: Direction,
    /// Round trip without load.
    round_trip: Duration,
}

impl Shaped {
    /// Scenario of the load with this rate of the shaper.
    fn scenario(&self, rate: BitRate) -> String {
        let network = format!(
            "[router.wan]\nframing = \"ethernet\"\nqueue = \"8 MiB\"\ndelay = \"{}\"\ntrace_{} = {:?}\ndiscipline = \"cake\"\n{} = \
             \"{rate}\"\n[server.link]\nrate = \"10 Gbit/s\"\n",
            self.round_trip / 2,
            self.direction.key(),
            self.trace,
            key(self.direction),
        );
        loaded(&network, self.direction)
    }
}

pub(crate) const fn key(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "shaper_down",
        Direction::Up => "shaper_up",
    }
}

/// Scenario of a load in one direction: four TCP connections, and probes to the server.
pub(crate) fn loaded(network: &str, direction: Direction) -> String {
    let kind = match direction {
        Direction::Down => "download",
        Direction::Up => "upload",
    };
    format!(
        "duration = \"{} s\"\nwarmup = \"2 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\n{network}\n[station.{STATION}]\n{}\nworkload = \
         [\"delay\", \"load\"]\n[workload.delay]\nkind = \"probe\"\ninterval = \"20 ms\"\ngoal = \
         \"none\"\n[workload.load]\nkind = \"{kind}\"\nstreams = 4\ngoal = \"none\"\n",
        LOAD_SECONDS + 2,
        WIRED
    )
}

/// Opportunities to send 1500 bytes, in ms, for the bits of each ms. The trace repeats after the last ms.
pub(crate) fn opportunities(bits_of_ms: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut times, mut bits, mut ms) = (Vec::new(), 0, 0);
    for own in bits_of_ms {
        bits += own;
        ms += 1;
        while bits >= OPPORTUNITY {
            bits -= OPPORTUNITY;
            times.push(ms);
        }
    }
    times.push(ms + 1);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace has 500,000 opportunities of 12,000 bits at most: 6 s at 1 Gbit/s.
    #[test]
    fn the_trace_of_a_fast_line_is_its_beginning() {
        let window = Duration::from_millis(100);
        let capacity = vec![100_000_000; 80];
        let trace = trace(&capacity, window, 1538).unwrap();
        assert!(trace.len() <= Trace::MAX, "{}", trace.len());
        assert!((5_900..=6_001).contains(trace.last().unwrap()), "{:?}", trace.last());
    }
}
