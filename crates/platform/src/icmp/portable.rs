//! Systems other than Linux and Windows: there is no such socket.

use super::*;

#[derive(Debug)]
pub(super) enum Socket {}

impl Socket {
    pub(super) fn new(_: Ipv4Addr, _: Option<u8>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn bind_to_device(&self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn set_dscp(&self, _: u8) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn send(&self, _: u16, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub(super) async fn receive(&self) -> io::Result<EchoAnswer> {
        match *self {}
    }
}
