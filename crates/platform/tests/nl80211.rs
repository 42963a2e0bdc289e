//! Decoding of messages from independent sources: published captures, and messages of another encoder
//! (nl80211/encode.py). tshark decodes the same messages as a second opinion.

use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use netburn_platform::wifi::nl80211::decode::{self, JOINS};
use netburn_platform::wifi::nl80211::fuzz;
use netburn_platform::wifi::nl80211::recording::{self, Entry, Kind};
use netburn_platform::wifi::{Channel, Event, Generation, Interface, Mac, Rate, Station, Survey};
use std::collections::BTreeMap;
use std::process::Command;

const ENCODED: &str = include_str!("nl80211/encoded.wifi");
const CAPTURED: &str = include_str!("nl80211/captured.wifi");
const AP: Mac = Mac([2, 0, 0, 0, 1, 0]);

fn all<T>(kind: Kind, read: impl Fn(&[u8]) -> Vec<T>) -> Vec<T> {
    let entries = recording::read(ENCODED).unwrap();
    let those = entries.iter().filter(|entry| entry.kind == kind);
    those.flat_map(|entry| read(&entry.datagram)).collect()
}

#[test]
fn interfaces() {
    let of = |name: &str, index, ssid: Option<&str>, channel| Interface {
        index,
        name: name.to_owned(),
        kind: Some(JOINS),
        ssid: ssid.map(|ssid| ssid.as_bytes().to_vec()),
        channel,
    };
    let channel = Channel {
        frequency_mhz: 5180,
        width_mhz: Some(80),
        centre_mhz: Some(5210),
    };
    let joined = of("wlan0", 3, Some("Café"), Some(channel));
    assert_eq!(
        all(Kind::Interface, decode::interfaces),
        [joined, of("wlan1", 4, None, None)]
    );
}

#[test]
fn stations() {
    let rate = |tenths: u64, generation, mcs, nss, width_mhz, guard_ns| Rate {
        bps: Some(tenths * 100_000),
        generation: Some(generation),
        mcs,
        nss,
        width_mhz,
        guard_ns,
    };
    use Generation::{Eht, He, Ht, Legacy, Vht};
    let of = |signal| Station {
        mac: Some(AP),
        signal_dbm: Some(signal),
        ..Station::default()
    };
    let expected = [
        Station {
            inactive_ms: Some(24),
            signal_average_dbm: Some(-55),
            tx: rate(540, Legacy, None, None, Some(20), None),
            rx: rate(10, Legacy, None, None, Some(20), None),
            rx_bytes: Some(1000),
            tx_bytes: Some(2000),
            rx_packets: Some(11),
            tx_packets: Some(12),
            tx_retries: Some(3),
            tx_failed: Some(1),
            connected_s: Some(61),
            ..of(-56)
        },
        Station {
            tx: rate(3000, Ht, Some(15), Some(2), Some(40), Some(400)),
            rx: rate(65, Ht, Some(0), Some(1), Some(20), Some(800)),
            ..of(-70)
        },
        Station {
            signal_average_dbm: Some(-49),
            tx: rate(8667, Vht, Some(9), Some(2), Some(80), Some(400)),
            rx: rate(17333, Vht, Some(9), Some(2), Some(160), Some(400)),
            rx_bytes: Some(5_000_000_000),
            tx_bytes: Some(6_000_000_000),
            tx_retries: Some(77),
            tx_failed: Some(2),
            beacon_loss: Some(4),
            ..of(-48)
        },
        Station {
            tx: rate(12010, He, Some(11), Some(2), Some(80), Some(800)),
            // 106 tones are narrower than 20 MHz.
            rx: rate(86, He, Some(0), Some(1), None, Some(3200)),
            ..of(-40)
        },
        Station {
            tx: rate(57647, Eht, Some(13), Some(2), Some(320), Some(800)),
            rx: rate(2882, Eht, Some(13), Some(1), Some(40), Some(1600)),
            ..of(-35)
        },
    ];
    assert_eq!(all(Kind::Station, decode::stations), expected);
}

#[test]
fn surveys() {
    let elsewhere = Survey {
        frequency_mhz: Some(5200),
        noise_dbm: Some(-92),
        ..Survey::default()
    };
    let here = Survey {
        frequency_mhz: Some(5180),
        noise_dbm: Some(-95),
        in_use: true,
        active_ms: Some(10_000),
        busy_ms: Some(4_300),
        receiving_ms: Some(2_100),
        sending_ms: Some(900),
    };
    assert_eq!(all(Kind::Survey, decode::surveys), [elsewhere, here]);
}

#[test]
fn events() {
    let connected = |status| Event::Connected {
        index: 3,
        bssid: Some(AP),
        status,
    };
    let channel = Channel {
        frequency_mhz: 5745,
        width_mhz: Some(40),
        centre_mhz: Some(5755),
    };
    let expected = [
        connected(0),
        connected(17),
        Event::Roamed {
            index: 3,
            bssid: Some(Mac([2, 0, 0, 0, 2, 0])),
        },
        Event::Disconnected {
            index: 3,
            reason: Some(4),
            by_ap: true,
        },
        Event::Switched { index: 3, channel },
    ];
    assert_eq!(all(Kind::Event, decode::events), expected);
}

/// A capture of a kernel: interface 467 associates with 02:00:00:00:01:00 and leaves it with reason 3. Then
/// it scans. Other messages are ignored.
#[test]
fn a_published_capture() {
    let entries = recording::read(CAPTURED).unwrap();
    let events: Vec<Event> = entries
        .iter()
        .flat_map(|entry| decode::events(&entry.datagram))
        .collect();
    let connected = Event::Connected {
        index: 467,
        bssid: Some(AP),
        status: 0,
    };
    let left = Event::Disconnected {
        index: 467,
        reason: Some(3),
        by_ap: false,
    };
    let scanned = Event::ScanEnded {
        index: 467,
        aborted: false,
    };
    assert_eq!(events, [connected, left, scanned]);
}

#[test]
fn anonymized_messages_decode_to_the_same_values_without_names() {
    let mut anonymous = Anonymizer::default();
    let mut text = String::new();
    for source in [ENCODED, CAPTURED] {
        for entry in recording::read(source).unwrap() {
            let datagram = anonymous.datagram(&entry.datagram);
            text += &Entry { datagram, ..entry }.line();
        }
    }
    let entries = recording::read(&(recording::heading() + &text)).unwrap();
    let all = |read: &dyn Fn(&[u8]) -> Vec<Interface>| {
        entries
            .iter()
            .flat_map(|entry| read(&entry.datagram))
            .collect::<Vec<_>>()
    };
    let interfaces = all(&decode::interfaces);
    assert_eq!(interfaces[0].ssid.as_deref(), Some(&b"network-1"[..]));
    assert_eq!(interfaces[0].name, "wlan0", "it says nothing about anybody");
    let stations: Vec<Station> = entries
        .iter()
        .flat_map(|entry| decode::stations(&entry.datagram))
        .collect();
    assert!(
        stations
            .iter()
            .all(|station| station.mac == stations[0].mac && station.mac != Some(AP))
    );
    assert_eq!(stations[2].tx_retries, Some(77));
    // The address, `Caf` and `Test-WIFI` do not occur, not even in frames.
    for secret in ["020000000100", "436166", "546573742d"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

/// tshark's independent dissector finds the same attributes and values.
#[test]
fn tshark_decodes_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nl80211.pcap");
    let entries = recording::read(ENCODED).unwrap();
    let datagrams: Vec<&[u8]> = entries.iter().map(|entry| &entry.datagram[..]).collect();
    std::fs::write(&path, pcap(&datagrams)).unwrap();
    let told = Command::new("tshark").arg("-V").arg("-r").arg(&path).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let frames: Vec<BTreeMap<String, String>> = text.split("\nFrame ").skip(1).map(attributes).collect();
    assert_eq!(frames.len(), entries.len());
    let mut compared = 0;
    let mut same = |frame: &BTreeMap<String, String>, name: &str, ours: Option<i64>| {
        let theirs = frame.get(name).map(|text| {
            let text = text
                .rsplit_once('(')
                .map_or(&text[..], |(_, inner)| inner.trim_end_matches(')'));
            text.parse::<i64>()
                .unwrap_or_else(|_| i64::from_str_radix(text, 16).unwrap())
        });
        assert_eq!(theirs, ours, "{name} of {frame:?}");
        compared += usize::from(ours.is_some());
    };
    for (entry, frame) in entries.iter().zip(&frames) {
        for interface in decode::interfaces(&entry.datagram) {
            same(
                frame,
                "ATTR_WIPHY_FREQ",
                interface.channel.map(|channel| channel.frequency_mhz.into()),
            );
            same(
                frame,
                "ATTR_CENTER_FREQ1",
                interface.channel.and_then(|channel| channel.centre_mhz).map(i64::from),
            );
            same(frame, "ATTR_IFINDEX", Some(interface.index.into()));
        }
        for station in decode::stations(&entry.datagram) {
            same(frame, "STA_INFO_SIGNAL", station.signal_dbm.map(i64::from));
            same(frame, "STA_INFO_SIGNAL_AVG", station.signal_average_dbm.map(i64::from));
            same(frame, "STA_INFO_TX_RETRIES", station.tx_retries.map(i64::from));
            same(frame, "STA_INFO_TX_FAILED", station.tx_failed.map(i64::from));
            same(frame, "STA_INFO_INACTIVE_TIME", station.inactive_ms.map(i64::from));
        }
        for survey in decode::surveys(&entry.datagram) {
            same(frame, "SURVEY_INFO_FREQUENCY", survey.frequency_mhz.map(i64::from));
            same(frame, "SURVEY_INFO_TIME_BUSY", survey.busy_ms.map(|ms| ms as i64));
        }
    }
    assert!(compared >= 19, "{compared}");
}

/// Returns the last line below each attribute in tshark's output for one frame.
fn attributes(frame: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut name = None;
    for line in frame.lines().map(str::trim) {
        if let Some(next) = line.strip_prefix("Attribute: NL80211_") {
            name = Some(next.to_owned());
        } else if let (Some(name), Some((_, value))) = (&name, line.split_once(": "))
            && (line.starts_with("Attribute Value") || line.starts_with("dBm"))
        {
            found.entry(name.clone()).or_insert_with(|| value.to_owned());
        }
    }
    found
}

/// Returns a capture file (pcap(5), LINKTYPE_NETLINK) that begins with the query of the family's id, which tshark
/// needs.
fn pcap(datagrams: &[&[u8]]) -> Vec<u8> {
    let mut family = vec![0_u8; 16];
    family[4] = 16;
    family.extend([1, 2, 0, 0]);
    family.extend([12, 0, 2, 0]);
    family.extend(b"nl80211\0");
    family.extend([6, 0, 1, 0, 0x24, 0, 0, 0]);
    family[0] = family.len() as u8;
    let mut file = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0]);
    file.extend([0; 8]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(253_u32.to_le_bytes());
    for datagram in [&[&family[..]], datagrams].concat() {
        let length = (datagram.len() as u32 + 16).to_le_bytes();
        file.extend([0; 8]);
        file.extend(length);
        file.extend(length);
        file.extend([0, 4, 3, 56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16]);
        file.extend(datagram);
    }
    file
}

#[test]
fn with_several_links_the_first_reported_channel_counts() {
    let attribute = |kind: u16, value: &[u8]| {
        let mut bytes = (value.len() as u16 + 4).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    // NL80211_ATTR_MLO_LINKS: a list of links, each with NL80211_ATTR_MLO_LINK_ID, the second with a frequency.
    let first = attribute(0, &attribute(313, &[0]));
    let second = attribute(
        1,
        &[
            attribute(313, &[1]),
            attribute(38, &6135_u32.to_ne_bytes()),
            attribute(159, &13_u32.to_ne_bytes()),
        ]
        .concat(),
    );
    let body = [
        vec![7, 1, 0, 0],
        attribute(3, &5_u32.to_ne_bytes()),
        attribute(4, b"wlan2\0"),
        attribute(0x8000 | 312, &[first, second].concat()),
    ]
    .concat();
    let mut datagram = (body.len() as u32 + 16).to_ne_bytes().to_vec();
    datagram.extend(36_u16.to_ne_bytes());
    datagram.extend([0; 10]);
    datagram.extend(body);
    let channel = decode::interfaces(&datagram)[0].channel.unwrap();
    assert_eq!((channel.frequency_mhz, channel.width_mhz), (6135, Some(320)));
    fuzz::check(&datagram);
}

#[test]
fn invalid_recordings_name_the_line() {
    for (text, line) in [
        ("", 1),
        ("netburn-wifi 2 little\n", 1),
        ("netburn-wifi 1 big\n", 1),
        ("netburn-wifi 1 little\n# well\nx event 00\n", 3),
        ("netburn-wifi 1 little\n0 thing 00\n", 2),
        ("netburn-wifi 1 little\n0 event 0\n", 2),
        ("netburn-wifi 1 little\n0 event 0g\n", 2),
        ("netburn-wifi 1 little\n\n0 event 00 1\n", 3),
        ("netburn-wifi 1 little\n0 event\n", 2),
    ] {
        assert_eq!(recording::read(text).unwrap_err().line, line, "{text}");
    }
}

/// Truncates and corrupts all messages above; decoding never panics.
#[test]
fn decoding_never_panics() {
    fuzz::check(ENCODED.as_bytes());
    fuzz::check(CAPTURED.as_bytes());
    let entries = [recording::read(ENCODED).unwrap(), recording::read(CAPTURED).unwrap()].concat();
    let mut chance = netburn_units::Seed(11).stream("nl80211", 0);
    for entry in &entries {
        let whole = &entry.datagram;
        fuzz::check(whole);
        for end in (0..whole.len()).step_by(3) {
            fuzz::check(&whole[..end]);
            let mut torn = whole[..end].to_vec();
            if end >= 4 {
                torn[..4].copy_from_slice(&(end as u32).to_ne_bytes());
                fuzz::check(&torn);
            }
        }
        for _ in 0..200 {
            let mut lying = whole.clone();
            for _ in 0..=chance.below(3) {
                let at = chance.below(lying.len() as u64) as usize;
                lying[at] = chance.next_u64() as u8;
            }
            fuzz::check(&lying);
        }
    }
    for _ in 0..3_000 {
        let noise: Vec<u8> = (0..chance.below(120)).map(|_| chance.next_u64() as u8).collect();
        fuzz::check(&noise);
    }
}

#[test]
fn the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/nl80211");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        fuzz::check(&std::fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 12, "{count}");
}

/// Scans, as linux/nl80211.h numbers them: NL80211_CMD_GET_SCAN is 32, and TRIGGER_SCAN, NEW_SCAN_RESULTS and SCAN_ABORTED
/// follow. The attribute is NL80211_ATTR_IFINDEX (3).
#[test]
fn scans() {
    let event = |command: u8| {
        let mut bytes = 28_u32.to_ne_bytes().to_vec();
        // Type of the family, flags, sequence number, port.
        bytes.extend([33_u16.to_ne_bytes(), 0_u16.to_ne_bytes()].concat());
        bytes.extend([0; 8]);
        bytes.extend([command, 1, 0, 0]);
        bytes.extend([8_u16.to_ne_bytes(), 3_u16.to_ne_bytes()].concat());
        bytes.extend(7_u32.to_ne_bytes());
        decode::events(&bytes)
    };
    assert_eq!(event(32), []);
    assert_eq!(event(33), [Event::ScanStarted { index: 7 }]);
    let ended = |aborted| [Event::ScanEnded { index: 7, aborted }];
    assert_eq!(event(34), ended(false));
    assert_eq!(event(35), ended(true));
}
