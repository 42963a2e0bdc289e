//! Head of a page: question, environment, verdict and reasons, station by station.

use super::escaped;
use crate::environment;
use crate::text::{meaning_of_provisional, why};
use netburn_analysis::format;
use netburn_analysis::view::View;
use netburn_record::Summary;
use netburn_record::summary::{StationSummary, verdict_name};
use netburn_workload::Verdict;
use std::fmt::Write as _;

/// Title of the page.
pub(super) fn title(view: &View) -> String {
    let summary = &view.summary;
    let name = summary.title.as_deref().unwrap_or(&summary.scenario);
    format!("{name}: {}", word(summary.verdict))
}

pub(super) fn head(view: &View) -> String {
    let summary = &view.summary;
    let mut out = String::from("<header>\n<p class=\"brand\">netburn</p>\n");
    out.push_str("<button id=\"theme\" type=\"button\" hidden>Dark</button>\n");
    let name = summary.title.as_deref().unwrap_or(&summary.scenario);
    let _ = writeln!(out, "<h1>{}</h1>", escaped(name));
    if let Some(question) = &summary.question {
        let _ = writeln!(out, "<p class=\"question\">{}</p>", escaped(question));
    }
    let _ = writeln!(
        out,
        "<p class=\"environment\">{}</p>",
        with_code(environment::sentence(summary.environment))
    );
    let _ = writeln!(
        out,
        "<p class=\"verdict\">{} <span class=\"why\">{}</span></p>",
        badge(summary.verdict, summary.provisional),
        escaped(&verdict_reason(summary))
    );
    let _ = writeln!(out, "<p class=\"facts\">{}</p>", escaped(&facts(view)));
    for missing in &view.missing {
        let _ = writeln!(
            out,
            "<p class=\"warning\" role=\"note\">Some data could not be read: {}. This page omits it.</p>",
            escaped(missing)
        );
    }
    out.push_str("</header>\n<main>\n<section id=\"stations\" aria-labelledby=\"h-stations\">\n");
    out.push_str("<h2 id=\"h-stations\">Stations</h2>\n<ul class=\"cards\">\n");
    for station in &summary.stations {
        out.push_str(&card(station, summary));
    }
    out.push_str("</ul>\n");
    if summary.provisional || summary.stations.iter().any(|station| station.provisional) {
        let _ = writeln!(
            out,
            "<p class=\"note\">* provisional: {} Use a longer run or more runs.</p>",
            meaning_of_provisional()
        );
    }
    out.push_str("</section>\n");
    out
}

/// A verdict with a sign, so that it does not depend on colour alone.
pub(crate) fn badge(verdict: Verdict, provisional: bool) -> String {
    let (sign, class) = match verdict {
        Verdict::Pass => ("✓", "pass"),
        Verdict::Marginal => ("~", "marginal"),
        Verdict::Fail => ("✗", "fail"),
        Verdict::Inconclusive => ("?", "inconclusive"),
        Verdict::None => ("–", "none"),
    };
    let mark = if provisional { "*" } else { "" };
    format!(
        "<strong class=\"badge {class}\"><span aria-hidden=\"true\">{sign}</span> {}{mark}</strong>",
        word(verdict)
    )
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::None => "no goals",
        other => verdict_name(other),
    }
}

/// Reason for the verdict in one sentence.
fn verdict_reason(summary: &Summary) -> String {
    if !summary.reasons.is_empty() {
        let reasons: Vec<String> = summary.reasons.iter().map(ToString::to_string).collect();
        return format!("The run could not be measured: {}.", reasons.join("; "));
    }
    let of = |verdict: Verdict| -> Vec<&str> {
        let those = summary.stations.iter().filter(|station| station.verdict == verdict);
        those.map(|station| station.name.as_str()).collect()
    };
    let judged = summary
        .stations
        .iter()
        .filter(|station| station.verdict != Verdict::None)
        .count();
    let parts: Vec<String> = [
        (Verdict::Fail, "missed"),
        (Verdict::Inconclusive, "could not be measured"),
        (Verdict::Marginal, "only just met"),
    ]
    .into_iter()
    .filter_map(|(verdict, verb)| {
        let names = of(verdict);
        let who = list(&names);
        Some(match (verdict, names.len()) {
            (_, 0) => return None,
            (Verdict::Inconclusive, _) => format!("{who} {verb}"),
            (_, count) => format!("{who} {verb} {} goals", possessive(count)),
        })
    })
    .collect();
    match (parts.is_empty(), judged) {
        (true, 0) => "No station had a goal.".to_owned(),
        (true, 1) => format!("{} met its goals.", list(&of(Verdict::Pass))),
        (true, n) => format!("All {n} stations with goals met them."),
        (false, _) => {
            let passed = of(Verdict::Pass);
            let rest = match passed.len() {
                0 => String::new(),
                count => format!("; {} met {} goals", list(&passed), possessive(count)),
            };
            if of(Verdict::Fail).is_empty() && of(Verdict::Inconclusive).is_empty() {
                format!("{}.", parts.join("; "))
            } else {
                format!("{}{rest}.", parts.join("; "))
            }
        }
    }
}

fn possessive(count: usize) -> &'static str {
    if count == 1 { "its" } else { "their" }
}

/// Names in a sentence: not more than six.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] if names.len() <= 6 => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", names[..5].join(", "), names.len() - 5),
    }
}

fn facts(view: &View) -> String {
    let summary = &view.summary;
    let (runs, stations) = (format::runs_of(summary), format::stations(summary));
    let mut facts = vec![
        format!("{runs}{} s", format::short(summary.duration_s)),
        stations,
        format!("{} Mbit/s total", format::mbps(summary.totals.throughput_mbps)),
    ];
    if let Some(index) = summary.totals.airtime_jain {
        facts.push(format!("Jain index of airtime {index:.2}"));
    }
    facts.push(format!("seed {}", summary.seed));
    facts.extend(view.started.clone());
    facts.push(format!("netburn {}", view.version));
    facts.join(" · ")
}

fn card(station: &StationSummary, summary: &Summary) -> String {
    let mut out = format!(
        "<li class=\"card\"><h3>{}</h3>{}",
        escaped(&station.name),
        badge(station.verdict, station.provisional)
    );
    let sentences = why::plain(station, &summary.self_check.reasons);
    for sentence in &sentences {
        let _ = write!(out, "<p>{}</p>", with_code(sentence));
    }
    let mut facts = vec![format!("{} Mbit/s", format::mbps(station.throughput_mbps))];
    if let Some(share) = station.airtime_share {
        facts.push(format!("{} of the airtime", format::percent(share)));
    }
    if let Some(idle) = station.idle_latency_ms {
        facts.push(format!("{} idle round-trip time", format::span(idle)));
    }
    let uses: Vec<&str> = station
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    let _ = writeln!(
        out,
        "<p class=\"quiet\">{}</p></li>",
        escaped(&format!("{}: {}", uses.join(", "), facts.join(", ")))
    );
    out
}

/// Formats text in backquotes as code.
pub(crate) fn with_code(text: &str) -> String {
    let parts = escaped(text);
    let parts = parts.split('`').enumerate().map(|(place, part)| match place % 2 {
        1 => format!("<code>{part}</code>"),
        _ => part.to_owned(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sentence(verdicts: &[(&str, &str)]) -> String {
        let station = |(name, verdict): &(&str, &str)| {
            json!({ "name": name, "verdict": verdict, "throughput_mbps": 0.0, "airtime_share": null, "idle_latency_ms": null,
                "workloads": [] })
        };
        let summary = json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "home", "environment": "simulate", "seed": 1, "duration_s": 60.0,
            "verdict": "fail", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null },
            "stations": verdicts.iter().map(station).collect::<Vec<_>>(), "repeats": [], "intervals": {} });
        verdict_reason(&serde_json::from_value(summary).unwrap())
    }

    #[test]
    fn the_sentence_lists_the_stations_by_verdict() {
        let (tv, laptop, phone) = (("tv", "pass"), ("laptop", "fail"), ("phone", "inconclusive"));
        for (verdicts, wanted) in [
            (vec![tv, laptop], "laptop missed its goals; tv met its goals."),
            (vec![tv, phone], "phone could not be measured; tv met its goals."),
            (
                vec![tv, ("box", "pass"), laptop, phone],
                "laptop missed its goals; phone could not be measured; tv and box met their goals.",
            ),
            (vec![tv, ("box", "marginal")], "box only just met its goals."),
            (vec![tv, ("box", "none")], "tv met its goals."),
        ] {
            assert_eq!(sentence(&verdicts), wanted);
        }
    }
}
