//! Netlink attributes (netlink(7), linux/netlink.h: `struct nlattr`): length and type in two bytes each, then the
//! value, aligned to four bytes.

/// Iterator over attributes. It ends at the first invalid length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes<'a>(pub &'a [u8]);

/// An attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Type without the two flag bits for nesting and byte order.
    pub kind: u16,
    /// Value.
    pub value: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// Returns the value of the first attribute of a type.
    #[must_use]
    pub fn get(mut self, kind: u16) -> Option<&'a [u8]> {
        self.find(|one| one.kind == kind).map(|one| one.value)
    }

    /// Returns the attributes nested in the first attribute of a type; empty if there is none.
    #[must_use]
    pub fn nested(self, kind: u16) -> Attributes<'a> {
        Attributes(self.get(kind).unwrap_or_default())
    }

    /// Returns whether there is an attribute of a type, regardless of its value (NLA_FLAG).
    #[must_use]
    pub fn has(self, kind: u16) -> bool {
        self.get(kind).is_some()
    }

    /// Returns the first attribute of a type as one byte.
    #[must_use]
    pub fn u8(self, kind: u16) -> Option<u8> {
        self.get(kind)?.first().copied()
    }

    /// Returns the first attribute of a type as two bytes in native order.
    #[must_use]
    pub fn u16(self, kind: u16) -> Option<u16> {
        Some(u16::from_ne_bytes(self.get(kind)?.get(..2)?.try_into().ok()?))
    }

    /// Returns the first attribute of a type as four bytes in native order.
    #[must_use]
    pub fn u32(self, kind: u16) -> Option<u32> {
        Some(u32::from_ne_bytes(self.get(kind)?.get(..4)?.try_into().ok()?))
    }

    /// Returns the first attribute of a type as eight bytes in native order.
    #[must_use]
    pub fn u64(self, kind: u16) -> Option<u64> {
        Some(u64::from_ne_bytes(self.get(kind)?.get(..8)?.try_into().ok()?))
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let length = usize::from(u16::from_ne_bytes(self.0.get(0..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(self.0.get(2..4)?.try_into().ok()?) & 0x3fff;
        let value = self.0.get(4..length)?;
        // The last attribute may have no padding.
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Attribute { kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned_and_the_last_need_not_be() {
        let mut bytes = Vec::new();
        for (kind, value) in [(1_u16, &b"abcde"[..]), (0x8000 | 2, &[7, 0, 0, 0]), (3, &[9])] {
            bytes.extend((4 + value.len() as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(value);
            if kind != 3 {
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
        }
        let all = Attributes(&bytes);
        assert_eq!(
            all.map(|one| one.kind).collect::<Vec<_>>(),
            [1, 2, 3],
            "the nesting mark is no part of the kind"
        );
        assert_eq!(all.get(1), Some(&b"abcde"[..]));
        assert_eq!((all.u32(2), all.u64(2), all.u8(3)), (Some(7), None, Some(9)));
        assert!(all.has(3) && !all.has(4));
    }

    #[test]
    fn an_invalid_length_ends_the_iteration() {
        for lie in [0_u16, 3, 9, u16::MAX] {
            let mut bytes = vec![0; 8];
            bytes[..2].copy_from_slice(&lie.to_ne_bytes());
            assert_eq!(Attributes(&bytes).count(), 0, "{lie}");
        }
        assert_eq!(Attributes(&[4, 0]).count(), 0);
    }
}
