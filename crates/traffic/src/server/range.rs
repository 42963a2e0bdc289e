//! One byte range of an object (RFC 9110 §14).

/// Result of a `Range` field for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// The whole object: there is no such field, or it may be ignored: another unit, several ranges, or invalid.
    Whole,
    /// The bytes from `first` to `last`, inclusive.
    Part {
        /// First byte.
        first: u64,
        /// Last byte, within the object.
        last: u64,
    },
    /// The range is outside the object.
    Unsatisfiable,
}

/// Evaluates a `Range` field's value for an object of `length` bytes.
pub(crate) fn parse(value: &[u8], length: u64) -> Range {
    let Some((first, last)) = split(value) else {
        return Range::Whole;
    };
    match (first, last) {
        // "-n": the last n bytes.
        (None, Some(0)) => Range::Unsatisfiable,
        (None, Some(_)) if length == 0 => Range::Unsatisfiable,
        (None, Some(count)) => Range::Part {
            first: length - count.min(length),
            last: length - 1,
        },
        (Some(first), Some(last)) if last < first => Range::Whole,
        (Some(first), _) if first >= length => Range::Unsatisfiable,
        (Some(first), last) => Range::Part {
            first,
            last: last.map_or(length - 1, |last| last.min(length - 1)),
        },
        (None, None) => Range::Whole,
    }
}

/// Returns the two numbers of a single byte range; `None` for anything else.
fn split(value: &[u8]) -> Option<(Option<u64>, Option<u64>)> {
    let text = std::str::from_utf8(value).ok()?.trim_ascii();
    let (unit, range) = text.split_once('=')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim_ascii().split_once('-')?;
    Some((position(first)?, position(last)?))
}

/// Parses a position: `Some(None)` if it is omitted, `None` if it is not a number.
fn position(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Positions above the largest integer are beyond every object.
    Some(Some(text.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u64, last: u64) -> Range {
        Range::Part { first, last }
    }

    #[test]
    fn the_examples_of_the_standard() {
        // RFC 9110 §14.1.2, for a representation of 10 000 bytes.
        assert_eq!(parse(b"bytes=0-499", 10_000), part(0, 499));
        assert_eq!(parse(b"bytes=500-999", 10_000), part(500, 999));
        assert_eq!(parse(b"bytes=-500", 10_000), part(9_500, 9_999));
        assert_eq!(parse(b"bytes=9500-", 10_000), part(9_500, 9_999));
        assert_eq!(parse(b"bytes=0-0", 10_000), part(0, 0));
        assert_eq!(parse(b"bytes=0-0,-1", 10_000), Range::Whole, "several: ignored");
    }

    #[test]
    fn the_ends() {
        assert_eq!(parse(b"BYTES=0-", 1), part(0, 0));
        assert_eq!(parse(b"bytes=0-99999999999999999999999999", 10), part(0, 9));
        assert_eq!(parse(b"bytes=99999999999999999999999999-", 10), Range::Unsatisfiable);
        assert_eq!(parse(b"bytes=10-", 10), Range::Unsatisfiable);
        assert_eq!(parse(b"bytes=-0", 10), Range::Unsatisfiable);
        assert_eq!(parse(b"bytes=-11", 10), part(0, 9));
        assert_eq!(parse(b"bytes=0-", 0), Range::Unsatisfiable);
        assert_eq!(parse(b"bytes=-1", 0), Range::Unsatisfiable);
    }

    #[test]
    fn invalid_ranges_are_ignored() {
        for value in [
            &b"bytes=5-4"[..],
            b"bytes=-",
            b"bytes",
            b"lines=1-2",
            b"bytes=a-b",
            b"bytes=+1-2",
            b"bytes=1",
            b"\xff=1-2",
            b"",
        ] {
            assert_eq!(parse(value, 10), Range::Whole, "{}", String::from_utf8_lossy(value));
        }
    }
}
