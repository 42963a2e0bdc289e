//! Rate control.
//!
//! Every algorithm is a state machine of its own with the trait [`RateAlgorithm`]: [`fixed`],
//! [`ideal`] (knows the signal) and [`minstrel`] (knows only responses). [`set`] has the available
//! rates and their costs.

pub mod fixed;
pub mod ideal;
pub mod minstrel;
pub mod set;

pub use fixed::Fixed;
pub use ideal::Ideal;
pub use minstrel::{Minstrel, MinstrelParameters};
pub use set::{Entry, RateSet, gain_db};

use crate::config::RateControl;
use crate::phy::TxVector;
use netburn_units::{Instant, RandomStream};

/// Rate control of a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RateChoice {
    /// Always the link's vector.
    #[default]
    Fixed,
    /// The best rate for the current signal, without probing; the link's vector is the maximum.
    Ideal,
    /// Probing; the link's vector is the maximum.
    Minstrel(MinstrelParameters),
}

/// Choice for the next PPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Vector.
    pub vector: TxVector,
    /// Maximum number of MPDUs, if smaller than the link's limit: a probe is short.
    pub frames: Option<u32>,
}

/// Result of a PPDU as its sender knows it. A sender can't distinguish a collision from a weak
/// signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Vector.
    pub vector: TxVector,
    /// Number of MPDUs.
    pub attempted: u32,
    /// Number of acknowledged MPDUs; 0 without a response.
    pub arrived: u32,
    /// True if RTS and CTS reserved the medium before: then a collision is unlikely.
    pub reserved: bool,
}

/// Rate control algorithm.
///
/// **Call order:** [`choose`](Self::choose) when a PPDU is built and when it is retried;
/// [`report`](Self::report) after each transmission of its data. Several PPDUs may be chosen before
/// the first is reported.
pub trait RateAlgorithm: std::fmt::Debug + Send {
    /// Chooses the vector of the next PPDU, which had `failures` transmissions without a response
    /// so far.
    fn choose(&mut self, now: Instant, failures: u32) -> Choice;

    /// Reports the result of a PPDU.
    fn report(&mut self, now: Instant, report: &Report) {
        let _ = (now, report);
    }

    /// Reports the SNR at the receiver in dB for the set's fastest vector. Only algorithms without
    /// probing may use it.
    fn handle_signal(&mut self, snr_db: Option<f64>) {
        let _ = snr_db;
    }
}

impl RateChoice {
    /// Creates the algorithm for `set`; `rng` is its random stream.
    #[must_use]
    pub fn start(self, set: RateSet, snr_db: Option<f64>, rng: RandomStream) -> Box<dyn RateAlgorithm> {
        match self {
            RateChoice::Fixed => Box::new(Fixed(set.fastest())),
            RateChoice::Ideal => Box::new(Ideal::new(set, snr_db)),
            RateChoice::Minstrel(parameters) => Box::new(Minstrel::new(set, parameters, rng)),
        }
    }
}

impl From<RateControl> for RateChoice {
    fn from(control: RateControl) -> Self {
        match control {
            RateControl::Fixed => RateChoice::Fixed,
            RateControl::Ideal => RateChoice::Ideal,
            RateControl::Minstrel => RateChoice::Minstrel(MinstrelParameters::default()),
        }
    }
}
