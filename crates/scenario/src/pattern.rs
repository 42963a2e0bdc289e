//! Keys with wildcards: `*` in place of a name or a part of it.

use crate::node::{Entry, Node};
use crate::suggest::{list, nearest, quoted_name};

/// Returns the keys of a document that match `key`, in the document's order. A key without `*` matches itself. Without a
/// match, returns message and help.
pub(crate) fn matching(root: &Node, key: &str) -> Result<Vec<String>, (String, String)> {
    if !key.contains('*') {
        return Ok(vec![key.to_owned()]);
    }
    let parts: Vec<&str> = key.split('.').collect();
    let mut found: Vec<(Vec<&str>, Option<&Node>)> = vec![(Vec::new(), Some(root))];
    for (depth, part) in parts.iter().enumerate() {
        let mut next = Vec::new();
        for (path, node) in &found {
            let mut push = |name, node| next.push(([path.as_slice(), &[name]].concat(), node));
            if part.contains('*') {
                let matches = entries(*node).iter().filter(|entry| matches_pattern(part, &entry.key));
                matches.for_each(|entry| push(entry.key.as_str(), Some(&entry.node)));
            } else {
                let below = entries(*node).iter().find(|entry| entry.key == *part);
                push(part, below.map(|entry| &entry.node));
            }
        }
        if next.is_empty() {
            let names: Vec<&str> = found
                .iter()
                .flat_map(|(_, node)| entries(*node))
                .map(|entry| entry.key.as_str())
                .collect();
            return Err(no_match(&parts[..depth].join("."), part, &names));
        }
        found = next;
    }
    Ok(found.into_iter().map(|(path, _)| path.join(".")).collect())
}

/// Returns `true` for a name that contains `*`.
pub(crate) fn is_pattern(part: &str) -> bool {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '*';
    part.contains('*') && part.len() <= 64 && part.chars().all(of_a_name)
}

/// Returns `true` if `name` matches `pattern`. Each `*` matches any characters, or none.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts: Vec<&str> = pattern.split('*').collect();
    let (Some(last), false) = (parts.pop(), parts.is_empty()) else {
        return pattern == name;
    };
    let Some(mut rest) = name.strip_prefix(parts[0]) else {
        return false;
    };
    for part in &parts[1..] {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

pub(crate) fn entries(node: Option<&Node>) -> &[Entry] {
    node.and_then(Node::table).map_or(&[], |table| &table.entries)
}

/// Message and help for a pattern that matches none of the names in a section.
fn no_match(section: &str, part: &str, names: &[&str]) -> (String, String) {
    let help = match nearest(&part.replace('*', ""), names.iter().copied()) {
        _ if names.is_empty() => format!("the scenario has no `{section}` section"),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", list(names.iter().copied())),
    };
    (format!("no {section} matches {}", quoted_name(part)), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_matches_any_characters() {
        for (pattern, name, expected) in [
            ("*", "tv", true),
            ("tv", "tv", true),
            ("tv*", "tv", true),
            ("tv-*", "tv-2", true),
            ("tv-*", "tv", false),
            ("*2", "tv-2", true),
            ("t*2", "tv-2", true),
            ("a*a", "a", false),
            ("*v*2*", "tv-2", true),
            ("*2*v*", "tv-2", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
