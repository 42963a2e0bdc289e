//! Probes: datagrams that the server echoes.

use super::Shared;
use crate::client::{Meter, Target};
use crate::datagram::{Arrivals, Event, MAX_SIZE, Prober};
use netburn_platform::datagram::{enable_dscp, receive};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::{ProbeTarget, RequestId};
use ring::rand::{SecureRandom, SystemRandom};
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Socket and handshake of one load's probes.
pub(in crate::drive) struct ProbeSocket {
    socket: UdpSocket,
    prober: RefCell<Prober>,
    arrivals: RefCell<Arrivals>,
    meter: Rc<Meter>,
    /// A probe was sent, so the prober's timeout may have changed.
    changed: Notify,
}

/// Opens a socket for every load that probes, so that the handshake is complete when the first probe is due.
pub(in crate::drive) fn open(shared: &Rc<Shared>) {
    for (index, link) in shared.links.iter().enumerate() {
        let (target, dscp) = {
            let scheduler = shared.scheduler.borrow();
            let config = scheduler.config(index);
            (config.target(), config.marking().dscp)
        };
        if target != Some(ProbeTarget::Server) {
            continue;
        }
        match ProbeSocket::new(&link.target, dscp, shared.clock.now(), Rc::clone(&shared.meter)) {
            Ok(probe_socket) => {
                let probe_socket = Rc::new(probe_socket);
                *link.probe_socket.borrow_mut() = Some(Rc::clone(&probe_socket));
                tokio::task::spawn_local(listen(Rc::clone(shared), index, probe_socket));
            }
            Err(error) => tracing::warn!(%error, address = %link.target.datagrams(), "no socket for probes"),
        }
    }
}

/// Sends a probe. One that cannot be sent is never answered, and times out.
pub(super) fn send(shared: &Rc<Shared>, index: usize, id: RequestId, size: ByteSize) {
    let probe_socket = shared.links[index].probe_socket.borrow().clone();
    let sent = probe_socket.is_some_and(|probe_socket| {
        let now = shared.clock.now();
        probe_socket.prober.borrow_mut().probe(now, id.operation, size);
        probe_socket.changed.notify_one();
        probe_socket.transmit()
    });
    if !sent {
        shared.scheduler.borrow_mut().handle_unsent();
    }
}

/// Returns whether the target's server answers a handshake within `patience`.
pub(in crate::drive) async fn answers(target: &Target, patience: std::time::Duration) -> bool {
    let clock = crate::clock::RunClock::starting_now();
    let meter = Rc::new(Meter::new(clock, None, target.total.clone()));
    let Ok(probe_socket) = ProbeSocket::new(target, 0, clock.now(), meter) else {
        return false;
    };
    let ready = async {
        loop {
            let mut is_ready = false;
            probe_socket
                .step(&clock, |_, event| is_ready |= event == Event::Ready)
                .await;
            if is_ready {
                return;
            }
        }
    };
    tokio::time::timeout(patience, ready).await.is_ok()
}

async fn listen(shared: Rc<Shared>, index: usize, probe_socket: Rc<ProbeSocket>) {
    let mut echoes = Vec::new();
    loop {
        probe_socket
            .step(&shared.clock, |now, event| {
                if let Event::Echo { id, far, .. } = event {
                    echoes.push((now, id, far));
                }
            })
            .await;
        for (at, operation, far) in echoes.drain(..) {
            let id = RequestId { operation, object: 0 };
            shared.event(index, |machine, _| machine.handle_reply(at, id, Some(far)));
        }
    }
}

/// Opens a socket to the datagram port of the target's server, with this DSCP.
pub(super) fn connected_socket(target: &Target, dscp: u8) -> io::Result<UdpSocket> {
    let to = target.datagrams();
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind(SocketAddr::new(any, 0))?;
    if let Some(interface) = &target.interface {
        netburn_platform::bind_to_device(&socket, interface)?;
    }
    if dscp != 0 {
        netburn_platform::set_dscp(&socket, dscp)?;
    }
    // Without it the DSCP of received datagrams is unknown.
    let _ = enable_dscp(&socket);
    socket.connect(to)?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

/// Returns an unpredictable number.
pub(super) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("no random numbers"))?;
    Ok(u64::from_ne_bytes(bytes))
}

impl ProbeSocket {
    fn new(target: &Target, dscp: u8, now: Instant, meter: Rc<Meter>) -> io::Result<Self> {
        Ok(ProbeSocket {
            socket: connected_socket(target, dscp)?,
            prober: RefCell::new(Prober::new(now, random()?).marked(dscp)),
            arrivals: RefCell::default(),
            meter,
            changed: Notify::new(),
        })
    }

    /// Returns the probes and echoes by the DSCP with which they arrived.
    pub(super) fn arrivals(&self) -> Arrivals {
        self.arrivals.borrow().clone()
    }

    /// Waits for one event and processes it.
    async fn step(&self, clock: &crate::clock::RunClock, mut event: impl FnMut(Instant, Event)) {
        self.transmit();
        let (at, _) = self.prober.borrow().poll_timeout();
        let wait = at.checked_since(clock.now()).unwrap_or(Duration::ZERO);
        tokio::select! {
            biased;
            // An error is returned by the next receive.
            _ = self.socket.readable() => {}
            () = self.changed.notified() => {}
            () = tokio::time::sleep(std::time::Duration::from_nanos(wait.as_nanos())) => {
                self.prober.borrow_mut().handle_timeout(clock.now());
            }
        }
        let mut bytes = [0; MAX_SIZE + 1];
        loop {
            let received = self
                .socket
                .try_io(Interest::READABLE, || receive(&self.socket, &mut bytes));
            match received {
                Ok(received) => {
                    let now = clock.now();
                    // A drive has no limit on received bytes.
                    let _ = self.meter.add_down(received.length);
                    let happened = self.prober.borrow_mut().handle_datagram(now, &bytes[..received.length]);
                    if let Some(happened) = happened {
                        if let Event::Echo { arrived, .. } = happened {
                            let mut arrivals = self.arrivals.borrow_mut();
                            arrivals.up.put(arrived);
                            arrivals.down.put(received.dscp);
                        }
                        event(now, happened);
                    }
                }
                // No process listens at the port: probes are lost and time out.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        self.transmit();
    }

    /// Sends pending datagrams. Returns whether the kernel accepted all of them.
    fn transmit(&self) -> bool {
        let mut all = true;
        while let Some(bytes) = self.prober.borrow_mut().poll_transmit() {
            let sent = match self.socket.try_send(&bytes) {
                // The kernel reports the rejection of an earlier datagram once, and then accepts this one.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => self.socket.try_send(&bytes),
                sent => sent,
            };
            if let Ok(length) = sent {
                self.meter.add_up(length);
            }
            all &= sent.is_ok();
        }
        all
    }
}
