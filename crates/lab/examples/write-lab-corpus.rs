//! Writes the corpus that the tests replay: `cargo run -p netburn-lab --example write-lab-corpus`.

use netburn_lab::fuzz::{datagram, stream};
use netburn_lab::init::message::{Answer, Request};
use netburn_network::Endpoint::{Server, Station};
use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let put = |target: &str, name: &str, bytes: &[u8]| std::fs::write(corpus.join(target).join(name), bytes);
    put("frame", "datagram", &datagram(Station(0), Server, 100))?;
    put(
        "frame",
        "one-segment",
        &stream(Station(0), Server, 1, 1448, 1448, false),
    )?;
    put(
        "frame",
        "burst",
        &stream(Server, Station(0), u32::MAX - 3000, 20_000, 1448, false),
    )?;
    put("frame", "burst-v6", &stream(Server, Station(1), 7, 60_001, 1428, true))?;
    let mut marked = stream(Server, Station(0), 5, 9_000, 1448, false);
    while marked.len() % 7 != 3 {
        marked = stream(Server, Station(0), 5, marked.len() - 49, 1448, false);
    }
    put("frame", "marked-on-the-way", &marked)?;
    let mut odd = stream(Server, Station(0), 5, 5_000, 1448, false);
    odd[1] = 5;
    put("frame", "says-udp", &odd)?;
    odd[1] = 1;
    odd[4..6].fill(0);
    put("frame", "segments-of-nothing", &odd)?;
    put("frame", "cut", &odd[..40])?;
    let mut fragment = datagram(Station(0), Server, 60);
    fragment[10 + 6] = 0x20;
    put("frame", "fragment", &fragment)?;
    put("frame", "empty", &[])?;
    put("frame", "header-only", &[0; 10])?;
    let mut jumbo = datagram(Station(0), Server, 2_400);
    jumbo[0] = 0;
    put("frame", "jumbo", &jumbo)?;
    put(
        "message",
        "names",
        &Request::Names("127.0.0.1 localhost\n".into()).write(),
    )?;
    put("message", "signal", &Request::Signal(3, 9).write())?;
    put(
        "message",
        "hello",
        &Answer::Hello(true, vec!["no /proc".into()]).write(),
    )?;
    put("message", "ended", &Answer::Ended(1, Err(9)).write())?;
    put("message", "endless-list", &[1, 1, 255, 255, 255, 255])?;
    put("message", "endless-text", &[2, 255, 255, 255, 255, 1])?;
    put("switch", "uplink", &[0x46, 200].repeat(60))?;
    put("switch", "downlink", &[0x06, 255, 0x03, 0].repeat(60))?;
    put("switch", "both", &[0x46, 90, 0x86, 250, 0x06, 33, 0x00, 200].repeat(30))?;
    put("switch", "nudges", &[0x44, 0, 0x46, 10, 0x03, 0].repeat(30))?;
    put("switch", "nonsense", &[0x05, 200, 0x45, 255, 0x00, 3].repeat(20))
}
