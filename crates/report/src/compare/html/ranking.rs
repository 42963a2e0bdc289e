//! The page of a ranking.

use super::{curves, head};
use crate::compare::format::{metric_name, metric_value};
use crate::compare::overlay::{Variant, overlays};
use crate::compare::text::{heading, legend, warnings};
use crate::html::{document, escaped, section};
use netburn_analysis::View;
use netburn_analysis::compare::Ranking;
use std::fmt::Write as _;

/// The ranking as a page with charts of all sides; `views` are in the order of the sides.
#[must_use]
pub fn ranking(ranking: &Ranking, views: &[Vec<View>]) -> String {
    let variants: Vec<Variant<'_>> = ranking
        .standings
        .iter()
        .filter_map(|standing| {
            Some(Variant {
                name: &standing.name,
                views: views.get(standing.side)?,
            })
        })
        .collect();
    let charts = overlays(&variants);
    let best = ranking.standings.first().filter(|_| !ranking.metrics.is_empty());
    let title = match best {
        Some(best) => format!("{} variants: {} ranks first", ranking.sides.len(), best.name),
        None => format!("{} variants without a common metric", ranking.sides.len()),
    };
    let mut body = ranking
        .sides
        .first()
        .map_or_else(String::new, |side| head(&title, side));
    for warning in warnings(ranking) {
        let _ = writeln!(body, "<p class=\"facts\">{}</p>", escaped(&warning));
    }
    body.push_str("</header>\n<main>\n");
    body.push_str(&section("standings", "Overall", &standings_table(ranking)));
    body.push_str(&section("metrics", "Metrics", &metric_table(ranking)));
    let all: Vec<&[View]> = views.iter().map(Vec::as_slice).collect();
    body.push_str(&curves(&charts, &all));
    body.push_str("</main>\n");
    document(&title, &body, &charts)
}

fn standings_table(ranking: &Ranking) -> String {
    let head = ["Variant", "Runs", "On", "Mean rank", "95 % interval", "Best or tied"].map(str::to_owned);
    let rows = ranking.standings.iter().map(|standing| {
        let side = &ranking.sides[standing.side];
        vec![
            standing.name.clone(),
            side.runs.len().to_string(),
            side.environment()
                .map_or("–", |environment| environment.name())
                .to_owned(),
            format!("{:.2}", standing.mean_rank),
            standing
                .interval
                .map_or_else(String::new, |i| format!("{:.2} to {:.2}", i.low, i.high)),
            format!("{} of {}", standing.best_in, ranking.metrics.len()),
        ]
    });
    crate::html::cells("Ranking", &head, &rows.collect::<Vec<_>>())
}

fn metric_table(ranking: &Ranking) -> String {
    let mut out = String::from(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Metrics of each variant\"><table><caption>Metrics of each variant</caption><thead><tr><th scope=\"col\">Station</th><th scope=\"col\">Metric</th>",
    );
    for standing in &ranking.standings {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(&heading(&standing.name)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for ranked in &ranking.metrics {
        let key = &ranked.key;
        let station = ranked.key.station.as_deref().unwrap_or("(all)");
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td>",
            escaped(station),
            escaped(&metric_name(&ranked.key, ranking.keys()))
        );
        for standing in &ranking.standings {
            let median = metric_value(ranked.medians[standing.side], key);
            let range = ranked.intervals[standing.side].map_or_else(String::new, |interval| {
                format!(
                    " <span class=\"quiet\">{} to {}</span>",
                    metric_value(interval.low, key),
                    metric_value(interval.high, key)
                )
            });
            let _ = if ranked.is_best(standing.side) {
                write!(out, "<td><strong>{median}*</strong>{range}</td>")
            } else {
                write!(out, "<td>{median}{range}</td>")
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&legend(ranking)));
    out
}
