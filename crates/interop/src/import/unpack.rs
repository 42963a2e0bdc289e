//! Decompression, and replacement of Python's number literals that JSON does not have.

use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// Maximum size of a file in bytes, decompressed. Hours of many series are a few hundred MB.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum size of a decompressed file as a multiple of its compressed size, so that a small file does not take all
/// memory. The numbers of measurements have a ratio of about 5; gzip's maximum is 1,032.
const MAX_RATIO: u64 = 100;
/// Size in bytes that is permitted at any ratio: 16 MiB.
const ANY_RATIO: u64 = 16 << 20;

/// Reason for which a file cannot be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// Unsupported compression with bzip2.
    #[error("unsupported compression bzip2; decompress the file first (bunzip2)")]
    Bzip2,
    /// Damaged or truncated gzip data.
    #[error("invalid gzip data after {after} decompressed bytes: {why}; the file may be truncated")]
    Packed {
        /// Number of decompressed bytes.
        after: u64,
        /// Error of the decoder.
        why: String,
    },
    /// The file exceeds the size limit.
    #[error("the file exceeds {0} MB")]
    TooLarge(u64),
}

/// The content of a file, compressed with gzip or not.
///
/// # Errors
/// When the compressed data is damaged, compressed in another way, or too large.
pub fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, UnpackError> {
    if bytes.starts_with(b"BZh") {
        return Err(UnpackError::Bzip2);
    }
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(UnpackError::TooLarge(MAX_BYTES >> 20));
        }
        return Ok(Cow::Borrowed(bytes));
    }
    let limit = (bytes.len() as u64 * MAX_RATIO).clamp(ANY_RATIO, MAX_BYTES);
    let mut text = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut text);
    if text.len() as u64 > limit {
        return Err(UnpackError::TooLarge(limit >> 20));
    }
    match read {
        Ok(_) => Ok(Cow::Owned(text)),
        Err(error) => Err(UnpackError::Packed {
            after: text.len() as u64,
            why: error.to_string(),
        }),
    }
}

/// Python writes NaN and Infinity, which JSON lacks: they become null. Within texts they stay.
pub(super) fn sane(text: &[u8]) -> Cow<'_, [u8]> {
    const WORDS: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];
    let (mut sane, mut copied, mut at) = (Vec::new(), 0, 0);
    let mut within = false;
    while at < text.len() {
        match text[at] {
            b'\\' if within => at += 1,
            b'"' => within = !within,
            b'N' | b'I' | b'-' if !within => {
                if let Some(word) = WORDS.iter().find(|word| text[at..].starts_with(word)) {
                    sane.extend_from_slice(&text[copied..at]);
                    sane.extend_from_slice(b"null");
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    sane.extend_from_slice(&text[copied..]);
    Cow::Owned(sane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_literals_become_null_outside_strings() {
        let text = br#"{"a": [NaN, -Infinity, 1, Infinity], "NaN \" Infinity": "Infinity"}"#;
        let sane = sane(text);
        assert_eq!(
            &sane[..],
            br#"{"a": [null, null, 1, null], "NaN \" Infinity": "Infinity"}"#
        );
        assert!(matches!(super::sane(b"[-1, 2]"), Cow::Borrowed(_)));
        assert_eq!(unpacked(b"BZh91AY"), Err(UnpackError::Bzip2));
    }

    /// 17 MiB of one letter have 17 kB in gzip's format, of which 100 times are less than 16 MiB.
    #[test]
    fn a_small_file_with_a_large_content_is_rejected() {
        use std::io::Write;
        let packed = |length: usize| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            packer.write_all(&vec![b'A'; length]).unwrap();
            packer.finish().unwrap()
        };
        assert_eq!(unpacked(&packed(16 << 20)).unwrap().len(), 16 << 20);
        assert_eq!(unpacked(&packed((16 << 20) + 1)), Err(UnpackError::TooLarge(16)));
    }
}
