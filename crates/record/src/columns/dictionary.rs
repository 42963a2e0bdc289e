//! A column of names, read as indices into its dictionary.
//!
//! The Parquet crate returns every value as a reference-counted slice. For three columns of ten
//! million rows that takes longer than all numbers. A summary needs only the index of a name, not
//! its bytes.
//!
//! Formats: Apache Parquet, "Encodings": plain, RLE/bit-packed hybrid, dictionary.

use super::ROW_GROUP;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use std::collections::BTreeMap;

/// Code of a missing name.
const MISSING: u32 = u32::MAX;

/// One name of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// Index in the dictionary: the same for equal names within one row group.
    pub(crate) code: u32,
    pub(crate) bytes: &'a [u8],
}

/// The names of one column of one row group.
pub(super) struct Dictionary {
    pages: Box<dyn PageReader>,
    optional: bool,
    names: Vec<Vec<u8>>,
    /// Codes of names that are stored without a dictionary.
    interned: BTreeMap<Vec<u8>, u32>,
    /// Codes of the rows read ahead.
    codes: Vec<u32>,
    at: usize,
}

impl Dictionary {
    pub(super) fn new(pages: Box<dyn PageReader>, optional: bool) -> Self {
        Dictionary {
            pages,
            optional,
            names: Vec::new(),
            interned: BTreeMap::new(),
            codes: Vec::new(),
            at: 0,
        }
    }

    /// Has `count` rows at hand; false when the column ends before.
    pub(super) fn load(&mut self, count: usize) -> Result<bool, ParquetError> {
        while self.codes.len() - self.at < count {
            let Some(page) = self.pages.get_next_page()? else {
                return Ok(false);
            };
            self.codes.drain(..self.at);
            self.at = 0;
            self.page(&page)
                .ok_or_else(|| ParquetError::General("malformed page of names".to_owned()))?;
        }
        Ok(true)
    }

    /// The next row's name.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Name<'_>> {
        let code = self.codes[self.at];
        self.at += 1;
        // A missing name is beyond every dictionary.
        let bytes = self.names.get(code as usize)?;
        Some(Name { code, bytes })
    }

    fn page(&mut self, page: &Page) -> Option<()> {
        match page {
            Page::DictionaryPage {
                buf,
                num_values,
                encoding: Encoding::PLAIN | Encoding::PLAIN_DICTIONARY,
                ..
            } => {
                let mut rest = &buf[..];
                for _ in 0..*num_values {
                    self.names.push(plain(&mut rest)?.to_vec());
                }
                Some(())
            }
            Page::DataPage {
                buf,
                num_values,
                encoding,
                ..
            } => self.data(buf, *num_values as usize, *encoding),
            _ => None,
        }
    }

    fn data(&mut self, mut rest: &[u8], rows: usize, encoding: Encoding) -> Option<()> {
        // A page lies within a row group: a larger count is damage, and no reason to make room for it.
        if rows > ROW_GROUP {
            return None;
        }
        let mut levels = Vec::new();
        let mut present = rows;
        if self.optional {
            let length = u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?);
            hybrid(take(&mut rest, length as usize)?, 1, rows, &mut levels)?;
            present = levels.iter().filter(|level| **level != 0).count();
        }
        let start = self.codes.len();
        match encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                let width = take(&mut rest, 1)?[0];
                hybrid(rest, width, present, &mut self.codes)?;
                let known = self.names.len();
                if self.codes[start..].iter().any(|code| *code as usize >= known) {
                    return None;
                }
            }
            Encoding::PLAIN => {
                for _ in 0..present {
                    let code = self.intern(plain(&mut rest)?)?;
                    self.codes.push(code);
                }
            }
            _ => return None,
        }
        if present < rows {
            let codes = self.codes.split_off(start);
            let mut codes = codes.into_iter();
            for level in levels {
                self.codes.push(if level == 0 { MISSING } else { codes.next()? });
            }
        }
        Some(())
    }

    fn intern(&mut self, name: &[u8]) -> Option<u32> {
        if let Some(code) = self.interned.get(name) {
            return Some(*code);
        }
        let code = u32::try_from(self.names.len()).ok().filter(|code| *code != MISSING)?;
        self.names.push(name.to_vec());
        self.interned.insert(name.to_vec(), code);
        Some(code)
    }
}

impl std::fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dictionary")
            .field("names", &self.names.len())
            .finish_non_exhaustive()
    }
}

/// The first `count` bytes, taken from the front.
fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

/// A byte array in plain encoding: its length in four bytes, then itself.
fn plain<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(from, 4)?.try_into().ok()?);
    take(from, length as usize)
}

/// Appends `count` values of `width` bits in the RLE/bit-packed hybrid. A run begins with a LEB128
/// number; its lowest bit distinguishes a repeated value (0) from groups of eight packed values
/// (1).
pub(super) fn hybrid(mut from: &[u8], width: u8, count: usize, to: &mut Vec<u32>) -> Option<()> {
    if width > 32 {
        return None;
    }
    let mut left = count;
    while left > 0 {
        let run = leb128(&mut from)?;
        let length = usize::try_from(run >> 1).ok()?;
        if run & 1 == 0 {
            let mut value = [0; 4];
            let bytes = take(&mut from, usize::from(width).div_ceil(8))?;
            value[..bytes.len()].copy_from_slice(bytes);
            let length = length.min(left);
            to.resize(to.len() + length, u32::from_le_bytes(value));
            left -= length;
        } else {
            let packed = take(&mut from, length.checked_mul(usize::from(width))?)?;
            let length = length.checked_mul(8)?.min(left);
            unpack(packed, width, length, to);
            left -= length;
        }
    }
    Some(())
}

/// Appends `count` values of `width` bits, packed from the lowest bit of the first byte on.
fn unpack(packed: &[u8], width: u8, count: usize, to: &mut Vec<u32>) {
    let mask = (1_u64 << width) - 1;
    let (mut held, mut bits) = (0_u64, 0);
    let mut bytes = packed.iter();
    to.extend((0..count).map(|_| {
        while bits < u32::from(width) {
            held |= u64::from(*bytes.next().expect("as many bytes as values need")) << bits;
            bits += 8;
        }
        let value = (held & mask) as u32;
        held >>= width;
        bits -= u32::from(width);
        value
    }));
}

fn leb128(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = take(from, 1)?[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
        let mut values = Vec::new();
        hybrid(bytes, width, count, &mut values).map(|()| values)
    }

    /// The example of the Parquet documentation: 0 to 7 in three bits each are 88 C6 FA.
    #[test]
    fn packed_values_match_the_specification() {
        let numbers = Some((0..8).collect());
        assert_eq!(decoded(&[0b11, 0x88, 0xc6, 0xfa], 3, 8), numbers);
        assert_eq!(decoded(&[0b11, 0x88, 0xc6, 0xfa], 3, 5), Some((0..5).collect()));
    }

    #[test]
    fn repeated_values_are_a_run() {
        // A hundred times 300 in nine bits.
        assert_eq!(decoded(&[200, 1, 0x2c, 1], 9, 100), Some(vec![300; 100]));
        assert_eq!(decoded(&[20], 0, 10), Some(vec![0; 10]), "one name needs no bits");
    }

    #[test]
    fn truncated_or_too_wide_values_are_rejected() {
        assert_eq!(decoded(&[], 3, 1), None);
        assert_eq!(decoded(&[0b11, 0x88], 3, 8), None);
        assert_eq!(decoded(&[2], 9, 1), None);
        assert_eq!(decoded(&[2, 1], 33, 1), None);
        assert_eq!(decoded(&[0x80; 20], 1, 1), None);
        assert_eq!(decoded(&[0, 0, 0], 1, 1), None, "runs of nothing end with the bytes");
    }

    #[test]
    fn random_input_never_panics_and_output_is_bounded() {
        let mut chance = netburn_units::Seed(3).stream("hybrid", 0);
        for _ in 0..5_000 {
            let bytes: Vec<u8> = (0..chance.below(40)).map(|_| chance.next_u64() as u8).collect();
            let (width, count) = (chance.below(40) as u8, chance.below(2_000) as usize);
            if let Some(values) = decoded(&bytes, width, count) {
                assert_eq!(values.len(), count);
            }
        }
    }
}
