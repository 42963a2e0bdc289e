//! The map of a week: the delay and the loss of each hour, as one page.

use crate::html::{document, escaped};
use netburn_record::UnixTime;
use netburn_watch::Part;
use netburn_watch::week::{Cell, Day, Grade};
use std::fmt::Write as _;

/// Style of the map, with the colours of ColorBrewer's sequential scheme YlOrBr (2003), which people with colour blindness
/// can distinguish. The text on each colour has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).
const STYLE: &str = "<style>\n\
.week{border-collapse:separate;border-spacing:2px;font-size:.75rem;table-layout:fixed;width:100%;min-width:52rem}\n\
.week th,.week td{padding:0;border:0;text-align:center;vertical-align:middle;font-weight:normal}\n\
.week tbody th{text-align:left;white-space:nowrap}\n.week .day{width:6.5rem}\n\
.week td a,.week td span,.key span{display:block;line-height:1.7rem;border-radius:2px;text-decoration:none}\n\
.week td a:hover,.week td a:focus{outline:2px solid currentColor}\n\
.key{display:flex;flex-wrap:wrap;gap:.4rem;font-size:.8rem;padding:0;list-style:none}\n.key span{padding:0 .6rem}\n\
.g0{background:#ffffe5;color:#333}.g1{background:#fee391;color:#333}.g2{background:#fe9929;color:#222}\n\
.g3{background:#cc4c02;color:#fff}.g4{background:#7a2503;color:#fff}.g5{background:#1a1a1a;color:#fff}\n\
.g6{background:#d9d9d9;color:#333}.gap{border:1px dashed #999;box-sizing:border-box;line-height:1.6rem!important}\n\
.g0,.g5{box-shadow:inset 0 0 0 1px #999}\n</style>\n";

/// The page. `now` is the time of its writing, and local time is `offset_s` seconds ahead of UTC. Links lead to the pages
/// of the hours, beside this page.
#[must_use]
pub fn page(days: &[Day], now: UnixTime, offset_s: i32) -> String {
    let written = local(now, offset_s);
    let mut body = format!(
        "{STYLE}<main>\n<h1>The last seven days</h1>\n<p>Each cell is one hour. Its number is the delay (round trip) \
         within which 95 % of the probes were answered, in milliseconds. A dashed cell is a gap: the computer was off, or \
         nothing was recorded. Select a cell for the report of its hour. Times are local. Written {}.</p>\n{}",
        escaped(&written),
        key()
    );
    if days.is_empty() {
        body.push_str("<p>There is no complete hour yet.</p>\n");
    }
    for part in Part::ALL {
        let is_probed = days
            .iter()
            .any(|day| day.cells[part.index()].iter().any(Option::is_some));
        if is_probed {
            let _ = write!(
                body,
                "<section>\n<h2>{}</h2>\n{}</section>\n",
                heading(part),
                table(days, part)
            );
        }
    }
    body.push_str("</main>\n");
    document("netburn watch: the last seven days", &body, &[])
}

const fn heading(part: Part) -> &'static str {
    match part {
        Part::Near => "To the router (near)",
        Part::Line => "To the first hop beyond the router (line)",
        Part::Server => "To the server (server)",
    }
}

const fn meaning(grade: Grade) -> &'static str {
    match grade {
        Grade::VeryShort => "at most 20 ms",
        Grade::Short => "at most 50 ms",
        Grade::Medium => "at most 100 ms",
        Grade::Long => "at most 200 ms",
        Grade::VeryLong => "more than 200 ms, or more than 5 % lost",
        Grade::Down => "down: half or more lost",
        Grade::Mute => "this host answers no pings",
    }
}

fn key() -> String {
    let each = Grade::ALL.iter().map(|grade| {
        let class = class(*grade);
        format!("<li><span class=\"{class}\">{}</span></li>", escaped(meaning(*grade)))
    });
    format!(
        "<ul class=\"key\" aria-label=\"Colours\">{}<li><span class=\"gap\">gap</span></li></ul>\n",
        each.collect::<String>()
    )
}

fn class(grade: Grade) -> String {
    format!("g{}", grade as u8)
}

/// The rows are days, the columns are hours.
fn table(days: &[Day], part: Part) -> String {
    let mut out = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table class=\"week\"><caption>{caption}, \
         95th percentile in ms</caption>\n<thead><tr><th scope=\"col\" class=\"day\">Day</th>",
        caption = heading(part)
    );
    for hour in 0..24 {
        let _ = write!(out, "<th scope=\"col\">{hour:02}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for day in days {
        let _ = write!(out, "<tr><th scope=\"row\">{} {}</th>", day.weekday, day.date);
        for (hour, cell) in day.cells[part.index()].iter().enumerate() {
            out.push_str("<td>");
            match cell {
                Some(cell) => out.push_str(&filled(day, hour, cell)),
                None => out.push_str("<span class=\"gap\" role=\"img\" aria-label=\"gap\">&nbsp;</span>"),
            }
            out.push_str("</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn filled(day: &Day, hour: usize, cell: &Cell) -> String {
    let grade = cell.grade();
    let number = match (grade, cell.result.p95) {
        (Grade::Mute, _) => "–".to_owned(),
        (Grade::Down, _) => "down".to_owned(),
        (_, Some(p95)) if p95.as_millis_f64() < 9.95 => format!("{:.1}", p95.as_millis_f64()),
        (_, Some(p95)) => format!("{:.0}", p95.as_millis_f64()),
        (_, None) => "?".to_owned(),
    };
    let p95 = match cell.result.p95 {
        Some(p95) => format!("95 % within {:.1} ms", p95.as_millis_f64()),
        None => "the 95th percentile is unknown".to_owned(),
    };
    let lost = format!(
        "{} of {} probes lost ({:.1} %)",
        cell.result.lost,
        cell.result.answered + cell.result.lost,
        cell.loss() * 100.0
    );
    let state = match grade {
        Grade::Mute => "this host answers no pings",
        Grade::Down => "down",
        _ => p95.as_str(),
    };
    let text = format!(
        "{} {}, {hour:02} to {:02} h: {state}, {lost}",
        day.weekday,
        day.date,
        hour + 1
    );
    format!(
        "<a class=\"{}\" href=\"{}/report.html\" title=\"{text}\" aria-label=\"{text}\">{number}</a>",
        class(grade),
        escaped(&cell.folder),
        text = escaped(&text)
    )
}

/// Local time to the minute: `2026-12-01 14:05`.
fn local(now: UnixTime, offset_s: i32) -> String {
    let local = UnixTime(now.0.saturating_add(i64::from(offset_s) * 1_000_000_000)).rfc3339();
    local[..16].replace('T', " ")
}
