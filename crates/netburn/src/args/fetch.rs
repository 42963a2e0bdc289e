//! `netburn fetch`.

use super::measurement::MeasurementArgs;
use clap::{Args, ValueEnum};
use netburn_traffic::fetch::Url;
use netburn_units::{BitRate, ByteSize, Duration, Probability};
use std::path::PathBuf;
use std::str::FromStr;

/// Fetch a URL repeatedly and measure the latency
///
/// Works with any HTTP server. Latency counts from the due time of a page, as in `netburn run`. Standard error shows
/// one line per second. netburn prints a percentile only if there are enough pages for it. It asks for confirmation if
/// the server is on another machine and does not publish a consent document.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// URL to fetch
    pub(crate) url: Url,
    /// Target rate of content in Mbit/s; a late page delays the later ones (no catch-up) [default: no limit]
    #[arg(short, long, value_name = "MBIT/S", value_parser = in_unit::<BitRate>("Mbit/s"))]
    pub(crate) rate: Option<BitRate>,
    /// Number of parallel requests for the URL; together they are one page
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) concurrency: u32,
    /// Time during which new pages start, in seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = in_unit::<Duration>("s"))]
    pub(crate) time: Duration,
    /// Jitter of each due time in ms, with --rate
    #[arg(long, value_name = "MS", default_value = "0", requires = "rate", value_parser = in_unit::<Duration>("ms"))]
    pub(crate) jitter: Duration,
    /// Percentile to print besides 50, 90, 95 and 99; repeatable
    #[arg(long, value_name = "N", value_parser = in_unit::<Probability>("%"))]
    pub(crate) percentile: Vec<Probability>,
    /// Amount to upload with POST instead of downloading
    #[arg(long, value_name = "SIZE")]
    pub(crate) post: Option<ByteSize>,
    /// CSV file to which the result is appended as a line
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the values of each second on standard output too; with --format json as JSON Lines, the result last
    #[arg(short, long)]
    pub(crate) batch: bool,
    /// HTTP version
    #[arg(long, value_enum, default_value_t, value_name = "VERSION")]
    pub(crate) http: Version,
    /// Use a new connection for each request
    #[arg(long)]
    pub(crate) new_connections: bool,
    /// Duration of the idle latency measurement before the load
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) idle: Duration,
    /// Time limit for pages that are running at the end
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) drain: Duration,
    #[command(flatten)]
    pub(crate) measurement: MeasurementArgs,
}

/// HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Version {
    /// HTTP/1.1
    #[default]
    #[value(name = "1.1")]
    H1,
    /// HTTP/2; without TLS with prior knowledge
    #[value(name = "2")]
    H2,
}

/// Returns a parser of a quantity with an optional unit. A bare number has the unit `unit`.
pub(super) fn in_unit<T>(unit: &'static str) -> impl Fn(&str) -> Result<T, T::Err> + Clone
where
    T: FromStr,
{
    move |text| {
        if text.trim().bytes().all(|b| b.is_ascii_digit() || b == b'.') && !text.trim().is_empty() {
            format!("{text} {unit}").parse()
        } else {
            text.parse()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_gets_the_default_unit() {
        assert_eq!(in_unit::<BitRate>("Mbit/s")("25"), Ok(BitRate::from_mbps(25)));
        assert_eq!(in_unit::<BitRate>("Mbit/s")("1.5 Gbit/s"), Ok(BitRate::from_mbps(1500)));
        assert_eq!(in_unit::<Duration>("s")("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(in_unit::<Duration>("ms")("2s"), Ok(Duration::from_secs(2)));
        assert!(in_unit::<Duration>("s")("").is_err());
        assert!(in_unit::<Duration>("s")("-1").is_err());
        assert!(in_unit::<Probability>("%")("101").is_err());
    }
}
