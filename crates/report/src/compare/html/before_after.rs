//! The page of two runs, before and after a change.

use super::{curves, environment, metric_table, top};
use crate::before_after::{call_goal_ms, markup, rows};
use crate::chart::{Chart, Level, Unit};
use crate::compare::overlay::{Variant, latency_over_time, overlays};
use crate::html::{badge, document, escaped, figure, section, with_code};
use netburn_analysis::View;
use netburn_analysis::compare::Comparison;
use netburn_analysis::explain::Cause;
use netburn_stats::metric_change::Judgement;
use netburn_workload::Verdict;
use std::fmt::Write as _;

/// Content of the page.
#[derive(Debug)]
pub struct BeforeAfter<'a> {
    /// Heading.
    pub title: &'a str,
    /// Description of the scenario and of the effect of the change, in a few sentences.
    pub lead: &'a str,
    /// Likely causes of the results before the change.
    pub causes: &'a [Cause],
    /// Explanation of the first cause for people without knowledge of Wi-Fi; may be empty.
    pub plain: &'a str,
    /// Advice for the reader's own network; may be empty.
    pub advice: &'a str,
    /// Simulated changes, in the order of the table.
    pub changes: &'a [Change<'a>],
    /// Number of simulated runs of each change.
    pub simulated: usize,
    /// The runs before and after the change.
    pub runs: [&'a View; 2],
    /// Addresses of the pages of both runs, relative to this page.
    pub pages: [&'a str; 2],
}

/// A simulated change.
#[derive(Debug)]
pub struct Change<'a> {
    /// Description.
    pub label: &'a str,
    /// Keys and values for `--set`.
    pub set: &'a [(String, String)],
    /// Worst verdict of the simulated runs.
    pub verdict: Verdict,
    /// Comparison with simulated runs without the change.
    pub comparison: &'a Comparison,
    /// The second run has this change.
    pub applied: bool,
}

/// Two runs as a page: values side by side, the cause, the simulated changes, and charts of both runs.
#[must_use]
pub fn before_after(page: &BeforeAfter<'_>) -> String {
    let [before, after] = page.runs;
    let variants = [("before", before), ("after", after)].map(|(name, view)| Variant {
        name,
        views: std::slice::from_ref(view),
    });
    let over_time = affected(before).map(|(station, workload)| {
        let mut chart = recoloured(latency_over_time(&variants, station, workload));
        chart.title = format!("How long {station} waited for answers ({workload})");
        if chart.levels.is_empty() {
            chart.levels.push(Level {
                y: call_goal_ms(),
                label: format!("goal of a call: {}", Unit::Ms.write(call_goal_ms())),
                colour_index: None,
            });
        }
        chart
    });
    let more: Vec<Chart> = overlays(&variants).into_iter().map(recoloured).collect();
    let mut body = top(page.title, Some(page.lead));
    body.push_str(&environment(after.summary.environment));
    body.push_str("</header>\n<main>\n");
    let first = markup(&rows(&before.summary, &after.summary)) + &over_time.as_ref().map_or_else(String::new, figure);
    body.push_str(&section("before-after", "Before and after", &first));
    body.push_str(&section("cause", "Why", &why(page)));
    body.push_str(&section("changes", "What would help", &changes(page)));
    body.push_str(&curves(
        &more,
        &[std::slice::from_ref(before), std::slice::from_ref(after)],
    ));
    body.push_str(&section("runs", "All details", &links(page.pages)));
    body.push_str("</main>\n");
    let charts: Vec<Chart> = over_time.into_iter().chain(more).collect();
    document(page.title, &body, &charts)
}

/// The chart with the colours of a comparison, whose baseline has the second one.
fn recoloured(mut chart: Chart) -> Chart {
    for series in &mut chart.series {
        series.colour_index = 1 - series.colour_index.min(1);
    }
    chart
}

/// Workload of the worst station that shows its latency best: a probe, or else the first with latencies.
fn affected(before: &View) -> Option<(&str, &str)> {
    let worst = before.judged().max_by_key(|(_, judged)| judged.verdict)?;
    let mut workloads = worst.0.workloads.iter().filter(|of| of.latency.count > 0);
    let probe = worst.0.workloads.iter().find(|of| of.kind == "probe");
    let shown = probe.or_else(|| workloads.next())?;
    Some((&worst.0.name, &shown.name))
}

fn why(page: &BeforeAfter<'_>) -> String {
    let mut out = String::new();
    if !page.plain.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escaped(page.plain));
    }
    for cause in page.causes {
        let _ = writeln!(
            out,
            "<p><strong>{}.</strong> {}</p>",
            escaped(&cause.title),
            with_code(&cause.evidence)
        );
    }
    out
}

fn changes(page: &BeforeAfter<'_>) -> String {
    if page.changes.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"wide\"><table><caption>Simulated changes</caption><thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Change</th><th scope=\"col\">Setting</th><th scope=\"col\">Better</th>\
         <th scope=\"col\">Worse</th></tr></thead><tbody>\n",
    );
    for change in page.changes {
        let applied = if change.applied {
            " <strong>(applied)</strong>"
        } else {
            ""
        };
        let set = change.set.iter().map(|(key, value)| format!("`{key}={value}`"));
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}{applied}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            badge(change.verdict, false),
            escaped(change.label),
            with_code(&set.collect::<Vec<_>>().join(" ")),
            change.comparison.count(Judgement::Better),
            change.comparison.count(Judgement::Worse),
        );
    }
    let _ = writeln!(
        out,
        "</tbody></table></div>\n<p class=\"note\">Each change was simulated {} times, and so was the scenario without a change, \
         with the same seeds. Better and worse are numbers of metrics of all stations that changed significantly.</p>",
        page.simulated
    );
    if !page.advice.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escaped(page.advice));
    }
    if let Some(change) = page.changes.iter().find(|change| change.applied) {
        let _ = writeln!(
            out,
            "<details><summary>All metrics of the applied change in these simulations</summary>{}</details>",
            metric_table(change.comparison)
        );
    }
    out
}

fn links(pages: [&str; 2]) -> String {
    let link = |name: &str, to: &str| format!("<a href=\"{}\">{name}</a>", escaped(to));
    format!(
        "<p>{} · {}</p>\n",
        link("Report of the run before the change", pages[0]),
        link("Report of the run after the change", pages[1])
    )
}
