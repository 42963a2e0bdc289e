//! An access point.

use super::{
    ApSetting, Backhaul, BackhaulChoice, Destination, Multicast, MulticastSection, Radio, RadioSection, Wan,
    WanSection, wired_queue,
};
use crate::decode::Named;
use crate::enums::AqlChoice;
use crate::environment::{FLEET, SIMULATE};
use crate::places::Place;
use crate::queues::queue_limits;
use crate::scalars::{Flag, QueueBytes, Rate, Signal, SomeTime, Span, Whole};
use crate::section_macro::section;
use netburn_medium::config::{Aql, Composition, HardwareQueue, LinkQuality, QueueLimit, Rating};
use netburn_medium::geometry::Position;
use netburn_medium::queue::QueueKind;
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_units::{BitRate, ByteSize, DscpMapping, Duration};

/// An access point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ap {
    /// Name.
    pub name: String,
    /// Speed rating from which radios are derived. Settings in `radios` override them.
    pub rating: Option<Rating>,
    /// Radios; at least one if there is neither a rating nor a WAN link.
    pub radios: Vec<Radio>,
    /// Queue discipline for transmission.
    pub queue: QueueKind,
    /// Capacity of the queue.
    pub queue_limit: QueueLimit,
    /// ECN marking (RFC 3168) in disciplines that can mark.
    pub ecn: bool,
    /// Relaxed CoDel parameters for slow stations, in disciplines with CoDel per station.
    pub slow_stations: bool,
    /// Depth of the driver and hardware queue, per access category.
    pub hardware_queue: HardwareQueue,
    /// When the frames of an aggregate are chosen.
    pub composition: Composition,
    /// Capacity of the driver's lists in packets, below a queue that does not distinguish stations; at least 1.
    pub driver_queue: u16,
    /// Airtime queue limits; `None`: unlimited.
    pub aql: Option<Aql>,
    /// RX interrupt coalescing on simulate. The host is notified this long after the last received frame, but at most
    /// four times this long after the first.
    pub rx_interrupt_delay: Duration,
    /// Maximum forwarding rate, sum of both directions; `None`: unlimited.
    pub forwarding: Option<BitRate>,
    /// Capacity of the forwarding queue; `None`: [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at the rate.
    pub forwarding_queue: Option<ByteSize>,
    /// WAN link, with which the access point is a router; `None`: it is behind one, or next to the server's link.
    pub wan: Option<Wan>,
    /// Mapping from the DSCP of the packets that it sends over the air to their user priority.
    pub dscp_mapping: DscpMapping,
    /// Position in the building.
    pub position: Option<Position>,
    /// Time between two scans of its radios; `None`: it does not scan.
    pub scan_interval: Option<Duration>,
    /// Length of such an absence; `None`: [`DEFAULT_SCAN_AWAY`].
    pub scan_away: Option<Duration>,
    /// Connection to the server.
    pub backhaul: Backhaul,
    /// Quality of a wireless backhaul; `None`: the signal follows from the positions.
    pub backhaul_quality: Option<LinkQuality>,
    /// Mean time for which a frame from the air is held before it is sent on over the air, with a wireless backhaul.
    pub relay_delay: Duration,
    /// Real access point that a run on a fleet observes; `None`: none.
    pub observe: Option<Destination>,
    /// Multicast that it sends to its stations; `None`: there is none.
    pub multicast: Option<Multicast>,
}

/// Length of the absence of an access point that scans: what a vendor's default disturbs.
pub const DEFAULT_SCAN_AWAY: Duration = Duration::from_millis(100);

/// Mean forwarding delay of an access point between two frames on the air: the middle of 300 to 400 µs, from
/// measured devices (ns-3, `HwmpProtocol`).
pub const DEFAULT_RELAY_DELAY: Duration = Duration::from_micros(350);

section! {
    /// An access point, described by its speed rating, its radios, or both.
    ApSection(Ap = Ap::new("")) changes ApSetting {
        /// Speed rating, such as `AC1750`. Radios are derived from the rating; explicit `radio` settings override them.
        rating: Rating => rating;
        /// Radios, named `2g`, `5g`, `6g`; `5g-2` for a second radio in a band.
        radio: Named<RadioSection>;
        /// Queue discipline for transmission. {radio queues}
        queue: QueueKind => queue, changes |value| (ApSetting::Queue(value));
        /// Capacity of the queue, in packets or bytes. In `station-rr` it is the capacity for each traffic identifier of each station, in `pfifo-fast` for each band, and in the other disciplines for all stations together. The defaults are Linux's limits (txqueuelen for `fifo`).
        queue_limit: QueueLimit => queue_limit, default queue_limits();
        /// ECN marking (RFC 3168) instead of drops, in the disciplines that can mark: {marking queues}. Enabled in Linux. A connection uses ECN only if its station's `ecn` requests it.
        ecn: Flag => ecn;
        /// Relaxed CoDel (50 ms and 300 ms, no ECN) for slow stations in `fq-mac` and `airtime`, as in Linux from 2016 to 2025. A station is slow below 6 Mbit/s divided by the radio's stations.
        slow_stations: Flag => slow_stations;
        /// Depth of the driver and hardware queue, per access category of a radio: aggregates, frames, a time, or `unlimited`. ath9k uses two aggregates.
        hardware_queue: HardwareQueue => hardware_queue;
        /// When the frames of an aggregate are chosen. `txop`: by the radio, at its transmit opportunity; an aggregate that waits for the channel takes the packets that arrive meanwhile. Nearly all radios work like this, those of 802.11n included. `driver`: by the driver, when the aggregate enters the hardware queue, as in ath9k.
        aggregate_composition: Composition => composition;
        /// Mapping from the DSCP of a packet to its access category on the air. `rfc8325`: RFC 8325, as Linux since 6.8; other code points by their upper three bits. `upper-three-bits`: as Linux before 6.8 and many access points; EF is then video, and AF1x, AF2x and CS2 are background.
        dscp_mapping: DscpMapping => dscp_mapping;
        /// Capacity of the driver's own lists, in packets, between {wire queues} and the hardware. ath9k held 123 before Linux 4.11. Use 1 for a driver without such lists, whose firmware takes packets directly from the queue.
        driver_queue: Whole<1, 65535> => driver_queue;
        /// Airtime queue limits: `true` for Linux's values (5 ms, 12 ms, 24 ms), or your own. In Linux each driver enables them; ath9k does not.
        aql: AqlChoice => aql;
        /// RX interrupt coalescing of the radios, as a station's `rx_interrupt_delay`.
        rx_interrupt_delay: Span => rx_interrupt_delay, on SIMULATE else RealHosts;
        /// Maximum forwarding rate, sum of both directions.
        forwarding: Rate => forwarding, default "unlimited", changes |value| (ApSetting::Forwarding(value));
        /// Capacity of the forwarding queue, shared by both directions.
        forwarding_queue: QueueBytes => forwarding_queue, default wired_queue("`forwarding`");
        /// Position in the building. Stations with a position or a path need it.
        position: Place => position;
        /// Time between two scans of the access point itself. During a scan each of its radios leaves its channel. The first scan begins this long after the start of the load.
        scan_interval: SomeTime => scan_interval, default "none: it does not scan";
        /// Duration of such an absence. The stations get no notification, so some of their frames are lost.
        scan_away: SomeTime => scan_away, default "100 ms";
        /// Connection to the server: `wired`, another access point, or a radio of it, such as `main.5g`. `wired`: a cable to the `[router]`, or to the server's link if there is none. Another access point, such as `main`: a cable to one of its ports, so that both share the line of that access point. The cables have no limit. With a radio, the access point uses its own radio with the same band and channel for the link. If that radio also serves stations, they share its airtime with the backhaul. With an own radio, such as `5g`, it selects the other access point by itself: the one over which a bit needs the shortest airtime up to the wire.
        backhaul: BackhaulChoice => backhaul, default "wired";
        /// Received power on a wireless backhaul, equal at both ends.
        backhaul_signal: Signal, default "from the positions";
        /// Fixed MCS of a wireless backhaul, independent of the signal, counted per stream.
        backhaul_mcs: Whole<0, 13>, default "from the signal";
        /// Mean forwarding delay of a frame that is received by radio and transmitted by radio, with a wireless backhaul. Each delay is between 6/7 and 8/7 of this value.
        relay_delay: Span => relay_delay;
        /// Address of the real access point, such as `ssh://root@192.168.1.1`, or `local` if netburn runs on it. Runs on a fleet observe it, as with `--access-point`. The option has priority for the same name. An access point with only this key describes no radio.
        observe: Destination => observe, default "none: it is not observed", on FLEET else RealAccessPoint;
        /// Multicast that the access point sends to its stations.
        multicast: MulticastSection => multicast, default "none";
        /// WAN link. The access point is then the router of its line: stations with `wired`, and access points whose `backhaul` leads to it, share the line. It needs no radio.
        wan: WanSection => wan, default "none: the access point is behind a router, or next to the server's link";
    }
}

impl Ap {
    /// Returns true if the access point has neither a radio nor a WAN link, and is only observed.
    #[must_use]
    pub fn is_only_observed(&self) -> bool {
        self.observe.is_some() && self.rating.is_none() && self.radios.is_empty() && self.wan.is_none()
    }

    /// Creates an access point with default settings and no radios.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let queue = QueueKind::default();
        Ap {
            name: name.to_owned(),
            rating: None,
            radios: Vec::new(),
            queue,
            queue_limit: queue.default_limit(),
            ecn: true,
            slow_stations: false,
            hardware_queue: HardwareQueue::default(),
            composition: Composition::default(),
            driver_queue: ATH9K_DEPTH,
            aql: None,
            rx_interrupt_delay: Duration::ZERO,
            forwarding: None,
            forwarding_queue: None,
            wan: None,
            dscp_mapping: DscpMapping::default(),
            position: None,
            scan_interval: None,
            scan_away: None,
            backhaul: Backhaul::default(),
            backhaul_quality: None,
            relay_delay: DEFAULT_RELAY_DELAY,
            observe: None,
            multicast: None,
        }
    }
}
