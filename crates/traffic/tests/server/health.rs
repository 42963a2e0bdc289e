//! Statistics of the server.

use crate::util::{config, get, limited, serve};
use netburn_record::Role;
use netburn_traffic::server::{Limits, Server, ServerConfig, ServerError};
use netburn_units::ByteSize;
use std::net::SocketAddr;

#[test]
fn health_counts_requests_and_bytes() {
    let mut served = serve(ServerConfig {
        name: "home".to_owned(),
        ..config()
    });
    let mut client = served.connect();
    for _ in 0..100 {
        client.ask(get("/bytes/10000"));
    }
    client.send("POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n1234567");
    client.head().unwrap();
    let health = served.health_after(101);
    assert_eq!(
        (health.name.as_str(), health.role, health.rejected),
        ("home", Role::Server, 0)
    );
    assert_eq!(
        (health.operations, health.bytes_down, health.bytes_up),
        (101, 1_000_000, 7)
    );
    assert!(health.service_us_p99 > 0.0);
    let shares = [health.cpu, health.machine_busy];
    assert!(shares.iter().flatten().all(|share| (0.0..=1.0).contains(share)));
    served.handle.reset();
    let health = served.handle.health();
    assert_eq!(
        (health.operations, health.bytes_down, health.service_us_p99),
        (0, 0, 0.0)
    );
    client.body(2);
    client.ask(get("/bytes/5"));
    served.health_after(1);
    served.stop();
    assert_eq!(served.handle.health().operations, 1, "it can still be asked");
}

#[test]
fn connections_are_sampled_on_the_server() {
    let served = serve(config());
    let mut clients: Vec<_> = (0..5).map(|_| served.connect()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.ask(get(&format!("/bytes/{}", n * 100_000)));
    }
    let mut seen = served.handle.connections();
    seen.sort_by_key(|connection| connection.peer.port());
    let mut ports: Vec<_> = clients
        .iter()
        .map(|client| client.stream.get_ref().local_addr().unwrap())
        .collect();
    ports.sort_by_key(SocketAddr::port);
    assert_eq!(seen.iter().map(|connection| connection.peer).collect::<Vec<_>>(), ports);
    let last = clients[4].stream.get_ref().local_addr().unwrap();
    let last = seen.iter().find(|connection| connection.peer == last).unwrap();
    assert!(last.info.bytes_acked >= ByteSize::from_bytes(1), "{:?}", last.info);
    assert!(last.info.bytes_received > ByteSize::ZERO);
}

#[test]
fn a_connection_above_the_limit_is_rejected() {
    let served = serve(limited(Limits {
        connections: 3,
        ..Limits::default()
    }));
    let mut held: Vec<_> = (0..3).map(|_| served.connect()).collect();
    for client in &mut held {
        client.ask(get("/bytes/1"));
    }
    let mut more = served.connect();
    assert_eq!(more.head().unwrap().status, 503);
    assert_eq!(served.handle.health().rejected, 1);
    drop(held);
    // New connections are admitted after the server has closed the old ones.
    while served.connect().ask(get("/bytes/1")).0.status != 200 {}
}

#[tokio::test]
async fn invalid_configurations_are_rejected() {
    let nowhere = ServerConfig {
        listen: Vec::new(),
        ..config()
    };
    assert!(matches!(Server::bind(nowhere).await, Err(ServerError::Nowhere)));
    let mut unfit = config();
    unfit.consent.operator = "two\nlines".to_owned();
    assert!(matches!(Server::bind(unfit).await, Err(ServerError::Operator(_))));
    let taken = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let holder = std::net::TcpListener::bind(taken).unwrap();
    let same = ServerConfig {
        listen: vec![holder.local_addr().unwrap()],
        ..config()
    };
    assert!(matches!(Server::bind(same).await, Err(ServerError::Listen { .. })));
}

/// Content is counted for the station of a request, on every path of the code.
#[test]
fn content_is_counted_by_station() {
    let served = serve(ServerConfig {
        stations: 3,
        ..config()
    });
    let mut client = served.connect();
    // Sent with the head, by the kernel, and as text; an unknown station, and none.
    client.ask(get("/bytes/100?station=2"));
    client.ask(get("/bytes/1000000?dscp=8&station=2"));
    let text = client.ask(get("/?station=1")).0.length();
    client.ask(get("/bytes/77?station=3"));
    client.ask(get("/bytes/77"));
    client.send("POST /sink?station=2 HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n1234567");
    client.head().unwrap();
    client.body(2);
    client
        .send("POST /sink?station=1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n");
    client.head().unwrap();
    served.health_after(7);
    // The response to an upload is its length and a line end.
    assert_eq!(served.handle.moved(), [(0, 0), (text + 2, 5), (1_000_100 + 2, 7)]);
    // The counters are not reset at the start of a run: the probe before it is counted as well.
    served.handle.reset();
    assert_eq!(served.handle.moved()[2], (1_000_102, 7));
}
