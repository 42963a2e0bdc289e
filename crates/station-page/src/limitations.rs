//! Limitations of a browser as an agent, as sentences for the record.

use crate::lanes::CONNECTIONS;
use crate::load::Load;
use netburn_workload::{Config, ProbeTarget};

/// Returns the reason why a workload cannot run. `channel_error` is the reason why there is no data channel.
pub(crate) fn obstacle(config: &Config, channel_error: Option<&str>) -> Option<String> {
    if config.responsiveness().is_some() {
        return Some("a browser does not measure the handshakes of its connections".to_owned());
    }
    if !config.kind().is_datagram() {
        return None;
    }
    if config.target().is_some_and(|target| target != ProbeTarget::Server) {
        return Some("a browser sends datagrams only to the server".to_owned());
    }
    channel_error.map(str::to_owned)
}

/// Returns the notes for these workloads, on a page whose clock has a resolution of `resolution` ns. The server has `ports`
/// ports.
pub(crate) fn notes(loads: &[Load], resolution: u64, channel_error: Option<&str>, ports: usize) -> Vec<String> {
    let runs = |load: &&Load| obstacle(&load.config, channel_error).is_none();
    let is_datagram = |load: &&Load| load.config.kind().is_datagram();
    let over_http = loads.iter().filter(runs).filter(|load| !is_datagram(load)).count();
    let shared = match (over_http > ports, ports) {
        (false, _) => "each workload has a port of its own".to_owned(),
        (true, 1) => {
            format!("{over_http} workloads share one port, and a wait for another workload counts as start delay")
        }
        (true, _) => {
            format!("{over_http} workloads share {ports} ports, and a wait for another workload counts as start delay")
        }
    };
    let general = [
        format!("it opens at most {CONNECTIONS} connections to one port over HTTP/1.1; {shared}"),
        format!(
            "its clock steps by {}, and its timers have a resolution of 1 ms",
            step(resolution)
        ),
        "it provides no statistics of its connections, its processor or its Wi-Fi".to_owned(),
        "uploaded bytes count when the browser hands them to the system, possibly before they leave the device"
            .to_owned(),
        "a failure before the first byte counts as a connection failure, because a browser does not report the cause"
            .to_owned(),
        "idle latency is measured with one-byte HTTP requests".to_owned(),
        "timers and requests of a page in the background may be late; the events contain these periods".to_owned(),
    ];
    // One note, so that the others are found beside it.
    let mut notes = vec![format!("limits of a browser: {}", general.join("; "))];
    for load in loads.iter().filter(runs) {
        let (name, station) = (&load.name, &load.station_name);
        if load.config.marking().dscp != 0 {
            notes.push(format!(
                "a browser cannot set a DSCP: for {name} of {station}, only the server's responses have it"
            ));
        }
        if let Some(cc) = load.cc.as_ref().filter(|_| !is_datagram(&load)) {
            notes.push(format!(
                "a browser cannot select a congestion control: for {name} of {station}, only the server uses `{cc}`"
            ));
        }
    }
    for load in loads {
        if let Some(reason) = obstacle(&load.config, channel_error) {
            notes.push(format!("{} of {} is skipped: {reason}", load.name, load.station_name));
        }
    }
    if loads.iter().filter(runs).any(|load| is_datagram(&load)) {
        notes.push(
            "datagrams of a browser are messages of a WebRTC data channel, unordered and without retransmissions: each is 65 \
             bytes longer than one of an agent, and the congestion control of SCTP delays or drops messages above the rate of \
             the path"
                .to_owned(),
        );
    }
    notes
}

fn step(nanos: u64) -> String {
    let nanos = nanos.max(1) as f64;
    if nanos >= 1e6 {
        format!("{} ms", two_digits(nanos / 1e6))
    } else {
        format!("{} µs", two_digits(nanos / 1e3))
    }
}

/// Rounds to two significant digits.
fn two_digits(value: f64) -> f64 {
    let scale = 10_f64.powi(1 - value.log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_workloads_with_datagrams_need_a_channel() {
        let with = |config| [None, Some("no channel")].map(|error| obstacle(&config, error));
        let no_channel = || Some("no channel".to_owned());
        assert_eq!(with(Config::voip()), [None, None]);
        assert_eq!(with(Config::dash()), [None, None]);
        assert_eq!(with(Config::probe()), [None, no_channel()]);
        assert_eq!(with(Config::video_call()), [None, no_channel()]);
        let handshakes = || Some("a browser does not measure the handshakes of its connections".to_owned());
        assert_eq!(with(Config::responsiveness()), [handshakes(), handshakes()]);
    }
}
