//! Workloads, their goals and their times.

use crate::{station, wrong};

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
        "kind = \"pages\"\nrate = \"5 Mbit/s\"\ninterval = \"2 s\"",
        &["4:8: workload.mine.rate: `interval` says already how often; give `rate` or `interval`"],
    );
    own(
        "kind = \"pages\"\ninterval = \"2 s\"\njitter = \"1.5 s\"",
        &["5:10: workload.mine.jitter: 1.5 s is too much; at most half of `interval`: 1 s"],
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
        &["4:20: workload.mine.player.start: it starts with 20 s but holds 10 s; make `start` at most `max_buffer`"],
    );
    own(
        "kind = \"download\"\nobjects = 5\ninterval = \"1 s\"\njitter = \"1 s\"\noutstanding = 3\nplayer = {}",
        &[
            "4:11: workload.mine.objects: a workload of kind `download` has no `objects`; leave it out; it is for `pages`",
            "5:12: workload.mine.interval: a workload of kind `download` has no `interval`; leave it out; it is for `pages`, `stream`, `calls`, `probe`",
            "6:10: workload.mine.jitter: a workload of kind `download` has no `jitter`; leave it out; it is for `pages`, `calls`, `probe`",
            "7:15: workload.mine.outstanding: a workload of kind `download` has no `outstanding`; leave it out; it is for `calls`, `probe`",
            "8:10: workload.mine.player: a workload of kind `download` has no `player`; leave it out; it is for `stream`",
        ],
    );
    wrong(
        "[station.tv]\n[workload.voip]\nkind = \"calls\"\n",
        &["2:11: workload.voip: `voip` is a built-in workload; pick another name, such as `[workload.my-voip]`"],
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
