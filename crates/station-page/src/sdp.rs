//! Session descriptions of data channels (RFC 8839, RFC 8841), as the browser expects them.

use netburn_driver::channel_offer::ChannelAnswer;

/// Returns the SHA-256 of the certificate in the browser's offer, as hexadecimal digits.
pub(crate) fn certificate_of(offer: &str) -> Option<String> {
    let fingerprints = offer.lines().filter_map(|line| {
        let (name, digits) = line.trim_end().split_once(' ')?;
        name.eq_ignore_ascii_case("a=fingerprint:sha-256").then_some(digits)
    });
    let certificates = fingerprints.map(|digits| digits.replace(':', "").to_ascii_lowercase());
    let is_sha256 = |digits: &String| digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    certificates.into_iter().find(is_sha256)
}

/// Returns the answer of a server at the IP address `host` as a session description: ICE lite with one candidate, and the
/// passive side of DTLS. `None` if the offer has no media.
pub(crate) fn answer(offer: &str, host: &str, answer: &ChannelAnswer) -> Option<String> {
    let mid = offer.lines().find_map(|line| line.trim_end().strip_prefix("a=mid:"))?;
    let digits = answer.certificate.to_ascii_uppercase();
    let pairs: Vec<&str> = (0..digits.len() / 2).map(|at| &digits[2 * at..2 * at + 2]).collect();
    let ChannelAnswer {
        ufrag, password, port, ..
    } = answer;
    let lines = [
        "v=0".to_owned(),
        "o=- 1 1 IN IP4 0.0.0.0".to_owned(),
        "s=-".to_owned(),
        "t=0 0".to_owned(),
        "a=ice-lite".to_owned(),
        format!("a=group:BUNDLE {mid}"),
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel".to_owned(),
        "c=IN IP4 0.0.0.0".to_owned(),
        format!("a=mid:{mid}"),
        format!("a=ice-ufrag:{ufrag}"),
        format!("a=ice-pwd:{password}"),
        format!("a=fingerprint:sha-256 {}", pairs.join(":")),
        "a=setup:passive".to_owned(),
        "a=sctp-port:5000".to_owned(),
        "a=max-message-size:1400".to_owned(),
        // The priority of a host candidate of component 1 (RFC 8445 §5.1.2.1).
        format!("a=candidate:1 1 udp 2130706431 {host} {port} typ host"),
        "a=end-of-candidates".to_owned(),
    ];
    Some(lines.map(|line| format!("{line}\r\n")).concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_belongs_to_the_offer() {
        let offer = format!(
            "v=0\r\na=mid:data\r\na=fingerprint:sha-256 {}\r\n",
            ["AB"; 32].join(":")
        );
        assert_eq!(certificate_of(&offer), Some("ab".repeat(32)));
        assert_eq!(certificate_of("a=fingerprint:sha-1 AB:CD\r\n"), None);
        assert_eq!(certificate_of("a=fingerprint:sha-256 AB:CD\r\n"), None);
        let from_server = ChannelAnswer::new("U".repeat(48), "p".repeat(43), "0a".repeat(32), 4480);
        let text = answer(&offer, "192.0.2.1", &from_server).unwrap();
        let lines: Vec<&str> = text.split("\r\n").collect();
        for line in [
            "a=mid:data",
            "a=ice-lite",
            "a=setup:passive",
            "a=candidate:1 1 udp 2130706431 192.0.2.1 4480 typ host",
            &format!("a=fingerprint:sha-256 {}", ["0A"; 32].join(":")),
        ] {
            assert!(lines.contains(&line), "{line}");
        }
        let text = answer("a=mid:0\r\n", "2001:db8::1", &from_server).unwrap();
        assert!(text.contains("udp 2130706431 2001:db8::1 4480 typ host"));
        assert_eq!(answer("", "192.0.2.1", &from_server), None);
    }
}
