//! `netburn decode`.

use super::Format;
use clap::{Args, value_parser};
use netburn_medium::rating::Antennas;

/// Estimate the radios behind a vendor's speed rating
///
/// A rating is the sum of the highest PHY rates of all radios of an access point. netburn splits it into bands, radios
/// and streams. For each radio it computes the PHY rate that a client can use, and the goodput. It also computes the
/// share of one station when all stations are active. This is arithmetic based on vendors' usual practice; no device is
/// tested. For a mesh system (`--nodes`), netburn also computes what a shared or dedicated backhaul leaves for a client
/// of a second access point.
#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// Speed rating: N, AC, AX or BE and a number, such as AC1750
    #[arg(value_name = "RATING")]
    pub(crate) rating: String,
    /// Client's antennas (receive x transmit), and its streams if there are fewer: 2x2, 3x3:2
    #[arg(long, default_value = "2x2", value_name = "AxB[:N]")]
    pub(crate) client: Antennas,
    /// Number of stations that are active at the same time on one radio
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) stations: u32,
    /// Number of access points that the rating covers, for a mesh system
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=32))]
    pub(crate) nodes: u32,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
