//! Decoder of the chunked transfer coding (RFC 9112 §7.1) that discards content.

/// Maximum length in bytes of a chunk's size line, including extensions.
pub const MAX_LINE: usize = 4096;
/// Maximum length of the trailer section in bytes.
pub const MAX_TRAILERS: usize = 16 * 1024;

/// Error of the chunked coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChunkedError {
    /// A chunk does not begin with a hexadecimal size, or its size is followed by something other than extensions.
    #[error("invalid chunk: expected a size in hexadecimal digits")]
    Size,
    /// A chunk size is 2⁶³ or more.
    #[error("chunk size out of range: expected less than 2^63 bytes")]
    TooLarge,
    /// A size line or the trailer section is too long.
    #[error("a chunk's size line or the trailers are too long")]
    TooLong,
    /// A trailer line is not a field name, a colon and a value.
    #[error("invalid trailer: expected a field")]
    Trailer,
    /// A line or a chunk does not end with CR LF.
    #[error("invalid chunk: expected CR LF at its end")]
    End,
}

/// Result of [`Decoder::decode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decoded {
    /// Bytes of input consumed: all, unless the body ended before.
    pub taken: usize,
    /// Number of content bytes among them.
    pub content: u64,
}

/// A decoder that counts content and discards it.
///
/// **Call order:** call [`decode`](Self::decode) with received bytes until [`is_done`](Self::is_done). If
/// [`ahead`](Self::ahead) is not 0, up to that many bytes may be discarded without decoding and reported with
/// [`skip`](Self::skip).
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In a size line: its value so far, its length, and the position in it.
    Size {
        size: u64,
        length: usize,
        part: Line,
    },
    /// In content, with this many bytes left.
    Content(u64),
    /// After content: CR, then LF.
    ContentCr,
    ContentLf,
    /// In the trailer section: its length so far, and the position in a line.
    Trailers {
        length: usize,
        line: TrailerLine,
    },
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Before the first digit.
    Start,
    /// In the digits.
    Digits,
    /// In white space after the digits; only an extension may follow.
    Space,
    /// In extensions.
    Extension,
    /// After CR.
    Cr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrailerLine {
    /// At the beginning of a line.
    Start,
    /// After a CR at the beginning of a line: LF ends the body.
    LastCr,
    /// In a field name.
    Name,
    /// In a field value.
    Value,
    /// After a CR in a value.
    FieldCr,
}

impl Default for State {
    fn default() -> Self {
        State::Size {
            size: 0,
            length: 0,
            part: Line::Start,
        }
    }
}

impl Decoder {
    /// Creates a decoder at the beginning of a body.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the body has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns the number of next bytes that are certainly content.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        match self.state {
            State::Content(left) => left,
            _ => 0,
        }
    }

    /// Records that `count` content bytes, at most [`ahead`](Self::ahead), were discarded without decoding.
    ///
    /// # Panics
    /// When `count` is larger.
    pub fn skip(&mut self, count: u64) {
        let left = self.ahead().checked_sub(count).expect("no more skipped than is ahead");
        if count > 0 {
            self.state = after_content(left);
        }
    }

    /// Decodes received bytes.
    ///
    /// # Errors
    /// [`ChunkedError`] when they are not in the chunked coding. The connection is then unusable.
    pub fn decode(&mut self, input: &[u8]) -> Result<Decoded, ChunkedError> {
        let mut decoded = Decoded::default();
        while decoded.taken < input.len() && !self.is_done() {
            if let State::Content(left) = self.state {
                let here = left.min((input.len() - decoded.taken) as u64);
                self.state = after_content(left - here);
                decoded.content += here;
                decoded.taken += here as usize;
            } else {
                self.state = step(self.state, input[decoded.taken])?;
                decoded.taken += 1;
            }
        }
        Ok(decoded)
    }
}

fn after_content(left: u64) -> State {
    match left {
        0 => State::ContentCr,
        left => State::Content(left),
    }
}

/// Processes one byte outside content.
fn step(state: State, byte: u8) -> Result<State, ChunkedError> {
    match (state, byte) {
        (State::Size { size, length, part }, byte) => size_line(size, length + 1, part, byte),
        (State::ContentCr, b'\r') => Ok(State::ContentLf),
        (State::ContentLf, b'\n') => Ok(State::default()),
        (State::Trailers { length, line }, byte) => trailer(length + 1, line, byte),
        (State::ContentCr | State::ContentLf, _) => Err(ChunkedError::End),
        (State::Content(_) | State::Done, _) => unreachable!("content and end are handled by the caller"),
    }
}

fn size_line(size: u64, length: usize, part: Line, byte: u8) -> Result<State, ChunkedError> {
    if length > MAX_LINE {
        return Err(ChunkedError::TooLong);
    }
    let next = |size, part| Ok(State::Size { size, length, part });
    match (part, byte) {
        (Line::Start | Line::Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
            let digit = u64::from((byte as char).to_digit(16).expect("a hexadecimal digit"));
            match size >> 59 {
                0 => next(size << 4 | digit, Line::Digits),
                _ => Err(ChunkedError::TooLarge),
            }
        }
        (Line::Start, _) => Err(ChunkedError::Size),
        (Line::Digits | Line::Extension, b'\r') => next(size, Line::Cr),
        (Line::Digits | Line::Space, b';') => next(size, Line::Extension),
        (Line::Digits | Line::Space, b' ' | b'\t') => next(size, Line::Space),
        (Line::Digits | Line::Space, _) => Err(ChunkedError::Size),
        (Line::Extension, b'\n') => Err(ChunkedError::End),
        (Line::Extension, _) => next(size, Line::Extension),
        (Line::Cr, b'\n') if size == 0 => Ok(State::Trailers {
            length: 0,
            line: TrailerLine::Start,
        }),
        (Line::Cr, b'\n') => Ok(State::Content(size)),
        (Line::Cr, _) => Err(ChunkedError::End),
    }
}

fn trailer(length: usize, line: TrailerLine, byte: u8) -> Result<State, ChunkedError> {
    if length > MAX_TRAILERS {
        return Err(ChunkedError::TooLong);
    }
    let line = match (line, byte) {
        (TrailerLine::LastCr, b'\n') => return Ok(State::Done),
        (TrailerLine::FieldCr, b'\n') => TrailerLine::Start,
        (TrailerLine::LastCr | TrailerLine::FieldCr, _) | (_, b'\n') => return Err(ChunkedError::End),
        (TrailerLine::Start, b'\r') => TrailerLine::LastCr,
        (TrailerLine::Name, b':') => TrailerLine::Value,
        (TrailerLine::Start | TrailerLine::Name, byte) if is_token(byte) => TrailerLine::Name,
        (TrailerLine::Start | TrailerLine::Name, _) => return Err(ChunkedError::Trailer),
        (TrailerLine::Value, b'\r') => TrailerLine::FieldCr,
        (TrailerLine::Value, _) => TrailerLine::Value,
    };
    Ok(State::Trailers { length, line })
}

/// Returns whether a byte is allowed in a field name (`tchar` of RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decodes input in pieces of `piece` bytes. Returns whether the body ended, the bytes consumed and the content
    /// length.
    fn decode(input: &[u8], piece: usize) -> Result<(bool, usize, u64), ChunkedError> {
        let mut decoder = Decoder::new();
        let (mut taken, mut content) = (0, 0);
        for part in input.chunks(piece) {
            let decoded = decoder.decode(part)?;
            taken += decoded.taken;
            content += decoded.content;
        }
        Ok((decoder.is_done(), taken, content))
    }

    #[test]
    fn the_example_of_every_textbook() {
        let body = b"4\r\nWiki\r\n6;x=\"y\"\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nA: b\r\n\r\nnext";
        assert_eq!(decode(body, 1), Ok((true, body.len() - 4, 24)));
        assert_eq!(decode(body, 1000), Ok((true, body.len() - 4, 24)));
        assert_eq!(decode(b"0\r\n\r\n", 2), Ok((true, 5, 0)));
        // White space may precede an extension (RFC 9112 §7.1.1), and a trailer value may be empty.
        assert_eq!(decode(b"1 \t;x\r\na\r\n0 ;y\r\nA-b:\r\n\r\n", 1), Ok((true, 24, 1)));
        assert_eq!(decode(b"5\r\nab", 2), Ok((false, 5, 2)));
    }

    #[test]
    fn invalid_input_is_rejected() {
        for (input, error) in [
            (&b"x\r\n"[..], ChunkedError::Size),
            (b"\r\n", ChunkedError::Size),
            (b"-1\r\n", ChunkedError::Size),
            (b"1g\r\n", ChunkedError::Size),
            (b"1\n", ChunkedError::Size),
            (b"5 \r\n", ChunkedError::Size),
            (b"5\t\r\n", ChunkedError::Size),
            (b"5 5\r\n", ChunkedError::Size),
            (b"0\r\nfoo bar\r\n\r\n", ChunkedError::Trailer),
            (b"0\r\nfoo\r\n\r\n", ChunkedError::Trailer),
            (b"0\r\nfoo : bar\r\n\r\n", ChunkedError::Trailer),
            (b"0\r\n: bar\r\n\r\n", ChunkedError::Trailer),
            (b"0\r\nA: b\r\n c\r\n\r\n", ChunkedError::Trailer),
            (b"1;a\n", ChunkedError::End),
            (b"1\rx", ChunkedError::End),
            (b"1\r\naX", ChunkedError::End),
            (b"1\r\na\rX", ChunkedError::End),
            (b"0\r\nA: b\n", ChunkedError::End),
            (b"fffffffffffffffff\r\n", ChunkedError::TooLarge),
            (b"8000000000000000\r\n", ChunkedError::TooLarge),
        ] {
            assert_eq!(decode(input, 3), Err(error), "{}", String::from_utf8_lossy(input));
        }
        let long = [b"1;".as_slice(), &[b'a'; MAX_LINE]].concat();
        assert_eq!(decode(&long, 64), Err(ChunkedError::TooLong));
        let long = [b"0\r\nA: ".as_slice(), &[b'a'; MAX_TRAILERS]].concat();
        assert_eq!(decode(&long, 64), Err(ChunkedError::TooLong));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn content_is_counted_at_any_piece_size(sizes in prop::collection::vec(1_usize..300, 0..10), piece in 1_usize..50) {
            let mut body = Vec::new();
            for size in &sizes {
                body.extend(format!("{size:x}\r\n").bytes());
                body.extend(std::iter::repeat_n(b'\r', *size));
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\n\r\n");
            let content = sizes.iter().sum::<usize>() as u64;
            prop_assert_eq!(decode(&body, piece), Ok((true, body.len(), content)));
            // The same input with skipped content.
            let (mut decoder, mut at, mut skipped) = (Decoder::new(), 0, 0);
            while !decoder.is_done() {
                let ahead = decoder.ahead().min(piece as u64);
                decoder.skip(ahead);
                skipped += ahead;
                at += ahead as usize;
                if ahead == 0 {
                    at += decoder.decode(&body[at..=at]).unwrap().taken;
                }
            }
            prop_assert_eq!((at, skipped), (body.len(), content));
        }
    }
}
