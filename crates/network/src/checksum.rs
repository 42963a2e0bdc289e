//! The Internet checksum of IP, TCP and UDP: the ones' complement of the ones' complement sum of 16-bit words (RFC
//! 1071).

use core::net::IpAddr;

/// Returns the folded sum of `bytes` without the final complement. An odd last byte is padded with zero.
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let last = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    let total: u64 = words
        .map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    fold(total + last)
}

/// Returns the sum of the pseudo header (RFC 9293 3.1, RFC 8200 8.1), the initial value of a partial checksum.
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

/// Returns the checksum after one 16-bit word of the data has changed (RFC 1624, equation 3).
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
        // Section 3: the words 0001 f203 f4f5 f6f7 have the sum ddf2.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
    }

    #[test]
    fn the_example_of_rfc_1624() {
        // Section 4: checksum dd2f, a word changes from 5555 to 3285; equation 3 returns 0000.
        assert_eq!(updated(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn an_update_equals_a_new_computation(mut words in prop::collection::vec(any::<u16>(), 1..30), at in any::<prop::sample::Index>(), new in any::<u16>()) {
            let bytes = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
            let before = !sum(&bytes(&words));
            let at = at.index(words.len());
            let old = std::mem::replace(&mut words[at], new);
            prop_assume!(words.iter().any(|word| *word != 0));
            prop_assert_eq!(updated(before, old, new), !sum(&bytes(&words)));
        }
    }
}
