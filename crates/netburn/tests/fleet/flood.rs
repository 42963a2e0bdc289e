//! A controller under a flood of connections, and of wrong tokens.

use crate::support::Running;
use crate::support::fleet::Fleet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// Connections of the flood.
const FLOOD: usize = 1600;
/// 1,024 unauthenticated connections, 1,024 unfinished handshakes, 256 that are being closed, and the program's own
/// files.
const MAX_FILES: usize = 2304 + 64;

/// The first half of a WebSocket handshake.
const HALF_HANDSHAKE: &str = "GET /join HTTP/1.1\r\nHost: fleet\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Resident memory of a process in KiB.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn open_files(id: u32) -> usize {
    std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().count()
}

fn at(fleet: &Fleet) -> SocketAddr {
    let (_, rest) = fleet.url().split_once("//").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

#[test]
fn a_flood_of_connections_is_bounded_and_its_memory_is_freed() {
    let mut fleet = Fleet::new();
    let address = at(&fleet);
    let serve = fleet.serve.as_mut().unwrap();
    let id = serve.id();
    let before = resident(id);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || -> Vec<TcpStream> {
                (0..FLOOD / 4)
                    .map(|_| {
                        let mut stream = TcpStream::connect(address).unwrap();
                        // The server may close the connection during the write.
                        let _ = stream.write_all(HALF_HANDSHAKE.as_bytes());
                        stream
                    })
                    .collect()
            })
        })
        .collect();
    let (mut most, mut largest) = (0, 0);
    while threads.iter().any(|thread| !thread.is_finished()) || most < 1000 {
        most = most.max(open_files(id));
        largest = largest.max(resident(id));
    }
    let connections: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    largest = largest.max(resident(id));
    assert!(most <= MAX_FILES, "{most} files");
    drop(connections);
    serve.wait_for("the connections to be gone", |_| open_files(id) < 64);
    // Each connection has a read buffer of 16 KiB.
    let took = largest - before;
    assert!(took > 4 << 10, "{took} KiB");
    if cfg!(target_env = "gnu") {
        let kept = |id| resident(id).saturating_sub(before);
        serve.wait_for("the release of its memory", |_| kept(id) < took / 2);
    }
    let alpha = fleet.agent("alpha", &[]);
    assert!(alpha.stderr_so_far().contains("is in the fleet"));
}

/// Sends a hello with a wrong token, and reads until the server closes the connection.
fn guess(address: SocketAddr, name: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let text = format!(
        r#"{{"type":"register","protocol":1,"name":"{name}","token":"guess","version":"v","about":{{"role":"agent","kind":"browser","system":"s"}}}}"#
    );
    assert!((126..65_536).contains(&text.len()));
    // A complete text frame, masked with zeros (RFC 6455 §5.2).
    let mut frame = vec![0x81, 0x80 | 126];
    frame.extend((text.len() as u16).to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    stream.write_all(HALF_HANDSHAKE.as_bytes()).unwrap();
    stream.write_all(&frame).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("wrong token"), "{answer}");
}

#[test]
fn a_flood_of_wrong_tokens_logs_a_few_lines() {
    let mut fleet = Fleet::new();
    let address = at(&fleet);
    for number in 0..40 {
        guess(address, &format!("guest-{number}"));
    }
    let denied = |serve: &Running| serve.stderr_so_far().matches("was rejected").count();
    let serve = fleet.serve.as_mut().unwrap();
    serve.wait_for("the first of them", |serve| denied(serve) == 5);
    for number in 0..5 {
        let line = format!("guest-{number} was rejected: wrong token");
        assert!(serve.stderr_so_far().contains(&line), "{}", serve.stderr_so_far());
    }
    // A later wrong token still gets a rejection, and the log stays short.
    let _alpha = fleet.agent("alpha", &[]);
    let serve = fleet.serve.as_mut().unwrap();
    serve.wait_for("the newcomer", |serve| serve.stderr_so_far().contains("+ alpha"));
    assert_eq!(denied(serve), 5, "{}", serve.stderr_so_far());
}
