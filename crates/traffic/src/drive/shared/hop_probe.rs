//! Probes to hosts on the way to the server, by ICMP echo requests.
//!
//! - `server`: the server itself, if it [answers pings](Target::pings) only.
//! - `near`: the default gateway. If the default route has no gateway, as on a link with one other end, the host that
//!   discards a packet to the server with a TTL of 1.
//! - `line`: the host that discards a packet to the server with a TTL of 2. It answers with "time exceeded" (RFC 792).
//!
//! Routers limit the number of these answers; Linux sends one each second to a host (`icmp_ratelimit`, icmp(7)). So the
//! answer only shows the address of the host. As soon as the host has answered a request to its own address, all further
//! requests go there.

use super::Shared;
use crate::client::{Meter, Target};
use netburn_platform::gateway::{NextHop, next_hop};
use netburn_platform::icmp::{EchoAnswer, EchoSocket, SETTING};
use netburn_record::row::baseline_target;
use netburn_record::{EventKind, EventRow, Row};
use netburn_units::ByteSize;
use netburn_workload::{ProbeTarget, RequestId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::rc::Rc;

/// Maximum number of requests whose answers are awaited. The oldest ones are lost.
const MAX_PENDING: usize = 2_000;

/// Pause after an error of a socket.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);
/// Maximum number of requests to the own address of a host that has not answered one yet.
const MAX_TRIALS: u32 = 8;

/// Sockets of one load's probes.
pub(super) struct HopSocket {
    first: EchoSocket,
    /// Socket to the own address of the host, once it is known.
    direct: RefCell<Option<Rc<EchoSocket>>>,
    discovery: RefCell<Discovery>,
    /// Operations by the sequence numbers of their requests.
    pending: RefCell<BTreeMap<u16, u64>>,
    way: Way,
    options: Options,
    meter: Rc<Meter>,
}

/// Options of each socket.
#[derive(Debug, Clone)]
struct Options {
    interface: Option<String>,
    dscp: u8,
}

/// Search for the own address of the host that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Discovery {
    /// The requests go to the host itself, or its address is not known yet.
    Unknown,
    /// Its address is known, and this number of requests was sent there.
    Trial(u32),
    /// It answers requests to its address.
    Direct,
    /// It answers only with "time exceeded".
    Indirect,
}

/// Way of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    /// With a TTL that ends at the host.
    First,
    /// The same, and a trial to the address of the host.
    FirstAndTrial,
    /// To the address of the host.
    Direct,
}

impl Discovery {
    /// Returns the way of the next request.
    fn request(&mut self) -> Request {
        match *self {
            Discovery::Unknown | Discovery::Indirect => Request::First,
            Discovery::Trial(MAX_TRIALS) => {
                *self = Discovery::Indirect;
                Request::First
            }
            Discovery::Trial(sent) => {
                *self = Discovery::Trial(sent + 1);
                Request::FirstAndTrial
            }
            Discovery::Direct => Request::Direct,
        }
    }

    /// A router sent its address. Returns whether it is new.
    fn found(&mut self) -> bool {
        let is_new = *self == Discovery::Unknown;
        if is_new {
            *self = Discovery::Trial(0);
        }
        is_new
    }

    /// The host answered a request to its address. Returns whether this is the answer of an operation.
    fn answered(&mut self) -> bool {
        std::mem::replace(self, Discovery::Direct) == Discovery::Direct
    }
}

/// Destination of the requests, and the expected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    to: Ipv4Addr,
    /// Hop whose router answers; `None` for the destination itself.
    hop: Option<u8>,
}

/// Opens the sockets of a load that probes a host on the way. Without one the load has no operations, and an event has the
/// reason.
pub(super) fn open(shared: &Rc<Shared>, index: usize, target: ProbeTarget) -> Option<Rc<HopSocket>> {
    let (station, workload) = shared.scheduler.borrow().place(index);
    let dscp = shared.scheduler.borrow().config(index).marking().dscp;
    match HopSocket::new(&shared.loads[index].target, target, dscp, Rc::clone(&shared.meter)) {
        Ok(socket) => {
            let socket = Rc::new(socket);
            tokio::task::spawn_local(listen(Rc::clone(shared), index, Rc::clone(&socket), None));
            Some(socket)
        }
        Err(reason) => {
            let now = shared.clock.now();
            let mut scheduler = shared.scheduler.borrow_mut();
            // The workload itself reports the reason, and its baseline does not repeat it.
            if baseline_target(workload).is_none() {
                scheduler.put(Row::Event(EventRow {
                    station: Some(station),
                    workload: Some(workload),
                    at: now,
                    length: 0,
                    kind: EventKind::Warning,
                    detail: format!("the probe to `{target}` is unavailable: {reason}").into(),
                }));
            }
            scheduler.handle_unavailable(index, now);
            None
        }
    }
}

/// The host that answers probes to `target`, for a server at `server`, by the routes towards the default gateway and
/// towards the server.
fn way(
    target: ProbeTarget,
    server: IpAddr,
    route: impl Fn(Ipv4Addr) -> io::Result<Option<NextHop>>,
) -> Result<Way, String> {
    let unreadable = |error: io::Error| format!("the routing table can't be read: {error}");
    let IpAddr::V4(server) = server else {
        return Err(format!(
            "found the IPv6 address {server} of the server, expected an IPv4 address"
        ));
    };
    let default = route(Ipv4Addr::UNSPECIFIED).map_err(unreadable)?;
    let default = default.filter(|hop| hop.is_default);
    match target {
        ProbeTarget::Near => match default {
            Some(NextHop {
                gateway: Some(gateway), ..
            }) => Ok(Way { to: gateway, hop: None }),
            Some(NextHop { gateway: None, .. }) => Ok(Way {
                to: server,
                hop: Some(1),
            }),
            None => Err("this system has no default route over IPv4".to_owned()),
        },
        ProbeTarget::Line => match route(server).map_err(unreadable)? {
            Some(hop) if hop.gateway.is_some() || hop.is_default => Ok(Way {
                to: server,
                hop: Some(2),
            }),
            Some(_) => Err(format!(
                "the server {server} is on the local network, so no hop beyond the router is on the way to it; use a server \
                 beyond the internet line"
            )),
            None => Err(format!("this system has no route to the server {server}")),
        },
        ProbeTarget::Server => Ok(Way { to: server, hop: None }),
    }
}

/// Reason for which the socket could not be opened, with the setting to change.
fn refused(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "this system does not permit ICMP sockets for this group: found {}, expected a range that contains the group; \
             help: sysctl -w {SETTING}=\"0 2147483647\"",
            permitted()
        ),
        io::ErrorKind::Unsupported => {
            "ICMP requests without privileges are implemented for Linux and Windows only".to_owned()
        }
        _ => format!("no ICMP socket: {error}"),
    }
}

/// The permitted groups, as the kernel prints them.
fn permitted() -> String {
    match std::fs::read_to_string("/proc/sys/net/ipv4/ping_group_range") {
        Ok(range) => {
            let range: Vec<&str> = range.split_whitespace().collect();
            format!("{SETTING} = \"{}\"", range.join(" "))
        }
        Err(error) => format!("{SETTING} that can't be read ({error})"),
    }
}

impl HopSocket {
    fn new(target: &Target, to: ProbeTarget, dscp: u8, meter: Rc<Meter>) -> Result<Self, String> {
        let interface = target.interface.clone();
        let way = way(to, target.address.ip(), |to| next_hop(to, interface.as_deref()))?;
        let options = Options { interface, dscp };
        let first = open_socket(way, &options).map_err(|error| refused(&error))?;
        Ok(HopSocket {
            first,
            direct: RefCell::default(),
            discovery: RefCell::new(Discovery::Unknown),
            pending: RefCell::default(),
            way,
            options,
            meter,
        })
    }

    /// Sends the request of an operation, in an IP packet as long as that of a datagram of `size` bytes. Returns whether
    /// the kernel accepted it.
    pub(super) fn send(&self, operation: u64, size: ByteSize) -> bool {
        let sequence = operation as u16;
        let mut pending = self.pending.borrow_mut();
        if pending.len() >= MAX_PENDING {
            pending.pop_first();
        }
        pending.insert(sequence, operation);
        drop(pending);
        // The headers of UDP and of an echo request have 8 bytes each.
        let content = vec![0; usize::try_from(size.as_bytes()).unwrap_or(0)];
        let request = self.discovery.borrow_mut().request();
        let direct = self.direct.borrow().clone();
        if let (Request::FirstAndTrial, Some(direct)) = (request, &direct) {
            // A trial that is not sent has no answer, as one that is lost.
            let _ = direct.send(sequence, &content);
        }
        let by = match (request, &direct) {
            (Request::Direct, Some(direct)) => direct,
            _ => &self.first,
        };
        let sent = by.send(sequence, &content).is_ok();
        if sent {
            self.meter.add_up(content.len());
        }
        sent
    }

    /// Processes an answer that the first socket received, or the direct one. Returns the operation that ends with it.
    fn handle_answer(&self, answer: EchoAnswer, is_direct: bool) -> Option<u64> {
        let sequence = match (answer, self.way.hop) {
            (EchoAnswer::Reply { sequence, length }, hop) if is_direct || hop.is_none() => {
                // A drive has no limit on received bytes.
                let _ = self.meter.add_down(length);
                if is_direct && !self.discovery.borrow_mut().answered() {
                    return None;
                }
                sequence
            }
            (EchoAnswer::TimeExceeded { sequence, .. }, Some(_)) if !is_direct => sequence,
            _ => return None,
        };
        self.pending.borrow_mut().remove(&sequence)
    }

    /// Opens the socket to the own address of the host that answered first.
    fn handle_router(&self, answer: EchoAnswer) -> Option<Rc<EchoSocket>> {
        let EchoAnswer::TimeExceeded { router, .. } = answer else {
            return None;
        };
        if !self.discovery.borrow_mut().found() {
            return None;
        }
        let way = Way { to: router, hop: None };
        let direct = open_socket(way, &self.options).ok().map(Rc::new);
        self.direct.borrow_mut().clone_from(&direct);
        direct
    }
}

/// Opens a socket.
fn open_socket(way: Way, options: &Options) -> io::Result<EchoSocket> {
    let socket = EchoSocket::new(way.to, way.hop)?;
    if options.dscp != 0 && netburn_platform::socket::SENDS_DSCP {
        socket.set_dscp(options.dscp)?;
    }
    if let Some(interface) = &options.interface {
        socket.bind_to_device(interface)?;
    }
    Ok(socket)
}

/// Receives the answers of the first socket, or of `direct`.
async fn listen(shared: Rc<Shared>, index: usize, of: Rc<HopSocket>, direct: Option<Rc<EchoSocket>>) {
    let socket = direct.as_deref().unwrap_or(&of.first);
    loop {
        let answer = match socket.receive().await {
            Ok(answer) => answer,
            // Requests are lost as long as the interface is down, for example.
            Err(error) => {
                tracing::debug!(%error, "an ICMP socket");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let at = shared.clock.now();
        if let Some(found) = of.handle_router(answer) {
            let listen = listen_directly(Rc::clone(&shared), index, Rc::clone(&of), found);
            tokio::task::spawn_local(listen);
        }
        if let Some(operation) = of.handle_answer(answer, direct.is_some()) {
            let id = RequestId { operation, object: 0 };
            shared.event(index, |machine, _| machine.handle_reply(at, id, None));
        }
    }
}

/// [`listen`] for the direct socket, as a boxed future: the type of a task that starts itself would be infinite.
fn listen_directly(
    shared: Rc<Shared>,
    index: usize,
    of: Rc<HopSocket>,
    direct: Rc<EchoSocket>,
) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(listen(shared, index, of, Some(direct)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 1);
    const OUTSIDE: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 9);
    const INSIDE: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 5);

    /// A home: 192.168.1.0/24 is connected, everything else is behind the gateway.
    fn home(to: Ipv4Addr) -> io::Result<Option<NextHop>> {
        let inside = to.octets()[..3] == [192, 168, 1];
        Ok(Some(NextHop {
            gateway: (!inside).then_some(GATEWAY),
            is_default: !inside,
        }))
    }

    #[test]
    fn the_gateway_is_near_and_the_second_hop_is_the_line() {
        let near = way(ProbeTarget::Near, OUTSIDE.into(), home).unwrap();
        assert_eq!(near, Way { to: GATEWAY, hop: None });
        let line = way(ProbeTarget::Line, OUTSIDE.into(), home).unwrap();
        assert_eq!(
            line,
            Way {
                to: OUTSIDE,
                hop: Some(2)
            }
        );
        // The gateway does not depend on the server.
        assert_eq!(way(ProbeTarget::Near, INSIDE.into(), home), Ok(near));
    }

    #[test]
    fn without_a_gateway_the_first_hop_is_near() {
        let link = |_| {
            Ok(Some(NextHop {
                gateway: None,
                is_default: true,
            }))
        };
        let near = way(ProbeTarget::Near, OUTSIDE.into(), link).unwrap();
        assert_eq!(
            near,
            Way {
                to: OUTSIDE,
                hop: Some(1)
            }
        );
        assert_eq!(way(ProbeTarget::Line, OUTSIDE.into(), link).unwrap().hop, Some(2));
    }

    #[test]
    fn hosts_that_do_not_exist_have_a_reason() {
        let reason = |target, server: IpAddr, route: fn(Ipv4Addr) -> io::Result<Option<NextHop>>| {
            way(target, server, route).unwrap_err()
        };
        assert_eq!(
            reason(ProbeTarget::Line, INSIDE.into(), home),
            "the server 192.168.1.5 is on the local network, so no hop beyond the router is on the way to it; use a server \
             beyond the internet line"
        );
        assert_eq!(
            reason(ProbeTarget::Near, OUTSIDE.into(), |_| Ok(None)),
            "this system has no default route over IPv4"
        );
        assert_eq!(
            reason(ProbeTarget::Line, OUTSIDE.into(), |_| Ok(None)),
            "this system has no route to the server 203.0.113.9"
        );
        assert_eq!(
            reason(ProbeTarget::Near, IpAddr::V6(std::net::Ipv6Addr::LOCALHOST), home),
            "found the IPv6 address ::1 of the server, expected an IPv4 address"
        );
    }

    /// The request with the small TTL shows the address. The next ones are sent twice, until the host has answered one
    /// to its address.
    #[test]
    fn requests_go_to_the_host_itself_once_it_answers() {
        let mut discovery = Discovery::Unknown;
        assert_eq!(discovery.request(), Request::First);
        assert!(discovery.found());
        assert!(!discovery.found(), "the address is known");
        assert_eq!(discovery.request(), Request::FirstAndTrial);
        assert!(!discovery.answered(), "the answer to a trial");
        assert_eq!(discovery.request(), Request::Direct);
        assert!(discovery.answered());
    }

    #[test]
    fn a_host_without_answers_is_asked_eight_times() {
        let mut discovery = Discovery::Unknown;
        assert!(discovery.found());
        let requests: Vec<Request> = (0..10).map(|_| discovery.request()).collect();
        assert_eq!(requests[..8], [Request::FirstAndTrial; 8]);
        assert_eq!(requests[8..], [Request::First; 2]);
        assert!(!discovery.found());
    }

    #[test]
    fn a_refused_socket_names_the_setting() {
        let reason = refused(&io::ErrorKind::PermissionDenied.into());
        assert!(reason.starts_with("this system does not permit ICMP sockets for this group: found "));
        assert!(
            reason.ends_with("help: sysctl -w net.ipv4.ping_group_range=\"0 2147483647\""),
            "{reason}"
        );
    }
}
