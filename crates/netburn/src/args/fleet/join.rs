//! `fleet join`.

use super::name;
use clap::Args;
use netburn_fleet::member::Hours;
use netburn_fleet::protocol::is_name;
use netburn_units::{BitRate, ByteSize, Duration};
use std::str::FromStr;

/// Be a member of a fleet: stay joined, and take part in its runs.
///
/// URL is what `netburn fleet serve` prints. Without one, a controller on the local network is looked for. It comes back by itself
/// when the connection is lost, and serves until it is interrupted. It executes nothing it is sent: it only fetches, posts and
/// probes, from servers that consent to this fleet.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Where to join, such as `http://192.168.1.5:4484/#TOKEN.FINGERPRINT`, or `unix:PATH#TOKEN` on the controller's own machine; `@FILE` reads it from there, so that nobody else on this machine sees it
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// What follows the `#`, for a URL without it
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// What it is called in the fleet: letters, digits and `-` [default: this machine's name]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) name: Option<String>,
    /// A label that scenarios can choose it by, such as room=kitchen; may be given several times
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub(crate) labels: Vec<Label>,
    /// The interface that its traffic is bound to, such as wlan0; what it says to the controller may go another way
    #[arg(long, value_name = "NAME")]
    pub(crate) interface: Option<String>,
    /// Measure against this server instead of the run's; it must consent to this fleet, too
    #[arg(long, value_name = "HOST[:PORT]")]
    pub(crate) server: Option<String>,
    /// Be a server of the fleet's runs instead of a station
    #[arg(long, conflicts_with_all = ["interface", "server"])]
    pub(crate) serve: bool,
    /// Check that it could join with these options, and exit; a running agent is not disturbed
    #[arg(long, conflicts_with_all = ["install", "uninstall"])]
    pub(crate) check: bool,
    /// Have it start with the device, as a service of systemd or procd: the system's as root, else this user's. Where there
    /// is neither, it says which command to start with the device; NETBURN_FLEET_URL in its environment stands for URL there
    #[arg(long)]
    pub(crate) install: bool,
    /// Take the service away
    #[arg(long, conflicts_with_all = ["install", "url"])]
    pub(crate) uninstall: bool,
    #[command(flatten)]
    pub(crate) limits: LimitsArgs,
}

/// What this device lets a fleet ask of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitsArgs {
    /// The most it moves each way, such as "50 Mbit/s"
    #[arg(long, value_name = "RATE")]
    pub(crate) max_rate: Option<BitRate>,
    /// The most bytes that it moves in one run, such as 2GB; then its part ends
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<ByteSize>,
    /// The longest run that it takes part in, such as 10min
    #[arg(long, value_name = "TIME")]
    pub(crate) max_duration: Option<Duration>,
    /// The hours of the day, by this machine's clock, at which it takes part, such as 18-23
    #[arg(long, value_name = "FROM-TO")]
    pub(crate) hours: Option<Hours>,
}

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// Its name.
    pub(crate) key: String,
    /// Its value.
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
            _ => Err("write it as `room=kitchen`, both sides in letters, digits and `-`".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_two_names() {
        let label: Label = "room=kitchen".parse().unwrap();
        assert_eq!((label.key.as_str(), label.value.as_str()), ("room", "kitchen"));
        for wrong in ["", "room", "room=", "=kitchen", "a=b=c", "room=the kitchen"] {
            assert!(wrong.parse::<Label>().is_err(), "{wrong}");
        }
    }
}
