//! A program whose files can be imported.

use super::{ImportError, Imported};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// A program whose files can be imported. Its file has all that belongs to it; [`TOOLS`](super::TOOLS) registers it.
pub(super) struct Tool {
    /// Its files, as the object of a sentence: `a result of irtt (-o)`.
    pub(super) files: &'static str,
    /// Returns true if the content is a file of this program, complete or not.
    pub(super) recognises: fn(&Content<'_>) -> bool,
    /// Reads the content. The second argument is the name of the file, for the record.
    pub(super) read: fn(&Content<'_>, &str) -> Result<Imported, ImportError>,
}

/// Most keys that are read from a JSON object to recognise its program.
const MAX_KEYS: usize = 1000;

/// The decompressed content of a file.
pub(super) struct Content<'a> {
    bytes: &'a [u8],
    keys: BTreeSet<String>,
}

impl<'a> Content<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Content {
            bytes,
            keys: keys(bytes),
        }
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns true if the content is a JSON object with these keys, or the beginning of one.
    pub(super) fn has_keys(&self, wanted: &[&str]) -> bool {
        wanted.iter().all(|key| self.keys.contains(*key))
    }

    /// The first lines, without their ends. Invalid UTF-8 is replaced.
    pub(super) fn first_lines(&self, count: usize) -> Vec<String> {
        let head = &self.bytes[..self.bytes.len().min(1 << 16)];
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let lines = head.split(|byte| *byte == b'\n').take(count);
        lines
            .map(|line| String::from_utf8_lossy(line).trim_end().to_owned())
            .collect()
    }
}

/// Keys of the outermost JSON object, as far as it is valid.
fn keys(bytes: &[u8]) -> BTreeSet<String> {
    struct Keys<'a>(&'a mut BTreeSet<String>);
    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if self.0.len() < MAX_KEYS {
                    self.0.insert(key);
                }
                map.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }
    let mut keys = BTreeSet::new();
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        // A truncated object has the keys before its end.
        let _ = serde_json::Deserializer::from_slice(bytes).deserialize_map(Keys(&mut keys));
    }
    keys
}
