//! A varied key and its values: `KEY=A,B,C`, `KEY=1..10`, `KEY=-80dBm..-60dBm..5`.

use std::collections::BTreeSet;

/// Maximum number of values of one key.
pub const MAX_VALUES: u64 = 10_000_000;

const EMPTY_VALUE: &str = "empty value; write an empty text as \"\"";

/// A key of the scenario and its values, in the order of the argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vary {
    key: String,
    parts: Vec<Part>,
}

/// Invalid `KEY=VALUES` argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--vary {argument}: {why}")]
pub struct ParseVaryError {
    argument: String,
    why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A single value.
    One(String),
    /// `count` whole numbers from `first`, each followed by `unit`.
    Range {
        first: i64,
        step: u64,
        count: u64,
        unit: String,
    },
}

impl Vary {
    /// Parses `KEY=A,B,C`. A value is as for `--set`; commas within quotes, brackets or braces belong to it. `A..B` is every whole
    /// number from A to B, including both, and `A..B..STEP` every STEPth. Both ends can have the same unit
    /// (`-80 dBm..-60 dBm`).
    ///
    /// # Errors
    /// The key or the values are missing, a value or range is empty, or a value occurs twice.
    pub fn parse(argument: &str) -> Result<Self, ParseVaryError> {
        let wrong = |why: String| ParseVaryError {
            argument: shortened(argument),
            why,
        };
        let form = "write it as KEY=A,B,C or KEY=1..10, such as ap.home.queue=fifo,airtime";
        let (key, values) = argument.split_once('=').ok_or_else(|| wrong(form.to_owned()))?;
        let key = key.trim();
        if key.is_empty() || values.trim().is_empty() {
            return Err(wrong(format!("missing key or value: {form}")));
        }
        let parts: Result<Vec<Part>, String> = split(values).map(Part::parse).collect();
        Vary {
            key: key.to_owned(),
            parts: parts.map_err(wrong)?,
        }
        .checked()
        .map_err(wrong)
    }

    /// Creates it from a key and its values. Each value is as for `--set`; a text such as `1..10` is no range.
    ///
    /// # Errors
    /// The key or the values are missing, a value is empty, or a value occurs twice.
    pub fn from_values(key: &str, values: Vec<String>) -> Result<Self, ParseVaryError> {
        let wrong = |why: String| ParseVaryError {
            argument: shortened(key),
            why,
        };
        if key.trim().is_empty() || values.is_empty() {
            return Err(wrong("missing key or value".to_owned()));
        }
        let values = values.into_iter().map(|value| match value.trim() {
            "" => Err(wrong(EMPTY_VALUE.to_owned())),
            value => Ok(Part::One(value.to_owned())),
        });
        Vary {
            key: key.trim().to_owned(),
            parts: values.collect::<Result<_, _>>()?,
        }
        .checked()
        .map_err(wrong)
    }

    /// Returns it if the number of values is permitted and no value occurs twice.
    fn checked(self) -> Result<Self, String> {
        if self.count() > MAX_VALUES {
            return Err(format!(
                "too many values: found {}, expected up to {MAX_VALUES}",
                self.count()
            ));
        }
        match self.duplicate() {
            Some(value) => Err(format!(
                "duplicate value `{value}`; use --repeat for several runs of it"
            )),
            None => Ok(self),
        }
    }

    /// Path of the key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Number of values; at least one.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.parts.iter().map(Part::count).fold(0, u64::saturating_add)
    }

    /// Values, in order.
    pub fn values(&self) -> impl Iterator<Item = String> + '_ {
        self.parts
            .iter()
            .flat_map(|part| (0..part.count()).map(|index| part.get(index)))
    }

    /// Returns the first duplicate value. A single range has no duplicates.
    fn duplicate(&self) -> Option<String> {
        if self.parts.len() == 1 {
            return None;
        }
        let mut seen = BTreeSet::new();
        self.values().find(|value| !seen.insert(value.clone()))
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(EMPTY_VALUE.to_owned());
        }
        if text.starts_with(['"', '\'', '[', '{']) || !text.contains("..") {
            return Ok(Part::One(text.to_owned()));
        }
        Self::range(text)
    }

    fn range(text: &str) -> Result<Self, String> {
        let shown = shortened(text);
        let mut ends = text.split("..").map(str::trim);
        let (Some((first, one)), Some((last, other))) = (ends.next().and_then(number), ends.next().and_then(number))
        else {
            return Err(format!(
                "invalid range `{shown}`; expected whole numbers as 1..10, with steps as 10..100..10"
            ));
        };
        let step = match (ends.next(), ends.next()) {
            (None, _) => 1,
            (Some(step), None) => match number(step) {
                Some((step @ 1.., unit)) if unit.is_empty() || unit == other => step.unsigned_abs(),
                _ => return Err(format!("invalid step in `{shown}`; expected a whole number from 1")),
            },
            (Some(_), Some(_)) => return Err(format!("too many `..` in `{shown}`")),
        };
        // The first end can omit the unit.
        if one != other && !one.is_empty() {
            return Err(format!(
                "the ends of `{shown}` have different units; write the same unit on both, or only on the second"
            ));
        }
        if last < first {
            return Err(format!("empty range `{shown}`; write the smaller number first"));
        }
        Ok(Part::Range {
            first,
            step,
            count: (last.abs_diff(first) / step).saturating_add(1),
            unit: text_after_number(text.split("..").nth(1).unwrap_or_default()).to_owned(),
        })
    }

    fn count(&self) -> u64 {
        match self {
            Part::One(_) => 1,
            Part::Range { count, .. } => *count,
        }
    }

    fn get(&self, index: u64) -> String {
        match self {
            Part::One(text) => text.clone(),
            Part::Range { first, step, unit, .. } => {
                let value = i128::from(*first) + i128::from(index) * i128::from(*step);
                format!("{value}{unit}")
            }
        }
    }
}

/// Parses a whole number with its unit. Returns the unit without spaces.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = digits_end(text);
    let value = text[..end].parse().ok()?;
    let unit = text[end..].trim();
    // Digits after the number are decimals.
    (!unit.starts_with(['.', ',', '_'])).then_some((value, unit))
}

/// Returns the text after the number, with its leading space.
fn text_after_number(text: &str) -> &str {
    let text = text.trim();
    &text[digits_end(text)..]
}

fn digits_end(text: &str) -> usize {
    let from = usize::from(text.starts_with(['-', '+']));
    text[from..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(text.len(), |end| end + from)
}

/// Splits at commas outside quotes, brackets and braces.
fn split(values: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    values.split(move |c: char| {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                return false;
            }
            (Some(open), _) if c == open && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => return true,
            (None, _) => {}
        }
        escaped = false;
        false
    })
}

/// Shortens an argument for a message.
pub(super) fn shortened(text: &str) -> String {
    let short: String = text.chars().take(100).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("{}{dots}", netburn_report::sanitise::sanitise(&short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(argument: &str) -> Vec<String> {
        Vary::parse(argument).unwrap().values().collect()
    }

    fn why(argument: &str) -> String {
        Vary::parse(argument).unwrap_err().to_string()
    }

    #[test]
    fn lists_and_ranges_keep_their_order() {
        assert_eq!(values("ap.home.queue=fifo, airtime"), ["fifo", "airtime"]);
        assert_eq!(values("seed=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("seed=7..7"), ["7"]);
        assert_eq!(values("seed=1..10..4"), ["1", "5", "9"]);
        assert_eq!(values("seed=9,1..3,20"), ["9", "1", "2", "3", "20"]);
        assert_eq!(values("signal=-80dBm,-70dBm"), ["-80dBm", "-70dBm"]);
        assert_eq!(values("signal=-80dBm..-78dBm"), ["-80dBm", "-79dBm", "-78dBm"]);
        assert_eq!(values("signal=-2 dBm..2 dBm..2"), ["-2 dBm", "0 dBm", "2 dBm"]);
        let rates = ["10 Mbit/s", "20 Mbit/s", "30 Mbit/s"];
        assert_eq!(values("server.link.rate=10 Mbit/s..30 Mbit/s..10"), rates);
        assert_eq!(values("server.link.rate=10..30 Mbit/s..10 Mbit/s"), rates);
    }

    #[test]
    fn commas_within_a_value_belong_to_it() {
        assert_eq!(
            values(r#"station.a.workload=["download", "probe"],voip"#),
            [r#"["download", "probe"]"#, "voip"]
        );
        assert_eq!(
            values(r#"server.link={ rate = "1 Mbit/s", delay = "1 ms" },{}"#),
            [r#"{ rate = "1 Mbit/s", delay = "1 ms" }"#, "{}"]
        );
        assert_eq!(values(r#"title="a, \"b, c",'d, e'"#), [r#""a, \"b, c""#, "'d, e'"]);
    }

    #[test]
    fn a_list_of_values_equals_the_argument_with_them() {
        let from = |key: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Vary::from_values(key, values)
        };
        let parsed = Vary::parse("a.signal=-80 dBm, -75 dBm").unwrap();
        assert_eq!(from("a.signal", &["-80 dBm", "-75 dBm"]), Ok(parsed));
        // Neither commas nor ranges are special.
        let texts = from("title", &["1..3", "a, b"]).unwrap();
        assert_eq!(texts.values().collect::<Vec<_>>(), ["1..3", "a, b"]);
        for (key, values, part) in [
            ("seed", &[][..], "missing key or value"),
            (" ", &["1"], "missing key or value"),
            ("seed", &["1", " "], "empty value"),
            ("seed", &["1", "2", "1"], "duplicate value `1`"),
        ] {
            let why = from(key, values).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for (argument, part) in [
            ("seed", "KEY=A,B,C"),
            ("=1", "missing key or value"),
            ("seed=", "missing key or value"),
            ("seed=1,,2", "empty value"),
            ("seed=1,", "empty value"),
            ("seed=10..1", "; write the smaller number first"),
            ("seed=1..", "invalid range"),
            ("seed=a..b", "invalid range"),
            ("seed=0.5..2", "invalid range"),
            ("seed=1..5..0", "expected a whole number from 1"),
            ("seed=1..5..-1", "expected a whole number from 1"),
            ("seed=1..5..2..3", "too many"),
            ("rate=1 kbit/s..2 Mbit/s", "different units"),
            ("seed=1..3,2", "duplicate value `2`"),
            ("queue=fifo,fifo", "duplicate value `fifo`"),
            ("seed=1..99999999999", "found 99999999999"),
            (
                "seed=-9223372036854775808..9223372036854775807",
                "found 18446744073709551615",
            ),
        ] {
            assert!(why(argument).contains(part), "{argument}: {}", why(argument));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Any text parses or fails, and the number of values matches their count.
        #[test]
        fn any_text_parses_or_fails(text in "[a-z]{0,3}=?[-0-9.,a\"'\\[\\]{}\\\\ é]{0,24}") {
            if let Ok(vary) = Vary::parse(&text)
                && vary.count() <= 10_000
            {
                prop_assert_eq!(vary.values().count() as u64, vary.count());
                let distinct: BTreeSet<String> = vary.values().collect();
                prop_assert_eq!(distinct.len() as u64, vary.count());
            }
        }

        #[test]
        fn a_range_has_both_its_ends(first in -50_i64..50, length in 0_i64..40, step in 1_i64..9) {
            let last = first + length * step;
            let got: Vec<i64> = values(&format!("k={first}..{last}..{step}")).iter().map(|v| v.parse().unwrap()).collect();
            let expected: Vec<i64> = (0..=length).map(|n| first + n * step).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
