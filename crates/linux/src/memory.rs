//! Memory and files that the kernel sends without copying.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Sends up to `length` bytes of `file` from `offset` over a socket, inside the kernel (sendfile(2)). Returns the
/// number of bytes sent. Blocks only if the socket is blocking. The file position does not change.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the error of the file or socket. A
/// closed socket raises SIGPIPE, which Rust programs ignore by default.
pub fn sendfile(socket: impl AsFd, file: &File, offset: u64, length: usize) -> io::Result<usize> {
    imp::sendfile(socket.as_fd(), file, offset, length)
}

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
    pub fn send(&self, socket: impl AsFd, offset: usize, length: usize) -> io::Result<usize> {
        let length = length.min(self.as_ref().len().saturating_sub(offset));
        self.0.send(socket.as_fd(), offset, length)
    }
}

impl AsRef<[u8]> for SealedMemory {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use super::*;
    use crate::process::{check, check_size};
    use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
    use std::ptr::NonNull;

    /// Size of huge pages on x86-64, and on ARM with 4 KiB pages. With larger huge pages, normal pages are used.
    const HUGE_PAGE: usize = 2 << 20;

    pub(super) fn sendfile(socket: BorrowedFd<'_>, file: &File, offset: u64, length: usize) -> io::Result<usize> {
        let mut offset = libc::off64_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the kernel reads and writes only `offset`, which is valid during the call.
        check_size(unsafe { libc::sendfile64(socket.as_raw_fd(), file.as_raw_fd(), &mut offset, length) })
    }

    #[derive(Debug)]
    pub(super) struct Memory {
        file: File,
        map: Map,
    }

    impl Memory {
        pub(super) fn new(length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            // SAFETY: the name is a C string that is valid during the call.
            let fd = check(unsafe { libc::memfd_create(c"netburn".as_ptr(), flags) })?;
            // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
            let file = unsafe { File::from_raw_fd(fd) };
            file.set_len(length as u64)?;
            let mut writable = Map::new(&file, length, libc::PROT_READ | libc::PROT_WRITE)?;
            fill(writable.bytes_mut());
            writable.ask_for_huge_pages();
            drop(writable);
            let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
            // SAFETY: F_ADD_SEALS takes an integer and does not access memory of this process.
            check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
            let map = Map::new(&file, length, libc::PROT_READ)?;
            Ok(Self { file, map })
        }

        pub(super) fn send(&self, socket: BorrowedFd<'_>, offset: usize, length: usize) -> io::Result<usize> {
            sendfile(socket, &self.file, offset as u64, length)
        }

        pub(super) fn bytes(&self) -> &[u8] {
            self.map.bytes()
        }
    }

    /// A reserved range of addresses.
    #[derive(Debug)]
    struct Space {
        start: NonNull<u8>,
        length: usize,
    }

    /// A memfd mapped into its own [`Space`].
    #[derive(Debug)]
    struct Map {
        start: NonNull<u8>,
        length: usize,
        _space: Space,
    }

    // SAFETY: a `Map` has exclusive access to its pages. It returns shared slices through `&self` and exclusive ones
    // only through `&mut self`.
    unsafe impl Send for Map {}
    // SAFETY: as above.
    unsafe impl Sync for Map {}

    impl Space {
        /// Reserves an unused range of addresses that cannot be accessed.
        fn reserve(length: usize) -> io::Result<Self> {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new mapping at an address chosen by the kernel overlaps no other mapping.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Self { start, length })
        }
    }

    impl Drop for Space {
        fn drop(&mut self) {
            // SAFETY: this is the range from `reserve`; no slice of it outlives the `Map` that owns it.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        }
    }

    impl Map {
        /// Maps a memfd that only this module can access: it has no name, and its file never leaves [`Memory`]. There
        /// is at most one writable mapping, and none after sealing.
        ///
        /// The mapping starts at a multiple of [`HUGE_PAGE`]. Otherwise the kernel cannot use huge pages.
        fn new(file: &File, length: usize, protection: libc::c_int) -> io::Result<Self> {
            let space = Space::reserve(length.checked_add(HUGE_PAGE).ok_or(io::ErrorKind::OutOfMemory)?)?;
            let ahead = space.start.as_ptr().align_offset(HUGE_PAGE);
            let (fd, flags) = (file.as_raw_fd(), libc::MAP_SHARED | libc::MAP_FIXED);
            // SAFETY: `ahead` is less than HUGE_PAGE, so `length` bytes from there are within `space`, which is unused.
            let start = unsafe { libc::mmap(space.start.as_ptr().add(ahead).cast(), length, protection, flags, fd, 0) };
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
            Ok(Self {
                start,
                length,
                _space: space,
            })
        }

        /// Asks the kernel to merge small pages into huge pages. Sending from one huge page needs one page lookup
        /// instead of 512.
        fn ask_for_huge_pages(&mut self) {
            // MADV_COLLAPSE (asm-generic/mman-common.h), which some C libraries do not define.
            const COLLAPSE: libc::c_int = 25;
            // SAFETY: advice on pages of this mapping does not change their content. Without support (kernels before
            // 6.1), sending is only slower.
            unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, COLLAPSE) };
        }

        fn bytes(&self) -> &[u8] {
            // SAFETY: `length` readable bytes are mapped at `start` while `self` lives, and the file has this length.
            // No writer exists while they are shared (see `new`).
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            // SAFETY: as for `bytes`; the only caller made this mapping writable, and it is borrowed exclusively.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::*;
    use socket2::SockRef;
    use std::os::fd::BorrowedFd;
    use std::os::unix::fs::FileExt;

    pub(super) fn sendfile(socket: BorrowedFd<'_>, file: &File, offset: u64, length: usize) -> io::Result<usize> {
        let mut scratch = [0; 16 * 1024];
        let length = length.min(scratch.len());
        let read = file.read_at(&mut scratch[..length], offset)?;
        SockRef::from(&socket).send(&scratch[..read])
    }

    #[derive(Debug)]
    pub(super) struct Memory(Box<[u8]>);

    impl Memory {
        pub(super) fn new(length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
            let mut bytes = vec![0; length].into_boxed_slice();
            fill(&mut bytes);
            Ok(Self(bytes))
        }

        pub(super) fn send(&self, socket: BorrowedFd<'_>, offset: usize, length: usize) -> io::Result<usize> {
            SockRef::from(&socket).send(&self.0[offset..offset + length])
        }

        pub(super) fn bytes(&self) -> &[u8] {
            &self.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
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

    #[test]
    fn a_file_is_sent_from_an_offset() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let (near, mut far) = pair();
        assert_eq!(sendfile(&near, &file, 3, 4).unwrap(), 4);
        let mut got = [0; 4];
        far.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"3456");
        assert_eq!(sendfile(&near, &file, 10, 4).unwrap(), 0);
    }
}
