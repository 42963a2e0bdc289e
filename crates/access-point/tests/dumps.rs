//! Import of dumps of `iw` and `tc`. The outputs are those of the recorded session of a virtual access point (Linux 6.12,
//! iw 5.19), without what the session has around them. The expected values are read from them by hand.

use netburn_access_point::dumps::{DumpError, read, recognises};
use netburn_access_point::fuzz::check_dumps;
use netburn_record::{Header, Observable, Row, fuzz};
use netburn_scenario::Plan;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The dumps of three samples, each with three stations and the queues.
fn dumps() -> Vec<String> {
    let session = std::fs::read_to_string(folder("session").join("hwsim")).unwrap();
    let is_dump = |line: &&str| ["Station ", "\t", "[{"].iter().any(|start| line.starts_with(start));
    let mut samples = vec![String::new()];
    let lines = session.lines().skip_while(|line| !line.starts_with("Station "));
    for line in lines.filter(is_dump) {
        let sample = samples.last_mut().unwrap();
        *sample += &format!("{line}\n");
        if line.starts_with('[') {
            samples.push(String::new());
        }
    }
    samples.pop();
    samples
}

/// The dumps, each after a line with its time.
fn at(times: &[&str]) -> String {
    let each = times.iter().zip(dumps());
    each.map(|(time, dump)| format!("{time}\n{dump}")).collect()
}

fn values(rows: &[Row], quantity: Observable, part: &str, address: Option<&str>) -> Vec<(i64, i64)> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Observed(row) => Some(row),
            _ => None,
        })
        .filter(|row| row.quantity == quantity && row.part.as_deref() == Some(part))
        .filter(|row| row.address.map(|address| address.to_string()).as_deref() == address)
        .map(|row| (row.at.as_nanos() / 1_000_000_000, row.value))
        .collect()
}

fn imported(text: &str) -> (Header, Vec<Row>) {
    assert!(recognises(text));
    read(text, "dumps.txt").unwrap()
}

#[test]
fn samples_begin_where_an_output_repeats_or_at_a_time() {
    let dumps = dumps();
    let (header, rows) = imported(&dumps[..3].concat());
    let shaper = "lan cake";
    // 625000 bytes per second; bytes of the interface, and drops, of the three outputs.
    let rate = vec![(0, 5_000_000), (1, 5_000_000), (2, 5_000_000)];
    assert_eq!(values(&rows, Observable::ShaperRate, shaper, None), rate);
    // The time between the samples is unknown, so that there are no rates.
    for quantity in [Observable::QueueSent, Observable::BytesUp, Observable::AirtimeDown] {
        let is_one = |row: &Row| matches!(row, Row::Observed(row) if row.quantity == quantity);
        assert!(!rows.iter().any(is_one), "{quantity:?}");
    }
    assert_eq!(
        values(&rows, Observable::QueueDrops, shaper, None),
        [(1, 318 - 304), (2, 330 - 318)]
    );
    let queued = vec![(0, 9084), (1, 10_598), (2, 9084)];
    assert_eq!(values(&rows, Observable::QueuedBytes, shaper, None), queued);
    let source = header.source.unwrap();
    assert_eq!(
        (source.program.as_str(), source.test.as_str()),
        ("iw and tc", "3 samples of an access point")
    );
    assert!(
        source.left_out[0].starts_with("the times of the samples"),
        "{:?}",
        source.left_out
    );

    // The same with a time before each sample.
    let timed = at(&["1796093900", "1796093910", "1796093925"]);
    let (header, rows) = imported(&timed);
    let sent = vec![(10, 17_522_420 - 16_760_290), (25, 18_249_728 - 17_522_420)];
    assert_eq!(values(&rows, Observable::QueueSent, shaper, None), sent);
    assert_eq!(header.started.unwrap().0, 1_796_093_900_000_000_000);
    assert_eq!(header.source.unwrap().left_out, [""; 0]);
}

#[test]
fn times_have_fractions() {
    let (header, rows) = imported(&at(&["1796093900.5", "1796093901.250000000"]));
    let spans: Vec<u64> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Observed(row) if row.quantity == Observable::QueueSent => Some(row.span.as_nanos()),
            _ => None,
        })
        .collect();
    assert!(
        !spans.is_empty() && spans.iter().all(|span| *span == 750_000_000),
        "{spans:?}"
    );
    assert_eq!(header.started.unwrap().0, 1_796_093_900_500_000_000);
    assert_eq!(header.plan.duration.as_nanos(), 1_750_000_000);
}

/// A plan has at most 30 days, of which the last second is that of the last sample.
#[test]
fn a_run_has_at_most_thirty_days() {
    let (header, _) = imported(&at(&["1796000000", "1798591999"]));
    assert_eq!(header.plan.duration.as_nanos(), 30 * 86_400 * 1_000_000_000);
    assert_eq!(Plan::from_json(&header.plan.to_json()), Ok(header.plan));
    assert!(matches!(
        read(&at(&["1796000000", "1798592000"]), "f"),
        Err(DumpError::Invalid { .. })
    ));
}

#[test]
fn each_station_has_its_values() {
    let (_, rows) = imported(&at(&["1796093900", "1796093901"]));
    let address = Some("02:00:00:00:01:00");
    // -30 dBm; 13 Mbit/s; 828646 - 799016 bytes to it and 18115947 - 17300647 bytes from it.
    assert_eq!(
        values(&rows, Observable::Signal, "wlan0", address),
        [(0, -3000), (1, -3000)]
    );
    let rate = vec![(0, 13_000_000), (1, 13_000_000)];
    assert_eq!(values(&rows, Observable::RateDown, "wlan0", address), rate);
    assert_eq!(values(&rows, Observable::BytesDown, "wlan0", address), [(1, 29_630)]);
    assert_eq!(values(&rows, Observable::BytesUp, "wlan0", address), [(1, 815_300)]);
}

#[test]
fn channels_in_use_are_values() {
    let survey = |busy: u64| {
        format!(
            "Survey data from wlan0\n\tfrequency:\t\t\t2412 MHz\nSurvey data from wlan0\n\tfrequency:\t\t\t2437 MHz [in use]\n\
             \tnoise:\t\t\t\t-95 dBm\n\tchannel active time:\t\t{} ms\n\tchannel busy time:\t\t{busy} ms\n",
            2 * busy
        )
    };
    let (header, rows) = imported(&(survey(100) + &survey(350)));
    assert_eq!(
        values(&rows, Observable::Noise, "wlan0", None),
        [(0, -9500), (1, -9500)]
    );
    assert_eq!(values(&rows, Observable::Busy, "wlan0", None), [(1, 250_000_000)]);
    assert_eq!(values(&rows, Observable::OnChannel, "wlan0", None), [(1, 500_000_000)]);
    assert_eq!(header.source.unwrap().program, "iw");
}

#[test]
fn a_single_sample_has_no_counters() {
    let (header, rows) = imported(&dumps()[0]);
    assert_eq!(values(&rows, Observable::QueueSent, "lan cake", None), []);
    assert_eq!(values(&rows, Observable::QueuedBytes, "lan cake", None).len(), 1);
    assert_eq!(
        header.source.unwrap().left_out,
        ["counters, whose increase needs two samples"]
    );
}

#[test]
fn invalid_dumps_are_errors_with_their_line() {
    let station = "Station 02:00:00:00:01:00 (on wlan0)\n\tsignal:  \t-30 dBm\n";
    let line = |text: &str| match read(text, "f") {
        Err(DumpError::Invalid { line, .. }) => line,
        other => panic!("{text}: {other:?}"),
    };
    for (text, expected) in [
        (format!("{station}Station 02:00:00:00:zz:00 (on wlan0)\n"), 3),
        (
            format!("{station}Station 02:00:00:00:01:00 (on {})\n", "x".repeat(16)),
            3,
        ),
        ("qdisc fq_codel 0: dev eth0 root refcnt 2\n".to_owned(), 1),
        (format!("{station}[{{\"kind\": \"cake\", \n"), 3),
        (format!("{station}1796093900\n{station}"), 3),
        (format!("1796093900\n{station}{station}"), 4),
        (format!("1796093900\n{station}1796093900\n{station}"), 4),
        (format!("1796093900\n{station}1999999999\n{station}"), 4),
        (format!("{station}{}\n", "[".repeat(10_000)), 3),
        // Too many elements, and too long a list.
        (format!("{station}[{{\"kind\":\"x\"}}{}]\n", ",0".repeat(512)), 3),
        (format!("{station}[{{\"kind\":\"{}\"}}]\n", "x".repeat(1 << 20)), 3),
    ] {
        assert_eq!(line(&text), expected, "{text}");
    }
    for empty in ["", "[]\n", "Survey data from wlan0\n\tfrequency:\t2412 MHz\n"] {
        assert_eq!(read(empty, "f"), Err(DumpError::Empty), "{empty}");
    }
}

/// The corpus, and 2000 inputs made from it.
#[test]
fn any_bytes_are_read() {
    let corpus = fuzz::corpus(&folder("dumps"));
    assert!(corpus.len() >= 3, "the corpus is there");
    for bytes in &corpus {
        check_dumps(bytes);
    }
    for bytes in fuzz::mutations(&corpus).take(2000) {
        check_dumps(&bytes);
    }
}
