//! The pooled runs with links to their pages.

use crate::tables;
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
    let mut table = tables::runs(&view.summary);
    // The page links to each run, so the column of the folders is omitted.
    table.columns.pop();
    for (place, row) in table.rows.iter_mut().enumerate() {
        row.pop();
        row[0].text.insert_str(0, "run ");
        let paged = |folder: &&String| plain(folder) && repeats.len() <= MAX_PAGES;
        row[0].link = view
            .run_dirs
            .get(place)
            .filter(paged)
            .map(|folder| format!("{folder}/report.html"));
    }
    let mut out = format!(
        "<p>The results above cover the operations of all runs. Each run has its own page.</p>\n{}\n",
        super::table(&table)
    );
    let intervals = tables::intervals(&view.summary, MAX_INTERVALS, |_| true);
    if !intervals.rows.is_empty() {
        let more = match view.summary.intervals.len() - intervals.rows.len() {
            0 => String::new(),
            more => format!("<p class=\"note\">{more} more are in run.json.</p>"),
        };
        let _ = writeln!(
            out,
            "<details><summary>95 % confidence intervals of each metric's mean over the runs</summary>{}{more}</details>",
            super::table(&intervals)
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
