//! CoDel's drops from a standing queue, computed by hand from RFC 8289.

use super::{Kind, Metrics};
use crate::validate::quantity::{Dimension, micros, parsed};
use netburn_medium::packet::{Ecn, NodeId, Packet, Queued};
use netburn_medium::queue::codel::{Codel as State, CodelParameters, Source};
use netburn_units::{Duration, Instant};
use serde::Deserialize;
use std::collections::VecDeque;

/// Maximum number of drops in a case.
const MAX_DROPS: usize = 64;

/// One packet enters and one leaves every `period`, after a sojourn time of `wait`. Metrics `drop 1`, `drop 2` and so on are the
/// times from the first arrival to each drop. A drop does not shorten the sojourn time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Codel {
    #[serde(deserialize_with = "parsed")]
    target: Duration,
    #[serde(deserialize_with = "parsed")]
    interval: Duration,
    #[serde(deserialize_with = "parsed")]
    wait: Duration,
    #[serde(deserialize_with = "parsed")]
    period: Duration,
    /// Time during which packets arrive.
    #[serde(deserialize_with = "parsed")]
    duration: Duration,
}

/// Packets by arrival time.
struct PacketQueue(VecDeque<Instant>);

const LENGTH: u32 = 1_500;

impl Source<()> for PacketQueue {
    fn pop(&mut self) -> Option<Queued<()>> {
        self.0.pop_front().map(|since| Queued {
            to: NodeId(0),
            since,
            arrival: 0,
            packet: Packet {
                length: LENGTH,
                flow: 0,
                tid: 0,
                ecn: Ecn::NotEct,
                payload: (),
            },
        })
    }

    fn bytes(&self) -> u64 {
        self.0.len() as u64 * u64::from(LENGTH)
    }
}

impl Kind for Codel {
    fn metrics(&self) -> Metrics {
        (1..=MAX_DROPS)
            .map(|number| (format!("drop {number}"), Dimension::Time))
            .collect()
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let drops = self.drops();
        let value = |metric: &&str| {
            let number: Option<usize> = metric.strip_prefix("drop ").and_then(|number| number.parse().ok());
            let at = number.and_then(|number| drops.get(number.checked_sub(1)?));
            at.map_or(f64::NAN, |at| micros(at.since(Instant::ZERO)))
        };
        wanted.iter().map(value).collect()
    }
}

impl Codel {
    fn drops(&self) -> Vec<Instant> {
        let parameters = CodelParameters {
            target: self.target,
            interval: self.interval,
            ecn: false,
            mtu: 0,
        };
        let mut state = State::default();
        let mut waiting = PacketQueue(VecDeque::new());
        let (mut dropped, mut when) = (Vec::new(), Vec::new());
        let period = Duration::from_nanos(self.period.as_nanos().max(1));
        let mut now = Instant::ZERO;
        while now.since(Instant::ZERO) < self.duration && when.len() < MAX_DROPS {
            waiting.0.push_back(now);
            if now.since(Instant::ZERO) >= self.wait {
                state.dequeue(now, &parameters, &mut waiting, &mut dropped);
                for _ in dropped.drain(..) {
                    when.push(now);
                    let first = waiting.0.front().copied().unwrap_or(now);
                    waiting.0.push_front(first);
                }
            }
            now += period;
        }
        when
    }
}
