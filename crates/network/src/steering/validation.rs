//! Entry points for validation cases: decisions of a policy about one station.

use super::dawn::score;
use super::{Order, StationView, Steerer, TargetView, VIEW_INTERVAL};
use netburn_medium::config::{Band, Steering, SteeringPolicy};
use netburn_units::{BitRate, Duration, Instant};

/// A radio, as an access point knows it: 802.11n in 2.4 GHz, 802.11ac in the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteeringRadio {
    /// Band.
    pub band: Band,
    /// Signal of the station in dBm.
    pub signal: f64,
    /// Share of time in which the channel is busy, 0 to 1.
    pub load: f64,
}

impl SteeringRadio {
    fn target(&self, ap: usize) -> TargetView {
        TargetView {
            radio: ap,
            ap,
            band: self.band,
            ht: true,
            vht: self.band != Band::Ghz2_4,
            load: self.load,
            known: Some((self.signal, Duration::ZERO)),
        }
    }
}

/// DAWN's score of a radio.
#[must_use]
pub fn dawn_score(radio: &SteeringRadio) -> i32 {
    score(&radio.target(0), radio.signal, radio.load)
}

/// Time of the first request to a station that has joined the radio `own`. The radio `other` belongs to another access
/// point, or with `same_ap` to the same one. `None`: none within `span`. The station is idle, has been connected
/// for long, and supports 802.11k and 802.11v. `signal`: its signal at its radio at a time.
#[must_use]
pub fn first_request(
    config: &Steering,
    own: &SteeringRadio,
    other: &SteeringRadio,
    same_ap: bool,
    span: Duration,
    signal: impl Fn(Instant) -> f64,
) -> Option<Duration> {
    if config.policy == SteeringPolicy::None {
        return None;
    }
    let mut steerer = Steerer::new(Instant::ZERO, config)?;
    let mut second = other.target(usize::from(!same_ap));
    second.radio = 1;
    let mut now = Instant::ZERO;
    while now < Instant::ZERO + span {
        now += VIEW_INTERVAL;
        let view = StationView {
            client: 0,
            current: 0,
            signal: signal(now),
            connected: Duration::from_secs(1_000),
            idle: Duration::from_secs(20),
            uplink_rate: BitRate::from_mbps(6),
            airtime: Duration::ZERO,
            reports: true,
            transitions: true,
            targets: vec![own.target(0), second],
        };
        let decisions = steerer.handle_view(now, &[view]);
        if decisions.iter().any(|one| matches!(one.order, Order::Request { .. })) {
            return Some(now.since(Instant::ZERO));
        }
    }
    None
}
