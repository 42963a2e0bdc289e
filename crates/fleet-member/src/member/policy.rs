//! A member's policy for its part in a run: server, limits and notes.

use super::limits::Limits;
use super::rate_budget::RateBudget;
use crate::endpoint::SocketAddrs;
use crate::reachability::{self, ProbeResult};
use netburn_platform::clock::local_hour;
use netburn_protocol::messages::Ready;
use netburn_record::Row;
use netburn_run_control::agent::{AgentPolicy, Part};
use netburn_traffic::client::Total;
use netburn_traffic::consent::fleet::FleetKey;
use netburn_traffic::server::{PORT, with_port};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Averaging time of the rate limit.
const RATE_WINDOW: Duration = Duration::from_secs(2);

/// Bytes that may precede the pacing in a window: initial windows of streams, and pieces.
const BURST_ALLOWANCE: u64 = 256 * 1024;

/// Maximum number of addresses of a server that are tried, in the order of the resolver.
const MAX_ADDRESSES: usize = 3;

/// Policy of a member.
#[derive(Debug, Clone)]
pub(super) struct MemberPolicy {
    pub(super) key: FleetKey,
    /// Addresses of the connection to the controller. A server without an address of its own is at the
    /// controller's.
    pub(super) connection_addresses: SocketAddrs,
    pub(super) server: Option<ServerName>,
    pub(super) interface: Option<String>,
    pub(super) limits: Limits,
    /// Bytes moved in all runs, if the rate is limited.
    pub(super) rate_budget: Option<RateBudget>,
    pub(super) usage: Usage,
    /// Workloads that are paced to the rate, by station and index.
    pub(super) paced: BTreeSet<(u16, u16)>,
    /// Bytes moved, including headers and framing.
    pub(super) total: Total,
}

/// Host and port of a server, as entered by a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerName {
    host: String,
    port: u16,
}

/// Bytes moved so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Bytes charged to the budget, down and up.
    charged: (u64, u64),
    /// Content, down and up.
    content: (u64, u64),
    /// Start of the current window for all bytes on the wire, with the bytes at that time: down and up.
    wire: Option<(Instant, u64, u64)>,
    /// Start of the current window for content, with the content in it: down and up.
    window: Option<(Instant, u64, u64)>,
    limit_reached: bool,
}

impl std::str::FromStr for ServerName {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerName, String> {
        let wrong = || "expected an address such as `192.168.1.2`, `nas.local:4480` or `[::1]:4480`".to_owned();
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or_else(wrong)?;
                (
                    host,
                    if port.is_empty() {
                        None
                    } else {
                        Some(port.strip_prefix(':').ok_or_else(wrong)?)
                    },
                )
            }
            None if text.matches(':').count() > 1 => (text, None),
            None => text
                .split_once(':')
                .map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| wrong()))?;
        if host.is_empty() || port == 0 || host.contains(['/', '[', ']', ' ']) {
            Err(wrong())
        } else {
            Ok(ServerName {
                host: host.to_owned(),
                port,
            })
        }
    }
}

impl std::fmt::Display for ServerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl AgentPolicy for MemberPolicy {
    async fn review(&mut self, part: &mut Part) -> Result<Ready, String> {
        // Checked at the assignment, not at the invitation, because the controller chooses the time between
        // them.
        self.limits.allow(part, local_hour())?;
        if let Some(wait) = self.rate_budget.as_ref().and_then(RateBudget::wait) {
            let seconds = Duration::from_secs(wait.as_nanos().div_ceil(1_000_000_000));
            return Err(format!(
                "this device moved more than its limit on the rate allows; it takes part again in {seconds}"
            ));
        }
        let mut notes = Vec::new();
        self.paced = self.limits.pace(part);
        if let Some(rate) = part
            .target
            .limit
            .filter(|rate| !is_slower(part, *rate, self.server.is_some()))
        {
            notes.push(format!("limited to {rate} by this device"));
        }
        if let Some(interface) = &self.interface {
            notes.push(format!("measured through {interface} only"));
        }
        let addresses: Vec<SocketAddr>;
        if let Some(server) = &self.server {
            let found = tokio::net::lookup_host((server.host.as_str(), server.port)).await;
            let found = found.map_err(|error| format!("the server {server} is not found: {error}"))?;
            addresses = found.take(MAX_ADDRESSES).collect();
            part.target.datagram_port = None;
            if part.target.tls.take().is_some() {
                notes.push(format!("measured against {server} without TLS"));
            } else {
                notes.push(format!("measured against {server}, not the run's own server"));
            }
        } else {
            addresses = candidates(
                part.target.address,
                &part.alternatives,
                self.connection_addresses.theirs,
            );
        }
        part.target.interface = self.interface.clone();
        part.target.total = Some(self.total.clone());
        let mut looked = None;
        for address in addresses {
            part.target.address = address;
            part.target.host = match address {
                SocketAddr::V4(at) => at.ip().to_string(),
                SocketAddr::V6(at) => format!("[{}]", at.ip()),
            };
            let found = reachability::probe(part.target.clone(), self.key.clone()).await;
            let answers = found.reach.tcp.is_none();
            looked = Some(found);
            if answers {
                break;
            }
        }
        let Some(ProbeResult { reach, consent }) = looked else {
            return Err("the server has no address".to_owned());
        };
        let at = part.target.address;
        match consent {
            // Only the server's consent names the datagram port. A server on another port has not
            // consented.
            Ok(consent) => part.target.datagram_port = consent.datagram_port,
            // Without consent no traffic is sent, whatever messages follow.
            Err(_) if reach.tcp.is_some() => part.stations.clear(),
            Err(why) => return Err(format!("it can't measure against the server at {at}: {why}")),
        }
        Ok(Ready {
            reach: Some(reach),
            own_server: self.server.is_some(),
            notes,
            ..Ready::default()
        })
    }

    fn check(&mut self, rows: &[Row], now: Instant) -> Option<String> {
        let content = rows.iter().filter_map(|row| match row {
            Row::Interval(row) => Some((row.bytes_down, row.bytes_up)),
            _ => None,
        });
        let content = content.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        let charged = self.usage.take_uncharged(content, self.total.bytes());
        if let Some(rate_budget) = &self.rate_budget {
            rate_budget.charge(charged.0, charged.1);
        }
        let beyond = rows.iter().find_map(|row| match row {
            Row::Interval(row) => {
                let paced = self.paced.contains(&(row.station, row.workload));
                self.usage
                    .add(&self.limits, row.at, row.bytes_down, row.bytes_up, paced)
            }
            _ => None,
        });
        beyond.or_else(|| self.usage.wire(&self.limits, now, self.total.bytes()))
    }
}

/// Addresses of the run's server, in the order in which they are tried. A server at an unspecified address is on the
/// controller's machine, whose address is `controller`.
fn candidates(server: SocketAddr, alternatives: &[IpAddr], controller: Option<SocketAddr>) -> Vec<SocketAddr> {
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    if server.ip().is_unspecified() {
        // A link-local address needs its scope.
        return vec![with_port(controller.unwrap_or(here), server.port())];
    }
    let alternatives = alternatives.iter().map(|ip| SocketAddr::new(*ip, server.port()));
    let all = std::iter::once(server).chain(alternatives);
    all.take(MAX_ADDRESSES).collect()
}

/// Returns whether the plan limits the server's link to at most `rate`. A device's own server is not
/// limited by the plan.
fn is_slower(part: &Part, rate: BitRate, own_server: bool) -> bool {
    !own_server && part.plan.server.link.rate.is_some_and(|link| link <= rate)
}

impl Usage {
    /// Adds `content` and the total bytes on the wire. Returns the bytes that are not charged yet.
    fn take_uncharged(&mut self, content: (u64, u64), wire: (u64, u64)) -> (u64, u64) {
        self.content = (self.content.0 + content.0, self.content.1 + content.1);
        let all = (self.content.0.max(wire.0), self.content.1.max(wire.1));
        let before = std::mem::replace(&mut self.charged, all);
        (all.0.saturating_sub(before.0), all.1.saturating_sub(before.1))
    }

    /// Adds the bytes of the interval that begins at `at`. Returns the reason to stop, if a limit is
    /// exceeded. Paced workloads are not counted.
    fn add(&mut self, limits: &Limits, at: Instant, down: u64, up: u64, paced: bool) -> Option<String> {
        let (down, up) = if paced { (0, 0) } else { (down, up) };
        let (since, before_down, before_up) = *self.window.get_or_insert((at, 0, 0));
        let (window_down, window_up) = (before_down + down, before_up + up);
        self.window = Some((since, window_down, window_up));
        if self.limit_reached {
            return None;
        }
        let mut why = None;
        if at.checked_since(since).is_some_and(|span| span >= RATE_WINDOW) {
            let span = at.checked_since(since).unwrap_or(RATE_WINDOW);
            let bits = u128::from(window_down.max(window_up)) * 8 * 1_000_000_000 / u128::from(span.as_nanos().max(1));
            self.window = None;
            why = limits
                .rate
                .filter(|limit| bits > u128::from(limit.as_bps()))
                .map(|limit| too_fast(limit, bits));
        }
        self.limit_reached = why.is_some();
        why
    }

    /// Checks the total bytes on the wire, including headers and framing. Returns the reason to stop, if a
    /// limit is exceeded. [`add`](Self::add) checks content; here the rate must be exceeded by 25 %.
    fn wire(&mut self, limits: &Limits, now: Instant, (down, up): (u64, u64)) -> Option<String> {
        let (since, before_down, before_up) = *self.wire.get_or_insert((now, down, up));
        if self.limit_reached {
            return None;
        }
        let mut why = limits
            .bytes
            .filter(|limit| down + up > limit.as_bytes())
            .map(|limit| format!("limit of this device exceeded: at most {limit} in a run"));
        let span = now.checked_since(since).unwrap_or(Duration::ZERO);
        if span >= RATE_WINDOW {
            self.wire = Some((now, down, up));
            let usage = (down - before_down).max(up - before_up);
            why = why.or_else(|| {
                let limit = limits.rate?;
                let bits = |bytes: u64| u128::from(bytes) * 8 * 1_000_000_000 / u128::from(span.as_nanos());
                let beyond = bits(usage.saturating_sub(BURST_ALLOWANCE)) * 4 > u128::from(limit.as_bps()) * 5;
                beyond.then(|| too_fast(limit, bits(usage)))
            });
        }
        self.limit_reached = why.is_some();
        why
    }
}

fn too_fast(limit: BitRate, bits: u128) -> String {
    let got = BitRate::from_bps(u64::try_from(bits).unwrap_or(u64::MAX));
    format!("limit of this device exceeded: found {got}, at most {limit}")
}

impl Limits {
    /// Paces the workloads of a part that use all available bandwidth. Returns them by station and index.
    /// Ignores the plan's network limits, which the controller sets.
    fn pace(&self, part: &mut Part) -> BTreeSet<(u16, u16)> {
        let Some(limit) = self.rate else { return BTreeSet::new() };
        let mut paced = BTreeSet::new();
        for &number in &part.stations {
            let workloads = part.plan.stations[usize::from(number)].workloads.iter().zip(0u16..);
            let greedy = workloads.filter(|(workload, _)| workload.config.bulk().is_some());
            paced.extend(greedy.map(|(_, place)| (number, place)));
        }
        if !paced.is_empty() {
            part.target.limit = Some(limit);
        }
        paced
    }

    /// Checks a part against the limits at this hour of the day.
    fn allow(&self, part: &Part, hour: u8) -> Result<(), String> {
        let lasts = part.plan.baseline + part.plan.duration + part.plan.drain;
        if let Some(limit) = self.duration.filter(|limit| lasts > *limit) {
            return Err(format!(
                "the run is too long for this device: found {lasts}, at most {limit}"
            ));
        }
        if let Some(hours) = self.hours.filter(|hours| !hours.contain(hour)) {
            return Err(format!(
                "this device takes part only during the hours {hours}; it is {hour} o'clock"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Document, Environment};
    use netburn_traffic::client::Target;
    use netburn_units::ByteSize;

    fn part(text: &str) -> Part {
        let (plan, _) = Document::from_toml("t.toml", text)
            .unwrap()
            .resolve_for(Environment::Fleet)
            .unwrap();
        Part {
            plan,
            stations: vec![0],
            target: Target::new("127.0.0.1:1".parse().unwrap()),
            alternatives: Vec::new(),
        }
    }

    const CALM: &str = "duration = \"60 s\"\nbaseline = \"5 s\"\ndrain = \"5 s\"\n[station.a]\nworkload = \"voip\"\n";
    const GREEDY: &str = "duration = \"60 s\"\n[station.a]\nworkload = \"download\"\n";

    #[test]
    fn parts_beyond_the_limits_are_rejected_with_the_reason() {
        let none = Limits::default();
        assert_eq!(none.allow(&part(GREEDY), 3), Ok(()));
        let short = Limits {
            duration: Some(Duration::from_secs(69)),
            ..none
        };
        let why = short.allow(&part(CALM), 3).unwrap_err();
        assert_eq!(why, "the run is too long for this device: found 70 s, at most 69 s");
        let enough = Limits {
            duration: Some(Duration::from_secs(70)),
            ..none
        };
        assert_eq!(enough.allow(&part(CALM), 3), Ok(()));
        let evening = Limits {
            hours: "18-23".parse().ok(),
            ..none
        };
        assert!(evening.allow(&part(CALM), 17).unwrap_err().contains("18-23"));
        assert_eq!(evening.allow(&part(CALM), 18), Ok(()));
        let slow = Limits {
            rate: Some(BitRate::from_mbps(50)),
            ..none
        };
        let paced = |text: &str| {
            let mut part = part(text);
            let paced = slow.pace(&mut part);
            (paced.into_iter().collect::<Vec<_>>(), part.target.limit)
        };
        let kept = (vec![(0, 0)], Some(BitRate::from_mbps(50)));
        assert_eq!(paced(GREEDY), kept);
        assert_eq!(paced(CALM), (vec![], None));
        let bounded = format!(
            "[server]\nlink = {{ rate = \"40 Mbit/s\" }}\n{}",
            GREEDY.replace("duration = \"60 s\"\n", "")
        );
        assert_eq!(
            paced(&bounded),
            kept,
            "that the scenario keeps below it is the controller's word"
        );
        let said = |own_server| !is_slower(&part(&bounded), BitRate::from_mbps(50), own_server);
        assert_eq!(
            (said(false), said(true)),
            (false, true),
            "only this device's own server is limited by it"
        );
    }

    /// A controller that sends false values: of the network, and of the server's datagram port.
    #[test]
    fn a_controllers_values_change_no_limit_and_no_datagram_port() {
        use netburn_traffic::server::{Server, ServerConfig};
        let bounded = format!(
            "[server]\nlink = {{ rate = \"1 Mbit/s\" }}\n{}",
            GREEDY.replace("duration = \"60 s\"\n", "")
        );
        let rate = Some(BitRate::from_mbps(8));
        let mut policy = MemberPolicy {
            key: FleetKey::new("token"),
            connection_addresses: SocketAddrs {
                ours: None,
                theirs: None,
            },
            server: None,
            interface: None,
            limits: Limits {
                rate,
                ..Limits::default()
            },
            rate_budget: rate.map(RateBudget::new),
            usage: Usage::default(),
            paced: BTreeSet::new(),
            total: Total::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (mut part, ready, port) = runtime.block_on(async {
            let config = ServerConfig {
                listen: vec!["127.0.0.1:0".parse().unwrap()],
                fleet: Some(FleetKey::new("token")),
                ..ServerConfig::default()
            };
            let server = Server::bind(config).await.unwrap();
            let (http, datagrams) = (server.addresses().http[0], server.addresses().datagrams[0].port());
            let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
            let serving = tokio::spawn(server.run(async { drop(stopped.await) }));
            let mut part = part(&bounded);
            part.target.address = http;
            // The discard port (RFC 863). No server has consented there.
            part.target.datagram_port = Some(9);
            let ready = policy.review(&mut part).await.unwrap();
            drop(stop);
            serving.await.unwrap().unwrap();
            (part, ready, datagrams)
        });
        assert_eq!(part.target.limit, rate);
        assert_eq!(part.target.datagram_port, Some(port));
        assert_eq!(ready.notes, [] as [String; 0], "by the controller's word it is slower");
        // Traffic above the rate in one run is charged to the next: 100 MB are 100 s at 8 Mbit/s.
        let row = Row::Interval(netburn_record::IntervalRow {
            station: 0,
            workload: 0,
            at: Instant::ZERO,
            bytes_down: 100_000_000,
            bytes_up: 0,
        });
        policy.check(&[row], Instant::ZERO);
        let why = runtime.block_on(policy.review(&mut part)).unwrap_err();
        let (said, wait) = why.rsplit_once(" in ").unwrap();
        assert_eq!(
            said,
            "this device moved more than its limit on the rate allows; it takes part again"
        );
        let wait: Duration = wait.parse().unwrap();
        assert!(
            (Duration::from_secs(40)..=Duration::from_secs(100)).contains(&wait),
            "{why}"
        );
    }

    #[test]
    fn bytes_and_rate_end_a_part_once() {
        let limits = Limits {
            bytes: Some(ByteSize::from_bytes(1000)),
            ..Limits::default()
        };
        let mut usage = Usage::default();
        let at = |tenths: i64| Instant::from_nanos(tenths * 100_000_000);
        assert_eq!(usage.wire(&limits, at(0), (600, 400)), None);
        assert!(usage.wire(&limits, at(1), (601, 400)).is_some());
        assert_eq!(usage.wire(&limits, at(2), (602, 400)), None, "said once");
        // 8 Mbit/s are 100 kB in 0.1 s.
        let limits = Limits {
            rate: Some(BitRate::from_mbps(8)),
            ..Limits::default()
        };
        let mut usage = Usage::default();
        for tenth in 0..40 {
            assert_eq!(
                usage.add(&limits, at(tenth), 90_000, 90_000, false),
                None,
                "each way for itself"
            );
        }
        let mut usage = Usage::default();
        let stopped = (0..40).position(|tenth| usage.add(&limits, at(tenth), 110_000, 0, false).is_some());
        assert_eq!(stopped, Some(20), "after a window of two seconds");
        let mut usage = Usage::default();
        for tenth in 0..40 {
            let paced = usage.add(&limits, at(tenth), 200_000, 0, true);
            assert_eq!(paced, None, "others pay for what it moves");
        }
        // Headers and framing are charged in addition to content, and nothing is charged twice.
        assert_eq!(usage.take_uncharged((100, 0), (0, 0)), (100, 0));
        assert_eq!(usage.take_uncharged((0, 0), (150, 20)), (50, 20));
        assert_eq!(usage.take_uncharged((10, 0), (160, 20)), (10, 0));
        // Ten times the rate in headers and framing, which no row contains.
        let mut usage = Usage::default();
        let stopped = (0..40_i64).position(|tenth| {
            let down = tenth.cast_unsigned() * 1_000_000;
            usage.wire(&limits, at(tenth), (down, 0)).is_some()
        });
        assert_eq!(stopped, Some(20), "after a window of two seconds");
        let mut usage = Usage::default();
        for tenth in 0..40_i64 {
            let down = tenth.cast_unsigned() * 110_000 + 200_000;
            assert_eq!(
                usage.wire(&limits, at(tenth), (down, 0)),
                None,
                "a tenth more, and a first window"
            );
        }
    }

    #[test]
    fn servers_as_people_write_them() {
        let name = |text: &str| text.parse::<ServerName>().map(|name| name.to_string());
        assert_eq!(name("server").as_deref(), Ok("server:4480"));
        assert_eq!(name("10.0.0.2:80").as_deref(), Ok("10.0.0.2:80"));
        assert_eq!(name("::1").as_deref(), Ok("[::1]:4480"));
        assert_eq!(name("[::1]:9").as_deref(), Ok("[::1]:9"));
        for wrong in ["", ":80", "a:b", "a:0", "http://a", "[::1", "[::1]9"] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
