//! A station's own results. Goals and verdicts have the rules of the summary of the record.

use netburn_record::summary::verdict_name;
use netburn_record::{EventKind, Row};
use netburn_units::{Duration, Instant};
use netburn_workload::config::{BIN, Window};
use netburn_workload::{Config, Goal, GoalResult, Outcome, Stall, Tally, Workload, judge, windows, worst};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of one workload, updated during the run.
pub(crate) struct WorkloadResult {
    place: (u16, u16),
    config: Config,
    windows: Vec<Window>,
    /// Time from the start of a window to its first operation.
    phase: Duration,
    /// End of the warm-up. What was due before it does not count.
    warm: Instant,
    counts: Counts,
}

/// Counts of a workload. Times are in ns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Counts {
    latencies: Vec<u64>,
    /// Bit rates of complete segments of adaptive streaming, in bit/s.
    segments: Vec<u64>,
    samples: u64,
    failures: u64,
    not_started: u64,
    timeouts: u64,
    bins: BTreeMap<i64, u64>,
    /// All bytes, including those during the warm-up and after the load.
    bytes: u64,
    /// Start and length of each stall.
    stalls: Vec<(i64, u64)>,
}

/// Values of a workload.
pub(crate) struct Values<'a> {
    pub(crate) verdict: &'static str,
    pub(crate) goals: Vec<(GoalResult, Tally)>,
    pub(crate) median: Option<Duration>,
    pub(crate) slowest: Option<Duration>,
    pub(crate) last: Option<Duration>,
    /// Mean rate in bit/s.
    pub(crate) rate: f64,
    pub(crate) segments: &'a [u64],
    pub(crate) samples: u64,
    pub(crate) failures: u64,
    pub(crate) not_started: u64,
    pub(crate) timeouts: u64,
    pub(crate) bytes: u64,
    pub(crate) stalls: Tally,
}

impl WorkloadResult {
    /// Creates an empty result. The load of the station runs from `start` to `end`.
    pub(crate) fn new(place: (u16, u16), machine: &Workload, start: Instant, end: Instant, warm: Instant) -> Self {
        let config = machine.config().clone();
        let windows: Vec<Window> = config.windows(start, end).collect();
        let first = machine.first_due();
        let begin = windows.first().map_or(start, |window| window.from);
        WorkloadResult {
            place,
            phase: first.and_then(|first| first.checked_since(begin)).unwrap_or_default(),
            windows,
            config,
            warm,
            counts: Counts::default(),
        }
    }

    /// Counts a row, if it belongs to the workload.
    pub(crate) fn put(&mut self, row: &Row) {
        let counts = &mut self.counts;
        match row {
            Row::Operation(row) if (row.station, row.workload) == self.place => {
                let operation = &row.operation;
                if operation.outcome == Outcome::Cut || operation.due < self.warm {
                    return;
                }
                counts.samples += 1;
                counts.failures += u64::from(matches!(operation.outcome, Outcome::Failed(_) | Outcome::TimedOut));
                counts.not_started += u64::from(operation.outcome == Outcome::NotStarted);
                counts.timeouts += u64::from(operation.outcome == Outcome::TimedOut);
                counts.latencies.extend(operation.latency().map(Duration::as_nanos));
                if operation.outcome == Outcome::Finished
                    && let Some(dash) = self.config.dash()
                {
                    counts
                        .segments
                        .extend(dash.rate_of(operation.bytes).map(|rate| rate.as_bps()));
                }
            }
            Row::Interval(row) if (row.station, row.workload) == self.place => {
                let bytes = row.bytes_down + row.bytes_up;
                *counts.bins.entry(row.at.as_nanos()).or_default() += bytes;
                counts.bytes += bytes;
            }
            Row::Event(row)
                if (row.station, row.workload) == (Some(self.place.0), Some(self.place.1))
                    && row.kind == EventKind::Stall =>
            {
                counts.stalls.push((row.at.as_nanos(), row.length));
            }
            _ => {}
        }
    }

    /// Returns the values at `now`.
    pub(crate) fn values(&self, now: Instant) -> Values<'_> {
        let counts = &self.counts;
        let is_datagram = self.config.kind().is_datagram();
        // Goals of datagrams need both directions, or windows of packets. They are judged in the report only.
        let judged = if is_datagram { &[] } else { &self.config.goals[..] };
        let parts = self.parts(self.phase, now);
        let goals: Vec<(GoalResult, Tally)> = judged
            .iter()
            .map(|goal| {
                let tally = self.tally(*goal, &parts);
                (judge(*goal, &tally), tally)
            })
            .collect();
        let verdict = if is_datagram && !self.config.goals.is_empty() {
            "report"
        } else {
            verdict_name(worst(goals.iter().map(|(result, _)| result.verdict)))
        };
        let mut sorted = counts.latencies.clone();
        sorted.sort_unstable();
        let median = sorted.len().div_ceil(2).checked_sub(1).map(|rank| sorted[rank]);
        Values {
            verdict,
            goals,
            median: median.map(Duration::from_nanos),
            slowest: sorted.last().copied().map(Duration::from_nanos),
            last: counts.latencies.last().copied().map(Duration::from_nanos),
            rate: self.rate(now),
            segments: &counts.segments,
            samples: counts.samples,
            failures: counts.failures,
            not_started: counts.not_started,
            timeouts: counts.timeouts,
            bytes: counts.bytes,
            stalls: self.stalls(&parts),
        }
    }

    /// Evaluated parts of the windows until `now`, each from `phase` after the start of its window on.
    fn parts(&self, phase: Duration, now: Instant) -> Vec<Window> {
        let parts = self.windows.iter().filter_map(|window| {
            let from = window.from.checked_add(phase)?.max(self.warm);
            let to = window.to.min(now);
            (from < to).then_some(Window { from, to })
        });
        parts.collect()
    }

    /// Mean rate until `now` in bit/s, as in the summary: the bytes of the evaluated time in which the workload runs, divided
    /// by this time. An interval counts by its evaluated part.
    fn rate(&self, now: Instant) -> f64 {
        let (mut moved, mut length) = (0.0, Duration::ZERO);
        for part in self.parts(Duration::ZERO, now) {
            let first = part.from - BIN;
            for (&at, &bytes) in self.counts.bins.range(first.as_nanos()..part.to.as_nanos()) {
                let at = Instant::from_nanos(at);
                let inside = (at + BIN).min(part.to).checked_since(at.max(part.from));
                moved += bytes as f64 * inside.unwrap_or_default().as_nanos() as f64 / BIN.as_nanos() as f64;
            }
            length += part.to.checked_since(part.from).unwrap_or_default();
        }
        if length.is_zero() {
            0.0
        } else {
            moved * 8e9 / length.as_nanos() as f64
        }
    }

    fn stalls(&self, parts: &[Window]) -> Tally {
        let stalls = self.counts.stalls.iter().map(|&(began, length)| Stall {
            began: Instant::from_nanos(began),
            length: Duration::from_nanos(length),
        });
        let stalls: Vec<Stall> = stalls.collect();
        sum(parts.iter().map(|part| Tally::from_stalls(&stalls, part.from, part.to)))
    }

    fn tally(&self, goal: Goal, parts: &[Window]) -> Tally {
        let counts = &self.counts;
        match goal {
            Goal::Latency { limit } => {
                let limit = limit.as_nanos();
                let longest = counts.latencies.iter().max();
                Tally {
                    samples: counts.samples,
                    met: counts.latencies.iter().filter(|latency| **latency <= limit).count() as u64,
                    worst: longest.map(|longest| *longest as f64 / limit as f64),
                    ..Tally::default()
                }
            }
            Goal::Rate { at_least, .. } if self.config.dash().is_some() => {
                let at_least = at_least.as_bps();
                let lowest = counts.segments.iter().min();
                Tally {
                    samples: counts.samples,
                    met: counts.segments.iter().filter(|rate| **rate >= at_least).count() as u64,
                    worst: lowest.map(|lowest| at_least as f64 / *lowest as f64),
                    ..Tally::default()
                }
            }
            Goal::Rate { .. } => sum(parts.iter().map(|part| {
                let bins = counts.bins.iter().map(|(at, bytes)| (Instant::from_nanos(*at), *bytes));
                windows(bins, goal, part.from, part.to)
            })),
            _ => self.stalls(parts),
        }
    }

    /// Returns the counts, for [`restore`](Self::restore).
    pub(crate) fn save(&self) -> serde_json::Value {
        serde_json::to_value(&self.counts).unwrap_or_default()
    }

    /// Continues with saved counts.
    pub(crate) fn restore(&mut self, saved: &serde_json::Value) {
        self.counts = Counts::deserialize(saved).unwrap_or_default();
    }
}

fn sum(tallies: impl Iterator<Item = Tally>) -> Tally {
    tallies.fold(Tally::default(), |mut all, tally| {
        all.add(&tally);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::{EventRow, IntervalRow, OperationRow};
    use netburn_units::{BitRate, Seed};
    use netburn_workload::config::{Activity, Dash};
    use netburn_workload::kinds::dash::DashClient;
    use netburn_workload::{Failure, Operation, Verdict};

    /// The result of a workload from 0 to `end`, with a warm-up until `warm`. Times are in ms.
    fn result(config: Config, warm: i64, end: i64) -> WorkloadResult {
        let (start, end) = (Instant::ZERO, Instant::from_millis(end));
        let machine = Workload::new(config, start, end, end, Seed(1), 0);
        WorkloadResult::new((0, 0), &machine, start, end, Instant::from_millis(warm))
    }

    fn with_goals(goals: &[Goal], config: Config) -> Config {
        Config {
            goals: goals.to_vec(),
            ..config
        }
    }

    fn rate_goal(bps: u64) -> Goal {
        Goal::Rate {
            at_least: BitRate::from_bps(bps),
            window: Duration::from_millis(200),
            step: Duration::from_millis(100),
        }
    }

    /// An operation that is due at `due` ns.
    fn put_operation(result: &mut WorkloadResult, due: i64, latency: u64, bytes: u64, outcome: Outcome) {
        let due = Instant::from_nanos(due);
        let operation = Operation {
            due,
            finished: (outcome != Outcome::NotStarted).then(|| due + Duration::from_nanos(latency)),
            bytes,
            outcome,
            ..Operation::default()
        };
        result.put(&Row::Operation(OperationRow {
            operation,
            ..OperationRow::default()
        }));
    }

    /// Bytes in the 100 ms from each of `starts`, in ms.
    fn put_bytes(result: &mut WorkloadResult, starts: impl IntoIterator<Item = i64>, bytes_down: u64) {
        for at in starts {
            let at = Instant::from_millis(at);
            result.put(&Row::Interval(IntervalRow {
                at,
                bytes_down,
                ..IntervalRow::default()
            }));
        }
    }

    fn put_stall(result: &mut WorkloadResult, at: i64, millis: u64) {
        result.put(&Row::Event(EventRow {
            station: Some(0),
            workload: Some(0),
            at: Instant::from_millis(at),
            length: Duration::from_millis(millis).as_nanos(),
            kind: EventKind::Stall,
            ..EventRow::default()
        }));
    }

    fn verdict(result: &WorkloadResult, now: i64, goal: usize) -> Verdict {
        result.values(Instant::from_millis(now)).goals[goal].0.verdict
    }

    #[test]
    fn outcomes_count_as_in_the_summary() {
        let of = |latencies: &[u64], others: &[Outcome]| {
            let limit = Duration::from_millis(500);
            let mut result = result(with_goals(&[Goal::Latency { limit }], Config::voip()), 0, 1_000_000);
            for (&latency, due) in latencies.iter().zip(0..) {
                put_operation(&mut result, due, latency, 1, Outcome::Finished);
            }
            for &outcome in others {
                put_operation(&mut result, 9, 0, 0, outcome);
            }
            result
        };
        let judge =
            |latencies: &[u64], others: &[Outcome]| of(latencies, others).values(Instant::from_secs(1000)).verdict;
        let quick = [100_000_000; 99];
        assert_eq!(judge(&[&quick[..], &[1_000_000_000]].concat(), &[]), "pass");
        assert_eq!(judge(&[&quick[..], &[1_000_000_001]].concat(), &[]), "marginal");
        assert_eq!(judge(&quick, &[Outcome::NotStarted]), "pass");
        assert_eq!(judge(&quick, &[Outcome::NotStarted, Outcome::TimedOut]), "marginal");
        let failed_dial = [Outcome::Failed(Failure::Dial)];
        assert_eq!(judge(&quick[..18], &failed_dial), "fail");
        assert_eq!(judge(&quick[..19], &failed_dial), "marginal");
        assert_eq!(judge(&[], &[Outcome::Cut]), "inconclusive");

        let others = [Outcome::NotStarted, Outcome::TimedOut, failed_dial[0], Outcome::Cut];
        let result = of(&[3, 1, 2], &others);
        let values = result.values(Instant::from_secs(1000));
        let nanos = |nanos| Some(Duration::from_nanos(nanos));
        assert_eq!(
            (values.median, values.slowest, values.last),
            (nanos(2), nanos(3), nanos(2))
        );
        assert_eq!((values.samples, values.failures), (6, 2));
        assert_eq!((values.not_started, values.timeouts), (1, 1));
    }

    #[test]
    fn windows_of_a_rate_goal_are_of_whole_intervals_after_the_warm_up() {
        let config = with_goals(&[rate_goal(8_000_000), Goal::NoStall], Config::stream_4k());
        let mut result = result(config, 50, 600);
        // The first operation is due at the start.
        result.phase = Duration::ZERO;
        // From 100 ms on: 100 kB in each 100 ms are exactly 8 Mbit/s.
        put_bytes(&mut result, [100, 200, 400], 100_000);
        put_bytes(&mut result, [300], 50_000);
        let values = result.values(Instant::from_millis(550));
        let (rate, tally) = &values.goals[0];
        assert_eq!((tally.samples, tally.met, tally.worst), (3, 1, Some(4.0 / 3.0)));
        assert_eq!(
            (rate.verdict, values.goals[1].0.verdict),
            (Verdict::Fail, Verdict::Pass)
        );
        // 1 % of the 500 ms are 5 ms.
        put_stall(&mut result, 300, 4);
        assert_eq!(verdict(&result, 550, 1), Verdict::Marginal);
        put_stall(&mut result, 400, 4);
        assert_eq!(verdict(&result, 550, 1), Verdict::Fail);
    }

    /// Activity for the first `stop` of every second, in ms.
    fn every_second(stop: u64, config: Config) -> Config {
        let activity = Activity {
            start: Duration::ZERO,
            stop: Some(Duration::from_millis(stop)),
            repeat: Some(Duration::from_secs(1)),
        };
        Config { activity, ..config }
    }

    #[test]
    fn windows_of_a_rate_goal_are_not_in_pauses() {
        let config = every_second(400, with_goals(&[rate_goal(8_000_000)], Config::download()));
        let mut result = result(config, 0, 2000);
        put_bytes(&mut result, (0..400).chain(1000..1400).step_by(100), 100_000);
        let values = result.values(Instant::from_secs(10));
        // Three windows of two intervals each in four intervals.
        assert_eq!((values.goals[0].1.samples, values.goals[0].1.met), (6, 6));
        assert_eq!(values.verdict, "pass");
    }

    /// 1 MB in each 100 ms are 80 Mbit/s.
    #[test]
    fn throughput_counts_the_bytes_of_the_evaluated_time() {
        let of = |config, warm, end| {
            let mut result = result(config, warm, end);
            put_bytes(&mut result, (0..3000).step_by(100), 1_000_000);
            result
        };
        let rate = |result: &WorkloadResult, now| result.values(Instant::from_millis(now)).rate;
        let assert_near = |found: f64, expected: f64| assert!((found - expected).abs() < 1.0, "{found} for {expected}");
        // The bytes of two more seconds of drain are not part of the rate.
        let whole = of(Config::download(), 0, 1000);
        assert_near(rate(&whole, 10_000), 80e6);
        assert_eq!(whole.values(Instant::from_secs(10)).bytes, 30_000_000);
        // From 50 ms to 1,030 ms: half of the first interval, and three tenths of the last one.
        let mut partial = of(Config::download(), 50, 1030);
        put_bytes(&mut partial, [0], 1_000_000);
        assert_near(rate(&partial, 10_000), (0.5 * 2.0 + 9.0 + 0.3) * 8e6 / 0.98);
        assert_eq!(rate(&partial, 50), 0.0);
        let paused = of(every_second(200, Config::download()), 0, 2100);
        assert_near(rate(&paused, 10_000), 80e6);
    }

    #[test]
    fn the_goal_for_the_bit_rate_of_segments_counts_complete_ones() {
        let film = |ladder: [u64; 2], goal, end| {
            let config = Config::with(|client: &mut DashClient| {
                client.dash = Dash {
                    ladder: ladder.map(BitRate::from_bps).to_vec(),
                    segment: Duration::from_secs(4),
                    ..Dash::default()
                };
            });
            result(with_goals(&[rate_goal(goal)], config), 0, end)
        };
        let second = 1_000_000_000;
        let mut result = film([1_000_000, 2_000_000], 2_000_000, 60_000);
        for (due, bytes, outcome) in [
            (0, 500_000, Outcome::Finished),
            (4, 1_000_000, Outcome::Finished),
            (8, 700_000, Outcome::TimedOut),
        ] {
            put_operation(&mut result, due * second, 1_000_000_000, bytes, outcome);
        }
        let values = result.values(Instant::from_secs(60));
        assert_eq!((values.goals[0].1.samples, values.goals[0].1.met), (3, 1));
        assert_eq!((values.verdict, values.segments), ("fail", &[1_000_000, 2_000_000][..]));
        // One segment of 200 at a third of the goal: too slow for a pass.
        let mut mostly = film([2_000_000, 6_000_000], 6_000_000, 800_000);
        for number in 0..200 {
            let bytes = if number == 0 { 1_000_000 } else { 3_000_000 };
            put_operation(
                &mut mostly,
                number * 4 * second,
                1_000_000_000,
                bytes,
                Outcome::Finished,
            );
        }
        assert_eq!(mostly.values(Instant::from_secs(800)).verdict, "marginal");
    }

    #[test]
    fn goals_of_datagrams_are_only_in_the_report() {
        let game = |goals: &[Goal]| {
            result(with_goals(goals, Config::game()), 0, 1000)
                .values(Instant::from_secs(1))
                .verdict
        };
        assert_eq!([game(&[Goal::NoGap]), game(&[])], ["report", "none"]);
    }
}
