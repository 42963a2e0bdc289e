//! WAN links.

use crate::{errors, wrong};

/// An access point whose WAN link has these keys.
fn wan(keys: &str) -> String {
    format!("[ap.x.radio.5g]\n[station.s]\njoins = \"x.5g\"\nmcs = 7\n[ap.x.wan]\n{keys}\n")
}

#[test]
fn words() {
    for (key, expected) in [
        (
            "discipline = \"fqcodel\"",
            "6:14: ap.x.wan.discipline: unknown value `fqcodel`; did you mean `fq-codel`? Expected one of {queues of a line}",
        ),
        (
            "discipline_up = \"airtime\"",
            "6:17: ap.x.wan.discipline_up: unknown value `airtime`; expected one of {queues of a line}",
        ),
        (
            "framing = \"docsys\"",
            "6:11: ap.x.wan.framing: unknown value `docsys`; did you mean `docsis`? Expected one of `raw`, `ethernet`, \
             `docsis`, `bridged-ptm`, `pppoe-ptm`, `pppoe-llcsnap`, `pppoe-vcmux`, `bridged-llcsnap`, `pppoa-vcmux`, \
             `ipoa-vcmux`, `conservative`",
        ),
        (
            "cake = { tins = \"diffserv5\" }",
            "6:17: ap.x.wan.cake.tins: unknown value `diffserv5`; did you mean `diffserv3`? Expected one of \
             `besteffort`, `diffserv3`, `diffserv4`, `diffserv8`",
        ),
        (
            "cake = { isolation = \"dual-src\" }",
            "6:22: ap.x.wan.cake.isolation: unknown value `dual-src`; did you mean `dual-srchost`? Expected one of `flows`, `hosts`, \
             `dual-srchost`, `dual-dsthost`, `triple-isolate`",
        ),
        (
            "cake = { rtt = \"0 s\" }",
            "6:16: ap.x.wan.cake.rtt: `0 s` is out of range; expected a time greater than 0, up to 30 days (720 h)",
        ),
    ] {
        wrong(&wan(key), &[expected]);
    }
}

#[test]
fn a_shaper_has_a_share_or_a_rate() {
    for value in ["\"0 %\"", "\"101 %\"", "\"500 bit/s\"", "\"90\""] {
        let found = value.trim_matches('"');
        wrong(
            &wan(&format!("shaper = {value}")),
            &[&format!(
                "6:10: ap.x.wan.shaper: invalid value `{found}`; expected a share of the link's rate, more than 0 up to 100 % \
                 (`\"90 %\"`), or a rate, 1 kbit/s to 1000 Gbit/s (`\"45 Mbit/s\"`)"
            )],
        );
    }
    wrong(
        &wan("up = \"5 Mbit/s\"\nshaper_down = \"90 %\""),
        &[
            "7:15: ap.x.wan.shaper_down: found 90 % of the link's rate, which is unlimited; add `down = \"50 Mbit/s\"`, or use a rate instead of a share",
        ],
    );
    wrong(
        &wan("shaper = \"90 %\""),
        &[
            "6:10: ap.x.wan.shaper: found 90 % of the link's rate, which is unlimited; add `down = \"50 Mbit/s\"`, or use a rate instead of a share",
        ],
    );
    for good in [
        "shaper = \"45 Mbit/s\"",
        "up = \"5 Mbit/s\"\nshaper = \"90 %\"",
        "down = \"5 Mbit/s\"\nshaper_down = \"100 %\"",
    ] {
        assert_eq!(errors(&wan(good)), [""; 0], "{good}");
    }
}

#[test]
fn traces() {
    for (value, expected) in [
        (
            "[5, 9, 7]",
            "6:14: ap.x.wan.trace_down: entry 3: found `7` after `9`, expected times in ascending order; sort the lines by time",
        ),
        (
            "[5, -9]",
            "6:14: ap.x.wan.trace_down: entry 2: found `-9`, expected a time from 0; add a constant to all times, so that none is negative",
        ),
        (
            "\"lte.trace\"",
            "6:14: ap.x.wan.trace_down: found the path `lte.trace` in a scenario that is not a file; write the times as a list",
        ),
        (
            "12",
            "6:14: ap.x.wan.trace_down: found `12`, expected the path of a trace, or a list of times in ms",
        ),
    ] {
        wrong(&wan(&format!("trace_down = {value}")), &[expected]);
    }
    wrong(
        &wan("down = \"5 Mbit/s\"\ntrace_down = [1]"),
        &["7:14: ap.x.wan.trace_down: `trace_down` and `down` exclude each other; remove one of them"],
    );
}

/// A trace file beside the scenario.
#[test]
fn trace_files() {
    let directory = std::env::temp_dir().join(format!("netburn-trace-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let scenario = directory.join("x.toml");
    let load = |path: &str, text: &str| {
        std::fs::write(directory.join("line.trace"), text).unwrap();
        std::fs::write(&scenario, wan(&format!("trace_down = {path:?}"))).unwrap();
        let loaded = netburn_scenario::load(scenario.to_str().unwrap()).and_then(|document| document.resolve());
        loaded.map_err(|error| {
            let text = error.to_string();
            text[text.find("6:14").unwrap()..].to_owned()
        })
    };
    let plan = load("line.trace", "1\n1\n4\n").unwrap();
    let wan = plan.aps[0].wan.as_ref().unwrap();
    assert_eq!(wan.trace_down.as_ref().unwrap().times(), [1, 1, 4]);
    assert_eq!(
        load("line.trace", "1\n7\n4\n").unwrap_err(),
        "6:14: ap.x.wan.trace_down: line.trace:3: found `4` after `7`, expected times in ascending order; sort the lines by time"
    );
    assert!(
        load("none.trace", "1\n")
            .unwrap_err()
            .starts_with("6:14: ap.x.wan.trace_down: cannot read `none.trace`: ")
    );
    assert_eq!(
        load("/etc/hostname", "1\n").unwrap_err(),
        "6:14: ap.x.wan.trace_down: found the absolute path `/etc/hostname`; the path is relative to the scenario file"
    );
    assert_eq!(
        load(".", "1\n").unwrap_err(),
        "6:14: ap.x.wan.trace_down: `.` is not a file; the path is relative to the scenario file"
    );
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn policers_and_outages() {
    wrong(
        &wan("policer_up = { rate = \"5 Mbit/s\" }"),
        &["6:14: ap.x.wan.policer_up: missing `burst`; it is the size of the bucket"],
    );
    wrong(
        &wan("outages = [{ start = \"5 s\", length = \"0 s\" }]"),
        &[
            "6:38: ap.x.wan.outages.length: `0 s` is out of range; expected a time greater than 0, up to 30 days (720 h)",
        ],
    );
}
