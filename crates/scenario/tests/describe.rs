//! Output of `netburn plan`.

use netburn_scenario::{Document, Environment, decimal, load};
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
      radio 2g: 802.11n, channel 6, 20 MHz, 3 streams, 25 % used by other networks
      radio 5g: 802.11ac, channel 36, 80 MHz, 3 streams, 63 % used by other networks
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
    assumption: Other networks use 63 % of the airtime at 5 GHz and 25 % at 2.4 GHz, as in archer-c7-one-ssid, which gives the reasons.
    assumption: Signals as in archer-c7-one-ssid; 2.4 GHz reaches the desktop 3 dB stronger.
    assumption: The 2.4 GHz channel is 20 MHz wide, as routers set it when they detect other networks.
    ");
}

/// The lines from the access point to the stations.
fn access_point(ap: &str) -> Vec<String> {
    let text = format!(
        "[ap.home]\nqueue = \"fifo\"\n{ap}\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"voip\"\n"
    );
    let plan = Document::from_toml("t.toml", &text).unwrap().resolve().unwrap();
    let lines = plan.describe(Environment::Simulate).into_iter();
    let from = lines.skip_while(|line| !line.starts_with("access point"));
    from.take_while(|line| !line.is_empty()).collect()
}

/// AC1750 has three streams in both bands: 3 × 150 and 3 × 433 Mbit/s. A section overrides one radio.
#[test]
fn the_radios_of_a_rating_are_listed() {
    let lines = access_point("rating = \"AC1750\"\nradio.2g = { width = \"20 MHz\", streams = 1 }");
    assert_eq!(
        lines,
        [
            "access point home: AC1750 (radios from the rating), fifo queue",
            "  radio 2g: 802.11n, channel 6, 20 MHz, 1 stream",
            "  radio 5g: 802.11ac, channel 36, 80 MHz, 3 streams",
        ]
    );
    let lines = access_point("rating = \"AC101\"");
    assert!(lines[1].starts_with("  radios not known: AC101"), "{lines:?}");
}

#[test]
fn the_wan_link_is_listed() {
    let radio = "radio.5g = {}";
    assert_eq!(access_point(radio).len(), 2);
    let lines = access_point(&format!(
        "{radio}\nwan = {{ down = \"100 Mbit/s\", up = \"20 Mbit/s\", delay = \"10 ms\" }}"
    ));
    assert_eq!(
        lines[2],
        "  WAN link: 100 Mbit/s down, 20 Mbit/s up, 10 ms one-way delay"
    );
    let lines = access_point(&format!(
        "{radio}\nwan = {{ up = \"2 Mbit/s\", loss = \"1 %\", queue = \"64 KiB\" }}"
    ));
    assert_eq!(
        lines[2],
        "  WAN link: unlimited down, 2 Mbit/s up, 1 % loss, queue of 64 KiB"
    );
    let lines = access_point(&format!(
        "{radio}\nwan = {{ up = \"2 Mbit/s\", queue = \"64 KiB\", queue_up = \"32 KiB\" }}"
    ));
    assert_eq!(
        lines[2],
        "  WAN link: unlimited down, 2 Mbit/s up, queue of 64 KiB down, queue of 32 KiB up"
    );
    let lines = access_point(&format!(
        "{radio}\nwan = {{ up = \"2 Mbit/s\", queue_up = \"32 KiB\" }}"
    ));
    assert_eq!(lines[2], "  WAN link: unlimited down, 2 Mbit/s up, queue of 32 KiB up");
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
