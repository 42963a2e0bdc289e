//! Rows of an access point, from the sessions of the corpus.

use netburn_access_point::snapshot::{Snapshot, describe, radios};
use netburn_access_point::syslog::LogReading;
use netburn_access_point::transcript::Transcript;
use netburn_access_point::{AccessPointTelemetry, Addresses, fuzz};
use netburn_record::{AccessPointEvent, Detail, Observable, ObservedRow, Row};
use netburn_units::{Duration, Instant};
use std::path::{Path, PathBuf};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/session")
}

/// Rows of a recorded session, one sample per second. 192.168.77.11 is station 0 of the plan, and .12 is station 1.
fn rows(session: &str) -> Vec<Row> {
    let mut transcript = Transcript::new("w");
    transcript.push(session.as_bytes()).unwrap();
    let stations = [("192.168.77.11", 0), ("192.168.77.12", 1)];
    let addresses = Addresses::new(stations.map(|(address, station)| (address.parse().unwrap(), station)));
    let mut telemetry = AccessPointTelemetry::new("hall", addresses);
    let mut rows = Vec::new();
    let mut second = 0;
    while let Some(answer) = transcript.next_answer() {
        let now = Instant::from_secs(second);
        match answer.request.as_str() {
            "about" => telemetry.handle_description(now, describe(&answer), radios(&answer)),
            "sample" => {
                telemetry.handle_sample(now, Snapshot::from_answer(&answer), Duration::from_millis(20));
                second += 1;
            }
            "radios" => telemetry.handle_radios(now, radios(&answer)),
            "log" => telemetry.handle_log(now, LogReading::from_answer(&answer)),
            _ => {}
        }
        rows.extend(std::iter::from_fn(|| telemetry.poll_row()));
    }
    rows
}

fn recorded() -> String {
    std::fs::read_to_string(corpus().join("hwsim")).unwrap()
}

fn values(rows: &[Row], quantity: Observable) -> Vec<&ObservedRow> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Observed(row) if row.quantity == quantity => Some(row),
            _ => None,
        })
        .collect()
}

fn events(rows: &[Row]) -> Vec<&AccessPointEvent> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Event(row) => match &row.detail {
                Detail::AccessPoint(event) => Some(&**event),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// The session was recorded with an upload of one station and pings of another.
#[test]
fn a_virtual_access_point() {
    let rows = rows(&recorded());
    let [AccessPointEvent::Described { facts, .. }] = events(&rows)[..] else {
        panic!("{:?}", events(&rows));
    };
    assert_eq!(facts["wlan0 ssid"], "netburn-test");
    assert_eq!(facts["wlan0 driver"], "mac80211_hwsim");
    assert_eq!(facts["wlan0 channel"], "6 (2437 MHz), width: 20 MHz, center1: 2437 MHz");
    assert_eq!(facts["wlan0 type"], "AP");
    assert_eq!(values(&rows, Observable::Power)[0].value, 2000);
    assert_eq!(values(&rows, Observable::Frequency)[0].value, 2437);
    let signals = values(&rows, Observable::Signal);
    // Three stations in three samples. Only two of them take part.
    assert_eq!(signals.len(), 9);
    assert!(signals.iter().all(|row| row.value == -3000));
    let stations: Vec<Option<u16>> = signals[..3].iter().map(|row| row.station).collect();
    assert_eq!(stations, [Some(0), Some(1), None]);
    // The counters of the recorded text: the increase from one sample to the next.
    let up = values(&rows, Observable::BytesUp);
    assert_eq!(up.len(), 6);
    let counters: Vec<i64> = recorded()
        .lines()
        .filter_map(|line| line.trim().strip_prefix("rx bytes:")?.trim().parse().ok())
        .collect();
    let increases: Vec<i64> = (3..9).map(|place| counters[place] - counters[place - 3]).collect();
    assert_eq!(up.iter().map(|row| row.value).collect::<Vec<_>>(), increases);
    assert!(increases[0] > 100_000, "{increases:?}");
    // The shaper of 5 Mbit/s was full.
    let rates = values(&rows, Observable::ShaperRate);
    assert!(
        rates
            .iter()
            .all(|row| row.value == 5_000_000 && row.part.as_deref() == Some("lan cake"))
    );
    let sent: i64 = values(&rows, Observable::QueueSent)
        .iter()
        .filter(|row| row.part.as_deref() == Some("lan cake"))
        .map(|row| row.value)
        .sum();
    assert!(sent > 500_000, "{sent}");
    // hwsim reports no airtime.
    assert!(values(&rows, Observable::AirtimeDown).is_empty());
}

/// A session as OpenWrt on a Linksys E8450 prints it, written by hand.
#[test]
fn an_openwrt_router() {
    let rows = rows(&std::fs::read_to_string(corpus().join("openwrt")).unwrap());
    let [AccessPointEvent::Described { facts, .. }] = events(&rows)[..] else {
        panic!("{:?}", events(&rows));
    };
    assert_eq!(facts["model"], "Linksys E8450 (UBI)");
    assert_eq!(facts["system"], "OpenWrt 24.10.2 r28739-d9340319c6");
    assert_eq!(facts["iw"], "iw version 6.9");
    assert_eq!(facts["phy0-ap1 ssid"], "guests");
    assert_eq!(facts["phy0-ap0 driver"], "mt798x-wmac");
    assert_eq!(facts["sqm.eth1.download"], "85000");
    let second = |quantity| -> Vec<i64> { values(&rows, quantity).iter().map(|row| row.value).collect() };
    assert_eq!(second(Observable::AirtimeDown), [300_000_000; 2]);
    assert_eq!(second(Observable::AirtimeUp), [2_000_000; 2]);
    assert_eq!(second(Observable::AirtimePending), [100_000, 200_000, 300_000]);
    assert_eq!(second(Observable::RetriesDown), [7; 2]);
    assert_eq!(second(Observable::BytesDown), [1_000_000; 2]);
    assert_eq!(second(Observable::RateDown)[0], 866_700_000);
    assert_eq!(second(Observable::OnChannel), [1_000_000_000; 2]);
    assert_eq!(second(Observable::Busy), [400_000_000; 2]);
    // 80 of 110 ticks.
    assert_eq!(second(Observable::ProcessorBusy), [727_272; 2]);
    assert_eq!(second(Observable::SoftnetDropped), [1; 2]);
    assert_eq!(second(Observable::ObserverProcessor), [200_000_000; 2]);
    assert!(
        values(&rows, Observable::Signal)
            .iter()
            .all(|row| row.station == Some(0))
    );
}

#[test]
fn a_change_of_the_channel_is_an_event_and_in_the_rows_from_then_on() {
    let session = std::fs::read_to_string(corpus().join("openwrt")).unwrap();
    // Between the second and the third sample, as `iw dev` prints it after a switch (iw 6.9).
    let dev = "\nw dev\nphy#0\n\tInterface phy0-ap0\n\t\tchannel 100 (5500 MHz), width: 160 MHz, center1: 5570 MHz\n\
        \t\ttxpower 20.00 dBm\n\nw end radios\n";
    let (before, last) = session
        .trim_end()
        .strip_suffix("w end sample")
        .unwrap()
        .rsplit_once("w end sample\n")
        .unwrap();
    let rows = rows(&format!("{before}w end sample\n{dev}{last}w end sample\n"));
    let [
        _,
        AccessPointEvent::ChannelChanged {
            interface,
            frequency_mhz: 5500,
            width_mhz: Some(160),
            ..
        },
    ] = events(&rows)[..]
    else {
        panic!("{:?}", events(&rows));
    };
    assert_eq!(interface, "phy0-ap0");
    let widths: Vec<(i64, i64)> = values(&rows, Observable::Width)
        .iter()
        .filter(|row| row.part.as_deref() == Some("phy0-ap0"))
        .map(|row| (row.at.as_nanos() / 1_000_000_000, row.value))
        .collect();
    assert_eq!(widths, [(0, 80), (2, 160)]);
}

#[test]
fn a_station_that_uses_only_ipv6_is_recognised() {
    let session = std::fs::read_to_string(corpus().join("openwrt")).unwrap();
    let mut transcript = Transcript::new("w");
    let neighbours = "w neighbours\nfd00::11 dev br-lan lladdr 02:00:00:00:01:00 REACHABLE\n\nw end sample\n";
    let session = session.replacen("w end sample\n", neighbours, 1);
    transcript.push(session.as_bytes()).unwrap();
    let addresses = Addresses::new([("fd00::11".parse().unwrap(), 3)]);
    let mut telemetry = AccessPointTelemetry::new("hall", addresses);
    for second in 0.. {
        let Some(answer) = transcript.next_answer() else { break };
        if answer.request == "sample" {
            telemetry.handle_sample(
                Instant::from_secs(second),
                Snapshot::from_answer(&answer),
                Duration::ZERO,
            );
        }
    }
    let rows: Vec<Row> = std::iter::from_fn(|| telemetry.poll_row()).collect();
    let signals = values(&rows, Observable::Signal);
    assert_eq!(signals.len(), 3);
    assert!(signals.iter().all(|row| row.station == Some(3)));
}

/// A session whose log has the messages of hostapd, usteer and DAWN.
#[test]
fn the_log_names_the_station_of_each_event() {
    let rows = rows(&std::fs::read_to_string(corpus().join("log")).unwrap());
    let logged: Vec<(Option<u16>, String)> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Event(row) => Some((row.station, row.detail.text().into_owned())),
            _ => None,
        })
        .collect();
    let of = |station, text: &str| (station, format!("log of access point hall: {text}"));
    assert_eq!(
        logged,
        [
            of(
                Some(0),
                "wl0-ap0: 02:00:00:00:01:00: usteer wants it to use another radio, because its signal is weak"
            ),
            of(
                Some(0),
                "wl0-ap0: 02:00:00:00:01:00: refused to move: it knows no better radio"
            ),
            of(Some(0), "wl1-ap0: 02:00:00:00:01:00: connected"),
            of(Some(0), "wl1-ap0: 02:00:00:00:01:00: moved here from wl0-ap0"),
            of(None, "wl1-ap0: radar detected at 5580 MHz"),
            of(
                None,
                "02:00:00:00:09:00: DAWN wants it to use another radio, because its rate is low"
            ),
        ]
    );
}

/// Some drivers clear their counters when they are read (ath10k).
#[test]
fn a_survey_whose_counters_decrease_has_no_increase() {
    let session = std::fs::read_to_string(corpus().join("openwrt")).unwrap();
    let session = session.replace("channel busy time:\t\t1200 ms", "channel busy time:\t\t100 ms");
    let rows = rows(&session);
    assert_eq!(values(&rows, Observable::OnChannel).len(), 1);
    assert_eq!(values(&rows, Observable::Busy).len(), 1);
}

#[test]
fn a_missing_uptime_is_no_restart() {
    let session = std::fs::read_to_string(corpus().join("openwrt")).unwrap();
    let rows = rows(&session.replace("1003.00 1.00", "garbage"));
    assert_eq!(events(&rows).len(), 1, "{:?}", events(&rows));
    assert_eq!(values(&rows, Observable::BytesDown).len(), 2);
}

#[test]
fn a_restart_is_an_event_and_no_increase() {
    let session = recorded();
    let (before, last) = session.rsplit_once("==> /proc/uptime <==\n").unwrap();
    let (_, after) = last.split_once('\n').unwrap();
    let session = format!("{before}==> /proc/uptime <==\n1.00 1.00\n{after}");
    let rows = rows(&session);
    assert!(
        matches!(events(&rows).last(), Some(AccessPointEvent::Restarted { .. })),
        "{:?}",
        events(&rows)
    );
    // Three stations, and only one pair of samples without a restart between them.
    assert_eq!(values(&rows, Observable::BytesUp).len(), 3);
}

#[test]
fn a_station_that_joins_again_is_an_event_and_no_increase() {
    let session = recorded();
    let at = session.rfind("Station 02:00:00:00:02:00").unwrap();
    let (before, after) = session.split_at(at);
    let (lines, rest) = after.split_once("connected time:").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    let rows = rows(&format!("{before}{lines}connected time:\t0 seconds\n{rest}"));
    let changes: Vec<String> = events(&rows)[1..].iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        [
            "left wlan0 of access point hall (02:00:00:00:02:00)",
            "joined wlan0 of access point hall (02:00:00:00:02:00)"
        ]
    );
    assert_eq!(values(&rows, Observable::BytesUp).len(), 5);
}

#[test]
fn a_loss_is_one_event_until_the_return() {
    let mut telemetry = AccessPointTelemetry::new("hall", Addresses::default());
    for second in 0..3 {
        telemetry.handle_lost(Instant::from_secs(second), "the connection ended");
    }
    telemetry.handle_description(Instant::from_secs(4), Default::default(), Vec::new());
    telemetry.handle_lost(Instant::from_secs(5), "it did not answer in time");
    telemetry.handle_description(Instant::from_secs(9), Default::default(), Vec::new());
    let rows: Vec<Row> = std::iter::from_fn(|| telemetry.poll_row()).collect();
    let texts: Vec<String> = events(&rows).iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "access point hall can't be observed: the connection ended",
            "access point hall",
            "access point hall is no longer observed: it did not answer in time",
            "access point hall is observed again"
        ]
    );
}

#[test]
fn the_corpus_breaks_no_law() {
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        fuzz::check(&bytes);
        // Torn at any place, and with changed bytes.
        for cut in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
            fuzz::check(&bytes[..cut]);
            let mut changed = bytes.clone();
            changed[cut] ^= 0x15;
            fuzz::check(&changed);
        }
    }
}
