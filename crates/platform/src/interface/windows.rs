//! Windows. The name of an interface is its alias, which the settings show: `Ethernet`, `Wi-Fi`.

use super::*;
use socket2::SockAddr;
use std::net::SocketAddr;
use windows_sys::Win32::Foundation::NO_ERROR;
use windows_sys::Win32::NetworkManagement::IpHelper::{
    ConvertInterfaceAliasToLuid, ConvertInterfaceIndexToLuid, ConvertInterfaceLuidToAlias, ConvertInterfaceLuidToIndex,
    GetBestInterfaceEx, GetIfEntry2, MIB_IF_ROW2,
};
use windows_sys::Win32::NetworkManagement::Ndis::NET_LUID_LH;

/// Maximum length of an alias with its final zero (IF_MAX_STRING_SIZE + 1).
const ALIAS: usize = 257;

/// The result of a function of the IP helper.
pub(crate) fn check(code: u32) -> io::Result<()> {
    match code {
        NO_ERROR => Ok(()),
        code => Err(io::Error::from_raw_os_error(code.cast_signed())),
    }
}

fn luid(name: &str) -> io::Result<NET_LUID_LH> {
    if name.contains('\0') {
        return Err(io::ErrorKind::NotFound.into());
    }
    let alias: Vec<u16> = name.encode_utf16().chain([0]).collect();
    let mut luid = NET_LUID_LH { Value: 0 };
    // SAFETY: the alias ends with a zero, and the function writes one LUID.
    check(unsafe { ConvertInterfaceAliasToLuid(alias.as_ptr(), &raw mut luid) })
        .map_err(|_| io::ErrorKind::NotFound)?;
    Ok(luid)
}

pub(super) fn number(name: &str) -> io::Result<u32> {
    let (luid, mut index) = (luid(name)?, 0);
    // SAFETY: both pointers are valid during the call.
    check(unsafe { ConvertInterfaceLuidToIndex(&raw const luid, &raw mut index) })?;
    Ok(index)
}

pub(super) fn towards(peer: IpAddr) -> io::Result<String> {
    let peer = SockAddr::from(SocketAddr::new(peer, 0));
    let mut index = 0;
    // SAFETY: `peer` is a socket address with its family, whose length the function knows from the family.
    check(unsafe { GetBestInterfaceEx(peer.as_ptr().cast(), &raw mut index) })?;
    named(index)
}

/// Returns the alias of an interface.
pub(crate) fn named(index: u32) -> io::Result<String> {
    let (mut luid, mut alias) = (NET_LUID_LH { Value: 0 }, [0; ALIAS]);
    // SAFETY: the function writes one LUID.
    check(unsafe { ConvertInterfaceIndexToLuid(index, &raw mut luid) })?;
    // SAFETY: the function writes at most the given number of characters, with a final zero.
    check(unsafe { ConvertInterfaceLuidToAlias(&raw const luid, alias.as_mut_ptr(), alias.len()) })?;
    let length = alias.iter().position(|unit| *unit == 0).unwrap_or(alias.len());
    Ok(String::from_utf16_lossy(&alias[..length]))
}

pub(super) fn received(name: &str) -> io::Result<u64> {
    // SAFETY: the structure has integers and arrays of them, so that all zeros is valid.
    let mut row: MIB_IF_ROW2 = unsafe { std::mem::zeroed() };
    row.InterfaceLuid = luid(name)?;
    // SAFETY: the function reads the LUID, and fills the row.
    check(unsafe { GetIfEntry2(&raw mut row) })?;
    Ok(row.InOctets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_a_name_and_an_index() {
        let name = towards([127, 0, 0, 1].into()).unwrap();
        assert!(number(&name).unwrap() > 0);
        assert_eq!(number("no such interface").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(received(&name).is_ok());
    }
}
