//! The congestion control that sends an answer, where its request asks for one.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

/// Of so many names it is logged, once, that they were refused.
const MAX_REFUSED: usize = 16;
/// AvailableControls that are tried though the system hasn't loaded them yet: a process with the right to may load them by name.
/// Others aren't, for a client shall not choose which modules a kernel loads.
const USUAL: [&str; 3] = ["reno", "cubic", "bbr"];

/// The congestion controls of a server's connections.
#[derive(Debug)]
pub(crate) struct AvailableControls {
    available: Vec<String>,
    refused: Mutex<BTreeSet<String>>,
}

impl AvailableControls {
    /// Those that this system has.
    pub(crate) fn new() -> Self {
        Self {
            available: netburn_linux::available_congestion_controls(),
            refused: Mutex::default(),
        }
    }

    /// The names that were asked for and refused so far, at most 16 of them.
    #[cfg(test)]
    fn refused(&self) -> Vec<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().cloned().collect()
    }

    fn choose(&self, socket: impl AsFd, name: &str) -> bool {
        let known = USUAL.contains(&name) || self.available.iter().any(|available| available == name);
        known && netburn_linux::set_congestion_control(socket, name).is_ok()
    }

    fn set(&self, socket: impl AsFd, name: &str) -> bool {
        let done = self.choose(socket, name);
        if !done {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused.len() < MAX_REFUSED && !refused.contains(name) {
                tracing::warn!(name, "the system refuses a congestion control that a client asks for");
                refused.insert(name.to_owned());
            }
        }
        done
    }
}

/// Whether this system has a server answer with the congestion control of this name.
#[must_use]
pub fn has_congestion_control(name: &str) -> bool {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    socket.is_ok_and(|socket| AvailableControls::new().choose(&socket, name))
}

/// The congestion control of one connection.
#[derive(Debug, Default)]
pub(crate) struct SocketControl(RefCell<State>);

#[derive(Debug, Default)]
struct State {
    /// What a request asked for last.
    asked: Option<String>,
    /// What it was before the first request that asked for one.
    usual: Option<String>,
}

impl SocketControl {
    /// Has `socket` send by the control of this name from now on, or without one by its usual one. Where the system refuses
    /// it, the usual one sends.
    pub(crate) fn set(&self, socket: impl AsFd + Copy, name: Option<&str>, controls: &AvailableControls) {
        let mut state = self.0.borrow_mut();
        if state.asked.as_deref() == name {
            return;
        }
        state.asked = name.map(str::to_owned);
        if state.usual.is_none() {
            state.usual = netburn_linux::congestion_control(socket).ok();
        }
        let done = name.is_some_and(|name| controls.set(socket, name));
        if !done && let Some(usual) = &state.usual {
            // It had that one before.
            let _ = netburn_linux::set_congestion_control(socket, usual);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use netburn_linux::congestion_control;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_has_what_the_request_asks_for_and_else_its_usual_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let usual = congestion_control(&socket).unwrap();
        let (controls, control) = (AvailableControls::new(), SocketControl::default());
        let set = |name: Option<&str>| {
            control.set(&socket, name, &controls);
            congestion_control(&socket).unwrap()
        };
        assert_eq!(set(None), usual);
        assert_eq!(set(Some("reno")), "reno");
        assert_eq!(set(Some("no-such-thing")), usual);
        assert_eq!(set(Some("reno")), "reno");
        assert_eq!(set(None), usual);
        assert_eq!(controls.refused(), ["no-such-thing"]);
        assert!(has_congestion_control("reno") && !has_congestion_control("no-such-thing"));
        for number in 0..100 {
            set(Some(&format!("none-{number}")));
        }
        assert_eq!(controls.refused().len(), MAX_REFUSED);
    }
}
