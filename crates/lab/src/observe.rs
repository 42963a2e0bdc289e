//! What can be seen of the air while the lab runs, as rows.

use crate::packet::Segment;
use netburn_network::{Network, StationDelta, StationStats};
use netburn_record::{AirRow, EventKind, EventRow, LinkRow, Row};
use netburn_scenario::Plan;
use netburn_scenario::plan::{Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Duration, Instant};

/// How often links are looked at.
const LINKS: Duration = Duration::from_secs(1);

/// One station, as the live view shows it: over the last tenth of a second.
#[derive(Debug, Clone, PartialEq)]
pub struct StationLook {
    /// Share of the air that its frames took, both ways.
    pub airtime: f64,
    /// MPDUs in an aggregate, on average.
    pub aggregate: f64,
    /// Packets that wait for it, or at it.
    pub backlog: u64,
    /// Bits a second that reached it.
    pub down: BitRate,
    /// Bits a second that came from it.
    pub up: BitRate,
    /// The data rate of what was sent to it last; `None` where nothing was since its signal or MCS was set.
    pub rate: Option<BitRate>,
    /// The power of the access point's signal at it.
    pub signal: Option<Dbm>,
}

/// What was seen last.
#[derive(Debug)]
pub(crate) struct Observer {
    stations: Vec<StationStats>,
    names: Vec<String>,
    /// Whether its rate is known, by station: one on a wire has no other.
    rated: Vec<bool>,
    at: Instant,
    links: Instant,
}

impl Observer {
    pub(crate) fn new(plan: &Plan) -> Observer {
        Observer {
            stations: vec![StationStats::default(); plan.stations.len()],
            names: plan.stations.iter().map(|station| station.name.clone()).collect(),
            rated: plan.stations.iter().map(|station| station.link.is_some()).collect(),
            at: Instant::ZERO,
            links: Instant::ZERO,
        }
    }

    /// A network begins.
    pub(crate) fn begin(&mut self, network: &Network<Segment>) {
        for (seen, station) in self.stations.iter_mut().zip(0_u16..) {
            *seen = network.station_stats(station);
        }
        self.links = Instant::from_nanos(i64::MIN / 2);
        self.at = self.links;
    }

    /// Rows for the time since the last look, about a tenth of a second.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        network: &mut Network<Segment>,
        rows: &mut Vec<Row>,
    ) -> Vec<StationLook> {
        while let Some(changed) = network.poll_change() {
            for setting in &changed.settings {
                if let Setting::Station(name, StationSetting::Quality(_)) = setting
                    && let Some(station) = self.names.iter().position(|of| of == name)
                {
                    self.rated[station] = false;
                }
            }
            let settings: Vec<String> = changed.settings.iter().map(ToString::to_string).collect();
            rows.push(Row::Event(EventRow {
                station: None,
                workload: None,
                at: changed.at,
                length: 0,
                kind: EventKind::Change,
                text: settings.join(", "),
            }));
        }
        let links = now >= self.links;
        let span = now.since(self.at).as_secs_f64().clamp(1e-3, 1.0);
        let began = now - Duration::from_nanos((span * 1e9) as u64);
        let mut looks = Vec::new();
        for (before, station) in self.stations.iter_mut().zip(0_u16..) {
            let (seen, link) = (network.station_stats(station), network.link_stats(station));
            let gain = seen.since(before);
            let rated = &mut self.rated[usize::from(station)];
            *rated |= !gain.airtime_down.is_zero();
            let rate = |bytes: u64| BitRate::from_bps((bytes as f64 * 8.0 / span) as u64);
            looks.push(StationLook {
                airtime: (gain.airtime_down.as_secs_f64() + gain.airtime_up.as_secs_f64()) / span,
                aggregate: gain.mpdus as f64 / gain.transmissions.max(1) as f64,
                backlog: gain.backlog,
                down: rate(gain.bytes_down),
                up: rate(gain.bytes_up),
                rate: rated.then_some(link.rate_down),
                signal: link.signal,
            });
            rows.push(Row::Air(air_row(station, began, &gain)));
            if links {
                rows.push(Row::Link(LinkRow {
                    station,
                    at: now,
                    signal: link.signal.map(|signal| signal.as_hundredths()),
                    rx_rate_bps: Some(link.rate_down.as_bps()),
                    tx_rate_bps: Some(link.rate_up.as_bps()),
                    ..LinkRow::default()
                }));
            }
            *before = seen;
        }
        if links {
            self.links = now + LINKS;
        }
        self.at = now;
        looks
    }
}

fn air_row(station: u16, at: Instant, gain: &StationDelta) -> AirRow {
    AirRow {
        station,
        at,
        airtime_down: gain.airtime_down,
        airtime_up: gain.airtime_up,
        transmissions: gain.transmissions,
        mpdus: gain.mpdus,
        retries: gain.retries,
        backlog: gain.backlog,
        drops: gain.drops,
        marks: gain.marks,
        others: gain.others,
    }
}
