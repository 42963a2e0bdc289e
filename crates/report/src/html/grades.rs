//! Familiar grades of each probe, with their scales.

use super::{cells, escaped};
use crate::text::grades::{NOT_VERDICTS, bufferbloat_scale, class, directions, loaded, needs, probes, score};
use netburn_analysis::format::span;
use netburn_analysis::view::View;
use std::fmt::Write as _;

/// A table of bufferbloat letters and AIM classes, and one of QoO scores.
pub(super) fn grades(view: &View) -> String {
    let dash = || "–".to_owned();
    let (mut letters, mut scores) = (Vec::new(), Vec::new());
    let mut profiles: Vec<String> = Vec::new();
    for (station, workload, grades) in probes(&view.summary) {
        let name = format!("{station}, {}", workload.name);
        let bufferbloat = &grades.bufferbloat;
        let letter = match (&bufferbloat.letter, bufferbloat.increase_ms) {
            (Some(letter), Some(increase)) => format!("{letter}, +{}", span(increase)),
            _ => needs(&bufferbloat.missing),
        };
        let mut row = vec![name.clone(), letter, bufferbloat.idle_ms.map_or_else(dash, span)];
        row.extend(directions(bufferbloat).map(|(_, latency)| latency.map_or_else(dash, loaded)));
        row.extend(grades.aim.iter().map(class));
        letters.push(row);
        let mut row = vec![name];
        row.extend(grades.qoo.iter().map(|grade| match grade.score {
            Some(points) => score(points),
            None => needs(&grade.missing),
        }));
        scores.push(row);
        profiles = grades
            .qoo
            .iter()
            .map(|grade| format!("{} ({})", grade.profile, grade.source))
            .collect();
    }
    if letters.is_empty() {
        return String::new();
    }
    let head = [
        "probe",
        "bufferbloat (dslreports)",
        "idle, mean",
        "increase under download",
        "under upload",
        "under both at once",
        "AIM streaming",
        "AIM gaming",
        "AIM calls",
    ]
    .map(str::to_owned);
    let qoo_head: Vec<String> = std::iter::once("probe".to_owned()).chain(profiles).collect();
    let mut out = String::new();
    let notes = [
        NOT_VERDICTS.to_owned(),
        bufferbloat_scale() + ".",
        "AIM (Cloudflare): bad, poor, average, good, great, from points for idle latency, its increase under load, jitter, loss and the download rate.".to_owned(),
        "QoO (Quality of Outcome): 100 at the optimal latency and loss of a use, 0 at the unacceptable ones, for round trips. The program in brackets defines these limits.".to_owned(),
    ];
    let _ = writeln!(out, "{}", cells("Bufferbloat and AIM", &head, &letters));
    let _ = writeln!(out, "{}", cells("QoO, 0 to 100", &qoo_head, &scores));
    for note in notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&note));
    }
    out
}
