//! Familiar grades of each probe, with their scales.

use super::{cells, escaped};
use crate::text::grades::{NOT_VERDICTS, bufferbloat_scale, class, directions, loaded, needs, probes, score};
use netburn_analysis::format::span;
use netburn_analysis::view::View;
use netburn_record::summary::Grades;
use std::fmt::Write as _;

/// A table with a row for each grade and a column for each probe.
pub(super) fn grades(view: &View) -> String {
    let mut head = vec!["grade".to_owned()];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (station, workload, grades) in probes(&view.summary) {
        head.push(format!("{station}, {}", workload.name));
        let column = column(grades);
        // All probes have the same grades.
        rows.resize_with(column.len(), Vec::new);
        for (row, (grade, value)) in rows.iter_mut().zip(column) {
            if row.is_empty() {
                row.push(grade);
            }
            row.push(value);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    let notes = [
        NOT_VERDICTS.to_owned(),
        bufferbloat_scale(),
        "AIM (Cloudflare): the classes are bad, poor, average, good and great. Idle latency, its increase under load, jitter, loss and the download rate give points. Their sum determines the class.".to_owned(),
        "QoO (Quality of Outcome): the score is 100 up to the optimal latency and loss of a use, and 0 from the unacceptable values on. Latency is that of round trips. The program in brackets defines these limits.".to_owned(),
    ];
    let _ = writeln!(out, "{}", cells("Bufferbloat, QoO and AIM", &head, &rows));
    for note in notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escaped(&note));
    }
    out
}

/// Names and values of a probe's grades.
fn column(grades: &Grades) -> Vec<(String, String)> {
    let dash = || "–".to_owned();
    let bufferbloat = &grades.bufferbloat;
    let letter = match (&bufferbloat.letter, bufferbloat.increase_ms) {
        (Some(letter), Some(increase)) => format!("{letter}, +{}", span(increase)),
        _ => needs(&bufferbloat.missing),
    };
    let mut column = vec![
        ("bufferbloat (dslreports)".to_owned(), letter),
        (
            "mean idle round trip".to_owned(),
            bufferbloat.idle_ms.map_or_else(dash, span),
        ),
    ];
    column.extend(directions(bufferbloat).map(|(direction, latency)| {
        let name = format!("increase under {direction}");
        (name, latency.map_or_else(dash, loaded))
    }));
    column.extend(grades.qoo.iter().map(|grade| {
        let name = format!("QoO of 100: {} ({})", grade.profile, grade.source);
        let value = grade.score.map_or_else(|| needs(&grade.missing), score);
        (name, value)
    }));
    column.extend(grades.aim.iter().map(|grade| {
        let name = format!("AIM: {} (Cloudflare)", grade.name);
        (name, class(grade))
    }));
    column
}
