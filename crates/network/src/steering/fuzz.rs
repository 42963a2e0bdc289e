//! Views of stations, decoded from bytes, and the laws that must hold for all decisions.

use super::{Order, StationView, Steerer, TargetView, VIEW_INTERVAL};
use netburn_medium::config::{Band, Steering as SteeringConfig, SteeringPolicy};
use netburn_medium::fuzz::Bytes;
use netburn_units::{BitRate, Db, Dbm, Duration, Instant};
use std::collections::BTreeSet;

const POLICIES: [SteeringPolicy; 4] = [
    SteeringPolicy::Usteer,
    SteeringPolicy::Dawn,
    SteeringPolicy::Load,
    SteeringPolicy::Prefer5Ghz,
];
const BANDS: [Band; 3] = [Band::Ghz2_4, Band::Ghz5, Band::Ghz6];
const SIGNALS: [f64; 6] = [-30.0, -55.0, -62.5, -69.9, -75.0, -90.0];
const STATIONS: usize = 3;

/// Runs a network's steering and checks the laws:
///
/// - The next timeout is stable, and strictly later after it was handled.
/// - Each decision is for a station in the view, at most one for each station and view.
/// - Only stations that support 802.11v get transition requests, and only those that support 802.11k get
///   beacon requests.
/// - A request names radios of the station's network, each once, and not the one that it has joined.
/// - No station is disassociated without a request before, or if the network does not disassociate.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let config = SteeringConfig {
        policy: bytes.one_of(&POLICIES),
        trigger: bytes.one_of(&[None, Some(Dbm::from_dbm(-70))]),
        margin: bytes.one_of(&[None, Some(Db::from_db(6))]),
        score: bytes.one_of(&[None, Some(0), Some(u32::MAX)]),
        disassociate: bytes.one_of(&[None, Some(true), Some(false)]),
        ..SteeringConfig::default()
    };
    let Some(steerer) = Steerer::new(Instant::ZERO, &config) else {
        return;
    };
    let mut world = World {
        steerer,
        may_disassociate: config.disassociate != Some(false),
        asked: BTreeSet::new(),
        stations: (0..STATIONS).map(|client| station(client, &mut bytes)).collect(),
    };
    while !bytes.is_empty() {
        match bytes.below(8) {
            0..=3 => world.advance(),
            4 => {
                let client = bytes.below(STATIONS);
                world.stations[client] = station(client, &mut bytes);
            }
            5 => {
                let view = &mut world.stations[bytes.below(STATIONS)];
                view.current = bytes.below(view.targets.len());
                view.connected = Duration::ZERO;
            }
            6 => {
                let at = world.steerer.poll_timeout();
                world
                    .steerer
                    .handle_answer(at, bytes.below(STATIONS), bytes.below(2) == 1);
            }
            _ => {
                for _ in 0..bytes.byte() {
                    world.advance();
                }
            }
        }
    }
}

/// An arbitrary state of a station.
fn station(client: usize, bytes: &mut Bytes<'_>) -> StationView {
    let count = 1 + bytes.below(4);
    let targets: Vec<TargetView> = (0..count)
        .map(|index| TargetView {
            radio: index,
            ap: index / 2,
            band: bytes.one_of(&BANDS),
            ht: bytes.below(2) == 1,
            vht: bytes.below(2) == 1,
            load: bytes.one_of(&[0.0, 0.4, 0.69, 0.71, 1.0]),
            known: bytes
                .one_of(&[None, Some(Duration::ZERO), Some(Duration::from_secs(31))])
                .map(|age| (bytes.one_of(&SIGNALS), age)),
        })
        .collect();
    StationView {
        client,
        current: bytes.below(count),
        signal: bytes.one_of(&SIGNALS),
        connected: bytes.one_of(&[Duration::ZERO, Duration::from_secs(59), Duration::from_secs(61)]),
        idle: bytes.one_of(&[Duration::ZERO, Duration::from_secs(11)]),
        uplink_rate: bytes.one_of(&[BitRate::from_mbps(6), BitRate::from_mbps(200)]),
        airtime: bytes.one_of(&[Duration::ZERO, Duration::from_millis(300)]),
        reports: bytes.below(2) == 1,
        transitions: bytes.below(2) == 1,
        targets,
    }
}

struct World {
    steerer: Steerer,
    may_disassociate: bool,
    /// Clients that have got a request, with the target that they had joined.
    asked: BTreeSet<(usize, usize)>,
    stations: Vec<StationView>,
}

impl World {
    /// Handles the next timeout at its time.
    fn advance(&mut self) {
        let now = self.steerer.poll_timeout();
        assert_eq!(self.steerer.poll_timeout(), now, "stable");
        for due in self.steerer.handle_timers(now) {
            assert!(self.may_disassociate && self.asked.contains(&due), "{due:?}");
        }
        if self.steerer.needs_view(now) {
            for view in &mut self.stations {
                view.connected += VIEW_INTERVAL;
            }
            self.view(now);
        }
        assert!(self.steerer.poll_timeout() > now, "{now}");
    }

    fn view(&mut self, now: Instant) {
        let mut decided = BTreeSet::new();
        for decision in self.steerer.handle_view(now, &self.stations) {
            let client = decision.client;
            assert!(decided.insert(client), "two decisions for {client}");
            let view = self.stations.get(client).expect("a station of the view");
            match decision.order {
                Order::Measure => assert!(view.reports, "a beacon request without 802.11k"),
                Order::Request { candidates, .. } => {
                    assert!(view.transitions, "a transition request without 802.11v");
                    let different: BTreeSet<usize> = candidates.iter().copied().collect();
                    assert_eq!(different.len(), candidates.len(), "{candidates:?}");
                    assert!(!different.contains(&view.current), "the own radio");
                    assert!(
                        different.iter().all(|target| *target < view.targets.len()),
                        "{candidates:?}"
                    );
                    self.asked.insert((client, view.current));
                }
                Order::Disassociate => {
                    let asked = self.asked.iter().any(|(asked, _)| *asked == client);
                    assert!(self.may_disassociate && asked, "{client}");
                }
            }
        }
    }
}
