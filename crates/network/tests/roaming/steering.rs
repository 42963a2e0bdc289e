//! Access points that ask a station to move, and keys that they have cached.

use super::Walk;
use netburn_network::{ClientEvent, ClientEventKind, Network, SteeringReason};
use netburn_scenario::Document;
use netburn_units::Instant;

const USTEER: (&str, &str) = (
    "network.home.steering",
    "{ policy = \"usteer\", trigger = \"-70 dBm\", margin = \"5 dB\" }",
);
const V: (&str, &str) = ("network.home.v", "true");
const K: (&str, &str) = ("network.home.k", "true");

/// Times in ms of the events for which `select` returns true.
fn times(walk: &Walk, select: impl Fn(&ClientEventKind) -> bool) -> Vec<u64> {
    let events = walk.events.iter().filter(|event| select(&event.kind));
    events
        .map(|event: &ClientEvent| event.at.since(Instant::ZERO).as_millis())
        .collect()
}

/// A client that never scans by itself. The signal falls below −70 dBm at 12.7 s; the access points look
/// once per second. The client measures two channels in 120 ms, and is asked at the next second.
#[test]
fn a_client_that_never_scans_moves_when_it_is_asked() {
    let walk = Walk::new(&[K, V, USTEER, ("station.phone.roaming", "ap-directed")]);
    let asked = times(
        &walk,
        |kind| matches!(kind, ClientEventKind::Asked { to, reason: SteeringReason::WeakSignal(_) } if to == "attic.5g"),
    );
    let [asked] = asked[..] else {
        panic!("{:?}", walk.events)
    };
    assert!((13_000..=15_000).contains(&asked), "{asked} ms");
    assert_eq!(
        times(&walk, |kind| *kind == ClientEventKind::Answered { accepted: true }).len(),
        1
    );
    let [(at, length)] = walk.roams()[..] else {
        panic!("{:?}", walk.events)
    };
    // The results of the report are fresh for two seconds, so it moves without another scan.
    assert!((asked..=asked + 100).contains(&at), "{at} ms");
    assert!((64..=80).contains(&length), "{length} ms");
    assert_eq!(walk.at_end, "attic.5g");
}

/// Without a threshold usteer asks no station.
#[test]
fn usteer_with_its_defaults_changes_nothing() {
    let never = ("station.phone.roaming", "never");
    let wide = ("ap.*.radio.5g.width", "20 MHz");
    let walk = Walk::new(&[K, V, never, wide, ("network.home.steering", "usteer")]);
    assert!(walk.events.is_empty(), "{:?}", walk.events);
    assert_eq!(walk.at_end, "hall.5g");
}

/// A client that rejects is disassociated by hostapd when the timer of 100 beacons ends, 10.24 s after the
/// request. One that does not answer is disassociated by usteer after 10 s. Then both scan all channels without a
/// return (2.976 s) and join with 8 frames of 8 ms.
#[test]
fn a_client_that_stays_is_disassociated() {
    for (transition, delay) in [("reject", 10_240), ("ignore", 10_000)] {
        let settings = format!("{{ policy = \"never\", transition = \"{transition}\" }}");
        let phone = ("station.phone.roaming", settings.as_str());
        let wide = ("ap.*.radio.5g.width", "20 MHz");
        // At 3 m/s the signal is below -70 dBm after 4.2 s.
        let fast = ("station.phone.speed", "3 m/s");
        let walk = Walk::new(&[K, V, USTEER, phone, wide, fast]);
        let asked = times(&walk, |kind| matches!(kind, ClientEventKind::Asked { .. }))[0];
        let left = times(&walk, |kind| matches!(kind, ClientEventKind::Disassociated { .. }));
        assert_eq!(left, [asked + delay], "{:?}", walk.events);
        let rejected = times(&walk, |kind| *kind == ClientEventKind::Answered { accepted: false });
        assert_eq!(rejected.is_empty(), transition == "ignore", "{:?}", walk.events);
        let [(at, length)] = walk.roams()[..] else {
            panic!("{:?}", walk.events)
        };
        assert!((left[0]..=left[0] + 10).contains(&at), "{at} ms");
        assert!((3_040..=3_080).contains(&length), "{length} ms");

        let kind = "{ policy = \"usteer\", trigger = \"-70 dBm\", margin = \"5 dB\", disassociate = false }";
        let stays = Walk::new(&[K, V, ("network.home.steering", kind), phone, wide, fast]);
        assert!(stays.roams().is_empty(), "{:?}", stays.events);
    }
}

/// A client without 802.11v is not asked.
#[test]
fn each_side_supports_what_the_scenario_says() {
    let without = ("station.phone.roaming", "{ policy = \"ap-directed\", v = false }");
    let wide = ("ap.*.radio.5g.width", "20 MHz");
    let walk = Walk::new(&[K, V, USTEER, without, wide]);
    assert!(times(&walk, |kind| matches!(kind, ClientEventKind::Asked { .. })).is_empty());
    // Without 802.11k in the client, the scan visits all channels.
    let without = ("station.phone.roaming", "{ policy = \"linux\", k = false }");
    let walk = Walk::new(&[K, without]);
    assert_eq!(walk.first_scan().1.as_millis(), 2_976);
    // Without 802.11r in the client it joins with 8 frames.
    let without = (
        "station.phone.roaming",
        "{ policy = \"linux\", neighbour_reports = true, r = false }",
    );
    let walk = Walk::new(&[K, ("network.home.r", "true"), without]);
    assert!((64..=80).contains(&walk.roams()[0].1));
}

/// Back and forth with 802.1X: the first move needs 24 frames and 8 round trips, the return 8 frames with
/// the cached key. With shared keys, so does the first one. Without a cache no move is short.
#[test]
fn cached_keys_save_the_radius_server() {
    let walk = |settings: &[(&str, &str)]| {
        let mut all = vec![
            K,
            ("network.home.security", "802.1x"),
            ("station.phone.path", "[\"2 m, 0 m\", \"22 m, 0 m\", \"2 m, 0 m\"]"),
            ("station.phone.speed", "2 m/s"),
        ];
        all.extend(settings);
        let lengths: Vec<u64> = Walk::new(&all).roams().iter().map(|(_, length)| *length).collect();
        <[u64; 2]>::try_from(lengths).unwrap()
    };
    let (full, short) = (232..=255, 64..=80);
    let [first, second] = walk(&[]);
    assert!(
        full.contains(&first) && short.contains(&second),
        "{first} and {second} ms"
    );
    let [first, second] = walk(&[("network.home.okc", "true")]);
    assert!(
        short.contains(&first) && short.contains(&second),
        "{first} and {second} ms"
    );
    let [first, second] = walk(&[("network.home.key_caching", "false")]);
    assert!(
        full.contains(&first) && full.contains(&second),
        "{first} and {second} ms"
    );
}

/// Over the distribution system two of the four frames come before the gap.
#[test]
fn fast_transition_over_the_distribution_system() {
    let r = ("network.home.r", "true");
    let walk = Walk::new(&[K, r, ("network.home.r_over_ds", "true")]);
    let [(_, length)] = walk.roams()[..] else {
        panic!("{:?}", walk.events)
    };
    assert!((16..=25).contains(&length), "{length} ms");
    assert_eq!(walk.at_end, "attic.5g");
}

/// The frames of the access point wait until a station that dozes is awake: at most a beacon interval
/// later than those of a station that does not.
#[test]
fn a_station_that_dozes_is_asked_when_it_wakes() {
    let directed = ("station.phone.roaming", "ap-directed");
    let walk = |mode| Walk::new(&[K, V, USTEER, directed, ("station.phone.power_save", mode)]);
    let (awake, dozes) = (walk("off"), walk("legacy"));
    assert_eq!(dozes.roams().len(), 1, "{:?}", dozes.events);
    let (early, late) = (awake.roams()[0].0, dozes.roams()[0].0);
    assert!((early..=early + 2_110).contains(&late), "{early} and {late} ms");
}

/// usteer announces a disassociation in its requests, so a client that obeys only these moves at once. `prefer-5ghz` announces
/// none, so the client stays for ever.
#[test]
fn some_clients_obey_only_announced_disassociations() {
    let phone = (
        "station.phone.roaming",
        "{ policy = \"ap-directed\", transition = \"imminent\" }",
    );
    let walk = Walk::new(&[K, V, USTEER, phone]);
    assert_eq!(
        times(&walk, |kind| *kind == ClientEventKind::Answered { accepted: true }).len(),
        1
    );
    assert!(times(&walk, |kind| matches!(kind, ClientEventKind::Disassociated { .. })).is_empty());
    assert_eq!(walk.at_end, "attic.5g");

    let answers = |transition: &str| {
        let text = format!(
            "[network.home]\nradios = [\"one.2g\", \"one.5g\"]\nv = true\nsteering = \"prefer-5ghz\"\n\
             [ap.one.radio.2g]\n[ap.one.radio.5g]\n[station.phone]\njoins = \"home\"\nsignal = \"-45 dBm\"\n\
             radio_selection = \"2g\"\nroaming = {{ policy = \"ap-directed\", transition = \"{transition}\" }}\n"
        );
        let plan = Document::from_toml("band.toml", &text).unwrap().resolve().unwrap();
        let mut network: Network<()> = Network::new(&plan).unwrap();
        let mut answers = Vec::new();
        while let Some((at, _)) = network.poll_timeout().filter(|(at, _)| *at < Instant::from_secs(60)) {
            network.handle_timeout(at);
            while network.poll_output().is_some() {}
            while let Some(event) = network.poll_client_event() {
                if let ClientEventKind::Answered { accepted } = event.kind {
                    answers.push(accepted);
                }
            }
        }
        (answers, network.joined(0).unwrap())
    };
    assert_eq!(answers("accept"), (vec![true], "one.5g".to_owned()));
    let (rejected, radio) = answers("imminent");
    assert!(
        !rejected.is_empty() && rejected.iter().all(|accepted| !accepted),
        "{rejected:?}"
    );
    assert_eq!(radio, "one.2g");
}
