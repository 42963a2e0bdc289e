//! Which runs somebody wants to see, and in which order.

use crate::index::{Entry, Index};
use netburn_record::summary::verdict_name;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The most runs in one answer.
pub const MOST: usize = 500;
/// The longest text that is searched for, in bytes.
const LONGEST: usize = 200;
/// The most words of it.
const MOST_WORDS: usize = 8;

/// What is asked for: `q=text&verdict=fail&environment=lab&state=live&sort=-when&from=0&count=100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Every word of it is in the name, scenario, title, question or a station's name.
    pub words: Vec<String>,
    /// With this verdict.
    pub verdict: Option<String>,
    /// On this environment.
    pub environment: Option<String>,
    /// In this state.
    pub state: Option<String>,
    /// By what.
    pub sort: Sort,
    /// The greatest first.
    pub backwards: bool,
    /// The first of them that is shown.
    pub from: usize,
    /// How many are shown.
    pub count: usize,
}

/// By what runs are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// When they were made.
    When,
    /// Their names.
    Name,
    /// Their scenarios' names.
    Scenario,
    /// Their verdicts: pass first.
    Verdict,
    /// How long they ran.
    Duration,
    /// How much moved.
    Throughput,
}

/// An answer.
#[derive(Debug, Serialize)]
pub struct Found<'a> {
    /// How many runs there are.
    total: usize,
    /// How many are as wanted.
    matching: usize,
    /// The first that is shown.
    from: usize,
    /// Of those that fit the words: how many have which verdict, environment and state.
    verdicts: BTreeMap<&'static str, usize>,
    environments: BTreeMap<&'static str, usize>,
    states: BTreeMap<&'static str, usize>,
    /// The runs.
    runs: Vec<Shown<'a>>,
}

/// A run in a list.
#[derive(Debug, Serialize)]
pub struct Shown<'a> {
    name: &'a str,
    at_ms: i64,
    state: &'static str,
    scenario: Option<&'a str>,
    title: Option<&'a str>,
    environment: Option<&'static str>,
    verdict: Option<&'static str>,
    provisional: bool,
    sound: bool,
    duration_s: Option<f64>,
    throughput_mbps: Option<f64>,
    stations: Vec<(&'a str, &'static str)>,
    repeats: usize,
    error: Option<&'a str>,
}

impl Default for Query {
    fn default() -> Query {
        Query {
            words: Vec::new(),
            verdict: None,
            environment: None,
            state: None,
            sort: Sort::When,
            backwards: true,
            from: 0,
            count: 100,
        }
    }
}

impl Query {
    /// Reads what follows the `?` of an address. What isn't known is passed over.
    #[must_use]
    pub fn read(text: &str) -> Query {
        let mut query = Query::default();
        for (key, value) in pairs(text) {
            let some = || Some(value.clone()).filter(|value| !value.is_empty());
            match key.as_str() {
                "q" => {
                    let short: String = value.chars().take(LONGEST).collect();
                    query.words = short
                        .split_whitespace()
                        .take(MOST_WORDS)
                        .map(str::to_lowercase)
                        .collect();
                }
                "verdict" => query.verdict = some(),
                "environment" => query.environment = some(),
                "state" => query.state = some(),
                "from" => query.from = value.parse().unwrap_or(0),
                "count" => query.count = value.parse().unwrap_or(query.count).min(MOST),
                "sort" => {
                    let (by, backwards) = match value.strip_prefix('-') {
                        Some(by) => (by, true),
                        None => (value.as_str(), false),
                    };
                    if let Some(sort) = Sort::named(by) {
                        (query.sort, query.backwards) = (sort, backwards);
                    }
                }
                _ => {}
            }
        }
        query
    }

    /// The runs of an index that are wanted.
    #[must_use]
    pub fn find<'a>(&self, index: &'a Index) -> Found<'a> {
        let mut found = Found {
            total: index.runs().len(),
            matching: 0,
            from: self.from,
            verdicts: BTreeMap::new(),
            environments: BTreeMap::new(),
            states: BTreeMap::new(),
            runs: Vec::new(),
        };
        let mut wanted = Vec::new();
        let is = |asked: &Option<String>, it: Option<&str>| asked.as_deref().is_none_or(|asked| it == Some(asked));
        for (name, entry) in index.runs() {
            if !self.says(name, entry) {
                continue;
            }
            let (verdict, environment, state) = (verdict(entry), environment(entry), entry.state());
            for (of, counts) in [
                (verdict, &mut found.verdicts),
                (environment, &mut found.environments),
                (Some(state), &mut found.states),
            ] {
                if let Some(of) = of {
                    *counts.entry(of).or_default() += 1;
                }
            }
            if is(&self.verdict, verdict) && is(&self.environment, environment) && is(&self.state, Some(state)) {
                wanted.push((name.as_str(), entry));
            }
        }
        found.matching = wanted.len();
        wanted.sort_by(|a, b| {
            let order = self.sort.compare(*a, *b);
            if self.backwards { order.reverse() } else { order }
        });
        let shown = wanted.into_iter().skip(self.from).take(self.count);
        found.runs = shown.map(|(name, entry)| Shown::of(name, entry)).collect();
        found
    }

    /// Whether all words are said somewhere.
    fn says(&self, name: &str, entry: &Entry) -> bool {
        self.words.iter().all(|word| {
            let has = |text: &str| contains(text, word);
            let brief = entry.brief().is_some_and(|brief| {
                brief.question.as_deref().is_some_and(has) || brief.stations.iter().any(|station| has(&station.name))
            });
            brief || has(name) || scenario(entry).is_some_and(has) || title(entry).is_some_and(has)
        })
    }
}

impl Sort {
    fn named(name: &str) -> Option<Sort> {
        Some(match name {
            "when" => Sort::When,
            "name" => Sort::Name,
            "scenario" => Sort::Scenario,
            "verdict" => Sort::Verdict,
            "duration" => Sort::Duration,
            "throughput" => Sort::Throughput,
            _ => return None,
        })
    }

    fn compare(self, a: (&str, &Entry), b: (&str, &Entry)) -> Ordering {
        let number =
            |of: (&str, &Entry), take: fn(&netburn_record::runs::RunListing) -> f64| of.1.brief().map_or(-1.0, take);
        let numbers = |take| number(a, take).total_cmp(&number(b, take));
        let order = match self {
            Sort::When => a.1.at_ms.cmp(&b.1.at_ms),
            Sort::Name => Ordering::Equal,
            Sort::Scenario => scenario(a.1).cmp(&scenario(b.1)),
            Sort::Verdict => rank(a.1).cmp(&rank(b.1)),
            Sort::Duration => numbers(|brief| brief.duration_s),
            Sort::Throughput => numbers(|brief| brief.throughput_mbps),
        };
        order.then_with(|| a.0.cmp(b.0))
    }
}

impl<'a> Shown<'a> {
    /// A run as it is shown in a list.
    #[must_use]
    pub fn of(name: &'a str, entry: &'a Entry) -> Shown<'a> {
        let brief = entry.brief();
        let stations = brief.map(|brief| {
            let stations = brief.stations.iter();
            stations
                .map(|station| (station.name.as_str(), verdict_name(station.verdict)))
                .collect()
        });
        Shown {
            name,
            at_ms: entry.at_ms,
            state: entry.state(),
            scenario: scenario(entry),
            title: title(entry),
            environment: environment(entry),
            verdict: verdict(entry),
            provisional: brief.is_some_and(|brief| brief.provisional),
            sound: brief.is_none_or(|brief| brief.sound),
            duration_s: brief.map(|brief| brief.duration_s),
            throughput_mbps: brief.map(|brief| brief.throughput_mbps),
            stations: stations.unwrap_or_default(),
            repeats: brief.map_or(0, |brief| brief.repeats),
            error: entry.error(),
        }
    }
}

fn verdict(entry: &Entry) -> Option<&'static str> {
    entry.brief().map(|brief| verdict_name(brief.verdict))
}

fn rank(entry: &Entry) -> usize {
    const RANKS: [&str; 5] = ["pass", "none", "marginal", "inconclusive", "fail"];
    let verdict = verdict(entry);
    RANKS
        .iter()
        .position(|rank| Some(*rank) == verdict)
        .unwrap_or(RANKS.len())
}

fn environment(entry: &Entry) -> Option<&'static str> {
    use crate::index::What;
    match &entry.what {
        What::Finished(_, brief) => Some(brief.environment.name()),
        What::Open(listed) => listed.environment.map(|environment| environment.name()),
        What::Unreadable(..) => None,
    }
}

fn scenario(entry: &Entry) -> Option<&str> {
    use crate::index::What;
    match &entry.what {
        What::Finished(_, brief) => Some(&brief.scenario),
        What::Open(listed) => listed.scenario.as_deref(),
        What::Unreadable(..) => None,
    }
}

fn title(entry: &Entry) -> Option<&str> {
    use crate::index::What;
    match &entry.what {
        What::Finished(_, brief) => brief.title.as_deref(),
        What::Open(listed) => listed.title.as_deref(),
        What::Unreadable(..) => None,
    }
}

/// Whether a text has a word in it, whatever the case; `word` is in lower case.
fn contains(text: &str, word: &str) -> bool {
    if text.is_ascii() {
        let (text, word) = (text.as_bytes(), word.as_bytes());
        return word.is_empty() || text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    }
    text.to_lowercase().contains(word)
}

/// The pairs of a query (application/x-www-form-urlencoded, URL Standard §5.1).
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&key.replace('+', " ")), decoded(&value.replace('+', " ")))
    })
}

/// A text without its percent signs (RFC 3986 §2.1); bytes that are no UTF-8 become U+FFFD.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |i: usize| bytes.get(i).and_then(|byte| (*byte as char).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_read() {
        let query =
            Query::read("q=Archer+C7%20ssid&verdict=fail&environment=&sort=-throughput&from=20&count=9999&x=1&sort");
        assert_eq!(query.words, ["archer", "c7", "ssid"]);
        assert_eq!(query.verdict.as_deref(), Some("fail"));
        assert_eq!((query.environment, query.state), (None, None));
        assert_eq!((query.sort, query.backwards), (Sort::Throughput, true));
        assert_eq!((query.from, query.count), (20, MOST));
        assert_eq!(Query::read(""), Query::default());
        assert_eq!(Query::read("sort=size&from=-1&count=x"), Query::default());
    }

    #[test]
    fn percent_signs_are_taken_out() {
        for (coded, plain) in [
            ("a%20b", "a b"),
            ("%C3%A9", "é"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decoded(coded), plain, "{coded}");
        }
    }

    #[test]
    fn words_are_found_whatever_their_case() {
        assert!(contains("Archer C7", "c7") && contains("Über", "über") && contains("x", ""));
        assert!(!contains("Archer", "c7") && !contains("", "a"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn any_query_is_read_within_bounds(text in ".{0,200}") {
            let query = Query::read(&text);
            prop_assert!(query.count <= MOST && query.words.len() <= MOST_WORDS);
        }

        #[test]
        fn what_is_encoded_is_read_back(text in ".{0,40}") {
            let coded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decoded(&coded), text);
        }
    }
}
