//! Access points, radios, networks, links and timed changes.

use crate::{errors, station, wrong};
use netburn_scenario::{Document, Environment};

#[test]
fn wifi_and_a_wired_link_exclude_each_other() {
    wrong(
        "[ap.home.radio.5g]\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nlink = { rate = \"1 Gbit/s\" }\n",
        &[
            "3:9: station.tv.joins: `joins` and `link` exclude each other; remove one of them",
            "4:10: station.tv.signal: `signal` needs Wi-Fi, and the station has a `link`; remove it, or use `joins` instead of `link`",
        ],
    );
    station(
        "link = { rate = \"1 Gbit/s\" }\nqueue = \"airtime\"",
        "3:9: station.tv.queue: `airtime` needs Wi-Fi, and the station has a `link`; expected one of {queues of a wire}",
    );
    station(
        "link = { rat = \"1 Gbit/s\" }",
        "2:10: station.tv.link: unknown key `rat`; did you mean `rate`?",
    );
    station(
        "link = { ring = 0 }",
        "2:17: station.tv.link.ring: `0` is out of range; expected a whole number, 1 to 65535",
    );
    wrong(
        "[station.tv]\nlink = {}\n[station.pc]\n[[at]]\ntime = \"1 s\"\nset = { \"station.tv.signal\" = \"-50 dBm\", \"station.pc.link.up\" = \"1 Mbit/s\", \"station.tv.queue\" = \"fq-mac\" }\n",
        &[
            "6:9: at.set.station.tv.signal: `tv` has a `link` and no Wi-Fi; for a station with a `link`, `queue` and the keys below `link` can change",
            "6:42: at.set.station.pc.link.up: `pc` has no `link`; add one instead of `joins`: `[station.pc.link]`",
            "6:77: at.set.station.tv.queue: `fq-mac` needs Wi-Fi, and `tv` has a `link`; expected one of {queues of a wire}",
        ],
    );
    let wired = Document::from_toml("x.toml", "[station.tv]\nlink = {}\n").unwrap();
    assert!(
        wired.resolve_for(Environment::Simulate).is_ok(),
        "no access point is needed"
    );
    let (_, notes) = wired.resolve_for(Environment::Local).unwrap();
    assert!(
        notes.iter().any(|note| note.contains("local has no Wi-Fi")),
        "{notes:?}"
    );
}

#[test]
fn references_to_unknown_names_are_errors() {
    let air = "[ap.c7]\nrating = \"AC1750\"\n[ap.d8.radio.5g]\n[network.home]\nradios = [\"c7.5g\"]\n[station.tv]\n";
    for (line, expected) in [
        (
            "joins = \"hom\"",
            "7:9: station.tv.joins: unknown network `hom`; did you mean `home`?",
        ),
        (
            "joins = \"c7\"",
            "7:9: station.tv.joins: unknown network `c7`; `c7` is an access point; add its radio: `\"c7.5g\"`",
        ),
        (
            "joins = \"c8.5g\"",
            "7:9: station.tv.joins: unknown access point `c8`; did you mean `c7.5g`?",
        ),
        (
            "joins = \"c7.7g\"",
            "7:9: station.tv.joins: invalid radio `c7.7g`; expected the name of a network, or an access point and a radio, such as `\"c7.5g\"`",
        ),
        (
            "joins = \"c7.6g\"",
            "7:9: station.tv.joins: `c7` has no radio `6g`; expected one of `c7.2g`, `c7.5g`",
        ),
        (
            "joins = \"d8.2g\"",
            "7:9: station.tv.joins: `d8` has no radio `2g`; expected one of `d8.5g`",
        ),
        (
            "joins = \"a.b.c\"",
            "7:9: station.tv.joins: invalid value `a.b.c`; expected the name of a network, or an access point and a radio, such as `\"c7.5g\"`",
        ),
    ] {
        wrong(&format!("{air}{line}\n"), &[expected]);
    }
    station(
        "joins = \"home\"",
        "2:9: station.tv.joins: unknown network `home`; the scenario has none; add one with `[network.home]`",
    );
    wrong(
        "[station.tv]\nhidden_from = [\"vt\", \"garage\"]\n",
        &[
            "2:16: station.tv.hidden_from: unknown station `vt`; did you mean `tv`?",
            "2:22: station.tv.hidden_from: unknown station `garage`; expected one of `tv`",
        ],
    );
}

#[test]
fn access_points_and_radios() {
    wrong(
        "[station.tv]\n[ap.c7]\nqueue = \"fifo\"\n[ap.d8]\nrating = \"1750\"\n",
        &[
            "2:5: ap.c7: the access point has no radios; add `rating = \"AC1750\"`, or a radio: `[ap.c7.radio.5g]`",
            "5:10: ap.d8.rating: invalid value `1750`; expected a speed rating: `N`, `AC`, `AX`, `AXE` or `BE` and three to five digits, such as `\"AC1750\"`",
        ],
    );
    let radio = |line: &str, expected: &str| wrong(&format!("[station.tv]\n[ap.c7.radio.5g]\n{line}\n"), &[expected]);
    radio(
        "channel = 6",
        "3:11: ap.c7.radio.5g.channel: invalid channel `6` for `5g`; expected 36, 40 … 64, 100, 104 … 144, 149, 153 … 177",
    );
    radio(
        "standard = \"802.11g\"",
        "3:12: ap.c7.radio.5g.standard: 802.11g does not exist in the band of `5g`; expected one of `802.11a`, `802.11n`, `802.11ac`, `802.11ax`, `802.11be`",
    );
    radio(
        "standard = \"802.11n\"\nwidth = \"80 MHz\"",
        "4:9: ap.c7.radio.5g.width: 802.11n does not support 80 MHz in this band; expected up to 40 MHz",
    );
    radio(
        "standard = \"802.11n\"\nstreams = 5",
        "4:11: ap.c7.radio.5g.streams: 802.11n does not support 5 streams; expected up to 4",
    );
    radio(
        "guard = \"1600 ns\"",
        "3:9: ap.c7.radio.5g.guard: 802.11ac does not support a guard interval of 1600 ns; expected 400 ns, 800 ns",
    );
    radio(
        "guard = \"500 ns\"",
        "3:9: ap.c7.radio.5g.guard: invalid guard interval `500 ns`; expected 400, 800, 1600 or 3200 ns",
    );
    radio(
        "aggregate_time = \"6 ms\"",
        "3:18: ap.c7.radio.5g.aggregate_time: the maximum PPDU duration of 802.11 is exceeded: found 6 ms; expected up to 5.484 ms; Linux drivers use 4 ms",
    );
    radio(
        "aggregate_frames = 65",
        "3:20: ap.c7.radio.5g.aggregate_frames: 65 frames exceed the BlockAck window of 802.11ac; expected up to 64",
    );
    radio(
        "amsdu = \"12000 B\"",
        "3:9: ap.c7.radio.5g.amsdu: A-MSDU too large: found 12 kB; expected up to 11398 B",
    );
    wrong(
        "[station.tv]\n[ap.c7.radio.7g]\n",
        &["2:14: ap.c7.radio.7g: invalid radio name; expected `2g`, `5g` or `6g`; a second radio in a band is `5g-2`"],
    );
    wrong(
        "[station.tv]\n[ap.c7]\nrating = \"AC1750\"\nqueue_limit = \"0 packets\"\naql = { low = \"9 ms\", high = \"8 ms\" }\n[network.home]\nradios = []\nbackhaul = true\n[network.b]\n[network.c]\nradios = [\"c7.5g\", \"c7.5g\"]\n",
        &[
            "4:15: ap.c7.queue_limit: invalid value `0 packets`; expected packets or bytes, more than 0: `\"1000 packets\"` (up to 1000000) or `\"256 KiB\"` (up to 64 GiB)",
            "5:7: ap.c7.aql: `low` (9 ms) is above `high` (8 ms); expected `low` up to `high`",
            "7:10: network.home.radios: the network has no radios; add at least one: `[\"c7.5g\"]`",
            "8:1: network.home: unknown key `backhaul`; it belongs in `[ap.NAME]`, `[kit.NAME]`",
            "9:1: network.b: missing `radios`; it is the radios of the network, each as access point and radio: `c7.5g`",
            "11:20: network.c.radios: duplicate radio `c7.5g`; remove one",
        ],
    );
}

#[test]
fn links() {
    let air = "[ap.c7.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"20 MHz\"\n[station.tv]\njoins = \"c7.5g\"\n";
    for (line, expected) in [
        (
            "signal = \"-60 dBm\"\ndistance = \"6 m\"",
            "7:12: station.tv.distance: `signal` already sets the link quality; use one of `signal` and `distance`",
        ),
        (
            "mcs = 7\nsignal = \"-60 dBm\"\nrate_control = \"ideal\"",
            "8:16: station.tv.rate_control: `mcs` fixes the rate; remove `rate_control`, or use `signal` instead of `mcs`",
        ),
        (
            "mcs = 7\nrate_control = \"minstrel\"",
            "7:16: station.tv.rate_control: `mcs` fixes the rate; remove `rate_control`, or use `signal` instead of `mcs`",
        ),
        (
            "mcs = 9",
            "6:7: station.tv.mcs: 802.11ac has no MCS 9 at 20 MHz with 2 streams; expected 0, 1, 2, 3, 4, 5, 6, 7, 8",
        ),
        (
            "mcs = 11",
            "6:7: station.tv.mcs: 802.11ac has no MCS 11 per stream; expected 0 to 9",
        ),
        (
            "mcs = 8\nstandard = \"802.11n\"",
            "6:7: station.tv.mcs: 802.11n has no MCS 8 per stream; expected 0 to 7",
        ),
        (
            "standard = \"802.11g\"\nstreams = 2",
            "6:12: station.tv.standard: 802.11g does not exist in the band of `c7.5g`; expected one of `802.11a`, `802.11n`, `802.11ac`, `802.11ax`, `802.11be`",
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
        &[
            "4:8: at.time: the change is after the end of the load: found 61 s; expected up to `duration`, which is 1 min",
        ],
    );
    at(
        "time = \"5 s\"\nset = { \"station.vt.signal\" = \"-80 dBm\" }",
        &["5:9: at.set.station.vt.signal: unknown station `vt`; did you mean `tv`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c8.queue\" = \"fifo\" }",
        &["5:9: at.set.ap.c8.queue: unknown access point `c8`; did you mean `c7`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c7.radio.2g.channel_busy\" = \"5 %\" }",
        &["5:9: at.set.ap.c7.radio.2g.channel_busy: `c7` has no radio `2g`; expected one of `c7.5g`"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c7.radio.7g.channel_busy\" = \"5 %\" }",
        &["5:9: at.set: invalid radio name `7g`; expected `2g`, `5g` or `6g`; a second radio in a band is `5g-2`"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.signal\" = \"-80\" }",
        &["5:31: at.set.station.tv.signal: `-80` has no unit; write it as `\"-80 dBm\"`"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.singal\" = \"-80 dBm\" }",
        &["5:9: at.set: unknown key `station.tv.singal`; did you mean `station.tv.signal`?"],
    );
    at(
        "time = \"5 s\"\nset = { \"station.tv.streams\" = 1 }",
        &[
            "5:9: at.set: `station.tv.streams` cannot change during a run; keys that can change: `station.*.signal`, `station.*.distance`, `station.*.position`, `station.*.mcs`, `station.*.signal_up`, `station.*.rate_control`, `station.*.adapter_rate`, `station.*.queue`, `station.*.weight`, `station.*.link.rate`, `station.*.link.down`, `station.*.link.up`, `station.*.link.delay`, `station.*.link.loss`",
        ],
    );
    at(
        "time = \"5 s\"\nset = { station.tv.signal = \"-80 dBm\" }",
        &[
            "5:9: at.set: `station` is not a full path; write the full path in quotes: `{ \"station.tv.signal\" = \"-80 dBm\" }`",
        ],
    );
    at(
        "time = \"5 s\"",
        &[
            "3:1: at: missing `set`; it is the paths of keys in quotes, with their new values: `{ \"station.tv.signal\" = \"-80 dBm\" }`",
        ],
    );
    at(
        "time = \"5 s\"\nset = {}",
        &["5:7: at.set: `set` is empty; add a path and its new value: `{ \"station.tv.signal\" = \"-80 dBm\" }`"],
    );
}

#[test]
fn positions_and_roaming() {
    const HOME: &str =
        "[ap.c7]\nposition = \"0 m, 0 m\"\n[ap.c7.radio.5g]\n[network.home]\nradios = [\"c7.5g\"]\n[station.tv]\n";
    let tv = |lines: &str, expected: &[&str]| wrong(&format!("{HOME}{lines}\n"), expected);
    tv(
        "position = \"2, 3\"",
        &[
            "7:12: station.tv.position: invalid value `2, 3`; expected a position: metres from west to east and from south to north, such as `\"2 m, 5.5 m\"`, and the floor if it is not 0: `\"2 m, 5.5 m, floor 1\"`",
        ],
    );
    tv(
        "position = \"2 m, 3 m\"\nsignal = \"-50 dBm\"",
        &[
            "8:10: station.tv.signal: `signal` has no effect: the signal follows from the position; remove it, or `position` and `path`",
        ],
    );
    tv(
        "position = \"2 m, 3 m\"\npath = [\"0 m, 0 m\"]",
        &[
            "7:12: station.tv.position: `position` and `path` exclude each other; remove `position`: the path begins at its first position",
        ],
    );
    tv(
        "path = []",
        &[
            "7:8: station.tv.path: the path has no position; name at least one position: `[\"2 m, 0 m\", \"22 m, 0 m\"]`",
        ],
    );
    tv(
        "position = \"2 m, 3 m\"\nspeed = \"1 m/s\"",
        &[
            "8:9: station.tv.speed: the station does not move; add a `path` of at least two positions, or remove `speed`",
        ],
    );
    tv(
        "joins = \"c7.5g\"\nroaming = \"linux\"",
        &[
            "8:11: station.tv.roaming: a station that joins one radio does not roam; let the station join a network, such as `joins = \"home\"`",
        ],
    );
    tv(
        "roaming = \"linus\"",
        &[
            "7:11: station.tv.roaming: unknown value `linus`; did you mean `linux`? Expected one of `never`, `linux`, `iwd`, `apple-phone`, `apple-laptop`, `qualcomm`, `broadcom`, `ap-directed`",
        ],
    );
    wrong(
        "[ap.c7.radio.5g]\n[station.tv]\njoins = \"c7.5g\"\nposition = \"2 m, 3 m\"\n",
        &["4:12: station.tv.position: access point `c7` has no position; add `position` to `[ap.c7]`"],
    );
    wrong(
        "[ap.c7.radio.5g]\n[network.home]\nradios = [\"c7.5g\"]\nsecurity = \"open\"\nr = true\n[station.tv]\n",
        &["5:5: network.home.r: 802.11r needs keys, and the network is open; use `security = \"psk\"`, or remove `r`"],
    );
    let home = |lines: &str, expected: &[&str]| {
        let text = format!("[ap.c7.radio.5g]\n[network.home]\nradios = [\"c7.5g\"]\n{lines}\n[station.tv]\n");
        wrong(&text, expected);
    };
    home(
        "steering = \"dawn\"",
        &["4:12: network.home.steering: the access points can't ask stations to move without 802.11v; add `v = true`"],
    );
    home(
        "v = true\nsteering = { policy = \"load\", score = 5 }",
        &["5:12: network.home.steering: `score` has no effect with this policy; remove `score`"],
    );
    home(
        "steering = \"usteeer\"",
        &[
            "4:12: network.home.steering: unknown value `usteeer`; did you mean `usteer`? Expected one of `none`, `usteer`, `dawn`, `load`, `prefer-5ghz`, `probe-suppression`",
        ],
    );
    home(
        "r_over_ds = true",
        &["4:13: network.home.r_over_ds: `r_over_ds` needs 802.11r; add `r = true`"],
    );
    home(
        "okc = true",
        &[
            "4:7: network.home.okc: no keys to share: the key of a password is known to all; use `security = \"802.1x\"`, or remove `okc`",
        ],
    );
    wrong(
        "[building]\nwalls = [\"4 m, 0 m to 4 m, 0 m\"]\n[station.tv]\n",
        &[
            "2:10: building.walls: invalid value `4 m, 0 m to 4 m, 0 m`; expected a wall between two positions of one floor, such as `\"4 m, 0 m to 4 m, 6 m\"`",
        ],
    );
}

#[test]
fn power_save_and_scans_of_access_points() {
    const TV: &str = "[ap.c7.radio.5g]\n[station.tv]\njoins = \"c7.5g\"\npower_save";
    let tv = |value: &str, expected: &[&str]| wrong(&format!("{TV} = {value}\n"), expected);
    tv(
        "\"legaci\"",
        &[
            "4:14: station.tv.power_save: unknown value `legaci`; did you mean `legacy`? Expected one of `off`, `legacy`, `u-apsd`, `twt`",
        ],
    );
    tv(
        "{ mode = \"u-apsd\", timeout = \"50 ms\" }",
        &[
            "4:43: station.tv.power_save.timeout: `timeout` has no effect with the mode `u-apsd`; remove it, or use the mode `legacy`",
        ],
    );
    tv(
        "{ listen_interval = 2, twt_interval = \"100 ms\" }",
        &[
            "4:52: station.tv.power_save.twt_interval: `twt_interval` has no effect with the mode `legacy`; remove it, or use the mode `twt`",
        ],
    );
    tv(
        "{ mode = \"twt\", twt_interval = \"10 ms\", twt_service_period = \"10 ms\" }",
        &[
            "4:75: station.tv.power_save.twt_service_period: invalid service period: found 10 ms; expected 1 ms or more, and less than `twt_interval` (10 ms)",
        ],
    );
    tv(
        "{ mode = \"twt\", twt_interval = \"10 ms\", twt_service_period = \"9 ms\" }",
        &[],
    );
    wrong(
        "[station.tv]\npower_save = \"legacy\"\n[station.tv.link]\n",
        &[
            "2:14: station.tv.power_save: `power_save` needs Wi-Fi, and the station has a `link`; remove it, or use `joins` instead of `link`",
        ],
    );
    wrong(
        "[ap.c7]\nscan_away = \"50 ms\"\n[ap.c7.radio.5g]\n[station.tv]\n",
        &[
            "2:13: ap.c7.scan_away: the access point does not scan; add `scan_interval`, such as `scan_interval = \"120 s\"`",
        ],
    );
    wrong(
        "[ap.c7]\nscan_interval = \"100 ms\"\n[ap.c7.radio.5g]\n[station.tv]\n",
        &[
            "2:17: ap.c7.scan_interval: `scan_interval` is not longer than `scan_away`: found 100 ms; expected more than `scan_away`, which is 100 ms",
        ],
    );
    let leaves = |keys: &str, expected: &[&str]| {
        let file = format!(
            "[network.home]\nradios = [\"c7.5g\"]\n[ap.c7.radio.5g]\n[station.tv]\njoins = \"home\"\nsignal = \"-50 dBm\"\n{keys}\n"
        );
        wrong(&file, expected);
    };
    leaves(
        "absence = { interval = \"100 ms\", length = \"100 ms\" }",
        &[
            "7:43: station.tv.absence.length: `length` is not less than `interval`: found 100 ms; expected less than `interval`, which is 100 ms",
        ],
    );
    leaves(
        "absence = { interval = \"1 s\", length = \"100 ms\" }\npower_save = \"legacy\"\nroaming = \"linux\"",
        &[
            "8:14: station.tv.power_save: `power_save` and `absence` exclude each other; remove one of them",
            "9:11: station.tv.roaming: `roaming` and `absence` exclude each other; remove one of them",
        ],
    );
}

/// Multicast of an access point, and the rate of group-addressed frames.
#[test]
fn multicast() {
    let file = |keys: &str, expected: &[&str]| {
        let text = format!(
            "[ap.c7]\nmulticast = {keys}\n[ap.c7.radio.5g]\n[ap.d8.radio.5g]\n\
             [station.tv]\njoins = \"c7.5g\"\nmcs = 5\n[station.far]\njoins = \"d8.5g\"\nmcs = 5\n[station.nas.link]\n"
        );
        wrong(&text, expected);
    };
    file(
        "{ to = [\"tv\"] }",
        &["2:13: ap.c7.multicast: missing `rate`; it is the rate of the IP packets, 1 kbit/s to 100 Mbit/s"],
    );
    file(
        "{ rate = \"200 Mbit/s\", size = \"9000 B\" }",
        &[
            "2:22: ap.c7.multicast.rate: `rate` is out of range: found 200 Mbit/s; expected up to 100 Mbit/s",
            "2:43: ap.c7.multicast.size: `size` is out of range: found 9 kB; expected 64 B to 1500 B",
        ],
    );
    file(
        "{ rate = \"8 Mbit/s\", size = \"63 B\" }",
        &["2:41: ap.c7.multicast.size: `size` is out of range: found 63 B; expected 64 B to 1500 B"],
    );
    file(
        "{ rate = \"8 Mbit/s\", to = [\"tw\", \"tv\", \"tv\", \"far\", \"nas\"] }",
        &[
            "2:40: ap.c7.multicast.to: unknown station `tw`; did you mean `tv`?",
            "2:52: ap.c7.multicast.to: `tv` is already a member; remove one of them",
            "2:58: ap.c7.multicast.to: `far` joins no radio of `c7`; remove it, or let `[station.far]` join a radio of `c7`",
            "2:65: ap.c7.multicast.to: `nas` joins no radio of `c7`; remove it, or let `[station.nas]` join a radio of `c7`",
        ],
    );
    let radio = |band: &str, keys: &str, expected: &[&str]| {
        wrong(&format!("[ap.c7.radio.{band}]\n{keys}\n[station.tv]\n"), expected);
    };
    radio(
        "5g",
        "multicast_rate = \"1 Mbit/s\"",
        &[
            "2:18: ap.c7.radio.5g.multicast_rate: `multicast_rate` is no rate of group-addressed frames of `5g`: found 1 Mbit/s; expected one of `6 Mbit/s`, `9 Mbit/s`, `12 Mbit/s`, `18 Mbit/s`, `24 Mbit/s`, `36 Mbit/s`, `48 Mbit/s`, `54 Mbit/s`",
        ],
    );
    radio(
        "2g",
        "standard = \"802.11b\"\nmulticast_rate = \"6 Mbit/s\"",
        &[
            "3:18: ap.c7.radio.2g.multicast_rate: `multicast_rate` is no rate of group-addressed frames of `2g`: found 6 Mbit/s; expected one of `1 Mbit/s`, `2 Mbit/s`, `5.5 Mbit/s`, `11 Mbit/s`",
        ],
    );
    radio("2g", "multicast_rate = \"5.5 Mbit/s\"", &[]);
}
