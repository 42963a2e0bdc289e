//! Digest of all rows of a scenario's run: `fingerprint SCENARIO [KEY=VALUE]…`. An optimisation
//! must leave it unchanged.

use netburn_scenario::{Environment, load};
use std::fmt::Write;
use std::ops::ControlFlow;

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
    let (plan, _) = document.resolve_for(Environment::Simulate).expect("a good scenario");
    let (mut digest, mut count) = (Digest(0xcbf2_9ce4_8422_2325), 0);
    let done = netburn_simulate::run(&plan, |_, rows| {
        for row in rows {
            count += 1;
            write!(digest, "{row:?}").expect("a digest takes everything");
        }
        ControlFlow::Continue(())
    })
    .expect("it can be simulated");
    println!(
        "{:016x} {count} rows, {} packets: {name}{changes}",
        digest.0, done.counters.packets
    );
}
