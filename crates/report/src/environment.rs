//! The sentence about the environment with which every output begins.

use netburn_record::Environment;

/// The sentence for an environment.
#[must_use]
pub const fn sentence(environment: Environment) -> &'static str {
    match environment {
        Environment::Local => {
            "local: server and stations ran on this machine, over the loopback device; no Wi-Fi was tested. To test your own network, run `netburn ui`."
        }
        Environment::Simulate => {
            "simulate: a model of Wi-Fi and TCP in simulated time, not your own Wi-Fi. To test your own network, run `netburn ui`."
        }
        Environment::Lab => {
            "lab: a model of an access point with this machine's kernel TCP, not your own Wi-Fi. To test your own network, run `netburn ui`."
        }
        Environment::Fleet => "fleet: real devices on a real network.",
        Environment::Imported => "imported: measured by another program; netburn did not check the measurement.",
    }
}
