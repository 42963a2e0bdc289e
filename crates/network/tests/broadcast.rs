//! Broadcast traffic: group-addressed frames, and their wait for a DTIM beacon.

use netburn_network::{BroadcastStats, Network};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};

fn plan(text: &str) -> Plan {
    Document::from_toml("broadcast.toml", text).unwrap().resolve().unwrap()
}

/// One access point with stations `s0`, `s1`, … with these keys each.
fn one_ap(network: &str, stations: &[&str]) -> Plan {
    let mut text = format!(
        "baseline = \"0 s\"\n[network.home]\nradios = [\"x.5g\"]\n{network}\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n"
    );
    for (number, keys) in stations.iter().enumerate() {
        text += &format!("[station.s{number}]\njoins = \"x.5g\"\nmcs = 5\n{keys}\n");
    }
    plan(&text)
}

fn run(plan: &Plan, seconds: u64) -> (BroadcastStats, Network<()>) {
    let mut network = Network::<()>::new(plan).unwrap();
    network.trace();
    network.handle_timeout(Instant::ZERO + Duration::from_secs(seconds));
    (network.broadcast_stats(0).unwrap(), network)
}

fn mean_ms(stats: &BroadcastStats) -> f64 {
    stats.mean_delay().unwrap().as_millis_f64()
}

const DOZES: &str = "power_save = \"legacy\"";

/// A frame of 24 + 16 + 8 + 200 + 4 = 252 bytes at 6 Mbit/s takes 20 + 4 × ⌈(22 + 252 × 8) / 24⌉ = 360 µs. On an
/// idle channel it is sent at once. It has no acknowledgement, and is not repeated.
#[test]
fn without_a_dozing_station_there_is_no_wait() {
    let (stats, mut network) = run(&one_ap("broadcast_interval = \"1 s\"", &["", ""]), 1_000);
    // Gaps are uniform over 0 to 2 s: their standard deviation is 577 ms, and that of their number in 1000 s is 18.
    assert!((940..1_060).contains(&stats.packets), "{stats:?}");
    let whole = stats.packets - 1..=stats.packets;
    assert!(whole.contains(&stats.frames) && stats.buffered == 0, "{stats:?}");
    assert!(
        stats.received.div_ceil(2) >= stats.frames - 1 && stats.lost == 0,
        "{stats:?}"
    );
    let mean = mean_ms(&stats);
    assert!((0.36..0.361).contains(&mean), "{mean}");
    let sent = std::iter::from_fn(|| network.poll_transmission());
    let durations: Vec<Duration> = sent.map(|(_, sent)| sent.duration).collect();
    assert_eq!(durations.len() as u64, stats.received / 2);
    assert!(durations.iter().all(|duration| *duration == Duration::from_micros(360)));
}

/// As soon as one station dozes, the frames of all stations wait for the DTIM beacon: uniform over 0 to 204.8 ms
/// with the default of two beacons. The standard error of the mean of 2000 delays is 204.8 / √12 / √2000 = 1.3 ms.
/// A frame takes 0.36 ms, and one that waits for an earlier one a little more.
#[test]
fn one_dozing_station_delays_the_frames_of_all() {
    for (dtim, period) in [("", 2.0), ("dtim_period = 1", 1.0), ("dtim_period = 5", 5.0)] {
        let plan = one_ap(&format!("broadcast_interval = \"2 s\"\n{dtim}"), &["", DOZES]);
        let (stats, _) = run(&plan, 4_000);
        let longest = 102.4 * period;
        assert_eq!(
            (stats.buffered, stats.dropped, stats.lost),
            (stats.packets, 0, 0),
            "{stats:?}"
        );
        assert_eq!(stats.received, 2 * stats.frames, "{stats:?}");
        let mean = mean_ms(&stats);
        assert!(
            (mean - longest / 2.0 - 0.5).abs() < 4.0 * longest / 12_f64.sqrt() / 2_000_f64.sqrt(),
            "{mean}"
        );
        let seen = stats.longest_delay.as_millis_f64();
        assert!(seen > 0.98 * longest && seen < longest + 2.0, "{seen}");
    }
}

/// At one packet each 1 ms, 205 packets come in a DTIM period. The buffer keeps the newest 128 (mac80211:
/// `AP_MAX_BC_BUFFER`).
#[test]
fn the_buffer_keeps_128_frames() {
    let (stats, _) = run(&one_ap("broadcast_interval = \"1 ms\"", &[DOZES]), 100);
    let share = stats.dropped as f64 / stats.packets as f64;
    assert!((share - (204.8 - 128.0) / 204.8).abs() < 0.02, "{share}");
}

/// The access point leaves its channel for 500 ms, in which up to three DTIM beacons are missing. A packet that came
/// just after the one before them waits for 4 × 204.8 = 819.2 ms.
#[test]
fn an_access_point_that_scans_sends_after_its_return() {
    let text = "baseline = \"0 s\"\n[network.home]\nradios = [\"x.5g\"]\nbroadcast_interval = \"50 ms\"\n\
        [ap.x]\nscan_interval = \"2 s\"\nscan_away = \"500 ms\"\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n\
        [station.s]\njoins = \"x.5g\"\nmcs = 5\npower_save = \"legacy\"\n";
    let (stats, _) = run(&plan(text), 400);
    assert_eq!((stats.dropped, stats.lost), (0, 0), "{stats:?}");
    let longest = stats.longest_delay.as_millis_f64();
    assert!((780.0..821.0).contains(&longest), "{longest}");
}

/// The unit gets each packet once, with acknowledgement, and sends it once to its own station after its forwarding
/// delay of 300 to 400 µs.
#[test]
fn a_unit_forwards_each_packet_once() {
    let text = "baseline = \"0 s\"\n[network.home]\nradios = [\"main.5g\", \"unit.5g\"]\nbroadcast_interval = \"1 s\"\n\
        [ap.main.radio.5g]\nstandard = \"802.11ax\"\n[ap.unit]\nbackhaul = \"main.5g\"\nbackhaul_mcs = 5\n\
        [ap.unit.radio.5g]\nstandard = \"802.11ax\"\n\
        [station.near]\njoins = \"main.5g\"\nmcs = 5\n[station.far]\njoins = \"unit.5g\"\nmcs = 5\n";
    let (stats, mut network) = run(&plan(text), 1_000);
    assert!(
        stats.packets - 1 <= stats.frames / 2 && stats.frames <= 2 * stats.packets,
        "{stats:?}"
    );
    assert!(stats.received + 2 >= 2 * stats.packets && stats.lost == 0, "{stats:?}");
    let sent: Vec<_> = std::iter::from_fn(|| network.poll_transmission()).collect();
    let group = sent.iter().filter(|(_, sent)| sent.to.is_none()).count() as u64;
    let backhaul = sent.len() as u64 - group;
    assert!(
        group.abs_diff(2 * stats.packets) <= 2 && backhaul.abs_diff(stats.packets) <= 1,
        "{group} {backhaul}"
    );
    // 0.36 ms to the near station; the far one also waits for the backhaul, 0.35 ms, and a second frame.
    let longest = stats.longest_delay.as_millis_f64();
    assert!((1.0..3.0).contains(&longest), "{longest}");
}

/// In a chain of four, each member sends a packet once into the mesh, and once to its stations. Frames without
/// acknowledgement are lost where they collide, but most packets reach the station at the end.
#[test]
fn each_member_of_a_mesh_forwards_a_packet_once() {
    let mut text =
        "baseline = \"0 s\"\n[network.home]\nradios = [\"m0.5g\", \"m3.5g\"]\nbroadcast_interval = \"1 s\"\n\
        [mesh.house]\nradios = [\"m0.5g\", \"m1.5g\", \"m2.5g\", \"m3.5g\"]\nroot = \"m0\"\n"
            .to_owned();
    for unit in 0..4 {
        text += &format!(
            "[ap.m{unit}]\nposition = \"{} m, 0 m\"\nradio.5g = {{ standard = \"802.11a\" }}\n",
            80 * unit
        );
    }
    text += "[station.s]\njoins = \"m3.5g\"\nmcs = 0\n";
    let (stats, mut network) = run(&plan(&text), 500);
    // One station: at most one reception of each packet.
    assert!(stats.received <= stats.packets, "{stats:?}");
    assert!(stats.received * 10 >= stats.packets * 8, "{stats:?}");
    let sent = std::iter::from_fn(|| network.poll_transmission());
    let data = sent.filter(|(_, sent)| sent.to.is_none() && sent.length == 26 + 6 + 16 + 8 + 200 + 4);
    let (data, packets) = (data.count() as u64, stats.packets);
    assert!(data <= 4 * packets && data * 10 >= 4 * packets * 8, "{data} {packets}");
}
