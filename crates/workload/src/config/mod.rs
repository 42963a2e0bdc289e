//! Settings of one workload, with all defaults filled in.
//!
//! Those of a kind are in [`kinds`](crate::kinds), and their parts in `common`.

mod validate;

pub use crate::common::*;
pub use crate::kinds::KindSettings;
pub use crate::kinds::dash::{Dash, MAX_BIT_RATES, MAX_MEDIA_BUFFER, MAX_MEDIA_RATE, SEGMENT_LENGTHS};
pub use crate::kinds::packets::{CLOUD_GAMING_RATE, PACKET_SIZES, VOICE_INTERVALS};
pub use crate::kinds::probe::{PROBE_SIZES, ProbeTarget};
pub use crate::kinds::responsiveness::{LOAD_OBJECT, LoadConnections, MAX_LOAD_CONNECTIONS, PROBE_INTERVALS};
pub use crate::kinds::video_call::{
    Adaptation, MAX_TARGET_RATE, MIN_FRAME_SIZE, MIN_MEDIA_PACKET, VIDEO_CALL_PACKET, VIDEO_CALL_RATE,
};

use crate::kinds::{
    KINDS, Kind, Pattern, bulk, dash, packets, pages, periodic, probe, responsiveness, stream, video_call,
};
use netburn_units::{Dscp, Duration, Instant};
use std::ops::Deref;

/// Configuration of one workload. It has the properties of its [`Pattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Settings of its kind.
    pub settings: KindSettings,
    /// Times in which the workload runs. Default: the whole load of its station.
    pub activity: Activity,
    /// Traffic class: DSCP, access category and band of the packets.
    pub priority: Priority,
    /// DSCP of the packets, instead of that of `priority`. Access category and band follow from it.
    pub dscp: Option<Dscp>,
    /// Goals. Empty: no verdict.
    pub goals: Vec<Goal>,
    /// Idle timeout: an operation without progress for this long fails as timed out. Default 30 s.
    pub timeout: Duration,
}

/// Lists the built-in workloads in the order of the manual, each with a constructor.
macro_rules! presets {
    ($($(#[doc = $about:literal])+ $name:ident: $kind:path),+ $(,)?) => {
        /// Names of the built-in workloads.
        pub const PRESETS: &[&str] = &[$($kind.built_in),+];

        impl Config {
            $($(#[doc = $about])+
            #[must_use]
            pub fn $name() -> Self {
                $kind.preset()
            })+
        }
    };
}

presets! {
    /// Browsing: a page every 3 s.
    browsing: pages::PAGES,
    /// 4K video at 25 Mbit/s.
    stream_4k: stream::STREAM,
    /// Adaptive streaming.
    dash: dash::DASH,
    /// Periodic requests: 16 KiB at 1 Mbit/s.
    voip: periodic::CALLS,
    /// Download.
    download: bulk::DOWNLOAD,
    /// Upload.
    upload: bulk::UPLOAD,
    /// Probe of the server.
    probe: probe::PROBE,
    /// Voice call.
    voice: packets::VOICE,
    /// Datagrams: 1 Mbit/s in each direction.
    datagrams: packets::DATAGRAMS,
    /// Online game.
    game: packets::GAME,
    /// Cloud gaming.
    cloud_gaming: packets::CLOUD_GAMING,
    /// Video call.
    video_call: video_call::VIDEO_CALL,
    /// Responsiveness under load.
    responsiveness: responsiveness::RESPONSIVENESS,
}

/// A workload with these settings, and the other defaults of their kind.
impl<S: Into<KindSettings>> From<S> for Config {
    fn from(settings: S) -> Self {
        let settings = settings.into();
        let kind = settings.pattern().kind();
        Config {
            settings,
            activity: Activity::default(),
            priority: kind.default_priority,
            dscp: None,
            goals: kind.default_goals.to_vec(),
            timeout: kind.default_timeout,
        }
    }
}

impl Deref for Config {
    type Target = dyn Pattern;

    fn deref(&self) -> &Self::Target {
        self.settings.pattern()
    }
}

impl Kind {
    /// Built-in workload with the defaults of this kind.
    #[must_use]
    pub fn preset(&self) -> Config {
        Config::from((self.default_settings)())
    }
}

impl Goal {
    /// Text form in reports: `page load ≤ 500 ms`.
    #[must_use]
    pub fn describe(&self, kind: &Kind) -> String {
        self.text(kind.latency_noun, kind.rate_noun)
    }

    /// Kinds that support this goal, as a sentence: "a rate is a goal for `stream` and `dash`".
    #[must_use]
    pub fn supporting_kinds(&self) -> String {
        let kinds = KINDS.iter().filter(|kind| (kind.supports)(self));
        let names: Vec<String> = kinds.map(|kind| format!("`{kind}`")).collect();
        let list = match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        };
        format!("{} a goal for {list}", self.subject())
    }
}

impl Config {
    /// Built-in workload of this name, one of [`PRESETS`].
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let kind = KINDS.iter().find(|kind| kind.built_in == name)?;
        Some(kind.preset())
    }

    /// Built-in workload whose settings are changed.
    #[must_use]
    pub fn with<S: Default + Into<KindSettings>>(change: impl FnOnce(&mut S)) -> Self {
        let mut settings = S::default();
        change(&mut settings);
        Config::from(settings)
    }

    /// Windows in which the workload runs, in a load of its station from `start` to `end`: see
    /// [`Activity::windows`].
    #[must_use]
    pub fn windows(&self, start: Instant, end: Instant) -> Windows {
        let repeat = self.activity.repeat.filter(|_| self.kind().can_repeat);
        Activity {
            repeat,
            ..self.activity
        }
        .windows(start, end)
    }

    /// Marking of the packets: that of `dscp`, or else of `priority`.
    #[must_use]
    pub const fn marking(&self) -> Marking {
        Marking::new(self.dscp, self.priority)
    }

    /// The strictest goal for the latency of an operation; `None` without one.
    #[must_use]
    pub fn latency_limit(&self) -> Option<Duration> {
        if self.kind().has_round_trips {
            return None;
        }
        self.goals.iter().filter_map(|goal| goal.latency()).min()
    }
}
