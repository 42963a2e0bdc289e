//! Snappy's framing format (framing_format.txt of Snappy, 2013) and its blocks (format_description.txt, 2011).

use crate::import::file_error::FileError;

/// Most bytes of a file, decompressed: 256 MiB. A minute of crusader has less than 1 MB.
const MAX_BYTES: usize = 256 << 20;
/// Most bytes of a chunk, decompressed.
const MAX_CHUNK: usize = 1 << 16;

/// Decompresses a stream of chunks.
pub(super) fn unpacked(mut bytes: &[u8]) -> Result<Vec<u8>, FileError> {
    let mut text = Vec::new();
    let truncated = || FileError::Truncated("it ends within a chunk of Snappy".to_owned());
    let format = |why: &str| FileError::Format(format!("Snappy: {why}"));
    while let Some((&kind, rest)) = bytes.split_first() {
        let (length, rest) = rest.split_first_chunk::<3>().ok_or_else(truncated)?;
        let length = u32::from_le_bytes([length[0], length[1], length[2], 0]) as usize;
        let (chunk, rest) = rest.split_at_checked(length).ok_or_else(truncated)?;
        bytes = rest;
        match kind {
            0x00 | 0x01 => {
                let (sum, data) = chunk
                    .split_first_chunk::<4>()
                    .ok_or_else(|| format("a chunk without checksum"))?;
                let start = text.len();
                if kind == 0x00 {
                    block(data, &mut text).ok_or_else(|| format("a damaged block"))?;
                } else if data.len() <= MAX_CHUNK {
                    text.extend_from_slice(data);
                } else {
                    return Err(format("a chunk above 64 KiB"));
                }
                if masked(crc32c(&text[start..])) != u32::from_le_bytes(*sum) {
                    return Err(format("a chunk with another checksum; the file is damaged"));
                }
                if text.len() > MAX_BYTES {
                    return Err(format("more than 256 MiB"));
                }
            }
            0xff if chunk == b"sNaPpY" => {}
            0xff => return Err(format("another stream identifier")),
            // Padding, and chunks that a reader may skip.
            0x80.. => {}
            _ => return Err(format("a chunk of an unknown kind")),
        }
    }
    Ok(text)
}

/// Appends the content of a block. `None` if it is damaged.
fn block(bytes: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let start = to.len();
    let (length, mut bytes) = varint(bytes)?;
    let end = start + usize::try_from(length).ok().filter(|length| *length <= MAX_CHUNK)?;
    while let Some((&tag, rest)) = bytes.split_first() {
        let high = usize::from(tag >> 2);
        let (count, offset, rest) = match tag & 3 {
            0 => {
                let (count, rest) = if high < 60 {
                    (high, rest)
                } else {
                    little_endian(rest, high - 59)?
                };
                let (literal, rest) = rest.split_at_checked(count.checked_add(1)?)?;
                to.extend_from_slice(literal);
                if to.len() > end {
                    return None;
                }
                bytes = rest;
                continue;
            }
            1 => {
                let (low, rest) = little_endian(rest, 1)?;
                (4 + (high & 7), (high >> 3) << 8 | low, rest)
            }
            tag => {
                let (offset, rest) = little_endian(rest, if tag == 2 { 2 } else { 4 })?;
                (high + 1, offset, rest)
            }
        };
        if offset == 0 || offset > to.len() - start || to.len() + count > end {
            return None;
        }
        // The copy may overlap with what it appends.
        for _ in 0..count {
            to.push(to[to.len() - offset]);
        }
        bytes = rest;
    }
    (to.len() == end).then_some(())
}

/// A number of 1 to 4 bytes, and the rest.
fn little_endian(bytes: &[u8], count: usize) -> Option<(usize, &[u8])> {
    let (digits, rest) = bytes.split_at_checked(count)?;
    let number = digits
        .iter()
        .rev()
        .fold(0, |number, digit| number << 8 | usize::from(*digit));
    Some((number, rest))
}

/// A number of at most 32 bits, in groups of 7 bits.
fn varint(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number.try_into().ok()?, &bytes[place + 1..]));
        }
    }
    None
}

/// CRC-32C (RFC 3720 B.4, reflected polynomial 0x82F63B78).
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut crc = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(u32::MAX, step)
}

/// The checksum as chunks have it.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C, and test vectors of RFC 3720 B.4.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_block_has_literals_and_copies() {
        let read = |bytes: &[u8]| {
            let mut to = b"before".to_vec();
            block(bytes, &mut to).map(|()| String::from_utf8(to[6..].to_vec()).unwrap())
        };
        // Length 9, literal "abc", a copy of 6 bytes from 3 bytes before, with each size of the offset.
        assert_eq!(read(b"\x09\x08abc\x09\x03").as_deref(), Some("abcabcabc"));
        assert_eq!(read(b"\x09\x08abc\x16\x03\0").as_deref(), Some("abcabcabc"));
        assert_eq!(read(b"\x09\x08abc\x17\x03\0\0\0").as_deref(), Some("abcabcabc"));
        // A literal whose length is in the next byte.
        assert_eq!(read(b"\x03\xf0\x02abc").as_deref(), Some("abc"));
        // Offsets 0 and before the block, a length that is too long or too short, and a truncated literal.
        for damaged in [
            &b"\x09\x08abc\x09\x00"[..],
            b"\x09\x08abc\x09\x04",
            b"\x08\x08abc\x09\x03",
            b"\x0a\x08abc\x09\x03",
            b"\x03\x08ab",
            b"\xff\xff\xff\xff\xff",
            b"\x80\x80\x08",
            b"",
        ] {
            assert_eq!(read(damaged), None, "{damaged:?}");
        }
    }
}
