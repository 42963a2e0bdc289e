//! Messages with their times, as text: what `netburn doctor --record-wifi` writes and tests replay.
//!
//! ```text
//! netburn-wifi 1 little
//! # anything
//! 0 interface 6800000021000200…
//! 1000231876 station …
//! ```
//!
//! The first line names the format, its version and the byte order of the machine. Each further line contains a time in
//! nanoseconds since the recording began, a type and a datagram. The type is the request (`interface`, `station`,
//! `survey`) or `event`. The datagram is in hexadecimal, as the kernel returned it.

use super::decode;
use crate::wifi::{Event, LinkSample};
use std::fmt::Write as _;

/// Type of a datagram in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Answer to `NL80211_CMD_GET_INTERFACE`.
    Interface,
    /// Answer to `NL80211_CMD_GET_STATION`.
    Station,
    /// Answer to `NL80211_CMD_GET_SURVEY`.
    Survey,
    /// Event.
    Event,
}

/// A recorded datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Time of receipt in ns since the start of the recording.
    pub at: u64,
    /// Type of the datagram.
    pub kind: Kind,
    /// Datagram as received from the kernel.
    pub datagram: Vec<u8>,
}

/// Decoded content of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// Answers to the requests of one instant.
    Sample(Box<LinkSample>),
    /// Event.
    Event(Event),
}

/// Error of a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct RecordingError {
    /// Line number, from 1.
    pub line: usize,
    /// Description.
    pub what: &'static str,
}

const ORDER: &str = if cfg!(target_endian = "little") {
    "little"
} else {
    "big"
};

/// Returns the first line of a recording.
#[must_use]
pub fn heading() -> String {
    format!("netburn-wifi 1 {ORDER}\n")
}

impl Entry {
    /// Returns the entry's line.
    #[must_use]
    pub fn line(&self) -> String {
        let mut text = format!("{} {} ", self.at, self.kind.name());
        for byte in &self.datagram {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        text
    }
}

/// Parses a recording.
///
/// # Errors
/// The first invalid line, or a byte order that differs from this machine's.
pub fn read(text: &str) -> Result<Vec<Entry>, RecordingError> {
    let mut entries = Vec::new();
    let mut lines = text.lines().zip(1..);
    let first = lines.next().map(|(line, _)| line).unwrap_or_default();
    let wrong = |line, what| Err(RecordingError { line, what });
    match first.strip_prefix("netburn-wifi 1 ") {
        Some(order) if order.trim_end() == ORDER => {}
        Some("little" | "big") => return wrong(1, "byte order differs from this machine's"),
        _ => {
            return wrong(
                1,
                "invalid first line: expected `netburn-wifi 1 little` or `netburn-wifi 1 big`",
            );
        }
    }
    for (line, number) in lines {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut parts = line.split_ascii_whitespace();
        let Some(at) = parts.next().and_then(|at| at.parse().ok()) else {
            return wrong(number, "invalid time: expected nanoseconds");
        };
        let Some(kind) = parts.next().and_then(Kind::from_name) else {
            return wrong(
                number,
                "unknown type: expected `interface`, `station`, `survey` or `event`",
            );
        };
        let Some(datagram) = parts.next().and_then(bytes) else {
            return wrong(number, "invalid datagram: expected hexadecimal bytes");
        };
        if parts.next().is_some() {
            return wrong(number, "invalid line: expected three fields");
        }
        entries.push(Entry { at, kind, datagram });
    }
    Ok(entries)
}

/// Decodes the datagrams of a recording, each observation with its time in ns. The times never decrease.
#[must_use]
pub fn observations(entries: &[Entry]) -> Vec<(u64, Observation)> {
    let mut observed = Vec::new();
    // Datagrams of the sample that is not complete yet, with its time.
    let mut open: (u64, Vec<(Kind, Vec<u8>)>) = (0, Vec::new());
    let close = |(at, datagrams): &mut (u64, Vec<_>), observed: &mut Vec<_>| {
        if !datagrams.is_empty() {
            observed.push((*at, Observation::Sample(Box::new(sample_of(datagrams)))));
            datagrams.clear();
        }
    };
    let mut now = 0;
    for entry in entries {
        now = now.max(entry.at);
        match entry.kind {
            Kind::Event => {
                close(&mut open, &mut observed);
                let events = decode::events(&entry.datagram);
                observed.extend(events.into_iter().map(|event| (now, Observation::Event(event))));
            }
            Kind::Interface => {
                close(&mut open, &mut observed);
                open = (now, vec![(entry.kind, entry.datagram.clone())]);
            }
            // Without an interface, they belong to no sample.
            Kind::Station | Kind::Survey if open.1.is_empty() => {}
            Kind::Station | Kind::Survey => open.1.push((entry.kind, entry.datagram.clone())),
        }
    }
    close(&mut open, &mut observed);
    observed
}

/// Decodes the answers to the requests of one instant: of several stations or channels in use, the first.
pub(crate) fn sample_of(datagrams: &[(Kind, Vec<u8>)]) -> LinkSample {
    let of = |wanted| {
        datagrams
            .iter()
            .filter(move |(kind, _)| *kind == wanted)
            .map(|(_, datagram)| datagram)
    };
    let mut interfaces = of(Kind::Interface).map(|datagram| decode::interfaces(datagram).into_iter().next());
    LinkSample {
        interface: interfaces.next_back().flatten().unwrap_or_default(),
        station: of(Kind::Station).find_map(|datagram| decode::stations(datagram).into_iter().next()),
        survey: of(Kind::Survey)
            .find_map(|datagram| decode::surveys(datagram).into_iter().find(|survey| survey.in_use)),
    }
}

netburn_units::variants! {
    Kind:
        Interface = "interface",
        Station = "station",
        Survey = "survey",
        Event = "event",
}

impl Kind {
    fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}
