//! What was probably meant, and how names are shown to people.

/// A key or name as an error shows it.
pub(crate) fn quoted_name(name: &str) -> String {
    format!("`{}`", shortened(name))
}

/// A key or name without anything that a terminal could take amiss, and not longer than any good one.
pub(crate) fn shortened(name: &str) -> String {
    let short: String = name.chars().take(70).collect();
    let dots = if short.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_debug())
}

/// `a`, `b`, `c`: as an error lists what is known. Long lists end in a count.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(40).map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The known name that `found` was probably meant to be: at most a third of its letters (but two of a short one)
/// inserted, left out, changed or swapped; else one that begins with it or holds it.
pub(crate) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer than any key or name there is; the distance takes the product of the lengths.
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
        let distance = match close <= allowed && close < name.chars().count().max(2) {
            true => close,
            // Further than any that is close by its letters.
            false if part => usize::MAX,
            false => continue,
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}
