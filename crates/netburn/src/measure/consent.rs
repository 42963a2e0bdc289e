//! Confirmation of measurements that transfer much.

use crate::exit::CliError;
use netburn_fit::schedule::Schedule;
use netburn_scenario::decimal;
use netburn_units::{BitRate, ByteSize};
use std::io::{self, IsTerminal};

/// Volume above which netburn asks for confirmation: some contracts for mobile data have little more in a month.
pub(crate) const CONFIRM_THRESHOLD: ByteSize = ByteSize::from_bytes(2_000_000_000);
/// Assumed rate of the line and of the server: the fastest that most homes have.
const FASTEST: BitRate = BitRate::from_mbps(1_000);

/// Volume of a measurement, as text: the most at the fastest rate, and at a rate with which others are easy to compute.
pub(super) fn volume(schedule: &Schedule) -> String {
    let each = BitRate::from_mbps(100);
    format!(
        "at most {} at {FASTEST}, or {} for each {each}",
        decimal(most(schedule)),
        decimal(schedule.max_bytes(each, each))
    )
}

/// Upper bound of the volume.
fn most(schedule: &Schedule) -> ByteSize {
    schedule.max_bytes(FASTEST, FASTEST)
}

/// The question before a measurement; `None` if it needs no confirmation.
pub(super) fn question(schedule: &Schedule) -> Option<String> {
    (most(schedule) > CONFIRM_THRESHOLD).then(|| format!("The measurement may transfer {}.", volume(schedule)))
}

/// Checks that a measurement of `count` devices or more needs no answer of a user, if there is no terminal to ask at.
pub(super) fn check_unattended(count: usize, yes: bool) -> Result<(), CliError> {
    if yes || io::stdin().is_terminal() {
        return Ok(());
    }
    let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    match question(&Schedule::measure(&names)) {
        Some(volume) => Err(unattended(&volume)),
        None => Ok(()),
    }
}

/// The error if there is no terminal to ask at.
pub(crate) fn unattended(volume: &str) -> CliError {
    CliError::Usage(format!("{volume} To measure without a question, add --yes."))
}

/// Returns whether an answer is a confirmation.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim(), "y" | "Y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_above_two_gigabytes_needs_a_confirmation() {
        let asked = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("s{number}")).collect();
            question(&Schedule::measure(&names))
        };
        // One device: 4 s down and 4 s up at 1 Gbit/s are 1 GB. Two: each alone and both, in two directions, are 3 GB.
        assert_eq!(asked(1), None);
        assert_eq!(
            asked(2).unwrap(),
            "The measurement may transfer at most 3.0 GB at 1 Gbit/s, or 300 MB for each 100 Mbit/s."
        );
    }

    #[test]
    fn only_yes_is_a_confirmation() {
        for answer in ["y", "Y\n", " yes\r\n"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n", "no", "yesterday", "yy"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
