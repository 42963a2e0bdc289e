//! Network interfaces of this device, by name.

use std::collections::BTreeSet;

/// Existing interfaces, if `name` is not among them; `None` if it is, or if that is unknown.
#[must_use]
pub fn others_than(name: &str) -> Option<Vec<String>> {
    let all = names();
    (!all.is_empty() && !all.contains(name)).then(|| all.into_iter().collect())
}

/// All interfaces. On systems without a list, those with an address.
fn names() -> BTreeSet<String> {
    let listed = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let listed = listed.filter(|entry| entry.path().is_dir());
    let mut names: BTreeSet<String> = listed
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let addressed = if_addrs::get_if_addrs().unwrap_or_default();
    names.extend(addressed.into_iter().map(|interface| interface.name));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_one_of_them() {
        assert_eq!(others_than("lo"), None);
        let all = others_than("nosuch0").expect("there is no such interface");
        assert!(all.contains(&"lo".to_owned()), "{all:?}");
    }
}
