//! Windows.

use super::*;
use crate::interface;
use windows_sys::Win32::Foundation::ERROR_INSUFFICIENT_BUFFER;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    GetIpForwardTable, MIB_IPFORWARDROW, MIB_IPFORWARDTABLE, MIB_IPROUTE_TYPE_DIRECT, MIB_IPROUTE_TYPE_INDIRECT,
};

pub(super) fn routes() -> io::Result<Vec<Route>> {
    // Words, because the table is aligned to them.
    let mut words: Vec<u32> = Vec::new();
    // The table can grow between two calls.
    for _ in 0..8 {
        let mut size = u32::try_from(words.len() * 4).unwrap_or(u32::MAX);
        // SAFETY: the function writes at most `size` bytes, and then the size that it needs.
        let result = unsafe { GetIpForwardTable(words.as_mut_ptr().cast(), &raw mut size, 0) };
        if result != ERROR_INSUFFICIENT_BUFFER {
            interface::check(result)?;
            return Ok(rows(&words).iter().filter_map(route).collect());
        }
        words.resize(size.div_ceil(4) as usize + 256, 0);
    }
    Err(io::ErrorKind::OutOfMemory.into())
}

/// The rows of a table.
fn rows(words: &[u32]) -> &[MIB_IPFORWARDROW] {
    const FIRST: usize = std::mem::offset_of!(MIB_IPFORWARDTABLE, table) / 4;
    const LENGTH: usize = size_of::<MIB_IPFORWARDROW>() / 4;
    let room = words.len().saturating_sub(FIRST) / LENGTH;
    let count = words.first().map_or(0, |count| (*count as usize).min(room));
    if count == 0 {
        return &[];
    }
    // SAFETY: the words from `FIRST` on contain `count` rows, which are integers with the alignment of a word.
    unsafe { std::slice::from_raw_parts(words[FIRST..].as_ptr().cast(), count) }
}

fn route(row: &MIB_IPFORWARDROW) -> Option<Route> {
    // Addresses are in the order of the network.
    let address = |word: u32| Ipv4Addr::from(word.to_ne_bytes());
    // SAFETY: both fields of the union are integers of the same size.
    let kind = unsafe { row.Anonymous1.ForwardType }.cast_unsigned();
    let is_gateway = kind == MIB_IPROUTE_TYPE_INDIRECT.cast_unsigned();
    (is_gateway || kind == MIB_IPROUTE_TYPE_DIRECT.cast_unsigned()).then(|| Route {
        destination: address(row.dwForwardDest),
        mask: address(row.dwForwardMask),
        gateway: is_gateway.then(|| address(row.dwForwardNextHop)),
        metric: row.dwForwardMetric1,
        interface: interface::named(row.dwForwardIfIndex).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_its_prefixes_are_contiguous() {
        for route in routes().unwrap() {
            let mask = u32::from(route.mask);
            assert_eq!(mask.leading_ones() + mask.trailing_zeros(), 32, "{route:?}");
            assert_eq!(u32::from(route.destination) & !mask, 0, "{route:?}");
        }
        assert!(rows(&[]).is_empty() && rows(&[5]).is_empty());
    }
}
