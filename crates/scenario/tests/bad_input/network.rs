//! The network: access points, radios, who joins what, links, and what changes while it runs.

use crate::{errors, station, wrong};
use netburn_scenario::{Document, Environment};

#[test]
fn on_the_air_or_on_a_wire_and_not_both() {
    wrong(
        "[ap.home.radio.5g]\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nlink = { rate = \"1 Gbit/s\" }\n",
        &[
            "3:9: station.tv.joins: the station has a `link` already; a station joins a network or has a link of its own: leave one of the two out",
            "4:10: station.tv.signal: `signal` is of the air, and the station has a `link`; leave it out, or give `joins` in place of `link`",
        ],
    );
    station(
        "link = { rate = \"1 Gbit/s\" }\nqueue = \"airtime\"",
        "3:9: station.tv.queue: `airtime` serves stations on the air, and this one has a `link`; on a wire it is one of `fifo`, `pfifo-fast`, `fq-codel`",
    );
    station(
        "link = { rat = \"1 Gbit/s\" }",
        "2:10: station.tv.link: unknown key `rat`; did you mean `rate`?",
    );
    station(
        "link = { ring = 0 }",
        "2:17: station.tv.link.ring: `0` is out of range; this is a whole number, 1 to 65535",
    );
    wrong(
        "[station.tv]\nlink = {}\n[station.pc]\n[[at]]\ntime = \"1 s\"\nset = { \"station.tv.signal\" = \"-50 dBm\", \"station.pc.link.up\" = \"1 Mbit/s\", \"station.tv.queue\" = \"fq-mac\" }\n",
        &[
            "6:9: at.set.station.tv.signal: `tv` has a `link`: it is not on the air; of a station on a wire `queue` and what is below `link` can change",
            "6:42: at.set.station.pc.link.up: `pc` has no `link`; give it one in place of `joins`: `[station.pc.link]`",
            "6:77: at.set.station.tv.queue: `fq-mac` serves stations on the air, and `tv` has a `link`; on a wire it is one of `fifo`, `pfifo-fast`, `fq-codel`",
        ],
    );
    let wired = Document::from_toml("x.toml", "[station.tv]\nlink = {}\n").unwrap();
    assert!(
        wired.resolve_for(Environment::Simulate).is_ok(),
        "there need be no access point"
    );
    let (_, notes) = wired.resolve_for(Environment::Local).unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("nothing of Wi-Fi is measured on local")),
        "{notes:?}"
    );
}

#[test]
fn what_is_joined_must_be_there() {
    let air = "[ap.c7]\nrating = \"AC1750\"\n[ap.d8.radio.5g]\n[network.home]\nradios = [\"c7.5g\"]\n[station.tv]\n";
    for (line, expected) in [
        (
            "joins = \"hom\"",
            "7:9: station.tv.joins: there is no network `hom`; did you mean `home`?",
        ),
        (
            "joins = \"c7\"",
            "7:9: station.tv.joins: there is no network `c7`; `c7` is an access point: name its radio too, `\"c7.5g\"`",
        ),
        (
            "joins = \"c8.5g\"",
            "7:9: station.tv.joins: there is no access point `c8`; did you mean `c7.5g`?",
        ),
        (
            "joins = \"c7.7g\"",
            "7:9: station.tv.joins: `c7.7g` names no radio; a network's name, or an access point's, a dot and a radio's, such as `\"c7.5g\"`",
        ),
        (
            "joins = \"c7.6g\"",
            "7:9: station.tv.joins: `c7` has no radio `6g`; it has `c7.2g`, `c7.5g`",
        ),
        (
            "joins = \"d8.2g\"",
            "7:9: station.tv.joins: `d8` has no radio `2g`; it has `d8.5g`",
        ),
        (
            "joins = \"a.b.c\"",
            "7:9: station.tv.joins: `a.b.c` is not understood; it is a network's name, or an access point's, a dot and a radio's, such as `\"c7.5g\"`",
        ),
    ] {
        wrong(&format!("{air}{line}\n"), &[expected]);
    }
    station(
        "joins = \"home\"",
        "2:9: station.tv.joins: there is no network `home`; there is none; begin one with `[network.home]`",
    );
    wrong(
        "[station.tv]\nhidden_from = [\"vt\", \"nobody\"]\n",
        &[
            "2:16: station.tv.hidden_from: there is no station `vt`; did you mean `tv`?",
            "2:22: station.tv.hidden_from: there is no station `nobody`; there are `tv`",
        ],
    );
}

#[test]
fn access_points_and_radios() {
    wrong(
        "[station.tv]\n[ap.c7]\nqueue = \"fifo\"\n[ap.d8]\nrating = \"1750\"\n",
        &[
            "2:5: ap.c7: the access point has no radios; give it a rating, `rating = \"AC1750\"`, or radios: `[ap.c7.radio.5g]`",
            "5:10: ap.d8.rating: `1750` is not understood; it is a speed rating: `N`, `AC`, `AX` or `BE` and three to five digits, such as `\"AC1750\"`",
        ],
    );
    let radio = |line: &str, expected: &str| wrong(&format!("[station.tv]\n[ap.c7.radio.5g]\n{line}\n"), &[expected]);
    radio(
        "channel = 6",
        "3:11: ap.c7.radio.5g.channel: `6` is no channel of `5g`; its channels are 36, 40 … 64, 100, 104 … 144, 149, 153 … 177",
    );
    radio(
        "standard = \"802.11g\"",
        "3:12: ap.c7.radio.5g.standard: 802.11g is not spoken in the band of `5g`; there it is one of `802.11a`, `802.11n`, `802.11ac`, `802.11ax`, `802.11be`",
    );
    radio(
        "standard = \"802.11n\"\nwidth = \"80 MHz\"",
        "4:9: ap.c7.radio.5g.width: 80 MHz is wider than 802.11n in this band; it goes up to 40 MHz",
    );
    radio(
        "standard = \"802.11n\"\nstreams = 5",
        "4:11: ap.c7.radio.5g.streams: 802.11n has no 5 streams; it has up to 4",
    );
    radio(
        "guard = \"1600 ns\"",
        "3:9: ap.c7.radio.5g.guard: 802.11ac has no guard interval of 1600 ns; it has 400 ns, 800 ns",
    );
    radio(
        "guard = \"500 ns\"",
        "3:9: ap.c7.radio.5g.guard: `500 ns` is no guard interval; it is 400, 800, 1600 or 3200 ns",
    );
    radio(
        "aggregate_time = \"6 ms\"",
        "3:18: ap.c7.radio.5g.aggregate_time: 6 ms is longer than a frame can be; 802.11 ends a frame at 5484 us; drivers at 4 ms",
    );
    radio(
        "aggregate_frames = 65",
        "3:20: ap.c7.radio.5g.aggregate_frames: 802.11ac acknowledges no 65 frames at once; its BlockAck window is 64",
    );
    radio(
        "amsdu = \"12000 B\"",
        "3:9: ap.c7.radio.5g.amsdu: no A-MSDU is 12 kB long; here it is at most 11398 B",
    );
    wrong(
        "[station.tv]\n[ap.c7.radio.7g]\n",
        &[
            "2:14: ap.c7.radio.7g: this is no radio's name; radios are named `2g`, `5g` and `6g`; a second one in a band `5g-2`",
        ],
    );
    wrong(
        "[station.tv]\n[ap.c7]\nrating = \"AC1750\"\nqueue_limit = \"0 packets\"\naql = { low = \"9 ms\", high = \"8 ms\" }\n[network.home]\nradios = []\nk = true\n[network.b]\n[network.c]\nradios = [\"c7.5g\", \"c7.5g\"]\n",
        &[
            "4:15: ap.c7.queue_limit: `0 packets` is not understood; it is packets or bytes, more than none: `\"1000 packets\"` (up to 1000000) or `\"256 KiB\"` (up to 64 GiB)",
            "5:7: ap.c7.aql: `low` (9 ms) is above `high` (8 ms); `low` is at most `high`",
            "7:10: network.home.radios: the network has no radios; name at least one: `[\"c7.5g\"]`",
            "8:5: network.home.k: this key is reserved and does nothing yet; leave it out",
            "9:1: network.b: `radios` is missing; it says its radios, each as access point and radio: `c7.5g`",
            "11:20: network.c.radios: `c7.5g` is listed twice; leave one out",
        ],
    );
}

#[test]
fn links() {
    let air = "[ap.c7.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"20 MHz\"\n[station.tv]\njoins = \"c7.5g\"\n";
    for (line, expected) in [
        (
            "signal = \"-60 dBm\"\ndistance = \"6 m\"",
            "7:12: station.tv.distance: `signal` says already how good the link is; give one of `signal`, `distance` and `mcs`",
        ),
        (
            "mcs = 7\nsignal = \"-60 dBm\"",
            "6:7: station.tv.mcs: `signal` or `distance` says already how good the link is; give one of `signal`, `distance` and `mcs`",
        ),
        (
            "mcs = 7\nrate_control = \"minstrel\"",
            "7:16: station.tv.rate_control: `mcs` fixes the rate; leave `rate_control` out, or give a `signal` instead of `mcs`",
        ),
        (
            "mcs = 9",
            "6:7: station.tv.mcs: 802.11ac has no MCS 9 at 20 MHz with 2 streams; it has 0, 1, 2, 3, 4, 5, 6, 7, 8",
        ),
        (
            "mcs = 11",
            "6:7: station.tv.mcs: 802.11ac has no MCS 11 per stream; it has 0 to 9",
        ),
        (
            "mcs = 8\nstandard = \"802.11n\"",
            "6:7: station.tv.mcs: 802.11n has no MCS 8 per stream; it has 0 to 7",
        ),
        (
            "standard = \"802.11g\"\nstreams = 2",
            "6:12: station.tv.standard: 802.11g is not spoken on `c7.5g`; there it is one of `802.11a`, `802.11n`, `802.11ac`, `802.11ax`, `802.11be`",
        ),
    ] {
        let found = errors(&format!("{air}{line}\n"));
        assert_eq!(found.first().map(String::as_str), Some(expected), "{line}: {found:?}");
    }
    wrong(&format!("{air}mcs = 8\n"), &[]);
}

#[test]
fn timed_changes() {
    let at =
        |lines: &str, expected: &[&str]| wrong(&format!("[station.tv]\n[ap.c7.radio.5g]\n[[at]]\n{lines}\n"), expected);
    at(
        "time = \"5 s\"\nset = { \"station.tv.signal\" = \"-80 dBm\", \"ap.c7.radio.5g.channel_busy\" = \"20 %\", \"server.link.rate\" = \"5 Mbit/s\" }",
        &[],
    );
    at(
        "time = \"61 s\"\nset = { \"station.tv.weight\" = 1 }",
        &["4:8: at.time: 61 s is after the end: `duration` is 1 min; change things while it runs"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.vt.signal\" = \"-80 dBm\" }",
        &["5:9: at.set.station.vt.signal: there is no station `vt`; did you mean `tv`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c8.queue\" = \"fifo\" }",
        &["5:9: at.set.ap.c8.queue: there is no access point `c8`; did you mean `c7`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c7.radio.2g.channel_busy\" = \"5 %\" }",
        &["5:9: at.set.ap.c7.radio.2g.channel_busy: `c7` has no radio `2g`; it has `c7.5g`"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c7.radio.7g.channel_busy\" = \"5 %\" }",
        &["5:9: at.set: `7g` is no radio's name; radios are named `2g`, `5g` and `6g`; a second one in a band `5g-2`"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.signal\" = \"-80\" }",
        &["5:31: at.set.station.tv.signal: `-80` lacks its unit; write it as `\"-80 dBm\"`"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.singal\" = \"-80 dBm\" }",
        &["5:9: at.set: `station.tv.singal` is no key that can change; did you mean `station.tv.signal`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.streams\" = 1 }",
        &[
            "5:9: at.set: `station.tv.streams` can't change while it runs; these can: `station.*.signal`, `station.*.distance`, `station.*.mcs`, `station.*.signal_up`, `station.*.rate_control`, `station.*.adapter_rate`, `station.*.queue`, `station.*.link.rate`, `station.*.link.down`, `station.*.link.up`, `station.*.link.delay`, `station.*.link.loss`, `station.*.weight`",
        ],
    );
    at(
        "time = \"5 s\"\nset = { station.tv.signal = \"-80 dBm\" }",
        &[
            "5:9: at.set: `station` is not a key's whole path; put the whole path in quotes: `{ \"station.tv.signal\" = \"-80 dBm\" }`",
        ],
    );
    at(
        "time = \"5 s\"",
        &[
            "3:1: at: `set` is missing; it says what becomes what: the key's dotted path in quotes, and its new value: `{ \"station.tv.signal\" = \"-80 dBm\" }`",
        ],
    );
    at(
        "time = \"5 s\"\nset = {}",
        &["5:7: at.set: nothing is set; say what changes: `{ \"station.tv.signal\" = \"-80 dBm\" }`"],
    );
}
