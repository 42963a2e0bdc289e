//! Calls of a driver: sockets, packets, and arrivals.

use super::datagrams::{DatagramSocket, random};
use super::{PacketSocket, Shared};
use crate::datagram::Arrivals;
use crate::datagram::call::{CallClient, CallPlan, EarlyPackets};
use netburn_driver::Arrival;
use netburn_units::Instant;
use netburn_workload::{Direction, RequestId};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// Socket and state of one call.
pub(super) struct CallSocket {
    socket: DatagramSocket<CallClient>,
    plan: CallPlan,
    early: RefCell<EarlyPackets>,
}

/// Opens the socket of a load, and begins its handshake.
pub(super) fn open(shared: &Rc<Shared>, index: usize, plan: CallPlan) -> Option<Rc<CallSocket>> {
    match CallSocket::new(shared, index, plan) {
        Ok(socket) => {
            let socket = Rc::new(socket);
            tokio::task::spawn_local(listen(Rc::clone(shared), index, Rc::clone(&socket)));
            Some(socket)
        }
        Err(error) => {
            tracing::warn!(%error, address = %shared.loads[index].target.datagrams(), "no socket for a call");
            None
        }
    }
}

/// Sends a packet or a frame of the station. A packet that cannot be sent never arrives, and times out. The server
/// sends the packets of the other direction by itself.
pub(super) fn send(shared: &Rc<Shared>, index: usize, id: RequestId, direction: Direction) {
    let call_socket = match &*shared.loads[index].packets.borrow() {
        Some(PacketSocket::Call(call_socket)) => Some(Rc::clone(call_socket)),
        _ => None,
    };
    let number = number_of(id);
    match direction {
        Direction::Up => {
            let now = shared.clock.now();
            if !call_socket.is_some_and(|call_socket| call_socket.send(now, number)) {
                shared.scheduler.borrow_mut().handle_unsent();
            }
        }
        Direction::Down => {
            let early = call_socket.and_then(|call_socket| call_socket.early.borrow_mut().take(number));
            if let Some(at) = early {
                let shared = Rc::clone(shared);
                tokio::task::spawn_local(async move { arrived(&shared, index, id, direction, at) });
            }
        }
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
        for event in call_socket.socket.step(|| shared.clock.now()).await {
            let ended = call_socket.early.borrow_mut().handle_event(shared.clock.now(), event);
            if let Some((id, direction, at)) = ended {
                arrived(&shared, index, id, direction, at);
            }
        }
    }
}

impl CallSocket {
    fn new(shared: &Shared, index: usize, plan: CallPlan) -> io::Result<Self> {
        let client = CallClient::new(shared.clock.now(), random()?, random()?, plan);
        let target = &shared.loads[index].target;
        Ok(CallSocket {
            socket: DatagramSocket::new(target, plan.dscp, Rc::clone(&shared.meter), client)?,
            plan,
            early: RefCell::new(EarlyPackets::new(plan)),
        })
    }

    /// Sends a packet or a frame of the client. Returns whether the kernel accepted it. The other packets of a frame are due
    /// later.
    fn send(&self, now: Instant, number: u32) -> bool {
        self.socket.command(|client| match self.plan.video {
            Some(_) => client.send_frame(now, number),
            None => client.send(number),
        })
    }

    /// Returns the packets by the DSCP with which they arrived.
    pub(super) fn arrivals(&self) -> Arrivals {
        self.socket.arrivals()
    }
}
