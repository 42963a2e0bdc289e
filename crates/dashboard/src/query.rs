//! Filters and order of the list of runs.

use crate::index::{Entry, Index};
use netburn_record::summary::verdict_name;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Maximum number of runs in one response.
pub const MAX_COUNT: usize = 500;
/// Maximum length of the searched text, in characters.
const MAX_TEXT: usize = 200;
/// Maximum number of searched words.
const MAX_WORDS: usize = 8;

/// Filter, order and range of a list: `q=text&verdict=fail&environment=lab&state=live&sort=-when&from=0&count=100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Words, in lower case. A run matches if each is in its name, scenario, title, question or a station's name.
    pub words: Vec<String>,
    /// Verdict of the runs.
    pub verdict: Option<String>,
    /// Environment of the runs.
    pub environment: Option<String>,
    /// State of the runs.
    pub state: Option<String>,
    /// Order of the runs.
    pub sort: Sort,
    /// Descending order.
    pub descending: bool,
    /// Number of matching runs to skip.
    pub from: usize,
    /// Maximum number of runs to return.
    pub count: usize,
}

/// Order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Time of the start.
    When,
    /// Name of the run.
    Name,
    /// Name of the scenario.
    Scenario,
    /// Verdict, from pass to fail.
    Verdict,
    /// Duration.
    Duration,
    /// Throughput.
    Throughput,
}

/// Response to a query.
#[derive(Debug, Serialize)]
pub struct RunList<'a> {
    /// Number of all runs.
    total: usize,
    /// Number of matching runs.
    matching: usize,
    /// Number of skipped runs.
    from: usize,
    /// Number of runs by verdict, environment and state, of the runs that match the words.
    verdicts: BTreeMap<&'static str, usize>,
    environments: BTreeMap<&'static str, usize>,
    states: BTreeMap<&'static str, usize>,
    /// Requested range of the matching runs.
    runs: Vec<RunRow<'a>>,
}

/// Run in a list.
#[derive(Debug, Serialize)]
pub struct RunRow<'a> {
    name: &'a str,
    at_ms: i64,
    state: &'static str,
    scenario: Option<&'a str>,
    title: Option<&'a str>,
    environment: Option<&'static str>,
    verdict: Option<&'static str>,
    provisional: bool,
    reliable: bool,
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
            descending: true,
            from: 0,
            count: 100,
        }
    }
}

impl Query {
    /// Parses a query string. Ignores unknown keys and invalid values.
    #[must_use]
    pub fn parse(text: &str) -> Query {
        let mut query = Query::default();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            let non_empty = || Some(value.to_string()).filter(|value| !value.is_empty());
            match &*key {
                "q" => {
                    let short: String = value.chars().take(MAX_TEXT).collect();
                    query.words = short
                        .split_whitespace()
                        .take(MAX_WORDS)
                        .map(str::to_lowercase)
                        .collect();
                }
                "verdict" => query.verdict = non_empty(),
                "environment" => query.environment = non_empty(),
                "state" => query.state = non_empty(),
                "from" => query.from = value.parse().unwrap_or(0),
                "count" => query.count = value.parse().unwrap_or(query.count).min(MAX_COUNT),
                "sort" => {
                    let (by, descending) = match value.strip_prefix('-') {
                        Some(by) => (by, true),
                        None => (&*value, false),
                    };
                    if let Some(sort) = Sort::from_name(by) {
                        (query.sort, query.descending) = (sort, descending);
                    }
                }
                _ => {}
            }
        }
        query
    }

    /// Finds the matching runs of an index.
    #[must_use]
    pub fn find<'a>(&self, index: &'a Index) -> RunList<'a> {
        let mut found = RunList {
            total: index.runs().len(),
            matching: 0,
            from: self.from,
            verdicts: BTreeMap::new(),
            environments: BTreeMap::new(),
            states: BTreeMap::new(),
            runs: Vec::new(),
        };
        let mut matching = Vec::new();
        let equals =
            |filter: &Option<String>, value: Option<&str>| filter.as_deref().is_none_or(|filter| value == Some(filter));
        for (name, entry) in index.runs() {
            if !self.matches_words(name, entry) {
                continue;
            }
            let (verdict, environment, state) = (verdict(entry), environment(entry), entry.state_name());
            for (value, counts) in [
                (verdict, &mut found.verdicts),
                (environment, &mut found.environments),
                (Some(state), &mut found.states),
            ] {
                if let Some(value) = value {
                    *counts.entry(value).or_default() += 1;
                }
            }
            if equals(&self.verdict, verdict)
                && equals(&self.environment, environment)
                && equals(&self.state, Some(state))
            {
                matching.push((name.as_str(), entry));
            }
        }
        found.matching = matching.len();
        matching.sort_by(|a, b| {
            let order = self.sort.compare(*a, *b);
            if self.descending { order.reverse() } else { order }
        });
        let shown = matching.into_iter().skip(self.from).take(self.count);
        found.runs = shown.map(|(name, entry)| RunRow::new(name, entry)).collect();
        found
    }

    /// Returns true if the run contains all words.
    fn matches_words(&self, name: &str, entry: &Entry) -> bool {
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
    fn from_name(name: &str) -> Option<Sort> {
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
        let number = |run: (&str, &Entry), take: fn(&netburn_record::run_list::RunListing) -> f64| {
            run.1.brief().map_or(-1.0, take)
        };
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

impl<'a> RunRow<'a> {
    /// Row for an entry of the index.
    #[must_use]
    pub fn new(name: &'a str, entry: &'a Entry) -> RunRow<'a> {
        let brief = entry.brief();
        let stations = brief.map(|brief| {
            let stations = brief.stations.iter();
            stations
                .map(|station| (station.name.as_str(), verdict_name(station.verdict)))
                .collect()
        });
        RunRow {
            name,
            at_ms: entry.at_ms,
            state: entry.state_name(),
            scenario: scenario(entry),
            title: title(entry),
            environment: environment(entry),
            verdict: verdict(entry),
            provisional: brief.is_some_and(|brief| brief.provisional),
            reliable: brief.is_none_or(|brief| brief.sound),
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
    use crate::index::RunState;
    match &entry.state {
        RunState::Finished(_, brief) => Some(brief.environment.name()),
        RunState::Open(listed) => listed.environment.map(|environment| environment.name()),
        RunState::Unreadable(..) => None,
    }
}

fn scenario(entry: &Entry) -> Option<&str> {
    use crate::index::RunState;
    match &entry.state {
        RunState::Finished(_, brief) => Some(&brief.scenario),
        RunState::Open(listed) => listed.scenario.as_deref(),
        RunState::Unreadable(..) => None,
    }
}

fn title(entry: &Entry) -> Option<&str> {
    use crate::index::RunState;
    match &entry.state {
        RunState::Finished(_, brief) => brief.title.as_deref(),
        RunState::Open(listed) => listed.title.as_deref(),
        RunState::Unreadable(..) => None,
    }
}

/// Returns true if `text` contains `word`, ignoring case. `word` is in lower case.
fn contains(text: &str, word: &str) -> bool {
    if text.is_ascii() {
        let (text, word) = (text.as_bytes(), word.as_bytes());
        return word.is_empty() || text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    }
    text.to_lowercase().contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_query_is_parsed() {
        let query =
            Query::parse("q=Archer+C7%20ssid&verdict=fail&environment=&sort=-throughput&from=20&count=9999&x=1&sort");
        assert_eq!(query.words, ["archer", "c7", "ssid"]);
        assert_eq!(query.verdict.as_deref(), Some("fail"));
        assert_eq!((query.environment, query.state), (None, None));
        assert_eq!((query.sort, query.descending), (Sort::Throughput, true));
        assert_eq!((query.from, query.count), (20, MAX_COUNT));
        assert_eq!(Query::parse(""), Query::default());
        assert_eq!(Query::parse("sort=size&from=-1&count=x"), Query::default());
    }

    #[test]
    fn words_match_in_any_case() {
        assert!(contains("Archer C7", "c7") && contains("Über", "über") && contains("x", ""));
        assert!(!contains("Archer", "c7") && !contains("", "a"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn any_query_is_parsed_within_bounds(text in ".{0,200}") {
            let query = Query::parse(&text);
            prop_assert!(query.count <= MAX_COUNT && query.words.len() <= MAX_WORDS);
        }
    }
}
