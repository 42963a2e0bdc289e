//! A WebSocket of the controller that reconnects.

use crate::browser::Effect;
use crate::host::Host;
use netburn_protocol::backoff::Backoff;
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::Message;
use netburn_units::Duration;

/// Delay between attempts to connect: the first and the maximum.
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// A socket.
pub(crate) struct Socket {
    path: String,
    state: State,
    backoff: Backoff,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Opening, with its number.
    Connecting(u64),
    Open(u64),
    /// Waits until this time before the next attempt.
    Waiting(Stamp),
    Closed,
}

impl Socket {
    /// Opens a socket to a path of the controller.
    pub(crate) fn open(host: &mut Host, path: String) -> Socket {
        let mut socket = Socket {
            path,
            state: State::Closed,
            backoff: Backoff::new(MIN_BACKOFF, MAX_BACKOFF),
        };
        socket.connect(host);
        socket
    }

    fn connect(&mut self, host: &mut Host) {
        let socket = host.number();
        let url = host.socket_url(&self.path);
        host.push(Effect::Open { socket, url });
        self.state = State::Connecting(socket);
    }

    /// Returns whether events of socket `number` are this one's.
    pub(crate) fn is(&self, number: u64) -> bool {
        self.number() == Some(number)
    }

    fn number(&self) -> Option<u64> {
        match self.state {
            State::Connecting(number) | State::Open(number) => Some(number),
            State::Waiting(_) | State::Closed => None,
        }
    }

    pub(crate) fn handle_opened(&mut self) {
        if let Some(number) = self.number() {
            self.state = State::Open(number);
        }
    }

    pub(crate) fn send(&self, host: &mut Host, message: &impl Message) {
        self.send_text(host, message.to_text());
    }

    pub(crate) fn send_text(&self, host: &mut Host, text: String) {
        if let State::Open(socket) = self.state {
            host.push(Effect::Send { socket, text });
        }
    }

    /// The other side has accepted this client.
    pub(crate) fn handle_accepted(&mut self) {
        self.backoff.reset();
    }

    /// Closes the connection. Another one follows after the first delay.
    pub(crate) fn reconnect(&mut self, host: &mut Host) {
        self.backoff.reset();
        if let Some(socket) = self.number() {
            host.push(Effect::Close { socket });
        }
    }

    /// Closes the socket permanently.
    pub(crate) fn close(&mut self, host: &mut Host) {
        self.reconnect(host);
        self.state = State::Closed;
    }

    /// The connection was lost.
    pub(crate) fn handle_lost(&mut self, host: &mut Host) {
        if self.state != State::Closed {
            let delay = self.backoff.next_delay(|bound| host.random.below(bound));
            self.state = State::Waiting(host.now.after(delay));
        }
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        if self.poll_timeout().is_some_and(|at| at <= host.now) {
            self.connect(host);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Stamp> {
        match self.state {
            State::Waiting(until) => Some(until),
            State::Connecting(_) | State::Open(_) | State::Closed => None,
        }
    }
}
