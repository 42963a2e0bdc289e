//! Rate limits over real sockets. Durations are tested with the virtual link in virtual time. Here only properties that
//! hold on any machine are tested: data is never early, and all data arrives.

use crate::util::{config, content, get, serve, with_tls};
use netburn_platform::Monotonic;
use netburn_traffic::server::ServerConfig;
use netburn_units::{BitRate, Duration};
use std::process::Command;

#[test]
fn a_download_and_an_upload_are_not_faster_than_the_cap() {
    let served = serve(ServerConfig {
        rate: Some(BitRate::from_mbps(80)),
        ..config()
    });
    let mut client = served.connect();
    let start = Monotonic::now();
    let (_, body) = client.ask(get("/bytes/1MB"));
    // 8 Mbit at 80 Mbit/s.
    assert!(Monotonic::now().saturating_since(start) >= Duration::from_millis(100));
    assert!(body == content(0, 1_000_000));
    let start = Monotonic::now();
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    client.send(&body);
    assert_eq!(client.ask("").1, b"1000000\n");
    assert!(Monotonic::now().saturating_since(start) >= Duration::from_millis(100));
    let health = served.handle.health();
    assert!(
        health.lateness_count >= 200,
        "a piece is 1 ms: {}",
        health.lateness_count
    );
    assert!(health.lateness_us_p50 <= health.lateness_us_p99 && health.lateness_us_p99 <= health.lateness_us_max);
}

#[test]
fn a_slow_upload_is_received_without_delay() {
    let served = serve(ServerConfig {
        rate: Some(BitRate::from_mbps(1_000)),
        ..config()
    });
    // Half of it is much longer than most waits for a processor.
    let pause = std::time::Duration::from_millis(300);
    let mut client = served.connect();
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n");
    for _ in 0..9 {
        std::thread::sleep(pause);
        client.send(content(0, 1_000));
    }
    assert_eq!(client.ask("").1, b"9000\n");
    // The pauses are the client's; the server receives each piece on arrival.
    let health = served.handle.health();
    assert!(health.lateness_count >= 1);
    assert!(
        health.lateness_us_p50 < pause.as_micros() as f64 / 2.0,
        "{}",
        health.lateness_us_p50
    );
}

#[test]
fn several_at_once_share_it() {
    let served = serve(ServerConfig {
        rate: Some(BitRate::from_mbps(200)),
        ..config()
    });
    let start = Monotonic::now();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let mut client = served.connect();
            scope.spawn(move || assert_eq!(client.ask(get(&format!("/bytes/{}", 300_000 + n))).1.len(), 300_000 + n));
        }
    });
    // 8 × 0.3 MB at 200 Mbit/s.
    assert!(Monotonic::now().saturating_since(start) >= Duration::from_millis(96));
}

#[test]
fn over_every_protocol() {
    let mut config = with_tls();
    config.rate = Some(BitRate::from_mbps(80));
    let served = serve(config);
    for (option, base) in [
        ("--http2-prior-knowledge", format!("http://{}", served.http())),
        ("--http2", format!("https://{}", served.addresses.https[0])),
        ("--http1.1", format!("https://{}", served.addresses.https[0])),
    ] {
        let url = format!("{base}/bytes/500kB");
        let start = Monotonic::now();
        let output = Command::new("curl")
            .args(["-sk", "--noproxy", "*", option, &url])
            .output()
            .unwrap();
        assert!(output.stdout == content(0, 500_000), "{option} {base}");
        assert!(Monotonic::now().saturating_since(start) >= Duration::from_millis(50));
    }
}
