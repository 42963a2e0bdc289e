//! Errors of a plan's network.

use netburn_medium::phy::PhyError;
use netburn_medium::queue::{Place, QueueKind};
use netburn_medium::rating::Unexplained;

/// Error of a plan's network: the section it concerns, the problem, and what is expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// No combination of radios has this rating.
    #[error("ap.{ap}: {reason}")]
    Rating {
        /// Access point.
        ap: String,
        /// Reason.
        reason: Unexplained,
    },
    /// An access point has no radio.
    #[error("ap.{ap}: missing radio; expected a rating, `rating = \"AC1750\"`, or radios, `[ap.{ap}.radio.5g]`")]
    MissingRadio {
        /// Access point.
        ap: String,
    },
    /// A radio that the rating doesn't include and that doesn't have all settings itself.
    #[error("ap.{ap}.radio.{radio}: unknown radio; {rating} has {known}")]
    UnratedRadio {
        /// Access point.
        ap: String,
        /// Radio.
        radio: String,
        /// Rating.
        rating: String,
        /// Radios of the rating.
        known: String,
    },
    /// A channel that isn't in its band, or not with that width.
    #[error("{radio}: invalid channel: found {channel} with {mhz} MHz, expected {hint}")]
    Channel {
        /// Radio.
        radio: String,
        /// Channel number.
        channel: u16,
        /// Width in MHz.
        mhz: u16,
        /// Valid widths or channels.
        hint: String,
    },
    /// Invalid combination of PHY settings.
    #[error("{subject}: {reason}")]
    Phy {
        /// Radio or station.
        subject: String,
        /// Reason.
        reason: PhyError,
    },
    /// A station whose link does not have its mode of power save.
    #[error("station.{station}: `power_save = \"{mode}\"` needs {first} or later; the link has {standard}")]
    PowerSave {
        /// Station.
        station: String,
        /// Mode.
        mode: &'static str,
        /// Standard of the link.
        standard: &'static str,
        /// First standard that has the mode.
        first: &'static str,
    },
    /// A station without `joins`.
    #[error("station.{station}: missing `joins`; expected a radio or a network, as `joins = \"{hint}\"`")]
    MissingJoins {
        /// Station.
        station: String,
        /// Example of a valid value.
        hint: String,
    },
    /// A station joins an unknown radio or network.
    #[error("station.{station}.joins: unknown radio or network `{joins}`")]
    UnknownRadio {
        /// Station.
        station: String,
        /// Name of the unknown radio or network.
        joins: String,
    },
    /// A station and its radios have no standard in common.
    #[error("station.{station}: {joins} does not support {standard}; {radios}")]
    NoCommonStandard {
        /// Station.
        station: String,
        /// Standard of the station.
        standard: &'static str,
        /// Radio or network that it joins.
        joins: String,
        /// Radios and their standards.
        radios: String,
    },
    /// A station without signal, distance and MCS.
    #[error(
        "station.{station}: missing link quality; expected `signal = \"-60 dBm\"`, `distance = \"6 m\"` or `mcs = 7`"
    )]
    MissingQuality {
        /// Station.
        station: String,
    },
    /// A wireless backhaul that can't work.
    #[error("ap.{ap}.backhaul: {reason}")]
    Backhaul {
        /// Access point.
        ap: String,
        /// Reason, with the correction.
        reason: String,
    },
    /// A mesh that can't work.
    #[error("mesh.{mesh}: {reason}")]
    Mesh {
        /// Mesh.
        mesh: String,
        /// Reason, with the correction.
        reason: String,
    },
    /// The stations of one channel form too many hearing groups.
    #[error(
        "{radio}: too many hearing groups: found {groups}, expected at most {max}; give stations at one location the same \
         `hidden_from`"
    )]
    Hidden {
        /// A radio of that channel.
        radio: String,
        /// Number of hearing groups.
        groups: usize,
        /// Maximum number of hearing groups.
        max: usize,
    },
    /// A queue of length zero.
    #[error("{subject}: queue of length 0; expected at least one packet")]
    EmptyQueue {
        /// Access point or station.
        subject: String,
    },
    /// A queue discipline where it can't be.
    #[error("{key}: `{queue}` is no queue discipline of {}; expected {}", place_name(*place), queues_on(*place))]
    Queue {
        /// Path of the key.
        key: String,
        /// Discipline.
        queue: &'static str,
        /// Where it would be.
        place: Place,
    },
    /// A change of an unknown section.
    #[error("[[at]]: unknown section `{what}`")]
    UnknownSetting {
        /// Key of the section.
        what: String,
    },
}

impl NetworkError {
    /// Path of the scenario's key or section that the error is about: `station.tv`, `ap.home.radio.5g`.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            NetworkError::Rating { ap, .. } => format!("ap.{ap}.rating"),
            NetworkError::MissingRadio { ap } => format!("ap.{ap}"),
            NetworkError::UnratedRadio { ap, radio, .. } => format!("ap.{ap}.radio.{radio}"),
            NetworkError::Channel { radio, .. } | NetworkError::Hidden { radio, .. } => radio_path(radio),
            NetworkError::Phy { subject, .. } | NetworkError::EmptyQueue { subject } => {
                // A station, with the standard of its link in some messages; otherwise a radio or an access point.
                let section = subject.split(' ').next().unwrap_or_default();
                match section.split_once('.') {
                    Some(("station" | "ap", _)) => section.to_owned(),
                    _ => radio_path(section),
                }
            }
            NetworkError::PowerSave { station, .. } => format!("station.{station}.power_save"),
            NetworkError::MissingJoins { station, .. } | NetworkError::MissingQuality { station } => {
                format!("station.{station}")
            }
            NetworkError::UnknownRadio { station, .. } => format!("station.{station}.joins"),
            NetworkError::NoCommonStandard { station, .. } => format!("station.{station}.standard"),
            NetworkError::Backhaul { ap, .. } => format!("ap.{ap}.backhaul"),
            NetworkError::Mesh { mesh, .. } => format!("mesh.{mesh}"),
            NetworkError::Queue { key, .. } => key.clone(),
            NetworkError::UnknownSetting { .. } => "at".to_owned(),
        }
    }
}

/// Path of a radio with the name `AP.RADIO`.
fn radio_path(name: &str) -> String {
    match name.split_once('.') {
        Some((ap, radio)) => format!("ap.{ap}.radio.{radio}"),
        None => format!("ap.{name}"),
    }
}

const fn place_name(place: Place) -> &'static str {
    match place {
        Place::Radio => "a radio",
        Place::Wire => "a wired station",
        Place::Line => "a WAN link",
    }
}

/// The queue disciplines for a place, as text.
fn queues_on(place: Place) -> String {
    let kinds = QueueKind::all_on(place);
    let names: Vec<String> = kinds.iter().map(|queue| format!("`{}`", queue.name())).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
