//! Numbers, durations and times.

use super::{Decoder, Encoder, Kind, Optional, Required, RowReader, RowWriter};
use crate::columns::{Values, WireType};
use crate::varint::{signed, unsigned};
use netburn_units::{Duration, Instant};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A number.
pub(crate) type Num<T> = Required<Numeric<T>>;
/// A number that may be missing.
pub(crate) type MaybeNum<T> = Optional<Numeric<T>>;

/// The kind of value of a number type.
pub(crate) struct Numeric<T>(PhantomData<T>);

impl<T: Number> Kind for Numeric<T> {
    type Value = T;
    type Wire = T::Wire;
    const VALUES: Values = T::VALUES;
    const WIRE: WireType = T::WIRE;

    fn write(value: Option<&T>, to: &mut RowWriter<'_>) {
        to.batch.maybe_number(value.map(|value| value.bits()));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<T>, &'static str> {
        match from.cursor.maybe_number() {
            Some(bits) => T::from_bits(bits).ok_or("a number is out of range").map(Some),
            None => Ok(None),
        }
    }

    fn encode(value: &T, to: &mut Encoder<'_>) {
        value.encode(to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<T> {
        T::decode(from)
    }

    fn to_wire(value: &T) -> T::Wire {
        value.to_wire()
    }

    fn from_wire(wire: T::Wire) -> T {
        T::from_wire(wire)
    }
}

/// A number in columns, spool and messages.
pub(crate) trait Number: Copy {
    /// Number in messages.
    type Wire: Serialize + DeserializeOwned;
    const VALUES: Values;
    const WIRE: WireType;
    /// The bits of a column's value.
    fn bits(self) -> i64;
    /// `None` if the value is out of range.
    fn from_bits(bits: i64) -> Option<Self>;
    fn to_wire(self) -> Self::Wire;
    fn from_wire(wire: Self::Wire) -> Self;

    fn encode(self, to: &mut Encoder<'_>) {
        match Self::VALUES {
            Values::Signed => signed(self.bits(), to.to),
            _ => unsigned(self.bits() as u64, to.to),
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        Self::from_bits(match Self::VALUES {
            Values::Signed => from.from.signed()?,
            _ => from.from.unsigned()? as i64,
        })
    }
}

macro_rules! integers {
    ($($type:ty, $values:ident, $bits:literal, $wide:ty;)+) => {$(
        impl Number for $type {
            type Wire = $type;
            const VALUES: Values = Values::$values;
            const WIRE: WireType = WireType::Integer { signed: matches!(Values::$values, Values::Signed), bits: $bits };

            fn bits(self) -> i64 {
                self as i64
            }

            fn from_bits(bits: i64) -> Option<Self> {
                <$type>::try_from(bits as $wide).ok()
            }

            fn to_wire(self) -> $type {
                self
            }

            fn from_wire(wire: $type) -> Self {
                wire
            }
        }
    )+};
}

integers! {
    u8, Unsigned, 8, u64;
    u16, Unsigned, 16, u64;
    u32, Unsigned, 32, u64;
    u64, Unsigned, 64, u64;
    i32, Signed, 32, i64;
    i64, Signed, 64, i64;
}

impl Number for Duration {
    type Wire = u64;
    const VALUES: Values = Values::Unsigned;
    const WIRE: WireType = u64::WIRE;

    fn bits(self) -> i64 {
        self.as_nanos() as i64
    }

    fn from_bits(bits: i64) -> Option<Self> {
        Some(Duration::from_nanos(bits as u64))
    }

    fn to_wire(self) -> u64 {
        self.as_nanos()
    }

    fn from_wire(wire: u64) -> Self {
        Duration::from_nanos(wire)
    }
}

impl Number for Instant {
    type Wire = i64;
    const VALUES: Values = Values::Signed;
    const WIRE: WireType = i64::WIRE;

    fn bits(self) -> i64 {
        self.as_nanos()
    }

    fn from_bits(bits: i64) -> Option<Self> {
        Some(Instant::from_nanos(bits))
    }

    fn to_wire(self) -> i64 {
        self.as_nanos()
    }

    fn from_wire(wire: i64) -> Self {
        Instant::from_nanos(wire)
    }

    fn encode(self, to: &mut Encoder<'_>) {
        signed(self.as_nanos().wrapping_sub(to.last), to.to);
        to.last = self.as_nanos();
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self> {
        from.last = from.last.wrapping_add(from.from.signed()?);
        Some(Instant::from_nanos(from.last))
    }
}
