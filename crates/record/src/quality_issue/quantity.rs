//! Quantities with a limit, each defined once: its code and fields in documents, its unit and its sentence.

use netburn_units::format_decimal;
use serde_json::{Map, Value};

/// Quantity that makes results unreliable when it exceeds its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// 99th percentile of the delay with which an agent or server began operations, in µs.
    StartDelay,
    /// Share of the time that the lab stood still.
    StandstillShare,
    /// Share of one core that the busiest thread of an agent, a server or the lab used.
    ProcessorBusy,
    /// Busy share of a machine: `this machine`, `the machine of agent laptop`.
    MachineBusy,
    /// Busy share of the machine while the lab ran.
    LabMachineBusy,
    /// 99th percentile of the time that the server took to start its responses, in µs.
    SlowResponses,
    /// Number of requests that the server rejected or failed because of internal errors.
    RequestsFailed,
    /// Uncertainty of a participant's clock, in ns.
    ClockUncertain,
    /// 99th percentile of the delay with which the lab delivered packets, in µs.
    LabDeliveryDelay,
    /// Longest delay of one packet in the lab, in µs.
    LabPacketLate,
    /// Time for which the machine of the lab was suspended, in µs.
    MachineSuspended,
    /// Number of packets that the kernel dropped before the lab read them.
    LabPacketsDropped,
    /// Number of frames that the lab could not deliver.
    LabFramesFailed,
    /// Share of the machine's time that a hypervisor took.
    HypervisorSteal,
}

/// Unit of a value and its limit, and how both are written.
#[derive(Clone, Copy)]
enum Unit {
    /// In documents in µs, in sentences in ms with two decimals.
    Microseconds,
    /// In documents in whole ns, in sentences in ms with two decimals.
    Nanoseconds,
    /// In documents in µs, in sentences in s or ms, with as many decimals as distinguish value and limit.
    Span,
    /// From 0 to 1, in sentences in percent.
    Share,
    /// A whole number.
    Count,
}

/// Definition of a quantity.
struct Definition {
    quantity: Quantity,
    /// Code in documents, stable.
    code: &'static str,
    /// Field of the participant or machine in documents; `None` if the sentence names none.
    who: Option<&'static str>,
    /// Field of the value in documents.
    value: &'static str,
    /// True if documents have the limit. Otherwise it is 0.
    has_limit: bool,
    unit: Unit,
    /// Sentence without the limit, from the participant and the value with its unit.
    sentence: fn(&str, &str) -> String,
}

static DEFINITIONS: &[Definition] = &[
    Definition {
        who: Some("who"),
        ..limited(
            Quantity::StartDelay,
            "start_delay",
            "p99_us",
            Unit::Microseconds,
            |who, value| format!("{who} was {value} behind schedule at p99"),
        )
    },
    limited(
        Quantity::StandstillShare,
        "standstill_share",
        "share",
        Unit::Share,
        |_, value| format!("standstills of the lab took {value} of the time"),
    ),
    Definition {
        who: Some("who"),
        ..limited(
            Quantity::ProcessorBusy,
            "processor_busy",
            "share",
            Unit::Share,
            |who, value| format!("{who} used {value} of one core"),
        )
    },
    Definition {
        who: Some("machine"),
        ..limited(
            Quantity::MachineBusy,
            "machine_busy",
            "share",
            Unit::Share,
            |who, value| format!("{who} was {value} busy"),
        )
    },
    limited(
        Quantity::LabMachineBusy,
        "lab_machine_busy",
        "share",
        Unit::Share,
        |_, value| format!("the machine was {value} busy while the lab ran"),
    ),
    Definition {
        who: Some("who"),
        ..limited(
            Quantity::SlowResponses,
            "slow_responses",
            "p99_us",
            Unit::Microseconds,
            |who, value| format!("{who} took {value} to start its responses at p99"),
        )
    },
    Definition {
        who: Some("who"),
        ..limited(
            Quantity::RequestsFailed,
            "requests_failed",
            "requests",
            Unit::Count,
            |who, value| format!("{who} rejected or failed {value} requests because of internal errors"),
        )
        .at_zero()
    },
    Definition {
        who: Some("name"),
        ..limited(
            Quantity::ClockUncertain,
            "clock_uncertain",
            "error_ns",
            Unit::Nanoseconds,
            |who, value| format!("the clock of {who} is uncertain by {value}"),
        )
    },
    limited(
        Quantity::LabDeliveryDelay,
        "lab_delivery_delay",
        "p99_us",
        Unit::Span,
        |_, value| format!("the lab delivered packets {value} late at p99"),
    ),
    limited(
        Quantity::LabPacketLate,
        "lab_packet_late",
        "max_us",
        Unit::Span,
        |_, value| format!("the lab delivered a packet {value} late"),
    ),
    limited(
        Quantity::MachineSuspended,
        "machine_suspended",
        "us",
        Unit::Span,
        |_, value| format!("the machine was suspended for {value}"),
    )
    .at_zero(),
    limited(
        Quantity::LabPacketsDropped,
        "lab_packets_dropped",
        "packets",
        Unit::Count,
        |_, value| format!("the kernel dropped {value} packets before the lab could read them"),
    )
    .at_zero(),
    limited(
        Quantity::LabFramesFailed,
        "lab_frames_failed",
        "frames",
        Unit::Count,
        |_, value| format!("the lab could not deliver {value} frames"),
    )
    .at_zero(),
    limited(
        Quantity::HypervisorSteal,
        "hypervisor_steal",
        "share",
        Unit::Share,
        |_, value| format!("the hypervisor took {value} of the machine's time"),
    ),
];

/// Definition of a quantity whose limit is in documents.
const fn limited(
    quantity: Quantity,
    code: &'static str,
    value: &'static str,
    unit: Unit,
    sentence: fn(&str, &str) -> String,
) -> Definition {
    Definition {
        quantity,
        code,
        who: None,
        value,
        has_limit: true,
        unit,
        sentence,
    }
}

impl Definition {
    /// This definition for a quantity that has to be 0.
    const fn at_zero(self) -> Definition {
        Definition {
            has_limit: false,
            ..self
        }
    }
}

/// A quantity that exceeds its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitExceeded {
    /// The measured quantity.
    pub quantity: Quantity,
    /// Label of an agent, a server or a machine, or the name of a participant; empty if the quantity has none.
    pub who: String,
    /// Measured value, in the unit of the quantity.
    pub value: f64,
    /// Limit in the same unit; 0 for quantities that documents write without a limit.
    pub limit: f64,
}

impl LimitExceeded {
    /// Reads code and fields; `None` if the code is none of a quantity or a field is missing.
    pub(super) fn from_document(document: &Map<String, Value>) -> Option<Self> {
        let code = document.get("code")?.as_str()?;
        let definition = DEFINITIONS.iter().find(|definition| definition.code == code)?;
        let number = |field: &str| definition.unit.read(document.get(field)?);
        Some(LimitExceeded {
            quantity: definition.quantity,
            who: match definition.who {
                Some(field) => document.get(field)?.as_str()?.to_owned(),
                None => String::new(),
            },
            value: number(definition.value)?,
            limit: if definition.has_limit { number("limit")? } else { 0.0 },
        })
    }

    /// Code and fields in documents.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let definition = self.quantity.definition();
        let mut fields = Map::new();
        fields.insert("code".to_owned(), definition.code.into());
        if let Some(who) = definition.who {
            fields.insert(who.to_owned(), self.who.as_str().into());
        }
        fields.insert(definition.value.to_owned(), definition.unit.write(self.value));
        if definition.has_limit {
            fields.insert("limit".to_owned(), definition.unit.write(self.limit));
        }
        fields
    }

    /// Sentence for people.
    pub(super) fn sentence(&self) -> String {
        let definition = self.quantity.definition();
        let (value, limit) = definition.unit.format(self.value, self.limit);
        let limit = if definition.has_limit { &limit } else { "0" };
        format!("{}; the limit is {limit}", (definition.sentence)(&self.who, &value))
    }
}

impl Quantity {
    fn definition(self) -> &'static Definition {
        let found = DEFINITIONS.iter().find(|definition| definition.quantity == self);
        found.expect("each quantity has a definition")
    }

    /// Code in documents: `start_delay`.
    pub(super) fn code(self) -> &'static str {
        self.definition().code
    }
}

impl Unit {
    fn is_whole(self) -> bool {
        matches!(self, Unit::Nanoseconds | Unit::Count)
    }

    fn read(self, value: &Value) -> Option<f64> {
        if self.is_whole() {
            value.as_u64().map(|number| number as f64)
        } else {
            value.as_f64()
        }
    }

    fn write(self, value: f64) -> Value {
        if self.is_whole() {
            (value as u64).into()
        } else {
            value.into()
        }
    }

    /// Value and limit in a sentence.
    fn format(self, value: f64, limit: f64) -> (String, String) {
        match self {
            Unit::Microseconds => (ms(value / 1e3), ms(limit / 1e3)),
            Unit::Nanoseconds => (ms(value / 1e6), ms(limit / 1e6)),
            Unit::Span => format_pair(value, limit, span_us),
            Unit::Share => format_pair(value, limit, percent),
            Unit::Count => (value.to_string(), limit.to_string()),
        }
    }
}

/// A value and the exceeded limit, with enough decimals to distinguish them.
pub(super) fn format_pair(value: f64, limit: f64, write: fn(f64, usize) -> String) -> (String, String) {
    let both = |decimals| (write(value, decimals), write(limit, decimals));
    (2..6)
        .map(both)
        .find(|(value, limit)| value != limit)
        .unwrap_or_else(|| both(6))
}

pub(super) fn ms(value: f64) -> String {
    format!("{} ms", format_decimal(value, 2))
}

pub(super) fn percent(share: f64, decimals: usize) -> String {
    format!("{} %", format_decimal(share * 100.0, decimals))
}

/// A time given in µs: in seconds from one second on, otherwise in milliseconds.
pub(super) fn span_us(us: f64, decimals: usize) -> String {
    // Values that round to one second count as one second.
    if us >= 1e6 - 5.0 {
        format!("{} s", format_decimal(us / 1e6, decimals))
    } else {
        format!("{} ms", format_decimal(us / 1e3, decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_issue::QualityIssue;
    use serde_json::json;

    /// Documents as all versions write them.
    #[test]
    fn documents_and_sentences_of_all_quantities() {
        let documents = [
            json!({ "code": "start_delay", "who": "agent tv", "p99_us": 12_500.0, "limit": 10_000.0,
                    "text": "agent tv was 12.5 ms behind schedule at p99; the limit is 10 ms" }),
            json!({ "code": "standstill_share", "share": 0.02, "limit": 0.01,
                    "text": "standstills of the lab took 2 % of the time; the limit is 1 %" }),
            json!({ "code": "processor_busy", "who": "packet forwarding", "share": 0.97, "limit": 0.95,
                    "text": "packet forwarding used 97 % of one core; the limit is 95 %" }),
            json!({ "code": "machine_busy", "machine": "this machine", "share": 0.98004, "limit": 0.98,
                    "text": "this machine was 98.004 % busy; the limit is 98 %" }),
            json!({ "code": "lab_machine_busy", "share": 0.99, "limit": 0.98,
                    "text": "the machine was 99 % busy while the lab ran; the limit is 98 %" }),
            json!({ "code": "slow_responses", "who": "the server", "p99_us": 1_200_000.0, "limit": 20_000.0,
                    "text": "the server took 1200 ms to start its responses at p99; the limit is 20 ms" }),
            json!({ "code": "requests_failed", "who": "the server", "requests": 3,
                    "text": "the server rejected or failed 3 requests because of internal errors; the limit is 0" }),
            json!({ "code": "clock_uncertain", "name": "tv", "error_ns": 7_500_000, "limit": 5_000_000,
                    "text": "the clock of tv is uncertain by 7.5 ms; the limit is 5 ms" }),
            json!({ "code": "lab_delivery_delay", "p99_us": 3_670.0, "limit": 500.0,
                    "text": "the lab delivered packets 3.67 ms late at p99; the limit is 0.5 ms" }),
            json!({ "code": "lab_packet_late", "max_us": 1_600_000.0, "limit": 15_000.0,
                    "text": "the lab delivered a packet 1.6 s late; the limit is 15 ms" }),
            json!({ "code": "machine_suspended", "us": 31_500_000.0,
                    "text": "the machine was suspended for 31.5 s; the limit is 0" }),
            json!({ "code": "lab_packets_dropped", "packets": 4,
                    "text": "the kernel dropped 4 packets before the lab could read them; the limit is 0" }),
            json!({ "code": "lab_frames_failed", "frames": 2,
                    "text": "the lab could not deliver 2 frames; the limit is 0" }),
            json!({ "code": "hypervisor_steal", "share": 0.03, "limit": 0.02,
                    "text": "the hypervisor took 3 % of the machine's time; the limit is 2 %" }),
        ];
        assert_eq!(documents.len(), DEFINITIONS.len());
        for (document, definition) in documents.into_iter().zip(DEFINITIONS) {
            let issue: QualityIssue = serde_json::from_value(document.clone()).unwrap();
            let QualityIssue::LimitExceeded(exceeded) = &issue else {
                panic!("{document} is not a quantity: {issue:?}")
            };
            assert_eq!(exceeded.quantity, definition.quantity);
            assert_eq!(issue.code(), definition.code);
            assert_eq!(issue.to_string(), document["text"]);
            assert_eq!(serde_json::to_string(&issue).unwrap(), document.to_string());
        }
    }
}
