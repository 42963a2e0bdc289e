//! Systems other than Linux.

use super::*;

#[derive(Debug)]
pub(super) struct Memory(Box<[u8]>);

impl Memory {
    pub(super) fn new(length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        let mut bytes = vec![0; length].into_boxed_slice();
        fill(&mut bytes);
        Ok(Self(bytes))
    }

    pub(super) fn send(&self, socket: &SockRef<'_>, offset: usize, length: usize) -> io::Result<usize> {
        socket.send(&self.0[offset..offset + length])
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
