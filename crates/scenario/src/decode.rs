//! Conversion of document nodes to typed values. All problems are collected.

use crate::node::{Entry, Node, Place, Table, Value};
use crate::problem::Problem;
use crate::suggest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::ops::Deref;

/// Type of a key's value: its reader and its JSON Schema.
pub(crate) trait FromNode: Sized {
    /// Reads the node. Returns `None` after reporting a problem.
    fn read(node: &Node, cx: &mut Context) -> Option<Self>;
    /// JSON Schema of the value.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
    /// Keys that are allowed below it.
    fn shape() -> Shape {
        Shape::Leaf
    }
}

/// Keys that are allowed below a key.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// None: the key has a single value.
    Leaf,
    /// A fixed set of keys.
    Table(fn() -> Vec<(&'static str, Shape)>),
    /// Names from the file, each with the same keys below.
    Named(fn() -> Shape),
}

/// A value with its source span and the path of its key.
#[derive(Debug, Clone)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
    pub(crate) path: String,
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// Problems found so far, and the path of the key being read.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pub(crate) path: Vec<String>,
    pub(crate) problems: Vec<Problem>,
    /// The document is a resolved plan, which may define the built-in workloads.
    pub(crate) resolved: bool,
}

impl Context {
    /// Reports a problem with the key being read.
    pub(crate) fn problem(&mut self, place: &Place, message: impl Into<String>, help: impl Into<Option<String>>) {
        let path = self.path.join(".");
        self.problems
            .push(Problem::new(place.clone(), &path, message.into(), help.into()));
    }

    /// Reports a problem with a value read earlier.
    pub(crate) fn problem_at<T>(
        &mut self,
        at: &Spanned<T>,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.problems
            .push(Problem::new(at.place.clone(), &at.path, message.into(), help.into()));
    }

    /// Reports a value of the wrong type.
    pub(crate) fn mismatch<T>(&mut self, node: &Node, wanted: &str) -> Option<T> {
        self.problem(&node.place, format!("found {}, expected {wanted}", node.found()), None);
        None
    }

    pub(crate) fn table<'n>(&mut self, node: &'n Node, wanted: &str) -> Option<&'n Table> {
        match node.table() {
            Some(table) => Some(table),
            None => self.mismatch(node, wanted),
        }
    }

    /// Reads the value of `key`, if present.
    pub(crate) fn key<T: FromNode>(&mut self, table: &Table, key: &str) -> Option<Spanned<T>> {
        let node = table.get(key)?;
        self.within(key, |cx| cx.at(node))
    }

    /// Reads a value and keeps its span and path.
    pub(crate) fn at<T: FromNode>(&mut self, node: &Node) -> Option<Spanned<T>> {
        let value = T::read(node, self)?;
        Some(Spanned {
            value,
            place: node.place.clone(),
            path: self.path.join("."),
        })
    }

    /// Returns the known name most similar to `found`. Returns `None` after 100 problems, because the search is slow and
    /// suggestions no longer help.
    pub(crate) fn nearest<'a>(&self, found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        if self.problems.len() > 100 {
            return None;
        }
        suggest::nearest(found, known)
    }

    /// Runs `body` with `key` appended to the path.
    pub(crate) fn within<R>(&mut self, key: &str, body: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(suggest::shortened(key));
        let result = body(self);
        self.path.pop();
        result
    }

    /// Reports every key of `table` that is not in `known`, with the most similar known key.
    pub(crate) fn check_keys(&mut self, table: &Table, known: &[&str]) {
        for Entry { key, place, .. } in &table.entries {
            if known.contains(&key.as_str()) {
                continue;
            }
            let help = match self.nearest(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => match self.sections_with_key(key).as_slice() {
                    [] => format!("expected one of {}", suggest::list(known.iter().copied())),
                    sections => format!("it belongs in {}", suggest::list(sections.iter().map(String::as_str))),
                },
            };
            self.problem(place, format!("unknown key {}", suggest::quoted_name(key)), help);
        }
    }

    /// Sections that have the key.
    fn sections_with_key(&self, key: &str) -> Vec<String> {
        if self.problems.len() > 100 {
            Vec::new()
        } else {
            crate::sections::sections_with_key(key)
        }
    }

    /// Reports the missing key `key`, with the first sentence of its description.
    pub(crate) fn missing(&mut self, node: &Node, key: &str, about: &str) {
        let help = format!("it is the {}", first_sentence(about));
        self.problem(&node.place, format!("missing `{key}`"), help);
    }
}

fn first_sentence(text: &str) -> String {
    let text = text.trim();
    let end = text.find(". ").unwrap_or(text.len());
    let sentence = text[..end].trim_end_matches('.');
    let mut chars = sentence.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Tables under names from the file, in the file's order.
#[derive(Debug, Clone)]
pub(crate) struct Named<T>(pub(crate) Vec<(Spanned<String>, Spanned<T>)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T: FromNode> FromNode for Named<T> {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let table = cx.table(node, "a table of names")?;
        let mut all = Vec::new();
        for entry in &table.entries {
            cx.within(&entry.key, |cx| {
                let good = crate::scalars::check_name(&entry.key, &entry.place, cx);
                let value = cx.at(&entry.node);
                if let (true, Some(mut value)) = (good, value) {
                    // Problems with the whole table are shown at its name.
                    let name = Spanned {
                        value: entry.key.clone(),
                        place: entry.place.clone(),
                        path: Spanned::<T>::path(&value).to_owned(),
                    };
                    value.place = entry.place.clone();
                    all.push((name, value));
                }
            });
        }
        Some(Named(all))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let below = T::schema(generator);
        json_schema!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z0-9-]{1,63}$" },
            "additionalProperties": below,
        })
    }

    fn shape() -> Shape {
        Shape::Named(T::shape)
    }
}

impl<T> Spanned<T> {
    fn path(&self) -> &str {
        &self.path
    }
}

/// A list.
#[derive(Debug, Clone)]
pub(crate) struct List<T>(pub(crate) Vec<Spanned<T>>);

impl<T: FromNode> FromNode for List<T> {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        match &node.value {
            Value::List(items) => Some(List(items.iter().filter_map(|item| cx.at(item)).collect())),
            _ => cx.mismatch(node, "a list"),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let item = T::schema(generator);
        json_schema!({ "type": "array", "items": item })
    }
}

/// One value, or a list of them.
#[derive(Debug, Clone)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<Spanned<T>>);

impl<T: FromNode> FromNode for OneOrMany<T> {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        match &node.value {
            Value::List(_) => List::read(node, cx).map(|list| OneOrMany(list.0)),
            _ => cx.at(node).map(|one| OneOrMany(vec![one])),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let item = T::schema(generator);
        json_schema!({ "anyOf": [item, { "type": "array", "items": item }] })
    }
}

/// A table with a fixed set of keys.
pub(crate) trait Section: FromNode {
    const NAME: &'static str;
    const ABOUT: &'static str;
    /// Keys of the section.
    fn keys() -> Vec<Key>;
}

/// One key of a section.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Default as written in the file: JSON, or a text without its quotes.
    pub(crate) default: Option<&'static str>,
    /// Description of a default that depends on other settings.
    pub(crate) default_note: Option<&'static str>,
    pub(crate) required: bool,
    pub(crate) shape: Shape,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// The JSON Schema of a section.
pub(crate) struct SectionSchema<T>(std::marker::PhantomData<T>);

impl<T: Section> JsonSchema for SectionSchema<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for key in T::keys() {
            let mut schema = (key.schema)(generator);
            let description = match key.default_note {
                Some(note) => format!("{} Default: {note}.", key.about),
                None => key.about.to_owned(),
            };
            schema.insert("description".to_owned(), description.into());
            if let Some(default) = key.default {
                let is_text = schema.get("type").is_some_and(|sort| sort == "string");
                let parsed = if is_text {
                    None
                } else {
                    serde_json::from_str(default).ok()
                };
                let value = parsed.unwrap_or_else(|| default.into());
                schema.insert("default".to_owned(), value);
            }
            if key.required {
                required.push(key.name);
            }
            properties.insert(key.name.to_owned(), schema.into());
        }
        let mut schema = json_schema!({
            "type": "object",
            "description": T::ABOUT,
            "properties": properties,
            "additionalProperties": false,
        });
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }
}

/// Declares a section: a struct with optional keys, its reader and its JSON Schema.
///
/// The doc comments become the descriptions in the schema and in the manual. `(required)` marks a required key.
/// `= "…"` is the default as written in a file. `, default "…"` describes a default that depends on other settings.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $name:ident {
            $( $(#[doc = $doc:literal])+ $key:ident $(($required:ident))? : $kind:ty $(= $default:literal)? $(, default $note:literal)?; )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default)]
        pub(crate) struct $name {
            $( $(#[doc = $doc])+ pub(crate) $key: Option<$crate::decode::Spanned<$kind>>, )*
        }

        impl $crate::decode::Section for $name {
            const NAME: &'static str = stringify!($name);
            const ABOUT: &'static str = concat!($($about),+);
            fn keys() -> Vec<$crate::decode::Key> {
                vec![$( $crate::decode::Key {
                    name: stringify!($key),
                    about: concat!($($doc),+).trim_ascii_start(),
                    default: [$($default)?].first().copied(),
                    default_note: [$($note)?].first().copied(),
                    required: [$(stringify!($required))?].contains(&"required"),
                    shape: <$kind as $crate::decode::FromNode>::shape(),
                    schema: <$kind as $crate::decode::FromNode>::schema,
                } ),*]
            }
        }

        impl $crate::decode::FromNode for $name {
            fn read(node: &$crate::node::Node, cx: &mut $crate::decode::Context) -> Option<Self> {
                let table = cx.table(node, "a table of keys")?;
                cx.check_keys(table, &[$(stringify!($key)),*]);
                for key in <$name as $crate::decode::Section>::keys().iter().filter(|key| key.required) {
                    if table.get(key.name).is_none() {
                        cx.missing(node, key.name, key.about);
                    }
                }
                Some($name { $( $key: cx.key(table, stringify!($key)), )* })
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<$crate::decode::SectionSchema<$name>>()
            }

            fn shape() -> $crate::decode::Shape {
                $crate::decode::Shape::Table(|| {
                    <$name as $crate::decode::Section>::keys().into_iter().map(|key| (key.name, key.shape)).collect()
                })
            }
        }
    };
}
pub(crate) use section;
