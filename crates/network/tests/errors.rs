//! Errors of invalid plans name the section and the valid values.

use netburn_network::{Network, NetworkError};
use netburn_scenario::{Plan, load};

/// The built-in `four-uses`, with these keys changed and nothing else checked.
fn plan(change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = load("four-uses").unwrap().resolve().unwrap();
    change(&mut plan);
    plan
}

fn error(change: impl FnOnce(&mut Plan)) -> String {
    Network::<()>::new(&plan(change)).unwrap_err().to_string()
}

#[test]
fn the_unchanged_plan_is_valid() {
    assert!(Network::<()>::new(&plan(|_| {})).is_ok());
}

#[test]
fn an_mcs_that_the_width_and_streams_do_not_have() {
    use netburn_medium::config::{LinkQuality, Width};
    let message = error(|plan| {
        plan.aps[0].radios[0].width = Some(Width::Mhz20);
        plan.stations[0].air.quality = Some(LinkQuality::Mcs(9));
    });
    assert!(
        message.contains("station.laptop") && message.contains("MCS 9") && message.contains("0 to 8"),
        "{message}"
    );
}

#[test]
fn a_channel_without_that_width() {
    use netburn_medium::config::Width;
    let message = error(|plan| {
        plan.aps[0].radios[0].channel = 132;
        plan.aps[0].radios[0].width = Some(Width::Mhz160);
    });
    assert!(
        message.contains("home.5g: invalid channel: found 132 with 160 MHz, expected at most 80 MHz"),
        "{message}"
    );
    let message = error(|plan| plan.aps[0].radios[0].channel = 6);
    assert!(message.contains("found 6 ") && message.contains("36, 40"), "{message}");
}

/// A signal that is too weak is a result and no error.
#[test]
fn a_signal_below_every_rate() {
    use netburn_medium::config::LinkQuality;
    use netburn_units::Dbm;
    let plan = plan(|plan| plan.stations[1].air.quality = Some(LinkQuality::Signal(Dbm::from_dbm(-99))));
    let found = Network::<()>::new(&plan).unwrap().out_of_range();
    let [found] = &found[..] else { panic!("{found:?}") };
    // By hand: 174 − 10 log 20 000 000 − 7 is a noise of −94 dBm, and the slowest rate needs 3.4 dB.
    assert_eq!(
        found.to_string(),
        "station.tv has no connection to home.5g: its signal is -99 dBm, and the slowest rate needs -90.5 dBm. All of its \
         operations will fail. Place it nearer, or let it join a radio on 2.4 GHz."
    );
}

/// Each error names the section or the key, so that the message can show its place in the file.
#[test]
fn errors_have_a_path() {
    use netburn_medium::config::{LinkQuality, QueueLimit, Standard};
    let path = |change: &dyn Fn(&mut Plan)| Network::<()>::new(&plan(change)).unwrap_err().path();
    assert_eq!(path(&|plan| plan.aps[0].radios[0].channel = 6), "ap.home.radio.5g");
    assert_eq!(
        path(&|plan| plan.aps[0].queue_limit = QueueLimit::Packets(0)),
        "ap.home"
    );
    assert_eq!(
        path(&|plan| plan.stations[0].air.standard = Some(Standard::G)),
        "station.laptop.standard"
    );
    assert_eq!(
        path(&|plan| plan.stations[0].air.quality = Some(LinkQuality::Mcs(40))),
        "station.laptop"
    );
    assert_eq!(
        path(&|plan| plan.aps[0].rating = Some("AC101".parse().unwrap())),
        "ap.home.rating"
    );
}

#[test]
fn a_queue_of_length_zero() {
    use netburn_medium::config::QueueLimit;
    let message = error(|plan| plan.aps[0].queue_limit = QueueLimit::Packets(0));
    assert!(message.contains("ap.home") && message.contains("length 0"), "{message}");
}

#[test]
fn an_access_point_without_radios() {
    let message = error(|plan| plan.aps[0].radios.clear());
    assert!(
        message.contains("ap.home: missing radio") && message.contains("rating"),
        "{message}"
    );
}

#[test]
fn a_rating_without_a_combination_of_radios() {
    let message = error(|plan| plan.aps[0].rating = Some("AC101".parse().unwrap()));
    assert!(message.contains("ap.home") && message.contains("AC101"), "{message}");
}

#[test]
fn a_station_without_a_common_standard() {
    use netburn_medium::config::Standard;
    let message = error(|plan| plan.stations[0].air.standard = Some(Standard::G));
    assert!(
        message.contains("does not support 802.11g") && message.contains("802.11ac"),
        "{message}"
    );
}

#[test]
fn a_station_without_joins_or_quality() {
    let message = error(|plan| plan.stations[0].air.joins = None);
    assert!(message.contains("joins = \"home.5g\""), "{message}");
    let message = error(|plan| plan.stations[0].air.quality = None);
    assert!(message.contains("signal = "), "{message}");
}

#[test]
fn a_change_of_an_unknown_section() {
    use netburn_scenario::plan::{ApSetting, Change, Setting};
    use netburn_units::{BitRate, Duration};
    let bad = plan(|plan| {
        plan.changes.push(Change {
            time: Duration::from_secs(1),
            settings: vec![Setting::Ap(
                "none".to_owned(),
                ApSetting::Forwarding(BitRate::from_mbps(1)),
            )],
        });
    });
    let error = Network::<()>::new(&bad).unwrap_err();
    assert!(matches!(error, NetworkError::UnknownSetting { .. }), "{error}");
}

#[test]
fn a_change_to_an_mcs_that_the_link_does_not_have() {
    use netburn_medium::config::LinkQuality;
    use netburn_scenario::plan::{Change, Setting, StationSetting};
    use netburn_units::Duration;
    let message = error(|plan| {
        plan.changes.push(Change {
            time: Duration::from_secs(1),
            settings: vec![Setting::Station(
                plan.stations[0].name.clone(),
                StationSetting::Quality(LinkQuality::Mcs(11)),
            )],
        });
    });
    assert!(
        message.contains("[[at]] station.laptop.mcs with 802.11ac")
            && message.contains("MCS 11")
            && message.contains("0 to 9"),
        "{message}"
    );
}

/// 802.11a has eight rates, 0 to 7; a larger number is not clamped.
#[test]
fn a_rate_index_beyond_a_standard_without_mcs() {
    use netburn_medium::config::{LinkQuality, Standard};
    let message = error(|plan| {
        plan.stations[0].air.standard = Some(Standard::A);
        plan.stations[0].air.quality = Some(LinkQuality::Mcs(8));
    });
    assert!(
        message.contains("station.laptop") && message.contains("0 to 7"),
        "{message}"
    );
}

/// Each of 66 stations is hidden from the next: no two hear the same stations, and the access point
/// hears all.
#[test]
fn too_many_hearing_groups() {
    let message = error(|plan| {
        let like = plan.stations[0].clone();
        plan.stations = (0..66)
            .map(|number| {
                let mut station = like.clone();
                station.name = format!("s{number}");
                station.air.hidden_from = (number > 0).then(|| format!("s{}", number - 1)).into_iter().collect();
                station
            })
            .collect();
    });
    assert!(
        message.contains("home.5g") && message.contains("found 67") && message.contains("64"),
        "{message}"
    );
}
