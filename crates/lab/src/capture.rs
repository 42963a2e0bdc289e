//! Captures: packets at each end, and what was on the air, as pcapng (draft-ietf-opsawg-pcapng) that Wireshark and tshark read.
//!
//! An end's file holds whole IP packets with complete checksums, each at the instant at which it left its kernel or arrived. The air's
//! holds the headers of one 802.11 data frame for each PPDU, behind a radiotap header that says how it was sent; the frame's length is
//! the PSDU's. Its source and destination tell the nodes: 02:00:00:00 and the node's number.

use crate::switch::Tapped;
use netburn_medium::air::Transmission;
use netburn_medium::config::{Guard, Width};
use netburn_medium::packet::NodeId;
use netburn_medium::phy::Modulation;
use netburn_network::Endpoint;
use netburn_units::Instant;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// LINKTYPE_RAW: IPv4 or IPv6, nothing before it.
const RAW: u16 = 101;
/// LINKTYPE_IEEE802_11_RADIOTAP.
const RADIOTAP: u16 = 127;

/// A capture for each end, and one for the air.
#[derive(Debug)]
pub struct Captures {
    server: Pcapng,
    stations: Vec<Pcapng>,
    air: Pcapng,
    /// Nanoseconds since 1970 at the network's time 0.
    zero: i64,
    number: u32,
}

impl Captures {
    /// A file for each end in `folder`, stations by their names, and one for the air, each with its header. `zero` is what the
    /// network's time 0 is, in nanoseconds since 1970.
    ///
    /// # Errors
    /// When they can't be written: nothing would be kept.
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

    /// A packet of `length` bytes at one end, of which `bytes` were kept: one that arrived, or one that left.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn packet(&mut self, end: Endpoint, at: Instant, bytes: &[u8], length: u32, arrived: bool) -> io::Result<()> {
        let nanos = self.nanos(at);
        let file = match end {
            Endpoint::Server => &mut self.server,
            Endpoint::Station(station) => &mut self.stations[usize::from(station)],
        };
        file.packet(nanos, bytes, length, Some(arrived))
    }

    /// What was on the air.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn air(&mut self, transmission: &Transmission) -> io::Result<()> {
        self.number = self.number.wrapping_add(1);
        let head = radiotap(transmission, self.number);
        let length = head.len() as u64 + transmission.length.saturating_sub(26);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.air.packet(self.nanos(transmission.at), &head, length, None)
    }

    /// Writes what was seen to the files. Where a file can't be written (a full disk), every file ends with its last whole packet.
    ///
    /// # Errors
    /// The first that there is.
    pub(crate) fn put(&mut self, taps: &[Tapped], air: &[Transmission]) -> io::Result<()> {
        let taken = taps.iter().try_for_each(|tap| {
            let packet = tap.packet();
            self.packet(tap.end, tap.at, &packet, packet.len() as u32, tap.inbound)
        });
        let taken = taken.and_then(|()| air.iter().try_for_each(|transmission| self.air(transmission)));
        let flushed = self.flush();
        taken.and(flushed)
    }

    /// Writes what is gathered.
    ///
    /// # Errors
    /// The first that there is; every file is tried.
    pub fn flush(&mut self) -> io::Result<()> {
        let files = self.stations.iter_mut().chain([&mut self.server, &mut self.air]);
        files.map(Pcapng::flush).fold(Ok(()), io::Result::and)
    }

    fn nanos(&self, at: Instant) -> u64 {
        (at.as_nanos() + self.zero).max(0).unsigned_abs()
    }
}

/// One pcapng file, which holds whole blocks at any time.
#[derive(Debug)]
struct Pcapng {
    file: File,
    /// The file's length.
    length: u64,
    /// Blocks that aren't written yet.
    buffer: Vec<u8>,
}

/// So many bytes are gathered before they are written.
const BUFFER: usize = 1 << 18;

impl Pcapng {
    /// Begins a file with one interface of that link type and name, in nanoseconds.
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

    /// One packet at `nanos` since 1970, of which `bytes` were kept; `inbound` says which way, where that is known.
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

    /// Writes what is gathered. Where that fails, the file is as it was before.
    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.file.write_all(&buffer);
        match &written {
            Ok(()) => self.length += buffer.len() as u64,
            // What is cut short within a packet is of no use to a reader.
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

/// A data PPDU as a radiotap header (radiotap.org) and the header of its first frame.
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
    // Flags: a short guard interval of 802.11n; present also so that the frame is known to have no FCS.
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
    // QoS Data; from a node to a node of one BSS, so that both addresses are said.
    let retry = if transmission.arrived < transmission.mpdus {
        0x08
    } else {
        0
    };
    bytes.extend([0x88, retry, 0, 0]);
    bytes.extend(address(transmission.to));
    bytes.extend(address(transmission.from));
    bytes.extend([2, 0, 0, 0, 0xff, 0xff]);
    bytes.extend(((number & 0xfff) << 4).to_le_bytes()[..2].iter());
    bytes.extend([transmission.tid, 0]);
    bytes
}

/// Fields are aligned to their size, counted from the header's beginning, which is 8 bytes long.
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

    /// Bit 7 of the Flags field (radiotap.org, "Flags": frame used short guard interval), the first field after the header of 8 bytes; the
    /// MCS field says the same in bit 2 of its flags.
    #[test]
    fn the_flags_say_what_the_mcs_field_says_of_the_guard_interval() {
        for (guard, flags, mcs_flags) in [(Guard::Ns400, 0x80, 0x04), (Guard::Ns800, 0, 0)] {
            let transmission = Transmission {
                at: Instant::ZERO,
                duration: Duration::from_micros(100),
                from: NodeId(0),
                to: NodeId(1),
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
