//! The sources of an agent's values on each system. The reference page of the systems is this table.

/// Columns of [`FACILITIES`].
pub const SYSTEMS: [&str; 5] = ["Linux", "Windows", "macOS", "FreeBSD", "browser"];

/// Verification of each column.
pub const VERIFIED: [&str; 5] = [
    "tests on Linux",
    "tests under Wine; never run on Windows",
    "type check; never run",
    "type check; never run",
    "tests in Chromium and Firefox",
];

/// A value or an ability of an agent.
#[derive(Debug, Clone, Copy)]
pub struct Facility {
    /// Name, as in the documentation.
    pub name: &'static str,
    /// For each of [`SYSTEMS`]: its source, or `NONE`.
    pub sources: [&'static str; 5],
    /// Content of a run on a system without a source.
    pub otherwise: &'static str,
}

/// No source.
pub const NONE: &str = "–";

const fn facility(name: &'static str, sources: [&'static str; 5], otherwise: &'static str) -> Facility {
    Facility {
        name,
        sources,
        otherwise,
    }
}

/// All facilities on which systems differ.
pub const FACILITIES: [Facility; 13] = [
    facility(
        "timer finer than 1 ms",
        ["timerfd", "high-resolution waitable timer", NONE, NONE, NONE],
        "a timer of 1 ms; the self-check has its error",
    ),
    facility(
        "interface of the traffic",
        [
            "route",
            "GetBestInterfaceEx",
            "address of the route",
            "address of the route",
            NONE,
        ],
        "no link samples, with a note",
    ),
    facility(
        "bytes received by the interface",
        ["sysfs", "GetIfEntry2", NONE, NONE, NONE],
        "interruptions only by events",
    ),
    facility(
        "Wi-Fi link",
        ["nl80211", NONE, NONE, NONE, NONE],
        "no table `link`, with a note",
    ),
    facility(
        "state of TCP connections",
        ["TCP_INFO", NONE, NONE, NONE, NONE],
        "no rows of the station in the table `connections`",
    ),
    facility(
        "choice of the congestion control",
        ["TCP_CONGESTION", NONE, NONE, NONE, NONE],
        "the system's default, with a warning",
    ),
    facility(
        "DSCP of sent packets",
        ["IP_TOS", NONE, "IP_TOS", "IP_TOS", NONE],
        "unmarked packets, on Windows with a warning",
    ),
    facility(
        "DSCP of received datagrams",
        ["IP_RECVTOS", NONE, NONE, NONE, NONE],
        "the other side's observation only",
    ),
    facility(
        "probes `near` and `line`",
        ["ping socket", "IcmpSendEcho2", NONE, NONE, NONE],
        "no operations, with a warning",
    ),
    facility(
        "processor times for the self-check",
        ["/proc", "GetSystemTimes, without steal", NONE, NONE, NONE],
        "the self-check has no processor load",
    ),
    facility(
        "time of suspension",
        ["CLOCK_BOOTTIME", NONE, NONE, NONE, NONE],
        "a suspension is a standstill",
    ),
    facility(
        "traffic bound to an interface",
        ["SO_BINDTODEVICE", NONE, NONE, NONE, NONE],
        "`--interface` is an error",
    ),
    facility("lab", ["namespaces", NONE, NONE, NONE, NONE], "an error with status 2"),
];

#[cfg(all(test, any(target_os = "linux", windows)))]
mod tests {
    use super::*;
    use std::io;
    use std::net::Ipv4Addr;

    /// Returns whether the table has a source for this system.
    fn listed(name: &str) -> bool {
        let system = usize::from(cfg!(windows));
        let facility = FACILITIES.iter().find(|facility| facility.name == name);
        facility.expect("a facility of the table").sources[system] != NONE
    }

    #[tokio::test]
    async fn the_table_agrees_with_this_system() {
        let has =
            |result: io::Result<()>| result.map_or_else(|error| error.kind() != io::ErrorKind::Unsupported, |()| true);
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let loopback = crate::interface::towards(Ipv4Addr::LOCALHOST.into());
        for (name, result) in [
            (
                "bytes received by the interface",
                crate::interface::received(loopback.as_ref().unwrap()).map(drop),
            ),
            ("interface of the traffic", loopback.map(drop)),
            ("processor times for the self-check", crate::cpu::machine().map(drop)),
            (
                "probes `near` and `line`",
                crate::icmp::EchoSocket::new(Ipv4Addr::LOCALHOST, None).map(drop),
            ),
            ("state of TCP connections", crate::tcp_info(&listener).map(drop)),
            (
                "choice of the congestion control",
                crate::set_congestion_control(&listener, "cubic"),
            ),
            ("DSCP of sent packets", crate::set_dscp(&socket, 10)),
            (
                "traffic bound to an interface",
                crate::bind_to_device(&socket, "no-such"),
            ),
        ] {
            assert_eq!(has(result), listed(name), "{name}");
        }
    }
}
