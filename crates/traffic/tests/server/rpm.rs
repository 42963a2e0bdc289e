//! Endpoints of responsiveness tests, with curl and with the `h2` crate's client.

use crate::curl::curl;
use crate::http2::{WIDE, ask, read, with_connection};
use crate::util::{PATIENCE, Served, config, content, serve, with_tls};
use bytes::Bytes;
use h2::client;
use http::{Method, Request, StatusCode};
use netburn_traffic::server::{Limits, RpmClients, ServerConfig};
use netburn_units::{BitRate, ByteSize};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

fn permitting() -> ServerConfig {
    ServerConfig {
        rpm: RpmClients::Local,
        ..with_tls()
    }
}

/// Receive window of a stream without an upload of a test.
const NARROW_STREAM: usize = 512 << 10;
/// Receive window of a stream with one.
const WIDE_STREAM: usize = 4 << 20;

/// A client that uses only what the configuration contains, as the draft's clients and goresponsiveness do.
#[test]
fn curl_finds_the_urls_and_uses_them() {
    let served = serve(permitting());
    let base = format!("https://localhost:{}", served.addresses.https[0].port());
    let tls = ["--insecure", "--http2", "--connect-to", "localhost::127.0.0.1:"];
    let run = |more: &[&str], url: &str, input: &[u8]| {
        curl(&tls.iter().chain(more).copied().chain([url]).collect::<Vec<_>>(), input)
    };
    let written = "%{http_version} %{http_code} %{content_type} %{num_redirects} %{size_download}";
    let report = ["--output", "/dev/null", "--write-out", written];
    for path in ["/.well-known/nq", "/config"] {
        let url = format!("{base}{path}");
        let text = run(&[], &url, b"");
        let reported = String::from_utf8(run(&report, &url, b"")).unwrap();
        assert_eq!(reported, format!("2 200 application/json 0 {}", text.len()));
        let document: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(document["version"], 1);
        for [small, large, upload] in [
            ["small_download_url", "large_download_url", "upload_url"],
            [
                "small_https_download_url",
                "large_https_download_url",
                "https_upload_url",
            ],
        ] {
            let url = |name: &str| document["urls"][name].as_str().unwrap().to_owned();
            let [small, large, upload] = [small, large, upload].map(url);
            for url in [&small, &large, &upload] {
                assert!(url.starts_with(&format!("{base}/")), "{url}");
            }
            let head = String::from_utf8_lossy(&run(&["--include"], &small, b"")).to_ascii_lowercase();
            assert!(head.contains("\r\ncontent-length: 1\r\n"), "{head}");
            assert!(
                !head.contains("content-encoding") && !head.contains("location"),
                "{head}"
            );
            let reported = String::from_utf8(run(&report, &small, b"")).unwrap();
            assert_eq!(reported, "2 200 application/octet-stream 0 1");
            let head = String::from_utf8(run(&["--head"], &large, b"")).unwrap();
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase()
                        .strip_prefix("content-length: ")?
                        .parse::<u64>()
                        .ok()
                })
                .unwrap();
            assert!(length >= 8_589_934_592, "{head}");
            assert!(beginning(&tls, &large) == content(0, BEGINNING));
            let body = vec![b'x'; 2_500_000];
            // Without a Content-Length, and several on one connection.
            let post = ["--request", "POST", "--upload-file", "-"];
            assert_eq!(run(&post, &upload, &body), b"2500000\n");
            let twice = [upload.as_str(), "--next", "--insecure", "--data-binary", "12345"];
            let more: Vec<&str> = ["--data-binary", "123"].into_iter().chain(twice).collect();
            assert_eq!(run(&more, &upload, b""), b"3\n5\n");
        }
    }
}

const BEGINNING: u64 = 3 << 20;

/// Returns the first bytes of a download, which is then abandoned.
fn beginning(options: &[&str], url: &str) -> Vec<u8> {
    let mut child = Command::new("curl")
        .args(["--silent", "--noproxy", "*", "--max-time", "60"])
        .args(options)
        .arg(url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut bytes = vec![0; BEGINNING as usize];
    child.stdout.take().unwrap().read_exact(&mut bytes).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    bytes
}

/// A body without Content-Length may be longer than the maximum object. The maximum still applies to `/sink`.
#[test]
fn an_upload_has_no_maximum_length() {
    // The smallest maximum of a server with these endpoints.
    let limits = Limits {
        object: ByteSize::from_gib(8),
        ..Limits::default()
    };
    let served = serve(ServerConfig { limits, ..permitting() });
    for (path, status) in [("/nq/upload", None), ("/sink", Some(StatusCode::PAYLOAD_TOO_LARGE))] {
        with_connection(&served, WIDE, async |send| {
            let request = Request::post(format!("http://test{path}")).header("content-length", 9_u64 << 30);
            let (answer, _body) = send
                .ready()
                .await
                .unwrap()
                .send_request(request.body(()).unwrap(), false)
                .unwrap();
            match status {
                Some(status) => assert_eq!(answer.await.unwrap().status(), status),
                None => {
                    // The server waits for the body.
                    let early = tokio::time::timeout(Duration::from_millis(200), answer).await;
                    assert!(early.is_err(), "{early:?}");
                }
            }
        });
    }
}

#[test]
fn a_server_without_permission_or_certificate_has_no_endpoints() {
    for config in [
        with_tls(),
        ServerConfig {
            rpm: RpmClients::All,
            ..config()
        },
    ] {
        let served = serve(config);
        for path in ["/.well-known/nq", "/config", "/nq/small", "/nq/large"] {
            let (head, _) = served.connect().ask(crate::util::get(path));
            assert_eq!(head.status, 404, "{path}");
        }
    }
}

/// Over HTTP/1.1 the configuration has the port of HTTP over TLS.
#[test]
fn the_configuration_over_cleartext_http_1() {
    let served = serve(permitting());
    let (head, body) = served.connect().ask(crate::util::get("/.well-known/nq"));
    let document: Value = serde_json::from_slice(&body).unwrap();
    let expected = format!("https://test:{}/nq/small", served.addresses.https[0].port());
    assert_eq!(
        (head.status, &document["urls"]["small_download_url"]),
        (200, &Value::String(expected))
    );
}

/// Returns the stream window that the server grants an upload, after it had time to announce a larger one than expected.
fn upload_window(served: &Served, path: &str, expected: usize) -> usize {
    let patience = if expected == WIDE_STREAM {
        PATIENCE
    } else {
        Duration::from_millis(300)
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = TcpStream::connect(served.http()).await.unwrap();
        let mut builder = client::Builder::new();
        builder.max_send_buffer_size(WIDE as usize);
        let (send, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let work = async {
            let request = Request::post(format!("http://test{path}")).body(()).unwrap();
            let mut send = send.ready().await.unwrap();
            let (_answer, mut body) = send.send_request(request, false).unwrap();
            body.reserve_capacity(WIDE as usize);
            let begun = Instant::now();
            while body.capacity() < WIDE_STREAM && begun.elapsed() < patience {
                let wait = tokio::time::timeout(
                    Duration::from_millis(50),
                    std::future::poll_fn(|cx| body.poll_capacity(cx)),
                );
                let _ = wait.await;
            }
            body.capacity()
        };
        tokio::select! {
            _ = connection => panic!("the connection ended"),
            window = work => window,
        }
    })
}

/// At 32 ms, 512 KiB permit 131 Mbit/s, and 4 MiB 1 Gbit/s. With a rate limit, data would wait in the larger window.
#[test]
fn an_upload_has_a_wide_window() {
    let served = serve(permitting());
    for (path, expected) in [("/nq/upload", WIDE_STREAM), ("/sink", NARROW_STREAM)] {
        assert_eq!(upload_window(&served, path, expected), expected, "{path}");
    }
    let limited = serve(ServerConfig {
        rate: Some(BitRate::from_mbps(10)),
        ..permitting()
    });
    assert_eq!(upload_window(&limited, "/nq/upload", NARROW_STREAM), NARROW_STREAM);
}

/// Some clients use a connection for each probe and never close it.
#[test]
fn a_connection_of_one_probe_is_closed_soon() {
    let served = serve(permitting());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let open = async |probes: usize| {
            let stream = TcpStream::connect(served.http()).await.unwrap();
            let (send, mut connection) = client::handshake(stream).await.unwrap();
            let probe = async {
                for _ in 0..probes {
                    assert_eq!(read(ask(&send, Method::GET, "/nq/small").await).await.len(), 1);
                }
            };
            tokio::select! {
                _ = &mut connection => panic!("the connection ended"),
                () = probe => {}
            }
            // The stream limit permits 100 probes a second with 5 s of delay.
            assert_eq!(connection.max_concurrent_send_streams(), 512);
            (send, connection)
        };
        let (_one, single) = open(1).await;
        let (_two, double) = open(2).await;
        tokio::time::timeout(PATIENCE, single)
            .await
            .expect("the server closes it")
            .unwrap();
        let later = tokio::time::timeout(Duration::from_millis(300), double).await;
        assert!(later.is_err(), "it may be a connection for load");
    });
}

/// The client reads nothing. Its receive buffer and the server's congestion window fill, and then the server's send
/// buffer up to the limit of 128 KiB. The kernel checks the limit before it adds a segment of at most 64 KiB.
#[test]
fn unsent_data_of_a_load_connection_is_limited() {
    let served = serve(permitting());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = TcpStream::connect(served.http()).await.unwrap();
        let mut builder = client::Builder::new();
        builder.initial_window_size(WIDE).initial_connection_window_size(WIDE);
        let (send, mut connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let request = async { ask(&send, Method::GET, "/nq/large").await };
        let unread = tokio::select! {
            _ = &mut connection => panic!("the connection ended"),
            answer = request => answer,
        };
        // From here, nothing reads the connection's socket.
        let mut most = 0;
        let mut begun = Instant::now();
        let mut acknowledged = 0;
        // Until the server has been blocked for some time.
        while most == 0 || begun.elapsed() < Duration::from_millis(300) {
            let info = served.handle.connections()[0].info;
            most = most.max(info.bytes_unsent.as_bytes());
            if info.bytes_acked.as_bytes() != acknowledged {
                (acknowledged, begun) = (info.bytes_acked.as_bytes(), Instant::now());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!((1..=192 << 10).contains(&most), "{most} bytes unsent");
        drop(unread);
    });
}
