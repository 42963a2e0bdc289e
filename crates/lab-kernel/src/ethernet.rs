//! Raw frames of one Ethernet interface (packet(7)).
//!
//! Used with an Ethernet pair (veth(4)) where TUN devices are unavailable. The other interface of the pair is in
//! another network namespace. Frames have the same `virtio_net_hdr` (PACKET_VNET_HDR), so checksums and segmentation
//! are also left to the reader.

use crate::raw::{bind, open};
use crate::tun::HEADER;
use netburn_platform::system_call::{check, set_option};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{SocketFlags, SocketType};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Length of an Ethernet header in bytes.
pub const ETHERNET: usize = 14;

/// Requested receive buffer in bytes. Several bursts have hundreds of kilobytes.
const BUFFER: usize = 16 << 20;

/// A non-blocking socket for the frames of one interface. Frames that it sent are not received.
#[derive(Debug)]
pub struct Frames {
    socket: OwnedFd,
}

impl Frames {
    /// Opens a socket for an interface index.
    ///
    /// # Errors
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) without CAP_NET_RAW.
    pub fn new(index: u32) -> io::Result<Frames> {
        let socket = open(SocketType::RAW, SocketFlags::NONBLOCK)?;
        for (option, value) in [(libc::PACKET_VNET_HDR, 1), (libc::PACKET_IGNORE_OUTGOING, 1)] {
            set_option(socket.as_fd(), libc::SOL_PACKET, option, value)?;
        }
        // Without CAP_NET_ADMIN in the initial namespace, the buffer is limited to net.core.rmem_max.
        if set_socket_recv_buffer_size_force(&socket, BUFFER).is_err() {
            set_socket_recv_buffer_size(&socket, BUFFER)?;
        }
        bind(&socket, libc::ETH_P_ALL as u16, index)?;
        Ok(Frames { socket })
    }

    /// Reads a frame. Stores its `virtio_net_hdr` and the data behind its Ethernet header in `packet`, and the Ethernet
    /// header in `ethernet`. Returns the length of the data in `packet`. Offsets in the `virtio_net_hdr` count from the
    /// Ethernet header.
    ///
    /// # Errors
    /// - [`WouldBlock`](io::ErrorKind::WouldBlock): there is no frame.
    /// - [`InvalidInput`](io::ErrorKind::InvalidInput): the kernel could not describe the next frame, which is lost.
    /// - [`InvalidData`](io::ErrorKind::InvalidData): the frame is too short.
    pub fn read(&self, ethernet: &mut [u8; ETHERNET], packet: &mut [u8]) -> io::Result<usize> {
        let (header, rest) = packet.split_at_mut_checked(HEADER).ok_or(io::ErrorKind::InvalidInput)?;
        let mut parts = [
            IoSliceMut::new(header),
            IoSliceMut::new(ethernet),
            IoSliceMut::new(rest),
        ];
        rustix::io::readv(&self.socket, &mut parts)?
            .checked_sub(ETHERNET)
            .filter(|length| *length >= HEADER)
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Writes a frame: `header` with offsets that count from the Ethernet header, the Ethernet header, and the packet.
    ///
    /// # Errors
    /// The kernel's error; [`InvalidInput`](io::ErrorKind::InvalidInput) when the headers are inconsistent.
    pub fn write(&self, header: &[u8; HEADER], ethernet: &[u8; ETHERNET], packet: &[u8]) -> io::Result<usize> {
        let parts = [IoSlice::new(header), IoSlice::new(ethernet), IoSlice::new(packet)];
        Ok(rustix::io::writev(&self.socket, &parts)?)
    }

    /// Returns the frames dropped since the last call because the receive buffer was full.
    ///
    /// # Errors
    /// The kernel's error.
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

impl From<OwnedFd> for Frames {
    /// Wraps a socket that another process opened.
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
