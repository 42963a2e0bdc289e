//! Programs on a station that walks from one access point to another.

use crate::support::{Bench, finish};

/// The walk of `walk-with-a-call` at 4 m/s: the station is at the other access point after 5 s.
const FAST: [&str; 4] = ["--set", "station.phone.speed=4 m/s", "--set", "network.home.k=true"];

/// A download of about 24 s. curl keeps its limit only on average, so it can also take half of that or less. The station
/// moves once, after 3 s, and no byte is missing.
#[test]
fn a_download_by_curl_survives_a_walk() {
    let bench = Bench::new();
    let mut command = vec!["lab", "walk-with-a-call"];
    command.extend(FAST);
    command.extend(["--at", "phone", "--", "curl", "-sS", "-o", "/dev/null"]);
    command.extend([
        "--limit-rate",
        "350k",
        "-w",
        "%{http_code} %{size_download}\\n%{stderr}curl took %{time_total} s\\n",
        "http://server/bytes/8MiB",
    ]);
    let ended = finish(bench.netburn(command)).expect(0);
    assert_eq!(ended.out(), "200 8388608\n");
    let moved = ended
        .stderr
        .lines()
        .filter(|line| line.contains("phone: moved from hall.5g to attic.5g"));
    assert_eq!(moved.count(), 1, "{}", ended.stderr);
}
