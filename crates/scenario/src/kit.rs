//! Kits: several access points of one product, declared together.
//!
//! A kit is a short notation. Before a document is resolved, each unit becomes an access point, and the kit becomes a
//! network. Keys that the document itself has for them remain: `[ap.study]` with `queue` changes one unit only.

use crate::decode::{Context, Named, Spanned};
use crate::enums::KitBackhaul;
use crate::node::{Entry, Node, Place, Table, Value};
use crate::places;
use crate::plan::{Ap, RadioName, RadioRef};
use crate::plan::{ApSection, WanSection};
use crate::section_macro::section;
use netburn_medium::config::Band;

section! {
    /// A kit of access points with the same settings, such as the units of a mesh kit. The first unit is the router, unless the scenario has a `[router]`: all units share its line. Each unit is an access point `[ap.UNIT]`, and the kit is a network `[network.NAME]` over their radios. Keys in these sections override the kit.
    KitSection(() = ()) {
        /// Units with their positions: `{ main = "0 m, 0 m", study = "12 m, 0 m" }`. The first one has the cable to the line or to the `[router]`.
        units(required): Named<places::Place>;
        /// Settings of each unit, as in `[ap.NAME]`: its rating or its radios.
        ap(required): ApSection;
        /// Line of the kit: the WAN link of its first unit. `[kit.NAME.ap.wan]` is the same.
        wan: WanSection, default "none: the kit is behind the `[router]`, or next to the server's link";
        /// Backhaul of the other units. `shared`: by the first radio above 2.4 GHz, which also serves stations. `dedicated`: by the last radio, which serves no stations. `wired`: by a cable to the first unit, or to the `[router]`. With `shared` and `dedicated`, each unit selects the unit over which a bit needs the shortest airtime up to the wire.
        backhaul: KitBackhaul, default "`shared`";
    }
}

/// Adds the access points and networks of the kits to a document. `None`: it has no kit, or a kit is invalid, which is
/// reported.
pub(crate) fn expand(root: &Node, cx: &mut Context) -> Option<Node> {
    let node = root.table()?.get("kit")?;
    let kits: Spanned<Named<KitSection>> = cx.within("kit", |cx| cx.at(node))?;
    if !cx.problems.is_empty() {
        return None;
    }
    let mut root = root.clone();
    for (name, kit) in &kits.0 {
        let section = node.table()?.get(&name.value)?.table()?;
        let has_router = root.table()?.get("router").is_some();
        backhaul_has_effect(kit, &root, cx);
        let added = sections(name, kit, section, has_router, cx);
        if let (Some(added), Value::Table(top)) = (added, &mut root.value) {
            merge(top, added);
        }
    }
    cx.problems.is_empty().then_some(root)
}

/// Adds the entries that a table does not have, also in the tables below it.
fn merge(table: &mut Table, added: Table) {
    for entry in added.entries {
        let found = table.entries.iter_mut().find(|known| known.key == entry.key);
        match found {
            None => table.entries.push(entry),
            Some(found) => {
                if let (Value::Table(known), Value::Table(added)) = (&mut found.node.value, entry.node.value) {
                    merge(known, added);
                }
            }
        }
    }
}

/// Access points and network of a kit, as sections of a document.
fn sections(
    name: &Spanned<String>,
    kit: &KitSection,
    section: &Table,
    has_router: bool,
    cx: &mut Context,
) -> Option<Table> {
    let (Some(units), Some(ap)) = (&kit.units, &kit.ap) else {
        return None;
    };
    let settings = section.get("ap")?;
    let line = line(kit, section, settings, cx)?;
    if units.0.len() < 2 {
        let help = "name at least two: `units = { main = \"0 m, 0 m\", study = \"12 m, 0 m\" }`";
        cx.problem_at(units, "a kit has two or more units", help.to_owned());
        return None;
    }
    // A unit without radios and a rating that can't be decoded are reported as those of an access point.
    let radios = radios(ap);
    let choice = kit.backhaul.as_ref().map_or(KitBackhaul::Shared, |at| at.value);
    let mut fast = radios.iter().copied().filter(|name| name.band != Band::Ghz2_4);
    let backhaul = match choice {
        KitBackhaul::Wired => None,
        KitBackhaul::Shared => fast.next().or(radios.first().copied()),
        KitBackhaul::Dedicated => {
            let last = fast.next().and(fast.next_back());
            if last.is_none() {
                let help = format!(
                    "use `backhaul = \"shared\"`, or add `[kit.{}.ap.radio.5g-2]`",
                    name.value
                );
                let message = "a unit has no second radio above 2.4 GHz";
                cx.problem_at(kit.backhaul.as_ref()?, message, help);
                return None;
            }
            last
        }
    };
    let serves = |radio: &RadioName| choice != KitBackhaul::Dedicated || Some(*radio) != backhaul;
    let first = units.0[0].0.value.clone();
    let mut aps = Table::default();
    let mut serving = Vec::new();
    for (index, (unit, position)) in units.0.iter().enumerate() {
        let mut section = settings.table()?.clone();
        section
            .entries
            .retain(|entry| !matches!(entry.key.as_str(), "position" | "backhaul" | "wan"));
        put(
            &mut section,
            "position",
            &unit.place,
            text(&position.place, position.0.to_string()),
        );
        let above = match backhaul {
            Some(own) => Some(own.to_string()),
            None => (!has_router).then(|| first.clone()),
        };
        match (above, line) {
            (Some(above), _) if index > 0 => put(&mut section, "backhaul", &unit.place, text(&unit.place, above)),
            (_, Some(line)) if index == 0 => put(&mut section, "wan", &line.place, line.clone()),
            _ => {}
        }
        for radio in radios.iter().filter(|radio| serves(radio)) {
            let (ap, radio) = (unit.value.clone(), *radio);
            serving.push(text(&unit.place, RadioRef { ap, radio }.to_string()));
        }
        put(&mut aps, &unit.value, &unit.place, table(&unit.place, section));
    }
    let place = &name.place;
    let mut network = Table::default();
    put(
        &mut network,
        "radios",
        place,
        Node::new(Value::List(serving), place.clone()),
    );
    let mut networks = Table::default();
    put(&mut networks, &name.value, place, table(place, network));
    let mut added = Table::default();
    put(&mut added, "ap", place, table(place, aps));
    put(&mut added, "network", place, table(place, networks));
    Some(added)
}

/// Reports cables that no unit of a kit has, because each unit has a backhaul of its own.
fn backhaul_has_effect(kit: &KitSection, root: &Node, cx: &mut Context) {
    let (Some(backhaul), Some(units)) = (&kit.backhaul, &kit.units) else {
        return;
    };
    if backhaul.value != KitBackhaul::Wired {
        return;
    }
    let own = |unit: &str| {
        let key = root.table()?.get("ap")?.table()?.get(unit)?.table()?.get("backhaul")?;
        // A cable of its own repeats the kit.
        (!matches!(&key.value, Value::Text(text) if text == "wired")).then_some(())
    };
    let others = units.0.iter().skip(1).map(|(unit, _)| unit.value.as_str());
    let set: Vec<String> = others
        .clone()
        .filter(|unit| own(unit).is_some())
        .map(|unit| format!("`ap.{unit}.backhaul`"))
        .collect();
    if !set.is_empty() && set.len() == others.count() {
        let help = format!("remove {}", set.join(", "));
        cx.problem_at(
            backhaul,
            "has no effect, because each unit has a backhaul of its own",
            help,
        );
    }
}

/// The line of a kit, which is a key of the kit or of its units; inner `None`: it has none.
fn line<'n>(kit: &KitSection, section: &'n Table, settings: &'n Node, cx: &mut Context) -> Option<Option<&'n Node>> {
    let of_units = settings.table()?.get("wan");
    if let (Some(at), Some(_)) = (&kit.wan, of_units) {
        let help = "remove one of them".to_owned();
        cx.problem_at(
            at,
            "the kit and its units both have `wan`, and a kit has one line",
            help,
        );
        return None;
    }
    Some(section.get("wan").or(of_units))
}

/// Names of the radios that a unit has, in order.
fn radios(section: &ApSection) -> Vec<RadioName> {
    let named = section.radio.iter().flat_map(|named| &named.0);
    let mut names: Vec<RadioName> = named.filter_map(|(name, _)| RadioName::parse(name)).collect();
    let rated = Ap {
        rating: section.rating.as_ref().map(|at| at.value),
        ..Ap::new("")
    };
    names.extend(rated.all_radios().unwrap_or_default().into_iter().map(|(name, _)| name));
    names.sort();
    names.dedup();
    names
}

fn text(place: &Place, text: String) -> Node {
    Node::new(Value::Text(text), place.clone())
}

fn table(place: &Place, table: Table) -> Node {
    Node::new(Value::Table(table), place.clone())
}

fn put(table: &mut Table, key: &str, place: &Place, node: Node) {
    table.entries.push(Entry {
        key: key.to_owned(),
        place: place.clone(),
        node,
    });
}
