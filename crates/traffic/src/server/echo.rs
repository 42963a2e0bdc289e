//! Socket of the datagrams: echo, calls, and the data channels of browsers.

use super::flow::{Flow, clock};
use super::socket_dscp::SocketDscp;
use super::worker_state::Worker;
use crate::datagram::call::server::Outgoing;
use crate::datagram::call::{self, CallLimits, CallServer};
use crate::datagram::{Echo, wire};
use netburn_platform::Monotonic;
use netburn_platform::datagram::{Received, receive, send};
use netburn_units::Instant;
use netburn_webrtc::{ChannelServer, Transmit, is_webrtc};
use std::cell::{Cell, RefCell};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::sync::Notify;

/// Maximum number of queued datagrams with a rate limit. Further ones are dropped.
const MAX_QUEUED: usize = 1_000;
/// Length of the receive buffer: more than the maximum, to detect longer datagrams.
const BUFFER: usize = 2_048;
/// Datagrams processed before other tasks run.
const BATCH: usize = 64;

struct Socket {
    worker: Rc<Worker>,
    socket: UdpSocket,
    echo: RefCell<Echo>,
    calls: RefCell<CallServer>,
    /// A call changed, so the next packet may be due earlier.
    calls_changed: Notify,
    channels: Option<RefCell<ChannelServer>>,
    /// A data channel changed, so its next timeout may be earlier.
    channels_changed: Notify,
    marking: SocketDscp,
    waiting: Cell<usize>,
}

/// Echoes datagrams at `socket` while polled.
pub(crate) async fn serve(worker: Rc<Worker>, socket: UdpSocket, echo: Echo, channels: Option<ChannelServer>) {
    let shared = Rc::new(Socket {
        worker,
        socket,
        echo: RefCell::new(echo),
        calls: RefCell::new(CallServer::new(CallLimits::default())),
        calls_changed: Notify::new(),
        channels: channels.map(RefCell::new),
        channels_changed: Notify::new(),
        marking: SocketDscp::default(),
        waiting: Cell::new(0),
    });
    tokio::task::spawn_local(send_packets(Rc::clone(&shared)));
    tokio::task::spawn_local(time_channels(Rc::clone(&shared)));
    let mut buffer = [0; BUFFER];
    loop {
        if shared.socket.readable().await.is_err() {
            return;
        }
        for _ in 0..BATCH {
            let socket = &shared.socket;
            match socket.try_io(Interest::READABLE, || receive(socket, &mut buffer)) {
                Ok(received) => handle(&shared, received, &mut buffer[..received.length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // An ICMP error of an earlier reply.
                Err(_) => {}
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Sends the packets of the calls when they are due.
async fn send_packets(shared: Rc<Socket>) {
    loop {
        let next = shared.calls.borrow().poll_timeout();
        tokio::select! {
            biased;
            () = shared.calls_changed.notified() => {}
            () = shared.until(next) => {}
        }
        shared.calls.borrow_mut().handle_timeout(clock());
        loop {
            let packet = shared.calls.borrow_mut().poll_transmit();
            let Some(mut packet) = packet else { break };
            if !shared.send_on_channel(packet.to, &mut packet.bytes, packet.dscp) {
                shared.pass(packet);
            }
        }
    }
}

/// Handles the timeouts of the data channels.
async fn time_channels(shared: Rc<Socket>) {
    let Some(channels) = &shared.channels else { return };
    loop {
        let next = channels.borrow().poll_timeout();
        tokio::select! {
            biased;
            () = shared.channels_changed.notified() => continue,
            () = shared.until(next) => {}
        }
        channels.borrow_mut().handle_timeout(clock());
        shared.drain_channels();
    }
}

/// Passes the rate-limited link to the clients.
async fn take_turn(shared: Rc<Socket>, packet: Outgoing) {
    let worker = &shared.worker;
    if let Some((down, _)) = &worker.shared.links {
        let links = vec![Arc::clone(down)];
        let mut flow = Flow::new(links, worker.timer_queue.clone(), Arc::clone(&worker.stats));
        flow.pay(packet.bytes.len() as u64).await;
        shared.transmit(packet);
    }
    shared.waiting.set(shared.waiting.get() - 1);
}

fn handle(shared: &Rc<Socket>, received: Received, bytes: &mut [u8]) {
    if shared.worker.shared.links.is_none() {
        shared.response(received, bytes);
    } else if shared.waiting.get() < MAX_QUEUED {
        shared.waiting.set(shared.waiting.get() + 1);
        tokio::task::spawn_local(take_turns(Rc::clone(shared), received, bytes.to_vec()));
    }
}

/// Passes the rate-limited link in both directions.
async fn take_turns(shared: Rc<Socket>, received: Received, mut bytes: Vec<u8>) {
    let worker = &shared.worker;
    let flow = |link| Flow::new(vec![link], worker.timer_queue.clone(), Arc::clone(&worker.stats));
    if let Some((down, up)) = &worker.shared.links {
        flow(Arc::clone(up)).pay(bytes.len() as u64).await;
        if shared.handle_channel(received, &bytes) {
            shared.waiting.set(shared.waiting.get() - 1);
            return;
        }
        let answered = shared.handle(received, false, &mut bytes);
        if let Some(dscp) = answered {
            flow(Arc::clone(down)).pay(bytes.len() as u64).await;
            shared.send(received, &mut bytes, dscp);
        }
    }
    shared.waiting.set(shared.waiting.get() - 1);
}

impl Socket {
    /// Waits until a time; forever without one.
    async fn until(&self, at: Option<Instant>) {
        match at {
            Some(at) => {
                let at = Monotonic::from_nanos(at.as_nanos());
                self.worker.timer_queue.until(at).await;
            }
            None => std::future::pending().await,
        }
    }

    fn response(self: &Rc<Self>, received: Received, bytes: &mut [u8]) {
        if self.handle_channel(received, bytes) {
            return;
        }
        if let Some(dscp) = self.handle(received, false, bytes) {
            self.send(received, bytes, dscp);
        }
    }

    /// Processes a datagram of a data channel. Returns whether it was one.
    fn handle_channel(self: &Rc<Self>, received: Received, bytes: &[u8]) -> bool {
        let Some(channels) = self.channels.as_ref().filter(|_| is_webrtc(bytes)) else {
            return false;
        };
        channels
            .borrow_mut()
            .handle_datagram(clock(), received.from, received.to, bytes);
        self.drain_channels();
        true
    }

    /// Processes the messages of data channels, and sends their datagrams.
    fn drain_channels(self: &Rc<Self>) {
        let Some(channels) = &self.channels else { return };
        self.transmit_channels(channels, 0);
        loop {
            let message = channels.borrow_mut().poll_message();
            let Some(mut message) = message else { break };
            let received = Received {
                length: message.bytes.len(),
                truncated: false,
                from: message.from,
                to: message.to,
                // The DSCP of a packet of SCTP is not that of a message.
                dscp: None,
            };
            if let Some(dscp) = self.handle(received, true, &mut message.bytes) {
                self.send_on_channel(message.from, &mut message.bytes, dscp);
            }
        }
        self.channels_changed.notify_one();
    }

    /// Sends a datagram as a message, if its destination has a data channel. Returns whether this is the case.
    fn send_on_channel(self: &Rc<Self>, to: SocketAddr, bytes: &mut [u8], dscp: u8) -> bool {
        let Some(channels) = self.channels.as_ref().filter(|channels| channels.borrow().is_open(to)) else {
            return false;
        };
        let now = clock();
        wire::stamp_sent(bytes, now);
        call::wire::stamp_sent(bytes, now);
        // A message that is not accepted is lost.
        channels.borrow_mut().send(now, to, bytes);
        self.transmit_channels(channels, dscp);
        self.channels_changed.notify_one();
        true
    }

    fn transmit_channels(self: &Rc<Self>, channels: &RefCell<ChannelServer>, dscp: u8) {
        loop {
            let sent = channels.borrow_mut().poll_transmit();
            let Some(Transmit { to, from, bytes }) = sent else {
                break;
            };
            self.pass(Outgoing { to, from, dscp, bytes });
        }
    }

    /// Sends a packet, after its turn at the rate-limited link.
    fn pass(self: &Rc<Self>, packet: Outgoing) {
        if self.worker.shared.links.is_none() {
            self.transmit(packet);
        } else if self.waiting.get() < MAX_QUEUED {
            self.waiting.set(self.waiting.get() + 1);
            tokio::task::spawn_local(take_turn(Rc::clone(self), packet));
        }
    }

    /// Creates the reply to a datagram in place, and returns its DSCP. `is_verified`: the sender receives datagrams at its
    /// address.
    fn handle(&self, received: Received, is_verified: bool, bytes: &mut [u8]) -> Option<u8> {
        let now = clock();
        if call::wire::is_call(bytes) {
            let echo = self.echo.borrow();
            let is_good = |cookie| echo.is_verified(now, received.from, cookie);
            let mut calls = self.calls.borrow_mut();
            let before = calls.poll_timeout();
            let is_answered = calls.handle_datagram(now, received.from, received.to, is_good, bytes);
            // A packet of a client changes nothing, except in a video call.
            if calls.has_pending() || calls.poll_timeout() != before {
                self.calls_changed.notify_one();
            }
            return is_answered.then_some(0);
        }
        let known = |client| is_verified || self.worker.shared.admission.is_known(now, client);
        self.echo.borrow_mut().handle_datagram(now, received.from, known, bytes)
    }

    fn transmit(&self, mut packet: Outgoing) {
        self.send_from(packet.from, packet.to, &mut packet.bytes, packet.dscp);
    }

    fn send(&self, received: Received, bytes: &mut [u8], dscp: u8) {
        wire::stamp_arrived(bytes, received.dscp);
        call::wire::stamp_arrived(bytes, received.dscp);
        self.send_from(received.to, received.from, bytes, dscp);
    }

    fn send_from(&self, local: Option<IpAddr>, to: SocketAddr, bytes: &mut [u8], dscp: u8) {
        // Without a DSCP the reply is still valid. With another client's DSCP it is not, so it is dropped.
        if !self.marking.set(&self.socket, dscp) && !self.marking.is_plain() {
            return;
        }
        let now = clock();
        wire::stamp_sent(bytes, now);
        call::wire::stamp_sent(bytes, now);
        // A datagram that cannot be sent is lost.
        let _ = self
            .socket
            .try_io(Interest::WRITABLE, || send(&self.socket, bytes, to, local));
    }
}
