//! Sums of rows. They saturate: a sum that does not fit stays at the maximum.

use crate::row::{AirRow, IntervalRow};

/// Content that was moved, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByteSum {
    /// Bytes to the station.
    pub down: u64,
    /// Bytes from the station.
    pub up: u64,
}

/// Airtime rows of a station, summed up. The fields are described at [`AirRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AirSum {
    /// Number of rows.
    pub rows: u64,
    /// Airtime of data to the station, in ns.
    pub airtime_down: u64,
    /// Airtime of data from the station, in ns.
    pub airtime_up: u64,
    /// Data PPDUs.
    pub transmissions: u64,
    /// MPDUs in these PPDUs.
    pub mpdus: u64,
    /// Retransmissions among these MPDUs.
    pub retries: u64,
    /// Packets queued at the end of each interval, added up. Divided by `rows`, they are the mean.
    pub backlog: u64,
    /// Maximum number of packets queued at the end of an interval.
    pub max_backlog: u64,
    /// Dropped packets.
    pub drops: u64,
    /// Packets that got a congestion mark.
    pub marks: u64,
    /// Airtime of networks that are not modelled, in ns.
    pub others: u64,
}

impl ByteSum {
    /// Adds a row.
    pub fn put(&mut self, row: &IntervalRow) {
        self.add(&ByteSum {
            down: row.bytes_down,
            up: row.bytes_up,
        });
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &ByteSum) {
        self.down = self.down.saturating_add(other.down);
        self.up = self.up.saturating_add(other.up);
    }

    /// Bytes in both directions.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.down.saturating_add(self.up)
    }
}

impl AirSum {
    /// Adds a row.
    pub fn put(&mut self, row: &AirRow) {
        self.add(&AirSum {
            rows: 1,
            airtime_down: row.airtime_down.as_nanos(),
            airtime_up: row.airtime_up.as_nanos(),
            transmissions: row.transmissions,
            mpdus: row.mpdus,
            retries: row.retries,
            backlog: row.backlog,
            max_backlog: row.backlog,
            drops: row.drops,
            marks: row.marks,
            others: row.others.unwrap_or_default().as_nanos(),
        });
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &AirSum) {
        self.rows = self.rows.saturating_add(other.rows);
        self.airtime_down = self.airtime_down.saturating_add(other.airtime_down);
        self.airtime_up = self.airtime_up.saturating_add(other.airtime_up);
        self.transmissions = self.transmissions.saturating_add(other.transmissions);
        self.mpdus = self.mpdus.saturating_add(other.mpdus);
        self.retries = self.retries.saturating_add(other.retries);
        self.backlog = self.backlog.saturating_add(other.backlog);
        self.max_backlog = self.max_backlog.max(other.max_backlog);
        self.drops = self.drops.saturating_add(other.drops);
        self.marks = self.marks.saturating_add(other.marks);
        self.others = self.others.saturating_add(other.others);
    }

    /// Airtime of data in both directions, in ns.
    #[must_use]
    pub fn airtime(&self) -> u64 {
        self.airtime_down.saturating_add(self.airtime_up)
    }

    /// Mean number of MPDUs in a data PPDU; `None` without a PPDU.
    #[must_use]
    pub fn mean_aggregate(&self) -> Option<f64> {
        (self.transmissions > 0).then(|| self.mpdus as f64 / self.transmissions as f64)
    }

    /// Share of the MPDUs that were retransmissions, 0 to 1; `None` without MPDUs.
    #[must_use]
    pub fn retry_share(&self) -> Option<f64> {
        (self.mpdus > 0).then(|| self.retries as f64 / self.mpdus as f64)
    }

    /// Mean number of packets queued at the end of an interval; `None` without rows.
    #[must_use]
    pub fn mean_backlog(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.backlog as f64 / self.rows as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Duration;

    #[test]
    fn rows_are_added_up_by_field() {
        let mut bytes = ByteSum::default();
        for (down, up) in [(1_000, 10), (2_000, 20)] {
            bytes.put(&IntervalRow {
                bytes_down: down,
                bytes_up: up,
                ..IntervalRow::default()
            });
        }
        assert_eq!((bytes, bytes.total()), (ByteSum { down: 3_000, up: 30 }, 3_030));

        let mut air = AirSum::default();
        assert_eq!(
            (air.mean_aggregate(), air.retry_share(), air.mean_backlog()),
            (None, None, None)
        );
        for (times, others) in [(1, None), (3, Some(Duration::from_nanos(500)))] {
            air.put(&AirRow {
                airtime_down: Duration::from_nanos(100 * times),
                airtime_up: Duration::from_nanos(10 * times),
                transmissions: 2 * times,
                mpdus: 16 * times,
                retries: 4 * times,
                backlog: 5 * times,
                drops: 6 * times,
                marks: 7 * times,
                others,
                ..AirRow::default()
            });
        }
        let expected = AirSum {
            rows: 2,
            airtime_down: 400,
            airtime_up: 40,
            transmissions: 8,
            mpdus: 64,
            retries: 16,
            backlog: 20,
            max_backlog: 15,
            drops: 24,
            marks: 28,
            others: 500,
        };
        assert_eq!((air, air.airtime()), (expected, 440));
        let means = (air.mean_aggregate(), air.retry_share(), air.mean_backlog());
        assert_eq!(means, (Some(8.0), Some(0.25), Some(10.0)));
    }

    #[test]
    fn sums_stay_at_the_maximum() {
        let mut bytes = ByteSum { down: u64::MAX, up: 1 };
        bytes.add(&ByteSum { down: 1, up: 1 });
        assert_eq!((bytes, bytes.total()), (ByteSum { down: u64::MAX, up: 2 }, u64::MAX));
        let mut air = AirSum::default();
        for _ in 0..2 {
            air.put(&AirRow {
                airtime_down: Duration::from_nanos(u64::MAX),
                airtime_up: Duration::from_nanos(1),
                ..AirRow::default()
            });
        }
        assert_eq!(
            (air.airtime_down, air.airtime_up, air.airtime()),
            (u64::MAX, 2, u64::MAX)
        );
    }
}
