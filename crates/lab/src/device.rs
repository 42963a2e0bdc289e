//! The lab's end of a node's device: a TUN device's file, or a socket at the other end of an Ethernet pair.

use crate::options::DeviceKind;
use crate::packet::ethernet::LENGTH as ETHERNET;
use crate::packet::{ethernet, header};
use netburn_linux::ethernet::Frames;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The lab's end of a node's device. It never waits.
#[derive(Debug)]
pub(crate) enum Device {
    Tun(File),
    Pair(Frames),
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// An IP packet, or what says that it is one; as long as that, its header included.
    Packet(usize),
    /// Something else, of that many bytes on the link.
    Other(u64),
    /// Something that the kernel could not describe.
    Unreadable,
}

impl Device {
    pub(crate) fn new(kind: DeviceKind, file: OwnedFd) -> Device {
        match kind {
            DeviceKind::Tun => Device::Tun(File::from(file)),
            DeviceKind::Pair => Device::Pair(Frames::from(file)),
        }
    }

    /// Bytes that go before each packet on the link.
    pub(crate) const fn framing(kind: DeviceKind) -> u64 {
        match kind {
            DeviceKind::Tun => 0,
            DeviceKind::Pair => ETHERNET as u64,
        }
    }

    /// Reads what the node's kernel has sent, as a frame.
    pub(crate) fn read(&mut self, frame: &mut [u8]) -> io::Result<Taken> {
        let frames = match self {
            Device::Tun(file) => return file.read(frame).map(Taken::Packet),
            Device::Pair(frames) => frames,
        };
        let mut before = [0; ETHERNET];
        match frames.read(&mut before, frame) {
            Ok(length) if ethernet::is_ip(&before) => {
                let header = frame.first_chunk_mut().expect("there is room for one");
                ethernet::strip(header);
                Ok(Taken::Packet(length))
            }
            Ok(length) => Ok(Taken::Other((length - header::LENGTH + ETHERNET) as u64)),
            // A kind of segmentation for which there is no word, or less than an Ethernet header.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                Ok(Taken::Unreadable)
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
                let (header, before) = ethernet::dress(header, packet);
                frames.write(&header, &before, packet).map(drop)
            }
        }
    }

    /// Frames that found no room at our end since the last call.
    pub(crate) fn dropped(&self) -> u64 {
        match self {
            // They are the interface's own, and counted there.
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
