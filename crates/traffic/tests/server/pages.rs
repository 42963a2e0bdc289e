//! Requirements of pages of another origin in a browser (Fetch §3.2; Resource Timing §4.5).

use crate::util::{config, get, serve};

#[test]
fn every_response_may_be_read_and_timed_by_any_page() {
    let served = serve(config());
    let mut client = served.connect();
    for path in ["/", "/.well-known/netburn", "/bytes/5", "/bytes/x", "/nothing", "/sink"] {
        let (head, _) = client.ask(get(path));
        assert_eq!(head.field("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(head.field("timing-allow-origin"), Some("*"), "{path}");
        assert_eq!(head.field("cache-control"), Some("no-store"), "{path}");
    }
    let (head, _) = client.ask("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(
        (head.status, head.field("access-control-allow-origin")),
        (200, Some("*"))
    );
}

#[test]
fn a_preflight_lists_the_methods() {
    let served = serve(config());
    let mut client = served.connect();
    for (path, methods) in [
        ("/sink", "POST"),
        ("/bytes/5", "GET, HEAD"),
        ("/.well-known/netburn", "GET, HEAD"),
    ] {
        let asked = format!(
            "OPTIONS {path} HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\nAccess-SocketControl-Request-Method: POST\r\n\r\n"
        );
        let (head, _) = client.ask(asked);
        assert_eq!(
            (head.status, head.field("access-control-allow-methods")),
            (200, Some(methods)),
            "{path}"
        );
        assert_eq!(head.field("access-control-max-age"), Some("7200"));
    }
}

#[test]
fn a_query_may_request_closing_the_connection() {
    let served = serve(config());
    let mut client = served.connect();
    let (head, body) = client.ask(get("/bytes/5?n=1&close"));
    assert_eq!(
        (head.status, body.len(), head.field("connection")),
        (200, 5, Some("close"))
    );
    assert_eq!(client.head(), None, "nothing more comes");
}
