//! MessagePack (specification of 2017) as a JSON value. Maps have texts as keys. Extension types, which crusader does not
//! use, are errors.

use crate::import::file_error::FileError;
use serde_json::{Map, Number, Value};

/// Deepest nesting. crusader uses eight levels.
const MAX_DEPTH: usize = 32;
/// Most values of a document.
const MAX_VALUES: usize = 5_000_000;

/// Reads one value, which takes all bytes.
pub(super) fn read(bytes: &[u8]) -> Result<Value, FileError> {
    let mut reader = Reader {
        bytes,
        length: bytes.len(),
        values: 0,
    };
    let value = reader.value(0)?;
    if reader.bytes.is_empty() {
        Ok(value)
    } else {
        Err(reader.format("content after its end"))
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    length: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    fn format(&self, why: &str) -> FileError {
        let at = self.length - self.bytes.len();
        FileError::Format(format!("MessagePack: {why} at byte {at}"))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], FileError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(count) else {
            return Err(FileError::Truncated("it ends within a value of MessagePack".to_owned()));
        };
        self.bytes = rest;
        Ok(taken)
    }

    /// An unsigned number of `count` bytes, at most 8.
    fn number(&mut self, count: usize) -> Result<u64, FileError> {
        let digits = self.take(count)?;
        Ok(digits.iter().fold(0, |number, digit| number << 8 | u64::from(*digit)))
    }

    fn length(&mut self, count: usize) -> Result<usize, FileError> {
        Ok(self.number(count)? as usize)
    }

    fn value(&mut self, depth: usize) -> Result<Value, FileError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(FileError::TooMany {
                what: "values",
                most: MAX_VALUES,
            });
        }
        if depth > MAX_DEPTH {
            return Err(self.format("nesting of more than 32 levels"));
        }
        let tag = self.take(1)?[0];
        let low = usize::from(tag);
        match tag {
            0x00..=0x7f => Ok(tag.into()),
            0x80..=0x8f => self.map(low & 0x0f, depth),
            0x90..=0x9f => self.array(low & 0x0f, depth),
            0xa0..=0xbf => self.text(low & 0x1f),
            0xc0 => Ok(Value::Null),
            0xc2 => Ok(Value::Bool(false)),
            0xc3 => Ok(Value::Bool(true)),
            0xca => {
                let bits = self.number(4)? as u32;
                Ok(float(f64::from(f32::from_bits(bits))))
            }
            0xcb => Ok(float(f64::from_bits(self.number(8)?))),
            0xcc..=0xcf => Ok(self.number(1 << (tag - 0xcc))?.into()),
            0xd0..=0xd3 => {
                let bytes = 1 << (tag - 0xd0);
                let unused = 64 - 8 * bytes;
                let number = self.number(bytes)?;
                // The sign is the highest bit of the bytes.
                Ok(((number << unused) as i64 >> unused).into())
            }
            0xd9..=0xdb => {
                let length = self.length(1 << (tag - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (tag - 0xdc))?;
                self.array(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(2 << (tag - 0xde))?;
                self.map(length, depth)
            }
            0xe0..=0xff => Ok(i64::from(tag as i8).into()),
            _ => Err(self.format("a value of an unexpected type")),
        }
    }

    fn text(&mut self, length: usize) -> Result<Value, FileError> {
        let bytes = self.take(length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(self.format("a text that is not UTF-8")),
        }
    }

    fn array(&mut self, length: usize, depth: usize) -> Result<Value, FileError> {
        // The length may be wrong, so that nothing is reserved.
        (0..length).map(|_| self.value(depth + 1)).collect()
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value, FileError> {
        let mut map = Map::new();
        for _ in 0..length {
            let Value::String(key) = self.value(depth + 1)? else {
                return Err(self.format("a key that is not a text"));
            };
            let value = self.value(depth + 1)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

/// JSON has no infinite numbers: they become null.
fn float(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The first example is that of msgpack.org; the others follow from the tables of the specification.
    #[test]
    fn values_of_each_type() {
        for (bytes, expected) in [
            (
                &b"\x82\xa7compact\xc3\xa6schema\x00"[..],
                json!({"compact": true, "schema": 0}),
            ),
            (b"\x93\xc0\xc2\x7f", json!([null, false, 127])),
            (b"\xff", json!(-1)),
            (b"\xe0", json!(-32)),
            (b"\xcc\xff", json!(255)),
            (b"\xcd\x01\x00", json!(256)),
            (b"\xce\0\x01\0\0", json!(65_536)),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
            (b"\xd0\x80", json!(-128)),
            (b"\xd1\x80\x00", json!(-32_768)),
            (b"\xd2\xff\xff\xff\xfe", json!(-2)),
            (b"\xd3\x80\0\0\0\0\0\0\0", json!(i64::MIN)),
            (b"\xca\x3f\xc0\0\0", json!(1.5)),
            (b"\xcb\xbf\xf8\0\0\0\0\0\0", json!(-1.5)),
            (b"\xcb\x7f\xf8\0\0\0\0\0\0", json!(null)),
            (b"\xd9\x01a", json!("a")),
            (b"\xda\0\x01a", json!("a")),
            (b"\xdc\0\x01\x05", json!([5])),
            (b"\xde\0\x01\xa1a\x05", json!({"a": 5})),
            (b"\xdf\0\0\0\x01\xa1a\x05", json!({"a": 5})),
        ] {
            assert_eq!(read(bytes), Ok(expected), "{bytes:?}");
            for length in 0..bytes.len() {
                assert!(read(&bytes[..length]).is_err(), "{bytes:?} {length}");
            }
        }
        for wrong in [
            &b"\xc1"[..],
            b"\xc4\x01a",
            b"\x81\x01\x02",
            b"\xa1\xff",
            b"\x01\x01",
            b"\xdd\xff\xff\xff\xff",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(read(&[0x91; 100]).unwrap_err().to_string().contains("32 levels"));
    }
}
