//! Memory that the kernel sends without copying.

use socket2::SockRef;
use std::io;

/// Returns free memory of the allocator to the system (malloc_trim(3)). glibc otherwise keeps free memory between small
/// allocations. Does nothing with other C libraries.
pub fn release_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim takes the allocator's locks and releases only free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Immutable bytes that are readable as a slice and that the kernel sends without copying: a sealed memfd
/// (memfd_create(2), F_SEAL_WRITE), on huge pages if available.
#[derive(Debug)]
pub struct SealedMemory(imp::Memory);

impl SealedMemory {
    /// Allocates `length` zero bytes and calls `fill` to initialise them.
    ///
    /// # Errors
    /// An I/O error without enough memory or with too many open files; [`InvalidInput`](io::ErrorKind::InvalidInput)
    /// for a length of 0.
    pub fn new(length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        if length == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "length must be at least 1"));
        }
        imp::Memory::new(length, fill).map(Self)
    }

    /// Sends up to `length` of the bytes from `offset` over a socket. Returns the number of bytes sent, which is
    /// smaller at the end of the memory or when the socket's buffer is full.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the socket's error.
    pub fn send<'s>(&self, socket: impl Into<SockRef<'s>>, offset: usize, length: usize) -> io::Result<usize> {
        let length = length.min(self.as_ref().len().saturating_sub(offset));
        self.0.send(&socket.into(), offset, length)
    }
}

impl AsRef<[u8]> for SealedMemory {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

#[cfg_attr(target_os = "linux", path = "memory/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "memory/portable.rs")]
mod imp;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn sealed_memory_contains_and_sends_its_content() {
        let memory = SealedMemory::new(10_000, |bytes| {
            for (index, byte) in bytes.iter_mut().enumerate() {
                *byte = (index % 251) as u8;
            }
        })
        .unwrap();
        assert_eq!(memory.as_ref().len(), 10_000);
        assert_eq!(memory.as_ref()[9_999], (9_999 % 251) as u8);
        let (near, mut far) = pair();
        assert_eq!(
            memory.send(&near, 9_000, 5_000).unwrap(),
            1_000,
            "it ends with the memory"
        );
        assert_eq!(memory.send(&near, 10_001, 5).unwrap(), 0);
        let mut got = vec![0; 1_000];
        far.read_exact(&mut got).unwrap();
        assert_eq!(got, memory.as_ref()[9_000..]);
    }

    #[test]
    fn a_full_socket_would_block() {
        let memory = SealedMemory::new(1 << 20, |_| ()).unwrap();
        let (near, _far) = pair();
        near.set_nonblocking(true).unwrap();
        let error = loop {
            if let Err(error) = memory.send(&near, 0, 1 << 20) {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_length_of_zero_is_rejected() {
        assert!(SealedMemory::new(0, |_| ()).is_err());
    }
}
