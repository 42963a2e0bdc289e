//! `netburn export --to pcapng`: the packets of a simulated run, which is simulated again for them.
//!
//! As a lab's captures: a file for each end with whole IP packets' headers, and one with what was on the air. The record keeps no
//! packets; the same scenario and seed give the same ones again.

mod header;

use crate::exit::Stop;
use crate::terminal::say;
use header::header;
use netburn_lab::capture::{Pcapng, radiotap};
use netburn_network::Endpoint;
use netburn_record::{Ground, Run};
use netburn_simulate::{Seen, SeenPacket, run_seen};
use netburn_units::Instant;
use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::Path;

/// LINKTYPE_RAW: IPv4 or IPv6, nothing before it.
const RAW: u16 = 101;
/// LINKTYPE_IEEE802_11_RADIOTAP.
const RADIOTAP: u16 = 127;

/// Writes the captures of `run` into `folder`.
pub(super) fn export(run: &Run, folder: &Path) -> Result<(), Stop> {
    if !run.repeats().is_empty() {
        let one = run.path().join("1");
        return Err(Stop::Wrong(format!(
            "there are several runs here; name one of them: {}",
            one.display()
        )));
    }
    let ground = run.header().ground;
    if ground != Ground::Simulate {
        return Err(Stop::Wrong(format!(
            "only a simulated run's packets can be had again; this one's ground is {ground}. In the lab, `netburn lab SCENARIO --pcap DIR` \
             captures while it runs"
        )));
    }
    let unwritten = |error: io::Error| Stop::NotMeasured(format!("{}: {error}", folder.display()));
    let mut captures = Captures::create(folder, run).map_err(unwritten)?;
    let mut broken = None;
    let mut rows = 0_u64;
    run_seen(&run.header().plan, |_, put, seen| {
        rows += put.len() as u64;
        match captures.put(&seen) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                broken = Some(error);
                ControlFlow::Break(())
            }
        }
    })
    .map_err(|error| Stop::Wrong(error.to_string()))?;
    if let Some(error) = broken {
        return Err(unwritten(error));
    }
    captures.flush().map_err(unwritten)?;
    let tables = ["operations", "intervals", "connections", "link", "events"];
    if rows != tables.iter().map(|table| run.count(table)).sum::<u64>() {
        say(&format!(
            "note: this netburn simulates the scenario otherwise than {}, which recorded it: the packets are not quite those of the run",
            run.header().version
        ));
    }
    say(&format!("written to {}", folder.display()));
    Ok(())
}

/// The files.
struct Captures {
    server: Pcapng<BufWriter<File>>,
    stations: Vec<Pcapng<BufWriter<File>>>,
    air: Pcapng<BufWriter<File>>,
    /// Nanoseconds since 1970 at the run's time 0.
    zero: i64,
    number: u32,
}

impl Captures {
    fn create(folder: &Path, run: &Run) -> io::Result<Captures> {
        std::fs::create_dir_all(folder)?;
        let file = |name: &str, link| {
            let file = File::create(folder.join(format!("{name}.pcapng")))?;
            Pcapng::new(BufWriter::with_capacity(1 << 18, file), link, name)
        };
        let plan = &run.header().plan;
        let stations = plan
            .stations
            .iter()
            .map(|station| file(&format!("station-{}", station.name), RAW));
        Ok(Captures {
            server: file("server", RAW)?,
            stations: stations.collect::<io::Result<_>>()?,
            air: file("air", RADIOTAP)?,
            zero: netburn_record::export::DATELESS.0 + plan.baseline.as_nanos() as i64,
            number: 0,
        })
    }

    fn put(&mut self, seen: &[Seen]) -> io::Result<()> {
        let zero = self.zero;
        let when = |at: Instant| (at.as_nanos() + zero).max(0).unsigned_abs();
        for one in seen {
            match one {
                Seen::Packet(packet) => {
                    let bytes = header(packet);
                    let length = packet.length.max(bytes.len() as u32);
                    self.file(packet)
                        .packet(when(packet.at), &bytes, length, Some(packet.arrived))?;
                }
                Seen::Air(transmission) => {
                    self.number = self.number.wrapping_add(1);
                    let head = radiotap(transmission, self.number);
                    let length = head.len() as u64 + transmission.length.saturating_sub(26);
                    let length = u32::try_from(length).unwrap_or(u32::MAX);
                    self.air.packet(when(transmission.at), &head, length, None)?;
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, packet: &SeenPacket) -> &mut Pcapng<BufWriter<File>> {
        match if packet.arrived { packet.to } else { packet.from } {
            Endpoint::Server => &mut self.server,
            Endpoint::Station(station) => &mut self.stations[usize::from(station)],
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.server.flush()?;
        self.air.flush()?;
        self.stations.iter_mut().try_for_each(Pcapng::flush)
    }
}
