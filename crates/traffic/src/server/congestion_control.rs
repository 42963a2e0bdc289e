//! Congestion control of responses, if a request asks for one.

use socket2::SockRef;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Maximum number of rejected names that are logged, once each.
const MAX_REJECTED: usize = 16;
/// Congestion controls that are tried even if the system has not loaded them: a privileged process may load them by
/// name. Others are not tried, because clients must not choose which modules the kernel loads.
const COMMON: [&str; 3] = ["reno", "cubic", "bbr"];

/// Congestion controls that the server can use.
#[derive(Debug)]
pub(crate) struct AvailableControls {
    available: Vec<String>,
    rejected: Mutex<BTreeSet<String>>,
}

impl AvailableControls {
    /// Reads the system's congestion controls.
    pub(crate) fn new() -> Self {
        Self {
            available: netburn_platform::available_congestion_controls(),
            rejected: Mutex::default(),
        }
    }

    /// Returns the rejected names so far, at most 16.
    #[cfg(test)]
    fn rejected(&self) -> Vec<String> {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        rejected.iter().cloned().collect()
    }

    fn choose<'s>(&self, socket: impl Into<SockRef<'s>>, name: &str) -> bool {
        let known = COMMON.contains(&name) || self.available.iter().any(|available| available == name);
        known && netburn_platform::set_congestion_control(socket, name).is_ok()
    }

    fn set<'s>(&self, socket: impl Into<SockRef<'s>>, name: &str) -> bool {
        let done = self.choose(socket, name);
        if !done {
            let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
            if rejected.len() < MAX_REJECTED && !rejected.contains(name) {
                tracing::warn!(name, "the system rejects a congestion control that a client requested");
                rejected.insert(name.to_owned());
            }
        }
        done
    }
}

/// Returns whether a server on this system can use this congestion control.
#[must_use]
pub fn has_congestion_control(name: &str) -> bool {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    socket.is_ok_and(|socket| AvailableControls::new().choose(&socket, name))
}

/// Congestion control of one connection.
#[derive(Debug, Default)]
pub(crate) struct SocketControl(RefCell<State>);

#[derive(Debug, Default)]
struct State {
    /// Congestion control of the last request.
    asked: Option<String>,
    /// Default of the connection, read before the first change.
    default: Option<String>,
}

impl SocketControl {
    /// Sets the congestion control of `socket`, or its default for `None`. If the system rejects it, the default is
    /// used.
    pub(crate) fn set<'s>(
        &self,
        socket: impl Into<SockRef<'s>> + Copy,
        name: Option<&str>,
        controls: &AvailableControls,
    ) {
        let mut state = self.0.borrow_mut();
        if state.asked.as_deref() == name {
            return;
        }
        state.asked = name.map(str::to_owned);
        if state.default.is_none() {
            state.default = netburn_platform::congestion_control(socket).ok();
        }
        let done = name.is_some_and(|name| controls.set(socket, name));
        if !done && let Some(default) = &state.default {
            // The socket had this congestion control before.
            let _ = netburn_platform::set_congestion_control(socket, default);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use netburn_platform::congestion_control;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_uses_the_requested_congestion_control_or_its_default() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let default = congestion_control(&socket).unwrap();
        let (controls, control) = (AvailableControls::new(), SocketControl::default());
        let set = |name: Option<&str>| {
            control.set(&socket, name, &controls);
            congestion_control(&socket).unwrap()
        };
        assert_eq!(set(None), default);
        assert_eq!(set(Some("reno")), "reno");
        assert_eq!(set(Some("no-such-thing")), default);
        assert_eq!(set(Some("reno")), "reno");
        assert_eq!(set(None), default);
        assert_eq!(controls.rejected(), ["no-such-thing"]);
        assert!(has_congestion_control("reno") && !has_congestion_control("no-such-thing"));
        for number in 0..100 {
            set(Some(&format!("none-{number}")));
        }
        assert_eq!(controls.rejected().len(), MAX_REJECTED);
    }
}
