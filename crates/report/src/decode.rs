//! A decoded speed rating as JSON.

use netburn_medium::rating::{Antennas, Certainty, Decoded, Layout, RatedRadio, TwoHops, chain, two_hops};
use serde_json::{Value, json};

/// Goodput of a client two hops away, for the rating of a mesh. `None` for the rating of one access point.
#[must_use]
pub fn relayed(decoded: &Decoded, client: &Antennas) -> Option<TwoHops> {
    if decoded.nodes == 1 {
        return None;
    }
    two_hops(&decoded.best, client)
}

/// The decoded rating, the rates of a client of each radio, and its goodput as one of `stations` that are busy at once.
#[must_use]
pub fn json(decoded: &Decoded, client: &Antennas, stations: u32) -> Value {
    let layout = |layout: &Layout| {
        json!({
            "bands": layout.bands(),
            "sum_mbps": layout.sum().as_mbps_f64(),
            "radios": layout.radios.iter().map(radio_as_json).collect::<Vec<_>>(),
        })
    };
    let chains: Vec<Value> = decoded
        .best
        .radios
        .iter()
        .map(|radio| {
            let chain = chain(radio, client, stations);
            json!({
                "band": radio.band.name(),
                "rated_mbps": chain.rated.as_mbps_f64(),
                "streams": chain.streams,
                "width_mhz": chain.width.as_mhz(),
                "qam": 1_u32 << chain.bits,
                "phy_rate_mbps": chain.phy.as_mbps_f64(),
                "goodput_mbps": chain.goodput.as_mbps_f64(),
                "share_mbps": chain.share.as_mbps_f64(),
            })
        })
        .collect();
    json!({
        "schema": "netburn.decode/1",
        "rating": decoded.rating.to_string(),
        "nodes": decoded.nodes,
        "certainty": match decoded.certainty {
            Certainty::Likely => "likely",
            Certainty::Guess => "guess",
        },
        "best": layout(&decoded.best),
        "alternatives": decoded.alternatives.iter().map(layout).collect::<Vec<_>>(),
        "client": client.to_string(),
        "stations": stations,
        "chain": chains,
        "two_hops": relayed(decoded, client).map(|hops| json!({
            "band": hops.band.name(),
            "client_mbps": hops.client.as_mbps_f64(),
            "shared": { "backhaul_mbps": hops.shared.0.as_mbps_f64(), "goodput_mbps": hops.shared.1.as_mbps_f64() },
            "dedicated": hops.dedicated.map(|(band, backhaul, both)| json!({
                "band": band.name(),
                "backhaul_mbps": backhaul.as_mbps_f64(),
                "goodput_mbps": both.as_mbps_f64(),
            })),
        })),
    })
}

fn radio_as_json(radio: &RatedRadio) -> Value {
    json!({
        "band": radio.band.name(),
        "standard": radio.standard.name(),
        "streams": radio.streams,
        "width_mhz": radio.rated_mhz,
        "qam": 1_u32 << radio.bits,
        "beyond_standard": radio.beyond_standard(),
        "per_stream_mbps": radio.per_stream().as_mbps_f64(),
        "rate_mbps": radio.rate().as_mbps_f64(),
    })
}
