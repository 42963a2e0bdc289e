//! Frames of one Ethernet interface, taken from and handed to it whole (packet(7)). Linux only.
//!
//! An interface of a pair (veth(4)) whose other end is in another network namespace stands where a TUN device can't be had: what the
//! host there sends comes here, with the same `virtio_net_hdr` before it (PACKET_VNET_HDR), and so with the same work left to do.

use crate::process::{check, check_size};
use crate::raw::{bind, open, set};
use crate::tun::HEADER;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The length of an Ethernet header.
pub const ETHERNET: usize = 14;

/// What is asked for as a receive buffer: a burst of segments is hundreds of kilobytes.
const BUFFER: libc::c_int = 16 << 20;

/// A socket that receives and sends whole frames of one interface, without its own, and never waits.
#[derive(Debug)]
pub struct Frames {
    socket: OwnedFd,
}

impl Frames {
    /// The frames of the interface of that number.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_NET_RAW.
    pub fn new(index: u32) -> io::Result<Frames> {
        let socket = open(libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0)?;
        for (option, value) in [(libc::PACKET_VNET_HDR, 1), (libc::PACKET_IGNORE_OUTGOING, 1)] {
            set(&socket, libc::SOL_PACKET, option, value)?;
        }
        // Without the host's CAP_NET_ADMIN it is cut to net.core.rmem_max.
        if set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER).is_err() {
            set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, BUFFER)?;
        }
        bind(&socket, libc::ETH_P_ALL as u16, index)?;
        Ok(Frames { socket })
    }

    /// Reads a frame: its `virtio_net_hdr` and what follows its Ethernet header into `packet`, that header into `ethernet`. Returns
    /// the length of what is in `packet`. Offsets in the `virtio_net_hdr` count from the Ethernet header.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when there is none; [`InvalidInput`](io::ErrorKind::InvalidInput) when the next one
    /// could not be described, and is gone; [`InvalidData`](io::ErrorKind::InvalidData) when it was no whole frame.
    pub fn read(&self, ethernet: &mut [u8; ETHERNET], packet: &mut [u8]) -> io::Result<usize> {
        let (header, rest) = packet.split_at_mut_checked(HEADER).ok_or(io::ErrorKind::InvalidInput)?;
        let parts = [part(header), part(ethernet), part(rest)];
        // SAFETY: the kernel writes at most what each part says, and they live through the call.
        let got = unsafe { libc::readv(self.socket.as_raw_fd(), parts.as_ptr(), parts.len() as libc::c_int) };
        check_size(got)?
            .checked_sub(ETHERNET)
            .filter(|length| *length >= HEADER)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Writes a frame: `header` with its offsets from the Ethernet header on, that header, and the packet.
    ///
    /// # Errors
    /// What the kernel says: [`InvalidInput`](io::ErrorKind::InvalidInput) when they contradict each other.
    pub fn write(&self, header: &[u8; HEADER], ethernet: &[u8; ETHERNET], packet: &[u8]) -> io::Result<usize> {
        // The kernel only reads.
        let part = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let parts = [part(header), part(ethernet), part(packet)];
        // SAFETY: the kernel reads what each part says, and they live through the call.
        check_size(unsafe { libc::writev(self.socket.as_raw_fd(), parts.as_ptr(), parts.len() as libc::c_int) })
    }

    /// Frames that came since the last call and found no room to wait.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn dropped(&self) -> io::Result<u32> {
        // struct tpacket_stats: received, dropped.
        let mut statistics = [0_u32; 2];
        let mut length = size_of::<[u32; 2]>() as libc::socklen_t;
        let (socket, value) = (self.socket.as_raw_fd(), statistics.as_mut_ptr().cast());
        // SAFETY: the kernel writes at most `length` bytes to the statistics.
        check(unsafe {
            libc::getsockopt(
                socket,
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                value,
                &raw mut length,
            )
        })?;
        Ok(statistics[1])
    }
}

fn part(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    }
}

impl From<OwnedFd> for Frames {
    /// Goes on with a socket that somebody else opened.
    fn from(socket: OwnedFd) -> Frames {
        Frames { socket }
    }
}

impl From<Frames> for OwnedFd {
    fn from(frames: Frames) -> OwnedFd {
        frames.socket
    }
}

impl AsFd for Frames {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
