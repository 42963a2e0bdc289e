//! Output of `netburn plan`.

use netburn_scenario::{Environment, decimal, load};
use netburn_units::ByteSize;

fn described(name: &str, environment: Environment) -> String {
    load(name).unwrap().resolve().unwrap().describe(environment).join("\n")
}

#[test]
fn four_uses_on_local() {
    insta::assert_snapshot!(described("four-uses", Environment::Local), @"
    four-uses: Four workloads at once: web pages, 4K video, a call, a download
      Do browsing, video and calls still work while another station downloads?

    1 min of load, after 3 s of idle latency measurement; then up to 5 s to finish; seed 1
    server: HTTP/1.1, capped at 1 Gbit/s

    station laptop
      browsing: 10 objects of 128 KiB every 3 s ± 500 ms; goal: ≤ 500 ms
    station tv
      4kstream: an object of 1 MiB every 335.5 ms; goal: ≥ 20 Mbit/s in every 2 s, no stall
    station phone
      voip: an object of 16 KiB every 131.1 ms; goal: ≤ 150 ms
    station desktop
      download: objects of 1 GiB one after another; no goal

    expected traffic: 221 MB to 8.1 GB
    note: `ap.*`, `station.*.joins`, `station.*.signal` have no effect: local has no Wi-Fi
    ");
}

#[test]
fn the_split_bands_on_simulate() {
    insta::assert_snapshot!(described("archer-c7-split", Environment::Simulate), @"
    archer-c7-split: Archer C7, one SSID per band: the download on 2.4 GHz
      Is the network better to use when the downloading station has its own band?

    5 min of load, after 3 s of idle latency measurement; then up to 5 s to finish; seed 1
    server: HTTP/1.1
    access point c7: AC1750 (radios from the rating), fifo queue
      radio 2g: 802.11n, channel 6, 20 MHz, 25 % used by other networks
      radio 5g: channel 36, 60 % used by other networks
    network home-2g: c7.2g
    network home-5g: c7.5g

    station laptop on home-5g at -62 dBm
      browsing: 10 objects of 128 KiB every 3 s ± 500 ms; goal: ≤ 500 ms
    station tv on home-5g at -67 dBm
      4kstream: an object of 1 MiB every 335.5 ms; goal: ≥ 20 Mbit/s in every 2 s, no stall
    station phone on home-5g at -60 dBm
      voip: an object of 16 KiB every 131.1 ms; goal: ≤ 150 ms
    station desktop on home-2g at -55 dBm
      download: objects of 1 GiB one after another; no goal

    simulated traffic: 1.1 GB, plus unthrottled workloads at the rate of the network
    assumption: Other networks use 60 % of the airtime at 5 GHz and 25 % at 2.4 GHz, as in archer-c7-one-ssid, which gives the reasons.
    assumption: Signals as in archer-c7-one-ssid; 2.4 GHz reaches the desktop 3 dB stronger.
    assumption: The 2.4 GHz channel is 20 MHz wide, as routers set it when they detect other networks.
    ");
}

#[test]
fn sizes_are_in_decimal_units() {
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
