//! Requests of the page, and their replies.

use netburn_playground::{MAX_TEXT, call};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ask(request: &Value) -> Value {
    serde_json::from_str(&call(&request.to_string(), &|_, _| ())).expect("a reply is JSON")
}

fn read(text: &str) -> Value {
    ask(&json!({ "do": "read", "text": text }))
}

/// A home whose backup fills the uplink of 2 Mbit/s, so that the call beside it fails.
const BUSY: &str = r#"
duration = "20 s"
[router.wan]
up = "2 Mbit/s"
down = "50 Mbit/s"
delay = "5 ms"
[ap.hall]
position = "2 m, 3 m"
[ap.hall.radio.5g]
[station.laptop]
joins = "hall.5g"
position = "6 m, 3 m"
workload = "voice"
[station.nas]
wired = "router"
workload = "upload"
"#;

#[test]
fn a_scenario_keeps_its_text_until_it_is_edited() {
    let home = &read(BUSY)["ok"];
    assert_eq!(home["text"], BUSY);
    assert_eq!(home["stations"][0]["name"], "laptop");
    assert_eq!(home["stations"][0]["radio"], "hall.5g");
    assert_eq!(home["stations"][1]["wired"], true);
    let mut scenario = home["scenario"].clone();
    scenario["station"]["laptop"]["position"] = "12 m, 3 m".into();
    let edited = &ask(&json!({ "do": "edit", "scenario": scenario }))["ok"];
    let text = edited["text"].as_str().unwrap();
    assert!(text.contains("12 m, 3 m"), "{text}");
    assert_eq!(read(text)["ok"]["scenario"], scenario);
    // Farther away, the signal is weaker.
    let signal = |home: &Value| home["stations"][0]["signal_dbm"].as_f64().unwrap();
    assert!(signal(edited) < signal(home) - 3.0);
}

#[test]
fn a_full_uplink_is_cured_at_the_line_and_not_in_the_air() {
    let scenario = &read(BUSY)["ok"]["scenario"];
    let run = &ask(&json!({ "do": "run", "scenario": scenario }))["ok"];
    assert_eq!(run["summary"]["verdict"], "fail");
    let explained = &ask(&json!({ "do": "explain", "scenario": scenario, "runs": 6 }))["ok"];
    assert_eq!(explained["causes"][0]["kind"], "upload-bloat");
    let best = explained["best"].as_str().expect("a remedy helps");
    let what_ifs = explained["what_ifs"].as_array().unwrap();
    let passes = |one: &&Value| one["verdict"] == "pass";
    assert!(
        what_ifs.iter().filter(passes).any(|one| one["label"] == best),
        "{what_ifs:?}"
    );
    // SQM helps, and no change of the Wi-Fi does.
    let keys = |one: &Value| one["set"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let helping: Vec<String> = what_ifs.iter().filter(passes).flat_map(keys).collect();
    assert!(
        helping
            .iter()
            .any(|key| key == "router.wan.discipline_up" || key == "router.wan.discipline"),
        "{helping:?}"
    );
    assert!(!helping.iter().any(|key| key.starts_with("ap.")), "{helping:?}");
}

#[test]
fn transmissions_are_those_of_the_requested_time() {
    let scenario = &read(BUSY)["ok"]["scenario"];
    let reply = ask(&json!({ "do": "air", "scenario": scenario, "from_ms": 1000, "length_ms": 200 }));
    let sent = reply["ok"]["transmissions"].as_array().unwrap();
    // The call has a packet each 20 ms in each direction.
    assert!((20..=60).contains(&sent.len()), "{}", sent.len());
    for one in sent {
        let at = one["at_us"].as_f64().unwrap();
        assert!((1e6..1.2e6).contains(&at));
        assert_eq!(one["radio"], "hall.5g");
        assert_eq!(one["station"], 0);
    }
    assert!(sent.iter().any(|one| one["down"] == true) && sent.iter().any(|one| one["down"] == false));
}

#[test]
fn an_invalid_scenario_has_its_mistakes_with_lines() {
    let reply = read(
        "[ap.hall]\n[ap.hall.radio.5g]\n[station.laptop]\njoins = \"hall.6g\"\nsignal = \"-50 dBm\"\nworkload = \"voice\"\n",
    );
    let mistake = &reply["mistakes"][0];
    assert_eq!(
        (&mistake["key"], &mistake["line"]),
        (&json!("station.laptop.joins"), &json!(4))
    );
    assert!(reply.get("ok").is_none());
}

#[test]
fn foreign_scenarios_are_limited() {
    let many: String = (0..65)
        .map(|number| format!("[station.s{number}]\njoins = \"hall.5g\"\nsignal = \"-50 dBm\"\nworkload = \"voice\"\n"))
        .collect();
    let ap = "[ap.hall]\n[ap.hall.radio.5g]\n";
    let one = "[station.a]\njoins = \"hall.5g\"\nsignal = \"-50 dBm\"\nworkload = \"voice\"\n";
    for (text, key) in [
        (format!("{ap}{many}"), "station"),
        (format!("duration = \"301 s\"\n{ap}{one}"), "duration"),
        ("#".repeat(MAX_TEXT + 1), ""),
        ("a = ".to_owned() + &"[".repeat(60_000), ""),
        (String::new(), ""),
    ] {
        let reply = read(&text);
        assert!(reply.get("ok").is_none(), "{reply}");
        assert_eq!(reply["mistakes"][0]["key"], key, "{reply}");
    }
    // A trace is a file, and a page has none.
    let trace = read(&format!("[router.wan]\ntrace_down = \"/etc/passwd\"\n{ap}{one}"));
    assert!(trace.get("ok").is_none(), "{trace}");
}

#[test]
fn unreadable_requests_have_an_error() {
    for request in [
        "",
        "{}",
        "[]",
        "{\"do\":\"dance\"}",
        "{\"do\":\"open\",\"name\":\"none\"}",
        "{\"do\":\"run\",\"scenario\":3}",
    ] {
        let reply: Value = serde_json::from_str(&call(request, &|_, _| ())).unwrap();
        assert!(
            reply["error"].is_string() || reply["mistakes"].is_array(),
            "{request}: {reply}"
        );
    }
}

#[test]
fn every_built_in_scenario_without_a_file_opens() {
    let listed = ask(&json!({ "do": "built-in" }));
    let listed = listed["ok"].as_array().unwrap();
    assert!(listed.len() >= 30, "{}", listed.len());
    for one in listed {
        let home = ask(&json!({ "do": "open", "name": one["name"] }));
        assert!(
            home["ok"]["stations"]
                .as_array()
                .is_some_and(|stations| !stations.is_empty()),
            "{one}"
        );
        let again = ask(&json!({ "do": "edit", "scenario": home["ok"]["scenario"] }));
        assert_eq!(again["ok"]["stations"], home["ok"]["stations"], "{one}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_has_a_reply(text in ".{0,200}", key in "[a-z.]{0,20}") {
        read(&text);
        read(&format!("{key} = {text}"));
        let _ = call(&text, &|_, _| ());
    }
}
