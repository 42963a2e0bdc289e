//! Direction of a transfer or of a packet.

/// Direction of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Downlink: server to station.
    Down,
    /// Uplink: station to server.
    Up,
}

impl Direction {
    /// Key of its stream in scenario files.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Direction::Down => "down",
            Direction::Up => "up",
        }
    }

    /// Direction of a packet of a workload whose datagrams are not answered, by its number: even numbers go up.
    #[must_use]
    pub const fn of_packet(sequence: u64) -> Self {
        if sequence.is_multiple_of(2) {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    /// Number of the operation that is packet `number` of this direction, from 0.
    #[must_use]
    pub const fn operation(self, number: u64) -> u64 {
        number
            .saturating_mul(2)
            .saturating_add(matches!(self, Direction::Down) as u64)
    }
}
