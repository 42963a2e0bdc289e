//! Captures of the packets at each endpoint and of the modelled channel, as pcapng (draft-ietf-opsawg-pcapng) for
//! Wireshark and tshark.
//!
//! An endpoint's file contains whole IP packets with complete checksums. Each has the time at which it left its
//! kernel or arrived there. The file of the channel contains one 802.11 data frame header per PPDU behind a radiotap
//! header. The frame's original length is the length of the PSDU. The MAC addresses identify the nodes: 02:00:00:00
//! followed by the node's number.
//!
//! - [`header`] – the headers of a modelled packet.

pub mod header;

use netburn_medium::air::Transmission;
use netburn_medium::config::{Guard, Width};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::Modulation;
use netburn_network::Endpoint;
use netburn_units::Instant;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// LINKTYPE_RAW: packets begin with the IPv4 or IPv6 header.
const RAW: u16 = 101;
/// LINKTYPE_IEEE802_11_RADIOTAP.
const RADIOTAP: u16 = 127;

/// Capture files: one per endpoint and one for the channel.
#[derive(Debug)]
pub struct Captures {
    server: Pcapng,
    stations: Vec<Pcapng>,
    air: Pcapng,
    /// Wall-clock time of the network's time 0, in nanoseconds since 1970.
    zero: i64,
    number: u32,
}

impl Captures {
    /// Creates one file per endpoint in `folder`, named after the stations, and one for the channel. Writes their
    /// headers. `zero` is the wall-clock time of the network's time 0, in nanoseconds since 1970.
    ///
    /// # Errors
    /// An I/O error when a file cannot be created or written.
    pub fn create(folder: &Path, names: &[&str], zero: i64) -> io::Result<Captures> {
        std::fs::create_dir_all(folder)?;
        let file = |name: &str, link| {
            let file = File::create(folder.join(format!("{name}.pcapng")))?;
            Pcapng::new(file, link, name)
        };
        let stations = names.iter().map(|name| file(&format!("station-{name}"), RAW));
        Ok(Captures {
            server: file("server", RAW)?,
            stations: stations.collect::<io::Result<_>>()?,
            air: file("air", RADIOTAP)?,
            zero,
            number: 0,
        })
    }

    /// Adds a packet of `length` bytes at one endpoint. `bytes` are the captured ones. `arrived` is `false` for a
    /// packet that the endpoint sent.
    ///
    /// # Errors
    /// An I/O error when the file cannot be written.
    pub fn packet(&mut self, end: Endpoint, at: Instant, bytes: &[u8], length: u32, arrived: bool) -> io::Result<()> {
        let nanos = self.nanos(at);
        let file = match end {
            Endpoint::Server => &mut self.server,
            Endpoint::Station(station) => &mut self.stations[usize::from(station)],
        };
        file.packet(nanos, bytes, length, Some(arrived))
    }

    /// Adds a transmission on the channel.
    ///
    /// # Errors
    /// An I/O error when the file cannot be written.
    pub fn air(&mut self, transmission: &Transmission) -> io::Result<()> {
        self.number = self.number.wrapping_add(1);
        let head = radiotap(transmission, self.number);
        let length = head.len() as u64 + transmission.length.saturating_sub(26);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.air.packet(self.nanos(transmission.at), &head, length, None)
    }

    /// Writes buffered blocks to all files.
    ///
    /// # Errors
    /// The first I/O error. All files are tried.
    pub fn flush(&mut self) -> io::Result<()> {
        let files = self.stations.iter_mut().chain([&mut self.server, &mut self.air]);
        files.map(Pcapng::flush).fold(Ok(()), io::Result::and)
    }

    fn nanos(&self, at: Instant) -> u64 {
        (at.as_nanos() + self.zero).max(0).unsigned_abs()
    }
}

/// One pcapng file. It contains whole blocks at any time.
#[derive(Debug)]
struct Pcapng {
    file: File,
    /// Length of the file in bytes.
    length: u64,
    /// Blocks that have not been written yet.
    buffer: Vec<u8>,
}

/// Size in bytes at which the buffer is written.
const BUFFER: usize = 1 << 18;

impl Pcapng {
    /// Starts a file with one interface of this link type and name, with timestamps in nanoseconds.
    fn new(file: File, link: u16, name: &str) -> io::Result<Self> {
        let mut begun = Pcapng {
            file,
            length: 0,
            buffer: Vec::new(),
        };
        let mut section = Vec::new();
        section.extend(0x1a2b_3c4d_u32.to_le_bytes());
        section.extend([1, 0, 0, 0]);
        section.extend(u64::MAX.to_le_bytes());
        block(&mut begun.buffer, 0x0a0d_0d0a, &section);
        let mut interface = Vec::new();
        interface.extend(link.to_le_bytes());
        interface.extend([0; 6]);
        option(&mut interface, 2, name.as_bytes());
        // if_tsresol: 10⁻⁹ s.
        option(&mut interface, 9, &[9]);
        option(&mut interface, 0, &[]);
        block(&mut begun.buffer, 1, &interface);
        begun.flush()?;
        Ok(begun)
    }

    /// Adds one packet at `nanos` since 1970. `bytes` are the captured ones. `inbound` is `None` if the direction is
    /// unknown.
    fn packet(&mut self, nanos: u64, bytes: &[u8], length: u32, inbound: Option<bool>) -> io::Result<()> {
        let mut packet = Vec::with_capacity(bytes.len() + 40);
        packet.extend(0_u32.to_le_bytes());
        packet.extend(((nanos >> 32) as u32).to_le_bytes());
        packet.extend((nanos as u32).to_le_bytes());
        packet.extend((bytes.len() as u32).to_le_bytes());
        packet.extend(length.to_le_bytes());
        packet.extend_from_slice(bytes);
        packet.resize(packet.len().next_multiple_of(4), 0);
        if let Some(inbound) = inbound {
            // epb_flags: 1 inbound, 2 outbound.
            option(&mut packet, 2, &(if inbound { 1_u32 } else { 2 }).to_le_bytes());
            option(&mut packet, 0, &[]);
        }
        block(&mut self.buffer, 6, &packet);
        if self.buffer.len() >= BUFFER {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes buffered blocks. After an error, the file has its previous length.
    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.file.write_all(&buffer);
        match &written {
            Ok(()) => self.length += buffer.len() as u64,
            // Readers cannot use a file that ends within a packet.
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

fn block(to: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let length = (body.len() as u32 + 12).to_le_bytes();
    to.extend(kind.to_le_bytes());
    to.extend(length);
    to.extend(body);
    to.extend(length);
}

fn option(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend(kind.to_le_bytes());
    to.extend((value.len() as u16).to_le_bytes());
    to.extend_from_slice(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

/// Encodes a data PPDU as a radiotap header (radiotap.org) followed by the MAC header of its first frame.
fn radiotap(transmission: &Transmission, number: u32) -> Vec<u8> {
    let vector = &transmission.vector;
    let width = match vector.width {
        Width::Mhz20 => 0_u8,
        Width::Mhz40 => 1,
        Width::Mhz80 => 2,
        Width::Mhz160 | Width::Mhz320 => 3,
    };
    let short = vector.guard == Guard::Ns400;
    let mut present = 0_u32;
    let mut fields = Vec::new();
    // Flags: short guard interval of 802.11n. The field is always present because it also states that the frame has no
    // FCS.
    present |= 1 << 1;
    let short_ht = short && matches!(vector.modulation, Modulation::Ht { .. });
    fields.push(u8::from(short_ht) << 7);
    match vector.modulation {
        Modulation::Dsss(rate) => {
            present |= 1 << 2;
            fields.push((rate.rate().as_bps() / 500_000) as u8);
        }
        Modulation::Ofdm(rate) => {
            present |= 1 << 2;
            fields.push((rate.rate().as_bps() / 500_000) as u8);
        }
        Modulation::Ht { mcs } => {
            present |= 1 << 19;
            // Known: bandwidth, MCS, guard interval.
            fields.extend([
                0x07,
                u8::from(width > 0) | u8::from(short) << 2,
                mcs + 8 * (vector.streams - 1),
            ]);
        }
        _ => {}
    }
    let aggregate = transmission.mpdus > 1;
    if aggregate {
        present |= 1 << 20;
        align(&mut fields, 4);
        fields.extend(number.to_le_bytes());
        fields.extend([0; 4]);
    }
    match vector.modulation {
        Modulation::Vht { mcs } => {
            present |= 1 << 21;
            align(&mut fields, 2);
            // Known: guard interval, bandwidth.
            fields.extend(0x0044_u16.to_le_bytes());
            fields.push(u8::from(short) << 2);
            fields.push([0, 1, 4, 11][usize::from(width)]);
            fields.extend([mcs << 4 | vector.streams, 0, 0, 0, 0, 0, 0, 0]);
        }
        Modulation::He { mcs } | Modulation::Eht { mcs } => {
            present |= 1 << 23;
            align(&mut fields, 2);
            let guard = match vector.guard {
                Guard::Ns400 | Guard::Ns800 => 0_u16,
                Guard::Ns1600 => 1,
                Guard::Ns3200 => 2,
            };
            // HE SU; known: MCS, bandwidth, guard interval.
            for word in [
                0x4020_u16,
                0x0002,
                0,
                u16::from(mcs) << 8,
                u16::from(width) | guard << 4,
                u16::from(vector.streams),
            ] {
                fields.extend(word.to_le_bytes());
            }
        }
        _ => {}
    }
    let mut bytes = vec![0, 0];
    bytes.extend((8 + fields.len() as u16).to_le_bytes());
    bytes.extend(present.to_le_bytes());
    bytes.extend(fields);
    mac_header(&mut bytes, transmission, number);
    bytes
}

/// Adds the MAC header of QoS Data between two stations of one BSS, so that both addresses are present.
fn mac_header(bytes: &mut Vec<u8>, transmission: &Transmission, number: u32) {
    let retry = if transmission.arrived < transmission.mpdus {
        0x08
    } else {
        0
    };
    bytes.extend([0x88, retry, 0, 0]);
    bytes.extend(transmission.to.map_or([0xff; 6], address));
    bytes.extend(address(transmission.from));
    bytes.extend([2, 0, 0, 0, 0xff, 0xff]);
    bytes.extend(((number & 0xfff) << 4).to_le_bytes()[..2].iter());
    bytes.extend([transmission.tid, 0]);
}

/// Aligns a field to its size. Offsets count from the beginning of the radiotap header, which is 8 bytes long.
fn align(fields: &mut Vec<u8>, to: usize) {
    fields.resize(fields.len().next_multiple_of(to), 0);
}

fn address(node: NodeId) -> [u8; 6] {
    let [high, low] = node.0.to_be_bytes();
    [2, 0, 0, 0, high, low]
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_medium::phy::TxVector;
    use netburn_units::Duration;

    /// Bit 7 of the Flags field (radiotap.org, "Flags": frame used short guard interval) is in the first field after
    /// the 8-byte header. Bit 2 of the MCS field's flags has the same meaning.
    #[test]
    fn flags_and_mcs_field_agree_on_the_guard_interval() {
        for (guard, flags, mcs_flags) in [(Guard::Ns400, 0x80, 0x04), (Guard::Ns800, 0, 0)] {
            let transmission = Transmission {
                at: Instant::ZERO,
                duration: Duration::from_micros(100),
                from: NodeId(0),
                to: Some(NodeId(1)),
                tid: 0,
                vector: TxVector {
                    modulation: Modulation::Ht { mcs: 7 },
                    width: Width::Mhz20,
                    guard,
                    streams: 1,
                    signal_extension: false,
                    short_preamble: false,
                },
                mpdus: 1,
                arrived: 1,
                collided: false,
                length: 1_500,
            };
            let bytes = radiotap(&transmission, 1);
            assert_eq!((bytes[8], bytes[10]), (flags, mcs_flags), "{guard:?}");
        }
    }
}
