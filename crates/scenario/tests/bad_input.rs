//! Every kind of wrong scenario: where the error points, what it says was found, what would be right.

use netburn_scenario::{Document, Ground, LARGEST_FILE, MOST_STATIONS, load};

/// The errors of a text, a line each, without the file's name.
fn errors(text: &str) -> Vec<String> {
    let error = match Document::from_toml("x.toml", text).and_then(|document| document.resolve()) {
        Ok(_) => return Vec::new(),
        Err(error) => error,
    };
    let lines = error.to_string();
    lines
        .lines()
        .map(|line| line.strip_prefix("x.toml:").unwrap_or(line).trim_start().to_owned())
        .collect()
}

#[track_caller]
fn wrong(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "\n{text}");
}

/// A scenario that is right, to which a wrong line is added.
#[track_caller]
fn station(line: &str, expected: &str) {
    wrong(&format!("[station.tv]\n{line}\n"), &[expected]);
}

#[test]
fn the_smallest_scenario_is_right() {
    wrong("[station.tv]\n", &[]);
}

#[test]
fn unknown_keys_suggest_the_nearest() {
    wrong(
        "durration = \"5 s\"\n[station.tv]\nworkloads = \"voip\"\nfrobnicate = 1\n",
        &[
            "1:1: unknown key `durration`; did you mean `duration`?",
            "3:1: station.tv: unknown key `workloads`; did you mean `workload`?",
            "4:1: station.tv: unknown key `frobnicate`; known here: `joins`, `link`, `selects`, `standard`, `streams`, `signal`, \
             `distance`, `mcs`, `signal_up`, `hidden_from`, `rate_control`, `limit`, `workload`, `start`, `stop`, `cc`, \
             `tsq`, `gso`, `gro`, `completion_delay`, `receive_delay`, `queue`, `hardware_queue`, `weight`, `agent`, `label`",
        ],
    );
    station(
        "channel = 36",
        "2:1: station.tv: unknown key `channel`; it belongs under `[ap.NAME.radio.RADIO]`",
    );
    wrong(
        "[sever]\nhttp = \"2\"\n[station.tv]\n",
        &["1:2: unknown key `sever`; did you mean `server`?"],
    );
}

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
        wired.resolve_for(Ground::Simulate).is_ok(),
        "there need be no access point"
    );
    let (_, notes) = wired.resolve_for(Ground::Local).unwrap();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("links are not modelled on local")),
        "{notes:?}"
    );
}

#[test]
fn missing_units() {
    wrong(
        "duration = 60\n[station.tv]\nsignal = -62\nlimit = \"150\"\n[server.link]\nrate = 1.5\n",
        &[
            "1:12: duration: `60` lacks its unit; write it as `\"60 s\"`",
            "3:10: station.tv.signal: `-62` lacks its unit; write it as `\"-62 dBm\"`",
            "4:9: station.tv.limit: `150` lacks its unit; write it as `\"150 Mbit/s\"`",
            "6:8: server.link.rate: `1.5` lacks its unit; write it as `\"1.5 Mbit/s\"`",
        ],
    );
    station(
        "signal = \"-62 dB\"",
        "2:10: station.tv.signal: `dB` is no unit of this; the units are dBm",
    );
    station(
        "limit = \"5 mbit/s\"",
        "2:9: station.tv.limit: `mbit/s` is no unit of this; did you mean `Mbit/s`? The units are Mbit/s, Gbit/s, \
         kbit/s, bit/s",
    );
    station(
        "start = \"soon\"",
        "2:9: station.tv.start: `soon` does not begin with a number; write it as `\"5 s\"`",
    );
    wrong(
        "[station.tv]\n[ap.c7.radio.5g]\nwidth = 80\n",
        &["3:9: ap.c7.radio.5g.width: `80` lacks its unit; write it as `\"80 MHz\"`"],
    );
}

#[test]
fn impossible_values() {
    for (line, expected) in [
        (
            "signal = \"30 dBm\"",
            "2:10: station.tv.signal: `30 dBm` is out of range; this is a received power, −110 to 0 dBm",
        ),
        (
            "streams = 9",
            "2:11: station.tv.streams: `9` is out of range; this is a whole number, 1 to 8",
        ),
        (
            "streams = \"two\"",
            "2:11: station.tv.streams: found `two`, expected a whole number, 1 to 8",
        ),
        (
            "weight = -1",
            "2:10: station.tv.weight: `-1` is out of range; this is a whole number, 1 to 65535",
        ),
        (
            "limit = \"0 bit/s\"",
            "2:9: station.tv.limit: `0 bit/s` is out of range; this is a rate, 1 kbit/s to 1000 Gbit/s",
        ),
        (
            "start = \"-5 s\"",
            "2:9: station.tv.start: `-5 s` is out of range; a duration is 0 to 584 years",
        ),
        (
            "workload = 5",
            "2:12: station.tv.workload: found `5`, expected a name in quotes",
        ),
        (
            "hardware_queue = \"0 frames\"",
            "2:18: station.tv.hardware_queue: `0 frames` is not understood; it is aggregates, frames or time, more than none: `\"2 aggregates\"`, `\"8 frames\"`, `\"10 ms\"`; or `\"unlimited\"`",
        ),
        (
            "queue = \"codel\"",
            "2:9: station.tv.queue: `codel` is not known here; did you mean `fq-codel`? It is one of `fifo`, `pfifo-fast`, `station-rr`, `fq-codel`, `fq-mac`, `airtime`",
        ),
        (
            "cc = \"CUBIC!\"",
            "2:6: station.tv.cc: `CUBIC!` is not understood; it is `reno`, `cubic`, `bbr` or the name of one that the system has: up to 15 of a to z, digits, `-` and `_`",
        ),
        (
            "tsq = 2011",
            "2:7: station.tv.tsq: `2011` is not known here; did you mean `2012`? It is one of `2012`, `2013`, `2013-min`, `2014`, `2015`, `2018`, `2019`, `2025`, `off`",
        ),
        (
            "tsq = { shift = \"none\" }",
            "2:7: station.tv.tsq: with `shift = \"none\"` the limit is the `cap`, and there is none; give a `cap`, or write `tsq = \"off\"`",
        ),
        (
            "hidden_from = [\"tv\"]",
            "2:16: station.tv.hidden_from: a station hears itself; name another station",
        ),
        (
            "agent = \"a\\u001b[0m\"",
            "2:9: station.tv.agent: it holds the control character `\\u{1b}`; leave it out",
        ),
    ] {
        station(line, expected);
    }
    wrong(
        "duration = \"0 s\"\nwarmup = \"2 min\"\nrepeat = 0\n[station.tv]\n[server.link]\nloss = \"100 %\"\n",
        &[
            "1:12: duration: `0 s` is out of range; this is a time longer than nothing, up to 30 days (720 h)",
            "2:10: warmup: nothing is left to judge: `duration` is 1 min; make `warmup` shorter than `duration`",
            "3:10: repeat: `0` is out of range; this is a whole number, 1 to 10000",
            "6:8: server.link.loss: `100 %` is out of range; this is a share, 0 to 99 %",
        ],
    );
}

#[test]
fn times_that_contradict_each_other() {
    station(
        "start = \"20 s\"\nstop = \"10 s\"",
        "3:8: station.tv.stop: it would end at 10 s, before it begins at 20 s; make `stop` later than `start`",
    );
    station(
        "start = \"60 s\"",
        "2:9: station.tv.start: it would begin after the end: `duration` is 1 min; begin before the end",
    );
    wrong(
        "duration = \"10 s\"\nwarmup = \"10 s\"\n[station.tv]\n",
        &["2:10: warmup: nothing is left to judge: `duration` is 10 s; make `warmup` shorter than `duration`"],
    );
}

#[test]
fn names() {
    wrong(
        "[station.\"living room\"]\n[station.\"\"]\n[station.fernseher-é]\n",
        &["3:20: invalid unquoted key, expected letters, numbers, `-`, `_`"],
    );
    let long = "x".repeat(64);
    wrong(
        &format!("[station.\"living room\"]\n[station.\"\"]\n[station.{long}]\n[station.under_score]\n"),
        &[
            "1:10: station.living room: the name `living room` holds ` `; a name is 1 to 63 letters (a to z), digits and `-`",
            "2:10: station.: a name is empty; a name is 1 to 63 letters (a to z), digits and `-`",
            &format!(
                "3:10: station.{long}: the name `{long}` is 64 characters long; a name is 1 to 63 letters (a to z), digits and `-`"
            ),
            "4:10: station.under_score: the name `under_score` holds `_`; a name is 1 to 63 letters (a to z), digits and `-`",
        ],
    );
    wrong(
        "[station.tv]\n[station.tv]\n",
        &["2:10: `tv` is there twice; a name or key stands once in its section; give the second another name"],
    );
    wrong(
        "seed = 1\nseed = 2\n[station.tv]\n",
        &["2:1: `seed` is there twice; a name or key stands once in its section; give the second another name"],
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
fn workloads() {
    station(
        "workload = \"browsin\"",
        "2:12: station.tv.workload: there is no workload `browsin`; did you mean `browsing`?",
    );
    station(
        "workload = [\"voip\", \"gaming\"]",
        "2:21: station.tv.workload: there is no workload `gaming`; it is one of `browsing`, `4kstream`, `voip`, \
         `download`, `upload`, `probe`, or define it: `[workload.gaming]`",
    );
    station(
        "workload = [\"voip\", \"voip\"]",
        "2:21: station.tv.workload: `voip` is listed twice; give the second a name of its own: `[workload.voip-2]`",
    );
    let own = |lines: &str, expected: &[&str]| wrong(&format!("[station.tv]\n[workload.mine]\n{lines}\n"), expected);
    own(
        "rate = \"5 Mbit/s\"",
        &[
            "2:1: workload.mine: `kind` is missing; it says what sort of use it is: `pages` several objects at once on a grid with jitter; `stream` objects one after another, the schedule shifts; `calls` objects on a fixed grid; `download` and `upload` large objects one after another; `probe` datagrams that are sent back",
        ],
    );
    own(
        "kind = \"page\"",
        &[
            "3:8: workload.mine.kind: `page` is not known here; did you mean `pages`? It is one of `pages`, `stream`, `calls`, `download`, `upload`, `probe`",
        ],
    );
    own(
        "kind = \"pages\"\nrate = \"5 Mbit/s\"\nevery = \"2 s\"",
        &["4:8: workload.mine.rate: `every` says already how often; give `rate` or `every`"],
    );
    own(
        "kind = \"pages\"\nevery = \"2 s\"\njitter = \"1.5 s\"",
        &["5:10: workload.mine.jitter: 1.5 s is too much; at most half of `every`: 1 s"],
    );
    own(
        "kind = \"probe\"\nobject_size = \"1500 B\"",
        &["4:15: workload.mine.object_size: 1.5 kB is out of range; a probe's datagram is 64 B to 1400 B"],
    );
    own(
        "kind = \"pages\"\nobjects = 0",
        &["4:11: workload.mine.objects: `0` is out of range; this is a whole number, 1 to 1000"],
    );
    own(
        "kind = \"stream\"\nplayer = { start = \"20 s\" }",
        &["4:20: workload.mine.player.start: it starts with 20 s but holds 10 s; make `start` at most `hold`"],
    );
    own(
        "kind = \"download\"\nobjects = 5\nevery = \"1 s\"\njitter = \"1 s\"\noutstanding = 3\nplayer = {}",
        &[
            "4:11: workload.mine.objects: a workload of kind `download` has no `objects`; leave it out; it is for `pages`",
            "5:9: workload.mine.every: a workload of kind `download` has no `every`; leave it out; it is for `pages`, `stream`, `calls`, `probe`",
            "6:10: workload.mine.jitter: a workload of kind `download` has no `jitter`; leave it out; it is for `pages`, `calls`, `probe`",
            "7:15: workload.mine.outstanding: a workload of kind `download` has no `outstanding`; leave it out; it is for `calls`, `probe`",
            "8:10: workload.mine.player: a workload of kind `download` has no `player`; leave it out; it is for `stream`",
        ],
    );
    wrong(
        "[station.tv]\n[workload.voip]\nkind = \"calls\"\n",
        &["2:11: workload.voip: `voip` is a ready-made workload; pick another name, such as `[workload.my-voip]`"],
    );
}

#[test]
fn goals_on_workloads_that_cannot_have_them() {
    let time = "a time is a goal for `pages`, `calls` and `probe`";
    let rate = "a rate is a goal for `stream`, `download` and `upload`";
    let stall = "`no stall` is a goal for `stream`, which has a player";
    for (kind, goal, help) in [
        ("pages", "20 Mbit/s", rate),
        ("pages", "no stall", stall),
        ("stream", "500 ms", time),
        ("calls", "1 Mbit/s", rate),
        ("calls", "no stall", stall),
        ("download", "500 ms", time),
        ("download", "no stall", stall),
        ("upload", "5 s", time),
        ("probe", "1 Mbit/s", rate),
    ] {
        wrong(
            &format!("[station.tv]\n[workload.mine]\nkind = \"{kind}\"\ngoal = [\"{goal}\"]\n"),
            &[&format!(
                "4:9: workload.mine.goal: a workload of kind `{kind}` can't have this goal; {help}"
            )],
        );
    }
    let own = |lines: &str, expected: &str| wrong(&format!("[station.tv]\n[workload.mine]\n{lines}\n"), &[expected]);
    own(
        "kind = \"pages\"\ngoal = \"fast\"",
        "4:8: workload.mine.goal: `fast` is no goal; it is a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), `\"no stall\"` or `\"none\"`",
    );
    own(
        "kind = \"pages\"\ngoal = 500",
        "4:8: workload.mine.goal: found `500`, expected a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), `\"no stall\"` or `\"none\"`",
    );
    own(
        "kind = \"stream\"\nrate = \"8 Mbit/s\"\ngoal = \"10 Mbit/s\"",
        "5:8: workload.mine.goal: 10 Mbit/s can't be met: the workload asks for 8 Mbit/s; ask for more, or for a lower goal",
    );
    own(
        "kind = \"stream\"\nrate = \"8 Mbit/s\"",
        "4:8: workload.mine.rate: the goal of a stream is 20 Mbit/s, and this one asks for 8 Mbit/s; say what is good, such as `goal = [\"8 Mbit/s\", \"no stall\"]`, and give it a `player` of that rate",
    );
}

#[test]
fn a_goal_may_be_all_that_is_asked_for() {
    // 256 KiB at 3 Mbit/s are no whole number of nanoseconds.
    let text = "[station.tv]\n[workload.mine]\nkind = \"stream\"\nrate = \"3 Mbit/s\"\nobject_size = \"256 KiB\"\ngoal = \"3 Mbit/s\"\n";
    wrong(text, &[]);
}

#[test]
fn timed_changes() {
    let at =
        |lines: &str, expected: &[&str]| wrong(&format!("[station.tv]\n[ap.c7.radio.5g]\n[[at]]\n{lines}\n"), expected);
    at(
        "time = \"5 s\"\nset = { \"station.tv.signal\" = \"-80 dBm\", \"ap.c7.radio.5g.busy\" = \"20 %\", \"server.link.rate\" = \"5 Mbit/s\" }",
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
        "time = \"5 s\"\nset = { \"ap.c7.radio.2g.busy\" = \"5 %\" }",
        &["5:9: at.set.ap.c7.radio.2g.busy: `c7` has no radio `2g`; it has `c7.5g`"],
    );
    at(
        "time = \"5 s\"\nset = { \"ap.c7.radio.7g.busy\" = \"5 %\" }",
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
            "5:9: at.set: `station.tv.streams` can't change while it runs; these can: `station.*.signal`, `station.*.distance`, `station.*.mcs`, `station.*.signal_up`, `station.*.rate_control`, `station.*.limit`, `station.*.queue`, `station.*.link.rate`, `station.*.link.down`, `station.*.link.up`, `station.*.link.delay`, `station.*.link.loss`, `station.*.weight`",
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

#[test]
fn texts_that_are_not_toml() {
    wrong(
        "[station.tv]\nworkload = browsing\nstart = 5 s\n",
        &[
            "2:12: string values must be quoted, expected literal string; a value with a unit, and a word, stands in quotes: `workload = \"browsing\"`",
            "3:9: string values must be quoted, expected literal string; a value with a unit, and a word, stands in quotes: `start = \"5 s\"`",
        ],
    );
    let empty = "the file is empty; a scenario has at least one station: `[station.laptop]` and below that `workload = \"browsing\"`";
    for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
        wrong(text, &[empty]);
    }
    wrong(
        "duration = \"5 s\"\n",
        &["there is no station; give it at least one: `[station.laptop]` and below that `workload = \"browsing\"`"],
    );
    wrong(
        "station = 5\n",
        &["1:11: station: found `5`, expected a table of names"],
    );
    wrong(
        "schema = \"netburn.scenario/9\"\n[station.tv]\n",
        &["1:10: schema: `netburn.scenario/9` is another form; this version reads `netburn.scenario/1`"],
    );
    let deep = format!("{} = 1\n", vec!["a"; 50_000].join("."));
    assert!(errors(&deep)[0].contains("this nests too deep"), "{:?}", errors(&deep));
}

#[test]
fn too_many_stations() {
    let stations: String = (0..=MOST_STATIONS).map(|n| format!("[station.s{n}]\n")).collect();
    wrong(
        &stations,
        &[&format!(
            "{}:10: station: there are 4097 stations; a scenario has up to 4096",
            MOST_STATIONS + 1
        )],
    );
    let (all_but_one, _) = stations.trim_end().rsplit_once('\n').unwrap();
    wrong(all_but_one, &[]);
}

#[test]
fn many_problems_are_counted() {
    let keys: String = (0..30).map(|n| format!("zzzzzz{n} = 1\n")).collect();
    let found = errors(&format!("{keys}[station.tv]\n"));
    assert_eq!(found.len(), 21);
    assert_eq!(found[20], "and 10 more");
}

#[test]
fn what_a_file_holds_cannot_reach_the_terminal() {
    let text = "[station.\"a\\u001b[31m\"]\n\"k\\u0007\" = 1\n[workload.mine]\nkind = \"\\u001b]0;x\\u0007\"\n";
    let error = Document::from_toml("x.toml", text).unwrap().resolve().unwrap_err();
    for shown in [error.to_string(), error.render(false)] {
        assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    }
}

#[test]
fn a_rendered_error_shows_the_line() {
    let text = "[station.tv]\nsignal = \"-62\" # near\n";
    let error = Document::from_toml("x.toml", text).unwrap().resolve().unwrap_err();
    insta::assert_snapshot!(error.render(false), @r#"
    error: station.tv.signal: `-62` lacks its unit
     --> x.toml:2:10
      |
    2 | signal = "-62" # near
      |          ^^^^^
      |
      = help: write it as `"-62 dBm"`
    "#);
    assert!(!error.render(false).contains('\u{1b}'));
    assert!(error.render(true).contains("\u{1b}["));
}

#[test]
fn arguments_are_checked_as_keys_are() {
    let set = |key: &str, value: &str| {
        let mut document = load("four-uses").unwrap();
        let result = document.set(key, value).and_then(|()| document.resolve());
        result.map(|_| ()).map_err(|error| error.to_string())
    };
    for (key, value) in [
        ("station.tv.signal", "-80 dBm"),
        ("station.tv.signal", "\"-80 dBm\""),
        ("duration", "20s"),
        ("seed", "7"),
        ("title", "5"),
        ("server.http", "2"),
        ("server.link.rate", "15Mbit/s"),
        ("server.link", "{ rate = \"15 Mbit/s\", delay = \"1 ms\" }"),
        ("station.tv.workload", "[\"voip\", \"download\"]"),
        ("station.tv.tsq", "2012"),
        ("station.tv.tsq.shift", "8"),
        ("station.tv.limit.up", "5 Mbit/s"),
        ("ap.home.queue", "airtime"),
        ("ap.home.radio.2g.width", "40 MHz"),
    ] {
        assert_eq!(set(key, value), Ok(()), "{key}={value}");
    }
    for (key, value, expected) in [
        (
            "station.tv.singal",
            "-80 dBm",
            "`station.tv` has no key `singal`; did you mean `station.tv.signal`?",
        ),
        (
            "sation.tv.signal",
            "-80 dBm",
            "a scenario has no key `sation`; did you mean `station`?",
        ),
        (
            "station.tvv.signal",
            "-80 dBm",
            "there is no station `tvv`; did you mean `tv`?",
        ),
        (
            "workload.film.priority",
            "video",
            "there is no workload `film`; the scenario has no `workload` at all",
        ),
        (
            "station.tv.signal",
            "-80",
            "station.tv.signal: `-80` lacks its unit; write it as `\"-80 dBm\"`",
        ),
        (
            "station.tv.signal.low",
            "5",
            "`station.tv.signal` has nothing below it; set `station.tv.signal` itself",
        ),
        (
            "duration",
            "60",
            "duration: `60` lacks its unit; write it as `\"60 s\"`",
        ),
        (
            "station.tv.workload",
            "[\"voip\"",
            "the value is no TOML at character 8: unclosed array, expected `]`",
        ),
        (
            "ap.home.queue",
            "fq",
            "ap.home.queue: `fq` is not known here; did you mean `fq-codel`? It is one of `fifo`, `pfifo-fast`, `station-rr`, `fq-codel`, `fq-mac`, `airtime`",
        ),
        (
            "",
            "5",
            "a scenario has no key ``; it has `schema`, `name`, `title`, `question`, `assumptions`, `duration`, `warmup`, `baseline`, `drain`, `seed`, `repeat`, `server`, `network`, `ap`, `station`, `workload`, `at`",
        ),
    ] {
        assert_eq!(set(key, value), Err(format!("--set {key}={value}: {expected}")));
    }
    let mut document = load("four-uses").unwrap();
    document.set("ap.home.wan.down", "50 Mbit/s").unwrap();
    document.set("ap.home.wan.up", "10 Mbit/s").unwrap();
    let plan = document.resolve().unwrap();
    assert_eq!(plan.aps[0].wan.unwrap().up.unwrap().to_string(), "10 Mbit/s");
}

#[test]
fn a_whole_value_cannot_be_set_in_part() {
    let mut document = Document::from_toml("x.toml", "[station.tv]\nlimit = \"5 Mbit/s\"\n").unwrap();
    let error = document.set("station.tv.limit.up", "1 Mbit/s").unwrap_err();
    assert_eq!(
        error.to_string(),
        "--set station.tv.limit.up=1 Mbit/s: `station.tv.limit` is one value here; set all of it: \
         `--set 'station.tv.limit={ … }'`"
    );
}

#[test]
fn what_a_ground_needs() {
    let bare = Document::from_toml("x.toml", "[station.tv]\nworkload = \"4kstream\"\ncc = \"dctcp\"\n").unwrap();
    assert!(bare.resolve_for(Ground::Local).is_ok());
    assert!(bare.resolve_for(Ground::Fleet).is_ok());
    assert_eq!(
        bare.resolve_for(Ground::Lab).unwrap_err().to_string(),
        "x.toml: there is no access point; begin one with `[ap.home.radio.5g]`, or run it with `--on local`; lab models the air"
    );
    assert!(
        bare.resolve_for(Ground::Simulate).unwrap_err().to_string().contains(
            "x.toml:3:1: station.tv.cc: `dctcp` can't be modelled; on simulate it is `reno`, `cubic` or `bbr`"
        )
    );
    let text = "[ap.c7]\nrating = \"AC1750\"\n[station.tv]\n";
    let error = Document::from_toml("x.toml", text)
        .unwrap()
        .resolve_for(Ground::Simulate)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.toml:3:10: station.tv: simulate needs to know what it joins; say so: `joins = \"c7.5g\"`\n\
         x.toml:3:10: station.tv: simulate needs to know how good its link is; say so: `signal = \"-60 dBm\"`, \
         `distance = \"6 m\"` or `mcs = 7`"
    );
}

#[test]
fn files() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let error = |name: &str| load(&path(name)).unwrap_err().to_string().replace(&path(name), name);

    assert_eq!(
        load(directory.path().to_str().unwrap()).unwrap_err().problems()[0].message,
        "this is a directory"
    );
    assert!(error("missing.toml").starts_with(
        "missing.toml: there is no such file and no ready-made scenario of that name; the ready-made ones are `anomaly`, "
    ));
    assert!(
        load("four-use")
            .unwrap_err()
            .to_string()
            .contains("did you mean `four-uses`?")
    );

    // Sparse: its size is all that is looked at.
    let large = std::fs::File::create(path("large.toml")).unwrap();
    large.set_len(100 << 20).unwrap();
    assert_eq!(
        error("large.toml"),
        "large.toml: the file has 104857600 bytes; a scenario file has up to 1 MiB"
    );
    let mut most = String::from("[station.tv]\n#");
    most.push_str(&"x".repeat(LARGEST_FILE as usize - most.len()));
    std::fs::write(path("most.toml"), &most).unwrap();
    assert!(load(&path("most.toml")).is_ok());

    std::fs::write(path("latin.toml"), b"[station.tv]\ntitle = \"\xe9\"\n").unwrap();
    assert_eq!(
        error("latin.toml"),
        "latin.toml:2:10: the byte 0xE9 (at 22) is not UTF-8; save the file as UTF-8"
    );
    std::fs::write(path("empty.toml"), b"").unwrap();
    assert!(error("empty.toml").starts_with("empty.toml: the file is empty; "));

    std::fs::write(path("my file.toml"), "[station.tv]\n").unwrap();
    assert_eq!(load(&path("my file.toml")).unwrap().resolve().unwrap().name, "my-file");
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read_to_its_end() {
    let error = load("/dev/zero").unwrap_err().to_string();
    assert_eq!(
        error,
        "/dev/zero: the file has more than 1048576 bytes; a scenario file has up to 1 MiB"
    );
}
