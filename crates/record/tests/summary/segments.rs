//! Segments of adaptive streaming.

use super::util::operation;
use super::{close, plan, summary};
use netburn_record::summary::WorkloadSummary;
use netburn_record::{Row, RunStatus};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::config::Dash;
use netburn_workload::kinds::DashClient;
use netburn_workload::{Config, Goal, Outcome, Verdict};

/// Segments of 2 s at 1, 2 and 4 Mbit/s: 250, 500 and 1000 kB. Each has 2 Mbit/s or more as its goal.
fn config() -> Config {
    let mbps = BitRate::from_mbps;
    let mut goals = Config::dash().goals;
    for goal in &mut goals {
        if let Goal::Rate { at_least, .. } = goal {
            *at_least = mbps(2);
        }
    }
    let dash = Dash {
        ladder: vec![mbps(1), mbps(2), mbps(4)],
        segment: Duration::from_secs(2),
        start: Duration::from_secs(2),
        ..Dash::default()
    };
    Config {
        goals,
        ..Config::with(|client: &mut DashClient| client.dash = dash)
    }
}

/// The workload with a segment every 2 s. Each has its outcome and its size in kB.
fn judged(segments: &[(Outcome, u64)]) -> WorkloadSummary {
    let mut rows = Vec::new();
    for (number, (outcome, kilobytes)) in (0..).zip(segments) {
        let due = Instant::ZERO + Duration::from_secs(2) * number;
        let mut row = operation(0, 0, number, due, *outcome, Duration::from_secs(1));
        if let Row::Operation(row) = &mut row {
            row.operation.bytes = kilobytes * 1000;
        }
        rows.push(row);
    }
    let summary = summary(plan("film", config(), 40), &rows, &RunStatus::Complete);
    summary.stations[0].workloads[0].clone()
}

/// Complete segments: 1, 1, 2, 4, 4, 4, 2 and 4 Mbit/s, on average 22 / 8 = 2.75 Mbit/s. Four of eight have the highest
/// bit rate, and there are four changes: 1 to 2, 2 to 4, 4 to 2, 2 to 4. The one that timed out after 500 kB has no bit rate. Of
/// nine segments six meet the goal, and the lowest has half of it.
#[test]
fn complete_segments_have_bit_rates() {
    let done = |kilobytes| (Outcome::Finished, kilobytes);
    let film = judged(&[
        done(250),
        done(250),
        done(500),
        done(1000),
        done(1000),
        (Outcome::TimedOut, 500),
        done(1000),
        done(500),
        done(1000),
    ]);
    let segments = film.segments.unwrap();
    assert_eq!((segments.complete, segments.switches), (8, 4));
    close(segments.mean_mbps, 2.75, 1e-12);
    assert_eq!((segments.lowest_mbps, segments.highest_mbps), (Some(1.0), 4.0));
    assert_eq!(segments.at_highest_share, Some(0.5));
    let goal = &film.goals[1];
    assert_eq!((goal.goal.as_str(), goal.samples), ("segments ≥ 2 Mbit/s", 9));
    close(goal.met, 6.0 / 9.0, 1e-12);
    assert_eq!((goal.excess, goal.verdict), (Some(2.0), Verdict::Fail));
}

#[test]
fn without_a_complete_segment_there_is_no_bit_rate() {
    let film = judged(&[(Outcome::TimedOut, 100)]);
    let segments = film.segments.unwrap();
    assert_eq!(
        (segments.complete, segments.mean_mbps, segments.at_highest_share),
        (0, None, None)
    );
    assert_eq!((film.goals[1].met, film.goals[1].verdict), (Some(0.0), Verdict::Fail));
}
