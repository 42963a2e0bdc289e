//! Binding requests of ICE and their responses (RFC 8489, RFC 8445 §7).

use ring::hmac;
use std::net::{IpAddr, SocketAddr};

const MAGIC: [u8; 4] = 0x2112_a442_u32.to_be_bytes();
const HEADER: usize = 20;
const BINDING_REQUEST: u16 = 0x0001;
const BINDING_SUCCESS: u16 = 0x0101;

const USERNAME: u16 = 0x0006;
const MESSAGE_INTEGRITY: u16 = 0x0008;
const XOR_MAPPED_ADDRESS: u16 = 0x0020;
const FINGERPRINT: u16 = 0x8028;

/// Length of `MESSAGE-INTEGRITY` and of `FINGERPRINT` with their headers.
const INTEGRITY_LENGTH: usize = 4 + 20;
const FINGERPRINT_LENGTH: usize = 4 + 4;
const FINGERPRINT_XOR: u32 = 0x5354_554e;
/// Maximum length of a request. ICE needs about 150 bytes.
const MAX_LENGTH: usize = 600;

/// A binding request of ICE: it has a user name, an integrity value and a valid fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BindingRequest<'a> {
    bytes: &'a [u8],
    /// The server's part of the user name.
    pub(crate) ufrag: &'a str,
    /// Position of `MESSAGE-INTEGRITY`.
    integrity_at: usize,
}

impl<'a> BindingRequest<'a> {
    /// Decodes a datagram; `None` for other messages and invalid ones. Unknown attributes are ignored.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let length = bytes.len();
        let is_request = (HEADER..=MAX_LENGTH).contains(&length)
            && short(bytes, 0)? == BINDING_REQUEST
            && usize::from(short(bytes, 2)?) == length - HEADER
            && bytes[4..8] == MAGIC;
        if !is_request {
            return None;
        }
        let (mut at, mut ufrag, mut integrity_at) = (HEADER, None, None);
        loop {
            let (kind, size) = (short(bytes, at)?, usize::from(short(bytes, at + 2)?));
            let value = bytes.get(at + 4..at + 4 + size)?;
            match kind {
                // Attributes after the integrity value are not authenticated (RFC 8489 §14.5).
                USERNAME if integrity_at.is_none() => {
                    let name = std::str::from_utf8(value).ok()?;
                    ufrag = Some(name.split_once(':')?.0);
                }
                MESSAGE_INTEGRITY if size == INTEGRITY_LENGTH - 4 => integrity_at = integrity_at.or(Some(at)),
                MESSAGE_INTEGRITY => return None,
                FINGERPRINT => {
                    let is_last = size == 4 && at + FINGERPRINT_LENGTH == length;
                    let is_valid = is_last && value == (crc32fast::hash(&bytes[..at]) ^ FINGERPRINT_XOR).to_be_bytes();
                    return is_valid.then_some(Self {
                        bytes,
                        ufrag: ufrag?,
                        integrity_at: integrity_at?,
                    });
                }
                _ => {}
            }
            // Values are padded to a multiple of 4 bytes.
            at += 4 + size.next_multiple_of(4);
        }
    }

    /// Returns whether the integrity value was computed with this password.
    pub(crate) fn is_authentic(&self, password: &str) -> bool {
        let value = &self.bytes[self.integrity_at + 4..self.integrity_at + INTEGRITY_LENGTH];
        let mut context = Vec::with_capacity(self.integrity_at);
        context.extend_from_slice(&self.bytes[..self.integrity_at]);
        set_length(&mut context, self.integrity_at + INTEGRITY_LENGTH);
        hmac::verify(&key(password), &context, value).is_ok()
    }

    /// Encodes the success response to a request from `from`. It is shorter than the request.
    pub(crate) fn response(&self, from: SocketAddr, password: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + 24 + INTEGRITY_LENGTH + FINGERPRINT_LENGTH);
        out.extend_from_slice(&BINDING_SUCCESS.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&self.bytes[4..HEADER]);
        mapped_address(&mut out, from);
        let integrity_at = out.len();
        set_length(&mut out, integrity_at + INTEGRITY_LENGTH);
        let tag = hmac::sign(&key(password), &out);
        attribute(&mut out, MESSAGE_INTEGRITY, tag.as_ref());
        let fingerprint_at = out.len();
        set_length(&mut out, fingerprint_at + FINGERPRINT_LENGTH);
        let crc = crc32fast::hash(&out) ^ FINGERPRINT_XOR;
        attribute(&mut out, FINGERPRINT, &crc.to_be_bytes());
        out
    }
}

/// `XOR-MAPPED-ADDRESS` (RFC 8489 §14.2): port and address, combined with the magic number and the transaction.
fn mapped_address(out: &mut Vec<u8>, from: SocketAddr) {
    let mask: [u8; 16] = out[4..HEADER]
        .try_into()
        .expect("magic number and transaction have 16 bytes");
    let (family, address): (u8, Vec<u8>) = match from.ip().to_canonical() {
        IpAddr::V4(v4) => (1, v4.octets().to_vec()),
        IpAddr::V6(v6) => (2, v6.octets().to_vec()),
    };
    let mut value = vec![0, family];
    value.extend(
        from.port()
            .to_be_bytes()
            .iter()
            .zip(mask)
            .map(|(byte, mask)| byte ^ mask),
    );
    value.extend(address.iter().zip(mask).map(|(byte, mask)| byte ^ mask));
    attribute(out, XOR_MAPPED_ADDRESS, &value);
}

fn attribute(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(value);
}

/// Sets the length of a message as if it ended at `end`.
fn set_length(message: &mut [u8], end: usize) {
    let length = u16::try_from(end - HEADER).unwrap_or(u16::MAX);
    message[2..4].copy_from_slice(&length.to_be_bytes());
}

fn key(password: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes())
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Encodes a binding request as a browser does, for tests.
#[cfg(any(test, feature = "fuzz"))]
pub(crate) fn request(user: &str, password: &str, transaction: [u8; 12]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&BINDING_REQUEST.to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&transaction);
    attribute(&mut out, USERNAME, user.as_bytes());
    out.resize(out.len().next_multiple_of(4), 0);
    let end = out.len() + INTEGRITY_LENGTH;
    set_length(&mut out, end);
    let tag = hmac::sign(&key(password), &out);
    attribute(&mut out, MESSAGE_INTEGRITY, tag.as_ref());
    let end = out.len() + FINGERPRINT_LENGTH;
    set_length(&mut out, end);
    let crc = crc32fast::hash(&out) ^ FINGERPRINT_XOR;
    attribute(&mut out, FINGERPRINT, &crc.to_be_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample request of RFC 5769 §2.1. Its password is `VOkJxbRl1RmTxUk/WvJxBt`.
    const SAMPLE: &str = "00010058 2112a442 b7e7a701 bc34d686 fa87dfae
        80220010 5354554e 20746573 7420636c 69656e74
        00240004 6e0001ff
        80290008 932ff9b1 51263b36
        00060009 6576746a 3a683676 59202020
        00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249 c1b571a2
        80280004 e57a3bcf";
    const PASSWORD: &str = "VOkJxbRl1RmTxUk/WvJxBt";

    fn hex(text: &str) -> Vec<u8> {
        let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap()
    }

    #[test]
    fn the_sample_request_of_rfc_5769_is_authentic() {
        let bytes = hex(SAMPLE);
        assert_eq!(bytes.len(), 108);
        let request = BindingRequest::read(&bytes).unwrap();
        assert_eq!(request.ufrag, "evtj");
        assert!(request.is_authentic(PASSWORD));
        assert!(!request.is_authentic("VOkJxbRl1RmTxUk/WvJxBu"));
    }

    /// The response of RFC 5769 §2.2 has the same transaction and the mapped address 192.0.2.1:32853, which is encoded as
    /// `0001 a147 e112a643`. It also has SOFTWARE, which this server does not send, so the following values differ.
    #[test]
    fn the_mapped_address_is_that_of_rfc_5769() {
        let bytes = hex(SAMPLE);
        let request = BindingRequest::read(&bytes).unwrap();
        let response = request.response("192.0.2.1:32853".parse().unwrap(), PASSWORD);
        assert_eq!(response[..4], [1, 1, 0, 44]);
        assert_eq!(response[4..20], bytes[4..20]);
        assert_eq!(response[20..32], hex("00200008 0001a147 e112a643"));
        assert_eq!(response.len(), 20 + 12 + 24 + 8);
        // RFC 5769 §2.3: 2001:db8:1234:5678:11:2233:4455:6677, port 32853, with the same transaction.
        let v6 = "[2001:db8:1234:5678:11:2233:4455:6677]:32853".parse().unwrap();
        let response = request.response(v6, PASSWORD);
        assert_eq!(
            response[20..44],
            hex("002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9")
        );
        let mapped = request.response("[::ffff:192.0.2.1]:32853".parse().unwrap(), PASSWORD);
        assert_eq!(mapped[20..32], hex("002000080001a147e112a643"));
    }

    #[test]
    fn each_changed_byte_invalidates_a_request() {
        let good = request("server:browser", "password", [9; 12]);
        let read = |bytes: &[u8]| BindingRequest::read(bytes).is_some_and(|request| request.is_authentic("password"));
        assert!(read(&good));
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                assert!(!read(&bytes), "byte {at}, bit {bit}");
            }
            assert!(!read(&good[..at]), "{at} bytes");
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(!read(&longer));
    }

    #[test]
    fn a_request_without_a_name_or_with_an_endless_attribute_is_rejected() {
        assert!(
            BindingRequest::read(&request("no-colon", "p", [0; 12])).is_none(),
            "no colon"
        );
        // Header with one attribute that is longer than the message.
        let mut bytes = request("a:b", "p", [0; 12]);
        bytes[HEADER + 2..HEADER + 4].copy_from_slice(&[0xff, 0xff]);
        assert!(BindingRequest::read(&bytes).is_none());
        assert!(BindingRequest::read(&[]).is_none());
    }
}
