//! The text of an alert rule, such as `server p95 > 100 ms for 5 min`.

use crate::Part;
use netburn_stats::percentile;
use netburn_units::{Duration, Probability};
use std::fmt;

/// Maximum length of a rule in bytes.
pub const MAX_LENGTH: usize = 200;
/// Range of the time in a rule. The upper end bounds the memory of the probes in it.
const TIMES: std::ops::RangeInclusive<Duration> = Duration::from_secs(10)..=Duration::from_secs(6 * 3600);
/// Names of the percentiles, with their levels in parts per billion.
const LEVELS: [(&str, u32); 6] = [
    ("median", 500_000_000),
    ("p50", 500_000_000),
    ("p75", 750_000_000),
    ("p90", 900_000_000),
    ("p95", 950_000_000),
    ("p99", 990_000_000),
];
const EXAMPLES: &str = "`server p95 > 100 ms for 5 min`, `line loss > 2 % for 10 min` or `cause line-down`";

/// Rule of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its text, as the user wrote it.
    pub text: String,
    /// Condition.
    pub condition: Condition,
}

/// Condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A value of all probes of a time is above a limit.
    Above {
        /// Part that is measured.
        part: Part,
        /// Value and its limit.
        limit: Limit,
        /// Length of the time.
        within: Duration,
    },
    /// The analysis of a finished hour names this cause.
    Cause(String),
}

/// Value of the probes with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A percentile of the round trips. A lost probe is longer than any limit.
    Delay {
        /// Level of the percentile.
        level: Probability,
        /// Limit.
        limit: Duration,
    },
    /// Share of the probes that are lost.
    Loss(Probability),
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RuleError {
    text: String,
    /// Place of the error: a byte of the text, at the start of a character.
    pub at: usize,
    what: String,
}

impl fmt::Display for RuleError {
    /// The reason, the text, and a mark below the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.text[..self.at].chars().count();
        write!(f, "{}\n  {}\n  {:column$}^", self.what, self.text, "")
    }
}

impl Rule {
    /// Parses a rule. `causes` are the known names of causes.
    ///
    /// # Errors
    /// The first place at which the text differs from a rule.
    pub fn parse(text: &str, causes: &[&str]) -> Result<Rule, RuleError> {
        let mut words = Words::new(text)?;
        let condition = match words.next("a part (near, line, server) or `cause`")? {
            "cause" => cause(&mut words, causes)?,
            name => match Part::by_name(name) {
                Some(part) => above(&mut words, part)?,
                None => {
                    return Err(words.wrong(&format!(
                        "found `{name}`, expected near, line, server or cause, as in {EXAMPLES}"
                    )));
                }
            },
        };
        words.end()?;
        Ok(Rule {
            text: words.text.to_owned(),
            condition,
        })
    }
}

fn cause(words: &mut Words<'_>, causes: &[&str]) -> Result<Condition, RuleError> {
    let name = words.next("the name of a cause")?;
    if causes.contains(&name) {
        Ok(Condition::Cause(name.to_owned()))
    } else {
        let known = causes.join(", ");
        Err(words.wrong(&format!("unknown cause `{name}`, expected one of {known}")))
    }
}

fn above(words: &mut Words<'_>, part: Part) -> Result<Condition, RuleError> {
    let names = "median, p50, p75, p90, p95, p99 or loss";
    let metric = words.next(names)?;
    let level = LEVELS.into_iter().find(|(name, _)| *name == metric);
    if level.is_none() && metric != "loss" {
        return Err(words.wrong(&format!("found `{metric}`, expected {names}")));
    }
    words.literal(">")?;
    let value = words.until("for", "a limit, such as `100 ms` or `2 %`")?;
    let limit = match level {
        Some((_, level)) => Limit::Delay {
            level: Probability::from_ppb(level).unwrap_or(Probability::ZERO),
            limit: words.quantity(&value)?,
        },
        None => Limit::Loss(words.quantity(&value)?),
    };
    words.literal("for")?;
    let time = words.until("", "a time, such as `5 min`")?;
    let within: Duration = words.quantity(&time)?;
    if !TIMES.contains(&within) {
        return Err(words.wrong(&format!("found `{within}`, expected a time from 10 s to 6 h")));
    }
    let needed = match limit {
        Limit::Delay { level, .. } => percentile::needed(level).unwrap_or(0),
        Limit::Loss(_) => 0,
    };
    if within < Duration::from_secs(needed) {
        return Err(words.wrong(&format!(
            "found `{within}`, expected at least {needed} s: {metric} of one probe per second needs {needed} probes"
        )));
    }
    Ok(Condition::Above { part, limit, within })
}

/// The words of a text, with the place of the last one.
struct Words<'a> {
    text: &'a str,
    at: usize,
    next: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Result<Self, RuleError> {
        if text.len() > MAX_LENGTH || text.chars().any(char::is_control) {
            return Err(RuleError {
                text: String::new(),
                at: 0,
                what: format!("expected one line of at most {MAX_LENGTH} bytes, such as {EXAMPLES}"),
            });
        }
        Ok(Words { text, at: 0, next: 0 })
    }

    /// Places of the next word.
    fn peek(&self) -> (usize, usize) {
        let rest = &self.text[self.next..];
        let start = self.next + (rest.len() - rest.trim_start().len());
        let word = &self.text[start..];
        // A comparison needs no spaces around it.
        let end = match word.chars().next() {
            Some('>' | '<' | '=') => 1,
            _ => word
                .find(|c: char| c.is_whitespace() || "<>=".contains(c))
                .unwrap_or(word.len()),
        };
        (start, start + end)
    }

    fn next(&mut self, expected: &str) -> Result<&'a str, RuleError> {
        let (start, end) = self.peek();
        (self.at, self.next) = (start, end);
        match &self.text[start..end] {
            "" => Err(self.wrong(&format!("the rule ends here, expected {expected}"))),
            word => Ok(word),
        }
    }

    fn literal(&mut self, expected: &str) -> Result<(), RuleError> {
        match self.next(&format!("`{expected}`"))? {
            found if found == expected => Ok(()),
            found => Err(self.wrong(&format!("found `{found}`, expected `{expected}`"))),
        }
    }

    /// The words before `stop`, joined.
    fn until(&mut self, stop: &str, expected: &str) -> Result<String, RuleError> {
        let mut all = String::new();
        let mut first = None;
        loop {
            let (start, end) = self.peek();
            let word = &self.text[start..end];
            if word.is_empty() || word == stop {
                break;
            }
            first.get_or_insert(start);
            all.push_str(word);
            self.next = end;
        }
        if all.is_empty() {
            return self
                .next(expected)
                .and_then(|found| Err(self.wrong(&format!("found `{found}`, expected {expected}"))));
        }
        self.at = first.unwrap_or(self.at);
        Ok(all)
    }

    fn quantity<T>(&self, text: &str) -> Result<T, RuleError>
    where
        T: std::str::FromStr<Err = netburn_units::QuantityError>,
    {
        text.parse().map_err(|error: T::Err| self.wrong(&error.to_string()))
    }

    fn end(&mut self) -> Result<(), RuleError> {
        let (start, end) = self.peek();
        self.at = start;
        match &self.text[start..end] {
            "" => Ok(()),
            more => Err(self.wrong(&format!("found `{more}`, expected the end of the rule"))),
        }
    }

    fn wrong(&self, what: &str) -> RuleError {
        RuleError {
            text: self.text.to_owned(),
            at: self.at,
            what: what.to_owned(),
        }
    }
}
