//! Meaning and station of a series, derived from its name.

/// Contents of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SeriesKind {
    Download,
    Upload,
    Ping,
    Http,
}

/// Contents of a series of that name; `None` for unsupported ones.
pub(super) fn series_kind(name: &str) -> Option<SeriesKind> {
    let (holds, rest) = [
        ("TCP download", SeriesKind::Download),
        ("TCP upload", SeriesKind::Upload),
        ("Ping (ms)", SeriesKind::Ping),
        ("HTTP latency", SeriesKind::Http),
    ]
    .into_iter()
    .find_map(|(prefix, holds)| Some((holds, name.strip_prefix(prefix)?)))?;
    if is_computed(name) {
        return None;
    }
    // `TCP download::1` is a stream; `TCP download::1::tcp_rtt` and `TCP download BE a::tcp_cwnd`
    // are samples of one.
    let parts = rest.split("::").skip(1);
    let samples = parts
        .into_iter()
        .any(|part| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()));
    (!samples).then_some(holds)
}

/// Returns true if flent computes the series from others.
pub(super) fn is_computed(name: &str) -> bool {
    [" avg", " sum", " fairness"].iter().any(|end| name.ends_with(end))
}

/// Host of a series: the longest host name with which the series' name ends.
pub(super) fn host<'a>(name: &str, hosts: &'a [String]) -> Option<&'a str> {
    let name = name.strip_suffix(" (extra)").unwrap_or(name);
    let ends = |host: &&String| name.strip_suffix(host.as_str()).is_some_and(|rest| rest.ends_with(' '));
    let fitting = hosts.iter().filter(ends).map(String::as_str);
    fitting.max_by_key(|host| host.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::common::station_name as station;
    use std::collections::BTreeSet;

    #[test]
    fn series_are_identified_by_name() {
        for (name, expected) in [
            ("TCP upload BE1 osx", Some(SeriesKind::Upload)),
            ("TCP download::12", Some(SeriesKind::Download)),
            ("TCP download::12::tcp_rtt", None),
            ("TCP download BE laptop", Some(SeriesKind::Download)),
            ("TCP download sum", None),
            ("TCP upload fairness", None),
            ("Ping (ms) ICMP3 osx", Some(SeriesKind::Ping)),
            ("Ping (ms) UDP BE1", Some(SeriesKind::Ping)),
            ("Ping (ms) avg", None),
            ("HTTP latency::2", Some(SeriesKind::Http)),
            ("VoIP::delay", None),
        ] {
            assert_eq!(series_kind(name), expected, "{name}");
        }
    }

    #[test]
    fn a_series_belongs_to_its_host() {
        let hosts = ["osx", "box osx", "server"].map(str::to_owned);
        assert_eq!(host("TCP upload BE1 osx", &hosts), Some("osx"));
        assert_eq!(host("TCP upload BE box osx", &hosts), Some("box osx"));
        assert_eq!(host("Ping (ms) ICMP server (extra)", &hosts), Some("server"));
        assert_eq!(host("Ping (ms) ICMP myserver", &hosts), None);
    }

    #[test]
    fn every_host_becomes_a_name() {
        let mut taken = BTreeSet::new();
        for (host, name) in [
            ("osx", "osx"),
            ("10.0.0.1", "10-0-0-1"),
            ("10-0-0.1", "10-0-0-1-2"),
            ("<script>", "script"),
            ("", "station"),
            ("é::", "station-2"),
            // Reserved: in a lab it is the host name of the server.
            ("server", "server-2"),
            ("Localhost", "Localhost-2"),
        ] {
            assert_eq!(station(host, &mut taken), name);
        }
    }
}
