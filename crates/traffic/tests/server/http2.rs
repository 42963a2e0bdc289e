//! HTTP/2 with the `h2` crate's client.

use crate::util::{Served, config, content, limited, serve};
use bytes::Bytes;
use h2::client::{self, SendRequest};
use http::{Method, Request, Response, StatusCode};
use netburn_traffic::server::{Limits, ServerConfig};
use netburn_units::Duration;
use std::future::Future;

/// Initial window of HTTP/2 (RFC 9113 §6.9.2).
const NARROW: u32 = 65_535;
/// Window for everything that these tests leave unread.
pub(crate) const WIDE: u32 = 1 << 30;

/// Runs `work` with a connection to the server with a receive window of `window` bytes.
pub(crate) fn with_connection<F: Future<Output = ()>>(
    served: &Served,
    window: u32,
    work: impl FnOnce(SendRequest<Bytes>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(served.http()).await.unwrap();
        let client = client::Builder::new()
            .initial_connection_window_size(window)
            .handshake(stream);
        let (send, connection) = client.await.unwrap();
        tokio::select! {
            _ = connection => panic!("the connection ended"),
            done = tokio::time::timeout(crate::util::PATIENCE, work(send)) => done.expect("in time"),
        }
    });
}

pub(crate) async fn ask(send: &SendRequest<Bytes>, method: Method, path: &str) -> Response<h2::RecvStream> {
    let request = Request::builder()
        .method(method)
        .uri(format!("http://test{path}"))
        .body(())
        .unwrap();
    let mut send = send.clone().ready().await.unwrap();
    send.send_request(request, true).unwrap().0.await.unwrap()
}

pub(crate) async fn read(response: Response<h2::RecvStream>) -> Vec<u8> {
    let mut body = response.into_body();
    let mut all = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        all.extend_from_slice(&piece);
    }
    all
}

#[test]
fn streams_run_side_by_side() {
    let served = serve(config());
    with_connection(&served, WIDE, async |send| {
        let mut answers = Vec::new();
        for n in 0..50_u64 {
            answers.push((
                n * 10_000,
                ask(&send, Method::GET, &format!("/bytes/{}", n * 10_000)).await,
            ));
        }
        // The first response is still unread when the last is requested.
        for (size, answer) in answers {
            assert_eq!(answer.headers()["content-length"], size.to_string().as_str());
            assert!(read(answer).await == content(0, size));
        }
        let head = ask(&send, Method::HEAD, "/bytes/16GiB").await;
        assert_eq!(head.headers()["content-length"], "17179869184");
        assert!(read(head).await.is_empty());
        assert_eq!(
            ask(&send, Method::PUT, "/sink").await.status(),
            StatusCode::METHOD_NOT_ALLOWED
        );
    });
    assert_eq!(served.health_after(52).operations, 52);
}

#[test]
fn an_unread_stream_does_not_block_others() {
    let served = serve(config());
    with_connection(&served, NARROW, async |send| {
        let unread = ask(&send, Method::GET, "/bytes/1GiB").await;
        for _ in 0..10 {
            // Its window is full; the connection's (65,535 by default) is full too, until the unread stream is reset.
            let abandoned = ask(&send, Method::GET, "/bytes/1GiB").await;
            drop(abandoned);
        }
        drop(unread);
        assert_eq!(read(ask(&send, Method::GET, "/bytes/1MiB").await).await.len(), 1 << 20);
    });
}

#[test]
fn uploads_are_counted_and_limited() {
    let served = serve(config());
    with_connection(&served, NARROW, async |send| {
        let post = |length: Option<u64>| {
            let mut request = Request::builder().method(Method::POST).uri("http://test/sink");
            if let Some(length) = length {
                request = request.header("content-length", length);
            }
            request.body(()).unwrap()
        };
        let (answer, mut body) = send
            .clone()
            .ready()
            .await
            .unwrap()
            .send_request(post(None), false)
            .unwrap();
        let mut left = 5_000_000;
        while left > 0 {
            body.reserve_capacity(left);
            let granted = std::future::poll_fn(|cx| body.poll_capacity(cx))
                .await
                .unwrap()
                .unwrap();
            left -= granted;
            body.send_data(Bytes::from(vec![0; granted]), left == 0).unwrap();
        }
        assert_eq!(read(answer.await.unwrap()).await, b"5000000\n");
        let (answer, _body) = send
            .clone()
            .ready()
            .await
            .unwrap()
            .send_request(post(Some(17 << 30)), false)
            .unwrap();
        assert_eq!(answer.await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    });
    assert_eq!(served.handle.health().bytes_up, 5_000_000);
}

#[test]
fn a_stalled_connection_is_closed() {
    let limits = Limits {
        stall_time: Duration::from_millis(100),
        idle_time: Duration::from_millis(100),
        ..Limits::default()
    };
    let served = serve(limited(limits));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(served.http()).await.unwrap();
        let (send, connection) = client::handshake(stream).await.unwrap();
        let stuck = async {
            let _unread = ask(&send, Method::GET, "/bytes/1GiB").await;
            std::future::pending::<()>().await;
        };
        let ended = async {
            tokio::select! { _ = connection => {}, () = stuck => {} }
        };
        tokio::time::timeout(crate::util::PATIENCE, ended)
            .await
            .expect("the server ends it");
    });
}

/// Streams of several stations on one connection are counted separately.
#[test]
fn content_is_counted_by_station() {
    let served = serve(ServerConfig {
        stations: 2,
        ..config()
    });
    with_connection(&served, WIDE, async |send| {
        let one = ask(&send, Method::GET, "/bytes/300000?station=0").await;
        let other = ask(&send, Method::GET, "/bytes/1234?n=1&station=1").await;
        assert_eq!((read(other).await.len(), read(one).await.len()), (1234, 300_000));
        let request = Request::builder()
            .method(Method::POST)
            .uri("http://test/sink?station=1")
            .body(())
            .unwrap();
        let mut ready = send.clone().ready().await.unwrap();
        let (answer, mut body) = ready.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(&[7; 1000]), true).unwrap();
        // The response is text: the number of received bytes.
        assert_eq!(read(answer.await.unwrap()).await, b"1000\n");
    });
    served.health_after(3);
    assert_eq!(served.handle.moved(), [(300_000, 0), (1234 + 5, 1000)]);
}

/// Sends 200,000 frames of `kind` with this content. Returns whether the server closes the connection.
fn is_ended(served: &Served, kind: u8, stream: u8, content: &[u8]) -> bool {
    use std::io::{ErrorKind, Read, Write};
    let mut socket = std::net::TcpStream::connect(served.http()).unwrap();
    socket.set_read_timeout(Some(crate::util::PATIENCE)).unwrap();
    socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    // Empty SETTINGS.
    socket.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).unwrap();
    // The server's data is read, so that it can continue.
    let mut reader = socket.try_clone().unwrap();
    let reading = std::thread::spawn(move || {
        loop {
            match reader.read(&mut [0; 4096]) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
        }
    });
    let mut frame = vec![0, 0, content.len() as u8, kind, 0, 0, 0, 0, stream];
    frame.extend(content);
    let batch = frame.repeat(100);
    // Writing fails once the server has closed the connection.
    let _ = (0..2_000).find(|_| socket.write_all(&batch).is_err());
    reading.join().unwrap()
}

/// RFC 9113 section 10.5.
#[test]
fn floods_of_cheap_frames_close_the_connection() {
    let served = serve(config());
    for (name, kind, stream, content) in [
        ("PING", 6, 0, &[7; 8][..]),
        ("SETTINGS", 4, 0, &[0, 4, 0, 0, 255, 255]),
        ("PRIORITY", 2, 1, &[0, 0, 0, 0, 16]),
        ("unknown", 77, 0, &[1, 2, 3]),
        ("WINDOW_UPDATE", 8, 0, &[0, 0, 0, 1]),
    ] {
        assert!(is_ended(&served, kind, stream, content), "{name}");
    }
    // Other clients are served as before, with as many updates as content needs.
    with_connection(&served, NARROW, async |send| {
        assert_eq!(
            read(ask(&send, Method::GET, "/bytes/64MiB").await).await.len(),
            64 << 20
        );
    });
}
