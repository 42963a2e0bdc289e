//! Names of stations.

use netburn_protocol::messages::MAX_NAME;

/// Converts user input in the normalization form NFKD into a name: removes accents, and replaces white space, `_` and `.` by
/// `-`.
pub(crate) fn normalize(text: &str) -> String {
    let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let plain: String = text.chars().filter(|c| !is_accent(c)).collect();
    let is_separator = |c: char| c.is_whitespace() || c == '_' || c == '.';
    let mut name = String::new();
    for c in plain.trim().chars() {
        if !is_separator(c) {
            name.push(c);
        } else if !name.ends_with(is_separator) {
            name.push(' ');
        }
    }
    name.replace(' ', "-").chars().take(MAX_NAME).collect()
}

/// Returns a default name for a device whose browser describes itself so, such as `phone-4f`.
pub(crate) fn suggest(system: &str, random: u64) -> String {
    let has = |words: &[&str]| words.iter().any(|word| system.contains(word));
    let lower = system.to_lowercase();
    let kind = if has(&["iPad", "Tablet"]) {
        "tablet"
    } else if has(&["Mobi", "iPhone"]) {
        "phone"
    } else if has(&["Android"]) {
        "tablet"
    } else if ["tv", "tizen", "web0s"].iter().any(|word| lower.contains(word)) {
        "tv"
    } else if has(&["CrOS", "Mac OS X", "Windows", "Linux"]) {
        "laptop"
    } else {
        "station"
    };
    format!("{kind}-{:02x}", random % 256)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_protocol::messages::is_name;

    #[test]
    fn names() {
        let phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36";
        assert_eq!(suggest(phone, 0x14f), "phone-4f");
        assert_eq!(suggest("Mozilla/5.0 (X11; Linux x86_64)", 0), "laptop-00");
        assert_eq!(suggest("Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0)", 1), "tv-01");
        assert_eq!(
            suggest("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X)", 16),
            "tablet-10"
        );
        assert_eq!(suggest("", 0xff), "station-ff");
        assert_eq!(normalize("  Anna's phone "), "Anna's-phone");
        // `Küche` with a combining diaeresis, as NFKD has it.
        assert_eq!(normalize("Ku\u{308}che 2"), "Kuche-2");
        assert_eq!(normalize("a_ .b"), "a-b");
        assert_eq!(normalize(&"x".repeat(99)).len(), 64);
        assert!(is_name("tv-1") && !is_name("") && !is_name("a b") && !is_name("<b>") && !is_name(&"x".repeat(65)));
    }
}
