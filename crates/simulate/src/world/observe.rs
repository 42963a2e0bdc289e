//! What can be seen from outside, in rows: the air by station every tenth of a second, connections, links, changes.

use super::World;
use super::load::End;
use netburn_network::{Network, StationGain, StationSeen};
use netburn_record::{AirRow, ConnectionRow, EventKind, EventRow, LinkRow, Row, Side};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};

/// How often links are looked at.
const LINKS: Duration = Duration::from_secs(1);

/// What was seen last.
#[derive(Debug)]
pub(crate) struct Observer {
    stations: Vec<StationSeen>,
    /// When links are looked at next.
    links: Instant,
}

impl Observer {
    pub(super) fn new<P: std::fmt::Debug + Send + 'static>(plan: &Plan, network: &Network<P>) -> Self {
        let stations = 0..plan.stations.len() as u16;
        Observer {
            stations: stations.map(|station| network.station_seen(station)).collect(),
            links: Instant::ZERO - plan.baseline,
        }
    }

    /// Rows for the tenth of a second that ends at `now`.
    pub(super) fn look<P: std::fmt::Debug + Send + 'static>(
        &mut self,
        now: Instant,
        network: &mut Network<P>,
        rows: &mut Vec<Row>,
    ) {
        while let Some(changed) = network.poll_change() {
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
        for (before, station) in self.stations.iter_mut().zip(0_u16..) {
            let seen = network.station_seen(station);
            let gain = seen.since(before);
            *before = seen;
            rows.push(Row::Air(air_row(station, now - super::TICK, &gain)));
        }
        if now >= self.links {
            self.links = now + LINKS;
            for station in 0..self.stations.len() as u16 {
                let link = network.link_seen(station);
                rows.push(Row::Link(LinkRow {
                    station,
                    at: now,
                    signal: link.signal.map(|signal| signal.as_hundredths()),
                    rx_rate_bps: Some(link.rate_down.as_bps()),
                    tx_rate_bps: Some(link.rate_up.as_bps()),
                    ..LinkRow::default()
                }));
            }
        }
    }
}

fn air_row(station: u16, at: Instant, gain: &StationGain) -> AirRow {
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

impl World {
    /// TCP_INFO of every open connection, as both ends see it.
    pub(super) fn look_at_connections(&mut self) {
        for connection in self.connections.iter().flatten() {
            for (end, side) in [(End::Client, Side::Station), (End::Server, Side::Server)] {
                let host = &connection.ends[end.index()];
                if !host.endpoint.is_established() {
                    continue;
                }
                let info = host.endpoint.info();
                let micros = |span: Duration| u32::try_from(span.as_nanos() / 1_000).unwrap_or(u32::MAX);
                self.rows.push(Row::Connection(ConnectionRow {
                    station: connection.station,
                    workload: self.users[connection.user].watched.workload(),
                    side,
                    port: port(connection.serial),
                    at: self.now,
                    rtt_us: info.srtt.map_or(0, micros),
                    rtt_var_us: micros(info.rttvar),
                    cwnd: info.cwnd,
                    retransmits: info.retransmits as u32,
                    delivery_rate_bps: info.delivery_rate.map_or(0, |rate| rate.as_bps()),
                    bytes_acked: host.acknowledged,
                    bytes_received: host.received,
                }));
            }
        }
    }
}

/// The station's port of a connection: like a host's ports, they begin again once they have run out.
pub(super) const fn port(serial: u32) -> u16 {
    (1_024 + serial % 64_000) as u16
}
