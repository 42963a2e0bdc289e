//! What was measured, and what was not: the sentence that every output begins with.

use crate::plain::sanitise;

/// The sentence for `ground`, as a summary names it.
#[must_use]
pub fn sentence(ground: &str) -> String {
    match ground {
        "local" => "local: the server and every station ran on this machine, over its own loopback; no Wi-Fi was \
                    measured. To measure yours: `netburn serve` on a machine wired to it, and `netburn fetch` \
                    from a device on the Wi-Fi."
            .to_owned(),
        other => format!("{}: a ground that this version does not know.", sanitise(other)),
    }
}
