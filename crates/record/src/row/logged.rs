//! Events that an access point wrote into its system log.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Event of a station or of a channel in the system log of an access point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Logged {
    /// The station associated. Its keys follow.
    Associated,
    /// The station may send data.
    Connected,
    /// The station may no longer send data.
    Disconnected,
    /// The association ended.
    Disassociated {
        /// Why.
        cause: LeaveCause,
    },
    /// The association and the authentication ended.
    Deauthenticated {
        /// Why.
        cause: LeaveCause,
    },
    /// The station connected here, and was on another interface of the access point before.
    Roamed {
        /// Interface of the radio on which it was.
        from: String,
    },
    /// The station did not answer a message of the key handshake in time.
    KeyTimeout,
    /// The passphrase of the station is probably another one.
    WrongPassphrase,
    /// A program on the access point decided that the station should use another radio.
    MoveRequested {
        /// The program.
        by: Steerer,
        /// Why.
        reason: MoveReason,
    },
    /// The station answered a request to move: status code of the BSS Transition Management Response (802.11-2020, table
    /// 9-428).
    MoveAnswered {
        /// The code; 0 accepts.
        status: u8,
    },
    /// A program on the access point rejected an authentication or association of the station.
    Refused {
        /// The program.
        by: Steerer,
        /// Why.
        reason: MoveReason,
    },
    /// The radio detected a radar, and has to leave the channel.
    Radar {
        /// Centre of the primary channel in MHz.
        frequency_mhz: u32,
    },
    /// The radio uses another channel.
    ChannelChanged {
        /// Centre of the new primary channel in MHz.
        frequency_mhz: u32,
    },
}

/// Why an association ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeaveCause {
    /// The log names none: the station left.
    Station,
    /// The station sent nothing for too long.
    Inactivity,
    /// The access point ended it.
    AccessPoint,
    /// The station acknowledged no frames.
    NoAcknowledgement,
    /// Another cause.
    Other,
}

/// Program that moves stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steerer {
    /// usteer.
    Usteer,
    /// DAWN.
    Dawn,
}

/// Why a program moves a station, or rejects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveReason {
    /// Its signal is weak.
    Signal,
    /// The radio has much load.
    Load,
    /// Another radio is better for it.
    BetterRadio,
    /// Its rate is low.
    Rate,
    /// The log names none, or another one.
    Other,
}

impl fmt::Display for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Logged::Associated => f.write_str("associated"),
            Logged::Connected => f.write_str("connected"),
            Logged::Disconnected => f.write_str("disconnected"),
            Logged::Disassociated { cause } => write!(f, "disassociated: {cause}"),
            Logged::Deauthenticated { cause } => write!(f, "deauthenticated: {cause}"),
            Logged::Roamed { from } => write!(f, "moved here from {from}"),
            Logged::KeyTimeout => f.write_str("did not answer the key handshake in time"),
            Logged::WrongPassphrase => f.write_str("probably has a wrong passphrase"),
            Logged::MoveRequested { by, reason } => write!(f, "{by} wants it to use another radio{reason}"),
            Logged::MoveAnswered { status: 0 } => f.write_str("agreed to move"),
            Logged::MoveAnswered { status } => write!(f, "refused to move: {}", refusal(*status)),
            Logged::Refused { by, reason } => write!(f, "{by} did not let it join{reason}"),
            Logged::Radar { frequency_mhz } => write!(f, "radar detected at {frequency_mhz} MHz"),
            Logged::ChannelChanged { frequency_mhz } => write!(f, "the channel is now at {frequency_mhz} MHz"),
        }
    }
}

/// Meaning of a status code that rejects a request to move (802.11-2020, table 9-428).
const fn refusal(status: u8) -> &'static str {
    match status {
        2 => "it has not received enough beacons",
        3 => "the other radios have no capacity",
        4 | 5 => "it wants to stay longer",
        6 => "it prefers other radios",
        7 => "it knows no better radio",
        8 => "it leaves the network",
        _ => "it names no reason",
    }
}

impl fmt::Display for LeaveCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LeaveCause::Station => "the device left",
            LeaveCause::Inactivity => "the device sent nothing for too long",
            LeaveCause::AccessPoint => "the access point ended the connection",
            LeaveCause::NoAcknowledgement => "the device acknowledged nothing",
            LeaveCause::Other => "for another reason",
        })
    }
}

impl fmt::Display for Steerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Steerer::Usteer => "usteer",
            Steerer::Dawn => "DAWN",
        })
    }
}

/// The reason as the end of a clause; empty if it is unknown.
impl fmt::Display for MoveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MoveReason::Signal => ", because its signal is weak",
            MoveReason::Load => ", because this radio has much load",
            MoveReason::BetterRadio => ", because another one is better",
            MoveReason::Rate => ", because its rate is low",
            MoveReason::Other => "",
        })
    }
}
