//! Suggestions for misspelled names, and formatting of names in messages.

/// Formats a key or name for an error message.
pub(crate) fn quoted_name(name: &str) -> String {
    format!("`{}`", shortened(name))
}

/// Escapes control characters in a key or name and limits its length.
pub(crate) fn shortened(name: &str) -> String {
    let short: String = name.chars().take(70).collect();
    let dots = if short.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_debug())
}

/// Formats a list of names for an error message: `a`, `b`, `c`. Long lists end with a count.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(40).map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the known name most similar to `found`. The Damerau–Levenshtein distance is at most a third of its length, or
/// two for short names. Otherwise the result starts with `found` or contains it.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer than any key or name. The cost of the distance is the product of the lengths.
    if found.len() > 128 {
        return None;
    }
    let lower = found.to_lowercase().replace(['_', ' '], "-");
    let allowed = (lower.chars().count() / 3).max(2);
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let letters = plain(name);
        let close = strsim::damerau_levenshtein(&lower, &letters);
        let part = (lower.len() >= 4 && letters.contains(&lower)) || (lower.len() >= 2 && letters.starts_with(&lower));
        let distance = if close <= allowed && close < name.chars().count().max(2) {
            close
        } else if part {
            // Less similar than any name within the distance.
            usize::MAX
        } else {
            continue;
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}
