//! The checksum of IP, TCP and UDP: the ones' complement of the ones' complement sum of 16-bit words (RFC 1071).

use std::net::IpAddr;

/// The folded sum of `bytes`, not yet complemented; an odd last byte counts as if a zero followed.
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let last = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    let total: u64 = words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    fold(total + last)
}

/// The sum over the pseudo header (RFC 9293 3.1, RFC 8200 8.1): what a checksum that is still to be completed begins with.
#[must_use]
pub fn pseudo(source: IpAddr, destination: IpAddr, protocol: u8, length: u32) -> u16 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(address) => u64::from(sum(&address.octets())),
        IpAddr::V6(address) => u64::from(sum(&address.octets())),
    };
    let length = u64::from(length >> 16) + u64::from(length & 0xffff);
    fold(address(source) + address(destination) + u64::from(protocol) + length)
}

/// Adds two folded sums.
#[must_use]
pub fn add(one: u16, other: u16) -> u16 {
    fold(u64::from(one) + u64::from(other))
}

/// The checksum after one word of what it covers has changed (RFC 1624, equation 3).
#[must_use]
pub fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!before) + u64::from(after))
}

fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: 0001 f203 f4f5 f6f7 sum to ddf2.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn the_example_of_rfc_1624() {
        // Section 4: checksum dd2f, a word goes from 5555 to 3285; equation 3 gives 0000.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn an_update_is_the_same_as_counting_anew(mut words in prop::collection::vec(any::<u16>(), 1..30), at in any::<prop::sample::Index>(), new in any::<u16>()) {
            let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
            let before = !sum(&bytes(&words));
            let at = at.index(words.len());
            let old = std::mem::replace(&mut words[at], new);
            prop_assume!(words.iter().any(|word| *word != 0));
            prop_assert_eq!(updated(before, old, new), !sum(&bytes(&words)));
        }
    }
}
