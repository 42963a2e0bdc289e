//! Files of other programs that users try to import. They are recognised, so that the error names them.

use super::tool::Content;
use std::fmt;

/// Format of a file that netburn does not import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Output of Ookla's `speedtest --format=json`.
    Speedtest,
    /// A packet capture.
    Capture,
    /// A table with commas or semicolons.
    Csv,
    /// JSON of an unknown program, or damaged JSON.
    Json,
    /// Text of an unknown program.
    Text,
    /// No content.
    Empty,
    /// Binary data.
    Binary,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Program::Speedtest => "a result of Ookla's speedtest",
            Program::Capture => "a packet capture",
            Program::Csv => "a CSV table",
            Program::Json => "JSON of another program",
            Program::Text => "text of another program",
            Program::Empty => "an empty file",
            Program::Binary => "binary data",
        })
    }
}

/// First bytes of formats. Captures: pcap with microseconds or
/// nanoseconds in both byte orders, and pcapng's section header block.
const SIGNATURES: [(&[u8], Program); 5] = [
    (&[0xd4, 0xc3, 0xb2, 0xa1], Program::Capture),
    (&[0xa1, 0xb2, 0xc3, 0xd4], Program::Capture),
    (&[0x4d, 0x3c, 0xb2, 0xa1], Program::Capture),
    (&[0xa1, 0xb2, 0x3c, 0x4d], Program::Capture),
    (&[0x0a, 0x0d, 0x0d, 0x0a], Program::Capture),
];

/// Keys of the outermost object that only this program's output has together.
const KEYS: [(&[&str], Program); 1] = [(&["ping", "download", "upload", "isp"], Program::Speedtest)];

/// Returns the format of a file that no supported program wrote.
pub(super) fn program(content: &Content<'_>) -> Program {
    let by_keys = KEYS.iter().find(|(wanted, _)| content.has_keys(wanted));
    match by_keys {
        Some((_, program)) => *program,
        None => by_content(content.bytes()),
    }
}

/// Returns the format of a file that is not JSON.
fn by_content(bytes: &[u8]) -> Program {
    if let Some((_, program)) = SIGNATURES.iter().find(|(start, _)| bytes.starts_with(start)) {
        return *program;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    match bytes.first() {
        None => return Program::Empty,
        Some(b'{' | b'[') => return Program::Json,
        Some(_) => {}
    }
    let head = &bytes[..bytes.len().min(4096)];
    let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace() && *byte != 0x1b;
    if head.iter().any(is_binary) {
        Program::Binary
    } else if is_table(head) {
        Program::Csv
    } else {
        Program::Text
    }
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
