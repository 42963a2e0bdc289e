//! What is sent: bytes that don't compress, the same at the same place everywhere.

use bytes::Bytes;
use netburn_linux::SealedMemory;
use netburn_units::Seed;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, OnceLock};

/// The content repeats after so many bytes: byte `n` of every object is byte `n mod PERIOD` of the pool.
///
/// It is longer than the windows of what compresses HTTP content and tunnels, so none of them finds a byte twice:
/// deflate looks back 32 KiB (RFC 1951), Brotli at most 16 MiB − 16 (RFC 7932 §9.1), Zstandard over HTTP at most 8 MiB
/// (RFC 9659), LZ4 64 KiB. Archivers asked for larger windows (`zstd --long`, `xz -9`) do find it.
pub const PERIOD: usize = 16 << 20;

/// The pool of content: [`PERIOD`] pseudo-random bytes made from a fixed seed, in memory the kernel sends without
/// copying. There is one per process, whatever is sent from it.
#[derive(Debug, Clone)]
pub struct Content {
    memory: Arc<SealedMemory>,
    bytes: Bytes,
}

impl Content {
    /// The pool; made at the first call, which takes some 10 ms.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn get() -> io::Result<Content> {
        static POOL: OnceLock<Content> = OnceLock::new();
        if let Some(pool) = POOL.get() {
            return Ok(pool.clone());
        }
        let made = Self::make()?;
        Ok(POOL.get_or_init(|| made).clone())
    }

    /// The longest piece of content from byte `offset` on that lies in one place, at most `limit` bytes.
    #[must_use]
    pub fn piece(&self, offset: u64, limit: u64) -> Bytes {
        let (start, length) = span(offset, limit);
        self.bytes.slice(start..start + length)
    }

    /// Sends content from byte `offset` on over a socket, at most `limit` bytes, inside the kernel. Returns how many
    /// went: fewer at the pool's end and when the socket takes no more.
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

/// Where in the pool the content from `offset` on lies, and how much of it without a break.
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
    fn an_offset_is_always_the_same_bytes() {
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

    /// What `program` makes of 2 MiB of content, in bytes; `None` where it isn't installed.
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
    fn it_does_not_compress() {
        for (program, level) in [("gzip", "-9"), ("zstd", "-3"), ("xz", "-1"), ("bzip2", "-9")] {
            if let Some(length) = compressed(program, level) {
                assert!(length >= 2 << 20, "{program} makes {length}");
            }
        }
    }
}
