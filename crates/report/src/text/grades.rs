//! Lines about the familiar grades of each probe.

use crate::sanitise::sanitise;
use netburn_analysis::format::{fine_percent, span};
use netburn_quality::grade::bufferbloat::Scale;
use netburn_record::Summary;
use netburn_record::summary::{AimGrade, BufferbloatGrade, Grades, LoadedLatency, Missing, WorkloadSummary};

/// Maximum number of probes with grades in text.
const MAX_PROBES: usize = 4;

/// Sentence below all grades.
pub(crate) const NOT_VERDICTS: &str =
    "These grades are not verdicts: each has its own scale, and none of them uses the goals of the workloads.";

/// Every probe that has grades, with the names of its station and its workload.
pub(crate) fn probes(summary: &Summary) -> impl Iterator<Item = (&str, &WorkloadSummary, &Grades)> {
    summary.stations.iter().flat_map(|station| {
        let probes = station.workloads.iter();
        probes.filter_map(|workload| Some((station.name.as_str(), workload, workload.grades.as_ref()?)))
    })
}

/// Three lines for each probe: bufferbloat, QoO, AIM.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    let mut more = 0_usize;
    for (station, workload, grades) in probes(summary) {
        if lines.len() >= 3 * MAX_PROBES {
            more += 1;
            continue;
        }
        let name = format!("{}, {}", sanitise(station), sanitise(&workload.name));
        lines.extend([
            format!("{name}: {}.", bufferbloat(&grades.bufferbloat)),
            format!(
                "{name}: {}.",
                qoo(grades, workload.probe.and_then(|probe| probe.lost_share))
            ),
            format!("{name}: {}.", aim(&grades.aim)),
        ]);
    }
    if lines.is_empty() {
        return lines;
    }
    if more > 0 {
        lines.push(format!("--format json shows the grades of {more} more."));
    }
    lines.push(NOT_VERDICTS.to_owned());
    lines
}

/// The directions of the bulk load by name.
pub(crate) fn directions(of: &BufferbloatGrade) -> [(&'static str, Option<&LoadedLatency>); 3] {
    [
        ("download", of.download.as_ref()),
        ("upload", of.upload.as_ref()),
        ("download and upload at once", of.both.as_ref()),
    ]
}

/// `A, B and C`.
pub(crate) fn needs(missing: &[Missing]) -> String {
    let texts: Vec<String> = missing.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => String::new(),
        [one] => format!("needs {one}"),
        [rest @ .., last] => format!("needs {} and {last}", rest.join(", ")),
    }
}

/// Scale of the bufferbloat letters.
pub(crate) fn bufferbloat_scale() -> String {
    let scale = Scale::DSLREPORTS;
    let limits = scale.limits.iter();
    let limits: Vec<String> = limits
        .map(|(letter, limit)| format!("{} below {}", letter.as_str(), limit))
        .collect();
    format!(
        "Bufferbloat, scale of {} ({}): {}, else F. The letter is for the mean of two increases: under download and under upload. An increase is the mean round-trip time under load minus the idle mean.",
        scale.name,
        scale.source,
        limits.join(", ")
    )
}

/// An increase with its letter.
pub(crate) fn loaded(of: &LoadedLatency) -> String {
    format!("+{} ({})", span(of.increase_ms), of.letter)
}

fn bufferbloat(of: &BufferbloatGrade) -> String {
    let mut facts = vec![match (&of.letter, of.increase_ms) {
        (Some(letter), Some(increase)) => format!("bufferbloat {letter} (scale of {}), +{}", of.scale, span(increase)),
        _ => format!("no bufferbloat letter (scale of {})", of.scale),
    }];
    let directions = directions(of).into_iter();
    let parts: Vec<String> = directions
        .filter_map(|(name, latency)| Some(format!("{name} {}", loaded(latency?))))
        .collect();
    if !parts.is_empty() {
        facts.push(parts.join(", "));
    }
    if let (false, Some(idle)) = (parts.is_empty(), of.idle_ms) {
        facts.push(format!("idle {} mean", span(idle)));
    }
    if !of.missing.is_empty() {
        facts.push(format!("a letter {}", needs(&of.missing)));
    }
    facts.join("; ")
}

/// A score without decimals, rounded down.
pub(crate) fn score(score: f64) -> String {
    format!("{:.0}", score.floor())
}

fn qoo(grades: &Grades, lost: Option<f64>) -> String {
    let mut sources: Vec<(&str, Vec<String>)> = Vec::new();
    for grade in &grades.qoo {
        let text = match grade.score {
            Some(points) => format!("{} {}", grade.profile, score(points)),
            None => format!("{} {}", grade.profile, needs(&grade.missing)),
        };
        match sources.last_mut() {
            Some((source, texts)) if *source == grade.source => texts.push(text),
            _ => sources.push((&grade.source, vec![text])),
        }
    }
    let sources = sources
        .into_iter()
        .map(|(source, texts)| format!("{} ({source})", texts.join(", ")));
    let scores: Vec<String> = sources.collect();
    let lost = lost.map_or_else(String::new, |lost| format!("; {} lost", fine_percent(lost)));
    format!("QoO of 100, round trip: {}{lost}", scores.join("; "))
}

/// Class with its points, or what is missing.
pub(crate) fn class(of: &AimGrade) -> String {
    match (&of.class, of.points) {
        (Some(class), Some(points)) => format!("{class} ({points} points)"),
        _ => needs(&of.missing),
    }
}

fn aim(grades: &[AimGrade]) -> String {
    let same = grades.windows(2).all(|pair| pair[0].missing == pair[1].missing);
    if let (true, Some(first)) = (same, grades.first().filter(|grade| !grade.missing.is_empty())) {
        return format!("no AIM class (Cloudflare): {}", needs(&first.missing));
    }
    let grades = grades.iter().map(|grade| format!("{} {}", grade.name, class(grade)));
    format!("AIM (Cloudflare): {}", grades.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::summary::QooGrade;

    fn increase(increase_ms: f64, letter: &str) -> Option<LoadedLatency> {
        Some(LoadedLatency {
            samples: 400,
            mean_ms: 2.0 + increase_ms,
            increase_ms,
            letter: letter.to_owned(),
        })
    }

    #[test]
    fn a_letter_has_its_scale_and_its_parts() {
        let grade = BufferbloatGrade {
            scale: "dslreports".to_owned(),
            idle_ms: Some(2.0),
            download: increase(80.0, "C"),
            upload: increase(4.0, "A+"),
            both: increase(120.0, "C"),
            increase_ms: Some(42.0),
            letter: Some("B".to_owned()),
            missing: Vec::new(),
        };
        assert_eq!(
            bufferbloat(&grade),
            "bufferbloat B (scale of dslreports), +42.0 ms; download +80.0 ms (C), upload +4.00 ms (A+), \
             download and upload at once +120 ms (C); idle 2.00 ms mean"
        );
        let partial = BufferbloatGrade {
            upload: None,
            both: None,
            increase_ms: None,
            letter: None,
            missing: vec![Missing::UploadAlone],
            ..grade
        };
        assert_eq!(
            bufferbloat(&partial),
            "no bufferbloat letter (scale of dslreports); download +80.0 ms (C); idle 2.00 ms mean; \
             a letter needs 6 probes while stations only upload"
        );
        let none = BufferbloatGrade {
            download: None,
            missing: vec![Missing::Idle, Missing::Load],
            ..partial
        };
        assert_eq!(
            bufferbloat(&none),
            "no bufferbloat letter (scale of dslreports); a letter needs 6 probes before the load and 6 probes while \
             a station downloads or uploads"
        );
    }

    #[test]
    fn scores_are_rounded_down_and_grouped_by_source() {
        let grade = |profile: &str, source: &str, score: Option<f64>| QooGrade {
            profile: profile.to_owned(),
            source: source.to_owned(),
            path: "round trip".to_owned(),
            score,
            missing: match score {
                Some(_) => Vec::new(),
                None => vec![Missing::Probes {
                    needed: 300,
                    found: 120,
                }],
            },
        };
        let grades = Grades {
            qoo: vec![
                grade("games", "goresponsiveness", None),
                grade("browsing", "LibreQoS", Some(99.99)),
                grade("backup", "LibreQoS", Some(0.0)),
            ],
            ..Grades::default()
        };
        assert_eq!(
            qoo(&grades, Some(0.002)),
            "QoO of 100, round trip: games needs 300 probes (found 120) (goresponsiveness); browsing 99, backup 0 \
             (LibreQoS); 0.2 % lost"
        );
    }

    #[test]
    fn classes_have_their_points_or_a_reason() {
        let grade = |name: &str, points: Option<u32>, missing: &[Missing]| AimGrade {
            name: name.to_owned(),
            points,
            class: points.map(|_| "good".to_owned()),
            missing: missing.to_vec(),
        };
        let some = [
            grade("streaming", None, &[Missing::OwnDownload]),
            grade("gaming", Some(25), &[]),
        ];
        assert_eq!(
            aim(&some),
            "AIM (Cloudflare): streaming needs a download of the same station, gaming good (25 points)"
        );
        let none = [
            grade("gaming", None, &[Missing::Upload]),
            grade("calls", None, &[Missing::Upload]),
        ];
        assert_eq!(
            aim(&none),
            "no AIM class (Cloudflare): needs 6 probes while a station uploads"
        );
    }

    #[test]
    fn the_scale_lists_its_limits() {
        let text = bufferbloat_scale();
        assert!(
            text.contains("A+ below 5 ms, A below 30 ms, B below 60 ms, C below 200 ms, D below 400 ms, else F"),
            "{text}"
        );
    }
}
