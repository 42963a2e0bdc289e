//! Systems other than Linux.

use super::*;

pub(super) fn new(_: Ipv4Addr, _: Option<u8>) -> io::Result<EchoSocket> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn send(_: &EchoSocket, _: u16, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) async fn receive(_: &EchoSocket) -> io::Result<EchoAnswer> {
    Err(io::ErrorKind::Unsupported.into())
}
