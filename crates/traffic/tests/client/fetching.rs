//! `fetch` with real servers.

use crate::util::{Process, Scripted, runtime, wait_until};
use netburn_test_support::unused_address;
use netburn_traffic::drive::{CancelHandle, CancelToken};
use netburn_traffic::fetch::{self, FetchError, Options, Permission, ReachError, Report, Second, Site, csv};
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::Connections;
use std::time::{Duration as StdDuration, UNIX_EPOCH};

fn options(process: &Process, path: &str) -> Options {
    let mut options = Options::new(format!("http://{}{path}", process.address).parse().unwrap());
    options.duration = Duration::from_millis(1200);
    options.idle = Duration::ZERO;
    options
}

fn run(options: &Options, stop: CancelToken) -> (Site, Report, Vec<Second>) {
    let runtime = runtime();
    let site = runtime.block_on(fetch::find(options)).unwrap();
    let mut seconds = Vec::new();
    let report = runtime
        .block_on(fetch::run(options, &site, stop, |second| seconds.push(second.clone())))
        .unwrap();
    (site, report, seconds)
}

#[test]
fn bytes_and_requests_are_those_of_nginx_s_log() {
    let nginx = Process::nginx();
    nginx.object("object", 100_000);
    let mut options = options(&nginx, "/object");
    // 2 × 100,000 B at 16 Mbit/s: a page every 100 ms.
    options.concurrency = 2;
    options.rate = Some(BitRate::from_mbps(16));
    options.idle = Duration::from_secs(1);
    let (site, report, seconds) = run(&options, CancelToken::never());
    assert_eq!(
        (site.size, site.permission),
        (ByteSize::from_bytes(100_000), Permission::ThisMachine)
    );
    // A page that takes longer than its period delays later pages.
    assert!((1..=12).contains(&report.pages), "{}", report.pages);
    assert_eq!(report.finished, report.pages);
    assert_eq!(report.page_mean, Some(200_000.0));
    assert_eq!(report.page_deviation, Some(0.0));
    assert_eq!(report.percent_ok(), Some(100.0));
    let log = nginx.log();
    let gets: Vec<_> = log.iter().filter(|line| line.0 == "GET").collect();
    assert_eq!(gets.len() as u64, report.pages * 2);
    assert_eq!(gets.iter().map(|line| line.3).sum::<u64>(), report.bytes);
    // The inspection of the URL, and the baseline.
    let heads = log.len() - gets.len();
    assert!(heads > 1, "{heads}");
    assert!(report.idle_ms.is_some());
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
    // The last page may end in a later second.
    assert!(seconds.iter().map(|second| second.at).eq(1..=seconds.len() as i64));
    assert!(!seconds.is_empty());
}

#[test]
fn without_a_rate_pages_follow_each_other_for_any_number_of_connections() {
    let nginx = Process::nginx();
    nginx.object("object", 5000);
    for connections in [Connections::Keep, Connections::New] {
        let mut options = options(&nginx, "/object");
        options.duration = Duration::from_secs(2);
        options.connections = connections;
        let (_, report, _) = run(&options, CancelToken::never());
        assert!(report.finished > 2, "{}", report.finished);
        assert_eq!(report.bytes, report.finished * 5000);
    }
}

#[test]
fn python_s_server_is_fetched_from() {
    let python = Process::python();
    python.object("a file", 12_345);
    let mut options = options(&python, "/a%20file");
    options.duration = Duration::from_millis(400);
    let (_, report, _) = run(&options, CancelToken::never());
    assert!(report.finished > 0);
    assert_eq!(report.page_mean, Some(12_345.0));
    assert!(report.failures.is_empty(), "{:?}", report.failures);
}

#[test]
fn redirects_are_followed_before_the_fetching_begins() {
    let nginx = Process::nginx();
    nginx.object("object", 50);
    let mut options = options(&nginx, "/old");
    options.duration = Duration::from_millis(200);
    let (site, report, _) = run(&options, CancelToken::never());
    assert_eq!((site.redirects, site.url.path.as_str()), (2, "/object"));
    assert_eq!(report.page_mean, Some(50.0));
    let error = |path: &str| {
        options.url.path = path.into();
        runtime().block_on(fetch::find(&options)).unwrap_err()
    };
    let mut error = error;
    assert!(matches!(error("/round"), FetchError::TooManyRedirects(_)));
    assert!(matches!(error("/nothing"), FetchError::Status(_, 404)));
    let gone = unused_address();
    options.url = format!("http://{gone}/").parse().unwrap();
    let error = runtime().block_on(fetch::find(&options)).unwrap_err();
    assert!(matches!(error, FetchError::Reach(ReachError::Request(..))), "{error}");
    let log = nginx.log();
    assert!(
        log.iter()
            .filter(|line| line.0 == "GET")
            .all(|line| line.1 == "/object" || line.2 != 302)
    );
}

#[test]
fn post_sends_to_the_url() {
    let nginx = Process::nginx();
    let mut options = options(&nginx, "/taken");
    options.post = Some(ByteSize::from_bytes(300_000));
    options.duration = Duration::from_millis(300);
    let (site, report, _) = run(&options, CancelToken::never());
    assert_eq!(site.size, ByteSize::from_bytes(300_000));
    assert!(report.finished > 0, "{report:?}");
    assert_eq!(report.page_mean, Some(300_000.0));
    let log = nginx.log();
    let posts: Vec<_> = log.iter().filter(|line| line.0 == "POST").collect();
    // The request that the end of the run interrupted may be logged too.
    assert!(
        (report.pages..=report.pages + 1).contains(&(posts.len() as u64)),
        "{} posts",
        posts.len()
    );
}

#[test]
fn a_server_without_head_and_length_is_inspected_with_get() {
    let server = Scripted::start(|talk, _| {
        while let Some(head) = talk.request()? {
            if head.starts_with("HEAD") {
                talk.say(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")?
            } else {
                talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n")?
            }
        }
        Ok(())
    });
    let mut options = Options::new(format!("http://{}/x", server.address).parse().unwrap());
    options.duration = Duration::from_millis(200);
    options.idle = Duration::ZERO;
    let (site, report, _) = run(&options, CancelToken::never());
    assert_eq!(site.size, ByteSize::from_bytes(5));
    assert_eq!(report.page_mean, Some(5.0));
}

#[test]
fn a_cancelled_fetch_returns_a_report() {
    let nginx = Process::nginx();
    nginx.object("object", 1000);
    let mut options = options(&nginx, "/object");
    options.duration = Duration::from_secs(3600);
    let (stopper, stop) = CancelHandle::new();
    let log = nginx.folder.path().join("access.log");
    let stopping = std::thread::spawn(move || {
        // A request for a second page means that the first has finished.
        wait_until(|| {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            text.lines().filter(|line| line.starts_with("GET ")).count() > 1
        });
        stopper.stop();
    });
    let (_, report, _) = run(&options, stop);
    stopping.join().unwrap();
    assert!(
        report.finished > 0 && report.failures.is_empty(),
        "{:?}",
        report.failures
    );
}

#[test]
fn results_are_appended_to_a_csv_file() {
    let nginx = Process::nginx();
    nginx.object("object", 1500);
    let mut options = options(&nginx, "/object");
    options.duration = Duration::from_millis(150);
    options.jitter = Duration::from_millis(25);
    let (_, report, _) = run(&options, CancelToken::never());
    let path = nginx.folder.path().join("results.csv");
    let at = UNIX_EPOCH + StdDuration::from_secs(1_767_225_600);
    csv::append(&path, &report, at).unwrap();
    csv::append(&path, &report, at).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Vec<&str>> = text
        .split_terminator("\r\n")
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], csv::COLUMNS);
    assert_eq!(lines[1], lines[2]);
    let field = |name: &str| lines[1][csv::COLUMNS.iter().position(|column| *column == name).unwrap()];
    assert_eq!(lines[1].len(), csv::COLUMNS.len());
    assert_eq!(field("timestamp"), "2026-01-01T00:00:00Z");
    assert_eq!(field("concurrency"), "1");
    assert_eq!(field("pages fetched"), report.finished.to_string());
    assert_eq!(field("mean page length KB"), "1.500");
    assert_eq!(field("percent OK"), "100.000");
    assert_eq!(field("jitter interval ms"), "25.000");
    assert_eq!(field("ESSID"), "");
    let json = report.json();
    assert_eq!(json["finished"], report.finished);
    assert_eq!(json["schema"], "netburn.fetch/1");
    assert!(report.text().contains("at once"));
}
