//! Linux.

use super::*;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use std::fs::File;
use std::ptr::NonNull;

/// Size of huge pages on x86-64, and on ARM with 4 KiB pages. With larger huge pages, normal pages are used.
const HUGE_PAGE: usize = 2 << 20;

#[derive(Debug)]
pub(super) struct Memory {
    file: File,
    map: Map,
}

impl Memory {
    pub(super) fn new(length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = File::from(rustix::fs::memfd_create("netburn", flags)?);
        file.set_len(length as u64)?;
        let mut writable = Map::new(&file, length, ProtFlags::READ | ProtFlags::WRITE)?;
        fill(writable.bytes_mut());
        writable.ask_for_huge_pages();
        drop(writable);
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        let map = Map::new(&file, length, ProtFlags::READ)?;
        Ok(Self { file, map })
    }

    pub(super) fn send(&self, socket: &SockRef<'_>, offset: usize, length: usize) -> io::Result<usize> {
        let mut offset = offset as u64;
        Ok(rustix::fs::sendfile(&**socket, &self.file, Some(&mut offset), length)?)
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
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address chosen by the kernel overlaps no other mapping.
        let start = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), length, ProtFlags::empty(), flags) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: this is the range from `reserve`; no slice of it outlives the `Map` that owns it.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Map {
    /// Maps a memfd that only this module can access: it has no name, and its file never leaves [`Memory`]. There
    /// is at most one writable mapping, and none after sealing.
    ///
    /// The mapping starts at a multiple of [`HUGE_PAGE`]. Otherwise the kernel cannot use huge pages.
    fn new(file: &File, length: usize, protection: ProtFlags) -> io::Result<Self> {
        let space = Space::reserve(length.checked_add(HUGE_PAGE).ok_or(io::ErrorKind::OutOfMemory)?)?;
        let ahead = space.start.as_ptr().align_offset(HUGE_PAGE);
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: `ahead` is less than HUGE_PAGE, so `length` bytes from there are within `space`, which is unused.
        let start = unsafe {
            let start = space.start.as_ptr().add(ahead).cast();
            rustix::mm::mmap(start, length, protection, flags, file, 0)
        }?;
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
        // MADV_COLLAPSE (asm-generic/mman-common.h), which rustix and some C libraries do not define.
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
