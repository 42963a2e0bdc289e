//! The page of two runs, before and after a change.

use super::{curves, environment, metric_table, top};
use crate::before_after::{self, Change, call_goal_ms, markup, rows};
use crate::chart::{Chart, Level, Unit};
use crate::compare::overlay::{Variant, latency_over_time, overlays};
use crate::html::{document, escaped, figure, section, table, with_code};
use netburn_analysis::View;
use netburn_analysis::explain::Cause;
use netburn_analysis::view::WorkloadView;
use netburn_workload::{Kind, ProbeTarget};
use std::cmp::Reverse;
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

/// Workload of the worst station that shows its latency best: a probe, or else the first with latencies. Of several equally bad
/// stations it is the first, as in the table.
fn affected(before: &View) -> Option<(&str, &str)> {
    let worst = before.judged().min_by_key(|(_, judged)| Reverse(judged.verdict))?;
    let mut workloads = worst.0.workloads.iter().filter(|of| of.latency.count > 0);
    let is_probe = |of: &&WorkloadView| {
        Kind::by_name(&of.kind).is_some_and(Kind::is_probe) && of.target == ProbeTarget::Server.as_str()
    };
    let probe = worst.0.workloads.iter().find(is_probe);
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
    let mut out = table(&before_after::changes(page.changes, "applied"));
    let _ = writeln!(
        out,
        "\n<p class=\"note\">Each change was simulated {} times, and so was the scenario without a change, \
         with the same seeds. Better and worse are numbers of metrics of all stations that changed significantly.</p>",
        page.simulated
    );
    if !page.advice.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escaped(page.advice));
    }
    if let Some(change) = page.changes.iter().find(|change| change.is_chosen) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_analysis::compare::{Comparison, Options, Side};
    use netburn_analysis::explain::{Explanation, Kind as CauseKind, Severity};
    use netburn_analysis::view::{Curve, LatencyBin, Point, StationView, WorkloadView};
    use netburn_record::{Host, RunStatus, Summary};
    use netburn_workload::Verdict;
    use serde_json::{Value, json};
    use std::path::Path;

    /// Latencies of `count` operations. With `count` 0 there are none.
    fn curve(count: u64) -> Curve {
        let points = [0.5, 0.95].map(|level| Point {
            level,
            ms: Some(100.0 * level),
        });
        Curve {
            count,
            unbounded: 0,
            min_ms: Some(1.0),
            max_ms: Some(100.0),
            points: points.to_vec(),
        }
    }

    fn workload(name: &str, kind: &str, count: u64) -> WorkloadView {
        let bin = LatencyBin {
            count,
            unbounded: 0,
            min_ms: Some(1.0),
            p50_ms: None,
            p95_ms: None,
            max_ms: Some(100.0),
        };
        WorkloadView {
            name: name.to_owned(),
            kind: kind.to_owned(),
            target: ProbeTarget::Server.as_str().to_owned(),
            latency_goal_ms: None,
            rate_goal_mbps: None,
            latency: curve(count),
            over_time: vec![Some(bin); 2],
            down_mbps: vec![1.0; 2],
            up_mbps: vec![0.0; 2],
            buffer: None,
        }
    }

    fn workload_summary(of: &WorkloadView, verdict: &str) -> Value {
        let latency = json!({ "count": of.latency.count, "min": 1.0, "p50": 50.0, "p75": null, "p90": null, "p95": 95.0,
                              "p99": null, "max": 100.0, "unbounded": 0 });
        let goal = json!({ "goal": format!("{} goal", of.name), "kind": "latency", "met": 0.5, "excess": 2.0,
                           "verdict": verdict, "samples": 10 });
        json!({ "name": of.name, "kind": of.kind, "verdict": verdict, "provisional": false, "operations": 10, "goal_misses": 5,
                "failures": 0, "unfinished": 0, "throughput_mbps": 1.0, "latency_ms": latency, "goals": [goal] })
    }

    /// A run of two seconds with these stations, each with its verdict and its workloads.
    fn view(stations: &[(&str, &str, Vec<WorkloadView>)]) -> View {
        let summaries = stations.iter().map(|(name, verdict, workloads)| {
            let workloads: Vec<Value> = workloads.iter().map(|of| workload_summary(of, verdict)).collect();
            json!({ "name": name, "verdict": verdict, "provisional": false, "throughput_mbps": 1.0, "airtime_share": null,
                    "idle_latency_ms": null, "workloads": workloads })
        });
        let summary: Summary = serde_json::from_value(json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "simulate", "seed": 1, "duration_s": 2.0,
            "verdict": "fail", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 1.0, "airtime_jain": null },
            "stations": summaries.collect::<Vec<Value>>(), "repeats": [], "intervals": {} }))
        .unwrap();
        let views = stations.iter().map(|(name, _, workloads)| StationView {
            name: (*name).to_owned(),
            idle: Curve::default(),
            loaded: None,
            workloads: workloads.clone(),
            air: None,
            link: Vec::new(),
        });
        View {
            observed: Vec::new(),
            summary,
            status: RunStatus::Complete,
            version: String::new(),
            started: None,
            host: Host::default(),
            health: Vec::new(),
            lab: None,
            clocks: Vec::new(),
            scenario: json!({}),
            assumptions: Vec::new(),
            warmup_s: 0.0,
            runs: 1,
            run_dirs: Vec::new(),
            bin_s: 1.0,
            bins: 2,
            stations: views.collect(),
            marks: Vec::new(),
            more_marks: 0,
            floor: None,
            explanation: Explanation::default(),
            remedies: None,
            home: None,
            fitted: None,
            measurement: None,
            missing: Vec::new(),
        }
    }

    #[test]
    fn the_chart_shows_the_probe_of_the_first_of_the_worst_stations() {
        let pages = || workload("browsing", "pages", 9);
        let stations = [
            ("tablet", "pass", vec![workload("ping", "probe", 9)]),
            ("laptop", "fail", vec![pages(), workload("ping", "probe", 9)]),
            ("desktop", "fail", vec![pages()]),
        ];
        assert_eq!(affected(&view(&stations)), Some(("laptop", "ping")));
        // Without a probe it is the first workload with latencies.
        let workloads = vec![workload("film", "stream", 0), pages()];
        assert_eq!(affected(&view(&[("tv", "fail", workloads)])), Some(("tv", "browsing")));
        assert_eq!(
            affected(&view(&[("tv", "fail", vec![workload("film", "stream", 0)])])),
            None
        );
        assert_eq!(affected(&view(&[])), None);
    }

    #[test]
    fn the_run_after_the_change_has_the_first_colour() {
        let views = [
            view(&[("laptop", "fail", vec![workload("ping", "probe", 9)])]),
            view(&[("laptop", "pass", vec![workload("ping", "probe", 9)])]),
        ];
        let variants = [("before", &views[..1]), ("after", &views[1..])].map(|(name, views)| Variant { name, views });
        let chart = recoloured(latency_over_time(&variants, "laptop", "ping"));
        let colours: Vec<(&str, usize)> = chart
            .series
            .iter()
            .map(|series| (series.name.as_str(), series.colour_index))
            .collect();
        assert_eq!(colours, [("before", 1), ("after", 0)]);
    }

    #[test]
    fn foreign_text_is_never_markup() {
        // Each place of the page has its own text.
        let hostile = |place: &str| format!("<script>{place}");
        let (station, name) = (hostile("station"), hostile("workload"));
        let runs =
            ["fail", "pass"].map(|verdict| view(&[(station.as_str(), verdict, vec![workload(&name, "pages", 9)])]));
        let side = |place: &str, run: &View| {
            let mut side = Side::new(&hostile(place));
            side.add_summary(Path::new("run"), &run.summary, None);
            side
        };
        let comparison = Comparison::new(side("with", &runs[1]), side("without", &runs[0]), Options::default());
        let set = [(hostile("key"), hostile("value"))];
        let change = Change {
            label: &hostile("label"),
            set: &set,
            verdict: Verdict::Pass,
            comparison: &comparison,
            is_chosen: true,
        };
        let cause = Cause {
            kind: CauseKind::SlowNeighbour,
            severity: Severity::Serious,
            title: hostile("cause"),
            evidence: hostile("evidence"),
            advice: String::new(),
            stations: Vec::new(),
            by: Vec::new(),
        };
        let page = before_after(&BeforeAfter {
            title: &hostile("title"),
            lead: &hostile("lead"),
            causes: &[cause],
            plain: &hostile("plain"),
            advice: &hostile("advice"),
            changes: &[change],
            simulated: 8,
            runs: [&runs[0], &runs[1]],
            pages: [&hostile("first"), &hostile("second")],
        });
        for place in [
            "station", "workload", "with", "without", "key", "value", "label", "cause", "evidence", "title", "lead",
            "plain", "advice", "first", "second",
        ] {
            assert!(!page.contains(&hostile(place)), "{place} is markup");
            assert!(page.contains(&escaped(&hostile(place))), "{place} is missing");
        }
    }
}
