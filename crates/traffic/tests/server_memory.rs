//! Memory per connection, independently of the object's size: thousands of clients request 1 GiB each and read only the
//! beginning. The only test of this file, so that nothing else in the process allocates memory meanwhile.

#[path = "server/util.rs"]
#[expect(dead_code, reason = "only a part is of use here")]
mod util;

use netburn_scenario::plan::Http;
use netburn_traffic::client::{Trust, tls};
use netburn_traffic::server::{Limits, ServerConfig};
use netburn_units::Duration;
use rustls::{ClientConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use util::{get, serve, with_tls};

/// Memory per connection that docs/explanation/security-model.md states, in bytes.
const HTTP1: usize = 32 << 10;
const HTTP2: usize = 64 << 10;
/// With TLS, the client's side is in this process as well, with the same size.
const TLS: usize = 128 << 10;

/// Number of clients of each kind at the start, which cause one-time allocations.
const FIRST: usize = 20;

/// Returns this process's resident memory in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

/// Returns a client's connection that has received the beginning of a response and reads no more.
fn begin<S: Read + Write>(mut stream: S, request: &[u8]) -> S {
    stream.write_all(request).unwrap();
    stream.read_exact(&mut [0; 30_000]).unwrap();
    stream
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(util::PATIENCE)).unwrap();
    stream
}

/// Connects `count` clients. Returns the memory per client, and the clients.
fn each<S>(count: usize, connect: impl Fn() -> S) -> (usize, Vec<S>) {
    let mut clients: Vec<S> = (0..FIRST).map(|_| connect()).collect();
    clients.reserve(count);
    let before = resident();
    clients.extend((0..count).map(|_| connect()));
    (resident().saturating_sub(before) / count, clients)
}

/// Returns the first bytes of an HTTP/2 client: preface, a window of 2³¹ − 1 per stream, and GET /bytes/1GiB.
fn http2_request() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS_INITIAL_WINDOW_SIZE (4) = 2³¹ − 1.
    bytes.extend(b"\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff");
    // WINDOW_UPDATE of the connection, by 2³⁰.
    bytes.extend(b"\0\0\x04\x08\0\0\0\0\0\x40\0\0\0");
    // :method GET and :scheme http from the static table, :path and :authority as literals (RFC 7541 §6.2.2).
    let mut block = vec![0x82, 0x86];
    for (index, value) in [(4_u8, "/bytes/1GiB"), (1, "test")] {
        block.push(index);
        block.push(value.len() as u8);
        block.extend(value.as_bytes());
    }
    bytes.extend([0, 0, block.len() as u8, 1, 5, 0, 0, 0, 1]);
    bytes.extend(block);
    bytes
}

#[test]
fn memory_does_not_grow_with_the_object() {
    // A busy machine may need minutes for all connections, which read nothing meanwhile.
    let limits = Limits {
        connections: 10_000,
        head_time: Duration::from_secs(3_600),
        stall_time: Duration::from_secs(3_600),
        ..Limits::default()
    };
    let served = serve(ServerConfig { limits, ..with_tls() });
    let request = get("/bytes/1GiB");
    let http2 = http2_request();
    // All connections stay open, so that none reuses memory of another.
    let (http2, _h2) = each(500, || begin(connect(served.http()), &http2));
    let config = tls::config(&Trust::Any, Http::H1).unwrap();
    let (tls, _tls) = each(100, || {
        let name = tls::server_name("localhost").unwrap();
        let session = ClientConnection::new(Arc::clone(&config), name).unwrap();
        begin(
            StreamOwned::new(session, connect(served.addresses.https[0])),
            request.as_bytes(),
        )
    });
    let (http1, _h1) = each(2_000, || begin(connect(served.http()), request.as_bytes()));
    println!("bytes for each connection: HTTP/1.1 {http1}, HTTP/2 {http2}, TLS {tls}");
    assert!(
        http1 <= HTTP1 && http2 <= HTTP2 && tls <= TLS,
        "HTTP/1.1 {http1}, HTTP/2 {http2}, TLS {tls}"
    );
    assert_eq!(served.handle.connections().len(), 2_600 + 3 * FIRST);
}
