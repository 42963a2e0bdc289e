//! Bytes as input of the byte stream transport.

use crate::transport::{Channel, ChannelError};
use tokio::io::AsyncWriteExt;

/// Maximum length in this test.
const LIMIT: usize = 64;

/// Any input is split into texts within the maximum length, as a simple parser of the lengths finds, and
/// then ends.
///
/// # Panics
/// If an invariant is violated.
pub fn check(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (mut peer, ours) = tokio::io::duplex(1 << 16);
        let sent = &bytes[..bytes.len().min(1 << 15)];
        peer.write_all(sent).await.expect("room enough");
        drop(peer);
        let mut receiver = Channel::over(ours, LIMIT).receiver;
        let mut rest = sent;
        loop {
            let plain = rest
                .split_first_chunk::<4>()
                .map(|(length, rest)| (u32::from_be_bytes(*length) as usize, rest));
            match (receiver.text().await, plain) {
                (Ok(text), Some((length, after))) => {
                    assert!(length <= LIMIT);
                    assert_eq!(text.as_bytes(), &after[..length]);
                    rest = &after[length..];
                }
                (Err(ChannelError::TooLong { .. }), Some((length, _))) => {
                    assert!(length > LIMIT);
                    break;
                }
                (Err(ChannelError::Closed), None) => break,
                (Err(ChannelError::Closed), Some((length, after))) => {
                    assert!(after.len() < length);
                    break;
                }
                (Err(ChannelError::Framing(_)), Some((length, after))) => {
                    assert!(std::str::from_utf8(&after[..length]).is_err());
                    break;
                }
                (got, plain) => panic!("{got:?} where {plain:?} was sent"),
            }
        }
    });
}
