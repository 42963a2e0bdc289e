//! Receiver sensitivity, and the probability that a frame arrives.

use super::Metrics;
use super::phy::Phy;
use crate::validate::quantity::Dimension;
use netburn_medium::error::success;
use netburn_medium::phy::Modulation;
use netburn_medium::phy::TxVector;
use netburn_medium::signal::{noise_dbm, sensitivity_dbm};
use serde::Deserialize;

/// Length in bytes of the PPDUs for which the sensitivity is defined.
const REFERENCE: u64 = 4_096;

/// Minimum sensitivity of a receiver: metric `sensitivity`. Metric `lost` is the share of PPDUs of 4096 bytes that the model
/// loses at that signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    phy: Phy,
}

/// Probability that a frame arrives: metric `arrived`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameSuccess {
    phy: Phy,
    bytes: u64,
    /// SNR in decibels.
    snr: f64,
}

impl Sensitivity {
    pub(super) fn metrics() -> Metrics {
        vec![
            ("sensitivity".to_owned(), Dimension::Level),
            ("lost".to_owned(), Dimension::Share),
        ]
    }

    pub(super) fn run(&self, metric: &str) -> f64 {
        let vector = self.phy.0;
        let Some(level) = mcs(&vector).and_then(|mcs| sensitivity_dbm(mcs, vector.width)) else {
            return f64::NAN;
        };
        match metric {
            "sensitivity" => f64::from(level),
            _ => {
                1.0 - success(
                    vector.modulation,
                    f64::from(level) - noise_dbm(vector.width),
                    REFERENCE * 8,
                )
            }
        }
    }
}

impl FrameSuccess {
    pub(super) fn run(&self) -> f64 {
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
