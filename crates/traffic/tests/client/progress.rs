//! Uploads behind a rate limit of the server. Its kernel acknowledges content before the limit, so the server reports
//! what has passed.

use crate::netburn_server::{WAYS, serve};
use crate::util::{SETTLE, Scripted, drive_one, upload};
use netburn_traffic::client::Target;
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::config::Requests;
use netburn_workload::kinds::Bulk;
use netburn_workload::{Config, Direction, Failure, Outcome};

/// Four connections for 1 s at 6 Mbit/s. The law: delivered ≤ rate × time. The virtual link compensates 25 ms of lateness
/// and moves pieces of 1500 B. The client counts one more before the first report. Without reports, the kernel's receive
/// buffers would add 64 KiB or more per connection.
#[test]
fn a_limited_server_receives_at_its_rate() {
    const RATE: u64 = 6_000_000;
    for (http, tls) in WAYS {
        let server = serve(|config| config.rate = Some(BitRate::from_bps(RATE)));
        let config = Config::from(Bulk {
            streams: 4,
            ..Bulk::new(Direction::Up)
        });
        let begun = std::time::Instant::now();
        let left = drive_one(&server.target(http, tls), config, 1_000, 0);
        let most = (begun.elapsed().as_secs_f64() + 0.025) * RATE as f64 / 8.0 + 8.0 * 1_500.0;
        let counted = left.report.bytes_up;
        let received = server.health(|_| true).bytes_up;
        let case = format!("{http:?} {tls}: {counted} counted, {received} received");
        assert!(counted as f64 <= most, "{case}, at most {most}");
        // A client that stood still has not read the last reports.
        let stood_still = left.report.standstill_us_max > 250_000.0;
        assert!(
            counted <= received && (counted >= received / 4 || stood_still),
            "{case}"
        );
        let rows: u64 = left.intervals.iter().map(|row| row.bytes_up).sum();
        assert_eq!(rows, counted, "{case}");
    }
}

/// With the response all content has arrived, whatever the last report was.
#[test]
fn completed_uploads_count_completely() {
    for (http, tls) in WAYS {
        let server = serve(|config| config.rate = Some(BitRate::from_mbps(40)));
        let config = Config::from(Bulk {
            requests: Requests::kept(ByteSize::from_bytes(300_001)),
            streams: 4,
            ..Bulk::new(Direction::Up)
        });
        let left = drive_one(&server.target(http, tls), config, 500, SETTLE);
        let case = format!("{http:?} {tls}");
        let finished = left.operations.iter().filter(|o| o.outcome == Outcome::Finished);
        assert!(finished.clone().count() >= 4, "{case}: {:?}", left.operations);
        assert!(finished.clone().all(|o| o.bytes == 300_001), "{case}");
        assert_eq!(left.report.bytes_up, left.bytes(), "{case}");
        let received = server.health(|health| health.bytes_up >= left.bytes()).bytes_up;
        assert!(left.bytes() <= received, "{case}: {} of {received}", left.bytes());
    }
}

/// Time in ms for an upload of 1 MB over loopback.
const UPLOAD: i64 = 5_000;

/// Uploads 1 MB to a server that first sends `heads`, then receives all content and never responds. Returns the counted
/// bytes.
fn counted_after(heads: &[&str]) -> u64 {
    let text = heads.join("\r\n\r\n") + if heads.is_empty() { "" } else { "\r\n\r\n" };
    let server = Scripted::start(move |talk, _| {
        talk.say(text.as_bytes())?;
        assert!(
            talk.request()?
                .is_some_and(|head| head.starts_with("POST /sink?progress=104 "))
        );
        // Until the client closes the connection.
        talk.request().map(drop)
    });
    let config = upload(ByteSize::from_bytes(SIZE));
    drive_one(&server.target(), config, UPLOAD, 0).report.bytes_up
}

const SIZE: u64 = 1_000_000;
/// Bytes that the kernel may acknowledge before a busy machine sends the first response: more than the initial window.
const EARLY: u64 = 128 << 10;

#[test]
fn a_report_limits_what_counts() {
    const HEAD: &str = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: ";
    let report = |offset: &str| format!("{HEAD}{offset}");
    let counted = |offsets: &[&str]| {
        let heads: Vec<String> = offsets.iter().map(|offset| report(offset)).collect();
        counted_after(&heads.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let cases = [
        (&["0", "700000"][..], 700_000),
        // A smaller one, and invalid ones.
        (&["700000", "10"], 700_000),
        (&["700000", "x", "-1", "", "800000, 900000", "0x100000"], 700_000),
        // More than was sent.
        (&["18446744073709551615"], SIZE),
        (&["99999999999999999999", "x"], SIZE),
    ];
    std::thread::scope(|scope| {
        let at_zero = scope.spawn(|| counted(&["0"]));
        let cases = cases.map(|(offsets, expected)| (offsets, expected, scope.spawn(move || counted(offsets))));
        let at_zero = at_zero.join().unwrap();
        assert!(at_zero <= EARLY, "{at_zero}");
        for (offsets, expected, counted) in cases {
            assert_eq!(counted.join().unwrap(), expected, "{offsets:?}");
        }
    });
}

#[test]
fn other_interim_responses_are_ignored() {
    let cases = [
        &[][..],
        &["HTTP/1.1 100 Continue"],
        &["HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nUpload-Offset: 10"],
        &["HTTP/1.1 104 Upload Resumption Supported\r\nLocation: /upload/1"],
    ];
    std::thread::scope(|scope| {
        for (heads, counted) in cases.map(|heads| (heads, scope.spawn(|| counted_after(heads)))) {
            assert_eq!(counted.join().unwrap(), SIZE, "{heads:?}");
        }
    });
}

#[test]
fn endless_interim_responses_fail_the_upload() {
    let head = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 5\r\n\r\n";
    for (first, endless) in [
        ("", head.repeat(100)),
        ("HTTP/1.1 104 x\r\n", format!("A: {}", "b".repeat(10_000))),
        ("HTTP/1.1 104 x\r\n", "A: b\r\n".repeat(1_000)),
    ] {
        let server = Scripted::start(move |talk, _| {
            talk.say(first.as_bytes())?;
            loop {
                talk.say(endless.as_bytes())?;
            }
        });
        let config = upload(ByteSize::from_gib(1));
        let left = drive_one(&server.target(), config, 500, SETTLE);
        let failed = left.count(|o| matches!(o, Outcome::Failed(Failure::Answer)));
        assert!(failed >= 1, "{:?}", left.operations);
    }
}

/// The progress of an upload to another server counts only if its URL asks for it.
#[test]
fn reports_without_a_request_are_ignored() {
    let server = Scripted::start(move |talk, _| {
        talk.say(b"HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 0\r\n\r\n")?;
        talk.request()?;
        talk.request().map(drop)
    });
    let target = Target {
        resource: netburn_traffic::client::Resource::Post("/upload".into(), ByteSize::from_bytes(SIZE)),
        ..server.target()
    };
    let config = Config {
        timeout: Duration::from_secs(10),
        ..Config::upload()
    };
    assert_eq!(drive_one(&target, config, UPLOAD, 0).report.bytes_up, SIZE);
}
