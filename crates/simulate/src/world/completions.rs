//! Transmit completions of stations: adapters with interrupt coalescing report several sent packets
//! together, with a delay.

use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::Deadlines;

/// Sent packets that were not reported yet.
#[derive(Debug)]
pub(super) struct Completions {
    /// By station: delay, and flow and packets of each transmission since the last report.
    stations: Vec<(Duration, Vec<(u32, u32)>)>,
    due: Deadlines,
}

impl Completions {
    pub(super) fn new(plan: &Plan) -> Self {
        let of = |station: &netburn_scenario::Station| (station.tx_completion_delay, Vec::new());
        Completions {
            stations: plan.stations.iter().map(of).collect(),
            due: Deadlines::new(plan.stations.len()),
        }
    }

    /// Adds packets of a flow that left a station. Returns true if they are reported later.
    pub(super) fn hold(&mut self, now: Instant, station: u16, flow: u32, packets: u32) -> bool {
        let index = usize::from(station);
        let (delay, held) = &mut self.stations[index];
        if delay.is_zero() {
            return false;
        }
        if held.is_empty() {
            self.due.set(index, Some(now + *delay));
        }
        held.push((flow, packets));
        true
    }

    /// Time of the next report.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.next()
    }

    /// Report that is due by `now`: flow and packets of each transmission of one station.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Vec<(u32, u32)>> {
        let (_, station) = self.due.pop(now)?;
        Some(std::mem::take(&mut self.stations[station].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Document, Environment};

    /// The first at 1 ms is reported 300 µs later, together with the one at 1.2 ms.
    #[test]
    fn several_at_once() {
        let text = "[ap.home.radio.5g]\n[station.a]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\ntx_completion_delay = \"300 us\"\n";
        let document = Document::from_toml("test", text).unwrap();
        let (plan, _) = document.resolve_for(Environment::Simulate).unwrap();
        let mut completions = Completions::new(&plan);
        let at = |micros: i64| Instant::from_nanos(micros * 1_000);
        assert!(completions.hold(at(1_000), 0, 4, 2));
        assert!(completions.hold(at(1_200), 0, 4, 3));
        assert_eq!(completions.next(), Some(at(1_300)));
        assert_eq!(completions.pop(at(1_299)), None);
        assert_eq!(completions.pop(at(1_300)), Some(vec![(4, 2), (4, 3)]));
        assert_eq!(completions.next(), None);
    }
}
