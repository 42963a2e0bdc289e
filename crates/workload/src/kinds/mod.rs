//! Kinds of workloads: each has its settings and all that follows from them in one folder or file.
//!
//! A kind is a row of [`KINDS`] and an implementation of [`Pattern`]. The rest of the crate, and all other crates, ask for
//! these properties. They don't ask which kind it is.
//!
//! - [`kind`] – what distinguishes kinds: names, defaults, fixed properties.
//! - [`bulk`], [`dash`], [`packets`], [`pages`], [`periodic`], [`probe`], [`responsiveness`], [`stream`], [`video_call`] –
//!   the kinds. Those of [`packets`] have one type of settings, and differ in what is judged.

pub mod bulk;
pub mod dash;
pub mod kind;
pub mod packets;
pub mod pages;
pub mod periodic;
pub mod probe;
pub mod responsiveness;
pub mod stream;
mod text;
pub mod video_call;

pub use bulk::Bulk;
pub use dash::DashClient;
pub use kind::{Kind, Transport};
pub use packets::Packets;
pub use pages::Pages;
pub use periodic::Periodic;
pub use probe::Probe;
pub use responsiveness::Responsiveness;
pub use stream::Stream;
pub use video_call::VideoCall;

use crate::common::{ConfigError, Grid, PlayerConfig, Requests, Streams, Volume};
use crate::direction::Direction;
use crate::schedule::{self, Schedule, Serial};
use dash::Dash;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use packets::Rating;
use probe::ProbeTarget;
use responsiveness::LoadConnections;
use std::fmt::Debug;

/// Registers the types of settings.
macro_rules! settings {
    ($($(#[doc = $about:literal])+ $name:ident),+ $(,)?) => {
        /// Settings of one kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum KindSettings {
            $($(#[doc = $about])+ $name($name)),+
        }

        impl KindSettings {
            /// Properties that follow from the settings.
            #[must_use]
            pub fn pattern(&self) -> &(dyn Pattern + 'static) {
                match self {
                    $(KindSettings::$name(settings) => settings),+
                }
            }
        }

        $(impl From<$name> for KindSettings {
            fn from(settings: $name) -> Self {
                KindSettings::$name(settings)
            }
        })+
    };
}

settings! {
    /// Several objects at once on a grid.
    Pages,
    /// Objects in sequence into a player.
    Stream,
    /// Objects on a grid, several outstanding.
    Periodic,
    /// Large objects in sequence, unthrottled.
    Bulk,
    /// Datagrams on a grid, which are returned.
    Probe,
    /// Streams of datagrams.
    Packets,
    /// Frames in both directions, whose rate adapts.
    VideoCall,
    /// Probes beside load.
    Responsiveness,
    /// Adaptive streaming.
    DashClient,
}

/// Registers the kinds.
macro_rules! kinds {
    ($($kind:path),+ $(,)?) => {
        /// All kinds.
        pub static KINDS: &[&Kind] = &[$(&$kind),+];
    };
}

kinds!(
    pages::PAGES,
    stream::STREAM,
    periodic::CALLS,
    bulk::DOWNLOAD,
    bulk::UPLOAD,
    probe::PROBE,
    packets::VOICE,
    packets::DATAGRAMS,
    packets::GAME,
    packets::CLOUD_GAMING,
    video_call::VIDEO_CALL,
    responsiveness::RESPONSIVENESS,
    dash::DASH,
);

/// Traffic pattern of a workload: what follows from the settings of its kind.
///
/// A property that a kind does not have keeps its default, which is empty.
pub trait Pattern: Debug {
    /// Kind.
    fn kind(&self) -> &'static Kind;

    /// Text form: what an operation transfers, and when it is due.
    fn describe(&self) -> String {
        let objects = self.requests().map(|requests| text::objects(&requests));
        let every = self.grid().map(|grid| text::every(grid.interval, grid.jitter));
        objects.into_iter().chain(every).collect::<Vec<_>>().join(" ")
    }

    /// Checks that all settings of the kind are in range and consistent. [`Config::validate`](crate::Config::validate)
    /// checks those of all kinds too.
    ///
    /// # Errors
    /// The first invalid value, with its key.
    fn validate_settings(&self) -> Result<(), ConfigError>;

    /// Due times of a workload whose first window begins at `start`. `index` distinguishes the workloads of a run.
    fn schedule(&self, start: Instant, seed: Seed, index: u64) -> Box<dyn Schedule> {
        match self.grid() {
            Some(grid) => Box::new(schedule::Periodic::new(grid, start, seed, index)),
            None => Box::new(Serial::new(self.max_in_flight(), start)),
        }
    }

    /// Requests of one operation over HTTP; for `dash` those of a segment of the highest bit rate, for `responsiveness` those
    /// of a foreign probe.
    fn requests(&self) -> Option<Requests> {
        None
    }

    /// Grid of the due times, for kinds whose operations are due at a fixed distance.
    fn grid(&self) -> Option<Grid> {
        None
    }

    /// Content of one operation; the longest packet or frame of streams. For `responsiveness` an object of the load, if it
    /// has load. For `dash` a segment of the highest bit rate. `None` on overflow.
    fn operation_size(&self) -> Option<ByteSize> {
        self.requests()?.size()
    }

    /// Content that is requested in one direction within a window of `span`.
    fn volume(&self, direction: Direction, span: Duration) -> Volume {
        match (self.requests(), self.grid()) {
            (Some(requests), Some(grid)) if direction == self.direction() => {
                Volume::new(grid.operations_within(span), requests.bounded_size())
            }
            _ => Volume::default(),
        }
    }

    /// Mean rate of requested content, rounded down; `None` for unthrottled kinds. For a `video-call` it is that of the
    /// targets, for `dash` the highest bit rate.
    fn mean_rate(&self) -> Option<BitRate> {
        if self.loads(Direction::Down) || self.loads(Direction::Up) {
            return None;
        }
        let rates = self.packet_streams();
        match rates.all().next() {
            Some(_) => Some(rates.rate()),
            None => BitRate::mean(self.operation_size()?, self.interval()?),
        }
    }

    /// Time between operations, for `voice` between the packets of one direction. `None` for kinds whose next operation
    /// starts when the previous one ends, and for kinds that [have the keys `up` and `down`](Kind::has_stream_keys).
    fn interval(&self) -> Option<Duration> {
        self.grid().map(|grid| grid.interval)
    }

    /// Maximum deviation of a due time from its grid point, in either direction.
    fn jitter(&self) -> Duration {
        self.grid().map_or(Duration::ZERO, |grid| grid.jitter)
    }

    /// Direction of the content of operations that are requests.
    fn direction(&self) -> Direction {
        Direction::Down
    }

    /// Maximum number of operations in flight; further ones that are due count as not started. Packets that are not
    /// answered have no limit: exports then show 1000.
    fn max_in_flight(&self) -> u32 {
        1
    }

    /// Returns true if one operation that is due while others are in flight is queued.
    fn has_queue(&self) -> bool {
        false
    }

    /// Settings of `download` and `upload`.
    fn bulk(&self) -> Option<&Bulk> {
        None
    }

    /// Streams of operations of a kind whose datagrams are not answered; empty for other kinds. An operation is a
    /// packet; that of a `video-call` is a frame, with its size at the target rate.
    fn packet_streams(&self) -> Streams {
        Streams::default()
    }

    /// Use of packets that are not answered; `None` for frames of a `video-call` and for other kinds.
    fn rating(&self) -> Option<Rating> {
        None
    }

    /// Settings of a `video-call`.
    fn video(&self) -> Option<&VideoCall> {
        None
    }

    /// Buffer of the player of `stream` and `dash`. The rate of `dash` is the lowest of its ladder: what playback without a
    /// stall requires.
    fn playback(&self) -> Option<PlayerConfig> {
        None
    }

    /// Ladder and buffer of adaptive streaming.
    fn dash(&self) -> Option<&Dash> {
        None
    }

    /// Settings of `responsiveness`.
    fn responsiveness(&self) -> Option<&Responsiveness> {
        None
    }

    /// Connections that transfer load while probes are sent.
    fn load(&self) -> LoadConnections {
        self.responsiveness()
            .map_or(LoadConnections::default(), |probes| probes.load)
    }

    /// Returns true if an operation of this number only loads the network. It counts as an operation only if it fails.
    fn is_load(&self, _sequence: u64) -> bool {
        false
    }

    /// Host that answers the datagrams of a probe.
    fn target(&self) -> Option<ProbeTarget> {
        None
    }

    /// Returns true if the workload loads this direction without a pause.
    fn loads(&self, direction: Direction) -> bool {
        self.volume(direction, Duration::ZERO).is_unlimited
    }

    /// UDP payload of a packet of a direction, or of a frame at the target rate; zero without such a stream.
    fn packet_size(&self, direction: Direction) -> ByteSize {
        let stream = self.packet_streams().get(direction);
        stream.map_or(ByteSize::ZERO, |stream| stream.size)
    }
}
