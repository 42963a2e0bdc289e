//! Link rates far below what the signal permits, as fleets report them.

use super::*;
use netburn_record::{Bssid, Modulation, Observable, ObservedRow, Phy};

/// Link of the television in each second, with the rate of its frames.
fn television_link(signal_dbm: i32, frames: Modulation, mbps: impl Fn(i64) -> u64) -> Vec<Row> {
    let sample = |second: i64| {
        Row::Link(LinkRow {
            at: Instant::from_secs(second),
            signal: Some(signal_dbm * 100),
            rx_rate_bps: Some(mbps(second) * 1_000_000),
            tx_rate_bps: Some(mbps(second) * 1_000_000),
            frequency_mhz: Some(5180),
            rx: frames,
            tx: frames,
            ..LinkRow::default()
        })
    };
    (0..20).map(sample).collect()
}

/// Causes of a television that receives 3 of 20 Mbit/s in each second for which `moves` is true.
fn television(link: Vec<Row>, moves: impl Fn(i64) -> bool) -> Vec<Cause> {
    let data = moved(0, 3).filter(|row| matches!(row, Row::Interval(row) if moves(row.at.as_nanos() / 1_000_000_000)));
    let rows: Vec<Row> = [operation(0, 0, 0, 20)].into_iter().chain(link).chain(data).collect();
    explained(TELEVISION, &rows, &[]).causes
}

/// The rate sets of 802.11-2020 tables 17-4 and 19-27: 802.11a has 54 Mbit/s, 802.11n with two streams in 40 MHz has 300. Both
/// need less than −60 dBm (table 17-18: −65 dBm for 54 Mbit/s; table 19-23: −61 dBm for MCS 15).
#[test]
fn a_rate_far_below_the_signal_is_a_cause() {
    let unknown = Modulation::default();
    let n = Modulation {
        phy: Some(Phy::Ht),
        nss: Some(2),
        width_mhz: Some(40),
        ..unknown
    };
    let causes = television(television_link(-48, unknown, |_| 6), |_| true);
    assert_eq!(kinds(&causes), [Kind::SlowRate], "{causes:#?}");
    assert_eq!(
        causes[0].evidence,
        "netburn measured a mean rate of 6.0 Mbit/s for the frames to tv, at a signal of -48 dBm or more. Even 10 dB less \
         permits 54.0 Mbit/s. 4kstream needs 20.0 Mbit/s. tv's 4kstream met `every 2 s ≥ 20 Mbit/s` for 0 %."
    );
    assert_eq!(
        kinds(&television(television_link(-48, n, |_| 13), |_| true)),
        [Kind::SlowRate]
    );
    // A device that may have 54 Mbit/s at most uses a third of it. A device with 300 Mbit/s uses a twentieth.
    assert_eq!(television(television_link(-48, unknown, |_| 18), |_| true), []);
    assert_eq!(
        kinds(&television(television_link(-48, n, |_| 18), |_| true)),
        [Kind::SlowRate]
    );
    // The link carries 35 Mbit/s, so the stream does not miss its goal because of it.
    assert_eq!(television(television_link(-48, n, |_| 50), |_| true), []);
    // With this signal no rate is far too low.
    assert_eq!(
        kinds(&television(television_link(-84, n, |_| 13), |_| true)),
        [Kind::WeakSignal]
    );
}

/// Between the data of a device, the last frame is one of management, at 6 Mbit/s.
#[test]
fn rates_without_data_tell_nothing() {
    let frames = Modulation::default();
    let even = |second: i64| second % 2 == 0;
    let idle = television_link(-48, frames, |second| if even(second) { 54 } else { 6 });
    assert_eq!(television(idle, even), []);
    let all = television_link(-48, frames, |_| 6);
    assert_eq!(kinds(&television(all.clone(), even)), [Kind::SlowRate]);
    // Four seconds with data are too few.
    assert_eq!(television(all.clone(), |second| second < 4), []);
    // Samples are as rare as that.
    assert_eq!(television(all.into_iter().take(4).collect(), |_| true), []);
}

/// A browser reports no link. The access point does.
#[test]
fn an_access_point_reports_the_rate_of_a_device() {
    let value = |quantity, value: i64, is_of_device: bool| {
        (1..=20).map(move |second| {
            Row::Observed(ObservedRow {
                access_point: "hall".into(),
                at: Instant::from_secs(second),
                span: Duration::from_secs(1),
                part: Some("wlan0".to_owned()),
                station: is_of_device.then_some(0),
                address: is_of_device.then_some(Bssid([2, 0, 0, 0, 0, 1])),
                quantity,
                value,
            })
        })
    };
    let with = |frequency: i64, mbps: i64, signal: i64| {
        let rate = value(Observable::RateDown, mbps * 1_000_000, true);
        let signal = value(Observable::Signal, signal * 100, true);
        let all = rate.chain(signal).chain(value(Observable::Frequency, frequency, false));
        television(all.collect(), |_| true)
    };
    let causes = with(5180, 6, -50);
    assert_eq!(kinds(&causes), [Kind::SlowRate], "{causes:#?}");
    assert!(
        causes[0].evidence.starts_with("The access point reports"),
        "{}",
        causes[0].evidence
    );
    // At 2.4 GHz the device may support 802.11b only, so 11 Mbit/s may be all that it has.
    assert_eq!(kinds(&with(2437, 1, -50)), [Kind::SlowRate]);
    assert_eq!(with(2437, 11, -50), []);
    assert_eq!(with(5180, 6, -84), []);
}
