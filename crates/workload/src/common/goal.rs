//! Goals of a workload.

use super::{ConfigError, within, wrong};
use netburn_units::{BitRate, Duration, Probability};

/// Highest rating R of a goal. Without delay and loss R is 93.2.
pub const MAX_RATING: u8 = 93;

/// Maximum of a goal in round trips per minute: a round trip of 60 µs.
pub const MAX_RPM: u32 = 1_000_000;

/// Minimum length of a gap: 100 ms, about six updates of a game.
pub const GAP: Duration = Duration::from_millis(100);

/// Width of the bins in which bytes are counted, and so the granularity of a rate goal's window and
/// step: 100 ms.
pub const BIN: Duration = Duration::from_millis(100);

/// Goal of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Every operation finishes within `limit` of its due time. For `game` and `cloud-gaming`, the round trip of every
    /// packet up is at most `limit`.
    Latency {
        /// Maximum latency.
        limit: Duration,
    },
    /// Every window of `window`, in steps of `step`, receives at least `at_least`. For `dash`: every segment is complete
    /// and has at least this bit rate.
    Rate {
        /// Minimum rate.
        at_least: BitRate,
        /// Length of the window: 2 s.
        window: Duration,
        /// Time from the start of one window to the next: 100 ms.
        step: Duration,
    },
    /// The player never stalls.
    NoStall,
    /// In each direction, the packets of every window of `window`, in steps of `step`, have at least
    /// this rating with the best fixed playout buffer and G.711 with concealment
    /// ([`netburn_quality`]).
    Quality {
        /// Minimum rating R of the E-model, in points; 1 to 93.
        at_least: u8,
        /// Length of the window: 10 s.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
    /// In each direction, of the packets of every window of `window`, in steps of `step`, at most
    /// this share is lost.
    Loss {
        /// Maximum share of lost packets; more than 0, less than 1.
        at_most: Probability,
        /// Length of the window: 10 s.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
    /// In each direction, there is no [gap](GAP): a time without an arrival.
    NoGap,
    /// Every frame is complete within one interval of its due time, plus the smallest delay of a
    /// packet.
    Frames,
    /// In each direction, there is no freeze ([`netburn_quality::freezes()`]).
    NoFreeze,
    /// The probes of every window of `window`, in steps of `step`, have at least this score of
    /// draft-ietf-ippm-responsiveness-09 ([`rpm_windows`](crate::rpm_windows)).
    Rpm {
        /// Minimum number of round trips per minute; 1 to [`MAX_RPM`].
        at_least: u32,
        /// Length of the window: 5 s, which is ID of the draft.
        window: Duration,
        /// Time from the start of one window to the next: 1 s.
        step: Duration,
    },
}

impl Goal {
    /// Maximum latency of an operation; `None` for other goals.
    #[must_use]
    pub fn latency(&self) -> Option<Duration> {
        match *self {
            Goal::Latency { limit } => Some(limit),
            _ => None,
        }
    }

    /// Minimum rate and the length of its window; `None` for other goals.
    #[must_use]
    pub fn rate(&self) -> Option<(BitRate, Duration)> {
        match *self {
            Goal::Rate { at_least, window, .. } => Some((at_least, window)),
            _ => None,
        }
    }

    /// Text form in reports: `page load ≤ 500 ms`, `latency ≤ 150 ms`, `every 2 s ≥ 20 Mbit/s`, `no
    /// stall`, `every 10 s R ≥ 80`, `every 10 s lost ≤ 1 %`, `no gap
    /// of 100 ms`, `frames on time`, `no freeze`, `every 5 s ≥ 1000 rpm`,
    /// `segments ≥ 4.5 Mbit/s`. `latency` names the time of an operation; `rate_of` has a rate of its own, if it isn't that
    /// of a window.
    pub(crate) fn text(&self, latency: &str, rate_of: Option<&str>) -> String {
        match self {
            Goal::Latency { limit } => format!("{latency} ≤ {limit}"),
            Goal::Rate { at_least, window, .. } => match rate_of {
                Some(what) => format!("{what} ≥ {at_least}"),
                None => format!("every {window} ≥ {at_least}"),
            },
            Goal::NoStall => "no stall".to_owned(),
            Goal::Frames => "frames on time".to_owned(),
            Goal::NoFreeze => "no freeze".to_owned(),
            Goal::NoGap => format!("no gap of {GAP}"),
            Goal::Quality { at_least, window, .. } => format!("every {window} R ≥ {at_least}"),
            Goal::Rpm { at_least, window, .. } => format!("every {window} ≥ {at_least} rpm"),
            Goal::Loss { at_most, window, .. } => format!("every {window} lost ≤ {at_most}"),
        }
    }

    /// Checks its values, whatever the kind.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Goal::Quality { window, step, .. } | Goal::Loss { window, step, .. } | Goal::Rpm { window, step, .. }
                if window.is_zero() || step.is_zero() =>
            {
                wrong("goal", "has a window or step of 0 s; expected more than 0 s")
            }
            Goal::Rpm { at_least, .. } => within("goal", u64::from(*at_least), 1, u64::from(MAX_RPM)),
            Goal::Quality { at_least, .. } => within("goal", u64::from(*at_least), 1, u64::from(MAX_RATING)),
            Goal::Loss { at_most, .. } if [Probability::ZERO, Probability::ONE].contains(at_most) => wrong(
                "goal",
                format!("is a loss of {at_most}; expected more than 0 %, less than 100 %"),
            ),
            Goal::Latency { limit } if limit.is_zero() => {
                wrong("goal", "has an invalid latency: found 0 s, expected more than 0 s")
            }
            Goal::Rate { at_least, .. } if at_least.as_bps() == 0 => {
                wrong("goal", "has an invalid rate: found 0, expected more than 0")
            }
            Goal::Rate { window, step, .. } => {
                for (what, span) in [("window", window), ("step", step)] {
                    if span.is_zero() || !span.as_nanos().is_multiple_of(BIN.as_nanos()) {
                        return wrong("goal", format!("has a {what} of {span}; expected a multiple of {BIN}"));
                    }
                }
                Ok(())
            }
            Goal::Latency { .. } | Goal::Loss { .. } | Goal::NoStall | Goal::NoGap | Goal::Frames | Goal::NoFreeze => {
                Ok(())
            }
        }
    }

    /// The goal as the subject of a sentence, with its verb.
    pub(crate) fn subject(&self) -> &'static str {
        match self {
            Goal::Latency { .. } => "a time is",
            Goal::Rate { .. } => "a rate is",
            Goal::NoStall => "`no stall` is",
            Goal::Quality { .. } => "a rating is",
            Goal::Loss { .. } => "a loss is",
            Goal::NoGap => "`no gap` is",
            Goal::Frames => "`frames on time` is",
            Goal::NoFreeze => "`no freeze` is",
            Goal::Rpm { .. } => "round trips per minute are",
        }
    }
}
