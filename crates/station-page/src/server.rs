//! Preparation of a run: finds the run's server, asks for its consent, and opens a data channel to it.
//!
//! A station sends load only to a server that consents to load tests by its fleet. The server has an address, and a port for
//! each workload.

use crate::browser::Effect;
use crate::channel::{Channel, ChannelEvent};
use crate::host::{Host, Response};
use netburn_driver::consent::fleet::{FleetKey, QUERY};
use netburn_driver::consent::{Consent, ConsentError, MAX_SIZE, PATH};
use netburn_protocol::clock::Stamp;
use netburn_protocol::messages::ServerAddress;
use netburn_units::Duration;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// Time limit of a request for consent.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Server of a run, as far as the page can use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prepared {
    /// Origins, one for each port, or the reason why the server can't be used.
    pub(crate) origins: Result<Vec<String>, String>,
    /// Number of the connection with a data channel; `None` if none is needed.
    pub(crate) channel: Option<Result<u64, String>>,
}

impl Default for Prepared {
    fn default() -> Self {
        Prepared {
            origins: Ok(Vec::new()),
            channel: None,
        }
    }
}

/// Search for the server of an assignment.
pub(crate) struct Preparation {
    keys: Vec<FleetKey>,
    more_ports: Vec<u16>,
    needs_channel: bool,
    step: Step,
}

enum Step {
    /// Requests the consent of the first port, at one address after the other.
    Address {
        request: ConsentRequest,
        others: VecDeque<String>,
        /// Reason of the first address.
        error: Option<String>,
    },
    /// Requests the consent of the other ports, of which a firewall may block some.
    Ports {
        first: String,
        requests: Vec<(ConsentRequest, Option<bool>)>,
    },
    Channel {
        origins: Vec<String>,
        channel: Box<Channel>,
    },
    End(Prepared),
}

/// A request for the consent of the server at an origin.
struct ConsentRequest {
    get: u64,
    origin: String,
    nonce: String,
    deadline: Stamp,
}

impl Preparation {
    /// Begins the search for a server that consents to one of `tokens`.
    pub(crate) fn begin(host: &mut Host, tokens: [&str; 2], target: &ServerAddress, needs_channel: bool) -> Self {
        let target = target.clone().limited();
        let mut others: VecDeque<String> = candidates(&target, &host.hostname).into();
        let first = others.pop_front().unwrap_or_default();
        Preparation {
            keys: tokens.map(FleetKey::new).into(),
            more_ports: target.more_ports,
            needs_channel,
            step: Step::Address {
                request: ConsentRequest::send(host, first),
                others,
                error: None,
            },
        }
    }

    /// Returns the server after the end of the search.
    pub(crate) fn result(&self) -> Option<&Prepared> {
        match &self.step {
            Step::End(prepared) => Some(prepared),
            _ => None,
        }
    }

    /// Handles the response to request `get`.
    pub(crate) fn handle_response(&mut self, host: &mut Host, get: u64, response: Response<'_>) {
        match &mut self.step {
            Step::Address { request, .. } if request.get == get => {
                let result = request.check(response, &self.keys);
                self.handle_address(host, result);
            }
            Step::Ports { requests, .. } => {
                if let Some((request, result)) = requests.iter_mut().find(|(request, _)| request.get == get) {
                    *result = Some(request.check(response, &self.keys).is_ok());
                }
                self.end_ports(host);
            }
            Step::Channel { channel, .. } => {
                channel.handle_response(host, get, response);
                self.end_channel();
            }
            Step::Address { .. } | Step::End(_) => {}
        }
    }

    /// Handles an event of connection `connection`.
    pub(crate) fn handle_channel(&mut self, host: &mut Host, connection: u64, event: ChannelEvent) {
        if let Step::Channel { channel, .. } = &mut self.step {
            channel.handle_event(host, connection, event);
            self.end_channel();
        }
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        match &mut self.step {
            Step::Address { request, .. } if request.deadline <= host.now => {
                let result = Err(request.abort(host));
                self.handle_address(host, result);
            }
            Step::Ports { requests, .. } => {
                for (request, result) in requests {
                    if result.is_none() && request.deadline <= host.now {
                        request.abort(host);
                        *result = Some(false);
                    }
                }
                self.end_ports(host);
            }
            Step::Channel { channel, .. } => {
                channel.handle_timeout(host);
                self.end_channel();
            }
            Step::Address { .. } | Step::End(_) => {}
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Stamp> {
        match &self.step {
            Step::Address { request, .. } => Some(request.deadline),
            Step::Ports { requests, .. } => {
                let open = requests.iter().filter(|(_, result)| result.is_none());
                open.map(|(request, _)| request.deadline).min()
            }
            Step::Channel { channel, .. } => Some(channel.poll_timeout()),
            Step::End(_) => None,
        }
    }

    /// Aborts the search.
    pub(crate) fn abort(&mut self, host: &mut Host) {
        match &mut self.step {
            Step::Address { request, .. } => drop(request.abort(host)),
            Step::Ports { requests, .. } => requests.iter().for_each(|(request, _)| drop(request.abort(host))),
            Step::Channel { channel, .. } => channel.abort(host),
            Step::End(_) => {}
        }
    }

    fn handle_address(&mut self, host: &mut Host, result: Result<(), String>) {
        let Step::Address { request, others, error } = &mut self.step else {
            return;
        };
        match result {
            Ok(()) => {
                let first = std::mem::take(&mut request.origin);
                let more = self.more_ports.iter().map(|port| with_port(&first, *port));
                let requests = more.map(|origin| (ConsentRequest::send(host, origin), None));
                let requests = requests.collect();
                self.step = Step::Ports { first, requests };
                self.end_ports(host);
            }
            Err(reason) => {
                let reason = error.take().unwrap_or(reason);
                match others.pop_front() {
                    Some(next) => {
                        *request = ConsentRequest::send(host, next);
                        *error = Some(reason);
                    }
                    None => {
                        self.step = Step::End(Prepared {
                            origins: Err(reason),
                            channel: None,
                        });
                    }
                }
            }
        }
    }

    fn end_ports(&mut self, host: &mut Host) {
        let Step::Ports { first, requests } = &mut self.step else {
            return;
        };
        if requests.iter().any(|(_, result)| result.is_none()) {
            return;
        }
        let mut origins = vec![std::mem::take(first)];
        let consenting = requests.drain(..).filter(|(_, result)| *result == Some(true));
        origins.extend(consenting.map(|(request, _)| request.origin));
        if self.needs_channel {
            let channel = Channel::open(host, &origins[0], self.keys.clone());
            let channel = Box::new(channel);
            self.step = Step::Channel { origins, channel };
            self.end_channel();
        } else {
            self.step = Step::End(Prepared {
                origins: Ok(origins),
                channel: None,
            });
        }
    }

    fn end_channel(&mut self) {
        let Step::Channel { origins, channel } = &mut self.step else {
            return;
        };
        if let Some(result) = channel.result() {
            self.step = Step::End(Prepared {
                origins: Ok(std::mem::take(origins)),
                channel: Some(result),
            });
        }
    }
}

impl ConsentRequest {
    fn send(host: &mut Host, origin: String) -> ConsentRequest {
        let (get, nonce) = (host.number(), host.random.nonce());
        let url = format!("{origin}{PATH}?{QUERY}{nonce}");
        host.push(Effect::Get { get, url });
        ConsentRequest {
            get,
            origin,
            nonce,
            deadline: host.now.after(RESPONSE_TIMEOUT),
        }
    }

    /// Aborts the request after the timeout. Returns the error.
    fn abort(&self, host: &mut Host) -> String {
        host.push(Effect::Abort { get: self.get });
        format!(
            "the server at {} did not respond within {RESPONSE_TIMEOUT}",
            self.origin
        )
    }

    fn check(&self, response: Response<'_>, keys: &[FleetKey]) -> Result<(), String> {
        let origin = &self.origin;
        match response {
            None => Err(format!("the server at {origin} cannot be reached")),
            Some((200, text)) if text.len() <= MAX_SIZE => check(text, &self.nonce, keys),
            Some((status, _)) => Err(format!(
                "the server at {origin} rejects the request for its consent: status {status}"
            )),
        }
    }
}

/// Checks a consent document, the response to `nonce`.
fn check(text: &str, nonce: &str, keys: &[FleetKey]) -> Result<(), String> {
    let consent = Consent::parse(text.as_bytes()).map_err(|error| match error {
        ConsentError::Schema(_) => "unsupported version of the server's consent document",
        _ => "the response is not from a netburn server",
    })?;
    if !consent.consents {
        return Err("the server does not consent to load tests".to_owned());
    }
    let answer = consent.fleet.unwrap_or_default();
    if keys.iter().any(|key| key.accepts(nonce, &answer)) {
        Ok(())
    } else {
        Err("the server does not consent to this fleet".to_owned())
    }
}

/// Returns the origins of the server `target` in the order in which they are tried. An unspecified address means the host of
/// the page.
fn candidates(target: &ServerAddress, hostname: &str) -> Vec<String> {
    let port = target.address.port();
    let addresses = std::iter::once(target.address.ip()).chain(target.alternatives.iter().copied());
    addresses.map(|address| origin(address, port, hostname)).collect()
}

fn origin(address: IpAddr, port: u16, hostname: &str) -> String {
    if address.is_unspecified() {
        format!("http://{hostname}:{port}")
    } else {
        format!("http://{}", SocketAddr::new(address, port))
    }
}

/// Returns the same origin with another port.
fn with_port(origin: &str, port: u16) -> String {
    let (host, _) = origin.rsplit_once(':').unwrap_or((origin, ""));
    format!("{host}:{port}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Loaded;
    use netburn_units::ByteSize;

    fn host() -> Host {
        let loaded = Loaded {
            hostname: "x".to_owned(),
            ..Loaded::default()
        };
        Host::new(Stamp(0), loaded)
    }

    fn consent(nonce: &str, token: &str) -> Consent {
        let mut consent = Consent::new("", ByteSize::from_gib(1)).unwrap();
        consent.fleet = FleetKey::new(token).answer(nonce);
        consent
    }

    #[test]
    fn a_consent_is_valid_only_for_its_fleet() {
        let nonce = "0123456789abcdef";
        let keys = ["other", "Jefe"].map(FleetKey::new);
        let good = consent(nonce, "Jefe");
        let error = |consent: &Consent| check(&consent.to_json(), nonce, &keys).unwrap_err();
        assert_eq!(check(&good.to_json(), nonce, &keys), Ok(()));
        let refusing = Consent {
            consents: false,
            ..good.clone()
        };
        assert_eq!(error(&refusing), "the server does not consent to load tests");
        for fleet in [None, Some("f".repeat(64)), Some("x".to_owned())] {
            let consent = Consent { fleet, ..good.clone() };
            assert_eq!(error(&consent), "the server does not consent to this fleet");
        }
        let later = Consent {
            schema: "netburn.consent/2".to_owned(),
            ..good
        };
        assert_eq!(error(&later), "unsupported version of the server's consent document");
        for text in ["<html>", "null", "{}", ""] {
            let error = check(text, nonce, &keys).unwrap_err();
            assert_eq!(error, "the response is not from a netburn server", "{text}");
        }
    }

    #[test]
    fn a_server_at_an_unspecified_address_is_at_the_host_of_the_page() {
        let first = |address: &str, hostname: &str| {
            let target = ServerAddress::new(address.parse().unwrap(), 4480);
            candidates(&target, hostname).remove(0)
        };
        assert_eq!(first("192.168.1.5:4480", "x"), "http://192.168.1.5:4480");
        assert_eq!(first("[2001:db8::1]:4480", "x"), "http://[2001:db8::1]:4480");
        assert_eq!(first("0.0.0.0:4480", "192.168.1.5"), "http://192.168.1.5:4480");
        assert_eq!(first("[::]:4480", "[fe80::1]"), "http://[fe80::1]:4480");
    }

    fn target() -> ServerAddress {
        ServerAddress {
            alternatives: vec!["fd00::5".parse().unwrap(), "10.0.0.5".parse().unwrap()],
            more_ports: vec![4489, 4490],
            ..ServerAddress::new("192.168.1.5:4480".parse().unwrap(), 4480)
        }
    }

    /// Answers all requests. Servers at `reachable` consent, except at port 4490.
    fn find(reachable: &[&str]) -> Result<Vec<String>, String> {
        let mut host = host();
        let mut preparation = Preparation::begin(&mut host, ["token", "fleet"], &target(), false);
        loop {
            let effects = host.take_effects();
            if let Some(prepared) = preparation.result() {
                assert_eq!(effects, []);
                return prepared.origins.clone();
            }
            for effect in effects {
                let Effect::Get { get, url } = effect else {
                    panic!("{effect:?}")
                };
                let (origin, nonce) = url.split_once("/.well-known/netburn?fleet=").unwrap();
                let token = if origin.ends_with("4490") { "another" } else { "token" };
                let text = consent(nonce, token).to_json();
                let response = reachable.contains(&origin).then_some((200, text.as_str()));
                preparation.handle_response(&mut host, get, response);
            }
        }
    }

    #[test]
    fn a_server_is_found_at_its_other_addresses_and_each_of_its_ports_must_consent() {
        let six = [
            "http://[fd00::5]:4480",
            "http://[fd00::5]:4489",
            "http://[fd00::5]:4490",
        ];
        assert_eq!(find(&six).unwrap(), six[..2]);
        let four = "http://192.168.1.5:4480";
        assert_eq!(find(&[four, six[0], six[1], six[2]]).unwrap(), [four]);
        assert_eq!(
            find(&[]).unwrap_err(),
            "the server at http://192.168.1.5:4480 cannot be reached"
        );
    }

    #[test]
    fn a_server_without_a_response_is_given_up_after_five_seconds() {
        let mut host = host();
        let mut preparation = Preparation::begin(&mut host, ["token", "fleet"], &target(), false);
        for _ in 0..3 {
            assert!(preparation.result().is_none());
            host.now = preparation.poll_timeout().unwrap();
            preparation.handle_timeout(&mut host);
        }
        assert_eq!(host.now, Stamp(15_000_000_000));
        let error = preparation.result().unwrap().origins.clone().unwrap_err();
        assert_eq!(
            error,
            "the server at http://192.168.1.5:4480 did not respond within 5 s"
        );
        let aborted = host.take_effects();
        assert_eq!(
            aborted
                .iter()
                .filter(|effect| matches!(effect, Effect::Abort { .. }))
                .count(),
            3
        );
    }

    #[test]
    fn other_statuses_are_reported() {
        let mut host = host();
        let target = ServerAddress::new("192.0.2.1:80".parse().unwrap(), 80);
        let mut preparation = Preparation::begin(&mut host, ["token", "fleet"], &target, false);
        preparation.handle_response(&mut host, 99, Some((200, "")));
        assert!(preparation.result().is_none(), "the response to another request");
        preparation.handle_response(&mut host, 1, Some((503, "")));
        let error = preparation.result().unwrap().origins.clone().unwrap_err();
        assert!(
            error.ends_with("rejects the request for its consent: status 503"),
            "{error}"
        );
    }
}
