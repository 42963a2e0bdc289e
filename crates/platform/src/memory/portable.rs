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
        match self.0.get(offset..offset + length) {
            Some(bytes) if !bytes.is_empty() => socket.send(bytes),
            _ => Ok(0),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
