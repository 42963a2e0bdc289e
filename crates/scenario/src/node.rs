//! What stands in a document, whatever it was written in: values that know their place.

use std::ops::Range;

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere in particular: the document as a whole, or one without a text.
    Whole,
    /// These bytes of the file.
    File(Range<usize>),
    /// These bytes of a `--set` argument, by its number.
    Argument(usize, Range<usize>),
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
    /// What was typed, when it came from a command line, where quotes are nobody's habit.
    pub(crate) raw: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    /// A number with a fraction, as written; or an integer too large for anything.
    Number(String),
    Bool(bool),
    /// A TOML date or time, as written. Nothing takes one.
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

    /// The text, also of a number or word typed on a command line without quotes.
    pub(crate) fn text(&self) -> Option<&str> {
        match (&self.value, &self.raw) {
            (Value::Text(text), _) => Some(text),
            (Value::List(_) | Value::Table(_), _) => None,
            (_, Some(raw)) => Some(raw),
            _ => None,
        }
    }

    /// The value as an error shows it.
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

    /// From a JSON value, which has no places.
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

    /// From a TOML value; `at` makes a place of its bytes.
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

    /// From a TOML table, in the order of the text.
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
