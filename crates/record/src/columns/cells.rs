//! Values of columns: how each kind of value is stored in a Parquet column, in the spool and in a
//! message.
//!
//! A table's description names a cell type for each column; see [`table`](super::table). Most cell
//! types are a [`Kind`] of value that is [`Required`] or [`Optional`].

mod number;
mod station;
mod text;
mod word;

pub(crate) use number::{MaybeNum, Num};
pub(crate) use station::{Known, Maybe, Station, Workload};
pub(crate) use text::{Label, LongText, MaybeBssid, MaybeJson, MaybeLabel};
pub(crate) use word::{MaybeWord, Word};

use super::batch::Batch;
use super::cursor::Cursor;
use super::names::{Lookup, Names};
use super::{Values, WireType};
use crate::varint::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

const MISSING: &str = "a value is missing";

/// The values of one column.
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

/// A kind of value.
pub(crate) trait Kind {
    /// Value in the row.
    type Value;
    /// Value in a message.
    type Wire: Serialize + DeserializeOwned;
    /// Type of the column's values.
    const VALUES: Values;
    /// Type of the values in messages.
    const WIRE: WireType;

    /// Returns false if a spool leaves an optional value out, because it is too long.
    fn fits(_: &Self::Value) -> bool {
        true
    }

    /// Writes a value into a column. `None`: the optional column has no value.
    fn write(value: Option<&Self::Value>, to: &mut RowWriter<'_>);

    /// Reads what [`write`](Self::write) wrote.
    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<Self::Value>, &'static str>;

    /// Writes a value into a spool's payload.
    fn encode(value: &Self::Value, to: &mut Encoder<'_>);

    /// Reads what [`encode`](Self::encode) wrote.
    fn decode(from: &mut Decoder<'_>) -> Option<Self::Value>;

    /// Value in a message.
    fn to_wire(value: &Self::Value) -> Self::Wire;

    /// Value from a message.
    fn from_wire(wire: Self::Wire) -> Self::Value;
}

/// A column in which every row has a value.
pub(crate) struct Required<K>(PhantomData<K>);

impl<K: Kind> Cell for Required<K> {
    type Value = K::Value;
    type Wire = K::Wire;
    const VALUES: Values = K::VALUES;
    const WIRE: WireType = K::WIRE;

    fn write(value: &K::Value, to: &mut RowWriter<'_>) {
        K::write(Some(value), to);
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<K::Value, &'static str> {
        K::read(from)?.ok_or(MISSING)
    }

    fn encode(value: &K::Value, to: &mut Encoder<'_>) {
        K::encode(value, to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<K::Value> {
        K::decode(from)
    }

    fn to_wire(value: &K::Value) -> K::Wire {
        K::to_wire(value)
    }

    fn from_wire(wire: Option<K::Wire>) -> Result<K::Value, &'static str> {
        wire.map(K::from_wire).ok_or(MISSING)
    }
}

/// A column in which a value may be missing.
pub(crate) struct Optional<K>(PhantomData<K>);

impl<K: Kind> Cell for Optional<K> {
    type Value = Option<K::Value>;
    type Wire = Option<K::Wire>;
    const VALUES: Values = K::VALUES;
    const OPTIONAL: bool = true;
    const WIRE: WireType = K::WIRE;

    fn is_present(value: &Option<K::Value>) -> bool {
        value.as_ref().is_some_and(K::fits)
    }

    fn write(value: &Option<K::Value>, to: &mut RowWriter<'_>) {
        K::write(value.as_ref(), to);
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<K::Value>, &'static str> {
        K::read(from)
    }

    fn encode(value: &Option<K::Value>, to: &mut Encoder<'_>) {
        if let Some(value) = value.as_ref().filter(|value| K::fits(value)) {
            K::encode(value, to);
        }
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Option<K::Value>> {
        from.optional(K::decode)
    }

    fn to_wire(value: &Option<K::Value>) -> Option<K::Wire> {
        value.as_ref().map(K::to_wire)
    }

    fn from_wire(wire: Option<Option<K::Wire>>) -> Result<Option<K::Value>, &'static str> {
        Ok(wire.flatten().map(K::from_wire))
    }
}
