//! Captures of a lab, read by tshark.

use crate::support::{Bench, SMALL, finish};
use std::process::Command;

#[test]
fn a_truncated_capture_ends_with_a_complete_packet() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script =
        "mkdir full && mount -t tmpfs -o size=128k tmpfs full && \"$@\"; status=$?; cp -r full saved; exit $status";
    let load = ["curl", "--silent", "--output", "/dev/null", "http://server/bytes/1MiB"];
    let args = [
        &["lab", "small.toml", "--pcap", "full", "--at", "caller", "--"][..],
        &load,
    ]
    .concat();
    finish(bench.inside(&["--mount"], script, args)).expect(3);
    for name in ["server", "station-caller", "station-reader", "air"] {
        let file = bench.path("saved").join(format!("{name}.pcapng"));
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&file).args(["-c", "100000"]);
        let output = tshark.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && !printed.contains("cut short"),
            "{name}: {printed}"
        );
    }
}
