//! Texts, JSON documents and BSSIDs.

use super::{Decoder, Encoder, Kind, Optional, Required, RowReader, RowWriter};
use crate::columns::{MAX_ROW_BYTES, Values, WireType};
use crate::row::Bssid;
use crate::varint::unsigned;
use parquet::data_type::ByteArray;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::marker::PhantomData;

/// Text of which a column has few different values. Spools hold all of it.
pub(crate) type Label = Required<Short<Cow<'static, str>>>;
/// Text of which a column has few different values, and which may be missing.
pub(crate) type MaybeLabel = Optional<Short<String>>;
/// Text in which every value is different. Spools truncate it to about 1 MiB.
pub(crate) type LongText = Required<Long>;
/// A JSON document that contains the row's text, or nothing. Spools leave it out from 512 KiB.
pub(crate) type MaybeJson = Optional<Json>;
/// An address of an access point's radio, which may be missing.
pub(crate) type MaybeBssid = Optional<Address>;

/// More bytes than the other values of a row with text.
const OTHER_VALUES: usize = 128;

/// The kind of value of a label.
pub(crate) struct Short<T>(PhantomData<T>);

impl<T: AsRef<str> + From<String> + Clone + Serialize + DeserializeOwned> Kind for Short<T> {
    type Value = T;
    type Wire = T;
    const VALUES: Values = Values::Name;
    const WIRE: WireType = WireType::Text;

    fn write(value: Option<&T>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.map(|value| ByteArray::from(value.as_ref())));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<T>, &'static str> {
        from.cursor.maybe_name().map(|name| text(name.bytes)).transpose()
    }

    fn encode(value: &T, to: &mut Encoder<'_>) {
        encode_text(value.as_ref(), to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<T> {
        decode_text(from)
    }

    fn to_wire(value: &T) -> T {
        value.clone()
    }

    fn from_wire(wire: T) -> T {
        wire
    }
}

/// The kind of value of a long text.
pub(crate) struct Long;

impl Kind for Long {
    type Value = Cow<'static, str>;
    type Wire = Cow<'static, str>;
    const VALUES: Values = Values::Text;
    const WIRE: WireType = WireType::Text;

    fn write(value: Option<&Self::Value>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.map(|value| ByteArray::from(&**value)));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<Self::Value>, &'static str> {
        from.cursor.maybe_text().map(text).transpose()
    }

    fn encode(value: &Self::Value, to: &mut Encoder<'_>) {
        let mut room = value.len().min(MAX_ROW_BYTES - OTHER_VALUES);
        while !value.is_char_boundary(room) {
            room -= 1;
        }
        encode_text(&value[..room], to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Self::Value> {
        decode_text(from)
    }

    fn to_wire(value: &Self::Value) -> Self::Wire {
        value.clone()
    }

    fn from_wire(wire: Self::Wire) -> Self::Value {
        wire
    }
}

/// The kind of value of a JSON document.
pub(crate) struct Json;

impl Json {
    const MAX_BYTES: usize = MAX_ROW_BYTES / 2 - OTHER_VALUES;
}

impl Kind for Json {
    type Value = String;
    type Wire = String;
    const VALUES: Values = Values::Text;
    const WIRE: WireType = WireType::Text;

    fn fits(value: &String) -> bool {
        value.len() <= Self::MAX_BYTES
    }

    fn write(value: Option<&String>, to: &mut RowWriter<'_>) {
        to.batch.maybe_text(value.map(|value| ByteArray::from(&**value)));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<String>, &'static str> {
        from.cursor.maybe_text().map(text).transpose()
    }

    fn encode(value: &String, to: &mut Encoder<'_>) {
        encode_text(value, to);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<String> {
        decode_text(from)
    }

    fn to_wire(value: &String) -> String {
        value.clone()
    }

    fn from_wire(wire: String) -> String {
        wire
    }
}

/// The kind of value of a BSSID.
pub(crate) struct Address;

impl Kind for Address {
    type Value = Bssid;
    type Wire = WireBssid;
    const VALUES: Values = Values::Name;
    const WIRE: WireType = WireType::Text;

    fn write(value: Option<&Bssid>, to: &mut RowWriter<'_>) {
        to.batch
            .maybe_text(value.map(|bssid| ByteArray::from(&*bssid.to_string())));
    }

    fn read(from: &mut RowReader<'_, '_, '_>) -> Result<Option<Bssid>, &'static str> {
        match from.cursor.maybe_name() {
            Some(name) => utf8(name.bytes)?.parse().map(Some).map_err(|_| "invalid BSSID"),
            None => Ok(None),
        }
    }

    fn encode(Bssid(bytes): &Bssid, to: &mut Encoder<'_>) {
        to.to.extend_from_slice(bytes);
    }

    fn decode(from: &mut Decoder<'_>) -> Option<Bssid> {
        Some(Bssid(from.from.take(6)?.try_into().ok()?))
    }

    fn to_wire(value: &Bssid) -> WireBssid {
        WireBssid(*value)
    }

    fn from_wire(wire: WireBssid) -> Bssid {
        wire.0
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

fn encode_text(text: &str, to: &mut Encoder<'_>) {
    unsigned(text.len() as u64, to.to);
    to.to.extend_from_slice(text.as_bytes());
}

fn decode_text<T: From<String>>(from: &mut Decoder<'_>) -> Option<T> {
    let length = usize::try_from(from.from.unsigned()?).ok()?;
    let text = std::str::from_utf8(from.from.take(length)?).ok()?;
    Some(text.to_owned().into())
}

fn text<T: From<String>>(bytes: &[u8]) -> Result<T, &'static str> {
    utf8(bytes).map(|text| text.to_owned().into())
}

fn utf8(text: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(text).map_err(|_| "the text is not UTF-8")
}
