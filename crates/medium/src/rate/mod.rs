//! Which rate the next PPDU is sent at.
//!
//! Every way to choose is a state machine of its own behind [`RateAlgorithm`]: [`fixed`], [`ideal`] (knows the signal) and
//! [`minstrel`] (knows only what came back). [`set`] holds the rates there are to choose from, and what each costs.

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
use netburn_units::{Instant, Stream};

/// How a link's rate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RateChoice {
    /// Always the link's vector.
    #[default]
    Fixed,
    /// The best for the signal at each moment, known without trying; the link's vector is the fastest there is.
    Ideal,
    /// By trying; the link's vector is the fastest there is.
    Minstrel(MinstrelParameters),
}

/// How the next PPDU is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The vector.
    pub vector: TxVector,
    /// The most MPDUs it may carry, where that is less than the link allows: a probe is kept short.
    pub frames: Option<u32>,
}

/// What a sender knows of a PPDU once it has, or hasn't, been answered. Whether it met another transmission or only too weak a
/// signal, no sender knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// How it was sent.
    pub vector: TxVector,
    /// MPDUs in it.
    pub attempted: u32,
    /// MPDUs acknowledged; nothing when no answer came.
    pub arrived: u32,
    /// Whether the medium was reserved by RTS and CTS before: then what is lost is hardly lost to a collision.
    pub reserved: bool,
}

/// A way to choose.
///
/// **Call order:** [`choose`](Self::choose) when a PPDU is put together and when it is tried again; [`report`](Self::report) after
/// each time that its data were sent. Several PPDUs may be chosen for before the first is reported.
pub trait RateAlgorithm: std::fmt::Debug + Send {
    /// How the next PPDU is sent, which went unanswered `failures` times so far.
    fn choose(&mut self, now: Instant, failures: u32) -> Choice;

    /// What became of a PPDU.
    fn report(&mut self, now: Instant, report: &Report) {
        let _ = (now, report);
    }

    /// The signal at the receiver in decibels over noise, as the set's fastest vector sees it. Only what is meant to know without
    /// trying may look.
    fn handle_signal(&mut self, snr_db: Option<f64>) {
        let _ = snr_db;
    }
}

impl RateChoice {
    /// The algorithm, to choose from `set`; `chance` is what it draws from.
    #[must_use]
    pub fn start(self, set: RateSet, snr_db: Option<f64>, chance: Stream) -> Box<dyn RateAlgorithm> {
        match self {
            RateChoice::Fixed => Box::new(Fixed(set.fastest())),
            RateChoice::Ideal => Box::new(Ideal::new(set, snr_db)),
            RateChoice::Minstrel(parameters) => Box::new(Minstrel::new(set, parameters, chance)),
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
