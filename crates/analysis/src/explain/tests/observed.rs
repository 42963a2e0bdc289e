//! Causes that only the values of an observed access point show.

use super::*;
use netburn_record::row::{BASELINE_LINE, BASELINE_NEAR};
use netburn_record::{Bssid, Observable, ObservedRow};

/// Devices of the access point: the laptop (station 0), the tablet (1), and one that takes no part.
const LAPTOP: (Option<u16>, u8) = (Some(0), 1);
const TABLET: (Option<u16>, u8) = (Some(1), 2);
const OTHER: (Option<u16>, u8) = (None, 3);

/// A value in each second of the load. `part` is an interface or a queue.
fn observed(
    part: Option<&'static str>,
    device: Option<(Option<u16>, u8)>,
    quantity: Observable,
    value: i64,
) -> impl Iterator<Item = Row> {
    (1..=20).map(move |second| {
        Row::Observed(ObservedRow {
            access_point: "hall".into(),
            at: Instant::from_secs(second),
            span: Duration::from_secs(1),
            part: part.map(str::to_owned),
            station: device.and_then(|(station, _)| station),
            address: device.map(|(_, last)| Bssid([2, 0, 0, 0, 0, last])),
            quantity,
            value,
        })
    })
}

/// Airtime of a device on `wlan0` in each second, in ms. A thousandth of it is that of the other direction.
fn airtime(device: (Option<u16>, u8), ms: i64) -> impl Iterator<Item = Row> {
    let down = observed(Some("wlan0"), Some(device), Observable::AirtimeDown, ms * 1_000_000);
    down.chain(observed(Some("wlan0"), Some(device), Observable::AirtimeUp, ms * 1_000))
        .chain(observed(Some("wlan0"), None, Observable::Frequency, 5180))
}

/// Share of the time in which the channel of `wlan0` was busy, in percent.
fn survey(percent: i64) -> impl Iterator<Item = Row> {
    let on_channel = observed(Some("wlan0"), None, Observable::OnChannel, 1_000_000_000);
    let frequency = observed(Some("wlan0"), None, Observable::Frequency, 5180);
    let busy = observed(Some("wlan0"), None, Observable::Busy, percent * 10_000_000);
    on_channel.chain(frequency).chain(busy)
}

/// A call of the laptop that misses its goal, with the data that both move. Browsers have no samples of links.
fn bad_call() -> Vec<Row> {
    let late = (0..190).map(|n| frame(n * 100, 300));
    late.chain(moved(0, 1)).chain(moved(1, 20)).collect()
}

/// The same with values of an access point that was sampled in each second.
fn with(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let samples = observed(None, None, Observable::ObserverResponse, 20_000_000);
    bad_call().into_iter().chain(rows).chain(samples).collect()
}

#[test]
fn a_slow_neighbour_of_browsers_is_found_by_the_airtime_of_the_access_point() {
    // Without the access point, nothing is known of the links.
    assert_eq!(causes_of(&bad_call(), &[]), []);
    let causes = causes_of(
        &with(airtime(LAPTOP, 5).chain(airtime(TABLET, 900)).chain(survey(95))),
        &[],
    );
    assert_eq!(kinds(&causes), [Kind::SlowNeighbour], "{causes:#?}");
    assert_eq!(causes[0].by, ["tablet"]);
    assert!(
        causes[0]
            .evidence
            .contains("tablet used 99.4 % of the airtime for 95.2 % of the data (")
            && !causes[0].evidence.contains("estimated"),
        "{}",
        causes[0].evidence
    );
    // A fast tablet that needs little airtime is no cause.
    let causes = causes_of(
        &with(airtime(LAPTOP, 5).chain(airtime(TABLET, 40)).chain(survey(10))),
        &[],
    );
    assert_eq!(causes, []);
}

#[test]
fn a_measured_airtime_replaces_the_estimate() {
    // By its link rates the tablet uses 95 % of the air. The access point counts 4 %.
    let links = || link(0, 866, 0, 900_000).chain(link(1, 30, 0, 900_000));
    let estimated = causes_of(&with(links()), &[]);
    assert_eq!(kinds(&estimated), [Kind::SlowNeighbour]);
    let counted = airtime(LAPTOP, 5).chain(airtime(TABLET, 40));
    assert_eq!(causes_of(&with(links().chain(counted)), &[]), []);
}

#[test]
fn airtime_is_estimated_from_the_rates_of_an_access_point_without_airtime() {
    let device = |device, rate: i64, mbps: i64| {
        let rate = observed(Some("wlan0"), Some(device), Observable::RateDown, rate * 1_000_000);
        rate.chain(observed(
            Some("wlan0"),
            Some(device),
            Observable::BytesDown,
            mbps * 125_000,
        ))
    };
    let rows = device(LAPTOP, 866, 1).chain(device(TABLET, 30, 20)).chain(survey(96));
    let causes = causes_of(&with(rows), &[]);
    assert_eq!(kinds(&causes), [Kind::SlowNeighbour], "{causes:#?}");
    assert!(causes[0].evidence.contains("estimated"), "{}", causes[0].evidence);
}

#[test]
fn a_device_that_takes_no_part_is_found() {
    let shares = |other| {
        airtime(LAPTOP, 5)
            .chain(airtime(TABLET, 60))
            .chain(airtime(OTHER, other))
    };
    let causes = causes_of(&with(shares(800).chain(survey(92))), &[]);
    assert_eq!(kinds(&causes), [Kind::OtherDevice], "{causes:#?}");
    assert_eq!(causes[0].stations, ["laptop"]);
    assert!(causes[0].title.contains("02:00:00:00:00:03"), "{}", causes[0].title);
    assert!(
        causes[0].evidence.contains("80.1 % of the time"),
        "{}",
        causes[0].evidence
    );
    // On a channel that is not full it delays nothing. Nor does a device that uses little.
    assert_eq!(causes_of(&with(shares(400).chain(survey(50))), &[]), []);
    let little = causes_of(&with(shares(100).chain(survey(20))), &[]);
    assert_eq!(little, []);
}

#[test]
fn other_networks_are_what_the_survey_has_beside_the_stations() {
    // 95 % busy, of which the stations used 7 %.
    let busy = airtime(LAPTOP, 10).chain(airtime(TABLET, 60)).chain(survey(95));
    let causes = causes_of(&with(busy), &[]);
    assert_eq!(kinds(&causes), [Kind::FullBand], "{causes:#?}");
    // The stations themselves fill the channel, and neither is slow.
    let own = airtime(LAPTOP, 45).chain(airtime(TABLET, 900)).chain(survey(95));
    assert!(!kinds(&causes_of(&with(own), &[])).contains(&Kind::FullBand));
}

#[test]
fn a_full_shaper_is_found_by_its_queue() {
    let shaper = |sent_mbps: i64, drops| {
        let queue = Some("eth1 cake");
        let rate = observed(queue, None, Observable::ShaperRate, 5_000_000);
        let sent = observed(queue, None, Observable::QueueSent, sent_mbps * 125_000);
        rate.chain(sent)
            .chain(observed(queue, None, Observable::QueueDrops, drops))
    };
    // The laptop moves 4 Mbit/s more, which are most of what the shaper sends.
    let own = || moved(0, 4).filter(|row| matches!(row, Row::Interval(_)));
    let causes = causes_of(&with(shaper(5, 3).chain(own())), &[]);
    assert_eq!(kinds(&causes), [Kind::Shaper], "{causes:#?}");
    assert_eq!(
        (&causes[0].stations[..], &causes[0].by[..]),
        (&["laptop".to_owned()][..], &["hall".to_owned()][..])
    );
    assert!(
        causes[0].evidence.contains("dropped 60 packets"),
        "{}",
        causes[0].evidence
    );
    // A shaper with room, one that drops nothing, and one that is full of the traffic of others.
    assert_eq!(causes_of(&with(shaper(2, 3).chain(own())), &[]), []);
    assert_eq!(causes_of(&with(shaper(5, 0).chain(own())), &[]), []);
    assert_eq!(causes_of(&with(shaper(5, 3)), &[]), []);
}

/// The laptop downloads 18 Mbit/s, which fill the line. Its shaper is set to 50 Mbit/s, so it never fills.
#[test]
fn a_shaper_above_the_rate_of_the_line_is_named_with_the_queue() {
    let plan = r#"
duration = "20 s"
[station.laptop]
workload = ["download", "near", "line"]
[workload.near]
kind = "probe"
target = "near"
[workload.line]
kind = "probe"
target = "line"
goal = "50 ms"
"#;
    let shaper = |rate_mbps: i64, sent_mbps: i64| {
        let queue = Some("ifb0 cake");
        observed(queue, None, Observable::ShaperRate, rate_mbps * 1_000_000).chain(observed(
            queue,
            None,
            Observable::QueueSent,
            sent_mbps * 125_000,
        ))
    };
    let rows = |shaper: &mut dyn Iterator<Item = Row>| -> Vec<Row> {
        let probes = (-30..190).flat_map(|n| {
            let took = if n < 0 { 12 } else { 150 };
            [operation(0, 1, n * 100, 2), operation(0, 2, n * 100, took)]
        });
        let idle = (-30..0).flat_map(|n| {
            [(BASELINE_NEAR, 2), (BASELINE_LINE, 12)].map(|(workload, took)| operation(0, workload, n * 100, took))
        });
        let rows = probes
            .chain(idle)
            .chain(moved(0, 18))
            .chain(link(0, 866, 50_000, 50_000));
        rows.chain(shaper).collect()
    };
    let named = |rows: &[Row]| explained(plan, rows, &[]).causes;
    let causes = named(&rows(&mut shaper(50, 19)));
    assert_eq!(kinds(&causes), [Kind::LineDown, Kind::Shaper], "{causes:#?}");
    assert!(
        causes[1].title.contains("above the rate of the line"),
        "{}",
        causes[1].title
    );
    // A shaper that is full, one of other traffic, and none.
    let is_above = |cause: &Cause| cause.title.contains("above the rate");
    for mut shaper in [shaper(20, 19), shaper(50, 2), shaper(50, 40)] {
        assert!(!named(&rows(&mut shaper)).iter().any(is_above));
    }
    assert_eq!(kinds(&named(&rows(&mut std::iter::empty()))), [Kind::LineDown]);
}

#[test]
fn a_busy_processor_is_found() {
    let processor = |ppm| observed(None, None, Observable::ProcessorBusy, ppm);
    let causes = causes_of(&with(processor(990_000)), &[]);
    assert_eq!(kinds(&causes), [Kind::Router], "{causes:#?}");
    assert!(causes[0].title.contains("The processor of hall"), "{}", causes[0].title);
    assert_eq!(causes_of(&with(processor(700_000)), &[]), []);
}

#[test]
fn a_station_that_is_not_recognised_could_be_the_other_device() {
    let rows = airtime(LAPTOP, 5).chain(airtime(OTHER, 800)).chain(survey(92));
    assert!(!kinds(&causes_of(&with(rows), &[])).contains(&Kind::OtherDevice));
}

#[test]
fn an_increase_belongs_to_all_the_time_that_it_covers() {
    // One sample after 16 s, in which the tablet used 90 % of the air.
    let late = |quantity, part: Option<&str>, device: Option<(Option<u16>, u8)>, value| {
        Row::Observed(ObservedRow {
            access_point: "hall".into(),
            at: Instant::from_secs(17),
            span: Duration::from_secs(16),
            part: part.map(str::to_owned),
            station: device.and_then(|(station, _)| station),
            address: device.map(|(_, last)| Bssid([2, 0, 0, 0, 0, last])),
            quantity,
            value,
        })
    };
    let wlan = Some("wlan0");
    let rows = [
        late(Observable::Frequency, wlan, None, 5180),
        late(Observable::AirtimeDown, wlan, Some(LAPTOP), 80_000_000),
        late(Observable::AirtimeUp, wlan, Some(LAPTOP), 1_000),
        late(Observable::AirtimeDown, wlan, Some(TABLET), 14_400_000_000),
        late(Observable::AirtimeUp, wlan, Some(TABLET), 1_000),
        late(Observable::OnChannel, wlan, None, 16_000_000_000),
        late(Observable::Busy, wlan, None, 15_200_000_000),
        late(Observable::ObserverResponse, None, None, 20_000_000),
    ];
    let rows: Vec<Row> = bad_call().into_iter().chain(rows).collect();
    assert_eq!(kinds(&causes_of(&rows, &[])), [Kind::SlowNeighbour]);
}

#[test]
fn nothing_is_named_when_all_goals_are_met() {
    let good = (0..190).map(|n| frame(n * 100, 20)).chain(moved(1, 20));
    let rows = good
        .chain(airtime(OTHER, 900))
        .chain(airtime(LAPTOP, 5))
        .chain(survey(99))
        .chain(observed(None, None, Observable::ProcessorBusy, 1_000_000));
    assert_eq!(causes_of(&rows.collect::<Vec<_>>(), &[]), []);
}
