//! Routers, ports and cables.

use crate::{errors, wrong};
use netburn_scenario::plan::Port;
use netburn_scenario::{Document, Environment, Plan};

const LINE: &str = "wan = { down = \"50 Mbit/s\" }";

fn plan(text: &str) -> Plan {
    let plan = Document::from_toml("x.toml", text).and_then(|document| document.resolve());
    plan.unwrap_or_else(|error| panic!("{error}"))
}

/// End of the cable of the first station.
fn end(text: &str) -> Port {
    plan(text).stations[0].link.clone().expect("a cable").to
}

/// A house has one line: that of the router.
#[test]
fn a_router_excludes_other_lines() {
    let house = |router: &str| format!("[router]\n{router}\n[ap.x]\n{LINE}\nradio.5g = {{}}\n[station.s]\n");
    wrong(
        &house(LINE),
        &[
            "4:7: ap.x.wan: `x` is behind `[router]`, so it has no line of its own; remove it: the line is `[router.wan]`",
        ],
    );
    wrong(
        &house(""),
        &["4:7: ap.x.wan: `x` is behind `[router]`, so it has no line of its own; move its keys to `[router.wan]`"],
    );
    wrong(
        "[router]\n[ap.router.radio.5g]\n[station.s]\n",
        &[
            "2:5: ap.router: the name `router` means `[router]` in this scenario; give it another name, or remove `[router]` and use `[ap.router.wan]`",
        ],
    );
    wrong(
        "[router.wan]\nshaper = \"90 %\"\n[station.s]\n",
        &[
            "2:10: router.wan.shaper: found 90 % of the link's rate, which is unlimited; add `down = \"50 Mbit/s\"`, or use a rate instead of a share",
        ],
    );
}

#[test]
fn cables_between_access_points() {
    let house =
        |keys: &str| format!("[station.s]\n[ap.main]\n{LINE}\nradio.5g = {{}}\n[ap.unit]\nradio.5g = {{}}\n{keys}\n");
    assert_eq!(errors(&house("backhaul = \"main\"")), [""; 0]);
    for (keys, expected) in [
        (
            "backhaul = \"mian\"",
            "7:12: ap.unit.backhaul: unknown access point `mian`; did you mean `main`?",
        ),
        (
            "backhaul = \"unit\"",
            "7:12: ap.unit.backhaul: the cable leads to the access point itself; name another access point, or use `\"wired\"`",
        ),
        (
            "backhaul = \"router\"",
            "7:12: ap.unit.backhaul: unknown access point `router`; add `[router]`, or name an access point",
        ),
        (
            "backhaul = \"main\"\nwan = {}",
            "8:7: ap.unit.wan: `unit` is behind `main`, so it has no line of its own; remove it, or move its keys to `[ap.main.wan]`",
        ),
    ] {
        assert_eq!(errors(&house(keys))[0], expected);
    }
    wrong(
        "[station.s]\n[ap.a]\nradio.5g = {}\nbackhaul = \"b\"\n[ap.b]\nradio.5g = {}\nbackhaul = \"a\"\n",
        &[
            "4:12: ap.a.backhaul: the parents form a loop: a → b → a; let one of them use `backhaul = \"wired\"`",
            "7:12: ap.b.backhaul: the parents form a loop: b → a → b; let one of them use `backhaul = \"wired\"`",
        ],
    );
}

#[test]
fn the_end_of_a_cable() {
    let ap = |name: &str, line: &str| format!("[ap.{name}]\n{line}\nradio.5g = {{}}\n");
    let station = "[station.pc]\nwired = true\n";
    assert_eq!(end(&format!("{station}[router]\n")), Port::Router);
    assert_eq!(end(&format!("{station}{}", ap("x", ""))), Port::Ap("x".to_owned()));
    let two = format!("{}{}", ap("x", ""), ap("y", LINE));
    assert_eq!(end(&format!("{station}{two}")), Port::Ap("y".to_owned()));
    let named = station.replace("true", "{ to = \"x\", rate = \"100 Mbit/s\" }");
    assert_eq!(end(&format!("{named}{two}")), Port::Ap("x".to_owned()));
    assert_eq!(
        end(&format!("{}{two}", station.replace("true", "\"x\""))),
        Port::Ap("x".to_owned())
    );
    let rate = plan(&format!("{}[router]\n", station.replace("true", "\"100 Mbit/s\"")));
    assert_eq!(rate.stations[0].link.as_ref().unwrap().up.as_bps(), 100_000_000);
    assert_eq!(end("[station.pc]\nlink = {}\n[router]\n"), Port::Server);
    assert!(
        plan("[station.pc]\nwired = false\n[router]\n").stations[0]
            .link
            .is_none()
    );

    wrong(
        station,
        &[
            "2:9: station.pc.wired: the scenario has no router, so the cable leads nowhere; add `[router]`, or use `[station.pc.link]` instead for a cable to the server's link",
        ],
    );
    wrong(
        &format!("{station}{}{}", ap("x", ""), ap("y", "")),
        &[
            "2:9: station.pc.wired: several access points can be the router of the cable; name one of `x`, `y`: `wired = \"x\"`; or add `[router]`",
        ],
    );
    wrong(
        "[station.pc]\nwired = \"z\"\n[router]\n",
        &["2:9: station.pc.wired: unknown access point `z`; the scenario has none; add one with `[ap.z]`"],
    );
    wrong(
        "[station.pc]\nlink = { to = \"router\" }\n",
        &["2:15: station.pc.link.to: the scenario has no `[router]`; add `[router]`, or name an access point"],
    );
    wrong(
        "[station.pc]\nwired = true\nlink = {}\n[router]\n",
        &[
            "2:9: station.pc.wired: `wired` and `link` exclude each other; remove one of them: `wired` is a cable to the router, and `link` one to the server",
        ],
    );
    wrong(
        "[station.pc]\nwired = true\nmcs = 7\n[router]\n",
        &[
            "3:7: station.pc.mcs: `mcs` needs Wi-Fi, and the station has a `wired`; remove it, or use `joins` instead of `wired`",
        ],
    );
}

/// A station and an access point that bypass the line have a note with the exact replacement.
#[test]
fn bypasses_have_notes() {
    let text = format!(
        "[ap.x]\n{LINE}\nradio.5g = {{}}\n[ap.y]\nradio.5g = {{}}\n[station.pc]\nlink = {{}}\nworkload = \"voip\"\n"
    );
    let notes = |text: &str| plan(text).check_for(Environment::Simulate).unwrap();
    assert_eq!(
        notes(&text),
        [
            "pc bypasses the line `ap.x.wan`: a `link` without `to` leads to the server; use `wired = true` instead for a cable to the router",
            "y bypasses the line `ap.x.wan`: the cable of an access point leads to the server; use `backhaul = \"x\"` for a cable to the router",
        ]
    );
    let behind = text
        .replace("link = {}", "wired = true")
        .replace("[ap.y]\n", "[ap.y]\nbackhaul = \"x\"\n");
    assert_eq!(notes(&behind), [""; 0]);
}

/// The units of a kit share the line of the first one, however it is written.
#[test]
fn a_kit_has_one_line() {
    let kit = |keys: &str, ap: &str| {
        format!(
            "[kit.home]\nunits = {{ main = \"0 m, 0 m\", study = \"9 m, 0 m\" }}\n{keys}\n[kit.home.ap]\nrating = \"AC1200\"\n{ap}\n[station.s]\njoins = \"home\"\nposition = \"1 m, 1 m\"\n"
        )
    };
    for backhaul in ["", "backhaul = \"wired\"\n"] {
        let ways = [
            kit(&format!("{backhaul}{LINE}"), ""),
            kit(backhaul, LINE),
            kit(backhaul, "") + &format!("[ap.main]\n{LINE}\n"),
        ];
        let plans = ways.map(|text| plan(&text));
        assert!(plans.iter().all(|other| *other == plans[0]), "{backhaul}");
        let lines = plans[0].lines();
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (lines[0].key.as_str(), &lines[0].stations[..]),
            ("ap.main.wan", &[0][..])
        );
    }
    let behind = plan(&(kit("backhaul = \"wired\"", "") + &format!("[router]\n{LINE}\n")));
    assert_eq!(behind.lines()[0].key, "router.wan");
    assert_eq!(behind.line_of(&behind.stations[0]), behind.lines().into_iter().next());
    wrong(
        &kit(LINE, LINE),
        &["3:7: kit.home.wan: the kit and its units both have `wan`, and a kit has one line; remove one of them"],
    );
}

#[test]
fn the_server_of_a_workload() {
    let house = |server: &str, more: &str| {
        format!(
            "[router]\n[workload.copy]\nkind = \"probe\"\nserver = \"{server}\"\n{more}\n[station.nas]\nwired = true\n[station.pc]\nwired = true\nworkload = \"copy\"\n"
        )
    };
    let good = plan(&house("nas", ""));
    assert_eq!(good.server_of(&good.stations[1].workloads[0]), Some(0));
    let error = good.check_for(Environment::Local).unwrap_err().to_string();
    assert!(
        error.contains("`copy` has the server `nas`, and local has no servers at stations"),
        "{error}"
    );
    wrong(
        &house("nsa", ""),
        &["4:10: workload.copy.server: unknown station `nsa`; did you mean `nas`?"],
    );
    wrong(
        &house("pc", ""),
        &[
            "10:12: station.pc.workload: the station is the server of `copy` itself; let another station use it, or change its `server`",
        ],
    );
    wrong(
        &house("nas", "target = \"near\""),
        &[
            "5:10: workload.copy.target: the target `near` is not a server; remove `server`, or use `target = \"server\"`",
        ],
    );
}
