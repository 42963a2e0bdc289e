//! What goes wrong in a lab is said in sentences.

use crate::common::{Bench, SMALL, finish};

/// Nothing that looks like a log.
#[track_caller]
fn is_plain(said: &str) {
    for mark in ["WARN", "ERROR", "netburn_lab"] {
        assert!(!said.contains(mark), "{mark}:\n{said}");
    }
}

#[test]
fn a_station_without_its_device_is_named() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let gone = "ip link del wlan0; sleep 1";
    let ended = finish(bench.netburn(["lab", "small.toml", "--at", "reader", "--", "sh", "-c", gone])).expect(0);
    let warnings = ended
        .stderr
        .matches("warning: reader: its network device can't be read any more")
        .count();
    assert_eq!(warnings, 1, "{}", ended.stderr);
    is_plain(&ended.stderr);
}

#[test]
fn captures_that_find_no_room_say_so() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = "mkdir full && mount -t tmpfs -o size=64k tmpfs full && exec \"$@\"";
    let load = "curl --silent --output /dev/null http://server/bytes/200KiB";
    let args = [
        "lab",
        "small.toml",
        "--pcap",
        "full",
        "--at",
        "caller",
        "--",
        "sh",
        "-c",
        load,
    ];
    let ended = finish(bench.inside(&["--mount"], script, args)).expect(0);
    let warning = "warning: the captures can't be written and end here: No space left on device";
    assert_eq!(ended.stderr.matches(warning).count(), 1, "{}", ended.stderr);
    is_plain(&ended.stderr);
}
