//! The pooled runs with links to their pages.

use super::{cells, escaped, head};
use netburn_analysis::format::{mbps, short};
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// Maximum number of runs that have a page each.
pub const MAX_PAGES: usize = 100;

/// Maximum number of intervals that are listed.
const MAX_INTERVALS: usize = 200;

/// A table of the runs with links to their pages, and the intervals of the results over them.
pub(super) fn runs(view: &View) -> String {
    let repeats = &view.summary.repeats;
    if repeats.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<p>The results above cover the operations of all runs. Each run has its own page.</p>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table><caption>Runs</caption><thead><tr><th scope=\"col\">run</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">Mbit/s</th><th scope=\"col\">seed</th></tr></thead><tbody>\n",
    );
    for (place, run) in repeats.iter().enumerate() {
        let number = place + 1;
        let paged = |folder: &&String| plain(folder) && repeats.len() <= MAX_PAGES;
        let name = match view.run_dirs.get(place).filter(paged) {
            Some(folder) => format!("<a href=\"{}/report.html\">run {number}</a>", escaped(folder)),
            None => format!("run {number}"),
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            head::badge(run.verdict, run.provisional),
            mbps(run.totals.throughput_mbps),
            run.seed
        );
    }
    out.push_str("</tbody></table></div>\n");
    let intervals = &view.summary.intervals;
    if !intervals.is_empty() {
        let rows = intervals
            .iter()
            .take(MAX_INTERVALS)
            .map(|(path, [low, high])| vec![path.clone(), short(*low), short(*high)]);
        let rows: Vec<Vec<String>> = rows.collect();
        let more = match intervals.len() - rows.len() {
            0 => String::new(),
            more => format!("<p class=\"note\">{more} more are in run.json.</p>"),
        };
        let table = cells(
            "95 % confidence intervals of the means over the runs",
            &["metric".to_owned(), "low".to_owned(), "high".to_owned()],
            &rows,
        );
        let _ = writeln!(
            out,
            "<details><summary>95 % confidence intervals of each metric's mean over the runs</summary>{table}{more}</details>"
        );
    }
    out
}

/// Returns true if a folder's name is safe in a link.
fn plain(folder: &str) -> bool {
    !folder.is_empty()
        && folder
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}
