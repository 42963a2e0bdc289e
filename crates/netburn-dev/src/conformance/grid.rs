//! The cases of `--against kernel`: one TCP connection over a wire, for a grid of rate, round trip, loss, buffer and congestion
//! control.

use super::cases::Case;

/// Rates in Mbit/s.
const RATES: [u64; 3] = [10, 50, 200];
/// Round trips in ms.
const ROUND_TRIPS: [u64; 3] = [10, 40, 100];
/// Share of packets lost each way.
const LOSSES: [&str; 4] = ["0", "0.1", "1", "3"];
/// Buffers in percent of the bandwidth-delay product.
const BUFFERS: [u64; 3] = [50, 100, 400];
const CONTROLS: [&str; 3] = ["cubic", "reno", "bbr"];
/// Runs in each environment.
const RUNS: u32 = 5;

/// A third of the full grid, a Latin square: each pair of values of any two of rate, round trip and buffer occurs
/// equally often. It is shifted by one for each loss.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for cc in CONTROLS {
        for (l, loss) in LOSSES.into_iter().enumerate() {
            for (r, rate) in RATES.into_iter().enumerate() {
                for (t, round_trip) in ROUND_TRIPS.into_iter().enumerate() {
                    let buffer = BUFFERS[(r + t + l) % BUFFERS.len()];
                    cases.push(point(cc, rate, round_trip, loss, buffer));
                }
            }
        }
    }
    cases
}

fn point(cc: &str, rate: u64, round_trip: u64, loss: &str, buffer: u64) -> Case {
    let queue = rate * 1_000 * round_trip / 8 * buffer / 100;
    let case = Case::from_text(
        format!("kernel-{cc}-{rate}mbit-{round_trip}ms-{loss}%-{buffer}%"),
        "TCP over a wire",
        format!(
            r#"
duration = "15 s"
warmup = "3 s"
baseline = "0 s"
drain = "1 s"
[server]
cc = "{cc}"
link = {{ rate = "1 Gbit/s" }}
[station.a]
link = {{ rate = "{rate} Mbit/s", delay = "{delay} us", loss = "{loss} %", queue = "{queue} B" }}
workload = "download"
"#,
            delay = round_trip * 500,
        ),
    );
    let case = case.runs(RUNS).over_a_wire();
    // One without loss, one with much, one of each control.
    match (cc, rate, round_trip, loss) {
        ("cubic", 10, 10, "0") | ("reno", 10, 40, "1") | ("bbr", 50, 10, "0.1") => case.quick(),
        _ => case,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_grid_has_108_points_and_is_balanced() {
        let cases = all();
        assert_eq!(cases.len(), 108);
        for (position, values) in [(1, 3), (2, 3), (3, 3), (4, 4), (5, 3)] {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for case in &cases {
                *counts.entry(case.name.split('-').nth(position).unwrap()).or_default() += 1;
            }
            assert_eq!(counts.len(), values);
            assert!(
                counts.values().all(|count| *count == cases.len() / values),
                "{counts:?}"
            );
        }
    }

    /// 10 Mbit/s for 10 ms are 12 500 bytes.
    #[test]
    fn buffers_are_shares_of_the_product() {
        let case = point("cubic", 10, 10, "0", 50);
        assert!(case.scenario.contains("queue = \"6250 B\""), "{}", case.scenario);
        assert!(case.scenario.contains("delay = \"5000 us\""), "{}", case.scenario);
    }
}
