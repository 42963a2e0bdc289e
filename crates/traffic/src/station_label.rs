//! The station that a request is of: `?station=3` in a request to `serve`.
//!
//! A server of a run counts the content of each station's requests, so that what an agent reports can be checked against
//! it. The label proves nothing: whoever adds another's only raises the other's count.

use std::borrow::Cow;

/// What the part of a query with the label begins with.
const QUERY: &str = "station=";

/// `path` with the number of the station in the plan.
pub(crate) fn labelled(path: Cow<'_, str>, station: u16) -> Cow<'_, str> {
    let sign = if path.contains('?') { '&' } else { '?' };
    format!("{path}{sign}{QUERY}{station}").into()
}

/// The station that the query of `path` names; `None`: none, or no number.
pub(crate) fn station(path: &str) -> Option<u16> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|part| part.strip_prefix(QUERY))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_read_beside_other_parts_of_a_query() {
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
