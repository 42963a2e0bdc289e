//! What was measured, and what was not: the sentence that every output begins with.

use netburn_record::Environment;

/// The sentence for an environment.
#[must_use]
pub const fn sentence(environment: Environment) -> &'static str {
    match environment {
        Environment::Local => {
            "local: the server and every station ran on this machine, over its own loopback; no Wi-Fi was measured. To \
             measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a phone, and \
             `--on fleet`."
        }
        Environment::Simulate => {
            "simulate: a modelled access point was measured, with modelled TCP in virtual time, and nothing of your own \
             Wi-Fi. To measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a \
             phone, and `--on fleet`. To measure this machine's own path: `--on local`."
        }
        Environment::Lab => {
            "lab: a modelled access point was measured, with this machine's kernel TCP, and nothing of your own Wi-Fi. To \
             measure yours: `netburn fleet serve` on a machine wired to the router, scan its code with a phone, and \
             `--on fleet`. To measure this machine's own path: `--on local`."
        }
        Environment::Fleet => "fleet: real devices over the real air.",
        Environment::Imported => {
            "imported: another program measured this, and netburn looked at none of it while it was measured."
        }
    }
}
