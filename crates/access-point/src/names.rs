//! Names that an access point may send.

/// Returns true for the name of an interface: less than `IFNAMSIZ` bytes (linux/if.h), here printable ASCII.
pub(crate) fn is_interface(name: &str) -> bool {
    (1..16).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}
