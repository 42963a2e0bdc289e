//! Signals of the plan over time, and changes of positions.

use super::WALK;
use netburn_network::{ClientEventKind, Network};
use netburn_scenario::plan::{Setting, StationSetting};
use netburn_scenario::{Document, Plan};
use netburn_units::{Dbm, Duration, Instant};

/// Two radios, and a station with signals.
fn plan(station: &str) -> Plan {
    let text = format!(
        "duration = \"30 s\"\n[network.home]\nradios = [\"hall.5g\", \"attic.5g\"]\nk = true\n\
         [ap.hall]\nradio.5g = {{ channel = 36 }}\n[ap.attic]\nradio.5g = {{ channel = 149 }}\n[station.phone]\n{station}\n"
    );
    Document::from_toml("signals.toml", &text).unwrap().resolve().unwrap()
}

/// Lets time pass until `until`. Returns the moves: begin in ms, and the radio.
fn pass(network: &mut Network<()>, until: Instant) -> Vec<(u64, String)> {
    let mut moves = Vec::new();
    while let Some((at, _)) = network.poll_timeout().filter(|(at, _)| *at <= until) {
        network.handle_timeout(at);
        while network.poll_output().is_some() {}
        while let Some(event) = network.poll_client_event() {
            if let ClientEventKind::Roamed { to, .. } = event.kind {
                moves.push((event.at.since(Instant::ZERO).as_millis(), to));
            }
        }
    }
    moves
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_nanos((seconds * 1e9) as u64)
}

/// -50 dBm at 5 s and -70 dBm at 15 s: 2 dB per second. The signals are at most 100 ms old, so 0.2 dB.
#[test]
fn signals_follow_their_points() {
    let mut network = Network::new(&plan(
        "joins = \"hall.5g\"\nsignals = { \"hall.5g\" = [\"5 s: -50 dBm\", \"15 s: -70 dBm\"] }",
    ))
    .unwrap();
    for (seconds, dbm) in [
        (1.0, -50.0),
        (5.0, -50.0),
        (10.05, -60.0),
        (14.05, -68.0),
        (15.2, -70.0),
        (25.0, -70.0),
    ] {
        pass(&mut network, at(seconds));
        let signal = network.link_stats(0).signal.unwrap().as_dbm_f64();
        assert!((signal - dbm).abs() <= 0.3, "{seconds} s: {signal} for {dbm}");
    }
}

/// The signal of the hall falls by 2 dB per second and passes -65 dBm after 10 s; that of the attic is -55 dBm. The
/// average of the beacons follows within six beacons (0.61 s), and the scan of two channels takes 120 ms.
#[test]
fn a_station_with_signals_roams() {
    let signals = "signals = { \"hall.5g\" = [\"0 s: -45 dBm\", \"20 s: -85 dBm\"], \"attic.5g\" = \"-55 dBm\" }";
    let mut network = Network::new(&plan(&format!(
        "joins = \"home\"\nradio_selection = \"strongest\"\nroaming = {{ policy = \"linux\", neighbour_reports = true }}\n{signals}"
    )))
    .unwrap();
    assert_eq!(network.joined(0).unwrap(), "hall.5g");
    let moves = pass(&mut network, at(30.0));
    let [(begin, to)] = &moves[..] else { panic!("{moves:?}") };
    assert_eq!(to, "attic.5g");
    assert!((10_000..=11_100).contains(begin), "{begin} ms");
    // Without a policy it stays.
    let mut network = Network::new(&plan(&format!(
        "joins = \"home\"\nradio_selection = \"strongest\"\n{signals}"
    )))
    .unwrap();
    assert_eq!(pass(&mut network, at(30.0)), []);
    assert_eq!(network.link_stats(0).signal, Some(Dbm::from_dbm(-85)));
}

fn walk(changes: &str, settings: &[(&str, &str)]) -> Plan {
    let mut document = Document::from_toml("walk.toml", &format!("{WALK}\n{changes}")).unwrap();
    for (key, value) in settings {
        document.set(key, value).unwrap();
    }
    document.resolve().unwrap()
}

/// The station stands beside the hall's access point (2 m) until it is moved beside that of the attic (22 m) after 5 s:
/// four walls and 20 m lie between, so the signal falls below -65 dBm at once.
#[test]
fn a_change_of_the_position_moves_a_station_at_once() {
    let change = "[[at]]\ntime = \"5 s\"\nset = { \"station.phone.position\" = \"21 m, 0 m\" }";
    let plan = walk(change, &[("network.home.k", "true")]);
    let mut network = Network::<()>::new(&plan).unwrap();
    assert_eq!(pass(&mut network, at(4.9)), []);
    // 1 m/s from 2 m.
    let position = network.position(0).unwrap();
    assert!((6_700..=6_900).contains(&position.x), "{position}");
    let moves = pass(&mut network, at(30.0));
    assert_eq!(network.position(0).unwrap().to_string(), "21 m, 0 m");
    let [(begin, to)] = &moves[..] else { panic!("{moves:?}") };
    assert_eq!(to, "attic.5g");
    assert!((5_000..=6_500).contains(begin), "{begin} ms");
}

/// A station that does not roam has the signal of its new position: TGax, 5 GHz, 20 dBm. 1 m: 20 − 46.85 dBm; 10 m
/// without walls: 40.05 + 6.80 + 13.98 + 35 log10(2) = 71.37 dB.
#[test]
fn a_station_without_roaming_keeps_its_radio() {
    let text = "[ap.hall]\nposition = \"0 m, 0 m\"\nradio.5g = { power = \"20 dBm\" }\n[station.phone]\njoins = \"hall.5g\"\nposition = \"1 m, 0 m\"\n";
    let plan = Document::from_toml("one.toml", text).unwrap().resolve().unwrap();
    let mut network = Network::<()>::new(&plan).unwrap();
    let signal = |network: &Network<()>| network.link_stats(0).signal.unwrap().as_dbm_f64();
    assert!((signal(&network) + 26.85).abs() < 0.06, "{}", signal(&network));
    let position = netburn_medium::geometry::Position {
        x: 10_000,
        y: 0,
        floor: 0,
    };
    let set = Setting::Station("phone".to_owned(), StationSetting::Position(position));
    network.set(at(1.0), &set);
    assert!((signal(&network) + 51.37).abs() < 0.06, "{}", signal(&network));
    assert_eq!(network.position(0), Some(position));
    // 6 dB less power: 6 dB less signal.
    let radio = netburn_scenario::plan::RadioRef {
        ap: "hall".to_owned(),
        radio: netburn_scenario::plan::RadioName::first(netburn_medium::config::Band::Ghz5),
    };
    let power = netburn_scenario::plan::RadioSetting::Power(Dbm::from_dbm(14));
    network.set(at(2.0), &Setting::Radio(radio, power));
    assert!((signal(&network) + 57.37).abs() < 0.06, "{}", signal(&network));
}

/// A fixed signal replaces the positions of a station that roams.
#[test]
fn a_fixed_signal_ends_a_walk() {
    let plan = walk("", &[]);
    let mut network = Network::<()>::new(&plan).unwrap();
    let signal = Dbm::from_dbm(-60);
    let quality = netburn_medium::config::LinkQuality::Signal(signal);
    network.set(
        at(1.0),
        &Setting::Station("phone".to_owned(), StationSetting::Quality(quality)),
    );
    pass(&mut network, at(20.0));
    assert_eq!(network.link_stats(0).signal, Some(signal));
    assert_eq!(network.position(0), None);
}
