//! Parts of the path between a station and the server, from its probes to hosts on this path.

use super::{Arrival, BLOATED_MS, DelaySource, Direction, FULL, FULL_SHARE, Part, RunFacts, VictimDelay};
use crate::format::span;
use netburn_record::summary::SplitSummary;
use netburn_workload::ProbeTarget;

/// Minimum delay that the load adds to the median of a part, in ms, for a cause. The median is used because the two probes
/// of a difference are not sent at one instant: while a queue grows in bursts, high percentiles of the difference are large
/// without a delay of that part.
pub(in crate::explain) const ADDED_MS: f64 = BLOATED_MS;

/// Share of the bins up to which missed goals are in windows of a run.
const WINDOWS: f64 = 0.9;
/// Minimum number of probes in these windows.
const MIN_IN_WINDOWS: usize = 10;

impl RunFacts<'_> {
    /// A station's split delay.
    pub(in crate::explain) fn split(&self, station: usize) -> Option<&SplitSummary> {
        self.station(station)?.split.as_ref()
    }

    /// Parts of a station's path to which the load adds [`ADDED_MS`] or more.
    pub(in crate::explain) fn delayed_parts(&self, station: usize) -> Vec<VictimDelay> {
        let Some(split) = self.split(station) else {
            return Vec::new();
        };
        let mut parts = added(split);
        assign_directions(&mut parts, split);
        parts.retain(|part| part.added_ms >= ADDED_MS);
        for part in &mut parts {
            if part.part == Some(Part::Line) && part.direction.is_none() {
                part.direction = self.loaded_direction(station);
            }
        }
        if parts.is_empty() {
            parts = self.delayed_in_windows(station, split);
            parts.retain(|part| part.added_ms >= ADDED_MS);
        }
        parts
    }

    /// Delay that the load adds to each part in the bins in which the station missed a goal: a queue that comes and goes does
    /// not change the median of the run. Empty if the station missed a goal in nearly all bins, or in none.
    fn delayed_in_windows(&self, station: usize, split: &SplitSummary) -> Vec<VictimDelay> {
        let mask = self.bad_bins(&[station]);
        let bad = mask.iter().filter(|bad| **bad).count();
        if bad as f64 > WINDOWS * mask.len() as f64 {
            return Vec::new();
        }
        let median = |target: ProbeTarget| {
            let workloads = &self.plan.stations[station].workloads;
            let goes_there = |arrival: &&Arrival| {
                let config = workloads
                    .get(usize::from(arrival.stream.0))
                    .map(|workload| &workload.config);
                config.is_some_and(|config| config.target() == Some(target))
            };
            let width = self.evidence.buckets.width().as_nanos().max(1) as i64;
            let is_bad = |arrival: &&Arrival| mask.get((arrival.due / width) as usize).copied().unwrap_or(false);
            let arrivals = self.evidence.stations[station].arrivals.iter();
            let delays = arrivals.filter(goes_there).filter(is_bad);
            let mut delays: Vec<i64> = delays.filter_map(|arrival| Some(arrival.end? - arrival.due)).collect();
            delays.sort_unstable();
            let enough = delays.len() >= MIN_IN_WINDOWS;
            enough.then(|| delays[delays.len() / 2] as f64 / 1e6)
        };
        let Some(near) = median(ProbeTarget::Near) else {
            return Vec::new();
        };
        // Times in which nothing arrives have causes of their own.
        if self.interruptions(station).is_some() || !self.outages(station).gaps.is_empty() {
            return Vec::new();
        }
        let (line, server) = (median(ProbeTarget::Line), median(ProbeTarget::Server));
        let beyond = if split.line.is_some() {
            (split.line, line.map(|line| line - near))
        } else {
            (split.line_and_server, server.map(|server| server - near))
        };
        let parts = [
            (Part::Wifi, Some(split.wifi), Some(near)),
            (Part::Line, beyond.0, beyond.1),
            (
                Part::Server,
                split.server,
                server.zip(line).map(|(server, line)| server - line),
            ),
        ];
        let delayed = parts.into_iter().filter_map(|(part, delay, median)| {
            Some(VictimDelay {
                part: Some(part),
                direction: (part == Part::Line).then(|| self.loaded_direction(station)).flatten(),
                added_ms: median? - delay?.idle_ms?,
                source: DelaySource::Windows,
            })
        });
        delayed.collect()
    }

    /// Direction of the WAN link that is full, or that transfers load.
    fn loaded_direction(&self, station: usize) -> Option<Direction> {
        let stations = self.behind_the_line_of(station);
        let router = self
            .router_of(station)
            .filter(|router| self.plan.wan(*router).is_some());
        let full = |router, direction| {
            let capacity = self.plan.capacity(router, direction);
            capacity.is_some_and(|capacity| self.line(&stations, direction, &capacity, FULL).full >= FULL_SHARE)
        };
        let [down, up] = match router {
            Some(router) => [full(router, Direction::Down), full(router, Direction::Up)],
            None => [Direction::Down, Direction::Up]
                .map(|direction| stations.iter().any(|other| self.moves(*other, direction))),
        };
        match (down, up) {
            (true, false) => Some(Direction::Down),
            (false, true) => Some(Direction::Up),
            _ => None,
        }
    }

    /// Stations whose packets pass the same WAN link as those of `station`: all behind its router, or all if access points
    /// are unknown.
    pub(in crate::explain) fn behind_the_line_of(&self, station: usize) -> Vec<usize> {
        match self.router_of(station) {
            Some(router) => self.behind(router),
            None => (0..self.plan.stations.len()).collect(),
        }
    }

    /// Sentence on the delay of each part of a station's path: `phone's probes: the load adds 3 ms to the Wi-Fi …`.
    pub(in crate::explain) fn split_sentence(&self, station: usize) -> Option<String> {
        let split = self.split(station)?;
        let beyond = if split.line.is_some() {
            "the internet line"
        } else {
            "line and server"
        };
        let facts: Vec<String> = added(split)
            .iter()
            .filter_map(|part| {
                let name = match part.part? {
                    Part::Wifi => "the Wi-Fi",
                    Part::Line => beyond,
                    Part::Server => "the server",
                };
                Some(format!("{} to {name}", span(part.added_ms.max(0.0))))
            })
            .collect();
        let (last, others) = facts.split_last()?;
        let all = match others {
            [] => last.clone(),
            others => format!("{} and {last}", others.join(", ")),
        };
        Some(format!(
            "{}'s probes show that the load added {all} (median).",
            self.name(station)
        ))
    }

    /// Sentence on where a queue is that these stations share, from the probes of one of them: the one with most delay.
    pub(in crate::explain) fn place_of_queue(&self, stations: &[usize]) -> Option<String> {
        let worst = |station: &usize| {
            let parts = self.delayed_parts(*station);
            let most = parts.into_iter().max_by(|a, b| a.added_ms.total_cmp(&b.added_ms))?;
            Some((*station, most))
        };
        let found = stations.iter().filter_map(worst);
        let (station, most) = found.max_by(|a, b| a.1.added_ms.total_cmp(&b.1.added_ms))?;
        let place = match (most.part?, most.direction) {
            (Part::Wifi, _) => "on the Wi-Fi",
            (Part::Line, Some(Direction::Down)) => "on the internet line downstream",
            (Part::Line, Some(Direction::Up)) => "on the internet line upstream",
            (Part::Line, None) => "on the internet line",
            (Part::Server, _) => "beyond the internet line",
        };
        Some(format!("The queue is {place}. {}", self.split_sentence(station)?))
    }
}

/// Delay that the load adds to each part.
fn added(split: &SplitSummary) -> Vec<VictimDelay> {
    let parts = [
        (Part::Wifi, Some(split.wifi)),
        (Part::Line, split.line.or(split.line_and_server)),
        (Part::Server, split.server),
    ];
    let delayed = |(part, delay): (Part, Option<netburn_record::summary::DelaySummary>)| {
        let delay = delay?;
        Some(VictimDelay {
            part: Some(part),
            direction: None,
            added_ms: delay.added_p50_ms()?,
            source: DelaySource::Probes,
        })
    };
    parts.into_iter().filter_map(delayed).collect()
}

/// Assigns a direction to each part, so that the sums by direction match the one-way delays best. Without one-way delays
/// no part has a direction.
fn assign_directions(parts: &mut [VictimDelay], split: &SplitSummary) {
    let (Some(up), Some(down)) = (split.added_up_ms, split.added_down_ms) else {
        return;
    };
    let error = |choice: u32| {
        let sum = |wanted: u32| {
            let each = parts.iter().zip(0..);
            let each = each.filter(|(_, place)| choice >> place & 1 == wanted);
            each.map(|(part, _)| part.added_ms.max(0.0)).sum::<f64>()
        };
        (sum(0) - down).abs() + (sum(1) - up).abs()
    };
    let best = (0..1 << parts.len()).min_by(|a, b| error(*a).total_cmp(&error(*b)));
    let Some(best) = best else { return };
    for (part, place) in parts.iter_mut().zip(0..) {
        part.direction = Some(if best >> place & 1 == 0 {
            Direction::Down
        } else {
            Direction::Up
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::summary::DelaySummary;

    fn delay(added: f64) -> DelaySummary {
        DelaySummary {
            count: 100,
            idle_ms: Some(5.0),
            p50_ms: Some(5.0 + added),
            p95_ms: Some(5.0 + added),
        }
    }

    fn directions(wifi: f64, line: f64, up: Option<f64>, down: Option<f64>) -> Vec<Option<Direction>> {
        let split = SplitSummary {
            wifi: delay(wifi),
            line: Some(delay(line)),
            added_up_ms: up,
            added_down_ms: down,
            ..SplitSummary::default()
        };
        let mut parts = added(&split);
        assign_directions(&mut parts, &split);
        parts.iter().map(|part| part.direction).collect()
    }

    /// 80 ms on the Wi-Fi and 200 ms on the line can be 80 down and 200 up, 280 down, and so on: each sum by direction
    /// is different.
    #[test]
    fn the_sums_by_direction_decide() {
        let (down, up) = (Some(Direction::Down), Some(Direction::Up));
        assert_eq!(directions(80.0, 200.0, Some(198.0), Some(83.0)), [down, up]);
        assert_eq!(directions(80.0, 200.0, Some(78.0), Some(205.0)), [up, down]);
        assert_eq!(directions(80.0, 200.0, Some(1.0), Some(279.0)), [down, down]);
        assert_eq!(directions(80.0, 200.0, Some(285.0), Some(0.0)), [up, up]);
        assert_eq!(directions(80.0, 200.0, None, None), [None, None]);
    }
}
