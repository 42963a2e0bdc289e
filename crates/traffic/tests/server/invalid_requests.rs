//! Requests that are invalid, ambiguous or too large.

use crate::util::{config, get, limited, serve};
use netburn_traffic::server::Limits;
use netburn_units::{ByteSize, Duration};

#[test]
fn each_is_rejected_with_its_status_and_the_connection_closes() {
    let served = serve(config());
    let post = |fields: &str| format!("POST /sink HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    for (request, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\nHost: a\n\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/3.0\r\nHost: a\r\n\r\n".to_owned(), 505),
        (
            post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n",
            400,
        ),
        (post("Content-Length: 3\r\nContent-Length: 4\r\n") + "abcd", 400),
        (post("Transfer-Encoding: gzip\r\n"), 501),
        (post("Transfer-Encoding: chunked\r\n") + "zz\r\n", 400),
        (post("Transfer-Encoding: chunked\r\n") + "3\r\nabcde", 400),
        (post("Transfer-Encoding: chunked\r\n") + "3\nabc\r\n0\r\n\r\n", 400),
        (post("Transfer-Encoding: chunked\r\n") + "5 \r\nabcde\r\n0\r\n\r\n", 400),
        (post("Transfer-Encoding: chunked\r\n") + "0\r\nfoo bar\r\n\r\n", 400),
        (post("Transfer-Encoding: chunked\r\n") + "400000001\r\n", 413),
        (post("Content-Length: 17179869185\r\n"), 413),
        (post("Expect: tea\r\n"), 417),
        (post(""), 411),
        (get(&format!("/{}", "a".repeat(20_000))), 414),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n", "b".repeat(20_000)),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(150)),
            431,
        ),
    ] {
        let mut client = served.connect();
        client.send(&request);
        // If this were taken for a second request, there would be a second response.
        client.send(get("/bytes/1"));
        let head = client.head().unwrap_or_else(|| panic!("no answer to {request:?}"));
        let body = client.body(head.length());
        assert_eq!(head.status, status, "{request:?}: {}", String::from_utf8_lossy(&body));
        assert_eq!(head.field("connection"), Some("close"), "{request:?}");
        assert!(client.is_closed(), "{request:?}");
    }
    // The server still works.
    assert_eq!(served.connect().ask(get("/bytes/2")).1.len(), 2);
}

#[test]
fn unknown_paths_and_methods_are_rejected_and_the_connection_is_kept() {
    let served = serve(config());
    let mut client = served.connect();
    for (method, path, status, allow) in [
        ("GET", "/nothing", 404, None),
        ("GET", "/bytes/many", 400, None),
        ("GET", "/sink", 405, Some("POST")),
        ("POST", "/bytes/5", 405, Some("GET, HEAD")),
        ("DELETE", "/", 405, Some("GET, HEAD")),
        ("BREW", "/", 501, None),
        ("OPTIONS", "*", 404, None),
    ] {
        let (head, body) = client.ask(format!("{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!((head.status, head.field("allow")), (status, allow), "{method} {path}");
        assert!(body.ends_with(b"\n") && head.field("content-type") == Some("text/plain; charset=utf-8"));
    }
}

#[test]
fn an_unused_body_closes_the_connection() {
    let served = serve(config());
    let mut client = served.connect();
    // The body looks like a request.
    let inner = get("/bytes/9");
    client.send(format!(
        "GET /bytes/5 HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{inner}",
        inner.len()
    ));
    let head = client.head().unwrap();
    assert_eq!(
        (head.status, head.length(), head.field("connection")),
        (200, 5, Some("close"))
    );
    client.body(5);
    assert!(client.is_closed());
}

#[test]
fn a_late_head_is_rejected() {
    let limits = Limits {
        head_time: Duration::from_secs(1),
        ..Limits::default()
    };
    let served = serve(limited(limits));
    let mut client = served.connect();
    assert_eq!(client.ask(get("/bytes/1")).0.status, 200);
    client.send("GET /bytes/1 HTTP/1.1\r\nHo");
    assert_eq!(client.head().unwrap().status, 408);
    // Only the beginning of HTTP/2's preface.
    let mut client = served.connect();
    client.send("PRI * HT");
    assert!(client.is_closed());
}

#[test]
fn an_idle_connection_is_closed_without_a_response() {
    let limits = Limits {
        idle_time: Duration::from_secs(1),
        ..Limits::default()
    };
    let served = serve(limited(limits));
    let mut client = served.connect();
    assert_eq!(client.ask(get("/bytes/1")).0.status, 200);
    assert!(client.is_closed());
    assert!(served.connect().is_closed());
}

#[test]
fn settable_sizes() {
    let limits = Limits {
        head: ByteSize::from_kib(1),
        object: ByteSize::from_kib(10),
        ..Limits::default()
    };
    let served = serve(limited(limits));
    assert_eq!(
        served.connect().ask(get(&format!("/?{}", "a".repeat(1100)))).0.status,
        414
    );
    assert_eq!(served.connect().ask(get("/bytes/10241")).0.status, 400);
    let mut client = served.connect();
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 10241\r\n\r\n");
    assert_eq!(client.head().unwrap().status, 413);
    let mut client = served.connect();
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2800\r\n");
    client.send([0; 10_240]);
    client.send("\r\n1\r\n");
    assert_eq!(client.head().unwrap().status, 413);
}
