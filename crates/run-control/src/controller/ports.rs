//! Assignment of the server's connection samples to stations.
//!
//! The server knows only the station's port. The station's own samples contain both, so they identify the
//! station. Two samples of one port belong to the same connection if they are at most [`WINDOW`] apart.
//! The limit is necessary because stations on one machine share and reuse its ports.

use netburn_record::ConnectionRow;
use netburn_units::Duration;
use std::collections::BTreeMap;

/// Maximum time between the samples of the two ends of a connection.
pub const WINDOW: Duration = Duration::from_secs(2);

/// Maximum number of the server's rows without a station.
pub const MAX_PENDING_ROWS: usize = 10_000;

/// Station and workload by port.
#[derive(Debug, Default)]
pub struct Ports {
    known: BTreeMap<u16, ConnectionRow>,
    waiting: BTreeMap<u16, Vec<ConnectionRow>>,
    count: usize,
    lost: u64,
}

impl Ports {
    /// Handles a station's row. Returns the server's rows that it identifies.
    pub fn handle_station(&mut self, row: &ConnectionRow) -> Vec<ConnectionRow> {
        self.known.insert(row.port, row.clone());
        let waiting = self.waiting.remove(&row.port).unwrap_or_default();
        self.count -= waiting.len();
        let (explained, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|other| near(row, other));
        self.lost += others.len() as u64;
        explained.into_iter().map(|other| with_station_of(row, other)).collect()
    }

    /// Handles a server's row. Returns it with its station if the station is known.
    pub fn handle_server(&mut self, row: ConnectionRow) -> Option<ConnectionRow> {
        match self.known.get(&row.port) {
            Some(station) if near(station, &row) => Some(with_station_of(station, row)),
            _ if self.count < MAX_PENDING_ROWS => {
                self.waiting.entry(row.port).or_default().push(row);
                self.count += 1;
                None
            }
            _ => {
                self.lost += 1;
                None
            }
        }
    }

    /// Number of the server's rows without a station so far.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.lost + self.count as u64
    }
}

fn near(one: &ConnectionRow, other: &ConnectionRow) -> bool {
    one.at.as_nanos().abs_diff(other.at.as_nanos()) <= WINDOW.as_nanos()
}

fn with_station_of(station: &ConnectionRow, row: ConnectionRow) -> ConnectionRow {
    ConnectionRow {
        station: station.station,
        workload: station.workload,
        ..row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::Side;
    use netburn_units::Instant;

    fn row(side: Side, station: u16, port: u16, at_ms: i64) -> ConnectionRow {
        ConnectionRow {
            station,
            workload: if side == Side::Station { 1 } else { u16::MAX },
            side,
            port,
            at: Instant::from_millis(at_ms),
            rtt_us: 100,
            rtt_var_us: 10,
            cwnd: 10,
            retransmits: 0,
            delivery_rate_bps: 0,
            bytes_acked: 0,
            bytes_received: 0,
        }
    }

    #[test]
    fn a_server_row_is_matched_to_its_station_in_either_order() {
        let mut ports = Ports::default();
        assert_eq!(ports.handle_server(row(Side::Server, u16::MAX, 4000, 0)), None);
        let explained = ports.handle_station(&row(Side::Station, 3, 4000, 100));
        assert_eq!(explained.len(), 1);
        assert_eq!(
            (explained[0].station, explained[0].workload, explained[0].side),
            (3, 1, Side::Server)
        );
        let later = ports.handle_server(row(Side::Server, u16::MAX, 4000, 2100)).unwrap();
        assert_eq!(later.station, 3);
        assert_eq!(ports.unexplained(), 0);
    }

    #[test]
    fn a_port_used_again_is_not_taken_for_the_old_station() {
        let mut ports = Ports::default();
        ports.handle_station(&row(Side::Station, 3, 4000, 0));
        assert_eq!(ports.handle_server(row(Side::Server, u16::MAX, 4000, 2001)), None);
        assert_eq!(ports.handle_station(&row(Side::Station, 5, 4000, 9000)), []);
        assert_eq!(ports.unexplained(), 1);
    }

    #[test]
    fn waiting_is_bounded() {
        let mut ports = Ports::default();
        for n in 0..=MAX_PENDING_ROWS {
            ports.handle_server(row(Side::Server, u16::MAX, (n % 60_000) as u16, 0));
        }
        assert_eq!((ports.count, ports.lost), (MAX_PENDING_ROWS, 1));
    }
}
