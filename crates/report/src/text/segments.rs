//! Lines about the bit rates of adaptive streaming.

use super::why::counted;
use crate::sanitise::sanitise;
use netburn_analysis::format::{fine_percent, mbps, span};
use netburn_record::Summary;
use netburn_record::summary::{PlayerSummary, SegmentsSummary};

/// Meaning of the values.
pub(crate) const NOTE: &str = "The bit rate of each segment follows the level of the player's buffer (BBA-0, SIGCOMM 2014). The rate is the mean over the complete segments of the evaluated time. The player starts with an empty buffer, so its first segments have the lowest bit rate.";

/// Every `dash` workload, with the names of its station and itself.
pub(crate) fn all(summary: &Summary) -> impl Iterator<Item = (&str, &str, &SegmentsSummary, Option<&PlayerSummary>)> {
    summary.stations.iter().flat_map(|station| {
        let workloads = station.workloads.iter();
        workloads.filter_map(|workload| {
            let segments = workload.segments.as_ref()?;
            Some((
                station.name.as_str(),
                workload.name.as_str(),
                segments,
                workload.player.as_ref(),
            ))
        })
    })
}

/// `tv, dash: 12.3 Mbit/s on average in 14 segments, …`, for each workload.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let line = |(station, workload, segments, player)| {
        let name = format!("{}, {}", sanitise(station), sanitise(workload));
        format!("{name}: {}.", facts(segments, player))
    };
    all(summary).map(line).collect()
}

fn facts(of: &SegmentsSummary, player: Option<&PlayerSummary>) -> String {
    let (Some(mean), Some(lowest), Some(share)) = (of.mean_mbps, of.lowest_mbps, of.at_highest_share) else {
        return "no segment was complete".to_owned();
    };
    let mut facts = vec![
        format!(
            "{} Mbit/s on average in {}, {} Mbit/s at least",
            mbps(mean),
            counted(of.complete, "segment"),
            mbps(lowest)
        ),
        format!(
            "{} at the highest bit rate of {} Mbit/s",
            fine_percent(share),
            mbps(of.highest_mbps)
        ),
        match of.switches {
            0 => "no change of the bit rate".to_owned(),
            switches => format!("{} of the bit rate", counted(switches, "change")),
        },
    ];
    if let Some(player) = player {
        facts.extend(
            player
                .startup_ms
                .map(|ms| format!("playback started after {}", span(ms))),
        );
        facts.push(match player.stalls {
            0 => "no stall".to_owned(),
            stalls => format!("{}, {} in all", counted(stalls, "stall"), span(player.stalled_ms)),
        });
    }
    facts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENTS: SegmentsSummary = SegmentsSummary {
        complete: 8,
        mean_mbps: Some(2.75),
        lowest_mbps: Some(1.0),
        highest_mbps: 4.0,
        at_highest_share: Some(0.5),
        switches: 1,
    };

    #[test]
    fn bit_rates_and_the_player_are_one_line() {
        let player = PlayerSummary {
            startup_ms: Some(250.0),
            stalls: 2,
            stalled_ms: 1_500.0,
            ..PlayerSummary::default()
        };
        assert_eq!(
            facts(&SEGMENTS, Some(&player)),
            "2.8 Mbit/s on average in 8 segments, 1.0 Mbit/s at least; 50 % at the highest bit rate of 4.0 Mbit/s; \
             1 change of the bit rate; playback started after 250 ms; 2 stalls, 1.50 s in all"
        );
        let none = SegmentsSummary {
            mean_mbps: None,
            ..SEGMENTS
        };
        assert_eq!(facts(&none, None), "no segment was complete");
    }
}
