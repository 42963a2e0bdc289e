//! Goodput that a mesh kit leaves for a client of a second box, which reaches the first over the air.

use super::{Antennas, Layout, RatedRadio, chain};
use crate::config::Band;
use netburn_units::BitRate;

/// Goodput of a client that is two hops away, alone in the network and near its box. Closed forms for
/// links whose frames don't collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoHops {
    /// Band of the client.
    pub band: Band,
    /// Goodput of the client's link alone, in bit/s.
    pub client: BitRate,
    /// The backhaul uses the same radio: goodput of the backhaul alone, and of both hops, in bit/s.
    /// Each hop takes its airtime: 1/(1/R1 + 1/R2).
    pub shared: (BitRate, BitRate),
    /// The backhaul uses another radio: its band, its goodput alone, and the goodput of both hops, in
    /// bit/s. The slower link limits: min(R1, R2). `None`: the box has no other radio above 2.4 GHz.
    pub dedicated: Option<(Band, BitRate, BitRate)>,
}

/// Goodput two hops away, for the fastest radio above 2.4 GHz of each box. `None` without such a
/// radio.
#[must_use]
pub fn two_hops(layout: &Layout, client: &Antennas) -> Option<TwoHops> {
    let fast = || {
        let radios = layout.radios.iter().enumerate();
        radios.filter(|(_, radio)| radio.band != Band::Ghz2_4)
    };
    // The boxes have the same radios, so all streams are common.
    let backhaul = |radio: &RatedRadio| {
        let own = Antennas {
            inputs: radio.streams,
            outputs: radio.streams,
            streams: radio.streams,
        };
        chain(radio, &own, 1).goodput
    };
    let (place, radio) =
        fast().max_by_key(|(place, radio)| (chain(radio, client, 1).goodput, std::cmp::Reverse(*place)))?;
    let alone = chain(radio, client, 1).goodput;
    let other = fast().filter(|(other, _)| *other != place);
    let other = other.map(|(_, radio)| (radio.band, backhaul(radio)));
    let other = other.max_by_key(|(_, rate)| *rate);
    Some(TwoHops {
        band: radio.band,
        client: alone,
        shared: (backhaul(radio), alternating(backhaul(radio), alone)),
        dedicated: other.map(|(band, rate)| (band, rate, rate.min(alone))),
    })
}

/// Rate of two hops that share the air.
fn alternating(one: BitRate, other: BitRate) -> BitRate {
    let (one, other) = (u128::from(one.as_bps()), u128::from(other.as_bps()));
    let rate = (one * other).checked_div(one + other).unwrap_or(0);
    BitRate::from_bps(rate as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::decode;

    fn two_hops_of(rating: &str) -> TwoHops {
        let decoded = decode(rating.parse().unwrap(), 1).unwrap();
        two_hops(&decoded.best, &"2x2".parse().unwrap()).unwrap()
    }

    /// Equal links: half. 400 and 500 Mbit/s: 222.
    #[test]
    fn hops_alternating() {
        let mbps = BitRate::from_mbps;
        assert_eq!(alternating(mbps(400), mbps(400)), mbps(200));
        assert_eq!(alternating(mbps(400), mbps(500)).as_bps(), 222_222_222);
        assert_eq!(alternating(mbps(0), mbps(0)), mbps(0));
    }

    /// Two streams at both ends and one radio in 5 GHz: exactly half.
    #[test]
    fn a_kit_with_one_radio_halves() {
        let hops = two_hops_of("AC1200");
        assert_eq!(hops.band, Band::Ghz5);
        assert_eq!(hops.shared.0, hops.client);
        assert_eq!(hops.shared.1.as_bps(), hops.client.as_bps() / 2);
        assert_eq!(hops.dedicated, None);
    }

    /// AC3200 has two radios of three streams in 5 GHz: a dedicated backhaul is faster than the client.
    #[test]
    fn a_second_radio_keeps_the_rate() {
        let hops = two_hops_of("AC3200");
        let (band, backhaul, both) = hops.dedicated.unwrap();
        assert_eq!((band, both), (Band::Ghz5, hops.client));
        assert!(backhaul > hops.client);
    }

    /// The backhaul of AX5400 has four streams, the client two: 1/(1/2R + 1/R) is two thirds of R, a
    /// little less because the overhead of a frame doesn't shrink with its rate.
    #[test]
    fn a_faster_backhaul_costs_less() {
        let hops = two_hops_of("AX5400");
        let share = hops.shared.1.as_bps() as f64 / hops.client.as_bps() as f64;
        assert!((0.60..0.667).contains(&share), "{share}");
    }
}
