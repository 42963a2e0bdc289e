//! Multicast of access points: airtime, losses, DTIM bursts, and copies as unicast frames.

use netburn_medium::config::Width;
use netburn_medium::packet::{Ecn, Packet};
use netburn_medium::phy::{Modulation, dsss, ofdm};
use netburn_medium::{error, signal};
use netburn_network::{Endpoint, MulticastStats, Network, Output};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};

fn plan(text: &str) -> Plan {
    Document::from_toml("multicast.toml", text).unwrap().resolve().unwrap()
}

/// One access point with these keys of its multicast and of its radio, and stations `s0`, `s1`, … with these keys each.
fn one_ap(multicast: &str, radio: &str, stations: &[&str]) -> Plan {
    let band = if radio.contains("2.4 GHz") { "2g" } else { "5g" };
    let mut text = format!("baseline = \"0 s\"\n[ap.x]\nmulticast = {{ {multicast} }}\n[ap.x.radio.{band}]\n{radio}\n");
    for (number, keys) in stations.iter().enumerate() {
        text += &format!("[station.s{number}]\njoins = \"x.{band}\"\n{keys}\n");
    }
    plan(&text)
}

fn run(plan: &Plan, seconds: u64) -> (MulticastStats, Network<()>) {
    let mut network = Network::<()>::new(plan).unwrap();
    network.trace();
    network.handle_timeout(Instant::ZERO + Duration::from_secs(seconds));
    (network.multicast_stats(0).unwrap().clone(), network)
}

/// Airtime of the data of the access point, as a share of a run.
fn airtime(network: &Network<()>, seconds: u64) -> f64 {
    network.radio_stats()[0].air.sent.as_secs_f64() / Duration::from_secs(seconds).as_secs_f64()
}

const AX: &str = "standard = \"802.11ax\"";
const FAST: &str = "mcs = 9";
/// 4 Mbit/s of 1356 B are 368.73 packets in each second.
const PACKETS: f64 = 4e6 / (1_356.0 * 8.0);

/// A frame has 24 (header) + 16 (CCMP) + 8 (LLC/SNAP) + 1356 + 4 (FCS) = 1408 bytes, so 22 + 11 264 = 11 286 bits.
///
/// | rate | symbols | duration |
/// |---|---|---|
/// | 6 Mbit/s | ⌈11 286 / 24⌉ = 471 | 20 + 4 × 471 = 1904 µs |
/// | 12 Mbit/s | ⌈11 286 / 48⌉ = 236 | 964 µs |
/// | 24 Mbit/s | ⌈11 286 / 96⌉ = 118 | 492 µs |
/// | 1 Mbit/s (DSSS) | | 192 + 11 264 = 11 456 µs |
/// | 11 Mbit/s (CCK, long preamble) | | 192 + 11 264 / 11 = 1216 µs |
///
/// The airtime is the duration times the packets per second. At 1 Mbit/s that is more than there is, so the test uses a
/// lower rate of packets.
#[test]
fn the_airtime_is_the_duration_at_the_base_rate_times_the_packets() {
    let ghz2_4 = "# 2.4 GHz\nstandard = \"802.11n\"";
    let cases = [
        (4.0, AX.to_owned(), 1_904),
        (4.0, format!("{AX}\nmulticast_rate = \"12 Mbit/s\""), 964),
        (4.0, format!("{AX}\nmulticast_rate = \"24 Mbit/s\""), 492),
        (0.5, ghz2_4.to_owned(), 11_456),
        (4.0, format!("{ghz2_4}\nmulticast_rate = \"11 Mbit/s\""), 1_216),
    ];
    for (mbps, radio, micros) in cases {
        let text = format!("rate = \"{mbps} Mbit/s\", to = [\"s0\"]");
        let plan = one_ap(&text, &radio, &["mcs = 5", "mcs = 5"]);
        let (stats, mut network) = run(&plan, 100);
        let packets = mbps / 4.0 * PACKETS * 100.0;
        assert!((stats.packets as f64 - packets).abs() <= 1.0, "{stats:?}");
        assert!(
            stats.frames == stats.packets && stats.copies + stats.dropped == 0,
            "{stats:?}"
        );
        let share = airtime(&network, 100);
        let expected = packets * micros as f64 / 1e8;
        assert!(
            (share / expected - 1.0).abs() < 1e-3,
            "{share} instead of {expected}: {radio}"
        );
        let sent: Vec<_> = std::iter::from_fn(|| network.poll_transmission()).collect();
        assert!(sent.iter().all(|(_, sent)| sent.to.is_none() && sent.mpdus == 1));
        let is_exact = |duration: Duration| duration == Duration::from_micros(micros);
        assert!(sent.iter().all(|(_, sent)| is_exact(sent.duration)), "{radio}");
        // One member of two stations.
        assert_eq!(stats.members.len(), 1);
        assert!(stats.packets - stats.members[0].received <= 1 && stats.members[0].lost == 0);
    }
}

/// A download that always has packets shares the channel with 368.73 frames of 1904 µs in each second. Each needs SIFS,
/// AIFSN 3 and at most 15 slots of 9 µs (16 + 27 + 135 µs). So the download keeps between 1 − 0.7021 − 0.0656 = 0.232
/// and 1 − 0.7021 = 0.298 of its throughput.
#[test]
fn multicast_at_the_base_rate_starves_unicast() {
    let delivered = |multicast: &str| {
        let mut network = Network::<()>::new(&plan(&format!(
            "baseline = \"0 s\"\n[ap.x]\n{multicast}\n[ap.x.radio.5g]\n{AX}\n[station.s0]\njoins = \"x.5g\"\nmcs = 5\n"
        )))
        .unwrap();
        let mut delivered = 0_u32;
        for millis in 0..5_000 {
            let now = Instant::ZERO + Duration::from_millis(millis);
            for _ in 0..60 {
                let packet = Packet {
                    length: 1_500,
                    flow: 1,
                    tid: 0,
                    ecn: Ecn::NotEct,
                    payload: (),
                };
                network.handle_packet(now, Endpoint::Server, Endpoint::Station(0), packet);
            }
            let outputs = std::iter::from_fn(|| network.poll_output());
            delivered += outputs
                .filter(|output| matches!(output, Output::Delivered { .. }))
                .count() as u32;
        }
        f64::from(delivered)
    };
    let share = delivered("multicast = { rate = \"4 Mbit/s\" }") / delivered("");
    assert!((0.232..0.298).contains(&share), "{share}");
}

/// Nothing repeats a group-addressed frame, so its loss is the error rate of the frame: at 24 Mbit/s (16-QAM 1/2), with
/// 1408 bytes, and with the noise of 20 MHz. A unicast copy is repeated, and uses a rate for the signal. The station near
/// the access point loses nothing either way. The signal is that of one stream in 20 MHz, as that of the frame.
#[test]
fn a_far_station_loses_frames_that_are_not_repeated() {
    let dbm = -81.0;
    let snr = dbm - signal::noise_dbm(Width::Mhz20);
    let loss = 1.0 - error::success(Modulation::Ofdm(ofdm::Rate::M24), snr, 1_408 * 8);
    assert!((0.02..0.98).contains(&loss), "choose another signal: {loss}");
    let stations = ["signal = \"-50 dBm\"", "signal = \"-81 dBm\""];
    let both = "rate = \"1 Mbit/s\", to = [\"s0\", \"s1\"]";
    let radio = format!("{AX}\nwidth = \"20 MHz\"\nmulticast_rate = \"24 Mbit/s\"\nstreams = 1");
    let (stats, _) = run(&one_ap(both, &radio, &stations), 100);
    let seen = stats.members[1].loss().unwrap();
    let error = (loss * (1.0 - loss) / stats.packets as f64).sqrt();
    assert!((seen - loss).abs() < 4.0 * error, "{seen} instead of {loss}");
    assert_eq!(stats.members[0].lost, 0, "{stats:?}");

    let copies = format!("{both}, to_unicast = \"members\"");
    let (stats, _) = run(&one_ap(&copies, &radio, &stations), 100);
    assert_eq!(
        stats.members.iter().map(|member| member.lost).sum::<u64>(),
        0,
        "{stats:?}"
    );
}

/// An 802.11b station cannot decode OFDM, however strong its signal is.
#[test]
fn a_station_without_ofdm_needs_a_dsss_rate() {
    for (rate, received) in [("12 Mbit/s", false), ("2 Mbit/s", true)] {
        let radio = format!("# 2.4 GHz\nstandard = \"802.11n\"\nmulticast_rate = \"{rate}\"");
        let stations = ["standard = \"802.11b\"\nmcs = 3", "mcs = 5"];
        let plan = one_ap("rate = \"0.2 Mbit/s\", to = [\"s0\", \"s1\"]", &radio, &stations);
        let (stats, _) = run(&plan, 20);
        assert_eq!(stats.members[0].received > 0, received, "{rate}: {stats:?}");
        assert_eq!(stats.members[0].lost == 0, received, "{rate}: {stats:?}");
        assert_eq!(stats.members[1].lost, 0);
    }
    assert_eq!(
        Modulation::legacy(dsss::Rate::M2.rate()),
        Some(Modulation::Dsss(dsss::Rate::M2))
    );
}

/// While one station dozes, the packets of 204.8 ms (two beacons) are sent together: 18.88 packets at 1 Mbit/s. They wait
/// for 0 to 204.8 ms, and then for those before them: on average for half of 18.88 frames of 1904 µs and about
/// 34 + 1.5 × 9 µs between them (AIFSN 2 of voice: 34 µs, and 0 to 3 slots). So the mean is 102.4 + 0.5 × 19.88 × 1.95
/// = 121.8 ms.
#[test]
fn a_dozing_station_bunches_the_packets_after_the_dtim_beacon() {
    let multicast = "rate = \"1 Mbit/s\", to = [\"s0\"]";
    let doze = "mcs = 5\npower_save = \"legacy\"";
    let (stats, mut network) = run(&one_ap(multicast, AX, &["mcs = 5", doze]), 100);
    // Until its timeout the station is awake.
    assert!(stats.packets - stats.buffered < 20 && stats.dropped == 0, "{stats:?}");
    assert_eq!(stats.members[0].lost, 0, "{stats:?}");
    let mean = stats.members[0].mean_delay().unwrap().as_millis_f64();
    assert!((mean - 121.8).abs() < 3.0, "{mean}");
    let sent = std::iter::from_fn(|| network.poll_transmission()).filter(|(_, sent)| sent.to.is_none());
    let starts: Vec<Instant> = sent.map(|(_, sent)| sent.at).collect();
    let is_pause = |pair: &&[Instant]| pair[1].since(pair[0]) > Duration::from_millis(20);
    let bursts = 1 + starts.windows(2).filter(is_pause).count();
    // 100 s / 204.8 ms = 488.3.
    assert!((487..=489).contains(&bursts), "{bursts}");

    let (alone, _) = run(&one_ap(multicast, AX, &["mcs = 5", "mcs = 5"]), 100);
    let mean = alone.members[0].mean_delay().unwrap().as_millis_f64();
    assert!((1.9..2.0).contains(&mean), "{mean}");
}

/// At 12 Mbit/s, 226.5 packets come in 204.8 ms. The buffer keeps the newest 128 (mac80211: `AP_MAX_BC_BUFFER`).
#[test]
fn a_full_buffer_drops_the_oldest_packets() {
    let radio = format!("{AX}\nmulticast_rate = \"54 Mbit/s\"");
    let plan = one_ap(
        "rate = \"12 Mbit/s\", to = [\"s0\"]",
        &radio,
        &["mcs = 5", "mcs = 5\npower_save = \"legacy\""],
    );
    let (stats, _) = run(&plan, 60);
    let share = stats.dropped as f64 / stats.packets as f64;
    assert!((share - (226.5 - 128.0) / 226.5).abs() < 0.01, "{share}");
    assert_eq!(stats.members[0].lost, stats.dropped, "{stats:?}");
}

/// More than the channel carries: the access point drops packets, and its memory stays limited. At 6 Mbit/s each frame
/// needs 1904 µs, 43 µs (AIFS) and on average 7.5 slots of 9 µs, so 496 of 1844 packets in each second are sent.
#[test]
fn too_much_multicast_is_dropped() {
    let (stats, _) = run(&one_ap("rate = \"20 Mbit/s\", to = [\"s0\"]", AX, &[FAST]), 20);
    let sent = (stats.packets - stats.dropped) as f64 / 20.0;
    assert!((sent - 1e6 / (1_904.0 + 43.0 + 67.5)).abs() < 10.0, "{sent}");
    assert!(stats.members[0].lost.abs_diff(stats.dropped) == 0, "{stats:?}");
}

/// One fast member: its copies need much less airtime than frames at 6 Mbit/s. Twenty-four slow ones need more.
#[test]
fn conversion_helps_with_few_fast_members_and_not_with_many_slow_ones() {
    let share = |to_unicast: &str, (stations, rate, keys): (usize, f64, &str)| {
        let names: Vec<String> = (0..stations).map(|number| format!("\"s{number}\"")).collect();
        let multicast = format!(
            "rate = \"{rate} Mbit/s\", to = [{}], to_unicast = \"{to_unicast}\"",
            names.join(", ")
        );
        let plan = one_ap(
            &multicast,
            &format!("{AX}\nwidth = \"20 MHz\"\nstreams = 1"),
            &vec![keys; stations],
        );
        let (stats, network) = run(&plan, 20);
        assert_eq!(
            stats.members.iter().map(|member| member.lost).sum::<u64>(),
            0,
            "{stats:?}"
        );
        (airtime(&network, 20), stats)
    };
    let group = |mbps: f64| mbps * 1e6 / (1_356.0 * 8.0) * 1.904e-3;
    // All 24 copies of 0.2 Mbit/s together are 4.8 Mbit/s of the 8.6 Mbit/s of MCS 0 in 20 MHz.
    let (few, many) = ((1, 1.0, FAST), (24, 0.2, "mcs = 0"));
    for case in [few, many] {
        let (seen, stats) = share("off", case);
        assert!((seen / group(case.1) - 1.0).abs() < 5e-3, "{seen}");
        assert_eq!(stats.copies, 0);
    }
    let (one_fast, stats) = share("members", few);
    assert!(
        one_fast < group(1.0) / 5.0 && stats.frames == 0,
        "{one_fast}: {stats:?}"
    );
    let (many_slow, stats) = share("members", many);
    assert_eq!(stats.copies, 24 * stats.packets);
    assert!(many_slow > 3.0 * group(0.2), "{many_slow}");
}

/// The bridge copies to members only, hostapd to all stations. With IGMP snooping and without a member, nothing is sent.
#[test]
fn who_gets_copies() {
    let counts = |keys: &str| {
        let (stats, _) = run(
            &one_ap(&format!("rate = \"1 Mbit/s\", {keys}"), AX, &[FAST, FAST, FAST]),
            10,
        );
        (stats.frames / stats.packets, stats.copies / stats.packets)
    };
    assert_eq!(counts("to = [\"s0\"]"), (1, 0));
    assert_eq!(counts("to = []"), (1, 0));
    assert_eq!(counts("snooping = true"), (0, 0));
    assert_eq!(counts("snooping = true, to = [\"s2\"]"), (1, 0));
    assert_eq!(counts("to = [\"s0\"], to_unicast = \"members\""), (0, 1));
    assert_eq!(counts("to_unicast = \"members\""), (0, 0));
    assert_eq!(counts("to = [\"s0\"], to_unicast = \"stations\""), (0, 3));
    assert_eq!(counts("snooping = true, to_unicast = \"stations\""), (0, 0));
}

/// Copies to a station that dozes wait in the access point until it is awake, and all arrive.
#[test]
fn copies_to_a_dozing_station_wait_for_it() {
    let doze = "mcs = 5\npower_save = \"legacy\"";
    let multicast = "rate = \"20 kbit/s\", to = [\"s0\", \"s1\"], to_unicast = \"members\"";
    let (stats, _) = run(&one_ap(multicast, AX, &[doze, "mcs = 5"]), 200);
    let [dozing, awake] = stats.members[..] else { panic!() };
    assert!(stats.packets - dozing.received <= 2 && dozing.lost == 0, "{stats:?}");
    assert!(awake.longest_delay < Duration::from_millis(1), "{stats:?}");
    assert!(dozing.mean_delay().unwrap() > Duration::from_millis(20), "{stats:?}");
}
