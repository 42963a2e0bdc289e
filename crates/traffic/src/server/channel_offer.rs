//! Offers of WebRTC data channels over HTTP: `GET /.well-known/netburn/channel`.
//!
//! Without a valid [proof](FleetKey::accepts_offer) the response is 403. With one it contains credentials of ICE, which the
//! server computes and does not store. `netburn_driver::channel_offer` describes the query.

use super::flow::clock;
use super::response::Response;
use crate::consent::fleet::FleetKey;
use netburn_driver::channel_offer::ChannelAnswer;
use netburn_webrtc::{Fingerprint, Offers};

pub(crate) use netburn_driver::channel_offer::PATH;

/// Answers to offers.
#[derive(Debug, Clone)]
pub(crate) struct ChannelOffers {
    pub(crate) key: FleetKey,
    pub(crate) offers: Offers,
    /// Fingerprint of the server's certificate.
    pub(crate) certificate: Fingerprint,
    /// UDP port.
    pub(crate) port: u16,
}

impl ChannelOffers {
    /// Returns the response to an offer with this query.
    pub(crate) fn response(&self, query: &str) -> Response {
        let value = |name: &str| {
            let mut parts = query.split('&').filter_map(|part| part.split_once('='));
            parts.find_map(|(key, value)| (key == name).then_some(value))
        };
        let (Some(nonce), Some(certificate), Some(proof)) = (value("fleet"), value("certificate"), value("proof"))
        else {
            return Response::text(400, "missing parameter: expected `fleet`, `certificate` and `proof`");
        };
        let Some(fingerprint) = Fingerprint::from_hex(certificate) else {
            return Response::text(400, "invalid `certificate`: expected 64 hexadecimal digits");
        };
        if !self.key.accepts_offer(nonce, certificate, proof) {
            return Response::text(403, "invalid `proof`: the offer is not from this fleet");
        }
        let answer = self.offers.answer(clock(), fingerprint);
        let document = ChannelAnswer::new(answer.ufrag, answer.password, self.certificate.to_hex(), self.port);
        Response::page(200, "application/json", document.to_json().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::response::Body;

    fn offers() -> ChannelOffers {
        ChannelOffers {
            key: FleetKey::new("token"),
            offers: Offers::new(&[1; 32]),
            certificate: Fingerprint([2; 32]),
            port: 4480,
        }
    }

    fn body(response: &Response) -> String {
        match &response.body {
            Body::Text(_, bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            Body::Content(_) => panic!("content"),
        }
    }

    const NONCE: &str = "0123456789abcdef";

    #[test]
    fn a_member_of_the_fleet_gets_credentials() {
        let offers = offers();
        let certificate = "07".repeat(32);
        let proof = offers.key.offer(NONCE, &certificate).unwrap();
        let response = offers.response(&format!("fleet={NONCE}&certificate={certificate}&proof={proof}"));
        assert_eq!(response.status, 200);
        let answer: serde_json::Value = serde_json::from_str(&body(&response)).unwrap();
        assert_eq!(answer["port"], 4480);
        assert_eq!(answer["certificate"], "02".repeat(32));
        assert_eq!(answer["ufrag"].as_str().unwrap().len(), 48);
        assert_eq!(answer["password"].as_str().unwrap().len(), 43);
    }

    #[test]
    fn other_offers_get_an_error() {
        let offers = offers();
        let certificate = "07".repeat(32);
        let (proof, other) = (
            offers.key.offer(NONCE, &certificate).unwrap(),
            FleetKey::new("other").offer(NONCE, &certificate).unwrap(),
        );
        // The consent document answers any nonce. Its answer is no proof.
        let consent = offers.key.answer(NONCE).unwrap();
        let changed = "08".repeat(32);
        for (query, status, text) in [
            (
                String::new(),
                400,
                "missing parameter: expected `fleet`, `certificate` and `proof`\n",
            ),
            (
                format!("fleet={NONCE}&certificate={certificate}"),
                400,
                "missing parameter: expected `fleet`, `certificate` and `proof`\n",
            ),
            (
                format!("fleet={NONCE}&certificate=07&proof={proof}"),
                400,
                "invalid `certificate`: expected 64 hexadecimal digits\n",
            ),
            (
                format!("fleet={NONCE}&certificate={certificate}&proof={other}"),
                403,
                "invalid `proof`: the offer is not from this fleet\n",
            ),
            (
                format!("fleet={NONCE}&certificate={certificate}&proof={consent}"),
                403,
                "invalid `proof`: the offer is not from this fleet\n",
            ),
            (
                format!("fleet={NONCE}&certificate={changed}&proof={proof}"),
                403,
                "invalid `proof`: the offer is not from this fleet\n",
            ),
            (
                format!("fleet=short&certificate={certificate}&proof={proof}"),
                403,
                "invalid `proof`: the offer is not from this fleet\n",
            ),
        ] {
            let response = offers.response(&query);
            assert_eq!((response.status, body(&response).as_str()), (status, text), "{query}");
        }
    }
}
