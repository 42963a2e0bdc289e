//! Valid HTTP/1.1.

use crate::util::{Client, config, content, get, serve};
use netburn_traffic::consent::Consent;
use netburn_traffic::content::PERIOD;
use netburn_traffic::server::ServerConfig;
use std::net::SocketAddr;

#[test]
fn objects_of_every_size_are_their_bytes() {
    let served = serve(config());
    let mut client = served.connect();
    // On one connection: sizes around the inline limit, and beyond the end of the pool.
    for size in [
        0,
        1,
        100,
        4_095,
        4_096,
        4_097,
        131_072,
        1 << 20,
        PERIOD as u64 + 5_000_001,
    ] {
        let (head, body) = client.ask(get(&format!("/bytes/{size}")));
        assert_eq!((head.status, head.length()), (200, size));
        assert_eq!(head.field("content-type"), Some("application/octet-stream"));
        assert_eq!(head.field("accept-ranges"), Some("bytes"));
        assert_eq!(head.field("content-encoding"), None);
        assert!(body == content(0, size), "{size}");
    }
    assert_eq!(served.health_after(9).operations, 9);
}

#[test]
fn a_range_is_the_same_bytes_as_in_the_whole() {
    let served = serve(config());
    let mut client = served.connect();
    let period = PERIOD as u64;
    for (first, last) in [
        (0, 0),
        (5, 104),
        (period - 10, period + 9),
        (16 * (1 << 30) - 50, 16 * (1 << 30) - 1),
    ] {
        let range = format!("GET /bytes/16GiB HTTP/1.1\r\nHost: a\r\nRange: bytes={first}-{last}\r\n\r\n");
        let (head, body) = client.ask(range);
        let told = format!("bytes {first}-{last}/{}", 16_u64 << 30);
        assert_eq!((head.status, head.field("content-range")), (206, Some(told.as_str())));
        assert_eq!(body, content(first, last - first + 1));
    }
    let (head, _) = client.ask("GET /bytes/5 HTTP/1.1\r\nHost: a\r\nRange: bytes=5-\r\n\r\n");
    assert_eq!((head.status, head.field("content-range")), (416, Some("bytes */5")));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let served = serve(config());
    let mut client = served.connect();
    let sizes: Vec<u64> = (0..200).map(|n| n * 37 % 9_000).collect();
    let mut all = String::new();
    for (n, size) in sizes.iter().enumerate() {
        all += &get(&format!("/bytes/{size}"));
        if n % 10 == 3 {
            all += "\r\nPOST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world";
            all += "POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
            all += "HEAD /bytes/7 HTTP/1.1\r\nHost: a\r\n\r\n";
        }
    }
    client.send(all);
    for (n, size) in sizes.iter().enumerate() {
        let head = client.head().unwrap();
        assert_eq!(head.length(), *size);
        assert!(client.body(*size) == content(0, *size));
        if n % 10 == 3 {
            for count in ["11\n", "3\n"] {
                let head = client.head().unwrap();
                assert_eq!(client.body(head.length()), count.as_bytes());
            }
            assert_eq!(client.head().unwrap().length(), 7);
        }
    }
    client.half_close();
    assert!(client.is_closed());
}

#[test]
fn a_head_of_16_gib_moves_nothing() {
    let served = serve(config());
    let mut client = served.connect();
    client.send("HEAD /bytes/16GiB HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().unwrap().length(), 16 << 30);
    let (head, _) = client.ask(get("/bytes/17179869185"));
    assert_eq!(head.status, 400);
    let texts = served.health_after(2);
    assert_eq!(texts.bytes_down, 0);
}

#[test]
fn a_sink_counts_received_bytes() {
    let served = serve(config());
    let mut client = served.connect();
    let body = vec![7; 3_000_000];
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
    client.send(&body);
    let (head, count) = client.ask("");
    assert_eq!((head.status, count), (200, b"3000000\n".to_vec()));
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for piece in body.chunks(70_001) {
        client.send(format!("{:X};ext=1\r\n", piece.len()));
        client.send(piece);
        client.send("\r\n");
    }
    let (head, count) = client.ask("0\r\nTrailer: x\r\n\r\n");
    assert_eq!((head.status, count), (200, b"3000000\n".to_vec()));
    let (_, count) = client.ask("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(count, b"0\n");
    let health = served.health_after(3);
    assert_eq!((health.bytes_up, health.operations), (6_000_000, 3));
}

#[test]
fn expect_100_continue_is_answered() {
    let served = serve(config());
    let mut client = served.connect();
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(client.head().unwrap().status, 100);
    assert_eq!(client.ask("12345").1, b"5\n");
    // The server rejects it, and receives nothing of the body.
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 17179869185\r\n\r\n");
    assert_eq!(client.head().unwrap().status, 413);
}

#[test]
fn http_1_0_is_closed_without_keep_alive() {
    let served = serve(config());
    let (head, _) = served.connect().ask("GET /bytes/3 HTTP/1.0\r\n\r\n");
    assert_eq!(head.field("connection"), Some("close"));
    let mut client = served.connect();
    let (head, _) = client.ask("GET /bytes/3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(head.field("connection"), Some("keep-alive"));
    let (_, body) = client.ask("GET http://here/bytes/3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_eq!(body, content(0, 3));
    assert!(client.is_closed());
}

#[test]
fn ipv6_and_several_addresses() {
    let (v4, v6) = (SocketAddr::from(([127, 0, 0, 1], 0)), "[::1]:0".parse().unwrap());
    if std::net::TcpListener::bind(v6).is_err() {
        return netburn_test_support::skip("needs IPv6 on the loopback device");
    }
    let served = serve(ServerConfig {
        listen: vec![v4, v6],
        ..config()
    });
    assert_eq!(served.addresses.http.len(), 2);
    for address in &served.addresses.http {
        assert_eq!(Client::to(*address).ask(get("/bytes/10")).1, content(0, 10));
    }
    assert_eq!(served.addresses.datagrams, served.addresses.http, "the same ports");
}

#[test]
fn the_consent_contains_the_operator_and_the_rate() {
    let mut config = config();
    config.consent.operator = "the lab on floor 3".to_owned();
    config.rate = Some(netburn_units::BitRate::from_mbps(250));
    let served = serve(config);
    let (head, body) = served.connect().ask(get("/.well-known/netburn"));
    assert_eq!(
        (head.status, head.field("content-type")),
        (200, Some("application/json"))
    );
    let consent = Consent::parse(&body).unwrap();
    assert!(consent.consents && consent.operator == "the lab on floor 3");
    assert_eq!(consent.datagram_port, Some(served.addresses.datagrams[0].port()));
    assert_eq!(consent.rate(), Some(netburn_units::BitRate::from_mbps(250)));
    let (head, page) = served.connect().ask(get("/"));
    assert_eq!(head.status, 200);
    assert!(String::from_utf8(page).unwrap().contains("the lab on floor 3"));
}
