//! Head of a page: question, environment, verdict and reasons, station by station.

use super::{badge, escaped};
use crate::environment;
use crate::table::{Badge, verdict_or_no_goals};
use crate::text::{meaning_of_provisional, result, why};
use netburn_analysis::format;
use netburn_analysis::view::View;
use netburn_record::Summary;
use netburn_record::summary::StationSummary;
use std::fmt::Write as _;

/// Title of the page.
pub(super) fn title(view: &View) -> String {
    let summary = &view.summary;
    let name = summary.title.as_deref().unwrap_or(&summary.scenario);
    format!("{name}: {}", verdict_or_no_goals(summary.verdict))
}

/// The head. `action`: markup of what to do, before the stations.
pub(super) fn head(view: &View, action: &str) -> String {
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
        badge(&Badge::of_verdict(summary.verdict, summary.provisional)),
        escaped(&result::sentence(summary))
    );
    let _ = writeln!(out, "<p class=\"facts\">{}</p>", escaped(&facts(view)));
    for missing in &view.missing {
        let _ = writeln!(
            out,
            "<p class=\"warning\" role=\"note\">Some data could not be read: {}. This page omits it.</p>",
            escaped(missing)
        );
    }
    out.push_str("</header>\n<main>\n");
    out.push_str(action);
    out.push_str("<section id=\"stations\" aria-labelledby=\"h-stations\">\n");
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

fn facts(view: &View) -> String {
    let summary = &view.summary;
    let (runs, stations) = (format::runs_of(summary), format::stations(summary));
    let mut facts = vec![
        format!("{runs}{} s", format::short(summary.duration_s)),
        stations,
        format!("{} Mbit/s total", format::mbps(summary.totals.throughput_mbps)),
    ];
    if let Some(index) = summary.totals.airtime_jain {
        facts.push(format!("airtime fairness {index:.2} of 1 (Jain's index)"));
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
        badge(&Badge::of_verdict(station.verdict, station.provisional))
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
        facts.push(format!("{} to the server and back without load", format::span(idle)));
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
