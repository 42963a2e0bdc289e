//! Content of transfers: incompressible bytes that are equal at the same offset of every object.

use bytes::Bytes;
use netburn_linux::SealedMemory;
use netburn_units::Seed;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

/// Period of the content: byte `n` of every object is byte `n mod PERIOD` of the pool.
///
/// It is longer than the windows of all compression methods used by HTTP and tunnels, so that none finds a
/// repetition. Deflate has a window of 32 KiB (RFC 1951), Brotli at most 16 MiB − 16 (RFC 7932 §9.1), Zstandard over
/// HTTP at most 8 MiB (RFC 9659), LZ4 64 KiB. Archivers with larger windows (`zstd --long`, `xz -9`) do find it.
pub const PERIOD: usize = 16 << 20;

/// The pool of content: [`PERIOD`] pseudo-random bytes from a fixed seed, in memory that the kernel sends without
/// copying. Each process has one.
#[derive(Debug, Clone)]
pub struct Content {
    memory: Arc<SealedMemory>,
    bytes: Bytes,
}

impl Content {
    /// Returns the pool. The first call creates it, which takes about 10 ms.
    ///
    /// # Errors
    /// An I/O error without enough memory.
    pub fn get() -> io::Result<Content> {
        static POOL: OnceLock<Content> = OnceLock::new();
        if let Some(pool) = POOL.get() {
            return Ok(pool.clone());
        }
        let made = Self::make()?;
        Ok(POOL.get_or_init(|| made).clone())
    }

    /// Returns the longest contiguous piece of content from byte `offset`, at most `limit` bytes.
    #[must_use]
    pub fn piece(&self, offset: u64, limit: u64) -> Bytes {
        let (start, length) = span(offset, limit);
        self.bytes.slice(start..start + length)
    }

    /// Sends content from byte `offset` over a socket inside the kernel, at most `limit` bytes. Returns the number of
    /// bytes sent, which is smaller at the end of the pool and when the socket's buffer is full.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when the socket's buffer is full; the socket's error.
    pub fn send(&self, socket: impl AsFd, offset: u64, limit: u64) -> io::Result<usize> {
        let (start, length) = span(offset, limit);
        self.memory.send(socket, start, length)
    }

    fn make() -> io::Result<Content> {
        let memory = Arc::new(SealedMemory::new(PERIOD, |bytes| {
            let mut stream = Seed(0).stream("content", 0);
            for word in bytes.chunks_exact_mut(8) {
                word.copy_from_slice(&stream.next_u64().to_le_bytes());
            }
        })?);
        let bytes = Bytes::from_owner(Owner(Arc::clone(&memory)));
        Ok(Content { memory, bytes })
    }
}

/// Returns the position in the pool of the content from `offset`, and its contiguous length.
fn span(offset: u64, limit: u64) -> (usize, usize) {
    let start = (offset % PERIOD as u64) as usize;
    (start, limit.min((PERIOD - start) as u64) as usize)
}

struct Owner(Arc<SealedMemory>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn content_depends_only_on_the_offset() {
        let content = Content::get().unwrap();
        let period = PERIOD as u64;
        let whole = content.piece(0, u64::MAX);
        assert_eq!(whole.len(), PERIOD);
        assert_eq!(content.piece(1000, 10), whole[1000..1010]);
        assert_eq!(content.piece(3 * period + 1000, 10), whole[1000..1010]);
        assert_eq!(
            content.piece(period - 4, 10),
            whole[PERIOD - 4..],
            "it ends with the pool"
        );
        assert_eq!(content.piece(5, 0).len(), 0);
        assert!(
            Content::make().unwrap().piece(0, u64::MAX) == whole,
            "another making is the same"
        );
    }

    /// Returns the compressed size of 2 MiB of content in bytes; `None` if `program` is not installed.
    fn compressed(program: &str, level: &str) -> Option<usize> {
        let mut child = Command::new(program)
            .args([level, "-c"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut stdin = child.stdin.take()?;
        let writer = std::thread::spawn(move || stdin.write_all(&Content::get().unwrap().piece(0, 2 << 20)));
        let output = child.wait_with_output().ok()?;
        writer.join().ok()?.ok()?;
        output.status.success().then_some(output.stdout.len())
    }

    #[test]
    fn content_is_incompressible() {
        for (program, level) in [("gzip", "-9"), ("zstd", "-3"), ("xz", "-1"), ("bzip2", "-9")] {
            if let Some(length) = compressed(program, level) {
                assert!(length >= 2 << 20, "{program} makes {length}");
            }
        }
    }
}
