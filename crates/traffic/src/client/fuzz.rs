//! Fuzz checks of the client's parsers.

use super::head::{self, MAX_HEAD};
use super::incoming::next_head;
use super::interim::InterimResponses;
use crate::chunked::{ChunkedError, Decoder};
use crate::fetch::Url;
use netburn_units::Instant;

/// Parses the head of a response, and the interim responses before it, in several segmentations; the results must be
/// equal. The first byte selects whether the request was `HEAD` (lowest bit) and the segmentation.
///
/// # Panics
/// When an invariant is violated.
pub fn check_answer(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let (to_head, step) = (first & 1 == 1, usize::from(first >> 1) + 1);
    let whole = head::parse(bytes, to_head);
    for cut in (0..bytes.len()).step_by(step) {
        match head::parse(&bytes[..cut], to_head) {
            Ok(Some(head)) => {
                assert!(head.length <= cut && cut <= MAX_HEAD.max(cut));
                assert_eq!(
                    whole.as_ref(),
                    Ok(&Some(head)),
                    "a head changed with what came after it"
                );
            }
            Ok(None) => {}
            Err(_) => assert!(whole.is_err(), "what was no head became one"),
        }
    }
    let (piecewise, at_once) = (
        final_head(bytes, to_head, step),
        final_head(bytes, to_head, bytes.len().max(1)),
    );
    assert_eq!(piecewise, at_once, "interim responses in pieces of {step}");
    if let Ok(Some(head)) = whole {
        assert!((100..1000).contains(&head.status));
        assert!(
            !(to_head && head.body != head::Body::Length(0)),
            "an answer to HEAD has no body"
        );
    }
}

/// Final head of the response to an upload that asks for progress, and the progress before it.
type FinalHead = Result<(usize, Option<head::Head>, Option<u64>), String>;

/// Receives `bytes` in pieces of `step` bytes.
fn final_head(bytes: &[u8], to_head: bool, step: usize) -> FinalHead {
    let mut interim = InterimResponses::new("/sink?progress=104");
    let offset = interim.offset().expect("the path asks for progress");
    let (mut used, mut before) = (0, None);
    for end in (step..bytes.len()).step_by(step).chain([bytes.len()]) {
        let (count, head) =
            next_head(&bytes[used..end], to_head, &mut interim, Instant::ZERO).map_err(|e| e.to_string())?;
        used += count;
        assert!(used <= end && before <= offset.get(), "the progress never decreases");
        before = offset.get();
        if head.is_some() {
            return Ok((used, head, before));
        }
    }
    Ok((used, None, before))
}

/// Decodes the chunked transfer coding in several segmentations, with and without skipping; the results must be equal.
/// The first byte selects the segmentation.
///
/// # Panics
/// When an invariant is violated.
pub fn check_chunked(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let whole = decode(bytes, bytes.len().max(1), false);
    let step = usize::from(*first) + 1;
    assert_eq!(decode(bytes, step, false), whole, "cut into {step}");
    assert_eq!(decode(bytes, step, true), whole, "skipped in steps of {step}");
    if let Ok((done, taken, content)) = whole {
        assert!(content <= taken as u64 && taken <= bytes.len());
        assert!(done || taken == bytes.len());
    }
}

/// Returns whether the body ended, the bytes consumed, and the bytes of content.
fn decode(bytes: &[u8], step: usize, skips: bool) -> Result<(bool, usize, u64), ChunkedError> {
    let mut decoder = Decoder::new();
    let (mut at, mut content) = (0, 0);
    while at < bytes.len() && !decoder.is_done() {
        let piece = &bytes[at..bytes.len().min(at + step)];
        let ahead = decoder.ahead().min(piece.len() as u64);
        if skips && ahead > 0 {
            decoder.skip(ahead);
            at += ahead as usize;
            content += ahead;
            continue;
        }
        let decoded = decoder.decode(piece)?;
        at += decoded.taken;
        content += decoded.content;
    }
    Ok((decoder.is_done(), at, content))
}

/// Parses a URL and resolves a `Location`; formatting and parsing the result must return it. The first line break
/// separates the two.
///
/// # Panics
/// When an invariant is violated.
pub fn check_url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (url, location) = text.split_once('\n').unwrap_or((&text, "../x?y"));
    let Ok(url) = url.parse::<Url>() else { return };
    assert_eq!(url.to_string().parse(), Ok(url.clone()), "{url}");
    assert!(url.path.starts_with('/') && url.port > 0);
    if let Ok(target) = url.join(location) {
        assert_eq!(target.to_string().parse(), Ok(target.clone()), "{target}");
    }
}
