//! Whole plans in simulated time, compared with values computed by hand.

use netburn_medium::queue::{Place, QueueKind};
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, Row};
use netburn_scenario::{Document, Environment, Plan};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, Outcome};
use proptest::prelude::*;
use std::ops::ControlFlow;

/// One Wi-Fi station whose air is much faster than the wire: 802.11ac at MCS 9, no losses.
fn house(link: &str, workload: &str, more: &str) -> String {
    format!(
        "duration = \"20 s\"\nbaseline = \"1 s\"\n[server]\nlink = {link}\n[ap.home.radio.5g]\nwidth = \"80 MHz\"\n\
         [station.one]\njoins = \"home.5g\"\nmcs = 9\nworkload = \"{workload}\"\n{more}\n"
    )
}

fn plan(text: &str) -> Plan {
    let document = Document::from_toml("house.toml", text).unwrap();
    document.resolve_for(Environment::Simulate).unwrap().0
}

fn rows(text: &str) -> Vec<Row> {
    let mut all = Vec::new();
    let done = netburn_simulate::run(&plan(text), |_, rows| {
        all.extend(rows);
        ControlFlow::Continue(())
    });
    assert!(!done.unwrap().interrupted);
    all
}

fn operations(rows: &[Row], workload: u16) -> Vec<Operation> {
    let of = |row: &Row| match row {
        Row::Operation(row) if row.workload == workload => Some(row.operation),
        _ => None,
    };
    rows.iter().filter_map(of).collect()
}

/// Mbit/s of content between two instants.
fn goodput(rows: &[Row], from_s: f64, to_s: f64) -> f64 {
    let within = |row: &&Row| matches!(row, Row::Interval(row) if (from_s..to_s).contains(&row.at.as_secs_f64()));
    let bytes: u64 = rows
        .iter()
        .filter(within)
        .map(|row| match row {
            Row::Interval(row) => row.bytes_down + row.bytes_up,
            _ => 0,
        })
        .sum();
    bytes as f64 * 8e-6 / (to_s - from_s)
}

/// 1448 bytes of content in 1538 on the wire: 47.07 of 50 Mbit/s, in either direction.
#[test]
fn a_clean_link_is_filled() {
    for workload in ["download", "upload"] {
        let rows = rows(&house(r#"{ rate = "50 Mbit/s", delay = "10 ms" }"#, workload, ""));
        let got = goodput(&rows, 5.0, 20.0);
        let expected = 50.0 * 1_448.0 / 1_538.0;
        assert!((got / expected - 1.0).abs() < 0.01, "{workload}: {got} for {expected}");
    }
}

/// A page of ten objects of 128 KiB, 91 segments each, at a round-trip time of 100 ms, after the
/// connections were established. Windows of 10, 20, 40 and 80 segments contain an object, so ten
/// connections of HTTP/1.1 need four round trips. One connection of HTTP/2 has 906 segments to
/// send, more than windows of 10 to 320 contain (630): seven. With a connection for each object
/// both versions are equal.
#[test]
fn a_page_over_one_connection_takes_more_round_trips() {
    let page = |http: &str, connections: &str| {
        let workload = format!("[workload.page]\nkind = \"pages\"\nconnections = \"{connections}\"");
        let text = house(r#"{ rate = "10 Gbit/s", delay = "50 ms" }"#, "page", &workload);
        let rows = rows(&text.replace("[server]", &format!("[server]\nhttp = \"{http}\"")));
        let first = operations(&rows, 0)[0];
        first.latency().unwrap().as_millis_f64()
    };
    for (http, connections, round_trips) in [
        ("1.1", "keep", 5.0),
        ("1.1", "new", 5.0),
        ("2", "keep", 8.0),
        ("2", "new", 5.0),
    ] {
        let got = page(http, connections) / 100.0;
        // The air takes some milliseconds for a page.
        assert!(
            (round_trips..round_trips + 0.4).contains(&got),
            "{http} {connections}: {got}"
        );
    }
}

/// The airtime of other networks is measured and equals the configured share. The rows of a station
/// contain it, alone and with a download that uses all remaining airtime. A wired station has no
/// air.
#[test]
fn airtime_of_other_networks_is_in_the_rows() {
    for workload in ["probe", "download"] {
        for busy in [0.0, 0.3, 0.8] {
            let more = format!("[ap.home.radio.2g]\nchannel_busy = \"{} %\"", busy * 100.0);
            let more = format!(
                "{more}\n[station.two]\njoins = \"home.2g\"\nmcs = 7\nworkload = \"{workload}\"\n[station.desk]\nlink = {{}}\nworkload = \"probe\""
            );
            let rows = rows(&house("{}", "probe", &more));
            let load = Instant::ZERO..Instant::from_secs(20);
            let others = |station: u16| {
                let of = |row: &Row| match row {
                    Row::Air(row) if row.station == station && load.contains(&row.at) => Some(row.others),
                    _ => None,
                };
                let each: Option<Vec<Duration>> = rows.iter().filter_map(of).collect();
                each.map(|each| each.into_iter().map(Duration::as_secs_f64).sum::<f64>() / 20.0)
            };
            assert_eq!(others(0), Some(0.0), "the other radio's channel is free");
            assert_eq!(others(2), None, "it has a wire");
            let share = others(1).unwrap();
            assert!((share - busy).abs() <= 0.06 * busy, "{workload}: {share} of {busy}");
        }
    }
}

/// Acknowledgements per data segment, with a wire of this rate.
fn acknowledgements(rate: &str, server: &str, workload: &str, station: &str) -> f64 {
    // Room for all that the receiver's window permits: no losses.
    let link = format!("{{ rate = \"{rate}\", delay = \"10 ms\", queue = \"64 MiB\" }}\n{server}");
    let text = house(&link, workload, station);
    let done = netburn_simulate::run(&plan(&text), |_, _| ControlFlow::Continue(())).unwrap();
    (done.counters.packets - done.counters.data_segments) as f64 / done.counters.data_segments as f64
}

/// A host without GRO acknowledges every second segment (RFC 9293 §3.8.6.3). A host with GRO
/// acknowledges each merged segment once. At 400 Mbit/s 34 segments are sent in each millisecond,
/// and some of them arrive in one aggregate.
#[test]
fn without_gro_every_second_segment_is_acknowledged() {
    let single = acknowledgements("400 Mbit/s", "", "download", "gro = false");
    assert!((single / 0.5 - 1.0).abs() < 0.02, "{single}");
    let joined = acknowledgements("400 Mbit/s", "", "download", "gro = true");
    assert!(joined < 0.25, "{joined}");
}

/// A server's card interrupts at most every 50 µs. At 1 Gbit/s a full packet takes 12.3 µs, so an
/// interrupt carries 4.06 packets of an aggregate on average. It carries fewer at the aggregate's
/// ends, and where the sender's timestamp changes.
#[test]
fn a_server_acknowledges_the_segments_of_one_interrupt_together() {
    let single = acknowledgements("1 Gbit/s", "interrupt_interval = \"0 s\"", "upload", "");
    assert!((single / 0.5 - 1.0).abs() < 0.02, "{single}");
    let joined = acknowledgements("1 Gbit/s", "", "upload", "");
    assert!((1.0 / 4.1..0.36).contains(&joined), "{joined}");
}

/// Drops, marks and retransmissions of an upload through a queue with CoDel.
fn marks_and_drops(station: &str, server: &str, ap: &str) -> (u64, u64) {
    let text = format!(
        "duration = \"10 s\"\nbaseline = \"1 s\"\n[server]\nlink = {{ delay = \"10 ms\" }}\n{server}\n[ap.home]\nqueue = \"fq-codel\"\n{ap}\n\
         [ap.home.radio.5g]\nstandard = \"802.11n\"\nwidth = \"20 MHz\"\n[station.one]\njoins = \"home.5g\"\nmcs = 1\n\
         workload = \"download\"\n{station}\n"
    );
    let air = |row: &Row| match row {
        Row::Air(row) => Some((row.marks, row.drops)),
        _ => None,
    };
    let rows = rows(&text);
    let all = rows.iter().filter_map(air);
    all.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1))
}

/// A queue marks ECN-capable packets and drops others (RFC 3168, RFC 8289 §4.4). This requires a
/// station that requests ECN, a server that accepts it, and a queue that marks.
#[test]
fn ecn_requires_both_ends_and_the_queue() {
    let (marks, drops) = marks_and_drops("ecn = true", "", "");
    assert!(marks >= 3 && drops == 0, "{marks} marks, {drops} drops");
    for (station, server, ap) in [
        ("", "", ""),
        ("ecn = true", "ecn = false", ""),
        ("ecn = true", "", "ecn = false"),
    ] {
        let (marks, drops) = marks_and_drops(station, server, ap);
        let case = format!("{station} {server} {ap}: {marks} marks, {drops} drops");
        assert!(marks == 0 && drops >= 3, "{case}");
    }
}

/// Under random loss BBR keeps its rate and CUBIC does not (see below), for both senders. So a
/// workload's own congestion control overrides the server's and the station's.
#[test]
fn a_workload_has_its_own_congestion_control() {
    let link = r#"{ rate = "20 Mbit/s", delay = "50 ms", loss = "1 %", queue = "1 MiB" }"#;
    for kind in ["download", "upload"] {
        let both = |of: &str, all: &str| {
            let workload = format!("[workload.own]\nkind = \"{kind}\"\ncc = \"{of}\"");
            let text = house(link, "own", &format!("cc = \"{all}\"\n{workload}"));
            goodput(
                &rows(&text.replace("[server]", &format!("[server]\ncc = \"{all}\""))),
                5.0,
                20.0,
            )
        };
        let (bbr, cubic) = (both("bbr", "cubic"), both("cubic", "bbr"));
        assert!(bbr > 14.0 && cubic < 5.0, "{kind}: {bbr} by BBR, {cubic} by CUBIC");
    }
}

/// BBR over 100 Mbit/s and 100 ms with random loss, compared with Linux 6.18. The kernel's values
/// are from the lab with the same path: medians of three runs of 20 s. BBR repairs lost segments,
/// and lost retransmissions, while it continues to send.
#[test]
fn bbr_keeps_its_rate_under_random_loss() {
    for (loss, kernel) in [("0 %", 91.0), ("1 %", 88.0), ("5 %", 71.0)] {
        let link = format!(r#"{{ rate = "100 Mbit/s", delay = "50 ms", loss = "{loss}", queue = "8 MiB" }}"#);
        let mut seeds: Vec<f64> = (1..=5)
            .map(|seed| {
                let server = format!("seed = {seed}\n[server]\ncc = \"bbr\"");
                let text = house(&link, "download", "").replace("[server]", &server);
                goodput(&rows(&text), 6.0, 20.0)
            })
            .collect();
        seeds.sort_by(f64::total_cmp);
        let median = seeds[2];
        assert!(
            (median / kernel - 1.0).abs() < 0.15,
            "{loss}: {seeds:?} Mbit/s, {kernel} by Linux"
        );
    }
}

/// Idle: twice 20 ms, and the time of 92 bytes on the wire and the air: below 1 ms.
#[test]
fn probes_measure_the_delay() {
    let rows = rows(&house(r#"{ delay = "20 ms" }"#, "probe", ""));
    for workload in [BASELINE, 0] {
        let operations = operations(&rows, workload);
        let finished: Vec<f64> = operations
            .iter()
            .filter_map(|o| Some(o.latency()?.as_millis_f64()))
            .collect();
        assert!(finished.len() >= 19, "{} of workload {workload}", finished.len());
        assert!(finished.iter().all(|ms| (40.0..41.0).contains(ms)), "{finished:?}");
    }
}

/// A new connection and 16 KiB over 25 ms in each direction, in round trips of 50 ms. One is for
/// the handshake. One is for the request, which returns ten segments (14 480 bytes). One more is
/// for the rest of 16 584. With TLS one more. Serialisation takes a few ms in total.
#[test]
fn a_call_takes_its_round_trips() {
    let call =
        "[workload.call]\nkind = \"calls\"\nobject_size = \"16 KiB\"\ninterval = \"1 s\"\nconnections = \"new\"\n";
    for (tls, trips) in [(false, 3.0), (true, 4.0)] {
        let text = house(r#"{ delay = "25 ms" }"#, "call", call).replace("[server]", &format!("[server]\ntls = {tls}"));
        let rows = rows(&text);
        let operations = operations(&rows, 0);
        assert!(operations.len() >= 19);
        for operation in operations.iter().filter(|o| o.outcome != Outcome::Cut) {
            let took = operation.latency().unwrap().as_millis_f64();
            assert!(
                (trips * 50.0..trips * 50.0 + 4.0).contains(&took),
                "TLS {tls}: {took} ms"
            );
            let dialled = operation.connected.unwrap().since(operation.due).as_millis_f64();
            let expected = if tls { 100.0 } else { 50.0 };
            assert!((expected..expected + 2.0).contains(&dialled), "{dialled} ms to dial");
        }
    }
}

/// On a persistent connection, the same call needs one round trip once the window has grown.
#[test]
fn a_persistent_connection_saves_round_trips() {
    let call =
        "[workload.call]\nkind = \"calls\"\nobject_size = \"16 KiB\"\ninterval = \"100 ms\"\nconnections = \"keep\"\n";
    let rows = rows(&house(r#"{ delay = "25 ms" }"#, "call", call));
    let operations = operations(&rows, 0);
    let late = &operations[operations.len() / 2..];
    let took: Vec<f64> = late.iter().filter_map(|o| Some(o.latency()?.as_millis_f64())).collect();
    assert!(
        took.len() > 50 && took.iter().all(|ms| (50.0..54.0).contains(ms)),
        "{took:?}"
    );
}

/// From 5 s to 10 s no packet is delivered. Operations begun before or then wait, time out or are
/// late. All is normal afterwards.
#[test]
fn an_outage() {
    let text = house(
        r#"{ delay = "5 ms" }"#,
        "voip",
        "[[at]]\ntime = \"5 s\"\nset = { \"station.one.signal\" = \"-109 dBm\" }\n[[at]]\ntime = \"10 s\"\nset = { \"station.one.signal\" = \"-45 dBm\" }\n",
    )
    .replace("mcs = 9", "signal = \"-45 dBm\"");
    let rows = rows(&text);
    let operations = operations(&rows, 0);
    let during = |o: &&Operation| (5.0..9.0).contains(&o.due.as_secs_f64());
    assert!(
        operations
            .iter()
            .filter(during)
            .all(|o| o.latency().is_none_or(|l| l > Duration::from_millis(900)))
    );
    let after = |o: &&Operation| (15.0..19.0).contains(&o.due.as_secs_f64());
    let well = operations
        .iter()
        .filter(after)
        .filter(|o| o.latency().is_some_and(|l| l < Duration::from_millis(60)));
    assert!(well.count() >= 25, "{operations:?}");
    let changes = rows
        .iter()
        .filter(|row| matches!(row, Row::Event(row) if row.kind == EventKind::Change));
    let said: Vec<_> = changes
        .map(|row| match row {
            Row::Event(row) => (row.at.as_secs_f64(), row.detail.text().into_owned()),
            _ => unreachable!(),
        })
        .collect();
    assert_eq!(said[0].0, 5.0);
    assert!(said[0].1.contains("station.one.signal"), "{said:?}");
}

/// A station that stops leaves after its own drain.
#[test]
fn a_stopped_station_leaves() {
    let text = house(r#"{ rate = "20 Mbit/s" }"#, "download", "").replace("mcs = 9", "mcs = 9\nstop = \"4 s\"");
    let text = text.replacen("duration", "drain = \"1 s\"\nduration", 1);
    let rows = rows(&text);
    assert!(goodput(&rows, 1.0, 4.0) > 17.0);
    assert!(goodput(&rows, 5.5, 20.0) < 0.01);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// For every plan, bytes in operations equal bytes in intervals. The same seed yields the same
    /// rows. A run stopped at any time has consistent rows.
    #[test]
    fn bytes_are_counted_once(
        queue in prop::sample::select(QueueKind::all_on(Place::Radio).into_iter().map(QueueKind::name).collect::<Vec<_>>()),
        uses in prop::sample::select(vec!["\"browsing\", \"probe\"", "\"voip\", \"4kstream\"", "\"download\"", "\"upload\", \"voip\""]),
        signal in -88_i32..-40,
        loss in 0_u32..5,
        tls in any::<bool>(),
        seed in 0_u64..1_000,
        cut in prop::option::of(0_usize..40),
    ) {
        let text = format!(
            "duration = \"3 s\"\nbaseline = \"200 ms\"\ndrain = \"1 s\"\nseed = {seed}\n[server]\ntls = {tls}\n\
             link = {{ rate = \"10 Mbit/s\", delay = \"8 ms\", loss = \"{loss} %\" }}\n[ap.home]\nqueue = \"{queue}\"\n\
             [ap.home.radio.5g]\nstandard = \"802.11n\"\n\
             [station.a]\njoins = \"home.5g\"\nsignal = \"{signal} dBm\"\nworkload = [{uses}]\n\
             [station.b]\njoins = \"home.5g\"\nsignal = \"-55 dBm\"\nworkload = \"browsing\"\n"
        );
        let plan = plan(&text);
        let simulated = || {
            let (mut all, mut calls) = (Vec::new(), 0);
            netburn_simulate::run(&plan, |_, rows| {
                all.extend(rows);
                calls += 1;
                if cut.is_some_and(|cut| calls > cut) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
            all
        };
        let rows = simulated();
        prop_assert_eq!(&rows, &simulated());
        let moved: u64 = rows.iter().map(|row| match row {
            Row::Interval(row) => row.bytes_down + row.bytes_up,
            _ => 0,
        }).sum();
        let counters: u64 = rows.iter().map(|row| match row {
            // Probes move no content of a connection.
            Row::Operation(row) if !is_probe(&plan, row.station, row.workload) => row.operation.bytes,
            _ => 0,
        }).sum();
        if cut.is_none() {
            prop_assert_eq!(moved, counters);
        } else {
            prop_assert!(counters <= moved);
        }
        for row in &rows {
            if let Row::Air(row) = row {
                prop_assert!(row.airtime_down + row.airtime_up <= Duration::from_millis(106), "{row:?}");
            }
        }
    }
}

fn is_probe(plan: &Plan, station: u16, workload: u16) -> bool {
    workload == BASELINE
        || plan.stations[usize::from(station)].workloads[usize::from(workload)]
            .config
            .kind()
            .is_probe()
}
