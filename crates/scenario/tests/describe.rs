//! What `netburn plan` shows.

use netburn_scenario::{Environment, decimal, load};
use netburn_units::ByteSize;

fn described(name: &str, environment: Environment) -> String {
    load(name).unwrap().resolve().unwrap().describe(environment).join("\n")
}

#[test]
fn four_uses_on_local() {
    insta::assert_snapshot!(described("four-uses", Environment::Local), @"
    four-uses: Four uses at once: a page, a film, a call, a download
      Can somebody browse, watch and talk while somebody else downloads?

    1 min of load, after 3 s of idle latency; then up to 5 s to finish; seed 1
    server: HTTP/1.1, capped at 1 Gbit/s

    station laptop
      browsing: 10 objects of 128 KiB every 3 s ± 500 ms; good: ≤ 500 ms
    station tv
      4kstream: an object of 1 MiB every 335.5 ms; good: ≥ 20 Mbit/s in every 2 s, no stall
    station phone
      voip: an object of 16 KiB every 131.1 ms; good: ≤ 150 ms
    station desktop
      download: objects of 1 GiB one after another; no goal

    moves 221 MB to 8.1 GB
    note: `ap.*`, `station.*.joins`, `station.*.signal` have no effect: nothing of Wi-Fi is measured on local
    ");
}

#[test]
fn the_split_bands_on_simulate() {
    insta::assert_snapshot!(described("archer-c7-split", Environment::Simulate), @"
    archer-c7-split: Archer C7, bands split by hand: the download on 2.4 GHz
      Is it better to use when whoever downloads has a band to themselves?

    5 min of load, after 3 s of idle latency; then up to 5 s to finish; seed 1
    server: HTTP/1.1
    access point c7: AC1750 (radios from the rating), fifo queue
      radio 2g: 802.11n, channel 6, 20 MHz, 25 % taken by others
      radio 5g: channel 36, 60 % taken by others
    network home-2g: c7.2g
    network home-5g: c7.5g

    station laptop on home-5g at -62 dBm
      browsing: 10 objects of 128 KiB every 3 s ± 500 ms; good: ≤ 500 ms
    station tv on home-5g at -67 dBm
      4kstream: an object of 1 MiB every 335.5 ms; good: ≥ 20 Mbit/s in every 2 s, no stall
    station phone on home-5g at -60 dBm
      voip: an object of 16 KiB every 131.1 ms; good: ≤ 150 ms
    station desktop on home-2g at -55 dBm
      download: objects of 1 GiB one after another; no goal

    models moving 1.1 GB and as much more as the network lets through
    assumed: Neighbours take 60 % of the air at 5 GHz and 25 % at 2.4, as in archer-c7-one-ssid, where the reasons stand.
    assumed: Signals as in archer-c7-one-ssid; 2.4 GHz reaches the desktop 3 dB stronger.
    assumed: 2.4 GHz is 20 MHz wide, as a router keeps it where it hears neighbours.
    ");
}

#[test]
fn sizes_are_said_in_powers_of_ten() {
    for (bytes, text) in [
        (0, "0 B"),
        (999, "999 B"),
        (52_400_000, "52 MB"),
        (8_125_000_000, "8.1 GB"),
        (20_000_000_000_000, "20.0 TB"),
    ] {
        assert_eq!(decimal(ByteSize::from_bytes(bytes)), text);
    }
}
