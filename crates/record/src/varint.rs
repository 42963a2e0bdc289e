//! Integers in payloads: LEB128, signed ones zigzag-encoded.

pub(crate) fn unsigned(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

pub(crate) fn signed(value: i64, to: &mut Vec<u8>) {
    unsigned((value << 1 ^ value >> 63) as u64, to);
}

/// The rest of a payload.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has room for one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.unsigned()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LEB128's own examples (DWARF 5, 7.6, value 7-2) and the ends of the range.
    #[test]
    fn integers_are_written_as_leb128() {
        let written = |value| {
            let mut to = Vec::new();
            unsigned(value, &mut to);
            to
        };
        assert_eq!(written(2), [2]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(128), [0x80, 1]);
        assert_eq!(written(129), [1 + 0x80, 1]);
        assert_eq!(written(12857), [57 + 0x80, 100]);
        for value in [0, 1, u64::MAX, u64::MAX >> 1, 1 << 63] {
            assert_eq!(Bytes(&written(value)).unsigned(), Some(value));
        }
        assert_eq!(Bytes(&[0xff; 10]).unsigned(), None, "beyond 64 bits");
        assert_eq!(Bytes(&[0x80]).unsigned(), None, "torn");
    }

    /// Zigzag: 0, −1, 1, −2 are 0, 1, 2, 3.
    #[test]
    fn small_negative_numbers_stay_short() {
        for (value, byte) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (63, 126), (-64, 127)] {
            let mut to = Vec::new();
            signed(value, &mut to);
            assert_eq!(to, [byte]);
            assert_eq!(Bytes(&to).signed(), Some(value));
        }
        for value in [i64::MIN, i64::MAX] {
            let mut to = Vec::new();
            signed(value, &mut to);
            assert_eq!(Bytes(&to).signed(), Some(value));
        }
    }
}
