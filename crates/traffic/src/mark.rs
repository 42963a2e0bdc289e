//! The wish that answers be marked: `?dscp=40` in a request to `serve`, a byte of a probe.
//!
//! What a station sends it marks itself, what it is sent only the server can mark. The wish is part of the request, so it
//! doesn't depend on what is left of the station's own marks on the way, on what the server's system tells of them, or on a
//! client that can set any: a page in a browser can't.

use netburn_workload::Priority;
use std::borrow::Cow;

/// The largest DSCP: it has six bits (RFC 2474 §3).
pub(crate) const MAX_DSCP: u8 = 63;
/// What the part of a query with the wish begins with.
const QUERY: &str = "dscp=";

/// A wish that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("dscp= takes one number from 0 to 63")]
pub(crate) struct Unfit;

/// `path`, which has no query, with the wish for answers of this priority. Best effort needs none.
pub(crate) fn wish(path: Cow<'_, str>, priority: Priority) -> Cow<'_, str> {
    match priority.dscp() {
        0 => path,
        dscp => format!("{path}?{QUERY}{dscp}").into(),
    }
}

/// The DSCP that the query of `path` wishes for.
///
/// # Errors
/// When it is none, or there are two.
pub(crate) fn wished(path: &str) -> Result<Option<u8>, Unfit> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut wishes = query.split('&').filter_map(|part| part.strip_prefix(QUERY));
    let Some(digits) = wishes.next() else { return Ok(None) };
    if wishes.next().is_some() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unfit);
    }
    let dscp = digits.parse().ok().filter(|dscp| *dscp <= MAX_DSCP);
    dscp.map(Some).ok_or(Unfit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wished_is_read() {
        for (priority, path) in [
            (Priority::Background, "/sink?dscp=8"),
            (Priority::BestEffort, "/sink"),
            (Priority::Video, "/sink?dscp=40"),
            (Priority::Voice, "/sink?dscp=48"),
        ] {
            assert_eq!(wish("/sink".into(), priority), path);
            let dscp = Some(priority.dscp()).filter(|dscp| *dscp != 0);
            assert_eq!(wished(path), Ok(dscp));
        }
        assert_eq!(wished("/bytes/5?n=1&dscp=63&close"), Ok(Some(63)));
        assert_eq!(wished("/bytes/5?dscp=0"), Ok(Some(0)));
        assert_eq!(wished("/bytes/dscp=9?xdscp=9&DSCP=9"), Ok(None));
    }

    #[test]
    fn six_bits_and_once() {
        for query in [
            "64",
            "255",
            "256",
            "-1",
            "+1",
            "0x8",
            "",
            " 8",
            "8&dscp=8",
            "99999999999999999999",
        ] {
            assert_eq!(wished(&format!("/sink?dscp={query}")), Err(Unfit), "{query}");
        }
    }
}
