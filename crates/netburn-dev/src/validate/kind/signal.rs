//! Receiver sensitivity, and the probability that a frame arrives.

use super::phy::Phy;
use super::{FixedMetrics, Metric};
use crate::validate::quantity::Dimension;
use netburn_medium::error::success;
use netburn_medium::phy::Modulation;
use netburn_medium::phy::TxVector;
use netburn_medium::signal::{noise_dbm, sensitivity_dbm};
use serde::Deserialize;

/// Length in bytes of the PPDUs for which the sensitivity is defined.
const REFERENCE: u64 = 4_096;

/// Minimum sensitivity of a receiver, and the share of PPDUs of 4096 bytes that the model loses at that signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sensitivity {
    phy: Phy,
}

/// Probability that a frame arrives.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameSuccess {
    phy: Phy,
    bytes: u64,
    /// SNR in decibels.
    snr: f64,
}

impl FixedMetrics for Sensitivity {
    type Result = [f64; 2];
    const METRICS: &'static [Metric<[f64; 2]>] = &[
        Metric("sensitivity", Dimension::Level, |[level, _]| *level),
        Metric("lost", Dimension::Share, |[_, lost]| *lost),
    ];

    fn result(&self) -> [f64; 2] {
        let vector = self.phy.0;
        let Some(level) = mcs(&vector).and_then(|mcs| sensitivity_dbm(mcs, vector.width)) else {
            return [f64::NAN; 2];
        };
        let level = f64::from(level);
        let snr = level - noise_dbm(vector.width);
        [level, 1.0 - success(vector.modulation, snr, REFERENCE * 8)]
    }
}

impl FixedMetrics for FrameSuccess {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("arrived", Dimension::Share, |arrived| *arrived)];

    fn result(&self) -> f64 {
        success(self.phy.0.modulation, self.snr, self.bytes * 8)
    }
}

fn mcs(vector: &TxVector) -> Option<u8> {
    match vector.modulation {
        Modulation::Ht { mcs } | Modulation::Vht { mcs } | Modulation::He { mcs } | Modulation::Eht { mcs } => {
            Some(mcs)
        }
        Modulation::Dsss(_) | Modulation::Ofdm(_) => None,
    }
}
