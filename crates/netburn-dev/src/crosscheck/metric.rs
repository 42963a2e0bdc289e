//! Metrics of a comparison.

/// Metric of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Goodput of all flows together in Mbit/s.
    Total,
    /// Goodput in Mbit/s of this station's flow: the mean of all identical stations, because their shares are random.
    Goodput(usize),
    /// Median round trip in ms of this station's probes: the median of all identical stations.
    RoundTrip(usize),
}

impl Metric {
    /// Name and unit, stations counted from 1.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Metric::Total => "goodput of all, Mbit/s".to_owned(),
            Metric::Goodput(station) => format!("goodput of station {} and those like it, Mbit/s", station + 1),
            Metric::RoundTrip(station) => format!("round trip of station {} and those like it, ms", station + 1),
        }
    }
}
