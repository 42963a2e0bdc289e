//! Entry point for a fuzzer: bytes as samples, events and counters of a link.

use super::link::Link;
use netburn_platform::wifi::{Channel, Event, LinkSample, Mac, Rate, Station, Survey};
use netburn_record::{EventKind, Row};
use netburn_units::{Duration, Instant};

/// Drives a link with the bytes, two per step.
///
/// # Panics
/// If an event ends in the future, or a sample produces no row.
pub fn check(bytes: &[u8]) {
    let mut link = Link::new(vec![3, 5]);
    let mut now = Instant::from_millis(-1000);
    let (mut received, mut samples, mut rows) = (0_u64, 0, Vec::new());
    for step in bytes.chunks_exact(2) {
        let [what, how] = [step[0], step[1]];
        now += Duration::from_millis(u64::from(how) * 7);
        let mac = |number: u8| (number & 3 != 0).then_some(Mac([2, 0, 0, 0, 0, number & 3]));
        match what % 8 {
            0 if how & 16 != 0 => link.handle_event(now, Event::ScanStarted { index: 1 }),
            2 if how & 16 != 0 => {
                let aborted = how & 1 != 0;
                link.handle_event(now, Event::ScanEnded { index: 1, aborted });
            }
            0 => link.handle_event(
                now,
                Event::Disconnected {
                    index: 1,
                    reason: (how & 1 != 0).then_some(3),
                    by_ap: false,
                },
            ),
            1 => link.handle_event(
                now,
                Event::Roamed {
                    index: 1,
                    bssid: mac(how),
                },
            ),
            2 => link.handle_event(
                now,
                Event::Connected {
                    index: 1,
                    bssid: mac(how),
                    status: u16::from(how >> 7),
                },
            ),
            3 => {
                let channel = Channel {
                    frequency_mhz: 5180,
                    width_mhz: None,
                    centre_mhz: None,
                };
                link.handle_event(now, Event::Switched { index: 1, channel });
            }
            4 => link.handle_presence(now, "wlan0", how & 1 != 0),
            5 => {
                // Counters may restart at zero.
                received = if how == 255 { 0 } else { received + u64::from(how / 32) };
                link.handle_bytes(now, received);
            }
            _ => {
                samples += 1;
                let rate = |byte: u8| Rate {
                    bps: Some(u64::from(byte) * 6_000_000),
                    ..Rate::default()
                };
                let station = Station {
                    mac: mac(how),
                    tx: rate(what / 8),
                    ..Station::default()
                };
                let times = u64::from(how) * u64::from(what);
                let survey = Survey {
                    active_ms: Some(times),
                    busy_ms: Some(times / 3 + u64::from(how)),
                    ..Survey::default()
                };
                let sample = LinkSample {
                    station: (how != 0).then_some(station),
                    survey: (how & 4 != 0).then_some(survey),
                    ..LinkSample::default()
                };
                link.handle_sample(now, sample);
            }
        }
        rows.extend(std::iter::from_fn(|| link.poll_row()));
        check_rows(&rows, now);
    }
    link.handle_end(now);
    rows.extend(std::iter::from_fn(|| link.poll_row()));
    check_rows(&rows, now);
    let links = rows.iter().filter(|row| matches!(row, Row::Link(_))).count();
    assert_eq!(links, samples * 2, "a look is a row of each station");
    let roams = rows
        .iter()
        .filter(|row| matches!(row, Row::Event(event) if event.kind == EventKind::Roam));
    for row in roams {
        let Row::Event(event) = row else {
            unreachable!("they are events")
        };
        assert!(event.detail.text().contains(" to "), "{}", event.detail.text());
    }
}

fn check_rows(rows: &[Row], now: Instant) {
    for row in rows {
        match row {
            Row::Event(event) => {
                let end = event
                    .at
                    .checked_add(Duration::from_nanos(event.length))
                    .expect("within range");
                assert!(end <= now, "{event:?} ends after {now:?}");
            }
            Row::Link(link) => {
                for share in [link.busy_ppm, link.receiving_ppm, link.sending_ppm]
                    .into_iter()
                    .flatten()
                {
                    assert!(share <= 1_000_000, "{link:?}");
                }
            }
            _ => panic!("{row:?}"),
        }
    }
}
