//! Settings of the kernel in each node that a plan determines. Without system calls.

use netburn_scenario::Plan;
use netburn_scenario::plan::Station;

/// Limit of TCP Small Queues in a Wi-Fi station's kernel, in bytes of `truesize` (`tcp_limit_output_bytes`): two
/// packets. The lab accepts further packets up to the send budget.
const TSQ_LIMIT: u32 = 4_096;

/// Use of ECN by TCP (`tcp_ecn`, Documentation/networking/ip-sysctl.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Neither requested nor accepted.
    Off,
    /// Requested by outgoing connections, and accepted.
    Requested,
    /// Accepted if the peer requests it: the default of Linux.
    Accepted,
}

impl Ecn {
    /// Returns the value of the sysctl.
    #[must_use]
    pub const fn sysctl(self) -> u32 {
        match self {
            Ecn::Off => 0,
            Ecn::Requested => 1,
            Ecn::Accepted => 2,
        }
    }
}

/// Settings of one node's kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSettings {
    /// Kernel name of the congestion control; `None` for the default of the lab.
    pub control: Option<String>,
    /// Use of ECN.
    pub ecn: Ecn,
    /// True if TCP Small Queues act above the device.
    pub small_queues: bool,
    /// `tcp_limit_output_bytes`; `None` for the kernel's default.
    pub output_limit: Option<u32>,
}

/// Returns the settings of all nodes: of the server, then of the stations.
#[must_use]
pub fn kernel_settings(plan: &Plan) -> Vec<KernelSettings> {
    let server = KernelSettings {
        control: plan.server.cc.as_ref().map(|control| control.name().to_owned()),
        ecn: if plan.server.ecn { Ecn::Accepted } else { Ecn::Off },
        small_queues: false,
        output_limit: None,
    };
    std::iter::once(server)
        .chain(plan.stations.iter().map(station))
        .collect()
}

fn station(station: &Station) -> KernelSettings {
    let small_queues = station.tsq.unwrap_or_default().settings().is_some();
    KernelSettings {
        control: station.cc.as_ref().map(|control| control.name().to_owned()),
        ecn: if station.ecn { Ecn::Requested } else { Ecn::Accepted },
        // Without TCP Small Queues, the kernel sends without a limit.
        small_queues,
        // Wired stations use the kernel's default.
        output_limit: (small_queues && station.link.is_none()).then_some(TSQ_LIMIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux accepts ECN by default and does not request it (`tcp_ecn` 2).
    #[test]
    fn keys_set_the_kernels() {
        let settings = |server: &str, of: &str| {
            let text = format!(
                "[server]\n{server}\n[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\n\
                 workload = \"upload\"\n{of}\n"
            );
            let document = netburn_scenario::Document::from_toml("s.toml", &text).unwrap();
            let settings = kernel_settings(&document.resolve().unwrap());
            assert_eq!(settings.len(), 2);
            (settings[0].clone(), settings[1].clone())
        };
        let (server, station) = settings("", "");
        assert_eq!((server.ecn.sysctl(), station.ecn.sysctl()), (2, 2));
        assert_eq!((server.output_limit, station.output_limit), (None, Some(TSQ_LIMIT)));
        let (server, station) = settings("ecn = false\ncc = \"bbr\"", "ecn = true\ntsq = \"off\"");
        assert_eq!((server.ecn.sysctl(), station.ecn.sysctl()), (0, 1));
        assert_eq!(server.control.as_deref(), Some("bbr"));
        assert_eq!((station.small_queues, station.output_limit), (false, None));
    }
}
