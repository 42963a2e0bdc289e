//! Unknown keys, missing units, values out of range, invalid names.

use crate::{station, wrong};

#[test]
fn the_smallest_scenario_is_valid() {
    wrong("[station.tv]\n", &[]);
}

#[test]
fn unknown_keys_suggest_the_nearest() {
    wrong(
        "durration = \"5 s\"\n[station.tv]\nworkloads = \"voip\"\nfrobnicate = 1\n",
        &[
            "1:1: unknown key `durration`; did you mean `duration`?",
            "3:1: station.tv: unknown key `workloads`; did you mean `workload`?",
            "4:1: station.tv: unknown key `frobnicate`; expected one of `joins`, `wired`, `link`, `radio_selection`, `standard`, `streams`, `signal`, \
             `distance`, `position`, `path`, `speed`, `signals`, `roaming`, `power_save`, `absence`, `mcs`, `signal_up`, `hidden_from`, `rate_control`, `adapter_rate`, `workload`, `start`, `stop`, `cc`, `ecn`, \
             `tsq`, `gso`, `gro`, `tx_completion_delay`, `rx_interrupt_delay`, `queue`, `hardware_queue`, `aggregate_composition`, `driver_queue`, `weight`, `dscp_mapping`, `agent`, `label`",
        ],
    );
    station(
        "channel = 36",
        "2:1: station.tv: unknown key `channel`; it belongs in `[ap.NAME.radio.RADIO]`",
    );
    wrong(
        "[sever]\nhttp = \"2\"\n[station.tv]\n",
        &["1:2: unknown key `sever`; did you mean `server`?"],
    );
}

#[test]
fn missing_units() {
    wrong(
        "duration = 60\n[station.tv]\nsignal = -62\nadapter_rate = \"150\"\n[server.link]\nrate = 1.5\n",
        &[
            "1:12: duration: `60` has no unit; write it as `\"60 s\"`",
            "3:10: station.tv.signal: `-62` has no unit; write it as `\"-62 dBm\"`",
            "4:16: station.tv.adapter_rate: `150` has no unit; write it as `\"150 Mbit/s\"`",
            "6:8: server.link.rate: `1.5` has no unit; write it as `\"1.5 Mbit/s\"`",
        ],
    );
    station(
        "signal = \"-62 dB\"",
        "2:10: station.tv.signal: unknown unit `dB`; did you mean `dBm`? Expected one of dBm",
    );
    station(
        "adapter_rate = \"5 mbit/s\"",
        "2:16: station.tv.adapter_rate: unknown unit `mbit/s`; did you mean `Mbit/s`? Expected one of Mbit/s, Gbit/s, \
         kbit/s, bit/s",
    );
    station(
        "start = \"soon\"",
        "2:9: station.tv.start: `soon` does not begin with a number; write it as `\"5 s\"`",
    );
    wrong(
        "[station.tv]\n[ap.c7.radio.5g]\nwidth = 80\n",
        &["3:9: ap.c7.radio.5g.width: `80` has no unit; write it as `\"80 MHz\"`"],
    );
}

#[test]
fn invalid_values() {
    for (line, expected) in [
        (
            "signal = \"30 dBm\"",
            "2:10: station.tv.signal: `30 dBm` is out of range; expected a received power, −110 to 0 dBm",
        ),
        (
            "streams = 9",
            "2:11: station.tv.streams: `9` is out of range; expected a whole number, 1 to 8",
        ),
        (
            "streams = \"two\"",
            "2:11: station.tv.streams: found `two`, expected a whole number, 1 to 8",
        ),
        (
            "weight = -1",
            "2:10: station.tv.weight: `-1` is out of range; expected a whole number, 1 to 65535",
        ),
        (
            "adapter_rate = \"0 bit/s\"",
            "2:16: station.tv.adapter_rate: `0 bit/s` is out of range; expected a rate, 1 kbit/s to 1000 Gbit/s",
        ),
        (
            "start = \"-5 s\"",
            "2:9: station.tv.start: `-5 s` is out of range; expected a time, 0 s to 30 days (720 h)",
        ),
        (
            "start = \"0.1 ns\"",
            "2:9: station.tv.start: `0.1 ns` has too many digits; finer than can be kept",
        ),
        (
            "workload = 5",
            "2:12: station.tv.workload: found `5`, expected a name in quotes",
        ),
        (
            "hardware_queue = \"0 frames\"",
            "2:18: station.tv.hardware_queue: invalid value `0 frames`; expected aggregates, frames or a time, more than 0: `\"2 aggregates\"`, `\"8 frames\"`, `\"10 ms\"`; or `\"unlimited\"`",
        ),
        (
            "queue = \"codel\"",
            "2:9: station.tv.queue: unknown value `codel`; did you mean `fq-codel`? Expected one of {queues of a radio}",
        ),
        (
            "cc = \"CUBIC!\"",
            "2:6: station.tv.cc: invalid value `CUBIC!`; expected `reno`, `cubic`, `bbr` or another one of the operating system: up to 15 of a to z, digits, `-` and `_`",
        ),
        (
            "tsq = 2011",
            "2:7: station.tv.tsq: unknown value `2011`; did you mean `2012`? Expected one of `2012`, `2013`, `2013-min`, `2014`, `2015`, `2018`, `2019`, `2025`, `off`",
        ),
        (
            "tsq = { shift = \"none\" }",
            "2:7: station.tv.tsq: `shift = \"none\"` needs a `cap`; add a `cap`, or write `tsq = \"off\"`",
        ),
        (
            "hidden_from = [\"tv\"]",
            "2:16: station.tv.hidden_from: `hidden_from` contains the station itself; name another station",
        ),
        (
            "agent = \"a\\u001b[0m\"",
            "2:9: station.tv.agent: invalid control character `\\u{1b}`; remove it",
        ),
    ] {
        station(line, expected);
    }
    wrong(
        "duration = \"0 s\"\nwarmup = \"2 min\"\nrepeat = 0\n[station.tv]\n[server.link]\nloss = \"100 %\"\n",
        &[
            "1:12: duration: `0 s` is out of range; expected a time greater than 0, up to 30 days (720 h)",
            "2:10: warmup: `warmup` is not shorter than `duration` (1 min); use a shorter `warmup`",
            "3:10: repeat: `0` is out of range; expected a whole number, 1 to 10000",
            "6:8: server.link.loss: `100 %` is out of range; expected a share, 0 to 99 %",
        ],
    );
    // A value above the range of the unit.
    wrong(
        "[station.tv]\n[server.link]\nloss = \"120 %\"\n",
        &["3:8: server.link.loss: `120 %` is out of range; expected a share, 0 to 99 %"],
    );
}

/// Units as they stand on bills and routers. 250 MB/s are 8 × 250 = 2000 Mbit/s. Windows maps −100 to −50 dBm to 0 to 100 %.
#[test]
fn units_of_other_programs_have_a_suggestion() {
    let rates = "Expected one of Mbit/s, Gbit/s, kbit/s, bit/s";
    for (value, help) in [
        ("250 MBit", "unknown unit `MBit`; did you mean `Mbit/s`?"),
        ("40 mbps", "unknown unit `mbps`; did you mean `Mbit/s`?"),
        ("1 Gb", "unknown unit `Gb`; did you mean `Gbit/s`?"),
        ("100 M", "unknown unit `M`; did you mean `Mbit/s`?"),
        (
            "250 MB/s",
            "unknown unit `MB/s`; 1 byte is 8 bit: write it as `\"2000 Mbit/s\"`.",
        ),
        (
            "1.5 MBps",
            "unknown unit `MBps`; 1 byte is 8 bit: write it as `\"12 Mbit/s\"`.",
        ),
    ] {
        station(
            &format!("adapter_rate = \"{value}\""),
            &format!("2:16: station.tv.adapter_rate: {help} {rates}"),
        );
    }
    station(
        "signal = \"80 %\"",
        "2:10: station.tv.signal: unknown unit `%`; Windows shows the signal in percent: 80 % is about `\"-60 dBm\"` \
         (percent ÷ 2 − 100). Expected one of dBm",
    );
    station(
        "start = \"5 seconds\"",
        "2:9: station.tv.start: unknown unit `seconds`; did you mean `s`? Expected one of s, ms, us, ns, min, h",
    );
    station(
        "distance = \"5 metres\"",
        "2:12: station.tv.distance: unknown unit `metres`; did you mean `m`? Expected one of m, cm, mm, km, ft",
    );
}

#[test]
fn names() {
    wrong(
        "[station.\"living room\"]\n[station.\"\"]\n[station.fernseher-é]\n",
        &[
            "3:20: invalid name `fernseher-é`; write the line as `[station.fernseher]`; expected 1 to 63 letters (a to z, A to Z), digits or `-`",
        ],
    );
    let long = "x".repeat(64);
    wrong(
        &format!("[station.\"living room\"]\n[station.\"\"]\n[station.{long}]\n[station.under_score]\n"),
        &[
            "1:10: station.living room: the name `living room` contains ` `; write it as `living-room`; expected 1 to 63 letters (a to z, A to Z), digits or `-`",
            "2:10: station.: the name is empty; expected 1 to 63 letters (a to z, A to Z), digits or `-`",
            &format!(
                "3:10: station.{long}: the name `{long}` is 64 characters long; expected 1 to 63 letters (a to z, A to Z), digits or `-`"
            ),
            "4:10: station.under_score: the name `under_score` contains `_`; write it as `under-score`; expected 1 to 63 letters (a to z, A to Z), digits or `-`",
        ],
    );
    wrong(
        "[station.server]\n[station.Server]\n[station.servers]\n[station.localhost]\n[ap.server.radio.5g]\n",
        &[
            "1:10: station.server: reserved name `server`: it means the server; give the station another name",
            "2:10: station.Server: reserved name `server`: it means the server; give the station another name",
            "4:10: station.localhost: reserved name `localhost`: it means the local host; give the station another name",
        ],
    );
    wrong(
        "[station.tv]\n[station.tv]\n",
        &["2:10: duplicate key `tv`; use each name and key once per section"],
    );
    wrong(
        "seed = 1\nseed = 2\n[station.tv]\n",
        &["2:1: duplicate key `seed`; use each name and key once per section"],
    );
}
