//! `netburn sqm`.

use super::Format;
use clap::Args;
use netburn_traffic::fetch::Url;
use netburn_units::BitRate;
use std::path::PathBuf;

/// Check the SQM of your router, and find settings for it
///
/// netburn measures the internet line of this computer against `netburn serve` on the internet: round trips without load, TCP in
/// each direction, and streams of datagrams of several sizes. It finds where packets wait, the rate at which the queue moves, and
/// the bytes that the line adds to each packet. Standard output shows the advice, and settings for OpenWrt's SQM and for tc.
///
/// Connect this computer to the router with a cable, and keep other devices quiet. The measurement takes one to two minutes. Before
/// it begins, netburn prints how much it transfers at most. Above 2 GB it asks for confirmation. If it can't tell the settings of a
/// direction, the exit status is 3.
///
/// The server, and this computer for the upload, should send TCP with Cubic, as Linux, Windows and macOS do by default. BBR keeps
/// queues short by itself, so that the measurement can't tell whether SQM does it.
#[derive(Debug, Args)]
pub(crate) struct SqmArgs {
    /// Server beyond the line, such as http://test.example.org:4480/
    #[arg(required_unless_present = "line")]
    pub(crate) url: Option<Url>,
    /// Simulate the measurement of the line in this scenario file instead
    #[arg(long, value_name = "SCENARIO", conflicts_with = "url")]
    pub(crate) line: Option<PathBuf>,
    /// Interface of the router towards the line, for the settings [default: wan]
    #[arg(long, value_name = "NAME", value_parser = interface)]
    pub(crate) interface: Option<String>,
    /// Downlink rate of your contract, to compare
    #[arg(long, value_name = "RATE")]
    pub(crate) contract_down: Option<BitRate>,
    /// Uplink rate of your contract, to compare
    #[arg(long, value_name = "RATE")]
    pub(crate) contract_up: Option<BitRate>,
    /// Fastest rate of the line that the volume assumes
    #[arg(long, value_name = "RATE", default_value = "1Gbit/s")]
    pub(crate) most: BitRate,
    /// Format of the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Don't ask for confirmation, also if the server does not announce that it permits load tests: you have the permission
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The name of a network device of Linux: up to 15 characters, which need no quotes in a shell.
fn interface(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    if (1..=15).contains(&text.len()) && text.chars().all(is_plain) && !text.starts_with('-') {
        Ok(text.to_owned())
    } else {
        Err("expected the name of a network interface, such as wan or eth1".to_owned())
    }
}
