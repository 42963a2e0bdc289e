//! Arbitrary text as a rating and as antennas.

use crate::config::Rating;
use crate::rating::{Antennas, chain, decode};

/// Parses the bytes as both, and processes valid ones completely.
///
/// # Panics
/// If a parsed text isn't formatted the same, or a decoded sum is far from its rating.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (nodes, text) = match text.split_once('/') {
        Some((nodes, text)) => (nodes.parse().unwrap_or(1), text.to_owned()),
        None => (1, text.into_owned()),
    };
    let client = match text.parse::<Antennas>() {
        Ok(antennas) => {
            assert_eq!(antennas.to_string().parse(), Ok(antennas));
            antennas
        }
        Err(_) => Antennas {
            inputs: 2,
            outputs: 2,
            streams: 2,
        },
    };
    let Ok(rating) = text.parse::<Rating>() else { return };
    assert_eq!(rating.to_string(), text.to_uppercase());
    let Ok(decoded) = decode(rating, nodes) else { return };
    for layout in std::iter::once(&decoded.best).chain(&decoded.alternatives) {
        let sum = layout.sum().as_mbps_f64() * f64::from(decoded.nodes);
        let off = f64::from(rating.number) / sum - 1.0;
        assert!((-0.03..0.08).contains(&off), "{rating}: {sum}");
        for radio in &layout.radios {
            let chain = chain(radio, &client, nodes);
            assert!(chain.share <= chain.goodput && chain.goodput < chain.phy && chain.phy <= chain.rated);
        }
    }
}
