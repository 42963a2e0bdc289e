//! Memory per connection, whatever the object's size: thousands of clients that ask for 1 GiB each and hardly read.
//! Alone in its file, so that nothing else in the process takes memory meanwhile.

#[path = "server/util.rs"]
#[expect(dead_code, reason = "only a part is of use here")]
mod util;

use netburn_traffic::server::Limits;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use util::{get, limited, serve};

/// What docs/SECURITY.md says for each connection, in bytes.
const HTTP1: usize = 32 << 10;
const HTTP2: usize = 96 << 10;

/// This process's resident memory in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib << 10
}

/// `count` clients that send `request`, have the beginning of an answer, and read no more.
fn crowd(address: SocketAddr, count: usize, request: &[u8]) -> Vec<TcpStream> {
    let mut clients: Vec<TcpStream> = (0..count)
        .map(|_| {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(util::PATIENCE)).unwrap();
            (&stream).write_all(request).unwrap();
            stream
        })
        .collect();
    for client in &mut clients {
        client.read_exact(&mut [0; 100]).unwrap();
    }
    // A second look at each, when all are there.
    for client in &mut clients {
        client.read_exact(&mut [0; 30_000]).unwrap();
    }
    clients
}

/// An HTTP/2 client's beginning: preface, a window of 2³¹ − 1 for each stream, and GET /bytes/1GiB.
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
    let served = serve(limited(Limits {
        connections: 10_000,
        ..Limits::default()
    }));
    let request = get("/bytes/1GiB");
    let http2 = http2_request();
    for (count, request, bound) in [(2_000, request.as_bytes(), HTTP1), (500, &http2, HTTP2)] {
        // What is made once is made by the first few.
        drop(crowd(served.http(), 20, request));
        let before = resident();
        let clients = crowd(served.http(), count, request);
        let each = resident().saturating_sub(before) / count;
        println!("{each} bytes for each of {count}");
        assert!(each <= bound, "{each} bytes for each of {count}");
        assert!(served.handle.connections().len() >= count);
        drop(clients);
    }
    let sent = served.handle.health().bytes_down;
    assert!(sent > 2_000 * 30_000, "they were under way: {sent}");
}
