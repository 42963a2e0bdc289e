//! Checks of what `netburn demo` prints and writes.

use super::{Bench, Ended};
use std::fs;

/// Cells of the row of the table with this quantity: before and after.
#[track_caller]
pub(crate) fn row(out: &str, quantity: &str) -> [String; 2] {
    let line = out.lines().find(|line| line.contains(quantity));
    let line = line.unwrap_or_else(|| panic!("no `{quantity}` in:\n{out}"));
    let (_, cells) = line.split_once(quantity).unwrap();
    let cells: Vec<&str> = cells
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    <[&str; 2]>::try_from(cells).unwrap().map(str::to_owned)
}

/// Checks that the output is short, without colours, and ends with the next steps.
#[track_caller]
pub(crate) fn expect_readable(ended: &Ended) {
    let out = ended.out();
    assert!(
        !out.contains('\x1b') && !ended.stderr.contains('\x1b'),
        "{out}{}",
        ended.stderr
    );
    assert!(out.lines().count() <= 50, "{} lines:\n{out}", out.lines().count());
    for line in out.lines() {
        assert!(line.chars().count() <= 90, "{line}");
    }
    let last: Vec<&str> = out.lines().rev().take(4).collect();
    for (line, command) in last
        .iter()
        .rev()
        .zip(["Next:", "netburn ui", "shown/demo.html", "netburn init"])
    {
        assert!(line.contains(command), "{out}");
    }
    assert!(
        !out.contains("saved to") && ended.stderr.contains("saved to shown\n"),
        "{}",
        ended.stderr
    );
}

/// Checks that the page begins with the effect that the output shows, and that its links lead to pages.
#[track_caller]
pub(crate) fn expect_page(bench: &Bench, out: &str) {
    let page = fs::read_to_string(bench.path("shown/demo.html")).unwrap();
    let (head, body) = page.split_once("<main>").unwrap();
    let [before, after] = row(out, "browsing: page load ≤ 500 ms ");
    let lead = format!(
        "Before the change, {before} pages of the laptop met the goal <code>page load ≤ 500 ms</code>. After the change, {after} did."
    );
    assert!(head.contains(&lead), "`{lead}` is not in the head of the page");
    let links: Vec<&str> = body
        .split("href=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(
        links.len() == 2 && links[0].starts_with("before") && links[1].starts_with("after"),
        "{links:?}"
    );
    for link in links {
        assert!(bench.path("shown").join(link).exists(), "{link}");
    }
}
