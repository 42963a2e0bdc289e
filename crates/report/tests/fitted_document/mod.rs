//! A document of a fit, written by hand.

/// A value of the station in the first phase, in which the caller downloads alone.
fn observed(station: &str, percentile: Option<u8>, measured: f64, [low, median, high]: [f64; 3]) -> serde_json::Value {
    let (quantity, target, direction) = match percentile {
        Some(_) => ("latency", Some("near"), None),
        None => ("goodput", None, Some("down")),
    };
    serde_json::json!({
        "phase": 1, "station": station, "quantity": quantity, "direction": direction, "target": target,
        "percentile": percentile, "measured": measured, "modelled": median, "interval": [low, high],
    })
}

/// A fit of which five of six values are inside their intervals, and all three of the television.
pub(crate) fn fit(stations: [&str; 2], foreign: &str) -> serde_json::Value {
    let [caller, tv] = stations;
    serde_json::json!({
        "schema": "netburn.fit/1",
        "explains": true,
        "misfit": 1.25,
        "disciplines": [{ "queue": "fifo", "probability": 0.75 }, { "queue": foreign, "probability": 0.25 }],
        "estimates": [{
            "key": foreign, "unit": "Mbit/s", "median": 50.0, "interval": [40.0, 60.0], "identified": false,
            "needs": "a faster link",
        }],
        "phases": [{ "name": foreign, "flows": [{ "station": caller, "direction": "down" }] }],
        "observations": [
            observed(caller, None, 30.0, [35.0, 40.0, 45.0]),
            observed(caller, Some(50), 20.0, [10.0, 15.0, 20.0]),
            observed(caller, Some(90), 100.0, [50.0, 60.0, 200.0]),
            observed(tv, None, 12.0, [11.0, 12.0, 13.0]),
            observed(tv, Some(50), 2.0, [1.5, 2.0, 3.0]),
            observed(tv, Some(90), 5.0, [4.0, 5.0, 6.0]),
        ],
        "assumptions": [foreign],
        "gaps": [foreign],
        "unexplained": [foreign],
    })
}
