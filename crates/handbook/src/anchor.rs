//! Anchors of headings, as GitHub and GitLab make them: the links of the sources have them.

use std::collections::BTreeMap;

/// The anchors of one page.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    used: BTreeMap<String, usize>,
}

impl Anchors {
    /// The anchor of the next heading: its letters and digits in lower case, with `-` for each space. A repeated one gets a
    /// number.
    pub(crate) fn next(&mut self, heading: &str) -> String {
        let letters = heading.trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        });
        let anchor: String = letters.collect::<String>().to_lowercase();
        let count = self.used.entry(anchor.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => anchor,
            count => format!("{anchor}-{}", count - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that GitHub gives.
    #[test]
    fn anchors_are_those_of_the_sources() {
        let mut anchors = Anchors::default();
        for (heading, expected) in [
            ("A result is inconclusive", "a-result-is-inconclusive"),
            ("`netburn ui`", "netburn-ui"),
            ("Why 500 ms, 150 ms, 20 Mbit/s?", "why-500-ms-150-ms-20-mbits"),
            ("802.11k, v and r", "80211k-v-and-r"),
            ("I want to …", "i-want-to-"),
            ("Options", "options"),
            ("Options", "options-1"),
            ("Options", "options-2"),
        ] {
            assert_eq!(anchors.next(heading), expected);
        }
    }
}
