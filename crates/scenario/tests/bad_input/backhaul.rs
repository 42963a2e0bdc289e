//! Links between access points.

use crate::{errors, wrong};

/// Two access points, of which the second has these keys and a radio with `radio`.
fn unit(keys: &str, radio: &str) -> String {
    format!(
        "[station.s]\njoins = \"unit.5g\"\nmcs = 7\n[ap.main.radio.5g]\n[ap.unit]\n{keys}\n[ap.unit.radio.5g]\n{radio}\n"
    )
}

#[test]
fn the_parent_of_an_access_point() {
    let good = "backhaul_signal = \"-50 dBm\"";
    for (keys, expected) in [
        (
            "backhaul = \"mian.5g\"",
            "6:12: ap.unit.backhaul: unknown access point `mian`; did you mean `main.5g`?",
        ),
        (
            "backhaul = \"main.2g\"",
            "6:12: ap.unit.backhaul: `main` has no radio `2g`; expected one of `main.5g`",
        ),
        (
            "backhaul = \"main.7g\"",
            "6:12: ap.unit.backhaul: invalid value `main.7g`; expected `wired`, another access point, such as `main`, a radio of it, such as `main.5g`, or an own radio, such as `5g`",
        ),
        (
            "backhaul = \"unit.5g\"",
            "6:12: ap.unit.backhaul: the access point is its own parent; name a radio of another access point, or use `\"wired\"`",
        ),
    ] {
        wrong(&unit(&format!("{keys}\n{good}"), ""), &[expected]);
    }
    assert_eq!(errors(&unit(&format!("backhaul = \"main.5g\"\n{good}"), "")), [""; 0]);
    // A quality without effect makes it easy to compare with a wire.
    assert_eq!(errors(&unit(&format!("backhaul = \"wired\"\n{good}"), "")), [""; 0]);
}

#[test]
fn the_link_needs_a_radio_and_a_signal() {
    let good = "backhaul_signal = \"-50 dBm\"";
    wrong(
        &unit(&format!("backhaul = \"main.5g\"\n{good}"), "channel = 149"),
        &[
            "6:12: ap.unit.backhaul: `unit` has no radio on channel 36 of `main.5g`; set `channel = 36` in `[ap.unit.radio.5g]`",
        ],
    );
    wrong(
        &unit("backhaul = \"main.5g\"", ""),
        &[
            "6:12: ap.unit.backhaul: the signal of the link is unknown; add `backhaul_signal = \"-55 dBm\"`, or a `position` to `[ap.unit]`",
        ],
    );
    wrong(
        &unit("backhaul = \"main.5g\"\nposition = \"1 m, 0 m\"", ""),
        &[
            "6:12: ap.unit.backhaul: the signal of the link is unknown; add `backhaul_signal = \"-55 dBm\"`, or a `position` to `[ap.main]`",
        ],
    );
    wrong(
        &unit(&format!("backhaul = \"main.5g\"\n{good}\nbackhaul_mcs = 7"), ""),
        &[
            "8:16: ap.unit.backhaul_mcs: `backhaul_signal` already sets the link quality; use one of `backhaul_signal` and `backhaul_mcs`",
        ],
    );
    wrong(
        &unit(
            &format!("backhaul = \"main.5g\"\n{good}\nwan = {{ delay = \"1 ms\" }}"),
            "",
        ),
        &[
            "8:7: ap.unit.wan: an access point with a wireless backhaul has no WAN link; move `wan` to the access point with the wire, or to `[router]`",
        ],
    );
}

#[test]
fn parents_form_no_loop() {
    let loop_of_three = "[station.s]\njoins = \"a.5g\"\nmcs = 7\n\
        [ap.a]\nbackhaul = \"b.5g\"\nbackhaul_mcs = 7\n[ap.a.radio.5g]\n\
        [ap.b]\nbackhaul = \"c.5g\"\nbackhaul_mcs = 7\n[ap.b.radio.5g]\n\
        [ap.c]\nbackhaul = \"b.5g\"\nbackhaul_mcs = 7\n[ap.c.radio.5g]\n";
    wrong(
        loop_of_three,
        &[
            "9:12: ap.b.backhaul: the parents form a loop: b → c → b; let one of them use `backhaul = \"wired\"`",
            "13:12: ap.c.backhaul: the parents form a loop: c → b → c; let one of them use `backhaul = \"wired\"`",
        ],
    );
}

/// A mesh of two access points with these keys and radios.
fn mesh(keys: &str, one: &str, two: &str) -> String {
    format!(
        "[station.s]\njoins = \"two.5g\"\nmcs = 7\n[mesh.m]\n{keys}\n[ap.one.radio.5g]\n{one}\n[ap.two.radio.5g]\n{two}\n"
    )
}

#[test]
fn a_mesh_has_a_root_and_one_channel() {
    let good = "radios = [\"one.5g\", \"two.5g\"]\nroot = \"one\"\nmcs = 7";
    assert_eq!(errors(&mesh(good, "", "")), [""; 0]);
    for (keys, expected) in [
        (
            "radios = [\"one.5g\", \"two.5g\"]\nmcs = 7",
            "4:1: mesh.m: missing `root`; it is the access point with the wire to the server",
        ),
        (
            "radios = [\"one.5g\", \"two.5g\"]\nroot = \"three\"\nmcs = 7",
            "6:8: mesh.m.root: the root `three` has no radio in this mesh; expected one of `one`, `two`",
        ),
        (
            "radios = [\"one.5g\"]\nroot = \"one\"\nmcs = 7",
            "5:10: mesh.m.radios: a mesh needs two radios; name the radios of at least two access points: `[\"one.5g\", \"two.5g\"]`",
        ),
    ] {
        let found = errors(&mesh(keys, "", ""));
        assert!(found.iter().any(|line| line.starts_with(expected)), "{found:?}");
    }
    wrong(
        &mesh(good, "", "channel = 149"),
        &["5:21: mesh.m.radios: `two.5g` is not on the channel of `one.5g`; set `channel = 36` in `[ap.two.radio.5g]`"],
    );
    let unplaced = errors(&mesh("radios = [\"one.5g\", \"two.5g\"]\nroot = \"one\"", "", ""));
    assert_eq!(unplaced.len(), 2);
    assert!(
        unplaced[0]
            .ends_with("the signals of its links are unknown; add `position` to `[ap.one]`, or `mcs` to the mesh"),
        "{unplaced:?}"
    );
}

#[test]
fn an_access_point_that_selects_its_parent() {
    let both = |keys: &str| unit(&format!("{keys}\nposition = \"9 m, 0 m\""), "");
    wrong(
        &both("backhaul = \"2g\""),
        &["6:12: ap.unit.backhaul: `unit` has no radio `2g`; add `[ap.unit.radio.2g]`, or use another radio"],
    );
    wrong(
        &both("backhaul = \"5g\""),
        &["6:12: ap.unit.backhaul: the signals of the links are unknown; add a `position` to `[ap.main]`"],
    );
    let placed = both("backhaul = \"5g\"").replace(
        "[ap.main.radio.5g]",
        "[ap.main]\nposition = \"0 m, 0 m\"\n[ap.main.radio.5g]",
    );
    assert_eq!(errors(&placed), [""; 0]);
    wrong(
        &placed.replace("[ap.unit]\n", "[ap.unit]\nbackhaul_mcs = 7\n"),
        &[
            "9:12: ap.unit.backhaul: the quality of the links is fixed, so none is better than another; name the other access point, such as `main.5g`, or remove the quality of the link",
        ],
    );
    wrong(
        &placed.replace("ap.main.radio.5g", "ap.main.radio.2g"),
        &[
            "8:12: ap.unit.backhaul: no other access point has a radio `5g`; name a radio of another access point, such as `main.5g`, or use `\"wired\"`",
        ],
    );
}

/// A kit with these units and keys.
fn kit(units: &str, keys: &str) -> String {
    format!("[station.s]\njoins = \"home\"\nposition = \"1 m, 1 m\"\n[kit.home]\nunits = {{ {units} }}\n{keys}\n")
}

#[test]
fn kits() {
    let two = "main = \"0 m, 0 m\", study = \"9 m, 0 m\"";
    wrong(
        &kit("main = \"0 m, 0 m\"", "ap.rating = \"AC1200\""),
        &[
            "5:9: kit.home.units: a kit has two or more units; name at least two: `units = { main = \"0 m, 0 m\", study = \"12 m, 0 m\" }`",
        ],
    );
    wrong(
        &kit(two, "ap.rating = \"AC1200\"\nbackhaul = \"dedicated\""),
        &[
            "7:12: kit.home.backhaul: a unit has no second radio above 2.4 GHz; use `backhaul = \"shared\"`, or add `[kit.home.ap.radio.5g-2]`",
        ],
    );
    let wired = kit(two, "ap.rating = \"AC1200\"\nbackhaul = \"wired\"");
    assert!(errors(&format!("{wired}[ap.study]\nbackhaul = \"wired\"\n")).is_empty());
    wrong(
        &format!("{wired}[ap.study]\nbackhaul = \"main.5g\"\n"),
        &[
            "7:12: kit.home.backhaul: has no effect, because each unit has a backhaul of its own; remove `ap.study.backhaul`",
        ],
    );
    wrong(
        &kit(two, ""),
        &["4:1: kit.home: missing `ap`; it is the settings of each unit, as in `[ap.NAME]`: its rating or its radios"],
    );
    wrong(
        &kit("main = \"0 m\", study = \"9 m, 0 m\"", "ap.rating = \"AC1200\""),
        &[
            "5:18: kit.home.units.main: invalid value `0 m`; expected a position: metres from west to east and from south to north, such as `\"2 m, 5.5 m\"`, and the floor if it is not 0: `\"2 m, 5.5 m, floor 1\"`",
        ],
    );
    // Each unit has the same radio, and the problem is reported once.
    let problems = errors(&kit(two, "ap.radio.5g.channel = 35"));
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with("6:23: ap.main.radio.5g.channel: invalid channel `35`"),
        "{problems:?}"
    );
}
