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
fn the_plan_itself_is_good() {
    assert!(Network::<()>::new(&plan(|_| {})).is_ok());
}

#[test]
fn an_mcs_that_the_width_and_streams_do_not_have() {
    use netburn_medium::config::{LinkQuality, Width};
    let told = error(|plan| {
        plan.aps[0].radios[0].width = Some(Width::Mhz20);
        plan.stations[0].air.quality = Some(LinkQuality::Mcs(9));
    });
    assert!(
        told.contains("station.laptop") && told.contains("MCS 9") && told.contains("0 to 8"),
        "{told}"
    );
}

#[test]
fn a_channel_without_that_width() {
    use netburn_medium::config::Width;
    let told = error(|plan| {
        plan.aps[0].radios[0].channel = 132;
        plan.aps[0].radios[0].width = Some(Width::Mhz160);
    });
    assert!(
        told.contains("home.5g: invalid channel: found 132 with 160 MHz, expected at most 80 MHz"),
        "{told}"
    );
    let told = error(|plan| plan.aps[0].radios[0].channel = 6);
    assert!(told.contains("found 6 ") && told.contains("36, 40"), "{told}");
}

#[test]
fn a_signal_below_every_rate() {
    use netburn_medium::config::LinkQuality;
    use netburn_units::Dbm;
    let told = error(|plan| plan.stations[1].air.quality = Some(LinkQuality::Signal(Dbm::from_dbm(-99))));
    assert!(
        told.contains("station.tv") && told.contains("-99 dBm") && told.contains("valid:"),
        "{told}"
    );
}

#[test]
fn a_queue_of_length_zero() {
    use netburn_medium::config::QueueLimit;
    let told = error(|plan| plan.aps[0].queue_limit = QueueLimit::Packets(0));
    assert!(told.contains("ap.home") && told.contains("length 0"), "{told}");
}

#[test]
fn an_access_point_without_radios() {
    let told = error(|plan| plan.aps[0].radios.clear());
    assert!(
        told.contains("ap.home: missing radio") && told.contains("rating"),
        "{told}"
    );
}

#[test]
fn a_rating_without_a_combination_of_radios() {
    let told = error(|plan| plan.aps[0].rating = Some("AC101".parse().unwrap()));
    assert!(told.contains("ap.home") && told.contains("AC101"), "{told}");
}

#[test]
fn a_station_without_a_common_standard() {
    use netburn_medium::config::Standard;
    let told = error(|plan| plan.stations[0].air.standard = Some(Standard::G));
    assert!(
        told.contains("does not support 802.11g") && told.contains("802.11ac"),
        "{told}"
    );
}

#[test]
fn a_station_without_joins_or_quality() {
    let told = error(|plan| plan.stations[0].air.joins = None);
    assert!(told.contains("joins = \"home.5g\""), "{told}");
    let told = error(|plan| plan.stations[0].air.quality = None);
    assert!(told.contains("signal = "), "{told}");
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
    let told = error(|plan| {
        plan.changes.push(Change {
            time: Duration::from_secs(1),
            settings: vec![Setting::Station(
                plan.stations[0].name.clone(),
                StationSetting::Quality(LinkQuality::Mcs(11)),
            )],
        });
    });
    assert!(
        told.contains("[[at]] station.laptop.mcs with 802.11ac") && told.contains("MCS 11") && told.contains("0 to 9"),
        "{told}"
    );
}

/// 802.11a has eight rates, 0 to 7; a larger number is not clamped.
#[test]
fn an_mcs_that_is_no_rate_of_a_standard_without_mcs() {
    use netburn_medium::config::{LinkQuality, Standard};
    let told = error(|plan| {
        plan.stations[0].air.standard = Some(Standard::A);
        plan.stations[0].air.quality = Some(LinkQuality::Mcs(8));
    });
    assert!(told.contains("station.laptop") && told.contains("0 to 7"), "{told}");
}

/// Each of 66 stations is hidden from the next: no two hear the same stations, and the access point
/// hears all.
#[test]
fn too_many_hearing_groups() {
    let told = error(|plan| {
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
        told.contains("home.5g") && told.contains("found 67") && told.contains("64"),
        "{told}"
    );
}
