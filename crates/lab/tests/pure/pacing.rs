//! Send budget of a station whose connections start and end.

use netburn_lab::{ConnectionPacing, Switch};
use netburn_units::{BitRate, Duration, Instant};

#[test]
fn the_pacing_of_a_connection_is_valid_for_one_second() {
    let text = "baseline = \"0s\"\n[ap.a.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\n[station.s]\njoins = \"a.5g\"\n\
                standard = \"802.11ac\"\nstreams = 1\nmcs = 3\ntsq = \"2013\"\nworkload = \"upload\"\n";
    let plan = netburn_scenario::Document::from_toml("one.toml", text)
        .unwrap()
        .resolve()
        .unwrap();
    let mut switch = Switch::new(&plan).unwrap();
    let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
    let fast = ConnectionPacing {
        rate: BitRate::from_mbps(100),
        mss: 1448,
        min_rtt: Some(Duration::from_millis(20)),
    };
    // Three bursts of two segments; bursts of eight at 100 Mbit/s for 2^-10 s.
    let (least, eight) = (3 * 2 * 1500, 3 * 8 * 1500);
    assert_eq!(switch.target(0), least);
    switch.update_send_budget(at(100), 0, &[fast]);
    assert_eq!(switch.target(0), eight);
    for millis in [200, 1_000] {
        switch.update_send_budget(at(millis), 0, &[]);
        assert_eq!(switch.target(0), eight, "after {millis} ms");
    }
    switch.update_send_budget(at(1_100), 0, &[]);
    assert_eq!(switch.target(0), least);
}
