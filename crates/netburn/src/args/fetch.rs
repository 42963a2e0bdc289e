//! `fetch`.

use super::Format;
use clap::{Args, ValueEnum};
use netburn_traffic::fetch::Url;
use netburn_units::{BitRate, ByteSize, Duration, Probability};
use std::path::PathBuf;
use std::str::FromStr;

/// Be one client against any HTTP server.
///
/// It fetches a URL again and again, and says how long that took. Latency counts from when a page was due, as in `run`. A line a second on standard error says how it goes;
/// percentiles are printed when there are enough pages for them. Before it burns a server on another machine that doesn't consent, it asks.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// What to fetch
    pub(crate) url: Url,
    /// Content in Mbit/s to keep to; what is late shifts the rest, nothing is caught up [default: as fast as it goes]
    #[arg(short, long, value_name = "MBIT/S", value_parser = in_unit::<BitRate>("Mbit/s"))]
    pub(crate) rate: Option<BitRate>,
    /// Copies of the URL fetched at once; together they are a page
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) concurrency: u32,
    /// For how many seconds pages begin
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = in_unit::<Duration>("s"))]
    pub(crate) time: Duration,
    /// With --rate: how many ms around its instant a page may fall due
    #[arg(long, value_name = "MS", default_value = "0", requires = "rate", value_parser = in_unit::<Duration>("ms"))]
    pub(crate) jitter: Duration,
    /// A percentile to print besides 50, 90, 95 and 99; may be given several times
    #[arg(long, value_name = "N", value_parser = in_unit::<Probability>("%"))]
    pub(crate) percentile: Vec<Probability>,
    /// Send so much with POST instead of fetching
    #[arg(long, value_name = "SIZE")]
    pub(crate) post: Option<ByteSize>,
    /// Append the result as a line to this CSV file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print each second on standard output too; with --format json as JSON Lines, the result last
    #[arg(short, long)]
    pub(crate) batch: bool,
    /// HTTP version
    #[arg(long, value_enum, default_value_t, value_name = "VERSION")]
    pub(crate) http: Version,
    /// A new connection for every object instead of keeping them
    #[arg(long)]
    pub(crate) new_connections: bool,
    /// Take any certificate
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// How long idle latency is measured before
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) idle: Duration,
    /// How long pages under way at the end may take
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) drain: Duration,
    /// What jitter comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How the result is written
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Burn the server without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// The HTTP versions.
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

/// Reads a quantity whose unit is understood when there is none.
fn in_unit<T>(unit: &'static str) -> impl Fn(&str) -> Result<T, T::Err> + Clone
where
    T: FromStr,
{
    move |text| match text.trim().bytes().all(|b| b.is_ascii_digit() || b == b'.') && !text.trim().is_empty() {
        true => format!("{text} {unit}").parse(),
        false => text.parse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_has_the_unit_of_its_option() {
        assert_eq!(in_unit::<BitRate>("Mbit/s")("25"), Ok(BitRate::from_mbps(25)));
        assert_eq!(in_unit::<BitRate>("Mbit/s")("1.5 Gbit/s"), Ok(BitRate::from_mbps(1500)));
        assert_eq!(in_unit::<Duration>("s")("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(in_unit::<Duration>("ms")("2s"), Ok(Duration::from_secs(2)));
        assert!(in_unit::<Duration>("s")("").is_err());
        assert!(in_unit::<Duration>("s")("-1").is_err());
        assert!(in_unit::<Probability>("%")("101").is_err());
    }
}
