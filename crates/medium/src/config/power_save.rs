//! Power save of a station.

use netburn_units::Duration;

/// When a station switches its receiver off, and how it learns that packets wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PowerSaveMode {
    /// Never.
    Off,
    /// Legacy power save (802.11-2020 clause 11.2.3) with the timeout of Linux: it dozes after a time
    /// without packets, and beacons report that packets wait.
    Legacy,
    /// Unscheduled automatic power save delivery (clause 11.2.3.5): it always dozes, and each of its
    /// frames triggers the delivery of the packets that wait.
    UApsd,
    /// Individual target wake time (802.11ax-2021 clause 26.8): it is awake in its service periods only.
    Twt,
}

/// Power save of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerSave {
    /// Mode.
    pub mode: PowerSaveMode,
    /// Time without packets until it dozes, with [`Legacy`](PowerSaveMode::Legacy). Linux: 100 ms
    /// (`dynamic_ps_timeout`, set in `ieee80211_recalc_ps`).
    pub timeout: Duration,
    /// It wakes for each beacon of this number, with [`Legacy`](PowerSaveMode::Legacy) and
    /// [`UApsd`](PowerSaveMode::UApsd).
    pub listen_interval: u16,
    /// Time from one service period to the next, with [`Twt`](PowerSaveMode::Twt). 802.11 has a mantissa
    /// times a power of two, in µs. The default is a choice of this model.
    pub twt_interval: Duration,
    /// Length of a service period. 802.11 has multiples of 256 µs. The default is a choice of this
    /// model.
    pub twt_service_period: Duration,
}

impl Default for PowerSave {
    fn default() -> Self {
        PowerSave {
            mode: PowerSaveMode::Legacy,
            timeout: Duration::from_millis(100),
            listen_interval: 1,
            twt_interval: Duration::from_micros(65_536),
            twt_service_period: Duration::from_micros(8_192),
        }
    }
}
