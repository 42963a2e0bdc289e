//! Why a plan's network can't be.

use netburn_medium::phy::PhyError;
use netburn_medium::rating::Unexplained;
use netburn_medium::signal::TooWeak;

/// Why a plan's network can't be: whom it is about, and what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// An access point's rating isn't one that any radios add up to.
    #[error("ap.{ap}: {why}")]
    Rating {
        /// The access point.
        ap: String,
        /// Why not.
        why: Unexplained,
    },
    /// An access point has no radio.
    #[error("ap.{ap} has no radio; give it a rating, `rating = \"AC1750\"`, or radios: `[ap.{ap}.radio.5g]`")]
    NoRadio {
        /// The access point.
        ap: String,
    },
    /// A radio that the rating doesn't speak of, and that doesn't say everything itself.
    #[error("ap.{ap}.radio.{radio}: {rating} has no such radio; it has {known}")]
    NotRated {
        /// The access point.
        ap: String,
        /// The radio.
        radio: String,
        /// The rating.
        rating: String,
        /// Those that it has.
        known: String,
    },
    /// A channel that isn't in its band, or not in that width.
    #[error("{radio}: channel {channel} has no {mhz} MHz; {hint}")]
    Channel {
        /// The radio.
        radio: String,
        /// Its channel.
        channel: u16,
        /// Its width.
        mhz: u16,
        /// What would do.
        hint: String,
    },
    /// A radio can't send as it is told to.
    #[error("{whose}: {why}")]
    Phy {
        /// The radio or station.
        whose: String,
        /// Why not.
        why: PhyError,
    },
    /// A station doesn't say what it joins.
    #[error("station.{station}: what does it join? Say `joins = \"{hint}\"`")]
    JoinsNothing {
        /// The station.
        station: String,
        /// What there is.
        hint: String,
    },
    /// What a station joins isn't there.
    #[error("station.{station} joins `{joins}`, which isn't there")]
    NoSuchRadio {
        /// The station.
        station: String,
        /// What it joins.
        joins: String,
    },
    /// A station that speaks none of what the radios speak.
    #[error("station.{station} speaks {standard}, which {joins} doesn't: {radios}")]
    NoCommonStandard {
        /// The station.
        station: String,
        /// What it speaks.
        standard: &'static str,
        /// What it joins.
        joins: String,
        /// The radios and what they speak.
        radios: String,
    },
    /// A station doesn't say how good its link is.
    #[error("station.{station}: how good is its link? Say `signal = \"-60 dBm\"`, `distance = \"6 m\"` or `mcs = 7`")]
    NoQuality {
        /// The station.
        station: String,
    },
    /// A signal that no rate gets through.
    #[error("station.{station}: {why}")]
    TooWeak {
        /// The station.
        station: String,
        /// Why not.
        why: TooWeak,
    },
    /// Stations of one channel that hear each other in too many different ways.
    #[error(
        "{radio}: its stations hear each other in {ways} different ways, of which {most} can be modelled; give stations that \
         stand together the same `hidden_from`"
    )]
    Hidden {
        /// A radio of that channel.
        radio: String,
        /// The ways there are.
        ways: usize,
        /// The most there may be.
        most: usize,
    },
    /// A queue that holds nothing.
    #[error("{whose}: a queue of length 0 holds nothing; make it at least one packet")]
    NoQueue {
        /// Whose queue.
        whose: String,
    },
    /// A station on a wire whose queue serves stations on the air.
    #[error(
        "station.{station}: `{queue}` serves stations on the air; on a wire a host has `fifo`, `pfifo-fast` or `fq-codel`"
    )]
    WiredQueue {
        /// The station.
        station: String,
        /// Its queue.
        queue: &'static str,
    },
    /// A change of something that isn't there.
    #[error("{what} can't change: it isn't there")]
    NoSuchSetting {
        /// What.
        what: String,
    },
}
