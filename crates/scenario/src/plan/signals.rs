//! Signals of radios at a station over time, instead of positions.

use super::RadioRef;
use netburn_units::{Dbm, Duration};

/// Signal of one radio at a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RadioSignal {
    /// The radio.
    pub radio: RadioRef,
    /// Times and signals, of which there is at least one, in the order of time. Between two the signal in dB changes
    /// linearly. Before the first and after the last it is constant.
    pub points: Vec<SignalPoint>,
}

/// Signal at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignalPoint {
    /// Time since the start of the load.
    pub time: Duration,
    /// Received power.
    pub signal: Dbm,
}

impl RadioSignal {
    /// Signal in dBm at `nanos` ns after the start of the load; before it, a negative number.
    #[must_use]
    pub fn at(&self, nanos: i64) -> f64 {
        let nanos = u64::try_from(nanos).unwrap_or(0);
        let next = self.points.partition_point(|point| point.time.as_nanos() <= nanos);
        let before = next.checked_sub(1).and_then(|index| self.points.get(index));
        match (before, self.points.get(next)) {
            (Some(from), Some(to)) => {
                let part = (nanos - from.time.as_nanos()) as f64 / (to.time.as_nanos() - from.time.as_nanos()) as f64;
                let (from, to) = (from.signal.as_dbm_f64(), to.signal.as_dbm_f64());
                from + part * (to - from)
            }
            (Some(only), None) | (None, Some(only)) => only.signal.as_dbm_f64(),
            (None, None) => 0.0,
        }
    }

    /// Time of the last point: the signal is constant from it on.
    #[must_use]
    pub fn end(&self) -> Duration {
        self.points.last().map_or(Duration::ZERO, |point| point.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RadioName;
    use netburn_medium::config::Band;

    /// −80 dBm at 2 s, −60 dBm at 12 s: 2 dB per second.
    #[test]
    fn linear_between_two_points_and_constant_outside() {
        let point = |seconds, dbm| SignalPoint {
            time: Duration::from_secs(seconds),
            signal: Dbm::from_dbm(dbm),
        };
        let signal = RadioSignal {
            radio: RadioRef {
                ap: "attic".to_owned(),
                radio: RadioName::first(Band::Ghz5),
            },
            points: vec![point(2, -80), point(12, -60), point(13, -90)],
        };
        for (seconds, dbm) in [
            (-3.0, -80.0),
            (0.0, -80.0),
            (2.0, -80.0),
            (7.0, -70.0),
            (9.5, -65.0),
            (12.0, -60.0),
            (12.5, -75.0),
            (13.0, -90.0),
            (99.0, -90.0),
        ] {
            let got = signal.at((seconds * 1e9) as i64);
            assert!((got - dbm).abs() < 1e-9, "{seconds} s: {got} for {dbm}");
        }
        assert_eq!(signal.end(), Duration::from_secs(13));
    }
}
