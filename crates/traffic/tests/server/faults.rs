//! Clients that disconnect, stall, or are very many.

use crate::util::{Client, config, get, limited, serve};
use netburn_traffic::server::Limits;
use netburn_units::Duration;

#[test]
fn clients_that_disconnect_within_a_response() {
    let served = serve(config());
    for n in 0..50 {
        let mut client = served.connect();
        match n % 5 {
            0 => client.send(get("/bytes/1GiB")),
            1 => client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nsome"),
            2 => client.send("POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nsome"),
            3 => client.send("GET /by"),
            _ => client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"),
        }
    }
    let mut client = served.connect();
    assert_eq!(client.ask(get("/bytes/1000000")).1.len(), 1_000_000);
    // All have been closed; the last connection is this one.
    while served.handle.connections().len() > 1 {
        client.ask(get("/bytes/1"));
    }
    assert_eq!(served.handle.health().rejected, 0);
}

#[test]
fn a_stalled_reader_is_disconnected() {
    let served = serve(limited(Limits {
        stall_time: Duration::from_millis(100),
        ..Limits::default()
    }));
    let stuck: Vec<Client> = (0..10)
        .map(|_| {
            let mut client = served.connect();
            client.send(get("/bytes/16GiB"));
            client
        })
        .collect();
    let mut uploader = served.connect();
    uploader.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nsome");
    assert!(uploader.is_closed());
    let mut client = served.connect();
    while served.handle.connections().len() > 1 {
        client.ask(get("/bytes/1"));
    }
    drop(stuck);
}

#[test]
fn slow_heads_do_not_delay_other_clients() {
    let served = serve(config());
    let mut slow: Vec<_> = (0..300).map(|_| served.connect()).collect();
    for byte in get("/bytes/10").bytes() {
        slow.iter_mut().for_each(|client| client.send([byte]));
        assert_eq!(served.connect().ask(get("/bytes/100")).1.len(), 100);
    }
    for client in &mut slow {
        let head = client.head().unwrap();
        assert_eq!((head.status, head.length()), (200, 10));
    }
}

#[test]
fn shutting_down_ends_every_connection() {
    let mut served = serve(config());
    let mut clients: Vec<_> = (0..20).map(|_| served.connect()).collect();
    for client in &mut clients {
        client.ask(get("/bytes/10"));
        client.send(get("/bytes/16GiB"));
    }
    served.stop();
    for client in &mut clients {
        let mut rest = Vec::new();
        let _ = std::io::Read::read_to_end(&mut client.stream, &mut rest);
    }
    assert!(std::net::TcpStream::connect(served.http()).is_err());
}
