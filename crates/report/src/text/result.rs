//! Result of a run in one sentence.

use netburn_record::Summary;
use netburn_workload::Verdict;

/// Reason for the verdict in one sentence.
pub(crate) fn sentence(summary: &Summary) -> String {
    if !summary.reasons.is_empty() {
        let reasons: Vec<String> = summary.reasons.iter().map(ToString::to_string).collect();
        return format!("The run could not be measured: {}.", reasons.join("; "));
    }
    let of = |verdict: Verdict| -> Vec<&str> {
        let those = summary.stations.iter().filter(|station| station.verdict == verdict);
        those.map(|station| station.name.as_str()).collect()
    };
    let judged = summary
        .stations
        .iter()
        .filter(|station| station.verdict != Verdict::None)
        .count();
    let parts: Vec<String> = [
        (Verdict::Fail, "missed"),
        (Verdict::Inconclusive, "could not be measured"),
        (Verdict::Marginal, "only just met"),
    ]
    .into_iter()
    .filter_map(|(verdict, verb)| {
        let names = of(verdict);
        let who = list(&names);
        Some(match (verdict, names.len()) {
            (_, 0) => return None,
            (Verdict::Inconclusive, _) => format!("{who} {verb}"),
            (_, count) => format!("{who} {verb} {} goals", possessive(count)),
        })
    })
    .collect();
    match (parts.is_empty(), judged) {
        (true, 0) => "No station had a goal.".to_owned(),
        (true, 1) => format!("{} met its goals.", list(&of(Verdict::Pass))),
        (true, n) => format!("All {n} stations with goals met them."),
        (false, _) => {
            let passed = of(Verdict::Pass);
            let rest = match passed.len() {
                0 => String::new(),
                count => format!("; {} met {} goals", list(&passed), possessive(count)),
            };
            if of(Verdict::Fail).is_empty() && of(Verdict::Inconclusive).is_empty() {
                format!("{}.", parts.join("; "))
            } else {
                format!("{}{rest}.", parts.join("; "))
            }
        }
    }
}

fn possessive(count: usize) -> &'static str {
    if count == 1 { "its" } else { "their" }
}

/// Names in a sentence: not more than six.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] if names.len() <= 6 => format!("{} and {last}", rest.join(", ")),
        _ => format!("{} and {} more", names[..5].join(", "), names.len() - 5),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    fn sentence(verdicts: &[(&str, &str)]) -> String {
        let station = |(name, verdict): &(&str, &str)| {
            json!({ "name": name, "verdict": verdict, "throughput_mbps": 0.0, "airtime_share": null, "idle_latency_ms": null,
                "workloads": [] })
        };
        let summary = json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "home", "environment": "simulate", "seed": 1, "duration_s": 60.0,
            "verdict": "fail", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null },
            "stations": verdicts.iter().map(station).collect::<Vec<_>>(), "repeats": [], "intervals": {} });
        super::sentence(&serde_json::from_value(summary).unwrap())
    }

    #[test]
    fn the_sentence_lists_the_stations_by_verdict() {
        let (tv, laptop, phone) = (("tv", "pass"), ("laptop", "fail"), ("phone", "inconclusive"));
        for (verdicts, wanted) in [
            (vec![tv, laptop], "laptop missed its goals; tv met its goals."),
            (vec![tv, phone], "phone could not be measured; tv met its goals."),
            (
                vec![tv, ("box", "pass"), laptop, phone],
                "laptop missed its goals; phone could not be measured; tv and box met their goals.",
            ),
            (vec![tv, ("box", "marginal")], "box only just met its goals."),
            (vec![tv, ("box", "none")], "tv met its goals."),
        ] {
            assert_eq!(sentence(&verdicts), wanted);
        }
    }
}
