//! Output of the shell itself.

/// Processor time in ns of the shell and of all programs that it ran: the built-in `times` (POSIX.1-2017, 2.14). Two lines
/// such as `0m0.010000s 0m0.020000s`.
pub(crate) fn times(text: &str) -> Option<u64> {
    let words: Vec<u64> = text.split_whitespace().map_while(time).collect();
    (words.len() == 4).then(|| words.into_iter().fold(0, u64::saturating_add))
}

/// A time such as `1m2.345s` in ns.
fn time(word: &str) -> Option<u64> {
    let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
    let minutes: u64 = minutes.parse().ok()?;
    let seconds: f64 = seconds.replace(',', ".").parse().ok()?;
    let seconds = (0.0..60.0).contains(&seconds).then_some(seconds)?;
    minutes.checked_mul(60_000_000_000)?.checked_add((seconds * 1e9) as u64)
}
