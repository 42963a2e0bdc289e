//! Lines about the probes of workloads of kind `responsiveness`.

use crate::sanitise::sanitise;
use netburn_analysis::format::{short, span};
use netburn_record::Summary;
use netburn_record::summary::{LatencyMs, ProbeCountsSummary, ResponsivenessSummary, RpmPeriod};

/// Meaning of the values.
pub(crate) const NOTE: &str = "RPM is the number of round trips per minute (draft-ietf-ippm-responsiveness-09): below 300 poor, below 1000 fair, below 6000 good, else excellent. A foreign probe opens a connection and fetches one byte. A self probe fetches one byte on a connection with load. RPM is the mean of both rates, from the shortest 95 % of the times. A probe without a response counts with the time-out. The score of goresponsiveness is the rate of the mean of both times.";

/// Every such workload, with the names of its station and itself.
pub(crate) fn all(summary: &Summary) -> impl Iterator<Item = (&str, &str, &ResponsivenessSummary)> {
    summary.stations.iter().flat_map(|station| {
        let workloads = station.workloads.iter();
        workloads.filter_map(|workload| {
            let of = workload.responsiveness.as_ref()?;
            Some((station.name.as_str(), workload.name.as_str(), of))
        })
    })
}

/// `laptop, responsiveness: 1250 RPM (good): …`, and a line with the score of each period.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    for (station, workload, of) in all(summary) {
        let name = format!("{}, {}", sanitise(station), sanitise(workload));
        lines.push(format!("{name}: {}.", facts(of)));
        lines.push(format!("{name}: {}.", probes(of)));
        lines.extend(periods(&of.periods).map(|text| format!("{name}: {text}.")));
    }
    lines
}

/// A score: `1250`, or `–` if it is unknown.
pub(crate) fn score(rpm: Option<f64>) -> String {
    rpm.map_or_else(|| "–".to_owned(), |rpm| format!("{rpm:.0}"))
}

fn facts(of: &ResponsivenessSummary) -> String {
    let (Some(rpm), Some(band)) = (of.rpm, &of.band) else {
        return "no RPM, because there are no probes".to_owned();
    };
    let mut facts = vec![if of.foreign_only {
        format!("{rpm:.0} RPM ({band}) from foreign probes only, because the workload has no load of its own")
    } else {
        format!(
            "{rpm:.0} RPM ({band}): foreign probes {}, self probes {}",
            score(of.foreign_rpm),
            score(of.loaded_rpm)
        )
    }];
    facts.push(format!(
        "from medians {}, from p90 {}",
        score(of.median_rpm),
        score(of.p90_rpm)
    ));
    facts.extend(of.goresponsiveness_rpm.map(|rpm| format!("goresponsiveness {rpm:.0}")));
    facts.join("; ")
}

/// Times of the parts, and probes that were lost or late.
fn probes(of: &ResponsivenessSummary) -> String {
    let parts = [
        ("TCP", &of.tcp_ms),
        ("TLS", &of.tls_ms),
        ("HTTP", &of.http_ms),
        ("self", &of.self_ms),
    ];
    let parts = parts.iter().filter_map(|(what, times)| part(what, times.as_ref()?));
    let mut facts = vec![parts.collect::<Vec<_>>().join(", ")];
    facts.push(lost("foreign", of.foreign_probes));
    if !of.foreign_only {
        facts.push(lost("self", of.self_probes));
    }
    match of.load_failures {
        0 => {}
        1 => facts.push("the load failed once".to_owned()),
        count => facts.push(format!("the load failed {count} times")),
    }
    facts.retain(|fact| !fact.is_empty());
    facts.join("; ")
}

/// `TCP 20 ms median, 31 ms p95`
fn part(what: &str, times: &LatencyMs) -> Option<String> {
    let p95 = times.p95.map_or_else(String::new, |p95| format!(", {} p95", span(p95)));
    Some(format!("{what} {} median{p95}", span(times.p50?)))
}

/// `2 of 300 foreign probes without a response, 1 late`
fn lost(kind: &str, counts: ProbeCountsSummary) -> String {
    let late = match counts.late {
        0 => String::new(),
        late => format!(", {late} late"),
    };
    format!(
        "{} of {} {kind} probes without a response{late}",
        counts.lost, counts.due
    )
}

/// `RPM of each 5 s from 0 s: 1200, 900, 850`, of at most 60 periods, else the lowest and the highest.
fn periods(periods: &[RpmPeriod]) -> Option<String> {
    let first = periods.first()?;
    if periods.len() <= 60 {
        let scores: Vec<String> = periods.iter().map(|period| score(period.rpm)).collect();
        return Some(format!(
            "RPM of each 5 s from {} s: {}",
            short(first.start_s),
            scores.join(", ")
        ));
    }
    let known = periods.iter().filter_map(|period| Some((period.rpm?, period.start_s)));
    let known: Vec<(f64, f64)> = known.collect();
    let lowest = known.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let highest = known.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(format!(
        "the lowest RPM of 5 s is {:.0} from {} s, the highest {:.0} from {} s",
        lowest.0,
        short(lowest.1),
        highest.0,
        short(highest.1)
    ))
}
