//! Names of radios.

use crate::decode::{Context, FromNode};
use crate::node::Node;
use crate::path::is_name;
use crate::scalars::parsed;
use crate::value::PlanValue;
use netburn_medium::config::Band;
use schemars::{Schema, SchemaGenerator, json_schema};
use std::fmt;

/// Reference to a radio of an access point, written `c7.5g`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioRef {
    /// Name of the access point.
    pub ap: String,
    /// Name of the radio.
    pub radio: RadioName,
}

/// Name of a radio: its band, and a number for further radios in the band (`5g`, `5g-2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RadioName {
    /// Band of the radio.
    pub band: Band,
    /// Number within the band, 1 to 4.
    pub number: u8,
}

impl RadioName {
    /// Name of the first radio of a band.
    #[must_use]
    pub const fn first(band: Band) -> Self {
        RadioName { band, number: 1 }
    }
}

impl fmt::Display for RadioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.band.name())?;
        match self.number {
            1 => Ok(()),
            number => write!(f, "-{number}"),
        }
    }
}

impl fmt::Display for RadioRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.ap, self.radio)
    }
}

impl RadioName {
    /// Reads `5g` or `5g-2`.
    pub(crate) fn parse(text: &str) -> Option<RadioName> {
        let (band, number) = text.split_once('-').unwrap_or((text, "1"));
        let band = Band::ALL.into_iter().find(|known| known.name() == band)?;
        let number = match number {
            "1" if !text.contains('-') => 1,
            "2" => 2,
            "3" => 3,
            "4" => 4,
            _ => return None,
        };
        Some(RadioName { band, number })
    }
}

impl RadioRef {
    /// Reads `c7.5g`.
    pub(crate) fn parse(text: &str) -> Option<RadioRef> {
        let (ap, radio) = text.split_once('.')?;
        let radio = RadioName::parse(radio)?;
        is_name(ap).then(|| RadioRef {
            ap: ap.to_owned(),
            radio,
        })
    }
}

const RADIO_REF: &str = "an access point and a radio, such as `\"c7.5g\"`";

impl FromNode for RadioRef {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        parsed(node, cx, RADIO_REF, RadioRef::parse)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{1,63}\\.(2g|5g|6g)(-[234])?$", "x-value": "a radio" })
    }
}

impl PlanValue<RadioRef> for RadioRef {
    fn from_key(key: &RadioRef) -> Self {
        key.clone()
    }

    fn to_json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}
