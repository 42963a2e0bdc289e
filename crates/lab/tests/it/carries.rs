//! Packets get through.

use crate::common::{open, plan, start};
use netburn_lab::Ended;

#[test]
fn a_download_crosses_the_modelled_air() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.clone();
    let mut server = start(&lab, "server", &["iperf3", "-s", "-1", "--forceflush"]);
    server.line();
    server.line();
    let client = start(
        &lab,
        &station,
        &["iperf3", "-c", "server", "-R", "-n", "4M", "-C", "cubic"],
    );
    assert_eq!(client.text().0, Ended::Status(0));
    assert_eq!(server.text().0, Ended::Status(0));
    let counted = lab.counted();
    // 4 MiB are 2 897 segments of 1 448 bytes; the radio's aggregates arrive joined, so there are far fewer writes.
    assert!(counted.delivered >= 2_897, "{counted:?}");
    assert!(counted.written < counted.delivered / 2, "{counted:?}");
    assert_eq!(lab.failed(), None);
}
