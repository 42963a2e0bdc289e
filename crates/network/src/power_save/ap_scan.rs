//! Scans of an access point: at fixed times each of its radios leaves its channel for a while.

use crate::layout::Layout;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::DEFAULT_SCAN_AWAY;
use netburn_units::{Duration, Instant};

/// All radios that scan.
#[derive(Debug)]
pub(crate) struct ApScans {
    radios: Vec<ApScan>,
}

#[derive(Debug)]
struct ApScan {
    radio: NodeId,
    interval: Duration,
    /// Length of an absence, less than the interval.
    absence: Duration,
    away: bool,
    next: Instant,
}

impl ApScans {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let scan = |(radio, ap): (usize, usize)| {
            let config = &plan.aps[ap];
            let interval = config.scan_interval?;
            Some(ApScan {
                radio: NodeId(radio as u16),
                interval,
                absence: config.scan_away.unwrap_or(DEFAULT_SCAN_AWAY).min(interval),
                away: false,
                next: Instant::ZERO + interval,
            })
        };
        let radios = layout.radios.iter().map(|radio| radio.ap).enumerate();
        ApScans {
            radios: radios.filter_map(scan).collect(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.radios.iter().map(|scan| scan.next).min()
    }

    /// A radio that leaves its channel (`true`) or returns to it at `now`.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(NodeId, bool)> {
        let scan = self.radios.iter_mut().find(|scan| scan.next <= now)?;
        scan.away = !scan.away;
        scan.next += if scan.away {
            scan.absence
        } else {
            scan.interval.saturating_sub(scan.absence)
        };
        Some((scan.radio, scan.away))
    }
}
