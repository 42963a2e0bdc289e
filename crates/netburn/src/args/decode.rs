//! `netburn decode`.

use super::Format;
use clap::{Args, value_parser};
use netburn_medium::rating::Antennas;

/// Say what the speed rating on a box probably means.
///
/// A rating adds up the highest rates of all radios in the box. It is taken apart into bands, radios and streams, and followed down to
/// what one person gets: the PHY rate of the streams that both sides have, the goodput that is left of it, and one station's
/// share when all are busy at once. No box is looked at: it is arithmetic and habit.
#[derive(Debug, Args)]
pub(crate) struct DecodeArgs {
    /// The rating: N, AC, AX or BE and the figure
    #[arg(value_name = "RATING")]
    pub(crate) rating: String,
    /// The client's antennas in x out, and its streams if they are fewer: 2x2, 3x3:2
    #[arg(long, default_value = "2x2", value_name = "AxB[:N]")]
    pub(crate) client: Antennas,
    /// Stations that are busy at once on one radio
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) stations: u32,
    /// Boxes that the rating is the sum of, for a mesh
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = value_parser!(u32).range(1..=32))]
    pub(crate) nodes: u32,
    /// How the result is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
}
