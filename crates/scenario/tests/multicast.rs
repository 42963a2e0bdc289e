//! Airtime of multicast in closed form, and the notes on it.

use netburn_scenario::{Document, Environment, Plan};

fn plan(multicast: &str) -> Plan {
    let text = format!(
        "[ap.x]\nmulticast = {{ {multicast} }}\n[ap.x.radio.2g]\n[ap.x.radio.5g]\n[station.s]\njoins = \"x.5g\"\nmcs = 5\n\
         [station.t]\njoins = \"x.2g\"\nmcs = 5\n"
    );
    Document::from_toml("m.toml", &text).unwrap().resolve().unwrap()
}

/// A frame has 24 + 16 + 8 + 1356 + 4 = 1408 bytes. At 6 Mbit/s it takes 20 + 4 × ⌈(22 + 11 264) / 24⌉ = 1904 µs, and at
/// 1 Mbit/s with the long preamble 192 + 11 264 = 11 456 µs. 4 Mbit/s are 4 000 000 / 10 848 = 368.7 packets per second:
/// 70.2 % and 422 % of the airtime.
#[test]
fn notes_have_the_airtime_of_each_radio() {
    let slow = "`ap.x.multicast`: 369 frames of 11.456 ms in each second need 422 % of the airtime of x.2g";
    let fast = "`ap.x.multicast`: 369 frames of 1.904 ms in each second need 70 % of the airtime of x.5g";
    let lab = "`ap.x.multicast` only uses airtime in the lab: programs receive none of its packets";
    let notes = |keys: &str, environment| {
        let mut notes = plan(&format!("rate = \"4 Mbit/s\"{keys}")).notes_on(environment);
        notes.retain(|note| note.contains("multicast"));
        notes
    };
    assert_eq!(notes("", Environment::Simulate), [slow, fast]);
    assert_eq!(notes(", to = [\"s\"], snooping = true", Environment::Simulate), [fast]);
    assert_eq!(notes(", to = [\"s\"]", Environment::Lab), [slow, fast, lab]);
    assert_eq!(notes(", to_unicast = \"members\"", Environment::Simulate), [""; 0]);
}
