//! `rpm` with `serve`, and with servers that answer as a hostile server could.

use crate::util::runtime;
use bytes::Bytes;
use netburn_traffic::drive::{CancelHandle, CancelToken};
use netburn_traffic::fetch::Permission;
use netburn_traffic::rpm::{self, Load, Options, Report, RpmError};
use netburn_traffic::server::{Addresses, RpmClients, Server, ServerConfig};
use netburn_traffic::tls::Identity;
use netburn_units::{ByteSize, Duration, Probability};
use netburn_workload::Direction::{Down, Up};
use netburn_workload::responsiveness::{Config, Counts, End, Stage};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A server on its own thread, stopped when dropped.
struct Serving {
    addresses: Addresses,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

fn identity() -> Identity {
    Identity::generate(&["localhost".into(), "127.0.0.1".into()]).unwrap()
}

fn serve(change: impl FnOnce(&mut ServerConfig)) -> Serving {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut config = ServerConfig {
        listen: vec![any],
        listen_tls: vec![any],
        tls: Some(identity()),
        threads: NonZeroUsize::new(1),
        rpm: RpmClients::Local,
        ..ServerConfig::default()
    };
    change(&mut config);
    let runtime = runtime();
    let server = runtime.block_on(Server::bind(config)).unwrap();
    let addresses = server.addresses().clone();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        runtime.block_on(server.run(async { drop(stopped.await) })).unwrap();
    });
    Serving {
        addresses,
        stop: Some(stop),
        thread: Some(thread),
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A short test: intervals of 200 ms, two for an average, and any goodput is stable.
fn options(address: SocketAddr) -> Options {
    let mut options = Options::new(format!("https://{address}").parse().unwrap());
    options.insecure = true;
    options.config = Config {
        idle: Duration::from_millis(500),
        interval: Duration::from_millis(200),
        intervals: NonZeroUsize::new(2).unwrap(),
        tolerance: Probability::ONE,
        connections: 3,
        time: Duration::from_secs(60),
        ..options.config
    };
    options
}

fn run(options: &Options) -> (Report, usize) {
    run_until(options, CancelToken::never(), |_| {})
}

fn run_until(options: &Options, stop: CancelToken, mut each: impl FnMut(usize)) -> (Report, usize) {
    let runtime = runtime();
    let site = runtime.block_on(rpm::find(options)).unwrap();
    assert_eq!(site.permission, Permission::ThisMachine);
    let mut intervals = 0;
    let report = runtime.block_on(rpm::run(options, &site, stop, |_, _| {
        intervals += 1;
        each(intervals);
    }));
    (report.unwrap(), intervals)
}

fn assert_counted(counts: Counts) {
    assert_eq!(
        counts.due,
        counts.answered + counts.failed + counts.timed_out + counts.not_sent
    );
    assert_eq!(counts.outstanding, 0);
    assert!(counts.answered > 0 && counts.failed == 0, "{counts:?}");
}

/// A rate that a busy machine carries as well, so that probes are answered in time.
fn slow(config: &mut ServerConfig) {
    config.rate = Some(netburn_units::BitRate::from_mbps(20));
}

#[test]
fn both_directions_in_turn_have_a_score_each() {
    let served = serve(slow);
    let options = options(served.addresses.https[0]);
    let (report, intervals) = run(&options);
    assert!(report.is_measured(), "{}", report.text());
    assert_eq!(report.tests.len(), 2);
    for (test, direction) in report.tests.iter().zip([Down, Up]) {
        let result = &test.result;
        assert_eq!(test.directions, [direction]);
        assert_eq!((result.stage, &test.failure), (Stage::Responsiveness, &None));
        assert_counted(result.foreign);
        assert_counted(result.own);
        let scores = result.scores;
        let draft = scores.draft.unwrap();
        assert!((draft.score - (draft.foreign + draft.loaded) / 2.0).abs() < 1e-6 * draft.score);
        // A harmonic mean of two rates is at most their arithmetic mean. The shortest sums of three parts are at least the
        // sums of the shortest parts.
        assert!(scores.goresponsiveness.unwrap().score <= draft.score * (1.0 + 1e-9));
        // The last probes are those of the last two intervals.
        assert!(scores.foreign_count <= result.foreign.answered);
        let [goodput] = result.goodput[..] else {
            panic!("one direction")
        };
        assert_eq!(goodput.direction, direction);
        // The rate is that of the last two intervals. On a busy machine nothing may arrive in them.
        assert!(goodput.rate.is_some(), "{goodput:?}");
        assert!((1..=3).contains(&goodput.connections));
        assert!(result.bytes > 100_000);
        assert_eq!(test.tls.unwrap().as_str(), Some("TLSv1_3"));
    }
    // Only the first test has probes without load.
    let idle = report.tests[0].result.idle.unwrap();
    assert!(idle.draft.is_some() && idle.foreign_count > 0);
    assert_eq!(report.tests[1].result.idle, None);
    assert!(intervals >= 4);
    let document = report.json();
    assert_eq!(document["schema"], "netburn.rpm/1");
    assert_eq!(document["tests"][0]["load"], json!(["download"]));
    let score = document["tests"][1]["rpm"]["draft"]["rpm"].as_f64().unwrap();
    assert_eq!(Some(score), report.tests[1].result.scores.draft.map(|rpm| rpm.score));
    let text = report.text();
    for part in [
        "HTTP/2 over TLS 1.3",
        "download: ",
        "upload: ",
        "goresponsiveness",
        "self probes",
        "idle",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn both_directions_at_once_have_one_score() {
    let served = serve(slow);
    let mut options = options(served.addresses.https[0]);
    options.load = Load::Concurrent;
    options.config.idle = Duration::ZERO;
    let (report, _) = run(&options);
    let [test] = &report.tests[..] else { panic!("one test") };
    assert!(report.is_measured(), "{}", report.text());
    assert_eq!(test.load(), "download and upload");
    let goodput = &test.result.goodput;
    assert!(
        goodput.len() == 2 && goodput.iter().all(|of| of.rate.is_some()),
        "{goodput:?}"
    );
    assert!(test.result.bytes > 100_000, "{}", test.result.bytes);
}

/// A server with a rate limit: 20 Mbit/s over all connections, in both directions. Heads, frames and TLS are part of the
/// rate, and less than a tenth of it. The two intervals that count are 400 ms; the limiter permits bursts.
#[test]
fn the_goodput_is_that_of_the_path() {
    let served = serve(slow);
    let mut options = options(served.addresses.https[0]);
    options.config.interval = Duration::from_millis(500);
    options.config.tolerance = Probability::from_ppb(100_000_000).unwrap();
    let (report, _) = run(&options);
    for test in &report.tests {
        let result = &test.result;
        let mbps = result.goodput[0].rate.unwrap().as_mbps_f64();
        // Never more than the path carries in the time of the load. What waits in windows and buffers is less than 1 s.
        let most = (result.loaded.as_secs_f64() + 1.0) * 20e6 / 8.0;
        assert!(result.bytes as f64 <= most, "{}: {result:?}", test.load());
        // A client that had to wait for a processor receives within one interval what arrived during a longer time.
        let was_late = result.start_delay_max > Duration::from_millis(50);
        assert!(
            (15.0..=24.0).contains(&mbps) || was_late,
            "{}: {mbps} Mbit/s",
            test.load()
        );
    }
}

#[test]
fn a_test_ends_at_its_data_limit_and_when_it_is_cancelled() {
    let served = serve(|_| {});
    let mut options = options(served.addresses.https[0]);
    options.load = Load::Only(Down);
    options.config.data = Some(ByteSize::from_mib(1));
    let (report, _) = run(&options);
    let result = &report.tests[0].result;
    assert_eq!(result.end, End::DataLimit);
    // One read of a socket may exceed the limit.
    assert!((1 << 20..=2 << 20).contains(&result.bytes), "{}", result.bytes);

    options.config.data = None;
    options.config.tolerance = Probability::ZERO;
    options.config.time = Duration::from_secs(600);
    options.load = Load::Sequential;
    let (handle, stop) = CancelHandle::new();
    let (report, intervals) = run_until(&options, stop, |intervals| {
        if intervals == 2 {
            handle.stop();
        }
    });
    assert_eq!((report.tests.len(), report.tests[0].result.end), (1, End::Cancelled));
    assert!(intervals < 10 && !report.is_measured());
}

/// A server over HTTP/2 and TLS with an answer for each path.
struct Answering {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicU64>,
}

struct Answer {
    status: u16,
    location: Option<String>,
    body: Vec<u8>,
}

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status,
        location: None,
        body: body.into(),
    }
}

impl Answering {
    /// Starts a server. Its thread ends with the process.
    fn start(respond: impl Fn(&str, SocketAddr) -> Answer + Send + Sync + 'static) -> Answering {
        let (requests, connections) = (Arc::default(), Arc::new(AtomicU64::new(0)));
        let (seen, accepted): (Arc<Mutex<Vec<String>>>, _) = (Arc::clone(&requests), Arc::clone(&connections));
        let (tell, told) = std::sync::mpsc::channel();
        let respond = Arc::new(respond);
        std::thread::spawn(move || {
            runtime().block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                tell.send(address).unwrap();
                let acceptor = tokio_rustls::TlsAcceptor::from(identity().server_config());
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    accepted.fetch_add(1, Ordering::SeqCst);
                    let (acceptor, seen, respond) = (acceptor.clone(), Arc::clone(&seen), Arc::clone(&respond));
                    tokio::spawn(async move {
                        let stream = acceptor.accept(socket).await.ok()?;
                        let mut connection = h2::server::handshake(stream).await.ok()?;
                        while let Some(Ok((request, mut reply))) = connection.accept().await {
                            let path = request.uri().path().to_owned();
                            let answer = respond(&path, address);
                            seen.lock().unwrap().push(path);
                            let mut head = http::Response::builder().status(answer.status);
                            if let Some(location) = answer.location {
                                head = head.header("location", location);
                            }
                            let mut body = reply.send_response(head.body(()).ok()?, false).ok()?;
                            let _ = body.send_data(Bytes::from(answer.body), true);
                        }
                        Some(())
                    });
                }
            });
        });
        Answering {
            address: told.recv().unwrap(),
            requests,
            connections,
        }
    }
}

fn urls(base: &str) -> Value {
    json!({"version": 1, "urls": {
        "small_download_url": format!("{base}/s"),
        "large_download_url": format!("{base}/l"),
        "upload_url": format!("{base}/u"),
    }})
}

fn find(options: &Options) -> Result<rpm::Site, RpmError> {
    runtime().block_on(rpm::find(options))
}

/// A configuration with these contents, and a small object of one byte.
fn configuration(document: impl Fn(SocketAddr) -> Answer + Send + Sync + 'static) -> Answering {
    Answering::start(move |path, address| match path {
        "/.well-known/nq" => document(address),
        "/s" => answer(200, "x"),
        _ => answer(404, ""),
    })
}

/// The victim is another server. It must receive no connection.
#[test]
fn a_configuration_cannot_redirect_the_test() {
    let victim = configuration(|_| answer(404, ""));
    let at = victim.address;
    type Make = Box<dyn Fn(SocketAddr) -> Answer + Send + Sync>;
    let json_of = |document: Value| answer(200, document.to_string());
    let hostile: [(Make, &str); 5] = [
        (
            Box::new(move |_| json_of(urls(&format!("https://{at}")))),
            "`small_download_url`: found VICTIM, expected OWN, the server of the configuration",
        ),
        (
            Box::new(move |own| {
                let mut document = urls(&format!("https://{own}"));
                document["urls"]["upload_url"] = json!(format!("https://{at}/u"));
                json_of(document)
            }),
            "`upload_url`: found VICTIM, expected OWN, the server of the configuration",
        ),
        (
            Box::new(move |own| {
                let mut document = urls(&format!("https://{own}"));
                document["test_endpoint"] = json!(at.to_string());
                json_of(document)
            }),
            "`test_endpoint`: found VICTIM, expected OWN, the server of the configuration",
        ),
        (
            Box::new(move |_| Answer {
                location: Some(format!("https://{at}/.well-known/nq")),
                ..answer(302, "")
            }),
            "found status 302, a redirect to https://VICTIM/.well-known/nq, expected status 200",
        ),
        (
            Box::new(move |own| json_of(urls(&format!("http://{own}")))),
            "`small_download_url`: found http://OWN/s, expected https://",
        ),
    ];
    for (make, message) in hostile {
        let server = configuration(make);
        let error = find(&options(server.address)).unwrap_err();
        let message = message
            .replace("VICTIM", &at.to_string())
            .replace("OWN", &server.address.to_string());
        assert!(error.to_string().ends_with(&message), "{error}\n{message}");
        assert_eq!(
            error.is_other_host(),
            message.ends_with("the server of the configuration")
        );
    }
    assert_eq!(victim.connections.load(Ordering::SeqCst), 0);
    // With permission, the other server is used.
    let server = configuration(move |_| json_of(urls(&format!("https://{at}"))));
    let mut options = options(server.address);
    options.allow_other_host = true;
    let site = find(&options).unwrap();
    assert_eq!((site.target.address, site.urls.port), (at, at.port()));
    assert_eq!(*victim.requests.lock().unwrap(), ["/s"]);
}

#[test]
fn invalid_answers_are_errors() {
    let error = |document: Answer| {
        let document = Mutex::new(Some(document));
        let server = configuration(move |_| document.lock().unwrap().take().unwrap_or_else(|| answer(500, "")));
        find(&options(server.address)).unwrap_err().to_string()
    };
    let ends = |error: String, message: &str| assert!(error.ends_with(message), "{error}\n{message}");
    ends(
        error(answer(404, "")),
        "/.well-known/nq: found status 404, expected 200",
    );
    ends(error(answer(429, "busy")), "found status 429, expected 200");
    ends(
        error(answer(200, vec![b' '; (64 << 10) + 1])),
        "configuration: found more than 65536 bytes, expected at most 65536",
    );
    ends(
        error(answer(200, "<html>")),
        "invalid configuration: expected value at line 1 column 1, expected a JSON object with `version` and `urls`",
    );
    ends(
        error(answer(200, json!({"version": 2, "urls": {}}).to_string())),
        "configuration: found version 2, expected 1",
    );
    // The small object: longer than a byte, empty, missing, endless.
    for (small, message) in [
        (
            answer(200, "xx"),
            "/s: found 2 bytes, expected the small object of 1 byte",
        ),
        (
            answer(200, ""),
            "/s: found 0 bytes, expected the small object of 1 byte",
        ),
        (
            answer(200, vec![b'x'; 1 << 20]),
            "/s: found more than 16 bytes, expected the small object of 1 byte",
        ),
        (answer(403, ""), "/s: found status 403, expected 200"),
    ] {
        let small = Mutex::new(Some(small));
        let server = Answering::start(move |path, own| match path {
            "/s" => small.lock().unwrap().take().unwrap_or_else(|| answer(500, "")),
            _ => answer(200, urls(&format!("https://{own}")).to_string()),
        });
        ends(find(&options(server.address)).unwrap_err().to_string(), message);
    }
    let cleartext = Options::new("http://127.0.0.1:1/".parse().unwrap());
    let error = find(&cleartext).unwrap_err();
    assert!(error.is_usage());
    assert_eq!(
        error.to_string(),
        "http://127.0.0.1:1/.well-known/nq: found http://, expected https://"
    );
}

#[test]
fn a_certificate_is_checked_by_default() {
    let server = configuration(|own| answer(200, urls(&format!("https://{own}")).to_string()));
    let mut options = options(server.address);
    options.insecure = false;
    let error = find(&options).unwrap_err();
    // Without the system's roots, the error is another one.
    assert!(
        error.is_certificate() || error.to_string().contains("root certificates"),
        "{error}"
    );
    assert!(server.requests.lock().unwrap().is_empty());
}

/// A large object that is small, and an upload that is rejected, end the test with the cause.
#[test]
fn a_server_without_load_ends_the_test() {
    let server = Answering::start(|path, own| match path {
        "/.well-known/nq" => answer(200, urls(&format!("https://{own}")).to_string()),
        "/s" => answer(200, "x"),
        "/l" => answer(200, vec![b'x'; 1000]),
        _ => answer(413, ""),
    });
    for (direction, cause) in [
        (Down, "/l: found 1000 bytes, expected a large object of at least 8 GB"),
        (Up, "/u: found status 413, expected 200"),
    ] {
        let mut options = options(server.address);
        options.load = Load::Only(direction);
        options.config.idle = Duration::ZERO;
        let (report, _) = run(&options);
        let test = &report.tests[0];
        assert_eq!(test.failure.as_deref(), Some(cause));
        assert!(matches!(test.result.end, End::ConnectionFailed(_)) && !report.is_measured());
        assert!(
            report.text().contains(cause) && report.text().contains("no score"),
            "{}",
            report.text()
        );
    }
}
