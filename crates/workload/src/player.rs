//! A video player's buffer: bytes in, stalls out.
