//! Admission control: connections and wide receive windows, in total and per client, and requests per client.

use super::config::Limits;
use super::flow::{SharedLink, clock};
use crate::limiter::{Client, Limiter};
use crate::pace::VirtualLink;
use netburn_units::{Duration, Instant};
use netburn_workload::config::MAX_LOAD_CONNECTIONS;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts all connections of a server.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    open: usize,
    /// Highest number of open connections since the last [`Admission::take_peak`].
    peak: usize,
    wide: usize,
    clients: BTreeMap<Client, Known>,
    requests: Limiter,
    gone: RecentClients,
}

/// Clients whose last connection has closed, and until when they are remembered.
#[derive(Debug, Default)]
struct RecentClients {
    until: BTreeMap<Client, Instant>,
    /// The same in order of time. A client may be contained several times.
    order: VecDeque<(Instant, Client)>,
}

/// Time for which a client is remembered after its last connection has closed. A station that only probes uses TCP
/// once, before the run.
const KNOWN: Duration = Duration::from_secs(3600);
/// Maximum number of remembered clients. The oldest are forgotten first.
const MAX_RECENT: usize = 4_096;

impl RecentClients {
    fn insert(&mut self, now: Instant, client: Client) {
        let until = now + KNOWN;
        self.until.insert(client, until);
        self.order.push_back((until, client));
        while self.order.len() > MAX_RECENT
            && let Some((until, client)) = self.order.pop_front()
        {
            if self.until.get(&client) == Some(&until) {
                self.until.remove(&client);
            }
        }
    }
}

/// Maximum number of connections with wide receive windows. Each window is 16 MiB, so that they limit the memory for
/// unprocessed data to 1 GiB.
const WIDE_CONNECTIONS: usize = 64;
/// The same of one client: the maximum number of load connections of one direction of a responsiveness test.
const WIDE_PER_CLIENT: usize = MAX_LOAD_CONNECTIONS as usize;

/// State of a client with open connections.
#[derive(Debug)]
struct Known {
    open: usize,
    /// Connections with wide receive windows.
    wide: usize,
    links: Option<(SharedLink, SharedLink)>,
}

/// Reason of a rejected connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    /// Too many connections in total.
    Full,
    /// Too many connections of this client.
    Client,
}

/// Permit of a connection. Dropping it releases the connection's slot.
#[derive(Debug)]
pub(crate) struct AdmissionPermit {
    admission: Arc<Admission>,
    client: Client,
    /// Rate-limited links of the client, down and up.
    pub(crate) links: Option<(SharedLink, SharedLink)>,
}

/// Permit of a connection to have wide receive windows. Dropping it releases the slot.
#[derive(Debug)]
pub(crate) struct WidePermit {
    admission: Arc<Admission>,
    client: Client,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        let rate = limits.requests_per_client;
        // Only clients with an open connection send requests.
        let requests = Limiter::new(rate, rate, limits.connections);
        Arc::new(Self {
            state: Mutex::new(State {
                open: 0,
                peak: 0,
                wide: 0,
                clients: BTreeMap::new(),
                requests,
                gone: RecentClients::default(),
            }),
            limits,
        })
    }

    /// Admits one more connection of `client`.
    pub(crate) fn admit(self: &Arc<Self>, client: Client) -> Result<AdmissionPermit, AdmissionError> {
        let mut state = self.lock();
        if state.open >= self.limits.connections {
            return Err(AdmissionError::Full);
        }
        let limited = !client.is_loopback();
        let known = state.clients.entry(client).or_insert_with(|| Known {
            open: 0,
            wide: 0,
            links: self.limits.rate_per_client.filter(|_| limited).map(|rate| {
                let link = || Arc::new(Mutex::new(VirtualLink::new(rate)));
                (link(), link())
            }),
        });
        if limited && known.open >= self.limits.connections_per_client {
            return Err(AdmissionError::Client);
        }
        known.open += 1;
        let links = known.links.clone();
        state.open += 1;
        state.peak = state.peak.max(state.open);
        Ok(AdmissionPermit {
            admission: Arc::clone(self),
            client,
            links,
        })
    }

    /// Highest number of open connections since the last call. A flood may begin and end between two calls.
    pub(crate) fn take_peak(&self) -> usize {
        let mut state = self.lock();
        let open = state.open;
        std::mem::replace(&mut state.peak, open)
    }

    /// Returns whether an address is verified: the client has a TCP connection, or had one within an hour.
    pub(crate) fn is_known(&self, now: Instant, client: Client) -> bool {
        let state = self.lock();
        state.clients.contains_key(&client) || state.gone.until.get(&client).is_some_and(|until| now < *until)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdmissionPermit {
    /// Returns the client of the connection.
    pub(crate) fn client(&self) -> Client {
        self.client
    }

    /// Returns whether the client may send another request now.
    pub(crate) fn allow_request(&self) -> bool {
        self.client.is_loopback() || self.admission.lock().requests.allow(clock(), self.client)
    }

    /// Returns a permit for wide receive windows, or `None` if the client or all clients together have too many.
    pub(crate) fn widen(&self) -> Option<WidePermit> {
        let mut state = self.admission.lock();
        if state.wide >= WIDE_CONNECTIONS {
            return None;
        }
        let known = state.clients.get_mut(&self.client)?;
        if !self.client.is_loopback() && known.wide >= WIDE_PER_CLIENT {
            return None;
        }
        known.wide += 1;
        state.wide += 1;
        Some(WidePermit {
            admission: Arc::clone(&self.admission),
            client: self.client,
        })
    }
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        state.open -= 1;
        if let Some(known) = state.clients.get_mut(&self.client) {
            known.open -= 1;
            if known.open == 0 {
                state.clients.remove(&self.client);
                state.gone.insert(clock(), self.client);
            }
        }
    }
}

impl Drop for WidePermit {
    fn drop(&mut self) {
        let mut state = self.admission.lock();
        state.wide -= 1;
        // The client is unknown if its last connection has closed before.
        if let Some(known) = state.clients.get_mut(&self.client) {
            known.wide = known.wide.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::BitRate;
    use std::net::IpAddr;

    fn client(text: &str) -> Client {
        Client::at(text.parse::<IpAddr>().unwrap())
    }

    fn admission() -> Arc<Admission> {
        Admission::new(Limits {
            connections: 4,
            connections_per_client: 2,
            requests_per_client: 3,
            rate_per_client: Some(BitRate::from_mbps(1)),
            ..Limits::default()
        })
    }

    #[test]
    fn the_peak_is_that_since_the_last_call() {
        let admission = admission();
        let one: Vec<_> = ["192.0.2.1", "192.0.2.2", "192.0.2.3"]
            .map(|ip| admission.admit(client(ip)).unwrap())
            .into();
        assert_eq!([admission.take_peak(), admission.take_peak()], [3, 3]);
        drop(one);
        assert_eq!([admission.take_peak(), admission.take_peak()], [3, 0]);
    }

    #[test]
    fn permits_are_counted_and_released() {
        let admission = admission();
        let one: Vec<_> = (0..2).map(|_| admission.admit(client("192.0.2.1")).unwrap()).collect();
        assert_eq!(
            admission.admit(client("192.0.2.1")).unwrap_err(),
            AdmissionError::Client
        );
        let others: Vec<_> = (0..2).map(|_| admission.admit(client("192.0.2.2")).unwrap()).collect();
        assert_eq!(admission.admit(client("192.0.2.3")).unwrap_err(), AdmissionError::Full);
        drop(one);
        let again = admission.admit(client("192.0.2.1")).unwrap();
        drop((others, again));
        assert!(admission.lock().clients.is_empty() && admission.lock().open == 0);
    }

    /// 64 connections have wide windows, 16 of them of one client. Loopback has only the limit of all.
    #[test]
    fn one_client_cannot_have_all_wide_windows() {
        let admission = Admission::new(Limits::default());
        let open: Vec<_> = (1..=5)
            .map(|last| admission.admit(Client::at(IpAddr::from([192, 0, 2, last]))).unwrap())
            .collect();
        let local = admission.admit(client("::1")).unwrap();
        let widened =
            |permit: &AdmissionPermit, count| -> Vec<_> { (0..count).map_while(|_| permit.widen()).collect() };
        let mut first = widened(&open[0], 64);
        assert_eq!(first.len(), 16);
        let another = admission.admit(client("192.0.2.1")).unwrap();
        assert!(another.widen().is_none(), "the limit is that of the client");
        let others: Vec<_> = open[1..4].iter().flat_map(|permit| widened(permit, 64)).collect();
        assert!(open[4].widen().is_none(), "64 in total");
        first.truncate(12);
        assert_eq!(widened(&local, 64).len(), 4);
        drop((first, others));
        assert_eq!(widened(&local, 100).len(), 64);
    }

    #[test]
    fn a_client_is_known_while_it_has_a_connection_and_for_an_hour_after() {
        let admission = admission();
        let (station, other) = (client("192.0.2.1"), client("192.0.2.2"));
        let before = clock();
        assert!(!admission.is_known(before, station));
        let permit = admission.admit(station).unwrap();
        let later = before + Duration::from_secs(100_000);
        assert!(admission.is_known(later, station) && !admission.is_known(later, other));
        drop(permit);
        assert!(admission.is_known(before + Duration::from_secs(3_599), station));
        assert!(!admission.is_known(clock() + Duration::from_secs(3_601), station));
    }

    #[test]
    fn the_newest_of_many_recent_clients_are_remembered() {
        let mut gone = RecentClients::default();
        let numbered = |number: u32| Client::V6(u64::from(number));
        for number in 0..10_000 {
            gone.insert(Instant::ZERO, numbered(number));
            // A client that reconnects stays remembered.
            gone.insert(
                Instant::ZERO + Duration::from_nanos(u64::from(number)),
                client("192.0.2.1"),
            );
        }
        assert!(gone.order.len() <= MAX_RECENT && gone.until.len() <= MAX_RECENT);
        assert!(gone.until.contains_key(&client("192.0.2.1")) && gone.until.contains_key(&numbered(9_999)));
        assert!(!gone.until.contains_key(&numbered(0)));
    }

    #[test]
    fn a_clients_connections_share_its_links_and_loopback_has_no_limits() {
        let admission = admission();
        let (a, b) = (
            admission.admit(client("192.0.2.1")).unwrap(),
            admission.admit(client("192.0.2.1")).unwrap(),
        );
        let (a_down, b_down) = (a.links.clone().unwrap().0, b.links.clone().unwrap().0);
        assert!(Arc::ptr_eq(&a_down, &b_down));
        assert_eq!((0..5).filter(|_| a.allow_request()).count(), 3);
        drop((a, b));
        let near: Vec<_> = (0..4).map(|_| admission.admit(client("::1")).unwrap()).collect();
        assert!(near[0].links.is_none());
        assert!((0..100).all(|_| near[0].allow_request()));
        assert_eq!(
            admission.admit(client("127.0.0.1")).unwrap_err(),
            AdmissionError::Full,
            "in all is in all"
        );
    }
}
