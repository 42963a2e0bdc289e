//! Bursts of the server's connections: its kernel hands them over at once, and they are queued per connection.

use netburn_lab::Switch;
use netburn_lab::fuzz::{datagram, stream};
use netburn_network::Endpoint::{Server, Station};
use netburn_units::{Duration, Instant};

/// Twenty bursts of two segments, then a datagram, on a link and to a station without other queues. The datagram leaves
/// after three bursts, that is after six packets.
#[test]
fn a_datagram_overtakes_bursts_that_a_real_host_would_keep_in_its_sockets() {
    let text = "baseline = \"0s\"\n[server]\nlink = { rate = \"100 Mbit/s\" }\n[station.s]\n\
                link = { rate = \"1 Gbit/s\" }\nworkload = \"probe\"\n";
    let plan = netburn_scenario::Document::from_toml("one.toml", text)
        .unwrap()
        .resolve()
        .unwrap();
    let mut switch = Switch::new(&plan).unwrap();
    for number in 0..20 {
        let burst = stream(Server, Station(0), 1 + number * 2_896, 2_896, 1_448, false);
        switch.handle_frame(Instant::ZERO, Server, &burst);
    }
    switch.handle_frame(Instant::ZERO, Server, &datagram(Server, Station(0), 64));
    switch.handle_timeout(Instant::ZERO + Duration::from_secs(1));
    let mut before = 0;
    while let Some(delivery) = switch.poll_delivery() {
        // Byte 9 of the IP header, behind the header of 10 bytes: the protocol.
        if delivery.frame[10 + 9] == 17 {
            break;
        }
        before += (delivery.frame.len() - 10 - 40) / 1_448;
    }
    assert_eq!(before, 6);
}
