//! Writes the corpus that the tests replay: `cargo run -p netburn-lab --example write-lab-corpus`.

use netburn_lab::address;
use netburn_lab::fuzz::{datagram, stream};
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
    let to = |address: [u8; 4]| {
        let mut frame = datagram(Station(0), Server, 60);
        frame[10 + 16..10 + 20].copy_from_slice(&address);
        frame
    };
    put("frame", "multicast", &to([224, 0, 0, 251]))?;
    put("frame", "broadcast", &to([255; 4]))?;
    put("frame", "nobodys", &to([198, 18, 200, 200]))?;
    put("frame", "from-another", &datagram(Station(1), Server, 60))?;
    let mut longer = datagram(Station(0), Server, 60);
    longer[10 + 2] = 9;
    put("frame", "says-it-is-longer", &longer)?;
    let mut arp = vec![0; 10];
    arp.extend([0, 1, 8, 0, 6, 4, 0, 1]);
    arp.resize(38, 0);
    put("frame", "arp", &arp)?;
    // The last fragment of an IPv6 packet (RFC 8200, section 4.5): next header UDP, offset 1448.
    let mut fragment = vec![0; 10];
    fragment.extend([0x60, 0, 0, 0, 0, 48, 44, 64]);
    fragment.extend(address::v6(Station(0)).octets());
    fragment.extend(address::v6(Server).octets());
    fragment.extend([17, 0, 0x05, 0xa8, 0, 0, 0, 7]);
    fragment.resize(10 + 40 + 48, 0x5a);
    put("frame", "fragment-v6", &fragment)?;
    put("switch", "uplink", &[0x46, 200].repeat(60))?;
    put("switch", "downlink", &[0x06, 255, 0x03, 0].repeat(60))?;
    put("switch", "both", &[0x46, 90, 0x86, 250, 0x06, 33, 0x00, 200].repeat(30))?;
    put("switch", "nudges", &[0x44, 0, 0x46, 10, 0x03, 0].repeat(30))?;
    put("switch", "nonsense", &[0x05, 200, 0x45, 255, 0x00, 3].repeat(20))
}
