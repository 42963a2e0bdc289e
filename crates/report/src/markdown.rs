//! A report as GitHub Flavored Markdown, for the summary of a CI job or a bug report.

use crate::environment;
use crate::sanitise::sanitise;
use crate::text::why;
use netburn_analysis::explain::Explanation;
use netburn_analysis::format::{mbps, percent, short, span};
use netburn_record::Summary;
use netburn_record::summary::verdict_name;
use netburn_workload::Verdict;

/// The verdicts with their reasons, the latencies and the likely causes.
#[must_use]
pub fn markdown(summary: &Summary, explanation: &Explanation) -> String {
    let title = escaped(summary.title.as_deref().unwrap_or(&summary.scenario));
    let mut lines = vec![
        format!("## {}: {title}", verdict(summary.verdict, summary.provisional)),
        String::new(),
        escaped(environment::sentence(summary.environment)),
        String::new(),
        "| station | verdict | reason |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    let known = &summary.self_check.reasons;
    for station in &summary.stations {
        let reasons: Vec<String> = why::plain(station, known)
            .iter()
            .map(|reason| escaped(reason))
            .collect();
        lines.push(format!(
            "| {} | {} | {} |",
            escaped(&station.name),
            verdict(station.verdict, station.provisional),
            reasons.join("<br>")
        ));
    }
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

fn verdict(of: Verdict, provisional: bool) -> String {
    let name = match of {
        Verdict::None => return "no goals".to_owned(),
        other => verdict_name(other),
    };
    format!("**{name}**{}", if provisional { " (provisional)" } else { "" })
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
    let mut lines = vec![
        "| station | workload | p50 | p95 | goals met | Mbit/s |".to_owned(),
        "|---|---|---:|---:|---:|---:|".to_owned(),
    ];
    for station in &summary.stations {
        for workload in &station.workloads {
            let latency = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), span);
            let met: Vec<String> = workload.goals.iter().filter_map(|goal| goal.met).map(percent).collect();
            lines.push(format!(
                "| {} | {} | {} | {} | {} | {} |",
                escaped(&station.name),
                escaped(&workload.name),
                latency(workload.latency_ms.p50),
                latency(workload.latency_ms.p95),
                if met.is_empty() {
                    "–".to_owned()
                } else {
                    met.join(", ")
                },
                mbps(workload.throughput_mbps),
            ));
        }
    }
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
    use proptest::prelude::*;

    #[test]
    fn text_has_no_meaning_in_markdown() {
        assert_eq!(escaped("a|b <img> @all #1"), "a\\|b &lt;img&gt; &#64;all &#35;1");
        assert_eq!(escaped("`a`[x](y)"), "\\`a\\`\\[x\\](y)");
        assert_eq!(escaped("$x$"), "&#36;x&#36;");
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
