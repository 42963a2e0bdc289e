//! Keys with their values, for writing a document.

use serde_json::{Map, Value};

/// Keys of a section with their values, as JSON. Keys that are absent or have no keys below them are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Map<String, Value>);

impl Keys {
    /// Adds a key.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.put(key, value);
        self
    }

    pub(crate) fn put(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if !empty {
            self.0.insert(key.to_owned(), value);
        }
    }

    /// Adds the sections of a map, in the order of `things`.
    pub(crate) fn named<'t, T>(&mut self, key: &str, things: &'t [T], write: impl Fn(&'t T) -> (String, Value)) {
        let map: Map<String, Value> = things.iter().map(write).collect();
        self.put(key, map);
    }

    /// The keys of both.
    pub(crate) fn and(mut self, other: Keys) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The keys with these names, in the order of the names. Other keys are removed.
    pub(crate) fn ordered(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        let mut ordered = Map::new();
        for name in names {
            if let Some(value) = self.0.remove(name) {
                ordered.insert(name.to_owned(), value);
            }
        }
        Keys(ordered)
    }

    pub(crate) fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}
