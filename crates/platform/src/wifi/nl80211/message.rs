//! Netlink messages: a header of 16 bytes, and for generic netlink another one of 4 bytes (linux/netlink.h: `struct
//! nlmsghdr`; linux/genetlink.h: `struct genlmsghdr`).

use super::attribute::Attributes;

/// Length of both headers.
pub(crate) const HEADERS: usize = 20;
/// NLMSG_ERROR: an errno, or 0 for an acknowledgement.
pub(crate) const ERROR: u16 = 2;
/// NLMSG_DONE: the end of a dump.
pub(crate) const DONE: u16 = 3;

/// Iterator over the messages of a datagram. It ends at the first invalid length.
#[derive(Debug, Clone, Copy)]
pub struct Messages<'a>(pub &'a [u8]);

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Type: the id of a family, or a control message.
    pub kind: u16,
    /// Sequence number of the request; 0 for an event.
    pub sequence: u32,
    /// The whole message, headers included.
    pub whole: &'a [u8],
}

impl<'a> Message<'a> {
    /// Returns the command of a generic netlink message.
    #[must_use]
    pub fn command(self) -> Option<u8> {
        (self.kind >= 16).then(|| self.whole.get(16).copied()).flatten()
    }

    /// Returns the attributes of a generic netlink message.
    #[must_use]
    pub fn attributes(self) -> Attributes<'a> {
        Attributes(self.whole.get(HEADERS..).unwrap_or_default())
    }

    /// Returns the result of a request: `Ok` when it is done, or the errno; `None` for other messages.
    #[must_use]
    pub fn word(self) -> Option<Result<(), i32>> {
        match self.kind {
            DONE => Some(Ok(())),
            ERROR => {
                let code = i32::from_ne_bytes(self.whole.get(16..20)?.try_into().ok()?);
                Some(if code == 0 { Ok(()) } else { Err(code.wrapping_neg()) })
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let length = u32::from_ne_bytes(self.0.get(0..4)?.try_into().ok()?);
        let length = usize::try_from(length).ok().filter(|length| *length >= 16)?;
        let whole = self.0.get(..length)?;
        let message = Message {
            kind: u16::from_ne_bytes(whole[4..6].try_into().ok()?),
            sequence: u32::from_ne_bytes(whole[8..12].try_into().ok()?),
            whole,
        };
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(length: u32, kind: u16, sequence: u32) -> Vec<u8> {
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 2]);
        bytes.extend(sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes
    }

    #[test]
    fn two_messages_and_the_end_of_a_dump() {
        let mut bytes = header(21, 0x1c, 7);
        bytes.extend([19, 1, 0, 0, 1, 0, 0, 0]);
        bytes.extend(header(20, 3, 7));
        bytes.extend([0; 4]);
        let all: Vec<Message<'_>> = Messages(&bytes).collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].command(), all[0].sequence, all[0].word()), (Some(19), 7, None));
        assert_eq!((all[1].command(), all[1].word()), (None, Some(Ok(()))));
    }

    #[test]
    fn an_error_has_its_number() {
        let mut bytes = header(36, 2, 1);
        bytes.extend((-95_i32).to_ne_bytes());
        bytes.extend([0; 16]);
        assert_eq!(Messages(&bytes).next().unwrap().word(), Some(Err(95)));
    }

    #[test]
    fn invalid_lengths_end_the_iteration() {
        for lie in [0, 15, 17, u32::MAX] {
            assert_eq!(Messages(&header(lie, 20, 0)).count(), 0, "{lie}");
        }
    }
}
