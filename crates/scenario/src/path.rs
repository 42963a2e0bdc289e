//! Paths of keys, such as `station.tv.signal`.

use crate::node::Node;
use crate::pattern;
use crate::suggest::{list, nearest, quoted_name};

/// Keys that are allowed below a key.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// None: the key has a single value.
    Leaf,
    /// A fixed set of keys, and the short form of the section, if it has one.
    Table(fn() -> Vec<(&'static str, Shape)>, Option<ShortForm>),
    /// Names from the file, each with the same keys below.
    Named(fn() -> Shape),
}

/// Returns the keys of the section for which a short form stands, such as none for `true`. `None`: the value stands for no section.
pub(crate) type ShortForm = fn(&Node) -> Option<Vec<(&'static str, Node)>>;

impl Shape {
    /// The section with a short form.
    pub(crate) fn with_short_form(self, short: ShortForm) -> Shape {
        match self {
            Shape::Table(keys, _) => Shape::Table(keys, Some(short)),
            Shape::Leaf | Shape::Named(_) => self,
        }
    }

    /// Returns the shape below a key or a name; `None` if it is not allowed.
    pub(crate) fn child(self, part: &str) -> Option<Shape> {
        match self {
            Shape::Leaf => None,
            Shape::Table(keys, _) => keys().into_iter().find(|(key, _)| *key == part).map(|(_, shape)| shape),
            Shape::Named(shape) => (is_name(part) || pattern::is_pattern(part)).then(shape),
        }
    }
}

/// Form of a name, for messages.
pub(crate) const NAME_FORM: &str = "expected 1 to 63 letters (a to z, A to Z), digits or `-`";

/// A valid name that is similar to `text`: other characters become `-`. `None` if nothing remains, or for a name that is valid
/// or too long.
pub(crate) fn as_name(text: &str) -> Option<String> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let name = parts.join("-");
    (is_name(&name) && name != text).then_some(name)
}

/// Returns `true` if `name` is a valid name: letters, digits and `-`, one to 63 of them.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=63).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Checks that a dotted path is a valid key of a file of this shape. Otherwise returns message and help.
pub(crate) fn check_path(file: Shape, path: &str) -> Result<(), (String, String)> {
    let mut shape = file;
    let mut before: Vec<&str> = Vec::new();
    for part in path.split('.') {
        if let Some(next) = shape.child(part) {
            shape = next;
            before.push(part);
            continue;
        }
        let section = before.join(".");
        let place = if section.is_empty() {
            "a scenario".to_owned()
        } else {
            format!("`{section}`")
        };
        return Err(match shape {
            Shape::Leaf => (
                format!("`{section}` has no keys below it"),
                format!("set `{section}` itself"),
            ),
            Shape::Named(_) => (format!("invalid name {}", quoted_name(part)), NAME_FORM.to_owned()),
            Shape::Table(keys, _) => {
                let keys: Vec<&str> = keys().into_iter().map(|(key, _)| key).collect();
                let help = match nearest(part, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{}`?", [before.as_slice(), &[near]].concat().join(".")),
                    None => format!("expected one of {}", list(keys)),
                };
                (format!("{place} has no key {}", quoted_name(part)), help)
            }
        });
    }
    Ok(())
}
