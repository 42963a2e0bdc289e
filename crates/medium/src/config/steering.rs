//! Steering: access points that ask stations to move to another radio.

use netburn_units::{Db, Dbm, Probability};

/// Rules by which the access points of a network move stations. The constants of each policy are in
/// `network::steering`, with their sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SteeringPolicy {
    /// The stations decide alone.
    #[default]
    None,
    /// OpenWrt's usteer.
    Usteer,
    /// OpenWrt's DAWN.
    Dawn,
    /// Stations of a busy radio move to another radio of the access point.
    Load,
    /// Stations on 2.4 GHz move to 5 GHz if their signal is strong.
    Prefer5Ghz,
    /// Radios on 2.4 GHz do not answer the probe requests of stations that were seen on 5 GHz.
    ProbeSuppression,
}

/// Steering of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Steering {
    /// Policy, from which the constants come that are `None` below.
    pub policy: SteeringPolicy,
    /// Signal at the access point below which it asks a station to move.
    pub trigger: Option<Dbm>,
    /// Difference by which the signal at another access point must be stronger.
    pub margin: Option<Db>,
    /// Difference by which the score of another radio must be higher.
    pub score: Option<u32>,
    /// Use of a channel above which a station is asked to move.
    pub load: Option<Probability>,
    /// Use of a channel up to which a station is asked to move to it.
    pub target_load: Option<Probability>,
    /// `Some(false)`: a station that does not move is not disassociated.
    pub disassociate: Option<bool>,
}
