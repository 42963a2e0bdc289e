//! TUN devices: network interfaces whose other side is a file.
//!
//! Each read returns one packet that the host sent. Each write is one packet that the host receives. A
//! `virtio_net_hdr` (virtio 1.2, 5.1.6) before it describes the work that is left: checksums, and the segmentation of a
//! packet of up to 64 KiB.

use netburn_platform::system_call::check;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Length of the header before each packet in bytes.
pub const HEADER: usize = 10;

/// Path of the device that creates TUN devices.
pub const DEVICE: &str = "/dev/net/tun";

/// A TUN device in the network namespace of the thread that created it. It is removed when its file is closed.
#[derive(Debug)]
pub struct Tun {
    /// File of the device, non-blocking.
    pub file: File,
    /// True if the host may send UDP datagrams that have not been segmented (USO, Linux 6.2).
    pub segments_udp: bool,
}

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;
const TUN_F_TSO_ECN: libc::c_ulong = 0x08;
const TUN_F_USO4: libc::c_ulong = 0x20;
const TUN_F_USO6: libc::c_ulong = 0x40;

impl Tun {
    /// Creates a device called `name`, of at most 15 bytes. The host may leave the segmentation of TCP to the reader,
    /// and with `udp` that of datagrams, if the kernel supports it.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) when this user may not open [`DEVICE`];
    /// [`NotFound`](io::ErrorKind::NotFound) when it does not exist; the kernel's error.
    pub fn new(name: &str, udp: bool) -> io::Result<Tun> {
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(DEVICE)?;
        // SAFETY: an ifreq is numbers and bytes; all zero is an empty one.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: the kernel reads and writes one ifreq.
        check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) })?;
        let offload = |flags: libc::c_ulong| {
            // SAFETY: this request takes an integer.
            check(unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD as _, flags) }).is_ok()
        };
        let tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
        let segments_udp = udp && offload(tcp | TUN_F_USO4 | TUN_F_USO6);
        if !segments_udp && !offload(tcp) {
            // Without offloads, packets are segmented and have complete checksums.
            offload(0);
        }
        Ok(Tun { file, segments_udp })
    }
}
