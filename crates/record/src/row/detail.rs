//! Description or typed data of an event.

use super::{AccessPointEvent, EventKind, LinkEvent};
use crate::dscp_arrivals::DscpArrivals;
use crate::health::{Clock, Health};
use crate::lab_health::LabHealth;
use crate::quality_issue::QualityIssue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;

/// Description or typed data of an event. Decisions depend only on typed data.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// Description for people; may be empty.
    Text(String),
    /// Reason for which results are unreliable.
    Issue(QualityIssue),
    /// Event of a station's Wi-Fi link.
    Link(Box<LinkEvent>),
    /// Health report of an agent or server.
    Health(Box<Health>),
    /// An agent's clock against the controller's.
    Clock(Box<Clock>),
    /// The lab's report on its own work.
    Lab(Box<LabHealth>),
    /// DSCP with which packets of a workload arrived.
    Dscp(Box<DscpArrivals>),
    /// Event of an observed access point, or its description.
    AccessPoint(Box<AccessPointEvent>),
}

impl Detail {
    /// Returns the description, or the sentence of an issue, of an event of a link or of an access point, or of a DSCP. Empty for reports.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Detail::Text(text) => Cow::Borrowed(text),
            Detail::Issue(issue) => Cow::Owned(issue.to_string()),
            Detail::Link(event) => Cow::Borrowed(&event.text),
            Detail::Dscp(arrivals) => Cow::Owned(arrivals.to_string()),
            Detail::AccessPoint(event) => Cow::Owned(event.to_string()),
            Detail::Health(_) | Detail::Clock(_) | Detail::Lab(_) => Cow::Borrowed(""),
        }
    }

    /// Returns typed data as JSON; `None` for a description.
    #[must_use]
    pub fn data(&self) -> Option<String> {
        fn json<T: Serialize>(data: &T) -> Option<String> {
            Some(serde_json::to_string(data).expect("plain fields"))
        }
        match self {
            Detail::Text(_) => None,
            Detail::Issue(issue) => json(issue),
            Detail::Link(event) => json(event),
            Detail::Health(health) => json(health),
            Detail::Clock(clock) => json(clock),
            Detail::Lab(lab) => json(lab),
            Detail::Dscp(arrivals) => json(arrivals),
            Detail::AccessPoint(event) => json(event),
        }
    }

    /// Reads what [`data`](Self::data) wrote for an event of this kind. Data that this version cannot
    /// read become a description.
    #[must_use]
    pub fn from_data(kind: EventKind, data: &str) -> Detail {
        fn read<T: DeserializeOwned>(data: &str, detail: impl Fn(T) -> Detail) -> Option<Detail> {
            serde_json::from_str(data).ok().map(detail)
        }
        let read = match kind {
            EventKind::Health => read(data, |health| Detail::Health(Box::new(health))),
            EventKind::Clock => read(data, |clock| Detail::Clock(Box::new(clock))),
            EventKind::Lab => read(data, |lab| Detail::Lab(Box::new(lab))),
            EventKind::Dscp => read(data, |arrivals| Detail::Dscp(Box::new(arrivals))),
            EventKind::AccessPoint => read(data, |event| Detail::AccessPoint(Box::new(event))),
            _ => read(data, |event| Detail::Link(Box::new(event))).or_else(|| read(data, Detail::Issue)),
        };
        read.unwrap_or_else(|| Detail::Text(data.to_owned()))
    }
}

impl Default for Detail {
    /// An empty description.
    fn default() -> Self {
        Detail::Text(String::new())
    }
}

impl From<String> for Detail {
    fn from(text: String) -> Self {
        Detail::Text(text)
    }
}

impl From<&str> for Detail {
    fn from(text: &str) -> Self {
        Detail::Text(text.to_owned())
    }
}

impl From<QualityIssue> for Detail {
    fn from(issue: QualityIssue) -> Self {
        Detail::Issue(issue)
    }
}

impl From<LinkEvent> for Detail {
    fn from(event: LinkEvent) -> Self {
        Detail::Link(Box::new(event))
    }
}

impl From<Health> for Detail {
    fn from(health: Health) -> Self {
        Detail::Health(Box::new(health))
    }
}

impl From<Clock> for Detail {
    fn from(clock: Clock) -> Self {
        Detail::Clock(Box::new(clock))
    }
}

impl From<LabHealth> for Detail {
    fn from(lab: LabHealth) -> Self {
        Detail::Lab(Box::new(lab))
    }
}

impl From<AccessPointEvent> for Detail {
    fn from(event: AccessPointEvent) -> Self {
        Detail::AccessPoint(Box::new(event))
    }
}

impl From<DscpArrivals> for Detail {
    fn from(arrivals: DscpArrivals) -> Self {
        Detail::Dscp(Box::new(arrivals))
    }
}
