//! Who is let in: connections in all and per client, requests per client.

use super::config::Limits;
use super::flow::{SharedLink, clock};
use crate::limiter::{Client, Limiter};
use crate::pace::VirtualLink;
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps count of all connections of a server.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    open: usize,
    clients: BTreeMap<Client, Known>,
    requests: Limiter,
    gone: Gone,
}

/// Clients without a connection that had one: until when they are still known.
#[derive(Debug, Default)]
struct Gone {
    until: BTreeMap<Client, Instant>,
    /// The same in the order of time; a client may be in it several times.
    order: VecDeque<(Instant, Client)>,
}

/// A client is still known so long after its last connection has closed: a station that only probes asks over TCP once,
/// before the run.
const KNOWN: Duration = Duration::from_secs(3600);
/// Clients that are remembered after their last connection has closed. The newest ones are.
const MAX_GONE: usize = 4_096;

impl Gone {
    fn insert(&mut self, now: Instant, client: Client) {
        let until = now + KNOWN;
        self.until.insert(client, until);
        self.order.push_back((until, client));
        while self.order.len() > MAX_GONE
            && let Some((until, client)) = self.order.pop_front()
        {
            if self.until.get(&client) == Some(&until) {
                self.until.remove(&client);
            }
        }
    }
}

/// A client that has connections open.
#[derive(Debug)]
struct Known {
    open: usize,
    links: Option<(SharedLink, SharedLink)>,
}

/// Why a connection is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdmissionError {
    /// The server has enough.
    Full,
    /// This client has enough.
    Client,
}

/// A connection's place; given back when dropped.
#[derive(Debug)]
pub(crate) struct AdmissionPermit {
    admission: Arc<Admission>,
    client: Client,
    /// The client's own capped links, down and up.
    pub(crate) links: Option<(SharedLink, SharedLink)>,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        let rate = limits.requests_per_client;
        // Only clients with a connection open make requests.
        let requests = Limiter::new(rate, rate, limits.connections);
        Arc::new(Self {
            state: Mutex::new(State {
                open: 0,
                clients: BTreeMap::new(),
                requests,
                gone: Gone::default(),
            }),
            limits,
        })
    }

    /// Lets `client` in with one more connection.
    pub(crate) fn admit(self: &Arc<Self>, client: Client) -> Result<AdmissionPermit, AdmissionError> {
        let mut state = self.lock();
        if state.open >= self.limits.connections {
            return Err(AdmissionError::Full);
        }
        let limited = !client.is_loopback();
        let known = state.clients.entry(client).or_insert_with(|| Known {
            open: 0,
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
        Ok(AdmissionPermit {
            admission: Arc::clone(self),
            client,
            links,
        })
    }

    /// Whether an address is known to be its client's own: the client has a TCP connection, or had one within an hour.
    pub(crate) fn is_known(&self, now: Instant, client: Client) -> bool {
        let state = self.lock();
        state.clients.contains_key(&client) || state.gone.until.get(&client).is_some_and(|until| now < *until)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdmissionPermit {
    /// Whether the client may make one more request now.
    pub(crate) fn allow_request(&self) -> bool {
        self.client.is_loopback() || self.admission.lock().requests.allow(clock(), self.client)
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
    fn places_are_counted_and_given_back() {
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

    #[test]
    fn a_client_is_known_while_it_has_a_connection_and_for_an_hour_after() {
        let admission = admission();
        let (station, stranger) = (client("192.0.2.1"), client("192.0.2.2"));
        let before = clock();
        assert!(!admission.is_known(before, station));
        let permit = admission.admit(station).unwrap();
        let later = before + Duration::from_secs(100_000);
        assert!(admission.is_known(later, station) && !admission.is_known(later, stranger));
        drop(permit);
        assert!(admission.is_known(before + Duration::from_secs(3_599), station));
        assert!(!admission.is_known(clock() + Duration::from_secs(3_601), station));
    }

    #[test]
    fn the_newest_of_many_gone_clients_are_remembered() {
        let mut gone = Gone::default();
        let numbered = |number: u32| Client::V6(u64::from(number));
        for number in 0..10_000 {
            gone.insert(Instant::ZERO, numbered(number));
            // One that comes again and again stays.
            gone.insert(
                Instant::ZERO + Duration::from_nanos(u64::from(number)),
                client("192.0.2.1"),
            );
        }
        assert!(gone.order.len() <= MAX_GONE && gone.until.len() <= MAX_GONE);
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
