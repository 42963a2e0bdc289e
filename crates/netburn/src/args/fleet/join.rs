//! `netburn fleet join`.

use super::name;
use clap::Args;
use netburn_fleet_member::member::Hours;
use netburn_protocol::messages::is_name;
use netburn_units::{BitRate, ByteSize, Duration};
use std::str::FromStr;

/// Join a fleet and take part in its runs
///
/// The agent stays a member until it is interrupted, and reconnects after a lost connection. It executes no commands:
/// it only fetches, posts and probes, from servers that consent to this fleet. Without a URL, netburn searches for a
/// controller on the local network.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Join address from `netburn fleet serve`, such as `http://192.168.1.5:4484/#TOKEN.FINGERPRINT`, or
    /// `unix:PATH#TOKEN` on the controller's machine. `@FILE` reads it from a file, so that other users of this machine
    /// can't see it
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Part of the address after the `#`, for a URL without it
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Name in the fleet: letters, digits and `-` [default: this machine's name]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// Label by which scenarios can select this device, such as room=kitchen; repeatable
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// Network interface for the traffic of the runs, such as wlan0. Messages to the controller may use another one
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Server to use instead of the run's; it must also consent to this fleet
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) server: Option<String>,
    /// Act as a server of the fleet's runs, not as a station
    #[arg(long, conflicts_with_all = ["interface", "server"])]
    pub(crate) serve: bool,
    /// Check whether joining works with these options, and exit; a running agent is not affected
    #[arg(long, conflicts_with_all = ["install", "uninstall"])]
    pub(crate) check: bool,
    /// Install a service of systemd or procd that starts the agent with the device. As root it is a service of the
    /// system, else of this user. On other systems, netburn prints the command to start. NETBURN_FLEET_URL in its
    /// environment replaces URL
    #[arg(long)]
    pub(crate) install: bool,
    /// Remove the service
    #[arg(long, conflicts_with_all = ["install", "url"])]
    pub(crate) uninstall: bool,
    #[command(flatten)]
    pub(crate) limits: LimitsArgs,
}

/// Limits of this device for the runs of a fleet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitsArgs {
    /// Maximum rate in each direction, such as "50 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) max_rate: Option<BitRate>,
    /// Maximum volume of one run, such as 2GB; then the agent leaves the run
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<ByteSize>,
    /// Maximum duration of a run, such as 10min
    #[arg(long, value_name = "TIME")]
    pub(crate) max_duration: Option<Duration>,
    /// Hours of the day (this machine's clock) in which it takes part, such as 18-23
    #[arg(long, value_name = "FROM-TO")]
    pub(crate) hours: Option<Hours>,
}

/// Label of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if is_name(key) && is_name(value) => Ok(Label {
                key: key.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err(format!(
                "invalid label: found `{text}`, expected KEY=VALUE in letters, digits and `-`, such as `room=kitchen`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_value() {
        let label: Label = "room=kitchen".parse().unwrap();
        assert_eq!((label.key.as_str(), label.value.as_str()), ("room", "kitchen"));
        for wrong in ["", "room", "room=", "=kitchen", "a=b=c", "room=the kitchen"] {
            assert!(wrong.parse::<Label>().is_err(), "{wrong}");
        }
    }
}
