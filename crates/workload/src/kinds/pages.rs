//! Pages: several objects at once on a fixed grid with jitter. One page is loaded at a time, and one is queued.

use super::Pattern;
use super::kind::Kind;
use crate::common::{ConfigError, Connections, Goal, Grid, Requests};
use netburn_units::{ByteSize, Duration};

/// `browsing`: a page of 10 objects of 128 KiB on new connections every 3 s ± 0.5 s; goal 500 ms.
pub const PAGES: Kind = Kind {
    label: "Web pages",
    default_goals: &[Goal::Latency {
        limit: Duration::from_millis(500),
    }],
    latency_noun: "page load",
    operations_noun: "pages",
    ..Kind::http("pages", "browsing", || Pages::default().into())
};

/// Settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// Objects of a page.
    pub requests: Requests,
    /// Due times of the pages.
    pub grid: Grid,
}

impl Default for Pages {
    fn default() -> Self {
        Pages {
            requests: Requests {
                objects: 10,
                object_size: ByteSize::from_kib(128),
                connections: Connections::New,
            },
            grid: Grid {
                interval: Duration::from_secs(3),
                jitter: Duration::from_millis(500),
            },
        }
    }
}

impl Pattern for Pages {
    fn kind(&self) -> &'static Kind {
        &PAGES
    }

    fn validate_settings(&self) -> Result<(), ConfigError> {
        self.requests.validate("objects", 1)?;
        self.grid.validate()
    }

    fn requests(&self) -> Option<Requests> {
        Some(self.requests)
    }

    fn grid(&self) -> Option<Grid> {
        Some(self.grid)
    }

    fn has_queue(&self) -> bool {
        true
    }
}
