//! What was measured, and what was not: the sentence that every output begins with.

use netburn_record::Ground;

/// The sentence for a ground.
#[must_use]
pub const fn sentence(ground: Ground) -> &'static str {
    match ground {
        Ground::Local => {
            "local: the server and every station ran on this machine, over its own loopback; no Wi-Fi was measured. To \
             measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a phone, and \
             `--on fleet`."
        }
        Ground::Simulate => {
            "simulate: a modelled access point was measured, with modelled TCP in virtual time, and nothing of your own \
             Wi-Fi. To measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a \
             phone, and `--on fleet`. To measure this machine's own path: `--on local`."
        }
        Ground::Lab => {
            "lab: a modelled access point was measured, with this machine's kernel TCP, and nothing of your own Wi-Fi. To \
             measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a phone, and \
             `--on fleet`. To measure this machine's own path: `--on local`."
        }
        Ground::Fleet => "fleet: real devices over the real air.",
        Ground::Imported => {
            "imported: another program measured this, and netburn looked at none of it while it was measured."
        }
    }
}
