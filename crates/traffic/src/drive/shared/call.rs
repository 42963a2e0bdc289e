//! Calls of a driver: sockets, packets, and arrivals.

use super::Shared;
use super::probe::{connected_socket, random};
use crate::client::{Meter, Target};
use crate::datagram::call::{CallClient, CallEvent, CallPlan, EarlyPackets};
use crate::datagram::{Arrivals, MAX_SIZE};
use netburn_driver::Arrival;
use netburn_platform::datagram::receive;
use netburn_units::{Duration, Instant};
use netburn_workload::{Direction, RequestId};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Socket and state of one call.
pub(in crate::drive) struct CallSocket {
    socket: UdpSocket,
    plan: CallPlan,
    client: RefCell<CallClient>,
    early: RefCell<EarlyPackets>,
    meter: Rc<Meter>,
    /// The client's timeout became earlier.
    changed: Notify,
}

/// Opens a socket for every call, so that the handshake is complete when the first packet is due.
pub(in crate::drive) fn open(shared: &Rc<Shared>) {
    for (index, link) in shared.links.iter().enumerate() {
        let plan = shared.scheduler.borrow().call_plan(index);
        let Some(plan) = plan else { continue };
        match CallSocket::new(&link.target, plan, shared.clock.now(), Rc::clone(&shared.meter)) {
            Ok(call_socket) => {
                let call_socket = Rc::new(call_socket);
                *link.call_socket.borrow_mut() = Some(Rc::clone(&call_socket));
                tokio::task::spawn_local(listen(Rc::clone(shared), index, call_socket));
            }
            Err(error) => tracing::warn!(%error, address = %link.target.datagrams(), "no socket for a call"),
        }
    }
}

/// Sends a packet or a frame of the station. A packet that cannot be sent never arrives, and times out. The server
/// sends the packets of the other direction by itself.
pub(super) fn send(shared: &Rc<Shared>, index: usize, id: RequestId, direction: Direction) {
    let call_socket = shared.links[index].call_socket.borrow().clone();
    let number = number_of(id);
    match (direction, call_socket) {
        (Direction::Up, Some(call_socket)) => {
            call_socket.queue(shared.clock.now(), number);
            if !call_socket.transmit() {
                shared.scheduler.borrow_mut().handle_unsent();
            }
        }
        (Direction::Up, None) => shared.scheduler.borrow_mut().handle_unsent(),
        (Direction::Down, Some(call_socket)) => {
            let early = call_socket.early.borrow_mut().take(number);
            if let Some(at) = early {
                let shared = Rc::clone(shared);
                tokio::task::spawn_local(async move { arrived(&shared, index, id, direction, at) });
            }
        }
        (Direction::Down, None) => {}
    }
}

fn arrived(shared: &Rc<Shared>, index: usize, id: RequestId, direction: Direction, at: Arrival) {
    shared.with_scheduler(|scheduler, now| scheduler.handle_arrival(index, now, id, direction, at));
}

fn number_of(id: RequestId) -> u32 {
    u32::try_from(id.operation / 2).unwrap_or(u32::MAX)
}

async fn listen(shared: Rc<Shared>, index: usize, call_socket: Rc<CallSocket>) {
    loop {
        call_socket.step(&shared.clock).await;
        let events: Vec<CallEvent> = {
            let mut client = call_socket.client.borrow_mut();
            std::iter::from_fn(|| client.poll_event()).collect()
        };
        for event in events {
            let ended = call_socket.early.borrow_mut().handle_event(shared.clock.now(), event);
            if let Some((id, direction, at)) = ended {
                arrived(&shared, index, id, direction, at);
            }
        }
    }
}

impl CallSocket {
    fn new(target: &Target, plan: CallPlan, now: Instant, meter: Rc<Meter>) -> io::Result<Self> {
        Ok(CallSocket {
            socket: connected_socket(target, plan.dscp)?,
            plan,
            client: RefCell::new(CallClient::new(now, random()?, random()?, plan)),
            early: RefCell::new(EarlyPackets::new(plan)),
            meter,
            changed: Notify::new(),
        })
    }

    /// Queues a packet or a frame of the client.
    fn queue(&self, now: Instant, number: u32) {
        let mut client = self.client.borrow_mut();
        let before = client.poll_timeout();
        match self.plan.video {
            Some(_) => client.send_frame(now, number),
            None => client.send(number),
        }
        // The other packets of a frame are due later.
        if client.poll_timeout() < before {
            self.changed.notify_one();
        }
    }

    /// Returns the packets by the DSCP with which they arrived.
    pub(super) fn arrivals(&self) -> Arrivals {
        self.client.borrow().arrivals().clone()
    }

    /// Waits for one event and processes it.
    async fn step(&self, clock: &crate::clock::RunClock) {
        self.transmit();
        let at = self.client.borrow().poll_timeout();
        let wait = at.checked_since(clock.now()).unwrap_or(Duration::ZERO);
        tokio::select! {
            biased;
            // An error is returned by the next receive.
            _ = self.socket.readable() => {}
            () = self.changed.notified() => {}
            () = tokio::time::sleep(std::time::Duration::from_nanos(wait.as_nanos())) => {}
        }
        let mut bytes = [0; MAX_SIZE + 1];
        loop {
            let received = self
                .socket
                .try_io(Interest::READABLE, || receive(&self.socket, &mut bytes));
            match received {
                Ok(received) => {
                    // A drive has no limit on received bytes.
                    let _ = self.meter.add_down(received.length);
                    let content = &bytes[..received.length];
                    let mut client = self.client.borrow_mut();
                    client.handle_datagram(clock.now(), received.dscp, content);
                }
                // No process listens at the port: packets are lost.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        let now = clock.now();
        let mut client = self.client.borrow_mut();
        if client.poll_timeout() <= now {
            client.handle_timeout(now);
        }
        drop(client);
        self.transmit();
    }

    /// Sends pending datagrams. Returns whether the kernel accepted all of them.
    fn transmit(&self) -> bool {
        let mut all = true;
        while let Some(bytes) = self.client.borrow_mut().poll_transmit() {
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
