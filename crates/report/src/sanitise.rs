//! Foreign text without control characters, and lines that fit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Replaces characters that a terminal interprets by `\u{fffd}`: control characters (C0, DEL, C1),
/// bidirectional controls, zero-width characters and line separators.
#[must_use]
pub fn sanitise(text: &str) -> String {
    text.chars().map(|c| if harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns the number of columns that `text` occupies in a terminal.
#[must_use]
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Returns the number of columns that `text` occupies in a terminal, without the colours of
/// [`paint`](crate::style::paint).
#[must_use]
pub fn painted_width(text: &str) -> usize {
    let mut parts = text.split("\x1b[");
    let first = parts.next().map_or(0, width);
    first
        + parts
            .map(|p| p.split_once('m').map_or(0, |(_, rest)| width(rest)))
            .sum::<usize>()
}

/// `text`, truncated to at most `columns`. `…` replaces the missing part.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > columns {
            break;
        }
        used += w;
        kept.push(c);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// Wraps `text`, which may contain colours, at spaces into lines of at most `columns`; lines after
/// the first begin with `indent`. A word longer than a line stays whole, so that addresses and
/// paths can be copied. A number and its unit stay in one line. Leading spaces stay.
#[must_use]
pub fn wrap(text: &str, columns: usize, indent: &str) -> Vec<String> {
    // The branches of a drawn tree stay in their columns.
    let rest = text.trim_start_matches([' ', '│', '├', '└', '─']);
    let front = &text[..text.len() - rest.len()];
    let mut lines = vec![front.to_owned()];
    for (place, word) in words(rest).into_iter().enumerate() {
        let line = lines.last_mut().expect("there is always a line");
        let is_first = place == 0;
        if !is_first && painted_width(line) + 1 + painted_width(&word) > columns {
            lines.push(format!("{indent}{word}"));
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines
}

/// Units of numbers in netburn's texts.
const UNITS: [&str; 30] = [
    "%", "ns", "µs", "us", "ms", "s", "min", "h", "d", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Mbit", "B", "kB", "MB",
    "GB", "TB", "KiB", "MiB", "GiB", "TiB", "dB", "dBm", "Hz", "kHz", "MHz", "GHz", "m",
];

/// The words of a text. A number and the unit after it are one word.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', '?', '!', ')', ']', '`', '"']));
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_are_replaced() {
        assert_eq!(
            sanitise("a\x1b[31mred\u{9b}0m\nb"),
            "a\u{fffd}[31mred\u{fffd}0m\u{fffd}b"
        );
        assert_eq!(sanitise("ab\u{202e}cd"), "ab\u{fffd}cd");
        assert_eq!(sanitise("Küche – 5 GHz ≤ 3 µs"), "Küche – 5 GHz ≤ 3 µs");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three four", 9, "  "), ["one two", "  three", "  four"]);
        assert_eq!(
            wrap("http://far.example/long x", 5, ""),
            ["http://far.example/long", "x"]
        );
        assert_eq!(wrap("", 5, ""), [""]);
        assert_eq!(wrap("  one two", 6, "    "), ["  one", "    two"]);
        let drawn = "│  ├─ radio 5g: tv";
        assert_eq!(wrap(drawn, 80, ""), [drawn]);
        assert_eq!(wrap(drawn, 14, "│  │    "), ["│  ├─ radio", "│  │    5g: tv"]);
    }

    #[test]
    fn a_number_and_its_unit_stay_together() {
        assert_eq!(wrap("goal ≤ 500 ms, met", 11, ""), ["goal ≤", "500 ms, met"]);
        assert_eq!(wrap("for 95 % of", 6, ""), ["for", "95 %", "of"]);
        assert_eq!(wrap("after 20 Mbit/s.", 9, "  "), ["after", "  20 Mbit/s."]);
        // Without a number before it, a unit is a word.
        assert_eq!(wrap("the letter s ends", 10, ""), ["the letter", "s ends"]);
        assert_eq!(wrap("9 of 20 runs", 7, ""), ["9 of 20", "runs"]);
    }

    #[test]
    fn truncated_text_ends_with_an_ellipsis() {
        assert_eq!(truncate("laptop", 6), "laptop");
        assert_eq!(truncate("laptop-2", 6), "lapto…");
        assert_eq!(truncate("laptop", 0), "");
    }

    proptest! {
        #[test]
        fn control_characters_are_removed(text in any::<String>()) {
            prop_assert!(!sanitise(&text).chars().any(char::is_control));
        }

        #[test]
        fn a_truncated_text_fits(text in any::<String>(), columns in 0_usize..40) {
            prop_assert!(width(&truncate(&sanitise(&text), columns)) <= columns);
        }

        #[test]
        fn wrapping_keeps_all_words(text in "[a-z ]{0,80}", columns in 1_usize..30) {
            let lines = wrap(&text, columns, "  ");
            let back: Vec<&str> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
            prop_assert_eq!(back, text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
