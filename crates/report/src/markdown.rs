//! A report as GitHub Flavored Markdown, for the summary of a CI job or a bug report.

use crate::environment;
use crate::sanitise::sanitise;
use crate::table::{Align, Badge, Cell, Table, right, words};
use crate::tables;
use crate::text::why;
use netburn_analysis::explain::Explanation;
use netburn_analysis::format::{mbps, short};
use netburn_record::Summary;
use netburn_record::metrics::{self, Unit};

/// The verdicts with their reasons, the latencies and the likely causes.
#[must_use]
pub fn markdown(summary: &Summary, explanation: &Explanation) -> String {
    let title = escaped(summary.title.as_deref().unwrap_or(&summary.scenario));
    let mut lines = vec![
        format!(
            "## {}: {title}",
            badge(&Badge::of_verdict(summary.verdict, summary.provisional))
        ),
        String::new(),
        escaped(environment::sentence(summary.environment)),
        String::new(),
    ];
    let known = &summary.self_check.reasons;
    lines.extend(table(&stations(summary)));
    let reasons = summary.reasons.iter().chain(known).map(ToString::to_string);
    let mut reasons: Vec<String> = reasons.map(|reason| format!("- {}", escaped(&reason))).collect();
    reasons.dedup();
    section(&mut lines, "Reliability", reasons);
    section(&mut lines, "Likely causes", causes(explanation));
    lines.extend([
        String::new(),
        "<details><summary>Latency and throughput</summary>".to_owned(),
        String::new(),
    ]);
    lines.extend(latencies(summary));
    lines.extend([String::new(), "</details>".to_owned()]);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn section(lines: &mut Vec<String>, heading: &str, content: Vec<String>) {
    if !content.is_empty() {
        lines.extend([String::new(), format!("### {heading}"), String::new()]);
        lines.extend(content);
    }
}

/// A table. Lines of a cell stay lines.
fn table(of: &Table) -> Vec<String> {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let columns = of.columns.iter();
    let rule = columns.clone().map(|column| match column.align {
        Align::Left => "---|",
        Align::Right => "---:|",
    });
    let head = columns.map(|column| escaped(&column.heading));
    let mut lines = vec![row(head.collect()), format!("|{}", rule.collect::<String>())];
    lines.extend(of.rows.iter().map(|cells| row(cells.iter().map(cell).collect())));
    lines
}

fn cell(of: &Cell) -> String {
    match &of.badge {
        Some(badge) => self::badge(badge),
        None => of.text.lines().map(escaped).collect::<Vec<_>>().join("<br>"),
    }
}

fn badge(of: &Badge) -> String {
    match (of.class, of.is_provisional) {
        ("none", _) => of.words.to_owned(),
        (_, true) => format!("**{}** (provisional)", of.words),
        (_, false) => format!("**{}**", of.words),
    }
}

/// The stations with their verdicts and reasons.
fn stations(summary: &Summary) -> Table {
    let rows = summary.stations.iter().map(|station| {
        vec![
            station.name.as_str().into(),
            Cell::verdict(station.verdict, station.provisional),
            why::plain(station, &summary.self_check.reasons).join("\n").into(),
        ]
    });
    Table {
        caption: "Stations",
        columns: vec![words("station"), words("verdict"), words("reason")],
        keys: 1,
        rows: rows.collect(),
    }
}

fn causes(explanation: &Explanation) -> Vec<String> {
    let causes = explanation.causes.iter().enumerate().map(|(place, cause)| {
        let texts = [&cause.title, &cause.evidence, &cause.advice].map(|text| escaped(text));
        let [title, evidence, advice] = texts;
        format!("{}. **{title}.** {evidence} {advice}", place + 1)
    });
    let unexplained = explanation
        .unexplained
        .iter()
        .map(|station| format!("- {}", escaped(&station.sentence())));
    causes.chain(unexplained).collect()
}

fn latencies(summary: &Summary) -> Vec<String> {
    let order = [Unit::Ms, Unit::Share, Unit::Mbps];
    let metrics = tables::columns(metrics::Table::Markdown, metrics::workload_quantities(), &order);
    let workloads = summary.stations.iter().flat_map(|station| {
        let workloads = station.workloads.iter();
        workloads.map(move |workload| (station, workload))
    });
    let rows = workloads.map(|(station, workload)| {
        let measured = metrics::of_workload(workload);
        let values = metrics
            .iter()
            .map(|(heading, _)| tables::values(metrics::Table::Markdown, heading, &measured));
        [station.name.as_str().into(), workload.name.as_str().into()]
            .into_iter()
            .chain(values)
            .collect()
    });
    let names = [words("station"), words("workload")];
    let mut lines = table(&Table {
        caption: "Latency and throughput",
        columns: names
            .into_iter()
            .chain(metrics.iter().map(|(heading, _)| right(heading)))
            .collect(),
        keys: 2,
        rows: rows.collect(),
    });
    let facts = format!(
        "{} s, seed {}, {} Mbit/s in all",
        short(summary.duration_s),
        summary.seed,
        mbps(summary.totals.throughput_mbps),
    );
    lines.extend([String::new(), facts]);
    lines
}

/// A text without control characters, in which tables, emphasis, HTML, mentions and formulas are escaped. A web address
/// remains a link.
fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for c in sanitise(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            // A mention or a reference would send a notification. Dollar signs enclose a formula.
            '@' | '#' | '$' => plain.push_str(&format!("&#{};", u32::from(c))),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::numbers;
    use proptest::prelude::*;

    #[test]
    fn text_has_no_meaning_in_markdown() {
        assert_eq!(escaped("a|b <img> @all #1"), "a\\|b &lt;img&gt; &#64;all &#35;1");
        assert_eq!(escaped("`a`[x](y)"), "\\`a\\`\\[x\\](y)");
        assert_eq!(escaped("$x$"), "&#36;x&#36;");
    }

    #[test]
    fn a_table_has_a_rule_and_bold_verdicts() {
        let of = Table {
            caption: "Stations",
            columns: vec![words("station"), numbers("goals met"), words("reason")],
            keys: 1,
            rows: vec![vec![
                "a|b".into(),
                Cell::verdict(netburn_workload::Verdict::Fail, true),
                "one\ntwo".into(),
            ]],
        };
        assert_eq!(
            table(&of),
            [
                "| station | goals met | reason |",
                "|---|---:|---|",
                "| a\\|b | **fail** (provisional) | one<br>two |"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_one_line_and_one_cell(text in ".{0,60}") {
            let escaped = escaped(&text);
            prop_assert!(!escaped.contains(['\n', '<', '>']));
            let bars = escaped.char_indices().filter(|(_, c)| *c == '|');
            for (at, _) in bars {
                prop_assert!(escaped[..at].ends_with('\\'));
            }
        }
    }
}
