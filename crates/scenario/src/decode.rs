//! Conversion of document nodes to typed values. All problems are collected.

use crate::environment::{Environment, MODELLED};
use crate::keys::Keys;
use crate::node::{Entry, Node, Place, Table, Value};
use crate::path::{NAME_FORM, Shape, as_name, is_name};
use crate::problem::Problem;
use crate::queue_lists::expand;
use crate::reason::Reason;
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
    /// Directory of the scenario file; `None` if the document is not from a file.
    pub(crate) directory: Option<std::path::PathBuf>,
    /// All keys of the file, for suggestions.
    pub(crate) file: Option<FileKeys>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FileKeys {
    /// Shape of the file.
    pub(crate) shape: fn() -> Shape,
    /// Headers of the sections that have a key.
    pub(crate) sections_with_key: fn(&str) -> Vec<String>,
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
        match self.file {
            Some(file) if self.problems.len() <= 100 => (file.sections_with_key)(key),
            _ => Vec::new(),
        }
    }

    /// Reports an invalid name.
    pub(crate) fn check_name(&mut self, name: &str, place: &Place) -> bool {
        if is_name(name) {
            return true;
        }
        let message = match name.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '-')) {
            None if name.is_empty() => "the name is empty".to_owned(),
            None => format!(
                "the name {} is {} characters long",
                suggest::quoted_name(name),
                name.len()
            ),
            Some(bad) => format!(
                "the name {} contains `{}`",
                suggest::quoted_name(name),
                bad.escape_debug()
            ),
        };
        let help = match as_name(name) {
            Some(name) => format!("write it as `{name}`; {NAME_FORM}"),
            None => NAME_FORM.to_owned(),
        };
        self.problem(place, message, help);
        false
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
                let good = cx.check_name(&entry.key, &entry.place);
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
    /// Part of the plan that the section sets.
    type Plan;
    /// Change of a key during a run; `()` if no key can change.
    type Setting;
    /// Keys of the section.
    fn keys() -> Vec<Key>;
    /// Keys that can change during a run.
    fn changes() -> Vec<KeyChange<Self::Setting>>;
    /// Plan with every default.
    fn default_plan() -> Self::Plan;
    /// Sets the values of the present keys.
    fn apply(&self, plan: &mut Self::Plan);
    /// Values of a plan, by key.
    fn encode(plan: &Self::Plan) -> Keys;
    /// Name, source span and path of each present key.
    fn present(&self) -> Vec<(&'static str, &Place, &str)>;
}

/// One key of a section.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Description, with placeholders of [`expand`].
    pub(crate) about: &'static str,
    /// Default of a key without a value in the plan.
    pub(crate) default_text: Option<&'static str>,
    /// Description of a default that depends on other settings.
    pub(crate) default_note: Option<Cow<'static, str>>,
    pub(crate) required: bool,
    /// The key describes Wi-Fi, and a station with a wired link cannot have it.
    pub(crate) wifi: bool,
    /// The key can change during a run.
    pub(crate) changeable: bool,
    /// Environments of a key that does not act in all, with the reason.
    pub(crate) limited: Option<(&'static [Environment], Reason)>,
    pub(crate) shape: Shape,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// True if keys have descriptions and JSON Schemas. In WebAssembly, on the station page, nothing reads them.
pub(crate) const HAS_MANUAL: bool = !cfg!(target_family = "wasm");

/// Returns the function of a key's JSON Schema.
pub(crate) const fn schema_of<T: FromNode>() -> fn(&mut SchemaGenerator) -> Schema {
    if HAS_MANUAL { T::schema } else { |_| json_schema!({}) }
}

/// A key that can change during a run: the reader and the format of its new value.
pub(crate) struct KeyChange<S> {
    pub(crate) name: &'static str,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) read: fn(&Node, &mut Context) -> Option<S>,
    /// New value; `None` if the setting is that of another key.
    pub(crate) write: fn(&S) -> Option<serde_json::Value>,
}

impl Key {
    /// Returns the environments in which the key acts, and the reason why it does not act in the others. `None`: all.
    pub(crate) fn environments(&self) -> Option<(&'static [Environment], Reason)> {
        self.limited.or(self.wifi.then_some((MODELLED, Reason::RealAir)))
    }

    /// Returns `true` for a key of a station's Wi-Fi or wired link.
    pub(crate) fn of_air(&self) -> bool {
        self.environments().is_some_and(|(_, reason)| reason == Reason::RealAir)
    }

    /// Returns the default as JSON. `defaults` are the values of the section's default plan.
    pub(crate) fn default_in(&self, defaults: &Keys) -> Option<serde_json::Value> {
        if self.required || self.default_note.is_some() {
            return None;
        }
        if let Some(text) = self.default_text {
            return Some(text.into());
        }
        let single = |value: &&serde_json::Value| !value.is_object() && !value.is_array();
        defaults.get(self.name).filter(single).cloned()
    }

    /// Returns the description for a manual.
    pub(crate) fn meaning(&self) -> String {
        expand(self.about)
    }

    /// Returns the description with the default, the environments, and whether the key can change.
    fn description(&self) -> String {
        let mut text = self.meaning();
        if let Some(note) = &self.default_note {
            text.push_str(&format!(" Default: {note}."));
        }
        if let Some((environments, _)) = self.environments() {
            let names: Vec<&str> = environments.iter().map(|environment| environment.name()).collect();
            text.push_str(&format!(" Only on {}.", names.join(" and ")));
        }
        if self.changeable {
            text.push_str(" Can change during a run.");
        }
        text
    }
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
        let defaults = T::encode(&T::default_plan());
        for key in T::keys() {
            let mut schema = (key.schema)(generator);
            schema.insert("description".to_owned(), key.description().into());
            if let Some(default) = key.default_in(&defaults) {
                schema.insert("default".to_owned(), default);
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
