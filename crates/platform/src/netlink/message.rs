//! Encoding of netlink messages: a header of 16 bytes, a fixed part, and attributes aligned to four bytes (netlink(7)).

/// Flag of every request.
pub const REQUEST: u16 = libc::NLM_F_REQUEST as u16;
/// The kernel acknowledges the request.
pub const ACK: u16 = libc::NLM_F_ACK as u16;
/// The request is for all objects.
pub const DUMP: u16 = libc::NLM_F_DUMP as u16;
/// The object is created if it does not exist.
pub const CREATE: u16 = libc::NLM_F_CREATE as u16;
/// An existing object is replaced.
pub const REPLACE: u16 = libc::NLM_F_REPLACE as u16;
/// An existing object is an error.
pub const EXCLUSIVE: u16 = libc::NLM_F_EXCL as u16;

/// A message under construction.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Starts a message of this type.
    #[must_use]
    pub fn new(kind: u16, flags: u16) -> Message {
        let mut bytes = vec![0; 16];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        Message { bytes }
    }

    /// Appends a part of fixed length.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends an attribute.
    pub fn attribute(&mut self, kind: u16, value: &[u8]) {
        let start = self.begin(kind);
        self.put(value);
        self.end(start);
    }

    /// Starts a nested attribute, which ends with [`end`](Self::end).
    #[must_use]
    pub fn begin(&mut self, kind: u16) -> usize {
        let start = self.bytes.len();
        self.put(&[0, 0]);
        self.put(&kind.to_ne_bytes());
        start
    }

    /// Ends the nested attribute that starts at `start`.
    ///
    /// # Panics
    /// When the attribute is longer than 64 KiB.
    pub fn end(&mut self, start: usize) {
        let length = u16::try_from(self.bytes.len() - start).expect("our attributes are short");
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Returns the encoded message with this sequence number.
    #[must_use]
    pub fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// Returns type, sequence number and end of the first message.
#[must_use]
pub fn head(bytes: &[u8]) -> Option<(u16, u32, usize)> {
    let head = bytes.get(..16)?;
    let end = u32::from_ne_bytes(head[0..4].try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(head[4..6].try_into().ok()?);
    let sequence = u32::from_ne_bytes(head[8..12].try_into().ok()?);
    (16..=bytes.len()).contains(&end).then_some((kind, sequence, end))
}

/// Returns the value of the first attribute of a type.
#[must_use]
pub fn find(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(bytes.get(0..2)?.try_into().ok()?));
        let this = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & 0x3fff;
        let value = bytes.get(4..length)?;
        if this == kind {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_aligned_and_found_again() {
        let mut message = Message::new(16, 5);
        message.attribute(3, b"abcde");
        let nest = message.begin(18);
        message.attribute(1, b"x");
        message.end(nest);
        let bytes = message.finish(9);
        // 16 + (4 + 5 → 12) + 4 + (4 + 1 → 8)
        assert_eq!(bytes.len(), 40);
        assert_eq!(head(&bytes), Some((16, 9, 40)));
        assert_eq!(find(&bytes[16..], 3), Some(&b"abcde"[..]));
        assert_eq!(find(find(&bytes[16..], 18).unwrap(), 1), Some(&b"x"[..]));
        assert_eq!(find(&bytes[16..], 4), None);
    }

    #[test]
    fn nonsense_ends() {
        assert_eq!(find(&[0, 0, 9, 9, 1], 3), None);
        assert_eq!(find(&[200, 0, 9, 9], 3), None);
        assert_eq!(head(&[5; 20]), None);
    }
}
