use super::link::Link;
use super::{Adapter, fuzz};
use netburn_platform::wifi::nl80211::recording::{self, Observation};
use netburn_platform::wifi::{Channel, Event, Generation, Interface, LinkSample, Mac, Rate, Station, Survey};
use netburn_record::{Bssid, Detail, EventKind, EventRow, LinkChange, LinkRow, Phy, Row};
use netburn_traffic::clock::RunClock;
use netburn_units::{Duration, Instant};
use std::path::Path;
use tokio::sync::mpsc;

const A: Mac = Mac([2, 0, 0, 0, 1, 0]);
const B: Mac = Mac([2, 0, 0, 0, 2, 0]);

fn ms(at: i64) -> Instant {
    Instant::from_millis(at)
}

fn sample(mac: Mac, mbps: u64) -> LinkSample {
    let rate = Rate {
        bps: Some(mbps * 1_000_000),
        generation: Some(Generation::Vht),
        ..Rate::default()
    };
    LinkSample {
        interface: Interface {
            ssid: Some(b"home".to_vec()),
            channel: Some(Channel {
                frequency_mhz: 5180,
                width_mhz: Some(80),
                centre_mhz: Some(5210),
            }),
            ..Interface::default()
        },
        station: Some(Station {
            mac: Some(mac),
            signal_dbm: Some(-61),
            tx: rate,
            rx: rate,
            ..Station::default()
        }),
        survey: None,
    }
}

fn rows(link: &mut Link) -> Vec<Row> {
    std::iter::from_fn(|| link.poll_row()).collect()
}

fn events(rows: &[Row]) -> Vec<&EventRow> {
    let events = rows.iter().filter_map(|row| match row {
        Row::Event(event) => Some(event),
        _ => None,
    });
    events.collect()
}

/// Events, with times and lengths in ms.
fn reported(link: &mut Link) -> Vec<(EventKind, i64, u64, String)> {
    let rows = rows(link);
    let reported = events(&rows).into_iter().map(|event| {
        let (at, length) = (event.at.as_nanos() / 1_000_000, event.length / 1_000_000);
        (event.kind, at, length, event.detail.text().into_owned())
    });
    reported.collect()
}

/// Traffic up to 990 ms, lost at 1000, reconnected at 1200, traffic from 1340 on.
#[test]
fn a_roam_has_the_gap_that_traffic_felt() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    for at in 0..100 {
        link.handle_bytes(ms(at * 10), at as u64 * 1000);
    }
    link.handle_event(
        ms(1000),
        Event::Disconnected {
            index: 3,
            reason: Some(4),
            by_ap: true,
        },
    );
    link.handle_event(
        ms(1200),
        Event::Connected {
            index: 3,
            bssid: Some(B),
            status: 0,
        },
    );
    link.handle_bytes(ms(1320), 99_000);
    assert_eq!(reported(&mut link), []);
    link.handle_bytes(ms(1340), 99_100);
    let text = "moved from 02:00:00:00:01:00 to 02:00:00:00:02:00; nothing arrived for 350 ms".to_owned();
    assert_eq!(reported(&mut link), [(EventKind::Roam, 990, 350, text)]);
    link.handle_sample(ms(2000), sample(B, 400));
    link.handle_bytes(ms(2010), 100_000);
    assert_eq!(reported(&mut link), [], "once is enough");
}

/// A scan lasts from its start to its results. Results without a start, such as those of another program's request for
/// old results, are no scan.
#[test]
fn a_scan_is_an_event() {
    let mut link = Link::new(vec![0]);
    let ended = |aborted| Event::ScanEnded { index: 3, aborted };
    link.handle_event(ms(500), ended(false));
    link.handle_event(ms(1000), Event::ScanStarted { index: 3 });
    assert_eq!(reported(&mut link), []);
    link.handle_event(ms(9000), ended(false));
    link.handle_event(ms(10_000), Event::ScanStarted { index: 3 });
    link.handle_event(ms(10_400), ended(true));
    link.handle_event(ms(20_000), Event::ScanStarted { index: 3 });
    link.handle_end(ms(21_000));
    let scans = [
        (EventKind::Scan, 1000, 8000, "scanned".to_owned()),
        (EventKind::Scan, 10_000, 400, "scanned; the scan was aborted".to_owned()),
        (EventKind::Scan, 20_000, 1000, "was scanning at the end".to_owned()),
    ];
    assert_eq!(reported(&mut link), scans);
}

/// Programs decide by the typed data, which names the access points.
#[test]
fn a_roam_names_both_access_points() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_bytes(ms(100), 1);
    link.handle_bytes(ms(120), 2);
    let bssid = Some(B);
    link.handle_event(ms(180), Event::Roamed { index: 3, bssid });
    link.handle_bytes(ms(200), 3);
    let rows = rows(&mut link);
    let events = events(&rows);
    let Detail::Link(event) = &events[0].detail else {
        panic!("no typed data: {:?}", events[0]);
    };
    let roamed = LinkChange::Roamed {
        from: Some("02:00:00:00:01:00".to_owned()),
        to: Some("02:00:00:00:02:00".to_owned()),
    };
    assert_eq!(event.change, roamed);
}

/// The event arrives after the end, as with fast transition: traffic stopped before it.
#[test]
fn a_roam_without_a_loss_has_a_gap_too() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_bytes(ms(100), 1);
    link.handle_bytes(ms(120), 2);
    link.handle_event(
        ms(180),
        Event::Roamed {
            index: 3,
            bssid: Some(B),
        },
    );
    link.handle_bytes(ms(200), 3);
    let reported = reported(&mut link);
    assert_eq!(
        (reported[0].0, reported[0].1, reported[0].2),
        (EventKind::Roam, 120, 80)
    );
}

#[test]
fn an_idle_roam_is_as_long_as_the_kernel_reports() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_bytes(ms(0), 1);
    link.handle_bytes(ms(20), 2);
    link.handle_event(
        ms(5000),
        Event::Disconnected {
            index: 3,
            reason: None,
            by_ap: false,
        },
    );
    link.handle_event(
        ms(5300),
        Event::Connected {
            index: 3,
            bssid: Some(B),
            status: 0,
        },
    );
    link.handle_bytes(ms(7400), 2);
    let reported = reported(&mut link);
    assert_eq!(
        (reported[0].0, reported[0].1, reported[0].2),
        (EventKind::Roam, 5000, 300)
    );
    assert!(reported[0].3.ends_with("there was no traffic"), "{reported:?}");
}

#[test]
fn a_change_of_bssid_between_samples_is_a_roam() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_sample(ms(1000), sample(B, 400));
    link.handle_end(ms(1500));
    let reported = reported(&mut link);
    assert_eq!(reported[0].0, EventKind::Roam);
    assert!(
        reported[1]
            .3
            .contains("access point 02:00:00:00:01:00, then 02:00:00:00:02:00"),
        "{reported:?}"
    );
}

#[test]
fn a_loss_of_the_same_access_point_is_no_roam() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_event(
        ms(1000),
        Event::Disconnected {
            index: 3,
            reason: Some(3),
            by_ap: false,
        },
    );
    link.handle_event(
        ms(2000),
        Event::Connected {
            index: 3,
            bssid: None,
            status: 17,
        },
    );
    link.handle_event(
        ms(3000),
        Event::Connected {
            index: 3,
            bssid: Some(A),
            status: 0,
        },
    );
    link.handle_end(ms(3500));
    let lost = "lost 02:00:00:00:01:00 (reason 3) and reconnected to it; there was no traffic".to_owned();
    assert_eq!(reported(&mut link), [(EventKind::Warning, 1000, 2000, lost)]);
}

#[test]
fn a_link_that_stays_disconnected_is_reported_at_the_end() {
    let mut link = Link::new(vec![0]);
    link.handle_sample(ms(0), sample(A, 400));
    link.handle_event(
        ms(1000),
        Event::Disconnected {
            index: 3,
            reason: Some(3),
            by_ap: false,
        },
    );
    link.handle_sample(
        ms(2000),
        LinkSample {
            station: None,
            ..sample(A, 400)
        },
    );
    link.handle_end(ms(9000));
    let lost_link = "lost its network (reason 3) and was disconnected at the end".to_owned();
    assert_eq!(reported(&mut link), [(EventKind::Warning, 1000, 8000, lost_link)]);
}

#[test]
fn a_row_contains_the_drivers_values_and_the_shares_of_a_second() {
    let mut link = Link::new(vec![7]);
    let survey = |active, busy, sending| Survey {
        frequency_mhz: Some(5180),
        noise_dbm: Some(-95),
        in_use: true,
        active_ms: Some(active),
        busy_ms: Some(busy),
        receiving_ms: None,
        sending_ms: Some(sending),
    };
    let with = |survey| LinkSample {
        survey: Some(survey),
        ..sample(A, 400)
    };
    link.handle_sample(ms(0), with(survey(5000, 1000, 10)));
    link.handle_sample(ms(1000), with(survey(6000, 1430, 10)));
    link.handle_sample(ms(2000), with(survey(10, 5, 0)));
    let rows = rows(&mut link);
    let links: Vec<&LinkRow> = rows
        .iter()
        .map(|row| match row {
            Row::Link(row) => row,
            _ => panic!("{row:?}"),
        })
        .collect();
    let second = links[1];
    assert_eq!((second.station, second.at, second.signal), (7, ms(1000), Some(-6100)));
    assert_eq!((second.ssid.as_deref(), second.bssid), (Some("home"), Some(Bssid(A.0))));
    assert_eq!(
        (second.frequency_mhz, second.width_mhz, second.noise),
        (Some(5180), Some(80), Some(-9500))
    );
    assert_eq!((second.tx.phy, second.tx_rate_bps), (Some(Phy::Vht), Some(400_000_000)));
    // 430 of 1000 ms.
    assert_eq!(
        (second.busy_ppm, second.receiving_ppm, second.sending_ppm),
        (Some(430_000), None, Some(0))
    );
    assert_eq!(links[0].busy_ppm, None, "there is no second before the first");
    assert_eq!(links[2].busy_ppm, None, "the counter restarted");
}

#[test]
fn any_ssid_becomes_readable() {
    let mut link = Link::new(vec![0]);
    let mut odd = sample(A, 400);
    odd.interface.ssid = Some([&b"\x1b[2J\xff"[..], &[0xce; 40]].concat());
    link.handle_sample(ms(0), odd);
    let Some(Row::Link(row)) = link.poll_row() else {
        panic!("a look is a row")
    };
    let ssid = row.ssid.unwrap();
    assert!(
        ssid.starts_with("\u{fffd}[2J\u{fffd}") && ssid.len() <= LinkRow::MAX_SSID,
        "{ssid:?}"
    );
}

#[test]
fn a_collapse_and_a_changed_link_are_recorded_for_every_station() {
    let mut link = Link::new(vec![0, 1]);
    for second in 0..12 {
        link.handle_sample(ms(second * 1000), sample(A, 400));
    }
    for second in 12..17 {
        link.handle_sample(ms(second * 1000), sample(A, 40));
    }
    link.handle_end(ms(17_000));
    let reported = reported(&mut link);
    let (fell, changed) = (&reported[0], &reported[2]);
    assert_eq!((fell.0, fell.1, fell.2), (EventKind::Rate, 12_000, 4_000));
    assert_eq!(fell.3, "its rate to the access point fell to 40 Mbit/s (median 400)");
    assert_eq!((changed.0, changed.1, changed.2), (EventKind::Warning, 0, 17_000));
    assert!(
        changed.3.contains("rate to the access point 400 Mbit/s, then 40"),
        "{changed:?}"
    );
    assert_eq!(reported.len(), 4);
}

#[test]
fn a_disappeared_interface_is_reported() {
    let mut link = Link::new(vec![0]);
    link.handle_presence(ms(1000), "wlan1", false);
    link.handle_presence(ms(2000), "wlan1", false);
    link.handle_presence(ms(4000), "wlan1", true);
    link.handle_presence(ms(5000), "wlan1", false);
    link.handle_end(ms(9000));
    let back = "its interface wlan1 was missing for a while".to_owned();
    let lost_link = "its interface wlan1 disappeared and was missing at the end".to_owned();
    assert_eq!(
        reported(&mut link),
        [
            (EventKind::Warning, 1000, 3000, back),
            (EventKind::Warning, 5000, 4000, lost_link)
        ]
    );
}

/// Rows of a recorded link. A recording has no interface counters; the access point's counters replace them.
fn replay(entries: &[recording::Entry], station: u16) -> Vec<Row> {
    let mut link = Link::new(vec![station]);
    let mut rows = Vec::new();
    let instant = |at: u64| Instant::from_nanos(at.try_into().unwrap());
    for (at, observation) in recording::observations(entries) {
        match observation {
            Observation::Event(event) => link.handle_event(instant(at), event),
            Observation::Sample(sample) => {
                if let Some(bytes) = sample.station.and_then(|station| station.rx_bytes) {
                    link.handle_bytes(instant(at), bytes);
                }
                link.handle_sample(instant(at), *sample);
            }
        }
        rows.extend(std::iter::from_fn(|| link.poll_row()));
    }
    link.handle_end(instant(entries.iter().map(|entry| entry.at).max().unwrap_or(0)));
    rows.extend(std::iter::from_fn(|| link.poll_row()));
    rows
}

/// Output of an independent encoder for five drivers, in sequence.
#[test]
fn a_recording_becomes_rows() {
    let text = include_str!("../../platform/tests/nl80211/encoded.wifi");
    let entries = recording::read(text).unwrap();
    let rows = replay(&entries, 4);
    let links: Vec<&LinkRow> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Link(row) => Some(row),
            _ => None,
        })
        .collect();
    assert_eq!(links.len(), 3, "an interface each");
    assert_eq!(links[0].ssid.as_deref(), Some("Café"));
    assert_eq!(events(&rows).last().unwrap().kind, EventKind::Warning);
}

#[test]
fn a_missing_interface_is_an_error_and_one_without_wifi_a_note() {
    let localhost = [127, 0, 0, 1].into();
    let why = Adapter::find(Some("no-such0"), localhost).unwrap_err();
    assert!(why.contains("unknown interface `no-such0`"), "{why}");
    let (tell, mut reported) = mpsc::unbounded_channel();
    let loopback = Adapter::find(None, localhost).unwrap();
    let note = loopback.note().unwrap();
    assert!(note.starts_with("no Wi-Fi samples: lo isn't Wi-Fi"), "{note}");
    let none = loopback.watch(vec![0], RunClock::starting_now(), tell.clone()).unwrap();
    assert!(none.is_none(), "there is nothing to look at");
    let bound = Adapter::find(Some("lo"), localhost).unwrap();
    let watching = bound.watch(vec![0], RunClock::starting_now(), tell).unwrap();
    watching.expect("whether it stays").end();
    assert!(reported.try_recv().is_err(), "it stayed");
}

#[test]
fn any_sequence_of_events_is_handled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/link");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        fuzz::check(&std::fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 12, "{count}");
    let mut chance = netburn_units::Seed(5).stream("wifi", 0);
    for _ in 0..3_000 {
        let noise: Vec<u8> = (0..chance.below(200)).map(|_| chance.next_u64() as u8).collect();
        fuzz::check(&noise);
    }
}

/// An interruption is never longer than the time without traffic, and never negative, for any times of the
/// events.
#[test]
fn a_gap_lies_between_bytes() {
    let mut chance = netburn_units::Seed(6).stream("gaps", 0);
    for _ in 0..500 {
        let mut link = Link::new(vec![0]);
        link.handle_sample(ms(0), sample(A, 400));
        let last = 500 + chance.below(400) as i64;
        let lost = last + chance.below(300) as i64;
        let back = lost + chance.below(800) as i64;
        let first = back + 1 + chance.below(900) as i64;
        for at in (0..=last).step_by(20) {
            link.handle_bytes(ms(at), at as u64 + 1);
        }
        let seen = last / 20 * 20;
        link.handle_event(
            ms(lost),
            Event::Disconnected {
                index: 1,
                reason: None,
                by_ap: false,
            },
        );
        link.handle_event(
            ms(back),
            Event::Roamed {
                index: 1,
                bssid: Some(B),
            },
        );
        link.handle_bytes(ms(first), 10_000);
        let reported = reported(&mut link);
        assert_eq!(reported.len(), 1);
        assert_eq!((reported[0].1, reported[0].2 as i64), (seen, first - seen));
        assert!(Duration::from_millis(reported[0].2) >= Duration::from_millis((first - lost) as u64));
    }
}
