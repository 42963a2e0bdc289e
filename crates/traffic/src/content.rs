//! Content of transfers: incompressible bytes that are equal at the same offset of every object.

use bytes::Bytes;
use netburn_platform::SealedMemory;
use netburn_units::Seed;
use socket2::SockRef;
use std::io;
use std::sync::{Arc, OnceLock};

/// Period of the content: byte `n` of every object is byte `n mod PERIOD` of the pool.
///
/// It is longer than the windows of all compression methods used by HTTP and tunnels, so that none finds a
/// repetition. The windows are: Deflate 32 KiB (RFC 1951), Brotli at most 16 MiB − 16 (RFC 7932 §9.1), Zstandard
/// over HTTP at most 8 MiB (RFC 9659), LZ4 64 KiB. Archivers with larger windows (`zstd --long`, `xz -9`) do find
/// it.
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
    pub fn send<'s>(&self, socket: impl Into<SockRef<'s>>, offset: u64, limit: u64) -> io::Result<usize> {
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

    /// Deflate finds nothing, nor can any method that replaces repeated sequences or codes frequent bytes with few bits.
    #[test]
    fn content_is_incompressible() {
        let bytes = Content::get().unwrap().piece(0, 2 << 20);
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        deflate.write_all(&bytes).unwrap();
        assert!(deflate.finish().unwrap().len() >= 2 << 20);
        // Of 2^21 random sequences of 64 bits, a pair is equal with a probability of 2^41 / 2^64.
        let mut sequences: Vec<u64> = bytes
            .windows(8)
            .map(|window| u64::from_le_bytes(window.try_into().unwrap()))
            .collect();
        sequences.sort_unstable();
        assert!(sequences.windows(2).all(|pair| pair[0] != pair[1]));
        // Pearson's statistic of 256 equally frequent values has a mean of 255 and a variance of 2 · 255. The bounds are
        // five standard deviations away.
        let mut counts = [0_u32; 256];
        for byte in &bytes {
            counts[usize::from(*byte)] += 1;
        }
        let expected = f64::from(2 << 20) / 256.0;
        let statistic: f64 = counts
            .map(|count| (f64::from(count) - expected).powi(2) / expected)
            .iter()
            .sum();
        assert!((142.0..368.0).contains(&statistic), "{statistic}");
    }
}
