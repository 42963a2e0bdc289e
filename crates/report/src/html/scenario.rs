//! The resolved scenario.

use super::escaped;
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// Assumptions of the scenario, and the resolved file.
pub(super) fn scenario(view: &View) -> String {
    let mut out = String::new();
    if !view.assumptions.is_empty() {
        out.push_str("<p>Assumptions:</p>\n<ul>\n");
        for assumption in &view.assumptions {
            let _ = writeln!(out, "<li>{}</li>", escaped(assumption));
        }
        out.push_str("</ul>\n");
    }
    let text = serde_json::to_string_pretty(&view.scenario).unwrap_or_default();
    let text: Vec<String> = text.lines().map(escaped).collect();
    let _ = writeln!(
        out,
        "<p>All defaults are filled in.</p>\n\
         <details><summary>Complete scenario {}</summary><pre tabindex=\"0\">{}</pre></details>",
        escaped(&view.summary.scenario),
        text.join("\n")
    );
    out
}
