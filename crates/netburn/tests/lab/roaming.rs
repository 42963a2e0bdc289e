//! Programs on a station that walks from one access point to another.

use crate::support::{Bench, finish};

/// The walk of `walk-with-a-call` at 4 m/s: the station is at the other access point after 5 s.
const FAST: [&str; 4] = ["--set", "station.phone.speed=4 m/s", "--set", "network.home.k=true"];

/// A download of about 11 s, which the link of the server limits: curl's own limit is no bound if the machine is busy. The
/// station moves once, after 3 s, and no byte is missing.
#[test]
fn a_download_by_curl_survives_a_walk() {
    let bench = Bench::new();
    let mut command = vec!["lab", "walk-with-a-call"];
    command.extend(FAST);
    command.extend(["--set", "server.link.rate=3 Mbit/s"]);
    command.extend(["--at", "phone", "--", "curl", "-sS", "-o", "/dev/null"]);
    command.extend([
        "-w",
        "%{http_code} %{size_download}\\n%{stderr}curl took %{time_total} s\\n",
        "http://server/bytes/4MiB",
    ]);
    let ended = finish(bench.netburn(command)).expect(0);
    assert_eq!(ended.out(), "200 4194304\n");
    let moved = ended
        .stderr
        .lines()
        .filter(|line| line.contains("phone: moved from hall.5g to attic.5g"));
    assert_eq!(moved.count(), 1, "{}", ended.stderr);
}
