//! A scenario with every default filled in, every unit resolved, and checked.

use netburn_units::{BitRate, ByteSize, Distance, Duration, Probability, Seed};
use netburn_workload::Config;

/// The resolved scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The file's stem, or the name of a shipped scenario.
    pub name: String,
    /// One line for people.
    pub title: Option<String>,
    /// What it is meant to find out.
    pub question: Option<String>,
    /// How long the load runs.
    pub duration: Duration,
    /// The beginning of the load that isn't judged.
    pub warmup: Duration,
    /// How long idle latency is measured before the load.
    pub baseline: Duration,
    /// What is under way at the end has this long to finish.
    pub drain: Duration,
    /// What all chance comes from.
    pub seed: Seed,
    /// How many times it runs.
    pub repeat: u32,
    /// The server and the wired hop to it.
    pub server: Server,
    /// The stations, in the file's order.
    pub stations: Vec<Station>,
    /// What the file and the defaults take for granted, for people.
    pub assumptions: Vec<String>,
}

/// The server.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The hop between server and access point; on `local` its rate caps the server.
    pub link: Hop,
    /// The HTTP version it is spoken to in.
    pub http: Http,
    /// Whether it is spoken to over TLS.
    pub tls: bool,
    /// Its congestion control; `None`: the system's.
    pub cc: Option<String>,
}

/// A wired hop.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    /// Its rate, each way. `None`: not said (1 Gbit/s where it matters).
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost.
    pub loss: Probability,
    /// Bytes it can hold.
    pub queue: Option<ByteSize>,
}

/// The HTTP versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
}

/// One station.
#[derive(Debug, Clone, PartialEq)]
pub struct Station {
    /// Its name.
    pub name: String,
    /// What it does, one or several.
    pub workloads: Vec<StationWorkload>,
    /// When its load begins.
    pub start: Duration,
    /// When it ends; `None`: with the run.
    pub stop: Option<Duration>,
    /// Its congestion control; `None`: the system's.
    pub cc: Option<String>,
    /// How far from its access point.
    pub distance: Option<Distance>,
    /// The fleet agent meant for it.
    pub agent: Option<String>,
    /// The label of the agents that will do.
    pub label: Option<String>,
}

/// A workload of a station.
#[derive(Debug, Clone, PartialEq)]
pub struct StationWorkload {
    /// Its name: one of the six uses, or the file's own.
    pub name: String,
    /// Its settings.
    pub config: Config,
}
