//! Digest of all rows of a scenario's run: `fingerprint SCENARIO [KEY=VALUE]…`. An optimisation
//! must leave it unchanged.

use netburn_record::Row;
use netburn_record::row::LinkRow;
use netburn_scenario::{Document, Environment, load};
use netburn_units::Instant;
use std::fmt::Write;
use std::ops::ControlFlow;

/// Numbers of a run that any change of a model changes.
#[derive(Debug)]
pub(crate) struct Fingerprint {
    /// FNV-1a over the text of all rows, without empty `tcp_connected`.
    pub(crate) digest: u64,
    pub(crate) rows: u64,
    pub(crate) packets: u64,
    pub(crate) operations: u64,
    /// Airtime rows of the load: one for each station and 100 ms. Those of wired stations have no airtime.
    pub(crate) air: u64,
}

/// FNV-1a over the text.
struct Digest(u64);

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// The row without the radio of a link, which follows from the plan, so that the digests do not depend on it.
fn without_radio(row: &Row) -> Row {
    match row {
        Row::Link(link) => Row::Link(LinkRow {
            bssid: None,
            frequency_mhz: None,
            ..link.clone()
        }),
        other => other.clone(),
    }
}

/// Simulates a scenario.
pub(crate) fn fingerprint(document: &Document) -> Fingerprint {
    let (plan, _) = document.resolve_for(Environment::Simulate).expect("a good scenario");
    let (mut digest, mut rows, mut operations, mut air) = (Digest(0xcbf2_9ce4_8422_2325), 0, 0, 0);
    let end = Instant::ZERO + plan.duration;
    let done = netburn_simulate::run(&plan, |_, new| {
        for row in new {
            rows += 1;
            match row {
                Row::Operation(_) => operations += 1,
                Row::Air(row) if row.at >= Instant::ZERO && row.at < end => air += 1,
                _ => {}
            }
            // Only `responsiveness` has this time. Without the empty field, the digests of all other workloads don't depend
            // on this column.
            let text = format!("{:?}", without_radio(&row)).replace(", tcp_connected: None", "");
            digest.write_str(&text).expect("a digest takes everything");
        }
        ControlFlow::Continue(())
    })
    .expect("it can be simulated");
    Fingerprint {
        digest: digest.0,
        rows,
        packets: done.counters.packets,
        operations,
        air,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().expect("a scenario");
    let mut document = load(&name).expect("a scenario");
    let mut changes = String::new();
    for change in arguments {
        let (key, value) = change.split_once('=').expect("KEY=VALUE");
        document.set(key, value).expect("a key of a scenario");
        changes = changes + " " + &change;
    }
    let found = fingerprint(&document);
    println!(
        "{:016x} {} rows, {} operations, {} of airtime, {} packets: {name}{changes}",
        found.digest, found.rows, found.operations, found.air, found.packets
    );
}
