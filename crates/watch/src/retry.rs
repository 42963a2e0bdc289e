//! Repetitions of an alert's action that failed.

use netburn_units::Duration;

/// Pauses before the repetitions: 6 minutes in total.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(10),
    Duration::from_secs(50),
    Duration::from_secs(300),
];

/// Pause after this number of failed attempts; `None` if there is no further attempt.
#[must_use]
pub fn pause(failed: usize) -> Option<Duration> {
    PAUSES.get(failed.checked_sub(1)?).copied()
}
