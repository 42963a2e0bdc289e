//! Values of columns: how each kind of value is stored in a Parquet column, in the spool and in a
//! message.
//!
//! A table's description names a cell type for each column; see [`table`](super::table).

use super::batch::Batch;
use super::cursor::Cursor;
use super::dictionary::Name;
use super::names::{Lookup, Names};
use super::{MAX_ROW_BYTES, Values, WireType};
use crate::row::{Bssid, Phy, Side};
use crate::varint::{Bytes, signed, unsigned};
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome;
use parquet::data_type::ByteArray;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::marker::PhantomData;

/// A kind of value in a column.
pub(crate) trait Cell {
    /// Value in the row.
    type Value;
    /// Value in a message.
    type Wire: Serialize + DeserializeOwned;
    /// Type of the column's values.
    const VALUES: Values;
    /// True if a value may be missing.
    const OPTIONAL: bool = false;
    /// Type of the values in messages.
    const WIRE: WireType;

    /// Returns false if the value is missing.
    fn is_present(_: &Self::Value) -> bool {
        true
    }

    /// Writes a value into a column.
    fn write(value: &Self::Value, to: &mut RowWriter<'_>);

    /// Reads a value from a column.
    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Self::Value, &'static str>;

    /// Writes a value into a spool's payload, unless it is missing.
    fn encode(value: &Self::Value, to: &mut Encoder<'_>);

    /// Reads what [`encode`](Self::encode) wrote.
    fn decode(from: &mut Decoder<'_>) -> Option<Self::Value>;

    /// Value in a message.
    fn to_wire(value: &Self::Value) -> Self::Wire;

    /// Value from a message; `None` if the message ends before it.
    fn from_wire(wire: Option<Self::Wire>) -> Result<Self::Value, &'static str>;
}

/// Takes the values of one row, column by column.
pub(crate) struct RowWriter<'a> {
    pub(crate) names: &'a Names,
    pub(crate) batch: &'a mut Batch,
    /// The row's station, which the names of workloads depend on.
    pub(crate) station: u16,
}

/// Gives the values of one row, column by column.
pub(crate) struct RowReader<'a, 'names, 'columns> {
    pub(crate) names: &'a mut Lookup<'names>,
    pub(crate) cursor: &'a mut Cursor<'columns>,
    pub(crate) station: u16,
}

/// Payload of one row in the spool. Times are stored as the difference from the time before them.
pub(crate) struct Encoder<'a> {
    pub(crate) to: &'a mut Vec<u8>,
    pub(crate) last: i64,
}

/// The rest of a payload.
pub(crate) struct Decoder<'a> {
    pub(crate) from: Bytes<'a>,
    pub(crate) last: i64,
    /// A bit for each optional column that is left, from the lowest.
    pub(crate) present: u64,
}

impl Decoder<'_> {
    /// Reads a value of an optional column.
    fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        let present = self.present & 1 != 0;
        self.present >>= 1;
        if present { read(self).map(Some) } else { Some(None) }
    }
}

const MISSING: &str = "a value is missing";
const NO_STATION: &str = "unknown station";
const NO_WORKLOAD: &str = "unknown workload";
const TOO_LARGE: &str = "a number is out of range";
const NOT_UTF8: &str = "the text is not UTF-8";

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

/// A number.
pub(crate) struct Num<T>(PhantomData<T>);

impl<T: Number> Cell for Num<T> {
    type Value = T;
    type Wire = T::Wire;
    const VALUES: Values = T::VALUES;
    const WIRE: WireType = T::WIRE;

    fn write(value: &T, to: &mut RowWriter<'_>) {
        to.batch.number(value.bits());
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<T, &'static str> {
        T::from_bits(from.cursor.number()).ok_or(TOO_LARGE)
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

    fn from_wire(wire: Option<T::Wire>) -> Result<T, &'static str> {
        wire.map(T::from_wire).ok_or(MISSING)
    }
}

/// A number that may be missing.
pub(crate) struct MaybeNum<T>(PhantomData<T>);

impl<T: Number> Cell for MaybeNum<T> {
    type Value = Option<T>;
    type Wire = Option<T::Wire>;
    const VALUES: Values = T::VALUES;
    const OPTIONAL: bool = true;
    const WIRE: WireType = T::WIRE;

    fn is_present(value: &Option<T>) -> bool {
        value.is_some()
    }

    fn write(value: &Option<T>, to: &mut RowWriter<'_>) {
        to.batch.maybe_number(value.map(T::bits));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<T>, &'static str> {
        match from.cursor.maybe_number() {
            Some(bits) => T::from_bits(bits).ok_or(TOO_LARGE).map(Some),
            None => Ok(None),
        }
    }

    fn encode(value: &Option<T>, to: &mut Encoder<'_>) {
        if let Some(value) = value {
            value.encode(to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<T>> {
        from.optional(T::decode)
    }

    fn to_wire(value: &Option<T>) -> Option<T::Wire> {
        value.map(T::to_wire)
    }

    fn from_wire(wire: Option<Option<T::Wire>>) -> Result<Option<T>, &'static str> {
        Ok(wire.flatten().map(T::from_wire))
    }
}

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
        names.station(name).ok_or(NO_STATION)
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
        names.workload(station, name).ok_or(NO_WORKLOAD)
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
    const WIRE: WireType = u16::WIRE;

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
    const ALL: &'static [Self] = &[Side::Station, Side::Server];

    fn name(self) -> &'static str {
        Side::name(self)
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

/// A value of an enumeration.
pub(crate) struct Word<E>(PhantomData<E>);

impl<E: Named> Cell for Word<E> {
    type Value = E;
    type Wire = WireName<E>;
    const VALUES: Values = Values::Name;
    const WIRE: WireType = WireType::OneOf(E::NAMES);

    fn write(value: &E, to: &mut RowWriter<'_>) {
        to.batch.text(value.column_name(to.names));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<E, &'static str> {
        E::find(from.names, from.cursor.name()).ok_or("unknown name")
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

    fn from_wire(wire: Option<WireName<E>>) -> Result<E, &'static str> {
        wire.map(|name| name.0).ok_or(MISSING)
    }
}

/// A value of an enumeration that may be missing.
pub(crate) struct MaybeWord<E>(PhantomData<E>);

impl<E: Named> Cell for MaybeWord<E> {
    type Value = Option<E>;
    type Wire = Option<WireName<E>>;
    const VALUES: Values = Values::Name;
    const OPTIONAL: bool = true;
    const WIRE: WireType = WireType::OneOf(E::NAMES);

    fn is_present(value: &Option<E>) -> bool {
        value.is_some()
    }

    fn write(value: &Option<E>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.map(|value| value.column_name(to.names)));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<E>, &'static str> {
        match from.cursor.maybe_name() {
            Some(name) => E::find(from.names, name).ok_or("unknown name").map(Some),
            None => Ok(None),
        }
    }

    fn encode(value: &Option<E>, to: &mut Encoder<'_>) {
        if let Some(value) = value {
            to.to.push(value.code());
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<E>> {
        from.optional(|from| E::from_code(from.from.byte()?))
    }

    fn to_wire(value: &Option<E>) -> Option<WireName<E>> {
        value.map(WireName)
    }

    fn from_wire(wire: Option<Option<WireName<E>>>) -> Result<Option<E>, &'static str> {
        Ok(wire.flatten().map(|name| name.0))
    }
}

/// Text of which a column has few different values. Spools hold all of it.
pub(crate) struct Label;

impl Cell for Label {
    type Value = Cow<'static, str>;
    type Wire = Cow<'static, str>;
    const VALUES: Values = Values::Name;
    const WIRE: WireType = WireType::Text;

    fn write(value: &Self::Value, to: &mut RowWriter<'_>) {
        to.batch.text(ByteArray::from(&**value));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Self::Value, &'static str> {
        Ok(utf8(from.cursor.name().bytes)?.to_owned().into())
    }

    fn encode(value: &Self::Value, to: &mut Encoder<'_>) {
        encode_text(value, to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self::Value> {
        decode_text(from).map(Cow::Owned)
    }

    fn to_wire(value: &Self::Value) -> Self::Wire {
        value.clone()
    }

    fn from_wire(wire: Option<Self::Wire>) -> Result<Self::Value, &'static str> {
        wire.ok_or(MISSING)
    }
}

/// Text of which a column has few different values, and which may be missing.
pub(crate) struct MaybeLabel;

impl Cell for MaybeLabel {
    type Value = Option<String>;
    type Wire = Option<String>;
    const VALUES: Values = Values::Name;
    const OPTIONAL: bool = true;
    const WIRE: WireType = WireType::Text;

    fn is_present(value: &Option<String>) -> bool {
        value.is_some()
    }

    fn write(value: &Option<String>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.as_deref().map(ByteArray::from));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<String>, &'static str> {
        match from.cursor.maybe_name() {
            Some(name) => Ok(Some(utf8(name.bytes)?.to_owned())),
            None => Ok(None),
        }
    }

    fn encode(value: &Option<String>, to: &mut Encoder<'_>) {
        if let Some(value) = value {
            encode_text(value, to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<String>> {
        from.optional(decode_text)
    }

    fn to_wire(value: &Option<String>) -> Option<String> {
        value.clone()
    }

    fn from_wire(wire: Option<Option<String>>) -> Result<Option<String>, &'static str> {
        Ok(wire.flatten())
    }
}

/// An address of an access point's radio, which may be missing.
pub(crate) struct MaybeBssid;

impl Cell for MaybeBssid {
    type Value = Option<Bssid>;
    type Wire = Option<WireBssid>;
    const VALUES: Values = Values::Name;
    const OPTIONAL: bool = true;
    const WIRE: WireType = WireType::Text;

    fn is_present(value: &Option<Bssid>) -> bool {
        value.is_some()
    }

    fn write(value: &Option<Bssid>, to: &mut RowWriter<'_>) {
        to.batch
            .maybe_text(value.map(|bssid| ByteArray::from(&*bssid.to_string())));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<Bssid>, &'static str> {
        match from.cursor.maybe_name() {
            Some(name) => utf8(name.bytes)?.parse().map(Some).map_err(|_| "invalid BSSID"),
            None => Ok(None),
        }
    }

    fn encode(value: &Option<Bssid>, to: &mut Encoder<'_>) {
        if let Some(Bssid(bytes)) = value {
            to.to.extend_from_slice(bytes);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<Bssid>> {
        from.optional(|from| Some(Bssid(from.from.take(6)?.try_into().ok()?)))
    }

    fn to_wire(value: &Option<Bssid>) -> Option<WireBssid> {
        value.map(WireBssid)
    }

    fn from_wire(wire: Option<Option<WireBssid>>) -> Result<Option<Bssid>, &'static str> {
        Ok(wire.flatten().map(|bssid| bssid.0))
    }
}

/// A BSSID in a message: `02:00:00:00:01:00`.
pub(crate) struct WireBssid(Bssid);

impl Serialize for WireBssid {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WireBssid {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        text.parse().map(WireBssid).map_err(D::Error::custom)
    }
}

/// Text in which every value is different. Spools truncate it to about 1 MiB.
pub(crate) struct LongText;

impl Cell for LongText {
    type Value = Cow<'static, str>;
    type Wire = Cow<'static, str>;
    const VALUES: Values = Values::Text;
    const WIRE: WireType = WireType::Text;

    fn write(value: &Self::Value, to: &mut RowWriter<'_>) {
        to.batch.text(ByteArray::from(&**value));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Self::Value, &'static str> {
        Ok(utf8(from.cursor.text())?.to_owned().into())
    }

    fn encode(value: &Self::Value, to: &mut Encoder<'_>) {
        let mut room = value.len().min(MAX_ROW_BYTES - OTHER_VALUES);
        while !value.is_char_boundary(room) {
            room -= 1;
        }
        encode_text(&value[..room], to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self::Value> {
        decode_text(from).map(Cow::Owned)
    }

    fn to_wire(value: &Self::Value) -> Self::Wire {
        value.clone()
    }

    fn from_wire(wire: Option<Self::Wire>) -> Result<Self::Value, &'static str> {
        wire.ok_or(MISSING)
    }
}

/// A JSON document that contains the row's text, or nothing. Spools leave it out from 512 KiB.
pub(crate) struct MaybeJson;

impl MaybeJson {
    const MAX_BYTES: usize = MAX_ROW_BYTES / 2 - OTHER_VALUES;
}

impl Cell for MaybeJson {
    type Value = Option<String>;
    type Wire = Option<String>;
    const VALUES: Values = Values::Text;
    const OPTIONAL: bool = true;
    const WIRE: WireType = WireType::Text;

    fn is_present(value: &Option<String>) -> bool {
        value.as_ref().is_some_and(|value| value.len() <= Self::MAX_BYTES)
    }

    fn write(value: &Option<String>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.as_deref().map(ByteArray::from));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<String>, &'static str> {
        match from.cursor.maybe_text() {
            Some(text) => Ok(Some(utf8(text)?.to_owned())),
            None => Ok(None),
        }
    }

    fn encode(value: &Option<String>, to: &mut Encoder<'_>) {
        if let Some(value) = value.as_ref().filter(|value| value.len() <= Self::MAX_BYTES) {
            encode_text(value, to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<String>> {
        from.optional(decode_text)
    }

    fn to_wire(value: &Option<String>) -> Option<String> {
        value.clone()
    }

    fn from_wire(wire: Option<Option<String>>) -> Result<Option<String>, &'static str> {
        Ok(wire.flatten())
    }
}

/// More bytes than the other values of a row with text.
const OTHER_VALUES: usize = 128;

fn encode_text(text: &str, to: &mut Encoder<'_>) {
    unsigned(text.len() as u64, to.to);
    to.to.extend_from_slice(text.as_bytes());
}

fn decode_text(from: &mut Decoder<'_>) -> Option<String> {
    let length = usize::try_from(from.from.unsigned()?).ok()?;
    std::str::from_utf8(from.from.take(length)?).ok().map(str::to_owned)
}

fn utf8(text: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(text).map_err(|_| NOT_UTF8)
}
