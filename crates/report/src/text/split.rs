//! Table of the delays of Wi-Fi, internet line and server.

use crate::sanitise::{sanitise, wrap};
use crate::table::{Cell, left, render, right};
use netburn_analysis::format;
use netburn_record::Summary;
use netburn_record::summary::{DelaySummary, SplitSummary};

/// Meaning of the parts.
pub(crate) const NOTE: &str = "Wi-Fi: round trip to the access point. Line: from there to the first hop beyond the router. Server: beyond that hop. Idle: median before the load. Added: increase over the idle value.";

/// One part of a station's path.
pub(crate) struct Part<'a> {
    /// Station.
    pub(crate) station: &'a str,
    /// Name of the part.
    pub(crate) name: &'static str,
    /// Its delays.
    pub(crate) delay: DelaySummary,
}

/// Parts of all stations with a split, in the order of the path from the station to the server.
pub(crate) fn parts(summary: &Summary) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for station in &summary.stations {
        let Some(split) = &station.split else { continue };
        let SplitSummary {
            wifi,
            line,
            server,
            line_and_server,
            ..
        } = *split;
        let known = [
            ("Wi-Fi", Some(wifi)),
            ("line", line),
            ("server", server),
            ("line and server", line_and_server),
        ];
        parts.extend(known.into_iter().filter_map(|(name, delay)| {
            Some(Part {
                station: &station.name,
                name,
                delay: delay?,
            })
        }));
    }
    parts
}

impl Part<'_> {
    /// Idle, median, p95, and the two increases, with units; `–` if unknown.
    pub(crate) fn values(&self) -> [String; 5] {
        let of = &self.delay;
        let all = [of.idle_ms, of.p50_ms, of.p95_ms, of.added_p50_ms(), of.added_p95_ms()];
        all.map(|value| value.map_or_else(|| "–".to_owned(), difference))
    }
}

/// A time in ms with its unit. Differences can be slightly below zero, because two probes are not sent at one instant.
fn difference(ms: f64) -> String {
    if ms < 0.0 {
        format!("-{}", format::span(-ms))
    } else {
        format::span(ms)
    }
}

/// The table and its note; no lines without a split.
pub(super) fn lines(summary: &Summary, width: usize, colour: bool) -> Vec<String> {
    let parts = parts(summary);
    if parts.is_empty() {
        return Vec::new();
    }
    let mut last = "";
    let rows: Vec<Vec<Cell>> = parts
        .iter()
        .map(|part| {
            let name = if part.station == last { "" } else { part.station };
            last = part.station;
            let values = part.values().map(Cell::from);
            [sanitise(name).into(), part.name.to_owned().into()]
                .into_iter()
                .chain(values)
                .collect()
        })
        .collect();
    let columns = [
        left("STATION"),
        left("DELAY OF"),
        right("IDLE"),
        right("MEDIAN"),
        right("P95"),
        right("ADDED"),
        right("ADDED P95"),
    ];
    let mut lines = render(&columns, &rows, 2, width, colour);
    lines.extend(wrap(NOTE, width, "  "));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary() -> Summary {
        let delay =
            |idle: f64, p50: f64, p95: f64| json!({ "count": 600, "idle_ms": idle, "p50_ms": p50, "p95_ms": p95 });
        let split = json!({ "wifi": delay(0.5, 1.5, 3.5), "line": delay(10.0, 150.0, 190.0),
                            "server": delay(10.0, 9.5, 12.0) });
        let station = |name: &str, split: serde_json::Value| {
            json!({ "name": name, "verdict": "none", "throughput_mbps": 0.0, "airtime_share": null, "idle_latency_ms": null,
                    "split": split, "workloads": [] })
        };
        let document = json!({ "schema": "netburn.summary/1", "run": "x", "scenario": "house", "environment": "simulate",
            "seed": 1, "duration_s": 60.0, "verdict": "none", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 0.0, "airtime_jain": null },
            "stations": [station("phone\u{1b}", split), station("tv", json!(null))], "repeats": [], "intervals": {} });
        serde_json::from_value(document).unwrap()
    }

    /// Added: 1.5 − 0.5, 3.5 − 0.5, 150 − 10, 190 − 10, 9.5 − 10 and 12 − 10 ms.
    #[test]
    fn each_part_has_a_row() {
        let text = lines(&summary(), 120, false).join("\n");
        let expected = [
            "STATION  DELAY OF     IDLE   MEDIAN      P95    ADDED  ADDED P95",
            "phone\u{fffd}   Wi-Fi      500 µs  1.50 ms  3.50 ms  1.00 ms    3.00 ms",
            "         line      10.0 ms   150 ms   190 ms   140 ms     180 ms",
            "         server    10.0 ms  9.50 ms  12.0 ms  -500 µs    2.00 ms",
        ];
        let found: Vec<&str> = text.lines().take(4).map(str::trim_end).collect();
        assert_eq!(found, expected, "{text}");
        assert!(text.ends_with(NOTE) || text.contains("Wi-Fi: round trip"), "{text}");
    }

    #[test]
    fn without_a_split_there_is_no_table() {
        let mut summary = summary();
        summary.stations.remove(0);
        assert!(lines(&summary, 80, false).is_empty());
        assert!(parts(&summary).is_empty());
    }
}
