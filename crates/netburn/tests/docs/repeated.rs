//! Numbers and lists that several pages state: each agrees with the page or the constants that they come from.

use crate::page::root;
use netburn_workload::Config;
use netburn_workload::config::PRESETS;

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number before the first occurrence of `after`, without separators of thousands.
#[track_caller]
fn before(text: &str, after: &str) -> u64 {
    let at = text.find(after).unwrap_or_else(|| panic!("no `{after}`"));
    let word = text[..at].trim_end().rsplit([' ', '(', '|']).next().unwrap_or_default();
    let digits: String = word.chars().filter(|c| *c != ',').collect();
    digits.parse().unwrap_or_else(|_| panic!("`{word}` before `{after}`"))
}

/// The number after the first occurrence of `words`.
#[track_caller]
fn after(text: &str, words: &str) -> u64 {
    let at = text.find(words).unwrap_or_else(|| panic!("no `{words}`")) + words.len();
    let rest = text[at..].trim_start_matches([' ', '|']);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after `{words}`"))
}

/// The results of a row of the first table of the page of the accuracy: values, agree, documented, unknown.
#[track_caller]
fn row(accuracy: &str, page: &str) -> Vec<String> {
    let at = accuracy.find(page).unwrap_or_else(|| panic!("no row of {page}"));
    let cells = accuracy[at..].split('|').skip(1).take(4);
    cells.map(|cell| cell.trim().to_owned()).collect()
}

/// The README states these numbers after `words`: all values, those that agree, those within the spread, those that differ, and
/// those of them for an unknown reason.
#[track_caller]
fn expect_counts(words: &str, [all, agree, spread, differ, unknown]: [u64; 5]) {
    let readme = read("README.md");
    let text = &readme[readme.find(words).unwrap_or_else(|| panic!("no `{words}`"))..];
    assert_eq!(before(text, "values, "), all);
    assert_eq!(before(text, "agree"), agree);
    assert_eq!(before(text, "are within the spread of"), spread);
    assert_eq!(before(text, "differ, "), differ);
    assert_eq!(before(text, "of them for an unknown reason"), unknown);
}

#[test]
fn counts_of_the_lab_are_those_of_its_results() {
    let results = read("docs/results/conformance.md");
    let rows = |verdict: &str| results.matches(&format!("| {verdict} |")).count() as u64;
    let (agree, spread) = (rows("agrees"), rows("within the spread"));
    let (unknown, known) = (rows("differs"), rows("differs, known"));
    let all = agree + spread + unknown + known;
    assert_eq!(before(&results, "metrics: "), all);
    assert_eq!(before(&results, "differ without a known reason"), unknown);
    assert_eq!(before(&results, "with one. "), known);

    let accuracy = read("docs/explanation/accuracy.md");
    let cells = [all, agree + spread, known, unknown].map(|count| count.to_string());
    assert_eq!(row(&accuracy, "../results/conformance.md"), cells);
    assert_eq!(before(&accuracy, "of those of the lab"), spread);

    expect_counts(
        "run in lab and simulator",
        [all, agree, spread, known + unknown, unknown],
    );
}

#[test]
fn counts_of_ns_3_are_those_of_its_results() {
    let results = read("docs/results/crosscheck.md");
    let count = |label: &str| after(&results, &format!("| {label} |"));
    let (all, agree, spread) = (
        count("all"),
        count("agree"),
        count("within the spread of both programs"),
    );
    let (known, unknown) = (count("differ, cause known"), count("differ, cause not known"));
    assert_eq!(all, agree + spread + known + unknown);

    let accuracy = read("docs/explanation/accuracy.md");
    let cells = [all, agree + spread, known, unknown].map(|count| count.to_string());
    assert_eq!(row(&accuracy, "../results/crosscheck.md"), cells);
    assert_eq!(before(&accuracy, "of the values of ns-3"), spread);

    expect_counts("run in ns-3 too", [all, agree, spread, known + unknown, unknown]);
}

/// 963 = 762 + 201: the README and the page of the accuracy state the same parts, and the parts have these sums.
#[test]
fn counts_of_the_validation_are_the_same_on_all_pages() {
    let accuracy = read("docs/explanation/accuracy.md");
    let cells = row(&accuracy, "../results/validation.md");
    let number = |cell: &str| -> u64 { cell.parse().expect("a number") };
    let (all, agree, deviate) = (number(&cells[0]), number(&cells[1]), number(&cells[2]));
    assert_eq!(all, agree + deviate);
    let (single, whole) = (before(&accuracy, "are of single models"), after(&accuracy, "The other"));
    assert_eq!(all, single + whole);
    let (of_single, of_whole) = (
        after(&accuracy, "of single models:"),
        after(&accuracy, "1-one-name-or-two.md):"),
    );
    assert_eq!(agree, of_single + of_whole);

    let readme = read("README.md");
    assert_eq!(before(&readme, "values of the models are compared"), all);
    assert_eq!(before(&readme, "agree, and"), agree);
    assert_eq!(before(&readme, "deviate by a documented size"), deviate);
}

/// The typical errors of the accuracy page are not smaller than those of the tables that they summarise.
#[test]
fn typical_errors_are_those_of_their_tables() {
    let accuracy = std::fs::read_to_string(root().join("docs/explanation/accuracy.md")).unwrap();
    let cells = |begin: &str| -> Vec<f64> {
        let line = accuracy.lines().find(|line| line.starts_with(begin));
        let line = line.unwrap_or_else(|| panic!("no row {begin}"));
        line.split('|')
            .filter_map(|cell| cell.trim().trim_end_matches(" %").parse().ok())
            .collect()
    };
    let worth = |quantity: &str| {
        accuracy
            .lines()
            .find(|line| line.starts_with(quantity))
            .unwrap()
            .to_owned()
    };

    // Largest difference of R, at one decimal.
    let ratings = ["| R of the call, up |", "| R of the call, down |"].map(cells);
    let largest = ratings.iter().flat_map(|row| [row[0] - row[1], row[2] - row[3]]);
    let largest = largest.map(f64::abs).fold(0.0, f64::max);
    assert!(worth("| rating R of a call").contains(&format!("| {largest:.1} from the lab's")));

    // Per cent of irtt's value, rounded up.
    let differences = |row: &str| {
        let row = cells(row);
        [(row[0], row[1]), (row[2], row[3])].map(|(ours, theirs)| ((ours - theirs).abs() / theirs * 100.0).ceil())
    };
    let (to, from) = (differences("| to the phone |"), differences("| from the phone |"));
    let (least, most) = (from[0].min(from[1]) - 1.0, from[0].max(from[1]));
    let text = format!("{} % to the station, {least} to {most} % from it", to[0].max(to[1]));
    assert!(worth("| delay of the packets of a call").contains(&text), "{text}");

    // Medians of the goodput of TCP over all standards.
    let crosscheck = std::fs::read_to_string(root().join("docs/results/crosscheck.md")).unwrap();
    let medians: Vec<f64> = crosscheck
        .lines()
        .filter(|line| line.starts_with("| 802.11") && line.contains("| TCP |"))
        .map(|line| {
            line.split('|')
                .nth(4)
                .unwrap()
                .trim()
                .trim_end_matches(" %")
                .parse()
                .unwrap()
        })
        .collect();
    let (least, most) = (
        medians.iter().copied().fold(100.0, f64::min),
        medians.iter().copied().fold(0.0, f64::max),
    );
    let text = format!("{} to {} % at the median", least.floor(), most.ceil());
    assert!(worth("| TCP throughput of all stations").contains(&text), "{text}");
}

/// The glossary has each kind of workload, and each built-in workload.
#[test]
fn the_glossary_has_all_workloads() {
    let glossary = std::fs::read_to_string(root().join("docs/reference/glossary.md")).unwrap();
    let term = |name: &str| {
        let terms = glossary
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        terms.into_iter().any(|terms| terms.contains(&format!("`{name}`")))
    };
    let kinds = glossary
        .lines()
        .find(|line| line.starts_with("| traffic pattern, `kind` |"))
        .unwrap();
    for name in PRESETS {
        assert!(term(name), "no row of `{name}`");
        let kind = Config::preset(name).unwrap().kind().name;
        assert!(
            kinds.contains(&format!("`{kind}`")),
            "`{kind}` is not in the list of kinds"
        );
    }
}
