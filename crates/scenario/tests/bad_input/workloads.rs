//! Workloads, their goals and their times.

use crate::{station, wrong};
use netburn_scenario::Document;
use netburn_units::Duration;
use netburn_workload::Goal;

#[test]
fn times_that_contradict_each_other() {
    station(
        "start = \"20 s\"\nstop = \"10 s\"",
        "3:8: station.tv.stop: `stop` is not after `start`: found 10 s; expected more than `start`, which is 20 s",
    );
    station(
        "start = \"60 s\"",
        "2:9: station.tv.start: `start` is not before the end of the load: found 1 min; expected less than `duration`, which is 1 min",
    );
    wrong(
        "duration = \"10 s\"\nwarmup = \"10 s\"\n[station.tv]\n",
        &["2:10: warmup: `warmup` is not shorter than `duration` (10 s); use a shorter `warmup`"],
    );
}

#[test]
fn workloads() {
    station(
        "workload = \"browsin\"",
        "2:12: station.tv.workload: unknown workload `browsin`; did you mean `browsing`?",
    );
    station(
        "workload = [\"voip\", \"tetris\"]",
        "2:21: station.tv.workload: unknown workload `tetris`; expected one of `browsing`, `4kstream`, `dash`, `voip`, \
         `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness`, or define it: `[workload.tetris]`",
    );
    station(
        "workload = [\"voip\", \"voip\"]",
        "2:21: station.tv.workload: duplicate workload `voip`; define a second one with another name: `[workload.voip-2]`",
    );
    let plan = |text: &str| Document::from_toml("x.toml", text).unwrap().resolve().unwrap();
    for text in ["workload = \"none\"", "workload = [\"none\"]"] {
        assert_eq!(
            plan(&format!("[station.tv]\n{text}\n")),
            plan("[station.tv]\n"),
            "{text}"
        );
    }
    let defined = plan("[station.tv]\nworkload = \"none\"\n[workload.none]\nkind = \"probe\"\n");
    assert_eq!(defined.stations[0].workloads[0].name, "none", "a workload of the file");
    let own = |lines: &str, expected: &[&str]| wrong(&format!("[station.tv]\n[workload.mine]\n{lines}\n"), expected);
    own(
        "rate = \"5 Mbit/s\"",
        &[
            "2:1: workload.mine: missing `kind`; it is the traffic pattern: `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness` or `dash`",
        ],
    );
    own(
        "kind = \"page\"",
        &[
            "3:8: workload.mine.kind: unknown value `page`; did you mean `pages`? Expected one of `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness`, `dash`",
        ],
    );
    own(
        "kind = \"pages\"\nrate = \"5 Mbit/s\"\ninterval = \"2 s\"",
        &["4:8: workload.mine.rate: `rate` and `interval` exclude each other; remove one of them"],
    );
    own(
        "kind = \"pages\"\ninterval = \"2 s\"\njitter = \"1.5 s\"",
        &["5:10: workload.mine.jitter: 1.5 s is too large; expected up to half of `interval`: 1 s"],
    );
    own(
        "kind = \"probe\"\nobject_size = \"1500 B\"",
        &["4:15: workload.mine.object_size: 1.5 kB is out of range; expected 64 B to 1400 B for a probe"],
    );
    own(
        "kind = \"probe\"\ntarget = \"lines\"",
        &[
            "4:10: workload.mine.target: unknown value `lines`; did you mean `line`? Expected one of `near`, `line`, `server`",
        ],
    );
    own(
        "kind = \"voice\"\ntarget = \"near\"",
        &["4:10: workload.mine.target: a workload of kind `voice` has no `target`; remove it; it applies to `probe`"],
    );
    own(
        "kind = \"voice\"\nobject_size = \"31 B\"\ninterval = \"4 ms\"\ntimeout = \"3 s\"\njitter = \"1 ms\"",
        &[
            "4:15: workload.mine.object_size: 31 B is out of range; expected 32 B to 1400 B for a call",
            "5:12: workload.mine.interval: 4 ms is out of range; expected 5 ms to 200 ms for a call",
            "6:11: workload.mine.timeout: 3 s is out of range; expected 10 ms to 2 s for a call",
            "7:10: workload.mine.jitter: a workload of kind `voice` has no `jitter`; remove it; it applies to `pages`, `calls`, `probe`",
        ],
    );
    own(
        "kind = \"pages\"\nobjects = 0",
        &["4:11: workload.mine.objects: `0` is out of range; expected a whole number, 1 to 1000"],
    );
    own(
        "kind = \"stream\"\nplayer = { start = \"20 s\" }",
        &[
            "4:20: workload.mine.player.start: `start` (20 s) exceeds `max_buffer` (10 s); expected `start` up to `max_buffer`",
        ],
    );
    own(
        "kind = \"download\"\nobjects = 5\ninterval = \"1 s\"\njitter = \"1 s\"\noutstanding = 3\nplayer = {}\nstreams = 0",
        &[
            "4:11: workload.mine.objects: a workload of kind `download` has no `objects`; remove it; it applies to `pages`",
            "5:12: workload.mine.interval: a workload of kind `download` has no `interval`; remove it; it applies to `pages`, `stream`, `calls`, `probe`, `voice`, `responsiveness`",
            "6:10: workload.mine.jitter: a workload of kind `download` has no `jitter`; remove it; it applies to `pages`, `calls`, `probe`",
            "7:15: workload.mine.outstanding: a workload of kind `download` has no `outstanding`; remove it; it applies to `calls`, `probe`",
            "8:10: workload.mine.player: a workload of kind `download` has no `player`; remove it; it applies to `stream`",
            "9:11: workload.mine.streams: `0` is out of range; expected a whole number, 1 to 1000",
        ],
    );
    own(
        "kind = \"calls\"\nstreams = 2",
        &[
            "4:11: workload.mine.streams: a workload of kind `calls` has no `streams`; remove it; it applies to `download`, `upload`",
        ],
    );
    own(
        "kind = \"pages\"\nstart = \"60 s\"",
        &[
            "4:9: workload.mine.start: `start` is not before the end of the load: found 1 min; expected less than `duration`, which is 1 min",
        ],
    );
    own(
        "kind = \"pages\"\nstart = \"20 s\"\nstop = \"10 s\"",
        &["5:8: workload.mine.stop: `stop` (10 s) is not after `start` (20 s); expected at least 20.1 s"],
    );
    own(
        "kind = \"pages\"\nstart = \"20 s\"\nstop = \"20.05 s\"",
        &["5:8: workload.mine.stop: 50 ms from `start` to `stop` is too short; expected at least 20.1 s"],
    );
    own(
        "kind = \"pages\"\nrepeat = \"10 s\"",
        &["4:10: workload.mine.repeat: `repeat` without `stop`; add `stop`: it ends the time that `repeat` repeats"],
    );
    own(
        "kind = \"pages\"\nstart = \"5 s\"\nstop = \"16 s\"\nrepeat = \"10 s\"",
        &[
            "6:10: workload.mine.repeat: `repeat` (10 s) is shorter than the time from `start` to `stop`; expected at least 11 s",
        ],
    );
    own(
        "kind = \"pages\"\nstop = \"0.5 s\"\nrepeat = \"0.9 s\"",
        &["5:10: workload.mine.repeat: 900 ms is too short; expected at least 1 s"],
    );
    own(
        "kind = \"stream\"\nstop = \"5 s\"\nrepeat = \"10 s\"",
        &[
            "5:10: workload.mine.repeat: a workload of kind `stream` has no `repeat`; remove it; it applies to `pages`, `calls`, `download`, `upload`, `probe`, `responsiveness`",
        ],
    );
    own(
        "kind = \"download\"\ndscp = 64",
        &["4:8: workload.mine.dscp: `64` is out of range; expected a DSCP, 0 to 63, or a name such as `\"EF\"`"],
    );
    own(
        "kind = \"download\"\ndscp = -1",
        &["4:8: workload.mine.dscp: `-1` is out of range; expected a DSCP, 0 to 63, or a name such as `\"EF\"`"],
    );
    own(
        "kind = \"download\"\ndscp = \"AF14\"",
        &[
            "4:8: workload.mine.dscp: unknown DSCP `AF14`; did you mean `AF11`? Expected 0 to 63, or one of `CS0`, `DF`, `LE`, `CS1`, `AF11`, `AF12`, `AF13`, `CS2`, `AF21`, `AF22`, `AF23`, `CS3`, `AF31`, `AF32`, `AF33`, `CS4`, `AF41`, `AF42`, `AF43`, `CS5`, `VA`, `EF`, `CS6`, `CS7`",
        ],
    );
    own(
        "kind = \"download\"\ndscp = true",
        &["4:8: workload.mine.dscp: found `true`, expected a DSCP, 0 to 63, or a name such as `\"EF\"`"],
    );
    own(
        "kind = \"download\"\npriority = \"video\"\ndscp = 40",
        &["5:8: workload.mine.dscp: `dscp` and `priority` exclude each other; remove one of them"],
    );
    wrong(
        "[station.tv]\n[ap.x]\ndscp_mapping = \"rfc8235\"\n[ap.x.radio.5g]\n",
        &[
            "3:16: ap.x.dscp_mapping: unknown value `rfc8235`; did you mean `rfc8325`? Expected one of `rfc8325`, `upper-three-bits`",
        ],
    );
    wrong(
        "[station.tv]\nstop = \"10 s\"\nworkload = [\"probe\", \"mine\"]\n[workload.mine]\nkind = \"pages\"\nstart = \"20 s\"\n",
        &[
            "3:22: station.tv.workload: `mine` never runs on this station, whose load is from 0 s to 10 s; change `start` and `stop` of the workload or of the station",
        ],
    );
    wrong(
        "[station.tv]\n[workload.voip]\nkind = \"calls\"\n",
        &[
            "2:11: workload.voip: `voip` is the name of a built-in workload; choose another name, such as `[workload.my-voip]`",
        ],
    );
}

#[test]
fn responsiveness() {
    let own = |lines: &str, expected: &[&str]| {
        let text =
            format!("[server]\nhttp = \"2\"\n[station.tv]\n[workload.mine]\nkind = \"responsiveness\"\n{lines}\n");
        wrong(&text, expected);
    };
    own(
        "load_down = 17",
        &["6:13: workload.mine.load_down: `17` is out of range; expected a whole number, 0 to 16"],
    );
    own(
        "interval = \"5 ms\"",
        &["6:12: workload.mine.interval: 5 ms is out of range; expected 10 ms to 1 s for probes"],
    );
    own(
        "goal = \"0 rpm\"",
        &["6:8: workload.mine.goal: `0 rpm` is out of range; expected 1 to 1000000 round trips per minute"],
    );
    own(
        "goal = \"1000001rpm\"",
        &["6:8: workload.mine.goal: `1000001rpm` is out of range; expected 1 to 1000000 round trips per minute"],
    );
    own(
        "objects = 2",
        &[
            "6:11: workload.mine.objects: a workload of kind `responsiveness` has no `objects`; remove it; it applies to `pages`",
        ],
    );
    wrong(
        "[station.tv]\n[workload.mine]\nkind = \"upload\"\nload_up = 2\n",
        &[
            "4:11: workload.mine.load_up: a workload of kind `upload` has no `load_up`; remove it; it applies to `responsiveness`",
        ],
    );
    wrong(
        "[station.tv]\nworkload = [\"probe\", \"responsiveness\"]\n",
        &[
            "2:22: station.tv.workload: the load of `responsiveness` needs HTTP/2, and the server has HTTP/1.1; set `http = \"2\"` in `[server]`; or set `load_down = 0` and `load_up = 0` for foreign probes only",
        ],
    );
}

#[test]
fn goals_on_workloads_that_cannot_have_them() {
    let limit = Duration::from_millis(150);
    // The list of kinds is long: it is that of the rows of the kinds.
    let time = &Goal::Latency { limit }.supporting_kinds();
    assert!(time.starts_with("a time is a goal for `pages`, "), "{time}");
    let loss = "a loss is a goal for `datagrams`, `game`, `cloud-gaming` and `video-call`";
    let frames = "`frames on time` is a goal for `cloud-gaming`";
    let gap = "`no gap` is a goal for `game`";
    let freeze = "`no freeze` is a goal for `video-call`";
    let rate = "a rate is a goal for `stream`, `download`, `upload` and `dash`";
    let rating = "a rating is a goal for `voice`";
    let rpm = "round trips per minute are a goal for `responsiveness`";
    let stall = "`no stall` is a goal for `stream` and `dash`";
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
        ("probe", "R 80", rating),
        ("stream", "R 80", rating),
        ("voice", "150 ms", time),
        ("voice", "1 Mbit/s", rate),
        ("voice", "no stall", stall),
        ("voice", "1 % lost", loss),
        ("calls", "0.5 % lost", loss),
        ("datagrams", "R 80", rating),
        ("datagrams", "no gap", gap),
        ("voice", "no gap", gap),
        ("game", "R 80", rating),
        ("game", "no stall", stall),
        ("game", "frames on time", frames),
        ("cloud-gaming", "no gap", gap),
        ("cloud-gaming", "20 Mbit/s", rate),
        ("video-call", "1 Mbit/s", rate),
        ("video-call", "no gap", gap),
        ("video-call", "frames on time", frames),
        ("game", "no freeze", freeze),
        ("datagrams", "1 Mbit/s", rate),
        ("datagrams", "no stall", stall),
        ("datagrams", "1000 rpm", rpm),
        ("pages", "300rpm", rpm),
        ("responsiveness", "500 ms", time),
        ("responsiveness", "R 80", rating),
        ("dash", "150 ms", time),
    ] {
        wrong(
            &format!("[station.tv]\n[workload.mine]\nkind = \"{kind}\"\ngoal = [\"{goal}\"]\n"),
            &[&format!(
                "4:9: workload.mine.goal: a workload of kind `{kind}` does not support this goal; {help}"
            )],
        );
    }
    let own = |lines: &str, expected: &str| wrong(&format!("[station.tv]\n[workload.mine]\n{lines}\n"), &[expected]);
    own(
        "kind = \"pages\"\ngoal = \"fast\"",
        "4:8: workload.mine.goal: invalid goal `fast`; expected a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), a rating (`\"R 80\"`), round trips per minute (`\"1000 rpm\"`), a loss (`\"1 % lost\"`), `\"no gap\"`, `\"no freeze\"`, `\"frames on time\"`, `\"no stall\"` or `\"none\"`",
    );
    own(
        "kind = \"pages\"\ngoal = 500",
        "4:8: workload.mine.goal: found `500`, expected a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), a rating (`\"R 80\"`), round trips per minute (`\"1000 rpm\"`), a loss (`\"1 % lost\"`), `\"no gap\"`, `\"no freeze\"`, `\"frames on time\"`, `\"no stall\"` or `\"none\"`",
    );
    for rating in ["R 0", "R 94", "R 1000"] {
        own(
            &format!("kind = \"voice\"\ngoal = \"{rating}\""),
            &format!("4:8: workload.mine.goal: `{rating}` is out of range; expected a rating of 1 to 93"),
        );
    }
    own(
        "kind = \"voice\"\ngoal = \"R eighty\"",
        "4:8: workload.mine.goal: invalid goal `R eighty`; expected a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), a rating (`\"R 80\"`), round trips per minute (`\"1000 rpm\"`), a loss (`\"1 % lost\"`), `\"no gap\"`, `\"no freeze\"`, `\"frames on time\"`, `\"no stall\"` or `\"none\"`",
    );
    own(
        "kind = \"stream\"\nrate = \"8 Mbit/s\"\ngoal = \"10 Mbit/s\"",
        "5:8: workload.mine.goal: 10 Mbit/s cannot be met: the workload requests 8 Mbit/s; request more, or lower the goal",
    );
    own(
        "kind = \"stream\"\nrate = \"8 Mbit/s\"",
        "4:8: workload.mine.rate: the default goal of a stream is 20 Mbit/s, and `rate` is 8 Mbit/s; set a goal, such as `goal = [\"8 Mbit/s\", \"no stall\"]`, and a `player` with that rate",
    );
}

#[test]
fn streams_of_datagrams() {
    let own = |lines: &str, expected: &[&str]| {
        wrong(
            &format!("[station.tv]\n[workload.mine]\nkind = \"datagrams\"\n{lines}\n"),
            expected,
        );
    };
    own(
        "down = { rate = \"20 Mbit/s\", size = \"1200 B\", burst = 40, spacing = \"100 us\" }",
        &[],
    );
    own(
        "down = { rate = \"1 Mbit/s\", interval = \"10 ms\" }",
        &["4:17: workload.mine.down.rate: `rate` and `interval` exclude each other; remove one of them"],
    );
    own(
        "up = { size = \"1500 B\" }",
        &["4:15: workload.mine.up.size: invalid `size`: found 1500 B, expected 32 B to 1400 B"],
    );
    own(
        "up = { burst = 1001 }",
        &["4:16: workload.mine.up.burst: `1001` is out of range; expected a whole number, 1 to 1000"],
    );
    // 1200 B take 96 µs at 100 Mbit/s.
    own(
        "down = { rate = \"100 Mbit/s\" }",
        &[
            "4:17: workload.mine.down.rate: invalid `interval`: found 96 us for 1 packet, expected at least 100 us, which is 10000 packets per second (from `rate`); use another `rate`, or another `burst` or `size`",
        ],
    );
    own(
        "down = { interval = \"2 s\" }",
        &["4:21: workload.mine.down.interval: invalid `interval`: found 2 s, expected up to 1 s"],
    );
    own(
        "down = { interval = \"10 ms\", burst = 5, spacing = \"3 ms\" }",
        &[
            "4:51: workload.mine.down.spacing: invalid `spacing`: found 3 ms between 5 packets, expected less than 10 ms in all",
        ],
    );
    own(
        "object_size = \"200 B\"\ninterval = \"10 ms\"\nrate = \"1 Mbit/s\"\ntimeout = \"5 s\"",
        &[
            "4:15: workload.mine.object_size: a workload of kind `datagrams` has no `object_size`; remove it; it applies to `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`",
            "5:12: workload.mine.interval: a workload of kind `datagrams` has no `interval`; remove it; it applies to `pages`, `stream`, `calls`, `probe`, `voice`, `responsiveness`",
            "6:8: workload.mine.rate: a workload of kind `datagrams` has no `rate`; remove it; it applies to `pages`, `stream`, `calls`",
            "7:11: workload.mine.timeout: 5 s is out of range; expected 10 ms to 2 s for datagrams",
        ],
    );
    for goal in ["0 % lost", "100 % lost", "one lost", "lost", "101 % lost"] {
        own(
            &format!("goal = \"{goal}\""),
            &[&format!(
                "4:8: workload.mine.goal: invalid loss `{goal}`; expected a share greater than 0 %, less than 100 %, such as `1 % lost`"
            )],
        );
    }
    own(
        "goal = [\"1 % lost\", \"50 ms\"]\nup = { rat = \"1 Mbit/s\" }",
        &["5:8: workload.mine.up: unknown key `rat`; did you mean `rate`?"],
    );
    for lines in [
        "down = { rate = \"45 Mbit/s\" }",
        "down = { interval = \"33 ms\", burst = 20, spacing = \"0 s\" }",
        "goal = [\"frames on time\", \"40 ms\", \"1 % lost\"]",
    ] {
        let text = format!("[station.tv]\n[workload.mine]\nkind = \"cloud-gaming\"\n{lines}\n");
        wrong(&text, &[]);
    }
    wrong(
        "[station.tv]\n[workload.mine]\nkind = \"cloud-gaming\"\ndown = { rate = \"45 Mbit/s\", burst = 10 }\n",
        &["4:17: workload.mine.down.rate: `rate` and `burst` exclude each other for frames; remove one of them"],
    );
    wrong(
        "[station.tv]\n[workload.mine]\nkind = \"voice\"\nup = { size = \"100 B\" }\n",
        &[
            "4:6: workload.mine.up: a workload of kind `voice` has no `up`; remove it; it applies to `datagrams`, `game`, `cloud-gaming`, `video-call`",
        ],
    );
}

#[test]
fn video_calls() {
    let own = |lines: &str, expected: &[&str]| {
        wrong(
            &format!("[station.tv]\n[workload.mine]\nkind = \"video-call\"\n{lines}\n"),
            expected,
        );
    };
    own(
        "up = { rate = \"1.5 Mbit/s\" }\ngoal = [\"no freeze\", \"150 ms\", \"1 % lost\"]",
        &[],
    );
    // A low target rate with the default start rate.
    own(
        "down = { rate = \"500 kbit/s\" }\nadaptation = { min_rate = \"50 kbit/s\" }",
        &[],
    );
    own(
        "adaptation = { min_rate = \"1 Mbit/s\", start_rate = \"500 kbit/s\" }",
        &[
            "4:52: workload.mine.adaptation.start_rate: invalid `start_rate`: found 500 kbit/s, expected at least `min_rate`, which is 1 Mbit/s",
        ],
    );
    own(
        "adaptation = { min_rate = \"10 kbit/s\" }",
        &[
            "4:27: workload.mine.adaptation.min_rate: invalid `min_rate`: found 10 kbit/s, expected at least 16 kbit/s for frames of 64 B",
        ],
    );
    // 30 Mbit/s and 40 ms are 150,000 B in 125 packets of 1200 B.
    own(
        "up = { rate = \"30 Mbit/s\", interval = \"40 ms\" }",
        &["4:6: workload.mine.up: invalid `rate`: found 30 Mbit/s, expected at most 20 Mbit/s for a video call"],
    );
    own(
        "down = { size = \"64 B\" }",
        &["4:8: workload.mine.down: invalid `size`: found 64 B, expected at least 100 B for a video call"],
    );
    own(
        "down = { rate = \"2 Mbit/s\", burst = 4 }",
        &["4:17: workload.mine.down.rate: `rate` and `burst` exclude each other for frames; remove one of them"],
    );
    wrong(
        "[station.tv]\n[workload.mine]\nkind = \"game\"\nadaptation = {}\n",
        &[
            "4:14: workload.mine.adaptation: a workload of kind `game` has no `adaptation`; remove it; it applies to `video-call`",
        ],
    );
}

#[test]
fn a_goal_can_equal_the_requested_rate() {
    // 256 KiB at 3 Mbit/s are not a whole number of nanoseconds.
    let text = "[station.tv]\n[workload.mine]\nkind = \"stream\"\nrate = \"3 Mbit/s\"\nobject_size = \"256 KiB\"\ngoal = \"3 Mbit/s\"\n";
    wrong(text, &[]);
}

#[test]
fn adaptive_streaming() {
    let own = |lines: &str, expected: &[&str]| {
        wrong(
            &format!("[station.tv]\n[workload.mine]\nkind = \"dash\"\n{lines}\n"),
            expected,
        );
    };
    own(
        "dash.ladder = [\"3 Mbit/s\", \"2 Mbit/s\"]\ngoal = \"no stall\"",
        &[
            "4:15: workload.mine.dash.ladder: invalid `ladder`: found 2 Mbit/s after 3 Mbit/s, expected ascending bit rates",
        ],
    );
    own(
        "dash.max_buffer = \"5 s\"",
        &[
            "4:19: workload.mine.dash.max_buffer: invalid `max_buffer`: found 5 s, expected 8 s (`start` and one segment) to 10 min",
        ],
    );
    own(
        "goal = \"20 Mbit/s\"",
        &[
            "4:8: workload.mine.goal: 20 Mbit/s cannot be met: the highest bit rate is 16.8 Mbit/s; extend the `ladder`, or lower the goal",
        ],
    );
}
