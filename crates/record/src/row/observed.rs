//! Values that an observed access point reported about itself and its stations.

use super::Logged;
use crate::row::Bssid;
use netburn_units::{Duration, Instant};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// A value that an observed access point reported. A sample of the access point is one row for each value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedRow {
    /// Name of the access point.
    pub access_point: Cow<'static, str>,
    /// Time of the sample.
    pub at: Instant,
    /// Time since the previous sample, for the increase of a counter and for [`Observable::ObserverResponse`]; 0 for other
    /// values.
    pub span: Duration,
    /// Interface or queue that the value describes; `None` for the whole device.
    pub part: Option<String>,
    /// The station's number in the plan, if the value describes a station of the plan.
    pub station: Option<u16>,
    /// Address of the station, in the plan or not, that the value describes.
    pub address: Option<Bssid>,
    /// The quantity.
    pub quantity: Observable,
    /// The value, in the unit of the quantity.
    pub value: i64,
}

/// Declares what an access point reports: meaning, name and unit of each quantity.
macro_rules! observables {
    ($(#[doc = $meaning:literal] $variant:ident $name:literal, $unit:literal;)+) => {
        /// Quantity that an access point reports. *Down* is from the access point to the station. A quantity that is counted has the
        /// increase since the previous sample as its value.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Observable {
            $(#[doc = $meaning] $variant,)+
        }

        impl Observable {
            /// Unit of the values.
            #[must_use]
            pub const fn unit(self) -> &'static str {
                match self {
                    $(Observable::$variant => $unit,)+
                }
            }

            /// Meaning of the values.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Observable::$variant => $meaning.trim_ascii_start(),)+
                }
            }
        }

        netburn_units::variants! {
            pub Observable:
                $($variant = $name,)+
        }
    };
}

// Their places are their codes in the spool: append, never reorder.
observables! {
    /// Signal of the station at the access point.
    Signal "signal", "0.01 dBm";
    /// Rate of the last frame to the station.
    RateDown "rate_down", "bit/s";
    /// Rate of the last frame from it.
    RateUp "rate_up", "bit/s";
    /// Bytes to the station or through the interface.
    BytesDown "bytes_down", "B";
    /// Bytes from it.
    BytesUp "bytes_up", "B";
    /// Retransmissions to the station.
    RetriesDown "retries_down", "frames";
    /// Frames to the station that were given up.
    FailedDown "failed_down", "frames";
    /// Airtime of frames to the station.
    AirtimeDown "airtime_down", "ns";
    /// Airtime of frames from it.
    AirtimeUp "airtime_up", "ns";
    /// Bytes in a queue.
    QueuedBytes "queued_bytes", "B";
    /// Packets in a queue.
    QueuedPackets "queued_packets", "packets";
    /// Packets that a queue dropped.
    QueueDrops "queue_drops", "packets";
    /// Packets that a queue marked (ECN CE).
    QueueMarks "queue_marks", "packets";
    /// Bytes that a queue sent.
    QueueSent "queue_sent", "B";
    /// Delay of packets in a queue, averaged by the queue.
    QueueDelay "queue_delay", "ns";
    /// Rate of the queue's shaper.
    ShaperRate "shaper_rate", "bit/s";
    /// Estimated airtime of frames that the driver has (airtime queue limits).
    AirtimePending "airtime_pending", "ns";
    /// Centre of the primary channel.
    Frequency "frequency", "MHz";
    /// Width of the channel.
    Width "width", "MHz";
    /// Transmit power.
    Power "power", "0.01 dBm";
    /// Noise on the channel.
    Noise "noise", "0.01 dBm";
    /// Time for which the radio was on the channel.
    OnChannel "on_channel", "ns";
    /// Part of it in which the channel was busy.
    Busy "busy", "ns";
    /// Part of it in which the radio received.
    Receiving "receiving", "ns";
    /// Part of it in which it sent.
    Sending "sending", "ns";
    /// Share of the time in which the busiest processor was in use.
    ProcessorBusy "processor_busy", "10⁻⁶";
    /// The largest share of the time in which a processor handled packets (softirq).
    ProcessorSoftirq "processor_softirq", "10⁻⁶";
    /// Packets that a processor's backlog dropped.
    SoftnetDropped "softnet_dropped", "packets";
    /// Times at which a processor had more packets than it may handle at once.
    SoftnetSqueezed "softnet_squeezed", "times";
    /// Memory that programs can still use.
    MemoryAvailable "memory_available", "B";
    /// Processor time of the observation itself.
    ObserverProcessor "observer_processor", "ns";
    /// Time from the request of the sample to its end.
    ObserverResponse "observer_response", "ns";
}

#[expect(clippy::derivable_impls, reason = "the list of the macro marks no default")]
impl Default for Observable {
    fn default() -> Self {
        Observable::Signal
    }
}

/// Event of an observed access point, or its description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "access-point", rename_all = "kebab-case")]
pub enum AccessPointEvent {
    /// Description of the access point, at the first sample.
    Described {
        /// Name of the access point.
        name: String,
        /// Texts by topic, such as `kernel` or `wlan0 channel`.
        facts: BTreeMap<String, String>,
    },
    /// A station joined a radio of the access point.
    Joined {
        /// Name of the access point.
        name: String,
        /// Interface of the radio.
        interface: String,
        /// Address of the station.
        address: String,
    },
    /// A station left a radio.
    Left {
        /// Name of the access point.
        name: String,
        /// Interface of the radio.
        interface: String,
        /// Address of the station.
        address: String,
    },
    /// The access point started again.
    Restarted {
        /// Name of the access point.
        name: String,
    },
    /// The access point could not be observed so far.
    Unreachable {
        /// Name of the access point.
        name: String,
        /// Why, as a clause.
        reason: String,
    },
    /// Values are missing.
    Lost {
        /// Name of the access point.
        name: String,
        /// Why, as a clause.
        reason: String,
    },
    /// Values arrive again.
    Returned {
        /// Name of the access point.
        name: String,
    },
    /// An event in its system log.
    Logged {
        /// Name of the access point.
        name: String,
        /// Interface of the radio, if the log names it.
        interface: Option<String>,
        /// Address of the station, if it concerns one.
        address: Option<String>,
        /// The event.
        what: Logged,
    },
    /// A radio uses another channel, or another width.
    ChannelChanged {
        /// Name of the access point.
        name: String,
        /// Interface of the radio.
        interface: String,
        /// Centre of the primary channel in MHz.
        frequency_mhz: u32,
        /// Width of the channel in MHz.
        width_mhz: Option<u32>,
    },
    /// Its system log no longer contains everything that it wrote before this time.
    LogIncomplete {
        /// Name of the access point.
        name: String,
    },
}

impl AccessPointEvent {
    /// End of a topic of a description whose fact is the name of a network.
    pub const SSID: &'static str = "ssid";

    /// Returns true for what concerns the observation itself, which people want to know during a run.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(
            self,
            AccessPointEvent::Unreachable { .. }
                | AccessPointEvent::Lost { .. }
                | AccessPointEvent::Returned { .. }
                | AccessPointEvent::Restarted { .. }
        )
    }

    /// Name of the access point.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            AccessPointEvent::Described { name, .. }
            | AccessPointEvent::Joined { name, .. }
            | AccessPointEvent::Left { name, .. }
            | AccessPointEvent::Restarted { name }
            | AccessPointEvent::Unreachable { name, .. }
            | AccessPointEvent::Lost { name, .. }
            | AccessPointEvent::Returned { name }
            | AccessPointEvent::ChannelChanged { name, .. }
            | AccessPointEvent::Logged { name, .. }
            | AccessPointEvent::LogIncomplete { name } => name,
        }
    }
}

impl fmt::Display for AccessPointEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessPointEvent::Described { name, facts } => {
                write!(f, "access point {name}")?;
                match facts.get("model").or_else(|| facts.get("system")) {
                    Some(model) => write!(f, ": {model}"),
                    None => Ok(()),
                }
            }
            AccessPointEvent::Joined {
                name,
                interface,
                address,
            } => write!(f, "joined {interface} of access point {name} ({address})"),
            AccessPointEvent::Left {
                name,
                interface,
                address,
            } => write!(f, "left {interface} of access point {name} ({address})"),
            AccessPointEvent::Restarted { name } => write!(f, "access point {name} started again"),
            AccessPointEvent::Unreachable { name, reason } => {
                write!(f, "access point {name} can't be observed: {reason}")
            }
            AccessPointEvent::Lost { name, reason } => {
                write!(f, "access point {name} is no longer observed: {reason}")
            }
            AccessPointEvent::Returned { name } => write!(f, "access point {name} is observed again"),
            AccessPointEvent::Logged {
                name,
                interface,
                address,
                what,
            } => {
                write!(f, "log of access point {name}: ")?;
                for part in [interface, address].into_iter().flatten() {
                    write!(f, "{part}: ")?;
                }
                write!(f, "{what}")
            }
            AccessPointEvent::ChannelChanged {
                name,
                interface,
                frequency_mhz,
                width_mhz,
            } => {
                write!(
                    f,
                    "the channel of {interface} of access point {name} is now at {frequency_mhz} MHz"
                )?;
                match width_mhz {
                    Some(width) => write!(f, ", {width} MHz wide"),
                    None => Ok(()),
                }
            }
            AccessPointEvent::LogIncomplete { name } => {
                write!(f, "earlier events in the log of access point {name} may be missing")
            }
        }
    }
}
