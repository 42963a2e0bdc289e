//! The lab's side of a node's device: the file of a TUN device, or a packet socket on the peer of an Ethernet pair.

use crate::device_kind::DeviceKind;
use crate::packet::ethernet::LENGTH as ETHERNET;
use crate::packet::{ethernet, header};
use netburn_lab_kernel::ethernet::Frames;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The lab's side of a node's device. Its operations never block.
#[derive(Debug)]
pub(crate) enum Device {
    Tun(File),
    Pair(Frames),
}

/// Result of reading a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadFrame {
    /// An IP packet, or a frame that claims to be one. The length includes the `virtio_net_hdr`.
    Packet(usize),
    /// Another protocol. The value is the length on the link in bytes.
    Other(u64),
    /// A frame that the kernel could not describe with a `virtio_net_hdr`.
    Unreadable,
}

impl Device {
    pub(crate) fn new(kind: DeviceKind, file: OwnedFd) -> Device {
        match kind {
            DeviceKind::Tun => Device::Tun(File::from(file)),
            DeviceKind::Pair => Device::Pair(Frames::from(file)),
        }
    }

    /// Returns the bytes before each packet on the link.
    pub(crate) const fn framing(kind: DeviceKind) -> u64 {
        match kind {
            DeviceKind::Tun => 0,
            DeviceKind::Pair => ETHERNET as u64,
        }
    }

    /// Reads one frame that the node's kernel sent.
    pub(crate) fn read(&mut self, frame: &mut [u8]) -> io::Result<ReadFrame> {
        let frames = match self {
            Device::Tun(file) => return file.read(frame).map(ReadFrame::Packet),
            Device::Pair(frames) => frames,
        };
        let mut before = [0; ETHERNET];
        match frames.read(&mut before, frame) {
            Ok(length) if ethernet::is_ip(&before) => {
                let header = frame.first_chunk_mut().expect("there is room for one");
                ethernet::strip(header);
                Ok(ReadFrame::Packet(length))
            }
            Ok(length) => Ok(ReadFrame::Other((length - header::LENGTH + ETHERNET) as u64)),
            // An unknown segmentation type, or a frame shorter than an Ethernet header.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                Ok(ReadFrame::Unreadable)
            }
            Err(error) => Err(error),
        }
    }

    /// Delivers a frame to the node's kernel, whole or not at all.
    pub(crate) fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        match self {
            Device::Tun(file) => file.write(frame).map(drop),
            Device::Pair(frames) => {
                let (header, packet) = frame.split_first_chunk().ok_or(io::ErrorKind::InvalidInput)?;
                let (header, before) = ethernet::encapsulate(header, packet);
                frames.write(&header, &before, packet).map(drop)
            }
        }
    }

    /// Returns the frames dropped on the lab's side since the last call, because the receive buffer was full.
    pub(crate) fn dropped(&self) -> u64 {
        match self {
            // The interface counts its own drops.
            Device::Tun(_) => 0,
            Device::Pair(frames) => frames.dropped().map_or(0, u64::from),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Device::Tun(file) => file.as_fd(),
            Device::Pair(frames) => frames.as_fd(),
        }
    }
}
