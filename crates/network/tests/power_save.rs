//! Stations that doze or leave their channel, and access points that scan.

use netburn_medium::packet::{Ecn, Packet};
use netburn_network::{ClientEventKind, Endpoint, Network, NetworkError, Output};
use netburn_scenario::Document;
use netburn_units::{Duration, Instant, Seed};

const BEACON: f64 = 102.4;
/// Channel access, a null frame with its acknowledgement, and a packet of 200 bytes: below 1 ms on an
/// idle channel.
const AIR: f64 = 1.0;

/// One access point, and the station `s` with these keys.
fn document(ap: &str, station: &str) -> Document {
    let text = format!(
        "baseline = \"0 s\"\n[ap.x]\n{ap}\n[ap.x.radio.5g]\nstandard = \"802.11ax\"\n[station.s]\njoins = \"x.5g\"\n\
         mcs = 5\n{station}\n"
    );
    Document::from_toml("sleeper.toml", &text).unwrap()
}

/// A packet's time of sending, and its delay in ms; `None`: dropped or not delivered.
type Delay = (Instant, Option<f64>);

/// A network with packets of 200 bytes between the server and station 0.
struct Run {
    network: Network<usize>,
    packets: Vec<Delay>,
    scans: Vec<(Instant, Duration)>,
}

impl Run {
    fn new(document: &Document, seed: u64) -> Run {
        let mut plan = document.resolve().unwrap();
        plan.seed = Seed(seed);
        Run {
            network: Network::new(&plan).unwrap(),
            packets: Vec::new(),
            scans: Vec::new(),
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.network.poll_output() {
            if let Output::Delivered { at, packet, .. } = output {
                let (sent, delay) = &mut self.packets[packet.payload];
                *delay = Some(at.since(*sent).as_millis_f64());
            }
        }
        while let Some(event) = self.network.poll_client_event() {
            if let ClientEventKind::Scanned { .. } = event.kind {
                self.scans.push((event.at, event.length));
            }
        }
    }

    fn advance(&mut self, to: Instant) {
        while let Some((at, _)) = self.network.poll_timeout().filter(|(at, _)| *at <= to) {
            self.network.handle_timeout(at);
            self.drain();
        }
    }

    fn send(&mut self, now: Instant, down: bool) {
        let (server, station) = (Endpoint::Server, Endpoint::Station(0));
        let (from, to) = if down { (server, station) } else { (station, server) };
        self.send_between(now, from, to);
    }

    fn send_to(&mut self, now: Instant, station: u16) {
        self.send_between(now, Endpoint::Server, Endpoint::Station(station));
    }

    fn send_between(&mut self, now: Instant, from: Endpoint, to: Endpoint) {
        self.advance(now);
        let packet = Packet {
            length: 200,
            flow: u32::from(from == Endpoint::Server),
            tid: 6,
            ecn: Ecn::NotEct,
            payload: self.packets.len(),
        };
        self.packets.push((now, None));
        self.network.handle_packet(now, from, to, packet);
        self.drain();
    }

    /// Sends a packet down at a random time in each of `count` periods. Returns their delays.
    fn downlink(&mut self, count: u64, period: Duration) -> Vec<f64> {
        let mut phase = Seed(7).stream("phase", 0);
        for number in 0..count {
            self.send(Instant::ZERO + period * number + phase.duration_below(period / 2), true);
        }
        self.advance(Instant::ZERO + period * (count + 1));
        self.packets.iter().map(|(_, delay)| delay.unwrap()).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// A packet of a sleeping station waits for the next beacon: its delay is uniform over 0 to 102.4 ms.
/// The standard error of the mean of 2000 is 0.66 ms; each decile has 200 ± 13 of them.
#[test]
fn a_ping_waits_for_a_beacon() {
    let mut run = Run::new(&document("", "power_save = \"legacy\""), 1);
    let delays = run.downlink(2_000, Duration::from_secs(10));
    let (mean, longest) = (mean(&delays), max(&delays));
    assert!((mean - BEACON / 2.0).abs() < 3.0, "{mean} ms");
    assert!((BEACON - 1.0..BEACON + AIR).contains(&longest), "{longest} ms");
    let mut deciles = [0; 10];
    for delay in &delays {
        deciles[((delay / BEACON * 10.0) as usize).min(9)] += 1;
    }
    assert!(deciles.iter().all(|count| (140..=260).contains(count)), "{deciles:?}");
}

/// It wakes for each third beacon: uniform over 0 to 307.2 ms. The standard error of 2000 is 2 ms.
#[test]
fn a_listen_interval_multiplies_the_delay() {
    let power_save = "power_save = { mode = \"legacy\", listen_interval = 3 }";
    let mut run = Run::new(&document("", power_save), 1);
    let delays = run.downlink(2_000, Duration::from_secs(10));
    let (mean, longest) = (mean(&delays), max(&delays));
    assert!((mean - BEACON * 1.5).abs() < 7.0, "{mean} ms");
    assert!(
        (3.0 * BEACON - 3.0..3.0 * BEACON + AIR).contains(&longest),
        "{longest} ms"
    );
}

/// Without power save, and with `off`, nothing waits.
#[test]
fn a_station_without_power_save_is_always_awake() {
    for power_save in ["", "power_save = \"off\""] {
        let mut run = Run::new(&document("", power_save), 1);
        let delays = run.downlink(50, Duration::from_secs(1));
        assert!(max(&delays) < AIR, "{delays:?}");
    }
}

/// After a packet the station stays awake for 100 ms: a second packet within that time does not wait,
/// and one 110 ms later does.
#[test]
fn traffic_keeps_a_station_awake() {
    for (gap, waits) in [(90, false), (110, true)] {
        let mut run = Run::new(&document("", "power_save = \"legacy\""), 1);
        for number in 0..40 {
            let first = Instant::from_millis(1_000 + 937 * number);
            run.send(first, false);
            run.send(first + Duration::from_millis(gap), true);
        }
        run.advance(Instant::from_secs(60));
        let second: Vec<f64> = run
            .packets
            .iter()
            .skip(1)
            .step_by(2)
            .map(|(_, delay)| delay.unwrap())
            .collect();
        if waits {
            // Uniform again: 40 delays with a standard error of 4.7 ms.
            let mean = mean(&second);
            assert!((mean - BEACON / 2.0).abs() < 16.0, "{mean} ms");
        } else {
            assert!(max(&second) < AIR, "{second:?}");
        }
    }
}

/// Outgoing packets wake a station at once, in every mode but TWT.
#[test]
fn outgoing_packets_do_not_wait() {
    for mode in ["legacy", "u-apsd"] {
        let mut run = Run::new(&document("", &format!("power_save = \"{mode}\"")), 1);
        for number in 0..100 {
            run.send(Instant::from_millis(1_000 + 333 * number), false);
        }
        run.advance(Instant::from_secs(60));
        let delays: Vec<f64> = run.packets.iter().map(|(_, delay)| delay.unwrap()).collect();
        assert!(max(&delays) < AIR, "{mode}: {delays:?}");
    }
}

/// A call with a frame each 20 ms in both directions: a packet waits at most for the next frame of the
/// station, 13 ms later. A beacon comes first in 13 of 102.4 ms, so for 63 of 499 packets.
#[test]
fn u_apsd_delivers_with_the_next_frame_of_a_call() {
    let mut run = Run::new(&document("", "power_save = \"u-apsd\""), 1);
    for number in 0..500 {
        run.send(Instant::from_millis(1_000 + 20 * number), false);
        run.send(Instant::from_millis(1_007 + 20 * number), true);
    }
    run.advance(Instant::from_secs(12));
    let down: Vec<f64> = run
        .packets
        .iter()
        .skip(1)
        .step_by(2)
        .map(|(_, delay)| delay.unwrap())
        .collect();
    // The last one waits for a beacon: no frame follows.
    let call = &down[..down.len() - 1];
    assert!(call.iter().all(|delay| *delay < 13.0 + AIR), "{call:?}");
    let by_beacon = call.iter().filter(|delay| **delay < 13.0).count();
    assert!((55..=71).contains(&by_beacon), "{by_beacon} of {}", call.len());
    assert!(down[down.len() - 1] < BEACON + AIR);
}

/// Without frames of its own, the station learns from beacons that packets wait, as with legacy power
/// save.
#[test]
fn u_apsd_without_a_call_waits_for_beacons() {
    let mut run = Run::new(&document("", "power_save = \"u-apsd\""), 1);
    let delays = run.downlink(1_000, Duration::from_secs(10));
    let mean = mean(&delays);
    assert!((mean - BEACON / 2.0).abs() < 3.0, "{mean} ms");
    assert!(max(&delays) < BEACON + AIR);
}

/// A service period of 4 ms each 40 ms. A packet that comes outside of it (in 36 of 40 ms) waits for the
/// next one, 18 ms on average: 16.2 ms together, with a standard error of 0.3 ms for 2000. In both
/// directions no delay exceeds the interval.
#[test]
fn twt_delivers_in_service_periods() {
    let power_save = "power_save = { mode = \"twt\", twt_interval = \"40 ms\", twt_service_period = \"4 ms\" }";
    for down in [true, false] {
        let mut run = Run::new(&document("", power_save), 1);
        let mut phase = Seed(9).stream("phase", 0);
        for number in 0..2_000 {
            let gap = phase.duration_below(Duration::from_millis(100));
            run.send(Instant::from_millis(500 * number) + gap, down);
        }
        run.advance(Instant::from_secs(1_001));
        let delays: Vec<f64> = run.packets.iter().map(|(_, delay)| delay.unwrap()).collect();
        let (mean, longest) = (mean(&delays), max(&delays));
        assert!((mean - 16.2).abs() < 1.2, "{mean} ms");
        assert!((35.0..=40.0).contains(&longest), "{longest} ms");
    }
}

/// A bulk transfer to a station with any mode is complete: nothing is lost, and nothing stays.
#[test]
fn bursts_are_delivered_completely() {
    for mode in ["legacy", "u-apsd", "twt"] {
        for down in [true, false] {
            let mut run = Run::new(&document("queue = \"fq-mac\"", &format!("power_save = \"{mode}\"")), 1);
            for burst in 0..20 {
                for _ in 0..200 {
                    run.send(Instant::from_millis(1_000 + 777 * burst), down);
                }
            }
            run.advance(Instant::from_secs(60));
            let lost = run.packets.iter().filter(|(_, delay)| delay.is_none()).count();
            assert_eq!(lost, 0, "{mode}, down: {down}");
        }
    }
}

/// Without queues per station, the access point keeps 64 packets of a category (`STA_MAX_TX_BUFFER`):
/// of 100 that come at once, it drops 36.
#[test]
fn buffers_of_a_sleeping_station_are_limited() {
    let mut run = Run::new(&document("queue = \"fifo\"", "power_save = \"legacy\""), 1);
    for _ in 0..100 {
        run.send(Instant::from_secs(1), true);
    }
    run.advance(Instant::from_secs(2));
    let lost = run.packets.iter().filter(|(_, delay)| delay.is_none()).count();
    assert_eq!(lost, 36);
}

/// A queue that replaces another one while a station dozes keeps its packets apart as well: the four
/// places of the driver's lists stay free for the other station.
#[test]
fn a_new_queue_knows_the_sleeping_stations() {
    let text = "baseline = \"0 s\"\n[ap.x]\nqueue = \"fifo\"\ndriver_queue = 4\n[ap.x.radio.5g]\n[station.s]\njoins = \"x.5g\"\n\
                mcs = 5\npower_save = { listen_interval = 20 }\n[station.t]\njoins = \"x.5g\"\nmcs = 5\n[[at]]\n\
                time = \"500 ms\"\nset = { \"ap.x.queue\" = \"pfifo-fast\" }\n";
    let mut run = Run::new(&Document::from_toml("two.toml", text).unwrap(), 1);
    for number in 0..20 {
        run.send_to(Instant::from_millis(600 + number), if number < 10 { 0 } else { 1 });
    }
    run.advance(Instant::from_secs(4));
    for (number, (_, delay)) in run.packets.iter().enumerate() {
        let delay = delay.unwrap();
        assert!(number < 10 || delay < AIR, "packet {number}: {delay} ms");
    }
    // The station did doze.
    assert!(
        max(&run.packets[..10]
            .iter()
            .map(|(_, delay)| delay.unwrap())
            .collect::<Vec<_>>())
            > 50.0
    );
}

/// The access point leaves for 100 ms after 1, 2, 3 … s. Packets to the station wait for its return.
/// Those of the station are lost: the window of AC_VO grows to 7 slots only, so ten tries without an
/// acknowledgement take less than 10 × (34 + 63 + 250 µs), about 4 ms.
#[test]
fn an_access_point_that_scans_delays_and_loses_packets() {
    let mut run = Run::new(&document("scan_interval = \"1 s\"\nscan_away = \"100 ms\"", ""), 1);
    for number in 0..5_000 {
        run.send(Instant::from_millis(10 + number), number % 2 == 0);
    }
    run.advance(Instant::from_secs(6));
    let (mut longest, mut lost) = ([0.0_f64; 2], [0; 2]);
    for (index, (sent, delay)) in run.packets.iter().enumerate() {
        let during = sent.as_nanos() >= 1_000_000_000 && sent.as_nanos() % 1_000_000_000 < 100_000_000;
        match delay {
            None => lost[index % 2] += 1,
            Some(delay) if during => longest[index % 2] = longest[index % 2].max(*delay),
            // Those behind them in the queue wait a little.
            Some(delay) => assert!(*delay < 30.0, "{sent:?}: {delay} ms"),
        }
    }
    let [down, up] = longest;
    assert!((97.0..103.0).contains(&down), "{down} ms");
    assert!(up < 103.0, "{up} ms");
    assert_eq!(lost[0], 0);
    // Four absences with 50 packets each, and one with five. Those of the last 4 ms may survive.
    assert!((4 * 46..=205).contains(&lost[1]), "{lost:?}");
}

/// The mirror image of [`an_access_point_that_scans_delays_and_loses_packets`]: a station that leaves for 100 ms after 1, 2, 3 …
/// s. Its own packets wait for its return. Those to it are lost, unless it announces its absence.
#[test]
fn a_station_that_leaves_its_channel_loses_packets_unless_it_announces_that() {
    for announced in [false, true] {
        let station = format!("absence = {{ interval = \"1 s\", length = \"100 ms\", announced = {announced} }}");
        let mut run = Run::new(&document("", &station), 1);
        for number in 0..5_000 {
            run.send(Instant::from_millis(10 + number), number % 2 == 0);
        }
        run.advance(Instant::from_secs(6));
        let (mut longest, mut lost) = ([0.0_f64; 2], [0; 2]);
        for (index, (sent, delay)) in run.packets.iter().enumerate() {
            let during = sent.as_nanos() >= 1_000_000_000 && sent.as_nanos() % 1_000_000_000 < 100_000_000;
            match delay {
                None => lost[index % 2] += 1,
                Some(delay) if during => longest[index % 2] = longest[index % 2].max(*delay),
                // Those behind them in the queue wait a little.
                Some(delay) => assert!(*delay < 30.0, "{sent:?}: {delay} ms"),
            }
        }
        let [down, up] = longest;
        assert!((97.0..103.0).contains(&up), "{up} ms");
        assert_eq!(lost[1], 0);
        if announced {
            assert!((97.0..103.0).contains(&down), "{down} ms");
            assert_eq!(lost[0], 0);
        } else {
            assert!((4 * 46..=205).contains(&lost[0]), "{lost:?}");
        }
    }
}

/// A beacon that is due while the access point is away is not sent: the packet waits for another.
#[test]
fn an_access_point_that_is_away_sends_no_beacons() {
    let ap = "scan_interval = \"400 ms\"\nscan_away = \"200 ms\"";
    let mut run = Run::new(&document(ap, "power_save = \"legacy\""), 1);
    let delays = run.downlink(300, Duration::from_secs(10));
    let longest = max(&delays);
    // One or two beacons of four are missing.
    assert!(
        (2.0 * BEACON - 10.0..3.0 * BEACON + AIR).contains(&longest),
        "{longest} ms"
    );
}

/// Scans of a client and power save share the receiver. A station with a roaming policy scans each
/// 300 s with `linux`, and dozes in between: every packet arrives, the delays are those of a sleeper,
/// and during scans at most those of the longest absence more.
#[test]
fn scans_and_dozing_exclude_each_other() {
    let text = "baseline = \"0 s\"\n[network.home]\nradios = [\"x.5g\", \"y.5g\"]\n[ap.x.radio.5g]\n[ap.y.radio.5g]\n\
                channel = 149\n[station.s]\njoins = \"home\"\nsignal = \"-60 dBm\"\nroaming = \"linux\"\n";
    for mode in ["legacy", "u-apsd", "twt"] {
        let mut document = Document::from_toml("roams.toml", text).unwrap();
        document.set("station.s.power_save", mode).unwrap();
        for radio in ["ap.x.radio.5g.standard", "ap.y.radio.5g.standard"] {
            document.set(radio, "802.11ax").unwrap();
        }
        let mut run = Run::new(&document, 1);
        let delays = run.downlink(4_000, Duration::from_millis(500));
        assert!(!run.scans.is_empty());
        let during = |sent: Instant| {
            let near =
                |(at, length): &(Instant, Duration)| sent + Duration::from_millis(200) >= *at && sent <= *at + *length;
            run.scans.iter().any(near)
        };
        let limit = if mode == "twt" { 65.536 + AIR } else { BEACON + AIR };
        for ((sent, _), delay) in run.packets.iter().zip(&delays) {
            let limit = if during(*sent) { limit + 130.0 } else { limit };
            assert!(*delay <= limit, "{mode}, {sent:?}: {delay} ms");
        }
    }
}

/// Other stations' traffic makes the wait longer, but loses nothing. The same seed gives the same result.
#[test]
fn deterministic() {
    let delays = |seed| {
        let mut run = Run::new(&document("", "power_save = \"legacy\""), seed);
        run.downlink(100, Duration::from_secs(1))
    };
    assert_eq!(delays(3), delays(3));
    assert_ne!(delays(3), delays(4));
}

/// TWT came with 802.11ax, QoS with 802.11n.
#[test]
fn modes_need_a_standard() {
    let error = |station: &str, standard: &str| {
        let mut document = document("", station);
        document.set("station.s.standard", standard).unwrap();
        Network::<()>::new(&document.resolve().unwrap())
            .map(|_| ())
            .unwrap_err()
    };
    let twt = error("power_save = \"twt\"", "802.11ac");
    assert!(matches!(twt, NetworkError::PowerSave { .. }));
    assert_eq!(
        twt.to_string(),
        "station.s: `power_save = \"twt\"` needs 802.11ax or later; the link has 802.11ac"
    );
    assert!(matches!(
        error("power_save = \"u-apsd\"", "802.11a"),
        NetworkError::PowerSave { .. }
    ));
}
