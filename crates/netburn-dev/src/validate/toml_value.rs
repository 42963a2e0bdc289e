//! Tables of a case file, and deserialisation with the position of an error.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// Message and position in the text.
pub(super) type Fault = (String, Range<usize>);

/// A table of a case file.
pub(super) type Table<'i> = DeTable<'i>;
/// A value with its position.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// Merges `changes` into `base`, including nested tables.
pub(super) fn merge<'i>(base: &mut Table<'i>, changes: &Table<'i>) {
    for (key, value) in changes.iter() {
        let name: &str = key.get_ref();
        if let (Some(DeValue::Table(below)), DeValue::Table(above)) =
            (base.get_mut(name).map(Spanned::get_mut), value.get_ref())
        {
            merge(below, above);
            continue;
        }
        base.remove(name);
        base.insert(key.clone(), value.clone());
    }
}

/// Deserializes a `T` from a table. Errors without a position get `span`.
pub(super) fn deserialize<'i, T: Deserialize<'i>>(table: Table<'i>, span: Range<usize>) -> Result<T, Fault> {
    let value: Value<'i> = Spanned::new(span.clone(), DeValue::Table(table));
    T::deserialize(ValueDeserializer::from(value)).map_err(|error| fault(&error, span))
}

/// Message of an error, and its position or `otherwise`.
pub(super) fn fault(error: &toml::de::Error, otherwise: Range<usize>) -> Fault {
    (error.message().to_owned(), error.span().unwrap_or(otherwise))
}

/// Deserializes a table, and its copy with the changes of the key `against` if it has this key.
pub(super) fn deserialize_with_against<T: DeserializeOwned>(
    mut table: Table<'_>,
    span: Range<usize>,
) -> Result<(T, Option<T>), Fault> {
    let Some(changes) = table.remove("against") else {
        return Ok((deserialize(table, span)?, None));
    };
    let at = changes.span();
    let Some(changes) = changes.get_ref().as_table() else {
        let message = "invalid `against`; expected a table of changed keys";
        return Err((message.to_owned(), at));
    };
    let mut other = table.clone();
    merge(&mut other, changes);
    Ok((deserialize(table, span)?, Some(deserialize(other, at)?)))
}
