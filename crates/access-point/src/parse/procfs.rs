//! Files of procfs (proc(5)).

use crate::state::{Processor, Softnet};
use netburn_record::Bssid;
use std::net::IpAddr;

/// Ticks of the counters of processor time in a second, on every architecture that Linux runs on today (`USER_HZ`).
const TICKS: u64 = 100;
const NANOS_PER_TICK: u64 = 1_000_000_000 / TICKS;
/// Most neighbours that are read.
const MAX_NEIGHBOURS: usize = 4096;

/// Milliseconds since the start of the machine, of /proc/uptime.
pub(crate) fn uptime_ms(text: &str) -> Option<u64> {
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (0.0..1e12).contains(&seconds).then_some((seconds * 1e3) as u64)
}

/// Most processors that are read.
const MAX_PROCESSORS: usize = 256;

/// The lines of the processors of /proc/stat, in ticks.
pub(crate) fn processors(text: &str) -> Vec<Processor> {
    let lines = text.lines().filter_map(|line| {
        let (name, ticks) = line.split_once(' ')?;
        let number = name.strip_prefix("cpu")?;
        (!number.is_empty()).then(|| processor(ticks))?
    });
    lines.take(MAX_PROCESSORS).collect()
}

fn processor(ticks: &str) -> Option<Processor> {
    let ticks: Vec<u64> = ticks.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal
    let [user, nice, system, idle, iowait, irq, softirq, rest @ ..] = ticks.as_slice() else {
        return None;
    };
    let steal = rest.first().copied().unwrap_or(0);
    let busy = [*user, *nice, *system, *irq, *softirq, steal];
    let busy = busy.into_iter().fold(0, u64::saturating_add);
    Some(Processor {
        busy,
        softirq: *softirq,
        total: busy.saturating_add(*idle).saturating_add(*iowait),
    })
}

/// /proc/net/softnet_stat: a line for each processor, in hexadecimal: processed, dropped, time_squeeze.
pub(crate) fn softnet(text: &str) -> Option<Softnet> {
    let mut sum = None;
    for line in text.lines() {
        let numbers: Vec<u64> = line
            .split_whitespace()
            .take(3)
            .map_while(|word| u64::from_str_radix(word, 16).ok())
            .collect();
        if let [_, dropped, squeezed] = numbers.as_slice() {
            let sum: &mut Softnet = sum.get_or_insert_default();
            sum.dropped = sum.dropped.saturating_add(*dropped);
            sum.squeezed = sum.squeezed.saturating_add(*squeezed);
        }
    }
    sum
}

/// Bytes of `MemAvailable` in /proc/meminfo.
pub(crate) fn memory_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Complete entries of /proc/net/arp.
pub(crate) fn neighbours(text: &str) -> Vec<(IpAddr, Bssid)> {
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (address, mac) = (words.first()?.parse().ok()?, words.get(3)?.parse().ok()?);
        (mac != Bssid([0; 6])).then_some((address, mac))
    };
    text.lines().filter_map(entry).take(MAX_NEIGHBOURS).collect()
}

/// Neighbours with an address of their interface in the output of `ip neigh` (ip-neighbour(8)):
/// `fd00::2 dev br-lan lladdr 02:00:00:00:01:00 REACHABLE`.
pub(crate) fn ip_neighbours(text: &str) -> Vec<(IpAddr, Bssid)> {
    let entry = |line: &str| {
        let mut words = line.split_whitespace();
        let address = words.next()?.parse().ok()?;
        let mac = words.skip_while(|word| *word != "lladdr").nth(1)?.parse().ok()?;
        (mac != Bssid([0; 6])).then_some((address, mac))
    };
    text.lines().filter_map(entry).take(MAX_NEIGHBOURS).collect()
}

/// Processor time in ns of /proc/PID/stat: utime and stime.
pub(crate) fn process_time(text: &str) -> Option<u64> {
    // The name in parentheses may contain anything.
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    user.checked_add(system)?.checked_mul(NANOS_PER_TICK)
}
