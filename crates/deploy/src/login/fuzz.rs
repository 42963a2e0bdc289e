//! The entry point for a fuzzer.

use super::{Facts, Transcript, findings};
use netburn_units::Duration;

/// Reads bytes as a transcript whose lines begin with their time in ms, and as a machine's report about
/// itself.
///
/// # Panics
/// When something panics, or phases take longer than the whole.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = timed(&text);
    let login = Transcript::read(lines.iter().copied());
    let last = lines.iter().map(|(at, _)| *at).max().unwrap_or(Duration::ZERO);
    assert!(login.total() <= last, "{:?} in {last}", login.phases);
    let mut facts = Facts::default();
    facts.learn(&text);
    let found = findings(&login, &facts);
    assert!(found.len() <= login.phases.len());
    assert!(found.windows(2).all(|pair| pair[0].took >= pair[1].took));
    assert!(
        found
            .iter()
            .all(|finding| !finding.remedy.is_empty() && !finding.cause.is_empty())
    );
}

/// Lines such as `12.3 debug1: …`, times in ms that don't go backwards.
#[must_use]
pub fn timed(text: &str) -> Vec<(Duration, &str)> {
    let mut last = Duration::ZERO;
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((time, rest)) = line.trim_start().split_once(' ') else {
            continue;
        };
        let Ok(ms) = time.parse::<f64>() else { continue };
        // A day at most.
        let us = (ms * 1000.0).clamp(0.0, 86.4e9) as u64;
        last = last.max(Duration::from_micros(us));
        lines.push((last, rest));
    }
    lines
}
