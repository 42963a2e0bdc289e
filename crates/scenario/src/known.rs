//! Keys that a document can have.

use crate::node::Node;
use crate::path::Shape;
use crate::pattern::entries;

/// Paths of all keys of a document of this shape, with the document's names.
pub(crate) fn known_keys(root: &Node, shape: Shape) -> Vec<String> {
    let mut found = Vec::new();
    add_known(Some(root), shape, "", &mut found);
    found
}

fn add_known(node: Option<&Node>, shape: Shape, path: &str, found: &mut Vec<String>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match shape {
        Shape::Leaf => found.push(path.to_owned()),
        Shape::Table(keys, _) => {
            for (key, shape) in keys() {
                let entry = entries(node).iter().find(|entry| entry.key == key);
                add_known(entry.map(|entry| &entry.node), shape, &below(key), found);
            }
        }
        Shape::Named(shape) => {
            for entry in entries(node) {
                add_known(Some(&entry.node), shape(), &below(&entry.key), found);
            }
        }
    }
}
