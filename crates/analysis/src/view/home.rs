//! The home of a run: its devices, and which station joined what.

use super::Mark;
use netburn_network::PlannedNetwork;
use netburn_record::summary::{Summary, WifiSummary};
use netburn_record::{Environment, LinkChange};
use netburn_scenario::{Associations, HomeNode, Plan};
use std::collections::BTreeMap;

/// The home of a run.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct HomeView {
    /// Root of the tree: the server of a modelled home, or the network of real devices.
    pub root: HomeNode,
    /// Signal of each station at the start in dBm; `None` for a wire, and if it is unknown.
    pub signals_dbm: Vec<Option<f64>>,
    /// Number of roams of each station.
    pub roams: Vec<u64>,
}

impl HomeView {
    /// The home of a plan that a model ran, or of real devices that reported their access points. `None` if nothing is known.
    pub(super) fn new(plan: &Plan, environment: Environment, summary: &Summary, marks: &[Mark]) -> Option<Self> {
        let roamed = |station: usize| {
            let own =
                |mark: &&Mark| mark.station == Some(station) && matches!(mark.change, Some(LinkChange::Roamed { .. }));
            marks.iter().filter(own).count() as u64
        };
        let (root, signals_dbm) = match environment {
            Environment::Simulate | Environment::Lab if !plan.aps.is_empty() || plan.router.is_some() => modelled(plan),
            _ => reported(summary)?,
        };
        Some(HomeView {
            root,
            signals_dbm,
            roams: (0..plan.stations.len()).map(roamed).collect(),
        })
    }
}

fn modelled(plan: &Plan) -> (HomeNode, Vec<Option<f64>>) {
    let found = PlannedNetwork::new(plan).map_or_else(|_| Associations::default(), |network| network.associations);
    let signal = |station: usize| found.signals.get(station).copied().flatten();
    let signals = (0..plan.stations.len()).map(|station| Some(signal(station)?.as_dbm_f64()));
    (plan.home(&found), signals.collect())
}

/// A node for each radio of an access point that stations reported, and one for the others. `None` if no station reported any.
fn reported(summary: &Summary) -> Option<(HomeNode, Vec<Option<f64>>)> {
    let mut radios: BTreeMap<String, HomeNode> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut signals = Vec::new();
    for (station, of) in summary.stations.iter().enumerate() {
        let wifi = of.wifi.as_ref();
        signals.push(wifi.and_then(|wifi| wifi.signal_dbm).map(|[weakest, _]| weakest));
        match wifi.and_then(|wifi| Some((wifi, wifi.bssid.as_ref()?))) {
            Some((wifi, bssid)) => {
                let node = radios
                    .entry(bssid.clone())
                    .or_insert_with(|| HomeNode::leaf(radio(wifi, bssid), Vec::new()));
                node.stations.push(station);
            }
            None => unknown.push(station),
        }
    }
    if radios.is_empty() {
        return None;
    }
    let mut below: Vec<HomeNode> = radios.into_values().collect();
    if !unknown.is_empty() {
        below.push(HomeNode::leaf("link unknown", unknown));
    }
    let root = HomeNode {
        text: "network".to_owned(),
        stations: Vec::new(),
        below,
    };
    Some((root, signals))
}

/// `access point 02:00:00:00:01:00 of café, 5180 MHz, 80 MHz wide`.
fn radio(wifi: &WifiSummary, bssid: &str) -> String {
    let mut text = format!("access point {bssid}");
    if let Some(ssid) = &wifi.ssid {
        text.push_str(&format!(" of {ssid}"));
    }
    if let Some(frequency) = wifi.frequency_mhz {
        text.push_str(&format!(", {frequency} MHz"));
    }
    if let Some(width) = wifi.width_mhz {
        text.push_str(&format!(", {width} MHz wide"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn station(name: &str, wifi: &Value) -> Value {
        json!({ "name": name, "verdict": "none", "provisional": false, "throughput_mbps": 1.0, "airtime_share": null,
                "idle_latency_ms": null, "workloads": [], "wifi": wifi })
    }

    fn link(bssid: &str, weakest: f64) -> Value {
        json!({ "ssid": "home", "bssid": bssid, "frequency_mhz": 5180, "width_mhz": 80, "signal_dbm": [weakest, -40.0],
                "rx_mbps": null, "tx_mbps": null, "busy_share": null, "access_points": 1, "roams": 0, "longest_gap_ms": 0.0 })
    }

    fn summary(stations: &[Value]) -> Summary {
        serde_json::from_value(json!({
            "schema": "netburn.summary/1", "run": "r", "scenario": "s", "environment": "fleet", "seed": 1, "duration_s": 27.0,
            "verdict": "none", "provisional": false,
            "self_check": { "ok": true, "timer_lateness_us": { "p99": 0.0 }, "reasons": [] },
            "totals": { "throughput_mbps": 3.5, "airtime_jain": null },
            "stations": stations, "repeats": [], "intervals": {} }))
        .unwrap()
    }

    /// Two devices share an access point, one has another, and a browser reports no link.
    #[test]
    fn real_devices_are_grouped_by_the_radio_that_they_reported() {
        let [near, far] = ["02:00:00:00:00:01", "02:00:00:00:00:02"];
        let all = [
            station("laptop", &link(near, -50.0)),
            station("browser", &Value::Null),
            station("tv", &link(far, -70.0)),
            station("tablet", &link(near, -60.0)),
        ];
        let (root, signals) = reported(&summary(&all)).unwrap();
        let groups: Vec<(&str, &[usize])> = root
            .below
            .iter()
            .map(|node| (node.text.as_str(), &node.stations[..]))
            .collect();
        assert_eq!(
            groups,
            [
                (
                    "access point 02:00:00:00:00:01 of home, 5180 MHz, 80 MHz wide",
                    &[0, 3][..]
                ),
                ("access point 02:00:00:00:00:02 of home, 5180 MHz, 80 MHz wide", &[2]),
                ("link unknown", &[1]),
            ]
        );
        assert_eq!(signals, [Some(-50.0), None, Some(-70.0), Some(-60.0)]);
        assert_eq!(reported(&summary(&[station("browser", &Value::Null)])), None);
    }
}
