//! The page of a ranking.

use super::{curves, head};
use crate::compare::overlay::{Variant, overlays};
use crate::compare::tables;
use crate::compare::text::{legend, warnings};
use crate::html::{document, escaped, noted, section, table};
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
    body.push_str(&section("standings", "Overall", &table(&tables::standings(ranking))));
    body.push_str(&section("metrics", "Metrics", &metric_table(ranking)));
    let all: Vec<&[View]> = views.iter().map(Vec::as_slice).collect();
    body.push_str(&curves(&charts, &all));
    body.push_str("</main>\n");
    document(&title, &body, &charts)
}

fn metric_table(ranking: &Ranking) -> String {
    table(&tables::ranked(ranking)) + &noted(&legend(ranking))
}
