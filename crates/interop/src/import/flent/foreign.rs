//! Files of other programs that users try to import. They are recognised, so that the error names them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fmt;

/// Format of a file that netburn does not import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Result of crusader (`.crr`).
    Crusader,
    /// Output of `iperf3 --json`.
    Iperf3,
    /// Output of `irtt client -o`.
    Irtt,
    /// Output of `networkQuality -c`.
    NetworkQuality,
    /// Output of Ookla's `speedtest --format=json`.
    Speedtest,
    /// A packet capture.
    Capture,
    /// A table with commas or semicolons.
    Csv,
    /// Text that is not JSON.
    Text,
    /// Binary data.
    Binary,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Program::Crusader => "a result of crusader (`.crr`)",
            Program::Iperf3 => "a result of iperf3 (`--json`)",
            Program::Irtt => "a result of irtt",
            Program::NetworkQuality => "a result of networkQuality",
            Program::Speedtest => "a result of Ookla's speedtest",
            Program::Capture => "a packet capture",
            Program::Csv => "a CSV table",
            Program::Text => "text that is not JSON",
            Program::Binary => "binary data",
        })
    }
}

/// First bytes of formats. crusader: `MAGIC` of its file format, little-endian. Captures: pcap with microseconds or
/// nanoseconds in both byte orders, and pcapng's section header block.
const SIGNATURES: [(&[u8], Program); 6] = [
    (&0x5372_ab82_ae7c_59cb_u64.to_le_bytes(), Program::Crusader),
    (&[0xd4, 0xc3, 0xb2, 0xa1], Program::Capture),
    (&[0xa1, 0xb2, 0xc3, 0xd4], Program::Capture),
    (&[0x4d, 0x3c, 0xb2, 0xa1], Program::Capture),
    (&[0xa1, 0xb2, 0x3c, 0x4d], Program::Capture),
    (&[0x0a, 0x0d, 0x0d, 0x0a], Program::Capture),
];

/// Keys of the outermost object that only this program's output has together.
const KEYS: [(&[&str], Program); 4] = [
    (&["start", "intervals", "end"], Program::Iperf3),
    (&["round_trips", "stats"], Program::Irtt),
    (&["base_rtt", "dl_throughput"], Program::NetworkQuality),
    (&["ping", "download", "upload", "isp"], Program::Speedtest),
];

/// Any JSON object, of which only the keys are read.
#[derive(Deserialize)]
struct Keys(BTreeMap<String, IgnoredAny>);

/// Returns the program of a JSON object that is not flent's, if its keys are known.
pub(super) fn by_keys(text: &[u8]) -> Option<Program> {
    let Keys(keys) = serde_json::from_slice(text).ok()?;
    let has = |wanted: &[&str]| wanted.iter().all(|key| keys.contains_key(*key));
    KEYS.iter().find(|(wanted, _)| has(wanted)).map(|(_, program)| *program)
}

/// Returns the format of a file that is not JSON.
pub(super) fn by_content(bytes: &[u8]) -> Option<Program> {
    if let Some((_, program)) = SIGNATURES.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Some(*program);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if matches!(bytes.first()?, b'{' | b'[') {
        return None;
    }
    let head = &bytes[..bytes.len().min(4096)];
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != 0x1b;
    Some(if head.iter().any(is_binary) {
        Program::Binary
    } else if is_table(head) {
        Program::Csv
    } else {
        Program::Text
    })
}

/// Returns true if the first two lines have the same number of separators.
fn is_table(head: &[u8]) -> bool {
    let lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').take(2).collect();
    let [first, second] = lines[..] else { return false };
    [b',', b';', b'\t'].into_iter().any(|separator| {
        let count = |line: &[u8]| line.iter().filter(|byte| **byte == separator).count();
        count(first) > 0 && count(first) == count(second)
    })
}
