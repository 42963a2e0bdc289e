//! What a request asks of the packets of its answer: their mark, `?dscp=40` (a byte of a probe), and the congestion control
//! that sends them, `?cc=bbr`.
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

/// What the part of a query with the congestion control begins with.
const CONTROL: &str = "cc=";
/// The longest name of a congestion control (`TCP_CA_NAME_MAX` of Linux, without its zero).
const MAX_NAME: usize = 15;

/// A wish that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueryError {
    /// Not one DSCP.
    #[error("dscp= takes one number from 0 to 63")]
    Dscp,
    /// Not one name of a congestion control.
    #[error("cc= takes one name: up to {MAX_NAME} of a to z, digits, `-` and `_`")]
    SocketControl,
}

/// `path`, which has no query, with the wish for answers of this priority, sent by this congestion control. Best effort
/// needs none.
pub(crate) fn request_dscp<'a>(path: Cow<'a, str>, priority: Priority, control: Option<&str>) -> Cow<'a, str> {
    match (priority.dscp(), control) {
        (0, None) => path,
        (dscp, None) => format!("{path}?{QUERY}{dscp}").into(),
        (0, Some(name)) => format!("{path}?{CONTROL}{name}").into(),
        (dscp, Some(name)) => format!("{path}?{QUERY}{dscp}&{CONTROL}{name}").into(),
    }
}

/// The congestion control that the query of `path` asks for.
///
/// # Errors
/// When it is no name, or there are two.
pub(crate) fn control(path: &str) -> Result<Option<&str>, QueryError> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut names = query.split('&').filter_map(|part| part.strip_prefix(CONTROL));
    let Some(name) = names.next() else { return Ok(None) };
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    match names.next().is_none() && (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fits) {
        true => Ok(Some(name)),
        false => Err(QueryError::SocketControl),
    }
}

/// The DSCP that the query of `path` wishes for.
///
/// # Errors
/// When it is none, or there are two.
pub(crate) fn requested_dscp(path: &str) -> Result<Option<u8>, QueryError> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut wishes = query.split('&').filter_map(|part| part.strip_prefix(QUERY));
    let Some(digits) = wishes.next() else { return Ok(None) };
    if wishes.next().is_some() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(QueryError::Dscp);
    }
    let dscp = digits.parse().ok().filter(|dscp| *dscp <= MAX_DSCP);
    dscp.map(Some).ok_or(QueryError::Dscp)
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
            assert_eq!(request_dscp("/sink".into(), priority, None), path);
            let dscp = Some(priority.dscp()).filter(|dscp| *dscp != 0);
            assert_eq!(requested_dscp(path), Ok(dscp));
        }
        assert_eq!(requested_dscp("/bytes/5?n=1&dscp=63&close"), Ok(Some(63)));
        assert_eq!(requested_dscp("/bytes/5?dscp=0"), Ok(Some(0)));
        assert_eq!(requested_dscp("/bytes/dscp=9?xdscp=9&DSCP=9"), Ok(None));
    }

    #[test]
    fn a_congestion_control_is_asked_for_by_its_name() {
        for (priority, path) in [
            (Priority::BestEffort, "/sink?cc=bbr"),
            (Priority::Video, "/sink?dscp=40&cc=bbr"),
        ] {
            assert_eq!(request_dscp("/sink".into(), priority, Some("bbr")), path);
            assert_eq!(control(path), Ok(Some("bbr")));
            assert_eq!(
                requested_dscp(path),
                Ok(Some(priority.dscp()).filter(|dscp| *dscp != 0))
            );
        }
        assert_eq!(control("/bytes/5?n=1&cc=tcp_x-9&close"), Ok(Some("tcp_x-9")));
        assert_eq!(control("/bytes/cc=a?ccc=a&CC=a"), Ok(None));
        for query in ["", "BBR", "a/b", "a%20", "sixteen-letters-", "bbr&cc=bbr"] {
            assert_eq!(
                control(&format!("/sink?cc={query}")),
                Err(QueryError::SocketControl),
                "{query}"
            );
        }
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
            assert_eq!(
                requested_dscp(&format!("/sink?dscp={query}")),
                Err(QueryError::Dscp),
                "{query}"
            );
        }
    }
}
