//! Link rates and signals of a station, by bin.

use super::Mean;
use netburn_medium::config::{Band, RadioConfig, Standard, Width};
use netburn_network::LinkRates;
use netburn_record::aggregate::{Bucketed, Buckets};
use netburn_record::{LinkRow, Modulation, Observable, ObservedRow, Phy};
use netburn_workload::Direction;

/// Link rates and signals of a station, with what its frames tell about its capabilities.
#[derive(Debug, Clone)]
pub(in crate::explain) struct Rates {
    bins: Bucketed<RateBin>,
    newest: Option<Phy>,
    streams: u8,
    width_mhz: u32,
    fastest_bps: u64,
    pub(in crate::explain) frequency_mhz: Option<u32>,
}

/// Rates of the last frames in bit/s, and the weakest signal in hundredths of a dBm, in one bin.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::explain) struct RateBin {
    down: Mean,
    up: Mean,
    pub(in crate::explain) weakest: Option<i32>,
}

impl Rates {
    pub(super) fn new(buckets: Buckets) -> Self {
        Rates {
            bins: Bucketed::new(buckets),
            newest: None,
            streams: 1,
            width_mhz: 20,
            fastest_bps: 0,
            frequency_mhz: None,
        }
    }

    /// Adds a sample of the station's driver, or of a modelled link.
    pub(super) fn link(&mut self, row: &LinkRow) {
        self.frequency_mhz = row.frequency_mhz.or(self.frequency_mhz);
        for frame in [row.rx, row.tx] {
            self.frame(frame);
        }
        for rate in [row.rx_rate_bps, row.tx_rate_bps].into_iter().flatten() {
            self.fastest_bps = self.fastest_bps.max(rate);
        }
        if let Some(bin) = self.bins.bucket(row.at.as_nanos()) {
            bin.down.add(row.rx_rate_bps);
            bin.up.add(row.tx_rate_bps);
            bin.signal(row.signal);
        }
    }

    /// Adds a value of an observed access point about the station.
    pub(super) fn observed(&mut self, row: &ObservedRow) {
        let rate = u64::try_from(row.value).ok();
        let Some(bin) = self.bins.bucket(row.at.as_nanos()) else {
            return;
        };
        match row.quantity {
            Observable::Signal => bin.signal(i32::try_from(row.value).ok()),
            Observable::RateDown => bin.down.add(rate),
            Observable::RateUp => bin.up.add(rate),
            _ => return,
        }
        if row.quantity != Observable::Signal {
            self.fastest_bps = self.fastest_bps.max(rate.unwrap_or(0));
        }
    }

    fn frame(&mut self, frame: Modulation) {
        self.newest = self.newest.max(frame.phy);
        self.streams = self.streams.max(frame.nss.unwrap_or(1)).min(8);
        self.width_mhz = self.width_mhz.max(frame.width_mhz.unwrap_or(20));
    }

    pub(in crate::explain) fn bin(&self, index: usize) -> Option<&RateBin> {
        self.bins.get(index)
    }

    /// Rates that the station surely supports: those of the newest standard, the most streams and the widest channel among its
    /// frames. `None` without a frequency.
    pub(in crate::explain) fn supported(&self) -> Option<LinkRates> {
        let band = match self.frequency_mhz? {
            ..3_000 => Band::Ghz2_4,
            3_000..5_925 => Band::Ghz5,
            _ => Band::Ghz6,
        };
        let standard = match self.newest {
            Some(Phy::Eht) => Standard::Be,
            Some(Phy::He) => Standard::Ax,
            Some(Phy::Vht) => Standard::Ac,
            Some(Phy::Ht) => Standard::N,
            Some(Phy::Legacy) | None => match band {
                Band::Ghz2_4 if self.fastest_bps <= FASTEST_DSSS => Standard::B,
                Band::Ghz2_4 => Standard::G,
                Band::Ghz5 => Standard::A,
                Band::Ghz6 => Standard::Ax,
            },
        };
        let width = match self.width_mhz {
            ..40 => Width::Mhz20,
            40..80 => Width::Mhz40,
            80..160 => Width::Mhz80,
            160..320 => Width::Mhz160,
            _ => Width::Mhz320,
        };
        let radio = RadioConfig {
            width,
            streams: self.streams,
            ..RadioConfig::for_standard(band, standard)
        };
        Some(LinkRates::new(&radio, self.streams))
    }
}

/// Highest rate of 802.11b in bit/s.
const FASTEST_DSSS: u64 = 11_000_000;

impl RateBin {
    fn signal(&mut self, hundredths: Option<i32>) {
        self.weakest = [self.weakest, hundredths].into_iter().flatten().min();
    }

    /// Mean rate in bit/s; `None` without a sample.
    pub(in crate::explain) fn rate(&self, direction: Direction) -> Option<f64> {
        match direction {
            Direction::Down => self.down.value(),
            Direction::Up => self.up.value(),
        }
    }
}
