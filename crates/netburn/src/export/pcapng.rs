//! `netburn export --to pcapng`: the packets of a simulated run. netburn repeats the simulation for them.
//!
//! The files are those of captures in a lab: one for each endpoint with the headers of IP packets, and one of the channel. The
//! record has no packets; the same scenario and seed produce the same packets again.

use crate::exit::CliError;
use crate::terminal::eprint_message;
use netburn_interop::address::v4;
use netburn_interop::export::DATELESS;
use netburn_interop::pcapng::Captures;
use netburn_interop::pcapng::header::{ModelPacket, header};
use netburn_network::Endpoint;
use netburn_record::{Environment, Run, RunTable};
use netburn_simulate::{CaptureEvent, CapturedPacket, PacketContent, run_with_capture};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Port of the server, as in `netburn serve`.
const SERVER_PORT: u16 = 4480;

/// Writes the captures of `run` into `folder`.
pub(super) fn export(run: &Run, folder: &Path) -> Result<(), CliError> {
    if !run.run_folders().is_empty() {
        let one = run.path().join("1");
        return Err(CliError::Usage(format!(
            "there are several runs here; name one of them: {}",
            one.display()
        )));
    }
    let environment = run.header().environment;
    if environment != Environment::Simulate {
        return Err(CliError::Usage(format!(
            "only a simulated run's packets can be had again; this one's environment is {environment}. In the lab, `netburn lab SCENARIO --pcap DIR` \
             captures while it runs"
        )));
    }
    let unwritten = |error: io::Error| CliError::Failed(format!("{}: {error}", folder.display()));
    let plan = &run.header().plan;
    let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
    let zero = DATELESS.0 + plan.baseline.as_nanos() as i64;
    let mut captures = Captures::create(folder, &names, zero).map_err(unwritten)?;
    let mut broken = None;
    let mut rows = 0_u64;
    run_with_capture(plan, |_, put, seen| {
        rows += put.len() as u64;
        match write(&mut captures, &seen) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                broken = Some(error);
                ControlFlow::Break(())
            }
        }
    })
    .map_err(|error| CliError::Usage(error.to_string()))?;
    if let Some(error) = broken {
        return Err(unwritten(error));
    }
    captures.flush().map_err(unwritten)?;
    if rows != RunTable::ALL.iter().map(|table| run.count(table.name())).sum::<u64>() {
        eprint_message(&format!(
            "note: this netburn simulates the scenario otherwise than {}, which recorded it: the packets are not quite those of the run",
            run.header().version
        ));
    }
    eprint_message(&format!("written to {}", folder.display()));
    Ok(())
}

fn write(captures: &mut Captures, seen: &[CaptureEvent]) -> io::Result<()> {
    seen.iter().try_for_each(|one| match one {
        CaptureEvent::Packet(packet) => {
            let end = if packet.arrived { packet.to } else { packet.from };
            let bytes = header(&model_packet(packet));
            let length = packet.length.max(bytes.len() as u32);
            captures.packet(end, packet.at, &bytes, length, packet.arrived)
        }
        CaptureEvent::Air(transmission) => captures.air(transmission),
    })
}

fn model_packet(packet: &CapturedPacket) -> ModelPacket<'_> {
    let ports = if packet.to == Endpoint::Server {
        [packet.port, SERVER_PORT]
    } else {
        [SERVER_PORT, packet.port]
    };
    ModelPacket {
        from: v4(packet.from),
        to: v4(packet.to),
        ports,
        length: packet.length,
        dscp: packet.dscp,
        ecn: packet.ecn,
        segment: match &packet.content {
            PacketContent::Segment(segment) => Some(segment),
            PacketContent::Datagram(_) => None,
        },
    }
}
