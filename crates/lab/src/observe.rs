//! Rows about the channel and the stations while the lab runs.

use crate::packet::Segment;
use netburn_medium::geometry::Position;
use netburn_network::Network;
use netburn_network_rows::Observer;
use netburn_record::Row;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Duration, Instant};

/// Statistics of one station over the last 100 ms, for the live view.
#[derive(Debug, Clone, PartialEq)]
pub struct StationSnapshot {
    /// Share of the airtime that its frames occupied, in both directions, 0 to 1.
    pub airtime: f64,
    /// Mean number of MPDUs per A-MPDU.
    pub aggregate: f64,
    /// Packets queued for the station and at it.
    pub backlog: u64,
    /// Rate of the bytes delivered to the station.
    pub down: BitRate,
    /// Rate of the bytes delivered from the station.
    pub up: BitRate,
    /// PHY rate of the last transmission to the station; `None` if there was none since its signal or MCS was set.
    pub rate: Option<BitRate>,
    /// Power of the access point's signal at the station.
    pub signal: Option<Dbm>,
    /// Position of the station; `None` if its signals do not follow from a position.
    pub position: Option<Position>,
}

/// Samples the stations for rows and for the live view.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// `None` before the start of the network.
    observer: Option<Observer>,
    names: Vec<String>,
    /// True if the PHY rate is known, by station. The rate of a wired station is always known.
    rated: Vec<bool>,
    at: Instant,
}

impl Sampler {
    pub(crate) fn new(plan: &Plan) -> Sampler {
        Sampler {
            observer: None,
            names: plan.stations.iter().map(|station| station.name.clone()).collect(),
            rated: plan.stations.iter().map(|station| station.link.is_some()).collect(),
            at: Instant::ZERO,
        }
    }

    /// Records the counters at the start of a network.
    pub(crate) fn begin(&mut self, network: &Network<Segment>) {
        self.at = Instant::from_nanos(i64::MIN / 2);
        self.observer = Some(Observer::new(network, self.at));
    }

    /// Adds rows for the time since the last call, about 100 ms. Returns the stations' statistics.
    pub(crate) fn sample(
        &mut self,
        now: Instant,
        network: &mut Network<Segment>,
        rows: &mut Vec<Row>,
    ) -> Vec<StationSnapshot> {
        let Some(observer) = &mut self.observer else {
            return Vec::new();
        };
        let span = now.since(self.at).as_secs_f64().clamp(1e-3, 1.0);
        let began = now - Duration::from_nanos((span * 1e9) as u64);
        self.at = now;
        let (names, rated) = (&self.names, &mut self.rated);
        let gains = observer.sample((began, now), network, rows, |changed| {
            for setting in &changed.settings {
                if let Setting::Station(name, StationSetting::Quality(_)) = setting
                    && let Some(station) = names.iter().position(|of| of == name)
                {
                    rated[station] = false;
                }
            }
        });
        let rate = |bytes: u64| BitRate::from_bps((bytes as f64 * 8.0 / span) as u64);
        let stations = gains.iter().zip(rated).zip(0_u16..);
        let snapshot = stations.map(|((gain, rated), station)| {
            let link = network.link_stats(station);
            *rated |= !gain.airtime_down.is_zero();
            StationSnapshot {
                airtime: (gain.airtime_down.as_secs_f64() + gain.airtime_up.as_secs_f64()) / span,
                aggregate: gain.mpdus as f64 / gain.transmissions.max(1) as f64,
                backlog: gain.backlog,
                down: rate(gain.bytes_down),
                up: rate(gain.bytes_up),
                rate: rated.then_some(link.rate_down),
                signal: link.signal,
                position: network.position(station),
            }
        });
        snapshot.collect()
    }
}
