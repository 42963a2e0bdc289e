//! Query parameter with the station of a request: `?station=3` in a request to `serve`.
//!
//! A server of a run counts the content of each station's requests, so that agents' reports can be checked. The label
//! is not a proof: a false label only increases another station's count.

use std::borrow::Cow;

/// Prefix of the query parameter.
const QUERY: &str = "station=";

/// Adds the station's number in the plan to `path`.
pub(crate) fn labelled(path: Cow<'_, str>, station: u16) -> Cow<'_, str> {
    let sign = if path.contains('?') { '&' } else { '?' };
    format!("{path}{sign}{QUERY}{station}").into()
}

/// Returns the station in the query of `path`; `None` without a valid number.
pub(crate) fn station(path: &str) -> Option<u16> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|part| part.strip_prefix(QUERY))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_among_other_parameters() {
        for (path, station, whole) in [
            ("/sink", 0, "/sink?station=0"),
            ("/bytes/5?dscp=40", 65_535, "/bytes/5?dscp=40&station=65535"),
        ] {
            assert_eq!(labelled(path.into(), station), whole);
            assert_eq!(super::station(whole), Some(station));
        }
        for none in [
            "/bytes/5",
            "/bytes/station=5",
            "/sink?station=",
            "/sink?station=65536",
            "/sink?station=-1",
            "/sink?xstation=1",
        ] {
            assert_eq!(station(none), None, "{none}");
        }
    }
}
