//! DSCP with which packets arrived, compared with the DSCP with which they were sent.

use netburn_units::Dscp;
use netburn_workload::Direction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Packets of one direction of a workload, by the DSCP with which they arrived.
///
/// The document is `{"direction": "up", "sent": 46, "arrived": {"0": 700, "46": 2}}`. `up` is from the station to the
/// server. All code points are 0 to 63.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Document", into = "Document")]
pub struct DscpArrivals {
    /// Direction of the packets.
    pub direction: Direction,
    /// DSCP with which they were sent.
    pub sent: Dscp,
    /// Packets by the DSCP with which they arrived; not empty.
    arrived: BTreeMap<Dscp, u64>,
}

/// A DSCP that the path changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DscpChange {
    /// DSCP with which the most packets arrived, of those that differ from the sent one.
    pub to: Dscp,
    /// Packets that arrived with this DSCP.
    pub packets: u64,
    /// Packets that arrived.
    pub of: u64,
}

/// Kinds of changes of a DSCP (RFC 9435 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DscpTreatment {
    /// All six bits were cleared ("bleaching").
    Cleared,
    /// The upper three bits, the former IP precedence, were cleared ("ToS precedence bleaching"): the DSCP modulo 8
    /// remained.
    UpperBitsCleared,
    /// Another DSCP was set.
    Replaced,
}

/// Reason for which a document is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidArrivals {
    /// The direction has another name.
    #[error("unknown direction, expected `up` or `down`")]
    Direction,
    /// A code point is out of range.
    #[error("found a DSCP of {0}, expected 0 to 63")]
    Dscp(u8),
    /// No packet arrived.
    #[error("no packets")]
    Empty,
}

#[derive(Serialize, Deserialize)]
struct Document {
    direction: String,
    sent: u8,
    arrived: BTreeMap<u8, u64>,
}

impl DscpArrivals {
    /// Packets of a direction that were sent with the DSCP `sent`, by the DSCP with which they arrived. `None` if a code
    /// point is above 63 or no packet arrived.
    #[must_use]
    pub fn new(direction: Direction, sent: u8, arrived: impl IntoIterator<Item = (u8, u64)>) -> Option<Self> {
        DscpArrivals::checked(direction, sent, arrived).ok()
    }

    fn checked(
        direction: Direction,
        sent: u8,
        arrived: impl IntoIterator<Item = (u8, u64)>,
    ) -> Result<Self, InvalidArrivals> {
        let known = |dscp| Dscp::new(dscp).ok_or(InvalidArrivals::Dscp(dscp));
        let counts = arrived.into_iter().map(|(dscp, packets)| Ok((known(dscp)?, packets)));
        let arrivals = DscpArrivals {
            direction,
            sent: known(sent)?,
            arrived: counts.collect::<Result<_, _>>()?,
        };
        if arrivals.packets() == 0 {
            return Err(InvalidArrivals::Empty);
        }
        Ok(arrivals)
    }

    /// Packets that arrived.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.arrived.values().copied().fold(0, u64::saturating_add)
    }

    /// Returns true if packets were sent or arrived with a DSCP other than 0.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        let unmarked = Dscp::default();
        self.sent != unmarked || self.arrived.keys().any(|dscp| *dscp != unmarked)
    }

    /// Most frequent change of the DSCP, the lowest of several with equal counts; `None` if all packets arrived as they
    /// were sent.
    #[must_use]
    pub fn change(&self) -> Option<DscpChange> {
        let changed = self
            .arrived
            .iter()
            .filter(|(dscp, packets)| **dscp != self.sent && **packets > 0);
        let (to, packets) = changed.max_by_key(|(dscp, packets)| (**packets, std::cmp::Reverse(**dscp)))?;
        Some(DscpChange {
            to: *to,
            packets: *packets,
            of: self.packets(),
        })
    }

    /// Adds packets that were sent in the same direction with the same DSCP, as those of another run. Returns false, without
    /// a change, if direction or DSCP differ.
    pub fn add(&mut self, other: &DscpArrivals) -> bool {
        if (self.direction, self.sent) != (other.direction, other.sent) {
            return false;
        }
        for (dscp, packets) in &other.arrived {
            let count = self.arrived.entry(*dscp).or_default();
            *count = count.saturating_add(*packets);
        }
        true
    }
}

impl DscpChange {
    /// Kind of the change of packets that were sent with `sent`.
    #[must_use]
    pub fn treatment(&self, sent: Dscp) -> DscpTreatment {
        match self.to.value() {
            0 => DscpTreatment::Cleared,
            to if to == sent.value() % 8 => DscpTreatment::UpperBitsCleared,
            _ => DscpTreatment::Replaced,
        }
    }
}

impl fmt::Display for DscpArrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = match self.direction {
            Direction::Up => "server",
            Direction::Down => "station",
        };
        write!(f, "packets to the {to} with {}:", self.sent)?;
        for (place, (dscp, packets)) in self.arrived.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} {packets} arrived with {dscp}")?;
        }
        Ok(())
    }
}

impl TryFrom<Document> for DscpArrivals {
    type Error = InvalidArrivals;

    fn try_from(document: Document) -> Result<Self, InvalidArrivals> {
        let direction = match document.direction.as_str() {
            "up" => Direction::Up,
            "down" => Direction::Down,
            _ => return Err(InvalidArrivals::Direction),
        };
        DscpArrivals::checked(direction, document.sent, document.arrived)
    }
}

impl From<DscpArrivals> for Document {
    fn from(arrivals: DscpArrivals) -> Self {
        let direction = match arrivals.direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        let arrived = arrivals.arrived.into_iter();
        Document {
            direction: direction.to_owned(),
            sent: arrivals.sent.value(),
            arrived: arrived.map(|(dscp, packets)| (dscp.value(), packets)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(sent: u8, arrived: &[(u8, u64)]) -> DscpArrivals {
        DscpArrivals::new(Direction::Up, sent, arrived.iter().copied()).unwrap()
    }

    /// EF is 46 = 5 · 8 + 6 (RFC 3246): without the upper three bits it is 6. CS6 is 48 = 6 · 8 (RFC 2474): without them it
    /// is 0, as if all bits were cleared.
    #[test]
    fn a_change_is_named_by_what_remains() {
        for (sent, to, treatment) in [
            (46, 0, DscpTreatment::Cleared),
            (46, 6, DscpTreatment::UpperBitsCleared),
            (34, 2, DscpTreatment::UpperBitsCleared),
            (46, 8, DscpTreatment::Replaced),
            (48, 0, DscpTreatment::Cleared),
            (0, 8, DscpTreatment::Replaced),
        ] {
            let arrivals = up(sent, &[(sent, 1), (to, 9)]);
            let change = arrivals.change().unwrap();
            assert_eq!((change.to.value(), change.packets, change.of), (to, 9, 10));
            assert_eq!(change.treatment(arrivals.sent), treatment, "{sent} to {to}");
        }
        assert_eq!(up(46, &[(46, 10)]).change(), None);
        assert_eq!(up(46, &[(8, 2), (0, 2), (46, 5)]).change().unwrap().to, Dscp::default());
    }

    #[test]
    fn unmarked_packets_that_arrive_unmarked_are_not_marked() {
        assert!(!up(0, &[(0, 5)]).is_marked());
        assert!(up(46, &[(46, 5)]).is_marked() && up(46, &[(0, 5)]).is_marked() && up(0, &[(8, 5)]).is_marked());
    }

    #[test]
    fn the_document_keeps_every_field() {
        let arrivals = up(46, &[(0, 700), (46, 2)]);
        let text = serde_json::to_string(&arrivals).unwrap();
        assert_eq!(text, r#"{"direction":"up","sent":46,"arrived":{"0":700,"46":2}}"#);
        assert_eq!(serde_json::from_str::<DscpArrivals>(&text).unwrap(), arrivals);
        let text = "packets to the server with EF (46): 700 arrived with CS0 (0), 2 arrived with EF (46)";
        assert_eq!(arrivals.to_string(), text);
    }

    #[test]
    fn impossible_documents_are_rejected() {
        let error = |text: &str| serde_json::from_str::<DscpArrivals>(text).unwrap_err().to_string();
        let dscp = error(r#"{"direction":"up","sent":46,"arrived":{"64":1}}"#);
        assert_eq!(dscp, "found a DSCP of 64, expected 0 to 63");
        assert_eq!(
            error(r#"{"direction":"up","sent":255,"arrived":{"0":1}}"#),
            "found a DSCP of 255, expected 0 to 63"
        );
        let direction = error(r#"{"direction":"left","sent":46,"arrived":{"0":1}}"#);
        assert_eq!(direction, "unknown direction, expected `up` or `down`");
        assert_eq!(error(r#"{"direction":"up","sent":46,"arrived":{}}"#), "no packets");
        assert_eq!(error(r#"{"direction":"up","sent":46,"arrived":{"0":0}}"#), "no packets");
    }

    #[test]
    fn only_packets_of_the_same_kind_are_added() {
        let mut sum = up(46, &[(0, u64::MAX), (46, 1)]);
        assert!(sum.add(&up(46, &[(0, 1), (8, 3)])));
        assert_eq!(sum, up(46, &[(0, u64::MAX), (8, 3), (46, 1)]));
        assert_eq!(sum.packets(), u64::MAX, "counts do not overflow");
        let before = sum.clone();
        let down = DscpArrivals::new(Direction::Down, 46, [(0, 1)]).unwrap();
        assert!(!sum.add(&down) && !sum.add(&up(48, &[(0, 1)])));
        assert_eq!(sum, before);
    }
}
