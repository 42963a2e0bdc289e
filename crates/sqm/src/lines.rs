//! Lines whose truth is known, for checks: what a measurement should find, and the best rate of a shaper.
//!
//! Two definitions of the best rate exist, both without the code that recommends one. The closed form is the rate of the
//! slowest hop. [`Line::shaped`] is a load behind CAKE with some rate: the best one is the highest with which the 95th percentile
//! of the added delay stays below [`LIMIT`](crate::capacity::LIMIT). It is the only one for lines whose rate varies.

use crate::capacity::{WIRED, key, loaded, opportunities};
use crate::layer::{Cells, Layer};
use crate::verdict::Queue;
use netburn_units::BitRate;
use netburn_workload::Direction;
use std::fmt::Write as _;

/// A line, and what is true of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name.
    pub name: &'static str,
    /// Rates of the line down and up in bit/s, with its layer. For a line that varies, 0.
    pub rates: [u64; 2],
    /// Keys of `[router.wan]` beside those of the rates.
    wan: String,
    /// Keyword of its framing in scenario files.
    framing: &'static str,
    /// Bytes that it adds to each packet.
    pub layer: Layer,
    /// Where packets wait in each direction.
    pub queues: [Queue; 2],
    /// Rates of a policer down and up, if it is below the line's.
    pub policers: Option<[u64; 2]>,
    /// Share of the line's rate to which SQM is set already, in percent.
    pub sqm: Option<u64>,
}

/// Length of a trace in steps of 200 ms.
const TRACE_STEPS: u64 = 100;

impl Line {
    fn new(name: &'static str, rates: [u64; 2], framing: &'static str, layer: Layer) -> Self {
        Line {
            name,
            rates,
            wan: "delay = \"5 ms\"\n".to_owned(),
            framing,
            layer,
            queues: [Queue::Line; 2],
            policers: None,
            sqm: None,
        }
    }

    fn with(mut self, keys: &str) -> Self {
        self.wan += keys;
        self
    }

    /// Sections of the network: the line, and a server beyond it.
    #[must_use]
    pub fn network(&self) -> String {
        let sqm = self.sqm.map_or(String::new(), |percent| {
            let [down, up] = self.rates.map(|rate| BitRate::from_bps(rate * percent / 100));
            format!("discipline = \"cake\"\nshaper_down = \"{down}\"\nshaper_up = \"{up}\"\n")
        });
        self.with_shaper(&sqm)
    }

    fn with_shaper(&self, shaper: &str) -> String {
        let mut text = format!("[router.wan]\nframing = \"{}\"\n{}{shaper}", self.framing, self.wan);
        for (key, rate) in ["down", "up"].iter().zip(self.rates) {
            if rate > 0 {
                let _ = writeln!(text, "{key} = \"{}\"", BitRate::from_bps(rate));
            }
        }
        for (key, rate) in ["policer_down", "policer_up"]
            .iter()
            .zip(self.policers.unwrap_or_default())
        {
            if rate > 0 {
                let _ = writeln!(
                    text,
                    "{key} = {{ rate = \"{}\", burst = \"64 KiB\" }}",
                    BitRate::from_bps(rate)
                );
            }
        }
        text + "\n[server.link]\nrate = \"10 Gbit/s\"\ndelay = \"8 ms\"\n"
    }

    /// Keys of the station that connect it to the router.
    #[must_use]
    pub const fn station() -> &'static str {
        WIRED
    }

    /// The closed form of the best rate in each direction, in bit/s of IP packets of 1500 bytes. `None` for a line that varies.
    #[must_use]
    pub fn best(&self, direction: Direction) -> Option<u64> {
        let number = usize::from(direction == Direction::Up);
        let policer = self.policers.map_or(u64::MAX, |rates| rates[number]);
        let gross = self.rates[number].min(policer);
        (gross > 0).then(|| self.ip_rate(gross))
    }

    /// Rate of IP packets of 1500 bytes at a gross rate.
    #[must_use]
    pub fn ip_rate(&self, gross: u64) -> u64 {
        gross * 1500 / u64::from(self.layer.bytes(1500))
    }

    /// Scenario of a load behind CAKE with this gross rate in one direction.
    #[must_use]
    pub fn shaped(&self, direction: Direction, rate: BitRate) -> String {
        let network = self.with_shaper(&format!("discipline = \"cake\"\n{} = \"{rate}\"\n", key(direction)));
        loaded(&network, direction)
    }
}

/// Twelve lines.
#[must_use]
pub fn all() -> Vec<Line> {
    let kbit = |down: u64, up: u64| [down * 1000, up * 1000];
    let mbit = |down: u64, up: u64| kbit(down * 1000, up * 1000);
    let docsis = Layer::plain(18, 64);
    let ethernet = Layer::plain(38, 84);
    let ptm = |overhead| Layer::cells(Cells::Ptm, overhead);
    let atm = |overhead| Layer::cells(Cells::Atm, overhead);
    let mut lines = vec![
        Line::new("ADSL, PPPoE", kbit(16_000, 1_000), "pppoe-llcsnap", atm(40)).with("queue_up = \"128 KiB\"\n"),
        Line::new("ADSL, PPPoA", kbit(6_000, 640), "pppoa-vcmux", atm(10)).with("queue_up = \"64 KiB\"\n"),
        Line::new("VDSL2, PPPoE", mbit(50, 10), "pppoe-ptm", ptm(30)),
        Line::new("VDSL2, bridged", mbit(35, 6), "bridged-ptm", ptm(22))
            .with("queue_down = \"1 MiB\"\nqueue_up = \"256 KiB\"\n"),
        Line::new("cable", mbit(100, 40), "docsis", docsis).with("queue_up = \"1 MiB\"\n"),
        Line::new("cable, 20 to 1", mbit(400, 20), "docsis", docsis).with("queue_up = \"600 KiB\"\n"),
        Line::new("fibre, long queue", mbit(60, 60), "ethernet", ethernet).with("queue = \"4 MiB\"\n"),
    ];
    let mut lte = Line::new("LTE", [0, 0], "raw", Layer::plain(0, 0)).with("queue = \"2 MiB\"\n");
    let _ = writeln!(
        lte.wan,
        "trace_down = {:?}\ntrace_up = {:?}",
        trace(1, 4, 40),
        trace(2, 2, 16)
    );
    lines.push(lte);
    let mut policed = Line::new("policer", mbit(100, 100), "ethernet", ethernet);
    (policed.policers, policed.queues) = (Some(mbit(30, 10)), [Queue::Policer; 2]);
    lines.push(policed);
    let mut right = Line::new("SQM, right", mbit(40, 10), "pppoe-ptm", ptm(30));
    (right.sqm, right.queues) = (Some(97), [Queue::Managed; 2]);
    lines.push(right);
    let mut high = Line::new("SQM above the line", mbit(40, 10), "pppoe-ptm", ptm(30));
    high.sqm = Some(115);
    lines.push(high);
    lines.push(Line::new("gigabit", mbit(1000, 1000), "ethernet", ethernet));
    lines
}

/// Opportunities to send 1500 bytes, in ms: each 200 ms have another rate between `low` and `high` Mbit/s.
fn trace(seed: u64, low: u64, high: u64) -> Vec<u64> {
    // A linear congruential generator with the constants of Knuth's MMIX: only the variety is important.
    let mut state = seed;
    let steps = (0..TRACE_STEPS).flat_map(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = (low + (state >> 33) % (high - low + 1)) * 1000;
        (0..200).map(move |_| bits)
    });
    opportunities(steps)
}
