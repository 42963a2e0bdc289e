//! What was measured, and what was not: the sentence that every output begins with.

use netburn_record::Ground;

/// The sentence for a ground.
#[must_use]
pub const fn sentence(ground: Ground) -> &'static str {
    match ground {
        Ground::Local => {
            "local: the server and every station ran on this machine, over its own loopback; no Wi-Fi was measured. To \
             measure yours: `netburn serve` on a machine wired to it, and `netburn fetch` from a device on the Wi-Fi."
        }
        Ground::Simulate => {
            "simulate: a modelled access point and modelled TCP, in virtual time; nothing of your own Wi-Fi was measured."
        }
        Ground::Lab => {
            "lab: kernel TCP through a modelled access point, on this machine; nothing of your own Wi-Fi was measured."
        }
        Ground::Fleet => "fleet: real devices over the real air.",
    }
}
