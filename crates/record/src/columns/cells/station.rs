//! Stations and workloads: names in columns, elsewhere their numbers in the plan.

use super::{Cell, Decoder, Encoder, MISSING, RowReader, RowWriter};
use crate::columns::dictionary::Name;
use crate::columns::names::Lookup;
use crate::columns::{Values, WireType};
use crate::varint::unsigned;
use parquet::data_type::ByteArray;
use std::marker::PhantomData;

/// Presence of a station or workload.
pub(crate) trait Presence {
    type Value: Copy;
    const OPTIONAL: bool;
    fn number(value: Self::Value) -> Option<u16>;
    fn value(number: Option<u16>) -> Option<Self::Value>;
}

/// It is always present.
pub(crate) struct Always;

impl Presence for Always {
    type Value = u16;
    const OPTIONAL: bool = false;

    fn number(value: u16) -> Option<u16> {
        Some(value)
    }

    fn value(number: Option<u16>) -> Option<u16> {
        number
    }
}

/// [`u16::MAX`] if it is unknown.
pub(crate) struct Known;

impl Presence for Known {
    type Value = u16;
    const OPTIONAL: bool = true;

    fn number(value: u16) -> Option<u16> {
        (value != u16::MAX).then_some(value)
    }

    fn value(number: Option<u16>) -> Option<u16> {
        Some(number.unwrap_or(u16::MAX))
    }
}

/// `None` if there is none.
pub(crate) struct Maybe;

impl Presence for Maybe {
    type Value = Option<u16>;
    const OPTIONAL: bool = true;

    fn number(value: Option<u16>) -> Option<u16> {
        value
    }

    fn value(number: Option<u16>) -> Option<Option<u16>> {
        Some(number)
    }
}

/// Subject of a number in a row: a station or a workload.
pub(crate) trait Numbered {
    fn name(number: u16, to: &RowWriter<'_>) -> ByteArray;
    fn find(names: &mut Lookup<'_>, station: u16, name: Name<'_>) -> Result<u16, &'static str>;
    /// The station that this number names, if it is one.
    fn station(number: Option<u16>, before: u16) -> u16;
}

pub(crate) struct StationNumber;

impl Numbered for StationNumber {
    fn name(number: u16, to: &RowWriter<'_>) -> ByteArray {
        to.names.station(number)
    }

    fn find(names: &mut Lookup<'_>, _: u16, name: Name<'_>) -> Result<u16, &'static str> {
        names.station(name).ok_or("unknown station")
    }

    fn station(number: Option<u16>, _: u16) -> u16 {
        number.unwrap_or(u16::MAX)
    }
}

pub(crate) struct WorkloadNumber;

impl Numbered for WorkloadNumber {
    fn name(number: u16, to: &RowWriter<'_>) -> ByteArray {
        to.names.workload(to.station, number)
    }

    fn find(names: &mut Lookup<'_>, station: u16, name: Name<'_>) -> Result<u16, &'static str> {
        names.workload(station, name).ok_or("unknown workload")
    }

    fn station(_: Option<u16>, before: u16) -> u16 {
        before
    }
}

/// A station or workload: a name in columns, elsewhere its number in the plan.
pub(crate) struct Number16<N, P>(PhantomData<(N, P)>);

/// A station.
pub(crate) type Station<P = Always> = Number16<StationNumber, P>;
/// A workload. Its station is in a column before it.
pub(crate) type Workload<P = Always> = Number16<WorkloadNumber, P>;

impl<N: Numbered, P: Presence> Cell for Number16<N, P> {
    type Value = P::Value;
    type Wire = Option<u16>;
    const VALUES: Values = Values::Name;
    const OPTIONAL: bool = P::OPTIONAL;
    const WIRE: WireType = WireType::Integer {
        signed: false,
        bits: 16,
    };

    fn is_present(value: &P::Value) -> bool {
        P::number(*value).is_some()
    }

    fn write(value: &P::Value, to: &mut RowWriter<'_>) {
        let number = P::number(*value);
        to.station = N::station(number, to.station);
        let name = number.map(|number| N::name(number, to));
        to.batch.maybe_text(name);
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<P::Value, &'static str> {
        let number = match from.cursor.maybe_name() {
            Some(name) => Some(N::find(from.names, from.station, name)?),
            None => None,
        };
        from.station = N::station(number, from.station);
        P::value(number).ok_or(MISSING)
    }

    fn encode(value: &P::Value, to: &mut Encoder<'_>) {
        if let Some(number) = P::number(*value) {
            unsigned(number.into(), to.to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<P::Value> {
        let number = if P::OPTIONAL {
            from.optional(|from| from.from.small())?
        } else {
            Some(from.from.small()?)
        };
        P::value(number)
    }

    fn to_wire(value: &P::Value) -> Option<u16> {
        P::number(*value)
    }

    fn from_wire(wire: Option<Option<u16>>) -> Result<P::Value, &'static str> {
        P::value(wire.flatten()).ok_or(MISSING)
    }
}
