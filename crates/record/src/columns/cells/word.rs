//! Values of enumerations.

use super::{Decoder, Encoder, Kind, Optional, Required, RowReader, RowWriter};
use crate::columns::dictionary::Name;
use crate::columns::names::{Lookup, Names};
use crate::columns::{Values, WireType};
use crate::row::{Observable, Phy, Side};
use netburn_workload::Outcome;
use parquet::data_type::ByteArray;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::marker::PhantomData;

/// A value of an enumeration.
pub(crate) type Word<E> = Required<OneOf<E>>;
/// A value of an enumeration that may be missing.
pub(crate) type MaybeWord<E> = Optional<OneOf<E>>;

/// The kind of value of an enumeration.
pub(crate) struct OneOf<E>(PhantomData<E>);

impl<E: Named> Kind for OneOf<E> {
    type Value = E;
    type Wire = WireName<E>;
    const VALUES: Values = Values::Name;
    const WIRE: WireType = WireType::OneOf(E::NAMES);

    fn write(value: Option<&E>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.map(|value| value.column_name(to.names)));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<E>, &'static str> {
        match from.cursor.maybe_name() {
            Some(name) => E::find(from.names, name).ok_or("unknown name").map(Some),
            None => Ok(None),
        }
    }

    fn encode(value: &E, to: &mut Encoder<'_>) {
        to.to.push(value.code());
    }

    fn decode(from: &mut Decoder<'_>) -> Option<E> {
        E::from_code(from.from.byte()?)
    }

    fn to_wire(value: &E) -> WireName<E> {
        WireName(*value)
    }

    fn from_wire(wire: WireName<E>) -> E {
        wire.0
    }
}

/// An enumeration with names.
pub(crate) trait Named: Copy + PartialEq + 'static {
    /// All values. Their places are their codes in the spool.
    const ALL: &'static [Self];
    /// Names of all values.
    const NAMES: fn() -> Vec<&'static str> = || Self::ALL.iter().map(|one| one.name()).collect();

    fn name(self) -> &'static str;

    /// Name in a column.
    fn column_name(self, _: &Names) -> ByteArray {
        ByteArray::from(self.name())
    }

    /// Value of a name in a column.
    fn find(_: &mut Lookup<'_>, name: Name<'_>) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|one| one.name().as_bytes() == name.bytes)
    }

    fn code(self) -> u8 {
        let place = Self::ALL.iter().position(|one| *one == self);
        place.expect("all variants are listed") as u8
    }

    fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Operations have many outcomes: their names are cached.
impl Named for Outcome {
    const ALL: &'static [Self] = &crate::row::OUTCOMES;

    fn name(self) -> &'static str {
        crate::row::outcome_name(self)
    }

    fn column_name(self, names: &Names) -> ByteArray {
        names.outcome(self)
    }

    fn find(names: &mut Lookup<'_>, name: Name<'_>) -> Option<Self> {
        names.outcome(name)
    }
}

impl Named for Side {
    const ALL: &'static [Self] = &Side::ALL;

    fn name(self) -> &'static str {
        Side::name(self)
    }
}

impl Named for Observable {
    const ALL: &'static [Self] = &Observable::ALL;

    fn name(self) -> &'static str {
        Observable::name(self)
    }
}

impl Named for Phy {
    const ALL: &'static [Self] = &Phy::ALL;

    fn name(self) -> &'static str {
        Phy::name(self)
    }
}

/// A value of an enumeration in a message: its name.
pub(crate) struct WireName<E>(E);

impl<E: Named> Serialize for WireName<E> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name())
    }
}

impl<'de, E: Named> Deserialize<'de> for WireName<E> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor<E>(PhantomData<E>);
        impl<E: Named> serde::de::Visitor<'_> for Visitor<E> {
            type Value = WireName<E>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "one of {}", E::NAMES().join(", "))
            }

            fn visit_str<D: serde::de::Error>(self, name: &str) -> Result<WireName<E>, D> {
                let known = E::ALL.iter().copied().find(|one| one.name() == name);
                let unknown = || D::invalid_value(serde::de::Unexpected::Str(name), &self);
                known.map(WireName).ok_or_else(unknown)
            }
        }
        from.deserialize_str(Visitor(PhantomData))
    }
}
