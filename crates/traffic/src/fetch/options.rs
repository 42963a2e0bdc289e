//! Options of `netburn fetch`.

use super::Url;
use netburn_scenario::plan::Http;
use netburn_units::{BitRate, ByteSize, Duration, Probability, Seed};
use netburn_workload::config::{Grid, MIN_PERIOD, Requests};
use netburn_workload::kinds::{Bulk, Stream};
use netburn_workload::{Config, Connections, Direction};

/// Options of a fetch: URL, rate, duration and connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// URL to fetch.
    pub url: Url,
    /// Rate of content. The next page starts one period after the last was due, or when it ended if that was later.
    /// There is no catch-up. Default: none, the next page starts when the last ends.
    pub rate: Option<BitRate>,
    /// Number of copies of the URL in one page, fetched in parallel. 1 to 1000; default 1.
    pub concurrency: u32,
    /// Time in which pages start. Default 10 s.
    pub duration: Duration,
    /// Time that running pages have after the end. Default 5 s.
    pub drain: Duration,
    /// Jitter of the due times with a rate, in both directions; at most half a period. Default none.
    pub jitter: Duration,
    /// Percentiles to report in addition to the default ones.
    pub percentiles: Vec<Probability>,
    /// Uploads this much to the URL with `POST` instead of fetching.
    pub post: Option<ByteSize>,
    /// True if connections are reused (the default).
    pub connections: Connections,
    /// HTTP version. Default 1.1.
    pub http: Http,
    /// Accepts any certificate. Default: only those that the system's roots trust.
    pub insecure: bool,
    /// Duration of the baseline. Default 1 s; cannot be disabled.
    pub idle: Duration,
    /// Seed of the jitter.
    pub seed: Seed,
}

impl Options {
    /// Creates options with all defaults.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Options {
            url,
            rate: None,
            concurrency: 1,
            duration: Duration::from_secs(10),
            drain: Duration::from_secs(5),
            jitter: Duration::ZERO,
            percentiles: Vec::new(),
            post: None,
            connections: Connections::Keep,
            http: Http::H1,
            insecure: false,
            idle: Duration::from_secs(1),
            seed: Seed(1),
        }
    }

    /// Returns the workload for a URL whose content has `size` bytes.
    #[must_use]
    pub fn workload(&self, size: ByteSize) -> Config {
        let objects = self.concurrency.clamp(1, 1000);
        let page = size.checked_mul(objects.into()).unwrap_or(size);
        let every = self
            .rate
            .and_then(|rate| rate.time_for(page))
            .map(|every| every.max(MIN_PERIOD));
        let requests = Requests {
            objects,
            object_size: size,
            connections: self.connections,
        };
        let config = match every {
            Some(interval) => Config::from(Stream {
                requests,
                grid: Grid {
                    interval,
                    jitter: self.jitter.min(interval / 2),
                },
                player: None,
            }),
            None => Config::from(Bulk {
                requests,
                ..Bulk::new(match self.post {
                    Some(_) => Direction::Up,
                    None => Direction::Down,
                })
            }),
        };
        Config {
            goals: Vec::new(),
            ..config
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_becomes_a_period_and_without_one_pages_are_back_to_back() {
        let mut options = Options::new("http://a/".parse().unwrap());
        let size = ByteSize::from_bytes(125_000);
        assert_eq!(options.workload(size).kind().name, "download");
        // 2 × 1 Mbit at 10 Mbit/s: every 200 ms.
        options.rate = Some(BitRate::from_mbps(10));
        options.concurrency = 2;
        options.jitter = Duration::from_secs(1);
        let config = options.workload(size);
        assert_eq!(
            (config.kind().name, config.interval()),
            ("stream", Some(Duration::from_millis(200)))
        );
        let objects = config.requests().map(|requests| requests.objects);
        assert_eq!((objects, config.jitter()), (Some(2), Duration::from_millis(100)));
    }
}
