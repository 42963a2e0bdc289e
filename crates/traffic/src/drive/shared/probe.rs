//! Probes: datagrams that the server echoes.

use super::Shared;
use super::datagrams::{DatagramSocket, random};
use crate::client::{Meter, Target};
use crate::clock::RunClock;
use crate::datagram::{Event, Prober};
use netburn_units::{ByteSize, Instant};
use netburn_workload::RequestId;
use std::io;
use std::rc::Rc;

/// Socket and handshake of one load's probes.
pub(super) type ProbeSocket = DatagramSocket<Prober>;

/// Opens the socket of a load, and begins its handshake.
pub(super) fn open(shared: &Rc<Shared>, index: usize) -> Option<Rc<ProbeSocket>> {
    let target = &shared.loads[index].target;
    let dscp = shared.scheduler.borrow().config(index).marking().dscp;
    match new_socket(target, dscp, shared.clock.now(), Rc::clone(&shared.meter)) {
        Ok(socket) => {
            let socket = Rc::new(socket);
            tokio::task::spawn_local(listen(Rc::clone(shared), index, Rc::clone(&socket)));
            Some(socket)
        }
        Err(error) => {
            tracing::warn!(%error, address = %target.datagrams(), "no socket for probes");
            None
        }
    }
}

/// Sends a probe, now or after the handshake. Returns whether the kernel accepted it.
pub(super) fn send(socket: &ProbeSocket, now: Instant, id: RequestId, size: ByteSize) -> bool {
    socket.command(|prober| prober.probe(now, id.operation, size))
}

/// Returns whether the target's server answers a handshake within `patience`.
pub(in crate::drive) async fn answers(target: &Target, patience: std::time::Duration) -> bool {
    let clock = RunClock::starting_now();
    let meter = Rc::new(Meter::new(clock, None, target.total.clone()));
    let Ok(probe_socket) = new_socket(target, 0, clock.now(), meter) else {
        return false;
    };
    let ready = async { while !probe_socket.step(|| clock.now()).await.contains(&Event::Ready) {} };
    tokio::time::timeout(patience, ready).await.is_ok()
}

async fn listen(shared: Rc<Shared>, index: usize, probe_socket: Rc<ProbeSocket>) {
    loop {
        for event in probe_socket.step(|| shared.clock.now()).await {
            if let Event::Echo { id, at, far, .. } = event {
                let id = RequestId {
                    operation: id,
                    object: 0,
                };
                shared.event(index, |machine, _| machine.handle_reply(at, id, Some(far)));
            }
        }
    }
}

fn new_socket(target: &Target, dscp: u8, now: Instant, meter: Rc<Meter>) -> io::Result<ProbeSocket> {
    DatagramSocket::new(target, dscp, meter, Prober::new(now, random()?).marked(dscp))
}
