//! Options of `netburn rpm`.

use crate::fetch::Url;
use netburn_units::{Duration, Seed};
use netburn_workload::Direction;
use netburn_workload::responsiveness::{Config, ConfigError};

/// Path of the configuration if the URL has no path (RFC 8615).
pub const PATH: &str = "/.well-known/nq";

/// Options of a responsiveness test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// URL of the configuration.
    pub url: Url,
    /// Directions of the load.
    pub load: Load,
    /// Parameters. The directions are those of `load`.
    pub config: Config,
    /// Accepts any certificate.
    pub insecure: bool,
    /// Permits URLs of another host or port in the configuration.
    pub allow_other_host: bool,
    /// Seed for the choice of the connections of self probes.
    pub seed: Seed,
}

/// Directions of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Load {
    /// Download, then upload: two scores.
    #[default]
    Sequential,
    /// Both at the same time: one score.
    Concurrent,
    /// One direction.
    Only(Direction),
}

impl Load {
    /// Returns the directions of each test.
    #[must_use]
    pub fn tests(self) -> Vec<Vec<Direction>> {
        use Direction::{Down, Up};
        match self {
            Load::Sequential => vec![vec![Down], vec![Up]],
            Load::Concurrent => vec![vec![Down, Up]],
            Load::Only(direction) => vec![vec![direction]],
        }
    }
}

impl Options {
    /// Creates options with all defaults. [`PATH`] replaces an empty path.
    #[must_use]
    pub fn new(mut url: Url) -> Self {
        if url.path == "/" {
            PATH.clone_into(&mut url.path);
        }
        Options {
            url,
            load: Load::default(),
            config: Config::new(vec![Direction::Down]),
            insecure: false,
            allow_other_host: false,
            seed: Seed(1),
        }
    }

    /// Returns the parameters of each test. Only the first one measures without load.
    ///
    /// # Errors
    /// [`ConfigError`] when a parameter is out of its range.
    pub fn tests(&self) -> Result<Vec<Config>, ConfigError> {
        let config = |(number, directions): (usize, Vec<Direction>)| {
            let config = Config {
                directions,
                idle: if number == 0 { self.config.idle } else { Duration::ZERO },
                ..self.config.clone()
            };
            config.check().map(|()| config)
        };
        self.load.tests().into_iter().enumerate().map(config).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_has_a_default_and_only_the_first_test_is_idle_at_first() {
        let path = |url: &str| Options::new(url.parse().unwrap()).url.path;
        assert_eq!(path("https://a"), "/.well-known/nq");
        assert_eq!(path("https://a/config"), "/config");
        let options = Options::new("https://a".parse().unwrap());
        let tests = options.tests().unwrap();
        let idle: Vec<u64> = tests.iter().map(|test| test.idle.as_millis()).collect();
        assert_eq!(idle, [2000, 0]);
        let concurrent = Options {
            load: Load::Concurrent,
            ..options
        };
        assert_eq!(concurrent.tests().unwrap()[0].directions.len(), 2);
    }
}
