//! Self-contained pages. They load nothing, and can be opened from a disk or an e-mail.
//!
//! - [`report()`] – the page of a run.
//! - [`document()`], [`figure()`], [`escaped()`]: elements of every page.
//!
//! Charts are SVG; if scripts run, `web/shared/chart.js` draws them again for zooming and hovering.
//! Foreign text enters markup only through [`escaped()`], and scripts only through a JSON document
//! whose every `<` is escaped.

mod causes;
mod events;
mod facts;
mod fitted;
mod floor;
mod grades;
mod head;
mod home;
mod kinds;
mod remedies;
mod runs;
mod scenario;

pub use crate::chart::svg::escaped;
pub(crate) use head::with_code;
pub use runs::MAX_PAGES;

use crate::chart::{self, At, Chart, Theme, json, svg};
use crate::run_charts::{NEVER, OBSERVED, charts, sign};
use crate::style::Tone;
use crate::table::{Badge, Cell, Table};
use crate::timeline;
use netburn_analysis::view::{MarkKind, View};
use serde_json::Value;
use std::fmt::Write as _;

/// Nothing is loaded, and nothing is sent.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

const STYLE: &str = include_str!("../web/shared/style.css");
const CHART_STYLE: &str = include_str!("../web/vendor/uplot/uPlot.min.css");
const UPLOT: &str = include_str!("../web/vendor/uplot/uPlot.iife.min.js");

/// The modules, each after those that it imports.
const MODULES: [&str; 4] = [
    include_str!("../web/shared/theme.js"),
    include_str!("../web/shared/format.js"),
    include_str!("../web/shared/chart.js"),
    include_str!("../web/shared/page.js"),
];

/// The page of a run.
#[must_use]
pub fn report(view: &View) -> String {
    let charts = charts(view);
    let of = |ids: &[&str]| -> String {
        let wanted = charts.iter().filter(|chart| ids.contains(&chart.id.as_str()));
        wanted.map(figure).collect()
    };
    let mut body = head::head(view, &causes::what_to_do(view));
    let parts = [
        section("fit", "Model of the network", &fitted::fitted(view, &charts)),
        section("causes", "Likely causes", &causes::causes(view)),
        section(
            "remedies",
            "What would help",
            &view.remedies.as_ref().map_or_else(String::new, remedies::section),
        ),
        section("home", "Home", &home::home(view)),
        section("timeline", "Who did what when", &timeline_figure(view)),
        section("floor", "Floor plan", &floor::floor(view)),
        section("split", "Wi-Fi, line and server", &facts::split(view)),
        section(
            "access-points",
            "Access points",
            &(facts::access_points(view) + &of(&OBSERVED)),
        ),
        section("dscp", "Changed DSCP", &facts::dscp(view)),
        section("latency", "Latency", &of(&["latency-percentiles", "latency-over-time"])),
        section("throughput", "Throughput", &of(&["throughput-over-time"])),
        section("happened", "Events", &events::event_table(view)),
        section("idle", "Idle and loaded latency", &of(&["idle-and-loaded"])),
        section("grades", "Familiar grades", &grades::grades(view)),
        section("player", "Video", &of(&["buffer-over-time"])),
        section(
            "air",
            "Airtime",
            &of(&["airtime-shares", "airtime-over-time", "aggregates", "backlog-over-time"]),
        ),
        section(
            "wifi",
            "Wi-Fi",
            &(facts::wifi(view) + &of(&["signal-over-time", "link-rate-over-time"])),
        ),
        section("metrics", "All metrics", &facts::metrics(view)),
        section("rounds", "Runs", &runs::runs(view)),
        section("self_check", "Self-check", &facts::self_check(view)),
        section("scenario", "Scenario", &scenario::scenario(view)),
        section("environment", "Environment", &facts::environment(view)),
    ];
    body.extend(parts);
    document(&head::title(view), &body, &charts)
}

/// The stations over time; empty without any.
fn timeline_figure(view: &View) -> String {
    let drawn = timeline::svg(view, Theme::Page);
    if drawn.is_empty() {
        return String::new();
    }
    let own = |shown: &str| {
        view.marks
            .iter()
            .any(|mark| mark.station.is_some() && sign(mark.kind) == shown)
    };
    let signs = match meanings_of(own) {
        none if none.is_empty() => none,
        some => format!(" Signs: {some}."),
    };
    format!(
        "<figure class=\"chart\" id=\"who-when\">\n<figcaption><h3>{}</h3><p>Height: throughput of the station in both directions. \
         Red bar below: operations that were due then exceeded their latency goal or never ended.{}</p></figcaption>\n\
         <div class=\"static\">{drawn}</div>\n<details><summary>Table: {}</summary>{}</details>\n</figure>\n",
        timeline::TITLE,
        escaped(&signs),
        timeline::TITLE,
        cells(
            timeline::TITLE,
            &timeline::HEAD.map(str::to_owned),
            &timeline::rows(view)
        )
    )
}

/// A page. `body` is markup, `charts` are its charts.
#[must_use]
pub fn document(title: &str, body: &str, charts: &[Chart]) -> String {
    let data = Value::Array(charts.iter().map(json).collect());
    let mut out = String::with_capacity(body.len() + (1 << 18));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{CHART_STYLE}\n{STYLE}</style>\n</head>\n<body>\n{body}",
        escaped(title)
    );
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"charts\">{}</script>\n<script>\n{UPLOT}</script>\n<script type=\"module\">\n",
        for_script(&data)
    );
    for module in MODULES {
        out.push_str(&inlined(module));
    }
    out.push_str("</script>\n</body>\n</html>\n");
    out
}

/// A chart on a page: SVG, description, note and table.
#[must_use]
pub fn figure(chart: &Chart) -> String {
    let table = chart::table(chart);
    let mut out = format!(
        "<figure class=\"chart\" id=\"{id}\" data-chart=\"{id}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n\
         <div class=\"static\">{}</div>\n",
        escaped(&chart.title),
        escaped(&chart.description),
        svg(chart, Theme::Page),
        id = chart.id,
    );
    if !chart.note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&chart.note));
    }
    if !chart.marks.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">Marks: {}.</p>", meanings(&chart.marks));
    }
    let _ = writeln!(
        out,
        "<details><summary>Table: {}</summary>{}</details>\n</figure>",
        escaped(&chart.title),
        cells(&chart.title, &table.head, &table.rows)
    );
    out
}

/// A table of texts under its caption; the first cell of each row is its heading.
#[must_use]
pub fn cells(caption: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let row = |cells: &Vec<String>| -> String {
        cells
            .iter()
            .enumerate()
            .map(|(place, text)| td(place, &cell_text(text)))
            .collect()
    };
    framed(caption, head.iter().map(String::as_str), rows.iter().map(row))
}

/// A table; the first cell of each row is its heading. A column without a value is omitted.
#[must_use]
pub fn table(of: &Table) -> String {
    let is_filled = |column: &usize| *column < of.keys || of.rows.iter().any(|row| row[*column] != Cell::default());
    let shown: Vec<usize> = (0..of.columns.len()).filter(is_filled).collect();
    let head = shown.iter().map(|column| of.columns[*column].heading.as_ref());
    let row =
        |cells: &Vec<Cell>| -> String { shown.iter().map(|column| td(*column, &cell(&cells[*column]))).collect() };
    framed(of.caption, head, of.rows.iter().map(row))
}

/// A table with a note below it, below a heading; empty without rows.
pub(crate) fn titled(of: &Table, note: &str) -> String {
    if of.rows.is_empty() {
        return String::new();
    }
    format!("<h3>{}</h3>\n{}{}", escaped(of.caption), table(of), noted(note))
}

/// A note below a table.
pub(crate) fn noted(note: &str) -> String {
    format!("\n<p class=\"note\">{}</p>\n", escaped(note))
}

/// Head and rows in a region with a name. A wide table scrolls, with the keyboard too: its region can have the focus.
fn framed<'a>(caption: &str, head: impl Iterator<Item = &'a str>, rows: impl Iterator<Item = String>) -> String {
    let mut out = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption><thead><tr>",
        caption = escaped(caption)
    );
    for heading in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(heading));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let _ = writeln!(out, "<tr>{row}</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

fn td(column: usize, markup: &str) -> String {
    match column {
        0 => format!("<th scope=\"row\">{markup}</th>"),
        _ => format!("<td>{markup}</td>"),
    }
}

/// A cell as markup: its badge or its text, with its link, and its note.
fn cell(of: &Cell) -> String {
    if let Some(markup) = &of.markup {
        return markup.clone();
    }
    let mut out = match (&of.badge, of.tone) {
        (Some(badge), _) => self::badge(badge),
        (None, Tone::Heading) => format!("<strong>{}</strong>", cell_text(&of.text)),
        (None, _) => cell_text(&of.text),
    };
    if let Some(link) = &of.link {
        out = format!("<a href=\"{}\">{out}</a>", escaped(link));
    }
    if !of.note.is_empty() {
        let _ = write!(out, " <span class=\"quiet\">{}</span>", cell_text(&of.note));
    }
    out
}

/// A sign with its words. A provisional verdict has an asterisk.
pub(crate) fn badge(of: &Badge) -> String {
    let mark = if of.is_provisional { "*" } else { "" };
    format!(
        "<strong class=\"badge {}\"><span aria-hidden=\"true\">{}</span> {}{mark}</strong>",
        of.class, of.sign, of.words
    )
}

/// Units that stay with their number.
const UNITS: [&str; 17] = [
    "%", "µs", "ms", "s", "min", "m", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Hz", "MHz", "GHz", "dB", "dBm", "B", "kB",
];

/// Text of a table's cell as markup. A number and its unit stay on one line: the space between them is U+00A0.
pub(crate) fn cell_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(|end: char| ",;:)".contains(end));
        if UNITS.contains(&unit) && out.ends_with(|last: char| last.is_ascii_digit()) {
            out.push('\u{a0}');
        } else if place > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    escaped(&out)
}

/// A section of a page under its heading; empty without content.
#[must_use]
pub fn section(id: &str, heading: &str, content: &str) -> String {
    if content.is_empty() {
        String::new()
    } else {
        format!(
            "<section id=\"part-{id}\" aria-labelledby=\"h-{id}\">\n<h2 id=\"h-{id}\">{}</h2>\n{content}</section>\n",
            escaped(heading)
        )
    }
}

/// A document inside a script element. Characters that could end the element are escaped.
pub fn for_script(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A module as part of one script: without imports, and with its names in the common scope.
pub fn inlined(module: &str) -> String {
    let lines = module.lines().filter(|line| !line.starts_with("import "));
    let mut out = String::new();
    for line in lines {
        out.push_str(line.strip_prefix("export ").unwrap_or(line));
        out.push('\n');
    }
    out
}

/// Meanings of the signs of some marks.
fn meanings(marks: &[At]) -> String {
    meanings_of(|sign| marks.iter().any(|mark| mark.sign == sign))
}

/// Meanings of the signs that are used.
fn meanings_of(is_used: impl Fn(&str) -> bool) -> String {
    let kinds = MarkKind::ALL.map(|kind| (sign(kind), kind.name()));
    let all = kinds.into_iter().chain([(NEVER, "never finished")]);
    let used: Vec<String> = all
        .filter(|(sign, _)| is_used(sign))
        .map(|(sign, name)| format!("{sign} {name}"))
        .collect();
    used.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{numbers, words};
    use netburn_workload::Verdict;

    #[test]
    fn embedded_json_cannot_end_the_script() {
        let value = serde_json::json!({ "name": "</script><script>alert(1)</script>" });
        let text = for_script(&value);
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    /// A region that scrolls needs the focus for the keys, and a name for screen readers.
    #[test]
    fn a_table_is_a_named_region_that_can_have_the_focus() {
        let table = cells("A \"b\"", &["head".to_owned()], &[]);
        let region = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"A &quot;b&quot;\"><table>";
        assert!(table.starts_with(region), "{table}");
    }

    /// A verdict is a badge, a link surrounds its text, a note follows, and the page names the station of each row.
    #[test]
    fn each_part_of_a_cell_has_its_markup() {
        let linked = Cell {
            link: Some("run-1/\"x\"".to_owned()),
            note: "<1 ms".to_owned(),
            ..Cell::new("5 ms", Tone::Heading)
        };
        let row = |cell: Cell| vec![Cell::from("<tv>"), cell, Cell::default()];
        let of = Table {
            caption: "Runs",
            columns: vec![words("station").once(), numbers("value"), words("empty")],
            keys: 1,
            rows: vec![row(Cell::verdict(Verdict::Fail, true)), row(linked)],
        };
        let page = table(&of);
        for markup in [
            "<th scope=\"col\">station</th><th scope=\"col\">value</th></tr>",
            "<th scope=\"row\">&lt;tv&gt;</th><td><strong class=\"badge fail\"><span aria-hidden=\"true\">✗</span> fail*</strong></td></tr>",
            "<td><a href=\"run-1/&quot;x&quot;\"><strong>5\u{a0}ms</strong></a> <span class=\"quiet\">&lt;1\u{a0}ms</span></td></tr>",
        ] {
            assert!(page.contains(markup), "{markup} in {page}");
        }
        assert_eq!(page.matches("&lt;tv&gt;").count(), 2);
        assert_eq!(
            of.lines(80, false),
            ["STATION  VALUE", "<tv>     fail*", "          5 ms"]
        );
    }

    /// The space between a number and a unit of the SI or of a rate becomes U+00A0. Other spaces stay.
    #[test]
    fn a_number_and_its_unit_stay_on_one_line() {
        for (text, expected) in [
            ("41 ms", "41\u{a0}ms"),
            ("+40.0 ms (B)", "+40.0\u{a0}ms (B)"),
            ("9.5 m, 0 m", "9.5\u{a0}m, 0\u{a0}m"),
            (
                "20 Mbit/s for 80 % of 12 s",
                "20\u{a0}Mbit/s for 80\u{a0}% of 12\u{a0}s",
            ),
            ("(−61 dBm)", "(−61\u{a0}dBm)"),
            ("needs 6 probes", "needs 6 probes"),
            ("several ms", "several ms"),
            (" 7  s", " 7  s"),
            ("1 <B", "1 &lt;B"),
            ("", ""),
        ] {
            assert_eq!(cell_text(text), expected);
        }
        let row = ["5 s".to_owned(), "33 ms".to_owned()];
        let table = cells("Times", &[], &[row.to_vec()]);
        assert!(
            table.contains("<th scope=\"row\">5\u{a0}s</th><td>33\u{a0}ms</td>"),
            "{table}"
        );
    }

    /// An inlined module has no `import` or `export`, and nothing that could end its element.
    #[test]
    fn modules_become_one() {
        for module in MODULES {
            let text = inlined(module);
            assert!(!text.contains("\nexport ") && !text.contains("\nimport "), "{text}");
        }
        for text in MODULES.iter().chain([&UPLOT, &STYLE, &CHART_STYLE]) {
            let lower = text.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("</style") && !lower.contains("<!--"));
        }
    }

    /// Every mark of a chart has a meaning below it.
    #[test]
    fn each_kind_of_mark_has_a_meaning() {
        let mark = |sign: &str| At {
            x: 1.0,
            length: 0.0,
            sign: sign.to_owned(),
            label: String::new(),
            colour_index: None,
        };
        assert_eq!(meanings(&[mark("R"), mark("A"), mark("R")]), "R roam, A scan");
        let all: Vec<At> = MarkKind::ALL.map(|kind| mark(sign(kind))).into();
        assert_eq!(
            meanings(&all).split(", ").count(),
            MarkKind::ALL.len(),
            "each sign has one meaning"
        );
    }
}
