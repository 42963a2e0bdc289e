//! Events of a mesh.

use netburn_units::Instant;

/// An event of a mesh: a path, or the link to a neighbour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshEvent {
    /// Time.
    pub at: Instant,
    /// Mesh.
    pub mesh: String,
    /// Access point that the event concerns.
    pub ap: String,
    /// Destination of the path, or neighbour.
    pub to: String,
    /// Kind.
    pub kind: MeshEventKind,
}

/// Kind of a [`MeshEvent`]. `next` is the next access point on a path. `metric` is the sum of its links'
/// airtime metrics (802.11-2020 clause 14.9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeshEventKind {
    /// The access point found a path. It had none before, or a broken one.
    Found {
        /// Next access point.
        next: String,
        /// Metric.
        metric: u32,
    },
    /// The path has another next access point.
    Changed {
        /// Next access point before.
        before: String,
        /// Next access point now.
        next: String,
        /// Metric.
        metric: u32,
    },
    /// The path broke: its link failed, or another access point reported an error.
    Lost {
        /// Next access point before.
        before: String,
    },
    /// Its discovery failed. It is reported once until a path is found.
    NotFound,
    /// The lifetime of the path ended. An unused path ends in this way.
    Expired {
        /// Next access point before.
        before: String,
    },
    /// A path whose lifetime had ended was found again, over the same next access point.
    Renewed {
        /// Next access point.
        next: String,
        /// Metric.
        metric: u32,
    },
    /// The access point can use the link to the neighbour.
    LinkOpened,
    /// It can't use the link any more.
    LinkClosed,
}

impl MeshEvent {
    /// Returns true for the end of an unused path and for its renewal. These repeat every few seconds, and
    /// change nothing.
    #[must_use]
    pub fn is_routine(&self) -> bool {
        matches!(self.kind, MeshEventKind::Expired { .. } | MeshEventKind::Renewed { .. })
    }

    /// Next access point on the path after the event; `None`: no path.
    #[must_use]
    pub fn next(&self) -> Option<&str> {
        match &self.kind {
            MeshEventKind::Found { next, .. }
            | MeshEventKind::Changed { next, .. }
            | MeshEventKind::Renewed { next, .. } => Some(next),
            _ => None,
        }
    }
}

impl std::fmt::Display for MeshEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let MeshEvent { ap, to, .. } = self;
        match &self.kind {
            MeshEventKind::Found { next, metric } => {
                write!(f, "{ap} found a path to {to}: next {next}, metric {metric}")
            }
            MeshEventKind::Changed { before, next, metric } => write!(
                f,
                "{ap} changed its path to {to}: next {next} instead of {before}, metric {metric}"
            ),
            MeshEventKind::Lost { before } => write!(f, "{ap} lost its path to {to}: next was {before}"),
            MeshEventKind::NotFound => write!(f, "{ap} found no path to {to}"),
            MeshEventKind::Expired { before } => write!(f, "the path of {ap} to {to} expired: next was {before}"),
            MeshEventKind::Renewed { next, metric } => {
                write!(f, "{ap} renewed its path to {to}: next {next}, metric {metric}")
            }
            MeshEventKind::LinkOpened => write!(f, "the link of {ap} to {to} opened"),
            MeshEventKind::LinkClosed => write!(f, "the link of {ap} to {to} closed"),
        }
    }
}
