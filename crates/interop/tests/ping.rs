//! Import of outputs of ping. iputils 20221126 (`times`: `-D -O`, `plain`: `-O`, `cut`: killed) and busybox 1.35 pinged a host
//! that lost, delayed and repeated answers, with `-c 24 -i 0.05 -W 1`. `macos` is written by hand in the format of macOS.
//! The expected values are those of ping's own summary.

use netburn_interop::import::{FileError, ImportError, Imported, read, record};
use netburn_record::row::Row;
use netburn_units::{ByteSize, Duration};
use netburn_workload::config::{Grid, KindSettings};
use netburn_workload::kinds::Probe;
use netburn_workload::{Operation, Outcome};
use std::path::Path;

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ping");
    std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap()
}

fn imported(text: &str) -> Imported {
    read(text.as_bytes(), "ping.txt").unwrap()
}

fn operations(imported: &Imported) -> Vec<Operation> {
    let operation = |row: &Row| match row {
        Row::Operation(row) => row.operation,
        other => panic!("{other:?}"),
    };
    imported.rows.iter().map(operation).collect()
}

/// Round-trip times in ms.
fn round_trips(operations: &[Operation]) -> Vec<f64> {
    let finished = operations.iter().filter_map(Operation::latency);
    finished.map(|took| took.as_millis_f64()).collect()
}

/// The numbers before the words of the summary, and minimum, mean and maximum.
fn summary(text: &str) -> (u64, u64, [f64; 3]) {
    let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap();
    let mut counts = line("packets transmitted").split(", ");
    let mut count = || counts.next().unwrap().split(' ').next().unwrap().parse().unwrap();
    let (sent, received) = (count(), count());
    let times = line("min/avg/max").split(" = ").nth(1).unwrap();
    let times: Vec<f64> = times
        .split('/')
        .take(3)
        .map(|time| time.trim_end_matches(" ms").parse().unwrap())
        .collect();
    (sent, received, times.try_into().unwrap())
}

#[test]
fn packets_and_times_are_those_of_the_summary() {
    // iputils prints three digits of a time, and all digits in its summary.
    for (name, rounding) in [("times", 0.051), ("plain", 0.051), ("busybox", 0.001), ("macos", 0.001)] {
        let text = file(name);
        let (sent, received, [least, mean, most]) = summary(&text);
        let operations = operations(&imported(&text));
        let times = round_trips(&operations);
        assert_eq!(
            (operations.len() as u64, times.len() as u64),
            (sent, received),
            "{name}"
        );
        let close = |ours: f64, printed: f64| (ours - printed).abs() <= rounding;
        assert!(
            close(times.iter().copied().fold(f64::MAX, f64::min), least),
            "{name}: {times:?}"
        );
        assert!(
            close(times.iter().copied().fold(0.0, f64::max), most),
            "{name}: {times:?}"
        );
        // The mean of ping includes duplicates.
        let duplicates = text.lines().filter(|line| line.contains("(DUP!)"));
        let duplicates: Vec<f64> = duplicates
            .map(|line| {
                line.split("time=")
                    .nth(1)
                    .unwrap()
                    .split(' ')
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap()
            })
            .collect();
        let all = times.iter().chain(&duplicates);
        let ours = all.clone().sum::<f64>() / all.count() as f64;
        assert!(close(ours, mean), "{name}: {ours}, {mean}");
    }
}

#[test]
fn the_losses_are_the_numbers_that_are_missing() {
    // A packet that was answered after "no answer yet" is not lost. iputils counts from 1, the others from 0.
    for (name, expected) in [
        ("times", vec![3, 10, 17, 24]),
        ("busybox", vec![3, 10, 17]),
        ("macos", vec![1, 5]),
    ] {
        let imported = imported(&file(name));
        let first = u64::from(name == "times");
        let operations = operations(&imported);
        let lost = operations
            .iter()
            .filter(|operation| operation.outcome == Outcome::TimedOut);
        let mut lost: Vec<u64> = lost.map(|operation| operation.sequence + first).collect();
        lost.sort_unstable();
        assert_eq!(lost, expected, "{name}");
    }
}

/// The summary of the run has the loss that ping prints, rounded to whole percents by busybox.
#[test]
fn a_run_has_the_loss_that_ping_prints() {
    for (name, percent) in [("times", 16.6667), ("busybox", 12.5), ("macos", 33.3333)] {
        let folder = tempfile::tempdir().unwrap();
        let run = record(&folder.path().join("run"), &imported(&file(name))).unwrap();
        let workload = &run.summary().stations[0].workloads[0];
        assert_eq!((workload.name.as_str(), workload.kind.as_str()), ("ping", "probe"));
        let lost = workload.probe.unwrap().lost_share.unwrap() * 100.0;
        assert!((lost - percent).abs() < 1e-3, "{name}: {lost}");
    }
}

#[test]
fn times_come_from_the_output_or_from_its_summary() {
    let with = imported(&file("times"));
    // The first line was printed at 1796093919.519390 s, 7.33 ms after the packet.
    assert_eq!(with.header.started.unwrap().0, 1_796_093_919_519_390_000 - 7_330_000);
    let second = operations(&with)
        .into_iter()
        .find(|operation| operation.sequence == 1)
        .unwrap();
    assert_eq!(
        second.due.as_nanos(),
        (572_793 - 10_200) * 1000 - (519_390 - 7_330) * 1000
    );
    // 1186 ms for 23 gaps.
    let without = imported(&file("plain"));
    assert_eq!(without.header.started, None);
    let second = operations(&without)
        .into_iter()
        .find(|operation| operation.sequence == 1)
        .unwrap();
    assert_eq!(second.due.as_nanos(), 1_186_000_000 / 23);
    let source = without.header.source.unwrap();
    assert!(
        source.left_out[0].ends_with("the run has one every 51.565217 ms"),
        "{:?}",
        source.left_out
    );
    assert_eq!(source.test, "ICMP round trips to 192.0.2.1");
    assert_eq!(source.left_out[1], "3 duplicate answers");
}

#[test]
fn an_output_without_its_end_has_the_packets_up_to_its_last_line() {
    let text = file("cut");
    let cut = imported(&text);
    let operations = operations(&cut);
    assert_eq!(operations.len(), 9);
    assert_eq!(
        round_trips(&operations).len(),
        text.matches("time=").count() - text.matches("DUP").count()
    );
    let left_out = cut.header.source.unwrap().left_out;
    assert!(left_out.last().unwrap().contains("no summary"), "{left_out:?}");
    // The last lines only: losses before them are unknown.
    let text = file("times");
    let end = text.find("icmp_seq=18").unwrap() - 50;
    let tail = imported(&text[text[..end].rfind('\n').unwrap() + 1..]);
    let left_out = tail.header.source.as_ref().unwrap().left_out.clone();
    assert!(
        left_out.last().unwrap().contains("the summary counts 20 answers"),
        "{left_out:?}"
    );
}

/// Packets 1 and 3 to 5 were sent at 0 s, 2 s, 12 s and 13 s: packet 2 is between its neighbours, and packet 6 after the
/// last one. The typical interval is 3.25 s.
#[test]
fn a_lost_packet_is_between_its_neighbours() {
    let line = |second: u32, number: u32| {
        format!("[17960939{second:02}.010000] 64 bytes from 192.0.2.1: icmp_seq={number} ttl=64 time=10.0 ms\n")
    };
    let text = format!(
        "PING a (192.0.2.1) 56(84) bytes of data.\n{}{}{}{}\n6 packets transmitted, 4 received, 33% packet loss\n",
        line(0, 1),
        line(2, 3),
        line(12, 4),
        line(13, 5)
    );
    let mut due: Vec<f64> = operations(&imported(&text))
        .iter()
        .map(|operation| operation.due.as_nanos() as f64 / 1e9)
        .collect();
    due.sort_by(f64::total_cmp);
    assert_eq!(due, [0.0, 1.0, 2.0, 12.0, 13.0, 16.25]);
}

/// The size is that of the header, also with the interface of `-I`, or the name of an IPv6 address.
#[test]
fn the_size_of_packets_is_in_the_header() {
    let reply = "64 bytes from x: icmp_seq=1 ttl=64 time=1.00 ms\n";
    for (header, size) in [
        ("PING a (192.0.2.1) 1000(1028) bytes of data.", 1000),
        (
            "PING a (192.0.2.1) from 192.0.2.9 eth0: 1000(1028) bytes of data.",
            1000,
        ),
        ("PING a(b (2001:db8::1)) 1000 data bytes", 1000),
        ("PING a(b (2001:db8::1)) from 2001:db8::9 eth0: 1000 data bytes", 1000),
        ("PING a (192.0.2.1): 1000 data bytes", 1000),
        ("PING6(1048=40+8+1000 bytes) 2001:db8::9 --> 2001:db8::1", 1000),
    ] {
        let imported = imported(&format!("{header}\n{reply}"));
        let config = &imported.header.plan.stations[0].workloads[0].config;
        let expected = KindSettings::Probe(Probe {
            size: ByteSize::from_bytes(size),
            grid: Grid::regular(Duration::from_secs(1)),
            ..Probe::default()
        });
        assert_eq!(config.settings, expected, "{header}");
    }
}

/// Numbers have 16 bits, so that 0 follows 65535.
#[test]
fn numbers_wrap() {
    let text = "PING a (192.0.2.1) 56(84) bytes of data.\n\
        64 bytes from 192.0.2.1: icmp_seq=65534 ttl=64 time=1.00 ms\n\
        64 bytes from 192.0.2.1: icmp_seq=65535 ttl=64 time=2.00 ms\n\
        64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=4.00 ms\n\
        64 bytes from 192.0.2.1: icmp_seq=0 ttl=64 time=3000 ms\n";
    assert_eq!(round_trips(&operations(&imported(text))), [1.0, 2.0, 4.0, 3000.0]);
}

#[test]
fn an_unreachable_host_has_only_losses() {
    let text = "PING a (192.0.2.1) 56(84) bytes of data.\n\
        From 192.0.2.2 icmp_seq=1 Destination Host Unreachable\n\
        From 192.0.2.2 icmp_seq=2 Destination Host Unreachable\n\n\
        --- a ping statistics ---\n\
        3 packets transmitted, 0 received, +2 errors, 100% packet loss, time 2041ms\n";
    let operations = operations(&imported(text));
    assert_eq!(operations.len(), 3);
    assert!(
        operations
            .iter()
            .all(|operation| operation.outcome == Outcome::TimedOut)
    );
}

#[test]
fn invalid_outputs_are_errors_with_their_line() {
    let header = "PING a (192.0.2.1) 56(84) bytes of data.\n";
    let reply = |number: &str, time: &str| format!("64 bytes from 192.0.2.1: icmp_seq={number} ttl=64 time={time}\n");
    let error = |text: &str| match read(text.as_bytes(), "f") {
        Err(ImportError::File { tool: "ping", error }) => error,
        other => panic!("{text}: {other:?}"),
    };
    for time in ["-1 ms", "NaN ms", "inf ms", "1e300 ms", "600001 ms", "12 s", "", "x"] {
        let place = match error(&format!("{header}{}", reply("1", time))) {
            FileError::Value { place, .. } => place,
            other => panic!("{time}: {other:?}"),
        };
        assert_eq!(place, "line 2", "{time}");
    }
    let twice = format!("{header}{}{header}", reply("1", "1 ms"));
    assert!(matches!(error(&twice), FileError::Value { place, .. } if place == "line 3"));
    let quiet = format!("{header}\n--- a ping statistics ---\n2 packets transmitted, 2 received, 0% packet loss\n");
    assert!(error(&quiet).to_string().contains("found a summary only"));
    assert!(matches!(error(header), FileError::Empty(_)));
    let small = format!("{header}16 bytes from 192.0.2.1: icmp_seq=1 ttl=64\n");
    assert!(error(&small).to_string().contains("the answers have no time"));
    let many = format!("{header}{}{}", reply("70000", "1 ms"), reply("400000", "1 ms"));
    assert!(matches!(error(&many), FileError::TooMany { .. }));
    let far = format!(
        "{header}\n{}",
        "4000000000 packets transmitted, 0 received, 100% packet loss\n"
    );
    assert!(matches!(error(&far), FileError::TooMany { .. }));
}
