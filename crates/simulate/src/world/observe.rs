//! Rows from samples of the connections every 100 ms.

use super::World;
use super::payload::End;
use netburn_record::{ConnectionRow, Row, Side};
use netburn_units::Duration;

impl World {
    /// Produces TCP_INFO rows of every open connection, from both ends.
    pub(super) fn sample_connections(&mut self) {
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
                    workload: self.clients[connection.client].recorded.workload(),
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

/// Station's port of a connection: as in a host, port numbers wrap around.
pub(super) const fn port(serial: u32) -> u16 {
    (1_024 + serial % 64_000) as u16
}
