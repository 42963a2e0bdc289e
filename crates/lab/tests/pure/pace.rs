//! What a station may have ahead of the air, while its connections come and go.

use netburn_lab::{Pace, Switch};
use netburn_units::{BitRate, Duration, Instant};

#[test]
fn what_was_known_of_a_connection_holds_for_a_second() {
    // 802.11ac, one stream, 80 MHz, MCS 3: 117 Mbit/s with the long guard interval.
    let text = "baseline = \"0s\"\n[ap.a.radio.5g]\nstandard = \"802.11ac\"\nwidth = \"80 MHz\"\n[station.s]\njoins = \"a.5g\"\n\
                standard = \"802.11ac\"\nstreams = 1\nmcs = 3\ntsq = \"2013\"\nworkload = \"upload\"\n";
    let plan = netburn_scenario::Document::from_toml("one.toml", text)
        .unwrap()
        .resolve()
        .unwrap();
    let mut switch = Switch::new(&plan).unwrap();
    let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
    let slow = Pace {
        rate: BitRate::from_mbps(1),
        mss: 1448,
        min_rtt: Some(Duration::from_millis(20)),
    };
    switch.follow(at(100), 0, &[slow]);
    // Three bursts of two segments.
    assert_eq!(switch.poll_grant(), Some((0, 3 * 2 * 1500)));
    for millis in [200, 1_000] {
        switch.follow(at(millis), 0, &[]);
        assert_eq!(switch.poll_grant(), None, "after {millis} ms");
    }
    switch.follow(at(1_100), 0, &[]);
    // At the link's rate 2^-10 s are 14,282 bytes or more: bursts of nine segments or more.
    let (_, granted) = switch.poll_grant().unwrap();
    assert!(granted >= 3 * 9 * 1500, "{granted}");
}
