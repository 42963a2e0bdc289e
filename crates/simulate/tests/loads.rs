//! Load primitives: several streams of one workload, windows in which it runs, marks of its packets.

use netburn_network::Endpoint;
use netburn_record::{IntervalRow, Row};
use netburn_scenario::{Document, Plan};
use netburn_simulate::{CaptureEvent, PacketContent, run, run_with_capture};
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

fn plan(text: &str) -> Plan {
    Document::from_toml("loads.toml", text).unwrap().resolve().unwrap()
}

/// All rows of a plan.
fn rows(plan: &Plan) -> Vec<Row> {
    let mut all = Vec::new();
    run(plan, |_, rows| {
        all.extend(rows);
        ControlFlow::Continue(())
    })
    .unwrap();
    all
}

/// A station on a wire of 10 Mbit/s.
fn wired(workload: &str, http: &str) -> String {
    format!(
        "duration = \"10 s\"\nbaseline = \"0 s\"\ndrain = \"1 s\"\n[server]\nhttp = \"{http}\"\n\
         [station.one]\nworkload = \"load\"\n[station.one.link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
         [workload.load]\n{workload}\n"
    )
}

/// Each stream has a connection of its own with both versions of HTTP: four in all, from the start to the end.
#[test]
fn each_stream_has_its_connection() {
    for kind in ["download", "upload"] {
        for http in ["1.1", "2"] {
            let plan = plan(&wired(&format!("kind = \"{kind}\"\nstreams = 4"), http));
            let all = rows(&plan);
            let connections: BTreeSet<u16> = all
                .iter()
                .filter_map(|row| match row {
                    Row::Connection(row) => Some(row.port),
                    _ => None,
                })
                .collect();
            assert_eq!(connections.len(), 4, "{kind} over {http}");
            let operations = all.iter().filter(|row| matches!(row, Row::Operation(_))).count();
            assert_eq!(operations, 4, "{kind} over {http}");
        }
    }
}

/// A download from 2 s to 4 s and from 7 s to 9 s. Outside of these times nothing moves, except what was on its way at
/// their ends: at most 100 ms of the queue (125 kB at 10 Mbit/s). At 10 Mbit/s with 38 bytes of framing, 2 s carry about
/// 2.3 MB of content.
#[test]
fn content_moves_in_the_windows_only() {
    for kind in ["download", "upload"] {
        let text = format!("kind = \"{kind}\"\nstart = \"2 s\"\nstop = \"4 s\"\nrepeat = \"5 s\"\nstreams = 2");
        let all = rows(&plan(&wired(&text, "1.1")));
        let mut by_second: BTreeMap<i64, u64> = BTreeMap::new();
        let second = Duration::from_secs(1).as_nanos() as i64;
        for row in &all {
            if let Row::Interval(IntervalRow {
                at,
                bytes_down,
                bytes_up,
                ..
            }) = row
            {
                *by_second.entry(at.as_nanos() / second).or_default() += bytes_down + bytes_up;
            }
        }
        let seconds: Vec<i64> = by_second.keys().copied().collect();
        assert_eq!(seconds, [2, 3, 7, 8], "{kind}: {by_second:?}");
        for window in [2, 7] {
            let bytes = by_second[&window] + by_second[&(window + 1)];
            assert!((1_900_000..2_500_000).contains(&bytes), "{kind}: {by_second:?}");
        }
        let outcomes: Vec<Outcome> = all
            .iter()
            .filter_map(|row| match row {
                Row::Operation(row) => Some(row.operation.outcome),
                _ => None,
            })
            .collect();
        assert_eq!(outcomes, [Outcome::Cut; 4], "{kind}");
    }
}

/// DSCP of all packets, and TIDs of all transmissions on the air: sent by the access point, and by the station.
fn marks(text: &str) -> (BTreeSet<u8>, [BTreeSet<u8>; 2]) {
    let (mut dscps, mut tids) = (BTreeSet::new(), [BTreeSet::new(), BTreeSet::new()]);
    run_with_capture(&plan(text), |_, _, events| {
        for event in events {
            match event {
                CaptureEvent::Packet(packet) => {
                    dscps.insert(packet.dscp);
                    assert!(matches!(
                        packet.content,
                        PacketContent::Segment(_) | PacketContent::Datagram(_)
                    ));
                    assert!(packet.from == Endpoint::Server || packet.to == Endpoint::Server);
                }
                CaptureEvent::Air(transmission) => {
                    // The radio of the access point is the first node.
                    tids[usize::from(transmission.from.index() > 0)].insert(transmission.tid);
                }
            }
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    (dscps, tids)
}

fn on_air(workload: &str, ap: &str, station: &str) -> (BTreeSet<u8>, [BTreeSet<u8>; 2]) {
    marks(&format!(
        "duration = \"1 s\"\nbaseline = \"0 s\"\ndrain = \"1 s\"\n[ap.home]\n{ap}\n[ap.home.radio.5g]\n\
         [station.one]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"load\"\n{station}\n[workload.load]\n{workload}\n"
    ))
}

/// EF (46) is user priority 6 by RFC 8325 figure 1, and 5 by its upper three bits. CS2 (16) is 0, or 2. The access point
/// decides towards the station, the station towards the access point.
#[test]
fn the_sender_of_a_frame_maps_its_dscp() {
    let old = "dscp_mapping = \"upper-three-bits\"";
    for kind in [
        "kind = \"download\"",
        "kind = \"calls\"\ninterval = \"50 ms\"",
        "kind = \"probe\"",
        "kind = \"voice\"",
    ] {
        for (dscp, value, new_tid, old_tid) in [("\"EF\"", 46, 6, 5), ("16", 16, 0, 2)] {
            let workload = format!("{kind}\ndscp = {dscp}");
            for (ap, station, down, up) in [
                ("", "", new_tid, new_tid),
                (old, "", old_tid, new_tid),
                ("", old, new_tid, old_tid),
                (old, old, old_tid, old_tid),
            ] {
                let (dscps, tids) = on_air(&workload, ap, station);
                assert_eq!(dscps, BTreeSet::from([value]), "{workload}");
                let expected = [BTreeSet::from([down]), BTreeSet::from([up])];
                assert_eq!(tids, expected, "{workload} with `{ap}` and `{station}`");
            }
        }
    }
}

/// The DSCPs of priorities (8, 0, 40, 48) have the same access category in both mappings.
#[test]
fn priorities_keep_their_category_in_both_mappings() {
    for (priority, dscp, tid) in [
        ("background", 8, 1),
        ("best-effort", 0, 0),
        ("video", 40, 5),
        ("voice", 48, 6),
    ] {
        let workload = format!("kind = \"probe\"\npriority = \"{priority}\"");
        let old = "dscp_mapping = \"upper-three-bits\"";
        for mapping in ["", old] {
            let (dscps, tids) = on_air(&workload, mapping, mapping);
            assert_eq!(dscps, BTreeSet::from([dscp]));
            assert_eq!(
                tids,
                [BTreeSet::from([tid]), BTreeSet::from([tid])],
                "{priority} with `{mapping}`"
            );
        }
    }
}

/// A workload that starts later begins with its first window.
#[test]
fn the_first_operation_is_due_in_the_window() {
    let all = rows(&plan(&wired(
        "kind = \"calls\"\ninterval = \"100 ms\"\nstart = \"3 s\"\nstop = \"5 s\"",
        "1.1",
    )));
    let dues: Vec<Instant> = all
        .iter()
        .filter_map(|row| match row {
            Row::Operation(row) => Some(row.operation.due),
            _ => None,
        })
        .collect();
    // Every 100 ms in 2 s.
    assert_eq!(dues.len(), 20);
    assert!(
        dues.iter()
            .all(|due| (Instant::from_secs(3)..Instant::from_secs(5)).contains(due))
    );
}

/// Goodput in Mbit/s of `stations` TCP uploads with two streams, MCS 7, 80 MHz, 802.11ax, and aggregates of 64 MPDUs, in 20 s
/// after 10 s.
fn uploads(stations: usize) -> f64 {
    let mut text =
        "duration = \"30 s\"\nbaseline = \"0 s\"\ndrain = \"0 s\"\n[ap.home.radio.5g]\nstandard = \"802.11ax\"\n"
            .to_owned();
    text += "width = \"80 MHz\"\naggregate_frames = 64\n";
    for station in 0..stations {
        text += &format!("[station.s{station}]\njoins = \"home.5g\"\nmcs = 7\nstreams = 2\nworkload = \"upload\"\n");
    }
    let from = Instant::ZERO + Duration::from_secs(10);
    let of_row = |row: &Row| match row {
        Row::Interval(row) if row.at >= from => row.bytes_up,
        _ => 0,
    };
    let bytes: u64 = rows(&plan(&text)).iter().map(of_row).sum();
    bytes as f64 * 8.0 / 20e6
}

/// Bianchi's model (2000) of stations that always have a full aggregate: 64 MPDUs of 1,448 bytes of content, 9 µs slots, AIFS
/// 43 µs, windows from 16 to 1,024, a preamble of 44 µs, symbols of 13.6 µs at 720.6 Mbit/s, and BlockAcks of 32 µs. A
/// collision is as long as an aggregate. It is an upper limit: the access point needs airtime for the ACKs of TCP, and a
/// station that waits for ACKs has no full aggregate.
#[test]
fn uploads_of_many_stations_are_near_the_limit_of_the_contention() {
    for (stations, limit) in [(10, 460.1), (20, 420.5), (35, 388.0)] {
        let goodput = uploads(stations);
        let share = goodput / limit;
        assert!((0.87..1.0).contains(&share), "{stations}: {goodput} of {limit}");
    }
}

const PAGE: &str = include_str!("../../../docs/explanation/what-tcp-gets-of-a-link-rate.md");

/// The table of the page, which has the link rate and the goodput of one download with default settings. Its rates are those
/// of the tables of 802.11, and its goodput is compared with other sources on the page.
#[test]
fn the_table_of_link_rates_is_current() {
    let rows_of_page = PAGE
        .lines()
        .filter(|line| line.starts_with("| 802.11") && line.contains(" MHz | "));
    let mut count = 0;
    for line in rows_of_page {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [standard, width, streams, mcs, link_rate, goodput, megabytes, share] = cells[..] else {
            panic!("{line}");
        };
        let radio = if matches!(standard, "802.11g" | "802.11n") {
            "2g"
        } else {
            "5g"
        };
        let server = if width == "160 MHz" { "10 Gbit/s" } else { "1 Gbit/s" };
        let text = format!(
            "duration = \"10 s\"\nbaseline = \"0 s\"\ndrain = \"0 s\"\n[server.link]\nrate = \"{server}\"\n\
             [ap.home.radio.{radio}]\nstandard = \"{standard}\"\nwidth = \"{width}\"\nstreams = {streams}\n\
             [station.pc]\njoins = \"home.{radio}\"\nstreams = {streams}\nmcs = {mcs}\nworkload = \"download\"\n"
        );
        let all = rows(&plan(&text));
        let rate = all.iter().rev().find_map(|row| match row {
            Row::Link(row) => row.rx_rate_bps,
            _ => None,
        });
        let rate = rate.unwrap() as f64 / 1e6;
        let expected: f64 = link_rate.parse().unwrap();
        assert!((rate - expected).abs() < 0.06, "{line}: {rate}");
        let from = Instant::ZERO + Duration::from_secs(2);
        let bytes: u64 = all
            .iter()
            .map(|row| match row {
                Row::Interval(row) if row.at >= from => row.bytes_down,
                _ => 0,
            })
            .sum();
        // Eight seconds.
        let measured = bytes as f64 * 8.0 / 8e6;
        let [goodput, megabytes]: [f64; 2] = [goodput, megabytes].map(|cell| cell.parse().unwrap());
        assert!((measured / goodput - 1.0).abs() < 0.02, "{line}: {measured}");
        assert!((megabytes - goodput / 8.0).abs() < 0.06, "{line}");
        let share: f64 = share.trim_end_matches(" %").parse().unwrap();
        assert!((share - 100.0 * goodput / expected).abs() <= 0.55, "{line}");
        count += 1;
    }
    assert_eq!(count, 11);
}
