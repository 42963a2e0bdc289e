//! UDP sockets of probes and calls: one task for each, which drives a [`DatagramMachine`].

use crate::client::{Meter, Target};
use crate::datagram::{Arrivals, DatagramMachine, MAX_SIZE};
use netburn_platform::datagram::{enable_dscp, receive};
use netburn_platform::socket::SENDS_DSCP;
use netburn_units::{Duration, Instant};
use ring::rand::{SecureRandom, SystemRandom};
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Maximum number of datagrams that are processed in one turn.
const MAX_RECEIVED: usize = 64;

/// A client and its socket.
pub(super) struct DatagramSocket<M> {
    socket: UdpSocket,
    machine: RefCell<M>,
    meter: Rc<Meter>,
    /// A command made the client's timeout earlier.
    changed: Notify,
}

impl<M: DatagramMachine> DatagramSocket<M> {
    /// Opens a socket to the datagram port of the target's server, with this DSCP.
    pub(super) fn new(target: &Target, dscp: u8, meter: Rc<Meter>, machine: M) -> io::Result<Self> {
        Ok(DatagramSocket {
            socket: connected_socket(target, dscp)?,
            machine: RefCell::new(machine),
            meter,
            changed: Notify::new(),
        })
    }

    /// Gives the client a command, and sends its datagrams. Returns whether the kernel accepted all of them.
    pub(super) fn command(&self, command: impl FnOnce(&mut M)) -> bool {
        let mut machine = self.machine.borrow_mut();
        let before = machine.poll_timeout();
        command(&mut machine);
        if machine.poll_timeout() < before {
            self.changed.notify_one();
        }
        drop(machine);
        self.transmit()
    }

    /// Returns the packets by the DSCP with which they arrived.
    pub(super) fn arrivals(&self) -> Arrivals {
        self.machine.borrow().arrivals().clone()
    }

    /// Waits for a datagram, a timeout or a command, and processes it. Returns the events.
    pub(super) async fn step(&self, now: impl Fn() -> Instant) -> Vec<M::Event> {
        self.transmit();
        let at = self.machine.borrow().poll_timeout();
        let wait = at.checked_since(now()).unwrap_or(Duration::ZERO);
        tokio::select! {
            biased;
            // An error is returned by the next receive.
            _ = self.socket.readable() => {}
            () = self.changed.notified() => {}
            () = tokio::time::sleep(std::time::Duration::from_nanos(wait.as_nanos())) => {}
        }
        let mut bytes = [0; MAX_SIZE + 1];
        // The timers of the driver and other sockets have to run during a flood.
        for _ in 0..MAX_RECEIVED {
            let received = self
                .socket
                .try_io(Interest::READABLE, || receive(&self.socket, &mut bytes));
            match received {
                Ok(received) => {
                    // A drive has no limit on received bytes.
                    let _ = self.meter.add_down(received.length);
                    let content = &bytes[..received.length];
                    let mut machine = self.machine.borrow_mut();
                    machine.handle_datagram(now(), received.dscp, content);
                }
                // No process listens at the port: the datagrams are lost.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        let mut machine = self.machine.borrow_mut();
        let now = now();
        if machine.poll_timeout() <= now {
            machine.handle_timeout(now);
        }
        let events = std::iter::from_fn(|| machine.poll_event()).collect();
        drop(machine);
        self.transmit();
        events
    }

    /// Sends pending datagrams. Returns whether the kernel accepted all of them.
    fn transmit(&self) -> bool {
        let mut all = true;
        while let Some(bytes) = self.machine.borrow_mut().poll_transmit() {
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

fn connected_socket(target: &Target, dscp: u8) -> io::Result<UdpSocket> {
    let to = target.datagrams();
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = std::net::UdpSocket::bind(SocketAddr::new(any, 0))?;
    if let Some(interface) = &target.interface {
        netburn_platform::bind_to_device(&socket, interface)?;
    }
    if dscp != 0 && SENDS_DSCP {
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
