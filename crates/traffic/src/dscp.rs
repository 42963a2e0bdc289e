//! Query parameters that request properties of the response's packets: the DSCP, `?dscp=40`, and the congestion
//! control, `?cc=bbr`.
//!
//! Stations mark the packets that they send. Only the server can mark those that stations receive. The request
//! contains the DSCP for three reasons. Marks may be changed in the network, the server's system may not report them,
//! and pages in a browser cannot set any.

use netburn_driver::datagram::MAX_DSCP;
use std::borrow::Cow;

/// Prefix of the query parameter with the DSCP.
const QUERY: &str = "dscp=";

/// Prefix of the query parameter with the congestion control.
const CONTROL: &str = "cc=";
/// Maximum length of a congestion control's name (`TCP_CA_NAME_MAX` of Linux, without the terminating zero).
const MAX_NAME: usize = 15;

/// Error of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QueryError {
    /// Invalid or duplicate DSCP.
    #[error("invalid dscp=: expected one number from 0 to 63")]
    Dscp,
    /// Invalid or duplicate name of a congestion control.
    #[error("invalid cc=: expected one name of up to {MAX_NAME} characters: a to z, digits, `-` and `_`")]
    CongestionControl,
}

/// Adds the DSCP and the congestion control to `path`, which has no query. CS0 needs no parameter.
pub(crate) fn request_dscp<'a>(path: Cow<'a, str>, dscp: u8, control: Option<&str>) -> Cow<'a, str> {
    match (dscp, control) {
        (0, None) => path,
        (dscp, None) => format!("{path}?{QUERY}{dscp}").into(),
        (0, Some(name)) => format!("{path}?{CONTROL}{name}").into(),
        (dscp, Some(name)) => format!("{path}?{QUERY}{dscp}&{CONTROL}{name}").into(),
    }
}

/// Returns the congestion control that the query of `path` requests.
///
/// # Errors
/// [`QueryError::CongestionControl`] when the name is invalid or there are two.
pub(crate) fn control(path: &str) -> Result<Option<&str>, QueryError> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut names = query.split('&').filter_map(|part| part.strip_prefix(CONTROL));
    let Some(name) = names.next() else { return Ok(None) };
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if names.next().is_none() && (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fits) {
        Ok(Some(name))
    } else {
        Err(QueryError::CongestionControl)
    }
}

/// Returns the DSCP that the query of `path` requests.
///
/// # Errors
/// [`QueryError::Dscp`] when it is invalid or there are two.
pub(crate) fn requested_dscp(path: &str) -> Result<Option<u8>, QueryError> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let mut values = query.split('&').filter_map(|part| part.strip_prefix(QUERY));
    let Some(digits) = values.next() else { return Ok(None) };
    if values.next().is_some() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(QueryError::Dscp);
    }
    let dscp = digits.parse().ok().filter(|dscp| *dscp <= MAX_DSCP);
    dscp.map(Some).ok_or(QueryError::Dscp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_dscp_is_parsed() {
        for (dscp, path) in [
            (8, "/sink?dscp=8"),
            (0, "/sink"),
            (40, "/sink?dscp=40"),
            (48, "/sink?dscp=48"),
            (63, "/sink?dscp=63"),
        ] {
            assert_eq!(request_dscp("/sink".into(), dscp, None), path);
            let dscp = Some(dscp).filter(|dscp| *dscp != 0);
            assert_eq!(requested_dscp(path), Ok(dscp));
        }
        assert_eq!(requested_dscp("/bytes/5?n=1&dscp=63&close"), Ok(Some(63)));
        assert_eq!(requested_dscp("/bytes/5?dscp=0"), Ok(Some(0)));
        assert_eq!(requested_dscp("/bytes/dscp=9?xdscp=9&DSCP=9"), Ok(None));
    }

    #[test]
    fn a_requested_congestion_control_is_parsed() {
        for (dscp, path) in [(0, "/sink?cc=bbr"), (40, "/sink?dscp=40&cc=bbr")] {
            assert_eq!(request_dscp("/sink".into(), dscp, Some("bbr")), path);
            assert_eq!(control(path), Ok(Some("bbr")));
            assert_eq!(requested_dscp(path), Ok(Some(dscp).filter(|dscp| *dscp != 0)));
        }
        assert_eq!(control("/bytes/5?n=1&cc=tcp_x-9&close"), Ok(Some("tcp_x-9")));
        assert_eq!(control("/bytes/cc=a?ccc=a&CC=a"), Ok(None));
        for query in ["", "BBR", "a/b", "a%20", "sixteen-letters-", "bbr&cc=bbr"] {
            assert_eq!(
                control(&format!("/sink?cc={query}")),
                Err(QueryError::CongestionControl),
                "{query}"
            );
        }
    }

    #[test]
    fn invalid_and_duplicate_dscps_are_rejected() {
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
