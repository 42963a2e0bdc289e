//! Effort of a change.

use serde::{Deserialize, Serialize};

/// Effort of a change, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// A setting that access points and devices usually have.
    Setting,
    /// A limit in the program that transfers.
    Program,
    /// Another place for a device.
    Place,
    /// A setting that only some firmware has.
    Firmware,
    /// Settings or another version of an operating system.
    Software,
    /// A cable.
    Cable,
    /// Another device, or a part of it.
    Purchase,
    /// A change that only the provider of the line or of the service can make.
    Provider,
}

netburn_units::variants! {
    pub Effort:
        Setting = "setting",
        Program = "program",
        Place = "place",
        Firmware = "firmware",
        Software = "software",
        Cable = "cable",
        Purchase = "purchase",
        Provider = "provider",
}

impl Effort {
    /// The effort in words that complete "It needs …".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Effort::Setting => "a setting, which is free",
            Effort::Program => "a limit in the program that transfers, which is free",
            Effort::Place => "another place for a device, which is free",
            Effort::Firmware => "a setting that only some access points and routers have",
            Effort::Software => "a setting or another version of the operating system",
            Effort::Cable => "a cable",
            Effort::Purchase => "a purchase",
            Effort::Provider => "a change by the provider of the line or of the service",
        }
    }
}
