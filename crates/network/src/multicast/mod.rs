//! Multicast of access points: the packets of their streams, and the counters of the members. [`on_air`] sends the frames.

mod on_air;

use crate::group::DtimBuffer;
use crate::layout::Layout;
use netburn_medium::packet::NodeId;
use netburn_medium::phy::Modulation;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, Multicast, ToUnicast};
use netburn_units::{Duration, Instant, earlier};
pub(crate) use on_air::Context;

/// Beacons from one DTIM beacon to the next of a radio without a network, as in hostapd.
const DTIM_PERIOD: u8 = 2;

/// Counters of an access point's multicast.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MulticastStats {
    /// Packets from the wire.
    pub packets: u64,
    /// Group-addressed frames.
    pub frames: u64,
    /// Frames of those that waited for a DTIM beacon.
    pub buffered: u64,
    /// Frames that the access point dropped, because too many waited.
    pub dropped: u64,
    /// Unicast copies.
    pub copies: u64,
    /// By member of the group, in the order of the plan.
    pub members: Vec<MemberStats>,
}

/// Counters of a member of a multicast group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberStats {
    /// Packets that the station received.
    pub received: u64,
    /// Packets that it did not receive while it was associated with the access point.
    pub lost: u64,
    /// Sum of the delays of all receptions, from the wire to the station.
    pub delay: Duration,
    /// Longest of these delays.
    pub longest_delay: Duration,
}

impl MemberStats {
    /// Share of packets that were lost; `None` without packets.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        let packets = self.received + self.lost;
        (packets > 0).then(|| self.lost as f64 / packets as f64)
    }

    /// Mean delay of a reception; `None` without one.
    #[must_use]
    pub fn mean_delay(&self) -> Option<Duration> {
        (self.received > 0).then(|| self.delay / self.received)
    }

    fn count(&mut self, delay: Option<Duration>) {
        match delay {
            Some(delay) => {
                self.received += 1;
                self.delay += delay;
                self.longest_delay = self.longest_delay.max(delay);
            }
            None => self.lost += 1,
        }
    }
}

/// Streams of all access points.
#[derive(Debug)]
pub(crate) struct Multicasts {
    streams: Vec<Stream>,
    /// Cached time of the next timer.
    due: Option<Instant>,
}

/// Multicast of one access point.
#[derive(Debug)]
struct Stream {
    ap: usize,
    /// Time of the first packet.
    first: Instant,
    /// Bits per second, and bits of a packet.
    rate: (u64, u64),
    /// Length of a packet in bytes.
    length: u32,
    /// User priority of copies.
    tid: u8,
    to_unicast: ToUnicast,
    snooping: bool,
    /// Members of the group, as indices of the Wi-Fi stations.
    members: Vec<usize>,
    radios: Vec<Bss>,
    stats: MulticastStats,
}

/// A radio of the access point.
#[derive(Debug)]
struct Bss {
    radio: NodeId,
    modulation: Modulation,
    /// Packets that wait for a DTIM beacon.
    buffer: DtimBuffer<u32>,
    /// Frames in the hardware.
    sending: usize,
}

/// A frame that carries a packet of a stream. `packet`: the lower 32 bits of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MulticastFrame {
    /// To all stations of a radio. `dtim`: after a DTIM beacon.
    Group { packet: u32, stream: u16, dtim: bool },
    /// To one station.
    Copy { packet: u32, stream: u16 },
}

impl Multicasts {
    pub(crate) fn new(plan: &Plan, layout: &Layout, begin: Instant) -> Self {
        let aps = plan.aps.iter().enumerate();
        let streams = aps.filter_map(|(index, ap)| Stream::new(plan, layout, (index, ap), begin));
        let mut multicasts = Multicasts {
            streams: streams.collect(),
            due: None,
        };
        multicasts.schedule();
        multicasts
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Counters of an access point, by its index in the plan; `None` if it has no multicast.
    pub(crate) fn stats(&self, ap: usize) -> Option<&MulticastStats> {
        let stream = self.streams.iter().find(|stream| stream.ap == ap)?;
        Some(&stream.stats)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Next packet that arrives by `now`, with its stream.
    fn poll_arrival(&mut self, now: Instant) -> Option<(usize, u32)> {
        let index = self.streams.iter().position(|stream| stream.next() <= now)?;
        let stats = &mut self.streams[index].stats;
        let packet = stats.packets as u32;
        stats.packets += 1;
        self.schedule();
        Some((index, packet))
    }

    /// Next DTIM beacon by `now`: the stream and the place of its radio, and its packets. If the access point is `away`,
    /// they wait for the next DTIM beacon.
    fn poll_dtim(&mut self, now: Instant, away: impl Fn(NodeId) -> bool) -> Option<(usize, usize, Vec<u32>)> {
        let mut streams = self.streams.iter_mut().enumerate();
        let (stream, place, packets) = streams.find_map(|(stream, at)| {
            let mut radios = at.radios.iter_mut().enumerate();
            radios.find_map(|(place, bss)| Some((stream, place, bss.buffer.poll(now, away(bss.radio))?)))
        })?;
        self.schedule();
        Some((stream, place, packets))
    }

    fn schedule(&mut self) {
        let radios = self.streams.iter().flat_map(|stream| &stream.radios);
        let beacon = radios.filter_map(|bss| bss.buffer.poll_timeout()).min();
        let next = self.streams.iter().map(Stream::next).min();
        self.due = earlier(beacon, next);
    }
}

impl Stream {
    fn new(plan: &Plan, layout: &Layout, (index, ap): (usize, &Ap), begin: Instant) -> Option<Self> {
        let settings = ap.multicast.as_ref()?;
        let member = |name: &String| {
            let mut stations = layout.wifi_stations.iter();
            stations.position(|at| plan.stations[at.station].name == *name)
        };
        let members: Vec<usize> = settings.to.iter().filter_map(member).collect();
        let radios = layout.radios.iter().enumerate().filter(|(_, radio)| radio.ap == index);
        let bss = radios.map(|(node, radio)| {
            let network = plan
                .networks
                .iter()
                .find(|network| network.radios.contains(&radio.name));
            Bss {
                radio: NodeId(node as u16),
                modulation: Multicast::modulation(&radio.config),
                buffer: DtimBuffer::new(network.map_or(DTIM_PERIOD, |network| network.dtim_period)),
                sending: 0,
            }
        });
        let mut stream = Stream {
            ap: index,
            first: begin,
            rate: (settings.rate.as_bps().max(1), settings.size.as_bytes() * 8),
            length: settings.size.as_bytes() as u32,
            tid: ap.dscp_mapping.user_priority(settings.dscp.value()),
            to_unicast: settings.to_unicast,
            snooping: settings.snooping,
            stats: MulticastStats {
                members: vec![MemberStats::default(); members.len()],
                ..MulticastStats::default()
            },
            members,
            radios: bss.collect(),
        };
        // The streams of several access points do not begin at once.
        let mut phase = plan.seed.stream("multicast", index as u64);
        stream.first = begin + phase.duration_below(stream.offset(1).max(Duration::from_nanos(1)));
        Some(stream)
    }

    /// Time from the first packet to the one with this number.
    fn offset(&self, packet: u64) -> Duration {
        let (rate, bits) = self.rate;
        let nanos = u128::from(packet) * u128::from(bits) * 1_000_000_000 / u128::from(rate);
        // A run has at most 30 days.
        Duration::from_nanos(nanos as u64)
    }

    /// Time of the next packet.
    fn next(&self) -> Instant {
        self.first + self.offset(self.stats.packets)
    }

    /// Time of a packet, from the lower 32 bits of its number.
    fn time_of(&self, packet: u32) -> Instant {
        let newest = self.stats.packets;
        let before = (newest as u32).wrapping_sub(packet);
        self.first + self.offset(newest - u64::from(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    /// 12 000 bits at 5 Mbit/s: a packet each 2.4 ms, also after 2³² of them.
    #[test]
    fn packets_come_at_a_constant_rate() {
        let text = "[ap.x]\nmulticast = { rate = \"5 Mbit/s\", size = \"1500 B\" }\n[ap.x.radio.5g]\n[station.s]\njoins = \"x.5g\"\nmcs = 5\n";
        let plan = Document::from_toml("rate.toml", text).unwrap().resolve().unwrap();
        let layout = Layout::from_plan(&plan).unwrap();
        let mut multicasts = Multicasts::new(&plan, &layout, Instant::ZERO);
        let first = multicasts.poll_timeout().unwrap();
        assert!(first < Instant::ZERO + Duration::from_micros(2_400));
        for packet in [0, 1, 2, u64::from(u32::MAX), 1 << 32] {
            let at = first + Duration::from_micros(2_400) * packet;
            multicasts.streams[0].stats.packets = packet;
            multicasts.schedule();
            assert_eq!(multicasts.poll_timeout(), Some(at));
            assert_eq!(multicasts.poll_arrival(at), Some((0, packet as u32)));
            assert_eq!(multicasts.streams[0].time_of(packet as u32), at);
            assert_eq!(multicasts.poll_arrival(at), None);
        }
    }
}
