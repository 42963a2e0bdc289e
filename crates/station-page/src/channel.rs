//! Opening of the data channel to a server. The page has the connection of the browser, which workers lack.

use crate::browser::Effect;
use crate::host::{Host, Response};
use crate::sdp;
use netburn_driver::channel_offer::{ChannelAnswer, PATH};
use netburn_driver::consent::fleet::FleetKey;
use netburn_protocol::clock::Stamp;
use netburn_units::Duration;
use std::net::IpAddr;

/// Time limit of each of the steps, and of all of them together. The controller waits for a station for 20 s.
const TIMEOUT: Duration = Duration::from_secs(5);
const TOTAL_TIMEOUT: Duration = Duration::from_secs(8);

/// Event of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChannelEvent {
    Created,
    Offer(String),
    Open,
    Closed,
    Failed(String),
}

/// A data channel that is being opened.
pub(crate) struct Channel {
    origin: String,
    /// IP address of the server.
    address: String,
    /// Keys for the proof of the offer, from the last to the first.
    keys: Vec<FleetKey>,
    connection: u64,
    step: Step,
    deadline: Stamp,
    last_deadline: Stamp,
}

enum Step {
    Create,
    Offer,
    /// Sent the offer to the server with the proof by one of the keys.
    Answer {
        sdp: String,
        certificate: String,
        get: u64,
    },
    /// Has the answer of the server at this port.
    Open(u16),
    End(Result<(), String>),
}

impl Channel {
    /// Requests a connection of the browser to the server at `origin`.
    pub(crate) fn open(host: &mut Host, origin: &str, mut keys: Vec<FleetKey>) -> Channel {
        let name = origin.trim_start_matches("http://");
        let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
        let address = name.trim_start_matches('[').trim_end_matches(']').to_owned();
        keys.reverse();
        let mut channel = Channel {
            origin: origin.to_owned(),
            connection: host.number(),
            keys,
            step: Step::Create,
            deadline: host.now.after(TIMEOUT),
            last_deadline: host.now.after(TOTAL_TIMEOUT),
            address,
        };
        let address = &channel.address;
        if address.parse::<IpAddr>().is_err() {
            let reason = format!("the address of this page has the name `{address}`; open it at its IP address");
            channel.step = Step::End(Err(reason));
        } else if !host.webrtc {
            channel.step = Step::End(Err("this browser has no WebRTC".to_owned()));
        } else {
            let connection = channel.connection;
            host.push(Effect::Connect { connection });
        }
        channel
    }

    /// Returns the number of the connection, or the reason why there is no data channel. `None` before the end.
    pub(crate) fn result(&self) -> Option<Result<u64, String>> {
        match &self.step {
            Step::End(result) => Some(result.clone().map(|()| self.connection)),
            _ => None,
        }
    }

    pub(crate) fn handle_event(&mut self, host: &mut Host, connection: u64, event: ChannelEvent) {
        if connection != self.connection {
            return;
        }
        match (event, &self.step) {
            (_, Step::End(_)) => {}
            (ChannelEvent::Failed(_), Step::Create) => {
                self.fail(host, "this browser cannot pass a data channel to a worker".to_owned());
            }
            (ChannelEvent::Failed(error), _) => {
                self.fail(host, format!("the browser rejects the connection: {error}"));
            }
            (ChannelEvent::Closed, _) => self.fail(host, "the data channel was closed".to_owned()),
            (ChannelEvent::Created, Step::Create) => self.wait(host, Step::Offer),
            (ChannelEvent::Offer(sdp), Step::Offer) => match sdp::certificate_of(&sdp) {
                Some(certificate) => self.send_offer(host, sdp, certificate, 0),
                None => self.fail(host, "the browser's offer has no SHA-256".to_owned()),
            },
            (ChannelEvent::Open, Step::Open(_)) => self.step = Step::End(Ok(())),
            (ChannelEvent::Created | ChannelEvent::Offer(_) | ChannelEvent::Open, _) => {}
        }
    }

    pub(crate) fn handle_response(&mut self, host: &mut Host, get: u64, response: Response<'_>) {
        let Step::Answer {
            sdp,
            certificate,
            get: sent,
        } = &mut self.step
        else {
            return;
        };
        if get != *sent {
            return;
        }
        let (sdp, certificate) = (std::mem::take(sdp), std::mem::take(certificate));
        self.step = Step::Offer;
        match response {
            None => self.fail(host, "the server did not answer the offer".to_owned()),
            Some((200, text)) => {
                let answer = ChannelAnswer::parse(text);
                let answer = answer.and_then(|answer| Some((answer.port, sdp::answer(&sdp, &self.address, &answer)?)));
                let Some((port, sdp)) = answer else {
                    let error = "invalid answer of the server to the offer of a data channel";
                    return self.fail(host, error.to_owned());
                };
                let connection = self.connection;
                host.push(Effect::Answer { connection, sdp });
                self.wait(host, Step::Open(port));
            }
            Some((status, _)) => self.send_offer(host, sdp, certificate, status),
        }
    }

    /// Sends the offer with the proof by the next key. `status` is that of the last response.
    fn send_offer(&mut self, host: &mut Host, sdp: String, certificate: String, status: u16) {
        let Some(key) = self.keys.pop() else {
            let error = match status {
                404 => "the server has no data channels".to_owned(),
                _ => format!("the server rejected the offer of a data channel: status {status}"),
            };
            return self.fail(host, error);
        };
        let (get, nonce) = (host.number(), host.random.nonce());
        let proof = key.offer(&nonce, &certificate).unwrap_or_default();
        let url = format!(
            "{}{PATH}?fleet={nonce}&certificate={certificate}&proof={proof}",
            self.origin
        );
        host.push(Effect::Get { get, url });
        self.wait(host, Step::Answer { sdp, certificate, get });
    }

    pub(crate) fn handle_timeout(&mut self, host: &mut Host) {
        if host.now < self.deadline {
            return;
        }
        let error = match &self.step {
            Step::Create => "the page did not create a connection".to_owned(),
            Step::Offer => "the browser did not create an offer".to_owned(),
            Step::Answer { .. } => "the server did not answer the offer".to_owned(),
            Step::Open(port) => {
                format!("UDP port {port} of the server did not answer; a firewall may block it")
            }
            Step::End(_) => return,
        };
        self.fail(host, error);
    }

    pub(crate) const fn poll_timeout(&self) -> Stamp {
        self.deadline
    }

    /// Aborts the opening.
    pub(crate) fn abort(&mut self, host: &mut Host) {
        self.fail(host, String::new());
    }

    fn wait(&mut self, host: &Host, step: Step) {
        self.step = step;
        self.deadline = host.now.after(TIMEOUT).min(self.last_deadline);
    }

    fn fail(&mut self, host: &mut Host, error: String) {
        if let Step::Answer { get, .. } = self.step {
            host.push(Effect::Abort { get });
        }
        let connection = self.connection;
        host.push(Effect::Disconnect { connection });
        self.step = Step::End(Err(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Loaded;

    fn offer() -> String {
        format!("a=mid:0\r\na=fingerprint:sha-256 {}\r\n", ["07"; 32].join(":"))
    }

    fn opening(origin: &str) -> (Host, Channel) {
        let loaded = Loaded {
            webrtc: true,
            ..Loaded::default()
        };
        let mut host = Host::new(Stamp(0), loaded);
        let channel = Channel::open(&mut host, origin, ["run", "fleet"].map(FleetKey::new).into());
        (host, channel)
    }

    fn error(channel: &Channel) -> String {
        channel.result().unwrap().unwrap_err()
    }

    /// The request of the only effect: its number and address.
    fn get(host: &mut Host) -> (u64, String) {
        match host.take_effects().pop() {
            Some(Effect::Get { get, url }) => (get, url),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_offer_has_a_proof_by_one_token_after_the_other() {
        let (mut host, mut channel) = opening("http://[2001:db8::1]:4480");
        assert_eq!(host.take_effects(), [Effect::Connect { connection: 1 }]);
        channel.handle_event(&mut host, 1, ChannelEvent::Created);
        channel.handle_event(&mut host, 1, ChannelEvent::Offer(offer()));
        for token in ["run", "fleet"] {
            let (get, url) = get(&mut host);
            let (address, query) = url.split_once('?').unwrap();
            assert_eq!(address, "http://[2001:db8::1]:4480/.well-known/netburn/channel");
            let values: Vec<&str> = query.split('&').map(|part| part.split_once('=').unwrap().1).collect();
            let [nonce, certificate, proof] = values[..] else {
                panic!("{query}")
            };
            assert_eq!(certificate, "07".repeat(32));
            assert!(FleetKey::new(token).accepts_offer(nonce, certificate, proof));
            channel.handle_response(&mut host, get, Some((403, "")));
        }
        assert_eq!(
            error(&channel),
            "the server rejected the offer of a data channel: status 403"
        );
        assert_eq!(host.take_effects(), [Effect::Disconnect { connection: 1 }]);
    }

    #[test]
    fn an_answer_opens_the_channel() {
        let (mut host, mut channel) = opening("http://192.0.2.1:4480");
        channel.handle_event(&mut host, 1, ChannelEvent::Created);
        channel.handle_event(&mut host, 1, ChannelEvent::Offer(offer()));
        let answer = ChannelAnswer::new("U".repeat(48), "p".repeat(43), "0a".repeat(32), 4480);
        let (get, _) = get(&mut host);
        channel.handle_response(&mut host, get, Some((200, &answer.to_json())));
        let effects = host.take_effects();
        let [Effect::Answer { connection: 1, sdp }] = &effects[..] else {
            panic!("{effects:?}")
        };
        assert!(sdp.contains("192.0.2.1 4480 typ host"), "{sdp}");
        channel.handle_event(&mut host, 2, ChannelEvent::Open);
        assert_eq!(channel.result(), None, "the event of another connection");
        channel.handle_event(&mut host, 1, ChannelEvent::Open);
        assert_eq!(channel.result(), Some(Ok(1)));
    }

    #[test]
    fn a_request_without_a_response_is_aborted() {
        let waiting = || {
            let (mut host, mut channel) = opening("http://192.0.2.1:4480");
            channel.handle_event(&mut host, 1, ChannelEvent::Created);
            channel.handle_event(&mut host, 1, ChannelEvent::Offer(offer()));
            let (get, _) = get(&mut host);
            (host, channel, get)
        };
        let ends: [fn(&mut Host, &mut Channel); 3] = [
            |host, channel| channel.handle_event(host, 1, ChannelEvent::Closed),
            |host, channel| channel.abort(host),
            |host, channel| {
                host.now = channel.poll_timeout();
                channel.handle_timeout(host);
            },
        ];
        for end in ends {
            let (mut host, mut channel, get) = waiting();
            end(&mut host, &mut channel);
            let effects = host.take_effects();
            assert_eq!(effects, [Effect::Abort { get }, Effect::Disconnect { connection: 1 }]);
        }
        let (mut host, mut channel, get) = waiting();
        channel.handle_response(&mut host, get, Some((200, "{}")));
        assert_eq!(host.take_effects(), [Effect::Disconnect { connection: 1 }]);
    }

    #[test]
    fn each_step_has_a_time_limit_and_a_reason() {
        let (mut host, mut channel) = opening("http://192.0.2.1:4480");
        host.now = channel.poll_timeout();
        channel.handle_timeout(&mut host);
        assert_eq!(
            (host.now, error(&channel).as_str()),
            (Stamp(5_000_000_000), "the page did not create a connection")
        );

        let (mut host, mut channel) = opening("http://192.0.2.1:4480");
        host.now = Stamp(4_000_000_000);
        channel.handle_event(&mut host, 1, ChannelEvent::Created);
        assert_eq!(channel.poll_timeout(), Stamp(8_000_000_000), "that of all steps");
        host.now = channel.poll_timeout();
        channel.handle_timeout(&mut host);
        assert_eq!(error(&channel), "the browser did not create an offer");

        let (_, channel) = opening("http://controller:4480");
        assert!(error(&channel).contains("has the name `controller`"));
        let (mut host, mut channel) = opening("http://192.0.2.1:4480");
        channel.handle_event(&mut host, 1, ChannelEvent::Created);
        channel.handle_event(&mut host, 1, ChannelEvent::Offer("v=0".to_owned()));
        assert_eq!(error(&channel), "the browser's offer has no SHA-256");
        let (mut host, mut channel) = opening("http://192.0.2.1:4480");
        channel.handle_event(&mut host, 1, ChannelEvent::Created);
        channel.handle_event(&mut host, 1, ChannelEvent::Offer(offer()));
        let (get, _) = get(&mut host);
        channel.handle_response(&mut host, get, Some((200, "{}")));
        assert!(error(&channel).starts_with("invalid answer of the server"));
    }
}
