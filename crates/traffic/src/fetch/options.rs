//! What `netburn fetch` is asked to do.

use super::Url;
use netburn_scenario::plan::Http;
use netburn_units::{BitRate, ByteSize, Duration, Probability, Seed};
use netburn_workload::config::MIN_PERIOD;
use netburn_workload::{Config, Connections, Kind, Priority};

/// What to fetch, how fast, how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// From where.
    pub url: Url,
    /// The rate of content to keep to. The next page begins one period after the last was due, or when it ended if
    /// that was later: a bad spell is never caught up. Default: none, the next page begins when the last ends.
    pub rate: Option<BitRate>,
    /// How many copies of the URL one page is; they are fetched at once. 1 to 1000; default 1.
    pub concurrency: u32,
    /// How long pages begin. Default 10 s.
    pub duration: Duration,
    /// How long pages that are under way at the end may take. Default 5 s.
    pub drain: Duration,
    /// How far around its instant a page may fall due, either way, with a rate; at most half a period. Default none.
    pub jitter: Duration,
    /// Percentiles to report besides the usual.
    pub percentiles: Vec<Probability>,
    /// Sends so much to the URL with `POST` instead of fetching it.
    pub post: Option<ByteSize>,
    /// Whether connections are kept. Default: they are.
    pub connections: Connections,
    /// The HTTP version. Default 1.1.
    pub http: Http,
    /// Takes any certificate. Default: only those that the system's roots vouch for.
    pub insecure: bool,
    /// How long idle latency is measured before. Default 1 s; nothing skips it.
    pub idle: Duration,
    /// What jitter comes from.
    pub seed: Seed,
}

impl Options {
    /// Everything default.
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

    /// The workload that this is, for a URL whose content has `size` bytes.
    #[must_use]
    pub fn workload(&self, size: ByteSize) -> Config {
        let objects = self.concurrency.clamp(1, 1000);
        let page = size.checked_mul(objects.into()).unwrap_or(size);
        let every = self
            .rate
            .and_then(|rate| rate.time_for(page))
            .map(|every| every.max(MIN_PERIOD));
        let kind = match (every, self.post) {
            (Some(_), _) => Kind::Stream,
            (None, Some(_)) => Kind::Upload,
            (None, None) => Kind::Download,
        };
        Config {
            kind,
            objects,
            object_size: size,
            interval: every,
            jitter: every.map_or(Duration::ZERO, |every| self.jitter.min(every / 2)),
            connections: self.connections,
            outstanding: 1,
            priority: Priority::BestEffort,
            player: None,
            goals: Vec::new(),
            ..Config::download()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_becomes_a_period_and_none_is_back_to_back() {
        let mut options = Options::new("http://a/".parse().unwrap());
        let size = ByteSize::from_bytes(125_000);
        assert_eq!(options.workload(size).kind, Kind::Download);
        // 2 × 1 Mbit at 10 Mbit/s: every 200 ms.
        options.rate = Some(BitRate::from_mbps(10));
        options.concurrency = 2;
        options.jitter = Duration::from_secs(1);
        let config = options.workload(size);
        assert_eq!(
            (config.kind, config.interval),
            (Kind::Stream, Some(Duration::from_millis(200)))
        );
        assert_eq!((config.objects, config.jitter), (2, Duration::from_millis(100)));
    }
}
