//! Format-independent document tree whose values carry their source span.

use std::ops::Range;

/// Source span of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The whole document, or a document without a text.
    Whole,
    /// A byte range of the file.
    File(Range<usize>),
    /// A byte range of the `--set` argument with this index.
    Argument(usize, Range<usize>),
}

/// A value with its source span.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
    /// Text as typed, for values from the command line, where quotes are optional.
    pub(crate) raw: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    /// A number with a fraction, as written, or an integer out of range.
    Number(String),
    Bool(bool),
    /// A TOML date or time, as written. No key accepts one.
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in the document's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(value: Value, place: Place) -> Self {
        Node {
            value,
            place,
            raw: None,
        }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Returns the text, also of a number or word typed without quotes on the command line.
    pub(crate) fn text(&self) -> Option<&str> {
        match (&self.value, &self.raw) {
            (Value::Text(text), _) => Some(text),
            (Value::List(_) | Value::Table(_), _) => None,
            (_, Some(raw)) => Some(raw),
            _ => None,
        }
    }

    /// Formats the value for an error message.
    pub(crate) fn found(&self) -> String {
        match &self.value {
            Value::Text(text) => {
                let short: String = text.chars().take(60).collect();
                let dots = if short.len() < text.len() { "…" } else { "" };
                format!("`{}{dots}`", short.escape_debug())
            }
            Value::Integer(number) => format!("`{number}`"),
            Value::Number(text) | Value::Date(text) => {
                format!("`{}`", text.chars().take(60).collect::<String>().escape_debug())
            }
            Value::Bool(value) => format!("`{value}`"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// Converts a JSON value, which has no spans.
    pub(crate) fn from_json(value: &serde_json::Value) -> Node {
        use serde_json::Value as Json;
        let value = match value {
            Json::Null => Value::Date("null".to_owned()),
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Value::Integer(integer.into()),
                (_, Some(integer)) => Value::Integer(integer.into()),
                _ => Value::Number(number.to_string()),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Node::from_json).collect()),
            Json::Object(map) => Value::Table(Table {
                entries: map
                    .iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        place: Place::Whole,
                        node: Node::from_json(value),
                    })
                    .collect(),
            }),
        };
        Node::new(value, Place::Whole)
    }

    /// Converts to JSON. Numbers that JSON does not have, and dates, are texts.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Date(text) => text.as_str().into(),
            Value::Integer(integer) => i64::try_from(*integer).map_or_else(|_| integer.to_string().into(), Into::into),
            Value::Number(text) => {
                let number = text.parse().ok().and_then(serde_json::Number::from_f64);
                number.map_or_else(|| text.as_str().into(), Into::into)
            }
            Value::Bool(value) => (*value).into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(table) => {
                let entries = table.entries.iter();
                let entries = entries.map(|entry| (entry.key.clone(), entry.node.to_json()));
                serde_json::Value::Object(entries.collect())
            }
        }
    }

    /// Converts a TOML value. `at` converts a byte range to a place.
    pub(crate) fn from_toml(value: &toml::Spanned<toml::de::DeValue<'_>>, at: &impl Fn(Range<usize>) -> Place) -> Node {
        use toml::de::DeValue as Toml;
        let place = at(value.span());
        let value = match value.get_ref() {
            Toml::String(text) => Value::Text(text.to_string()),
            Toml::Integer(integer) => match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Number(integer.to_string()),
            },
            Toml::Float(number) => Value::Number(number.as_str().to_owned()),
            Toml::Boolean(value) => Value::Bool(*value),
            Toml::Datetime(date) => Value::Date(date.to_string()),
            Toml::Array(items) => Value::List(items.iter().map(|item| Node::from_toml(item, at)).collect()),
            Toml::Table(table) => Value::Table(Table::from_toml(table, at)),
        };
        Node::new(value, place)
    }
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Converts a TOML table, in the order of the text.
    pub(crate) fn from_toml(table: &toml::de::DeTable<'_>, at: &impl Fn(Range<usize>) -> Place) -> Table {
        let mut sorted: Vec<_> = table.iter().collect();
        sorted.sort_by_key(|(key, _)| key.span().start);
        Table {
            entries: sorted
                .into_iter()
                .map(|(key, value)| Entry {
                    key: key.get_ref().to_string(),
                    place: at(key.span()),
                    node: Node::from_toml(value, at),
                })
                .collect(),
        }
    }
}
