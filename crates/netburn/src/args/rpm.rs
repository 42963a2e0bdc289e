//! `netburn rpm`.

use super::fetch::in_unit;
use super::measurement::MeasurementArgs;
use clap::{Args, ValueEnum};
use netburn_traffic::fetch::Url;
use netburn_units::{ByteSize, Duration, Probability};
use std::num::NonZeroUsize;

/// Measure responsiveness under load, in round trips per minute (RPM)
///
/// Works with servers of the IETF draft draft-ietf-ippm-responsiveness-09, such as `netburn serve --tls`. netburn loads
/// the network in one direction after the other, until the goodput is stable. It then sends probes until the score is
/// stable. Standard error shows one line per interval. netburn asks for confirmation if the server is on another machine
/// and does not publish a consent document.
#[derive(Debug, Args)]
pub(crate) struct RpmArgs {
    /// URL of the server or of its configuration [default path: /.well-known/nq]
    #[arg(value_parser = https)]
    pub(crate) url: Url,
    /// Load both directions at the same time, with one score
    #[arg(long, conflicts_with = "direction")]
    pub(crate) concurrent: bool,
    /// Direction of the load [default: download, then upload]
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub(crate) direction: Option<RpmDirection>,
    /// Maximum duration of the load in each test
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = in_unit::<Duration>("s"))]
    pub(crate) time: Duration,
    /// Duration of the probes before the load
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = in_unit::<Duration>("s"))]
    pub(crate) idle: Duration,
    /// Maximum amount of load in each test
    #[arg(long, value_name = "SIZE", default_value = "128GiB")]
    pub(crate) max_data: ByteSize,
    /// Accept a configuration with URLs of another host or port
    #[arg(long)]
    pub(crate) allow_other_host: bool,
    #[command(flatten)]
    pub(crate) measurement: MeasurementArgs,
    #[command(flatten)]
    pub(crate) draft: DraftArgs,
}

/// Parameters with the names of the draft.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of the draft")]
pub(crate) struct DraftArgs {
    /// Interval duration (ID); other programs use 1s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = in_unit::<Duration>("s"))]
    pub(crate) id: Duration,
    /// Number of intervals of a moving average (MAD)
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) mad: NonZeroUsize,
    /// Maximum standard deviation of stable values, in percent of their mean (SDT)
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = in_unit::<Probability>("%"))]
    pub(crate) sdt: Probability,
    /// Percentage of the shortest times in the trimmed mean (TMP)
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = in_unit::<Probability>("%"))]
    pub(crate) tmp: Probability,
    /// Maximum number of load connections of each direction (MNP)
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) mnp: u32,
    /// Maximum number of probes of each kind per second (MPS)
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) mps: u32,
    /// Maximum percentage of the goodput for probes (PTC)
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = in_unit::<Probability>("%"))]
    pub(crate) ptc: Probability,
}

/// Direction of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RpmDirection {
    /// Download only
    Down,
    /// Upload only
    Up,
}

/// Parses a URL. The default scheme is `https`.
fn https(text: &str) -> Result<Url, String> {
    let with_scheme = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{}", text.trim())
    };
    let url: Url = with_scheme
        .parse()
        .map_err(|error: netburn_traffic::fetch::UrlError| error.to_string())?;
    if url.secure {
        Ok(url)
    } else {
        Err(format!(
            "found http://, expected https://\nhelp: https://{}{}",
            with_scheme
                .trim_start_matches("http://")
                .split('/')
                .next()
                .unwrap_or_default(),
            url.path
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_https() {
        let parsed = |text: &str| https(text).map(|url| url.to_string());
        assert_eq!(parsed("192.0.2.1:4483"), Ok("https://192.0.2.1:4483/".to_owned()));
        assert_eq!(parsed("https://a/config"), Ok("https://a/config".to_owned()));
        assert_eq!(
            parsed("http://a:4480/config"),
            Err("found http://, expected https://\nhelp: https://a:4480/config".to_owned())
        );
        assert!(parsed("ftp://a/").is_err());
    }
}
