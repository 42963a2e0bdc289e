//! Results of a video player, for `stream` and `dash`.

use super::{End, KindCounter, Shared};
use crate::quantity::{Metric, Table, Unit, count};
use crate::row::{EventKind, EventRow};
use netburn_stats::metric_change::{Better, Tolerance};
use netburn_units::Duration;
use netburn_workload::{Config, Goal, Stall, Tally};
use serde::{Deserialize, Serialize};

/// Results of a video player.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PlayerSummary {
    /// Time from the start of the player to its playback; the longest, with `--repeat`. `null` if it never
    /// played.
    #[serde(default)]
    pub startup_ms: Option<f64>,
    /// Number of stalls in the observed time.
    pub stalls: u64,
    /// Total duration of stalls, within the observed time.
    pub stalled_ms: f64,
    /// Duration of the longest stall, within the observed time.
    pub longest_stall_ms: f64,
    /// Time stalled as a share of the observed time; 0 if the player was not observed.
    pub stalled_share: f64,
}

pub(super) static METRICS: &[Metric<PlayerSummary>] = &[
    Metric::new("stalls", Unit::Count, |of: &PlayerSummary| count(of.stalls)).at("player.stalls"),
    Metric::new("stalled_ms", Unit::Ms, |of: &PlayerSummary| Some(Some(of.stalled_ms)))
        .gauge(
            "netburn_player_stalled_seconds",
            "Total duration of stalls of a player.",
        )
        .at("player.stalled_ms")
        .column(Table::Sweep, "stalled ms"),
    Metric::new("startup_ms", Unit::Ms, |of: &PlayerSummary| Some(of.startup_ms))
        .at("player.startup_ms")
        .gauge("netburn_player_startup_seconds", "Startup delay of a player."),
    Metric::new("stalled_share", Unit::Share, |of: &PlayerSummary| {
        Some(Some(of.stalled_share))
    })
    .at("player.stalled_share")
    .compared(
        "stalled %",
        "share of the time in which a player stalled",
        Better::Lower,
        Tolerance::LOSS,
    ),
];

/// Events of the players of a workload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Player {
    /// Stalls of one run.
    stalls: Vec<Stall>,
    /// Stalls, against the observed time.
    observed: Tally,
    /// The longest stall in the observed time.
    longest_stall: Duration,
    /// Times from the start of players to their playback, in ns.
    startup: Vec<u64>,
}

impl KindCounter for Player {
    type Summary = PlayerSummary;

    fn new(config: &Config, _tls: bool) -> Option<Self> {
        config.playback().map(|_| Player::default())
    }

    fn event(&mut self, row: &EventRow) {
        match row.kind {
            EventKind::Startup => self.startup.push(row.length),
            EventKind::Stall => self.stalls.push(Stall {
                began: row.at,
                length: Duration::from_nanos(row.length),
            }),
            _ => {}
        }
    }

    fn finish(&mut self, of: &End<'_>, goals: &mut [Tally]) {
        let stalls = std::mem::take(&mut self.stalls);
        for part in of.judged {
            self.observed.add(&Tally::from_stalls(&stalls, part.from, part.to));
            let lengths = stalls.iter().map(|stall| stall.within(part.from, part.to));
            self.longest_stall = lengths.fold(self.longest_stall, Duration::max);
        }
        for (goal, tally) in of.config.goals.iter().zip(goals) {
            if *goal == Goal::NoStall {
                *tally = self.observed;
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.observed.add(&other.observed);
        self.longest_stall = self.longest_stall.max(other.longest_stall);
        self.startup.extend(other.startup);
    }

    fn summarise(self, _of: &Shared<'_>) -> PlayerSummary {
        let observed = self.observed;
        PlayerSummary {
            startup_ms: self.startup.into_iter().max().map(|nanos| nanos as f64 / 1e6),
            stalls: observed.stalls,
            stalled_ms: observed.stalled.as_millis_f64(),
            longest_stall_ms: self.longest_stall.as_millis_f64(),
            stalled_share: match observed.watched.as_nanos() {
                0 => 0.0,
                watched => observed.stalled.as_nanos() as f64 / watched as f64,
            },
        }
    }
}
