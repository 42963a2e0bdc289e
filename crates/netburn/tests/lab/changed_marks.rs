//! A path that changes the DSCP of packets: nftables on the loopback device of a network namespace.

use crate::support::{Bench, LOOPBACK_UP, finish};
use netburn_record::{Detail, EventKind, Row, Run};
use serde_json::json;

const WORKLOADS: &str = r#"
duration = "1 s"
baseline = "2 s"
drain = "500 ms"
[station.one]
workload = ["call", "ping", "plain"]
[workload.call]
kind = "voice"
priority = "voice"
[workload.ping]
kind = "probe"
dscp = "EF"
[workload.plain]
kind = "probe"
"#;

/// Clears the upper three bits of EF (46): 6 remains.
const RULES: &str = "table inet marks {
    chain out {
        type filter hook output priority 0; policy accept;
        ip dscp ef ip dscp set 6
        ip6 dscp ef ip6 dscp set 6
    }
}
";

/// Exit status of the script without nftables in the kernel.
const NO_RULES: i32 = 77;

#[test]
fn the_report_names_marks_that_the_path_changed() {
    let bench = Bench::new();
    bench.write("workloads.toml", WORKLOADS);
    bench.write("rules", RULES);
    let script = format!("{LOOPBACK_UP} true || exit\nnft -f rules || exit {NO_RULES}\nexec \"$@\"");
    let run = "run workloads.toml --on local --seed 1 --out record";
    let ended = finish(bench.inside(&["--net"], &script, run.split(' ')));
    if ended.code() == NO_RULES {
        return netburn_test_support::skip("needs a kernel with nftables");
    }
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let text = ended.out();
    // A report wraps its lines.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for end in ["server", "station"] {
        let sentence = format!(
            "one, ping: packets marked EF (46) arrived at the {end} as 6: the path cleared the upper three bits of the DSCP. \
             From there on, WMM sends them as best effort instead of voice."
        );
        assert!(words.contains(&sentence), "{text}");
    }
    assert!(
        !words.contains("packets marked CS6") && !words.contains("unmarked packets"),
        "{text}"
    );
    // Each packet of a marked workload is in the record, whether its mark was changed or not.
    let mut rows = Vec::new();
    let take = &mut |row| {
        if let Row::Event(event) = row
            && event.kind == EventKind::Dscp
        {
            let Detail::Dscp(arrivals) = event.detail else {
                panic!("{event:?}")
            };
            rows.push((event.workload, arrivals));
        }
    };
    Run::open(&bench.path("record")).unwrap().rows(take).unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|(workload, arrivals)| {
            let document = serde_json::to_value(arrivals).unwrap();
            let marks: Vec<&String> = document["arrived"].as_object().unwrap().keys().collect();
            json!([workload, document["direction"], document["sent"], marks])
        })
        .collect();
    let expected = json!([
        [0, "up", 48, ["48"]],
        [0, "down", 48, ["48"]],
        [1, "up", 46, ["6"]],
        [1, "down", 46, ["6"]],
    ]);
    assert_eq!(json!(found), expected);
    // A probe every 50 ms, and a packet of the call every 20 ms. Some may be late on a busy machine, and the self-check
    // reports it.
    let enough = rows[1].1.packets() >= 25 && rows[3].1.packets() >= 10;
    assert!(enough || ended.code() == 3, "{rows:?}");
}
