//! Random plans from the space that both netburn and ns-3 model.

use super::home::{Home, Place, Target, WIRED_HOMES};
use netburn_medium::config::{Band, Guard, Standard, Width};
use netburn_medium::phy::{Modulation, TxVector, dsss, ofdm};
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_units::{Duration, RandomStream, Seed};

/// A network: an access point, its stations, a server behind a wired link, and one flow for each station. A [`Home`] adds a
/// router with a line, wired stations, a second access point and a NAS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrosscheckPlan {
    /// Number of the plan, which is also the seed that it is generated from.
    pub number: u64,
    /// Standard of all devices.
    pub standard: Standard,
    /// Band: 2.4 or 5 GHz.
    pub band: Band,
    /// Channel width.
    pub width: Width,
    /// Guard interval.
    pub guard: Guard,
    /// Spatial streams of all devices: 1 or 2.
    pub streams: u8,
    /// The stations: 1 to 10.
    pub stations: Vec<CrosscheckStation>,
    /// The wired parts of a home; `None`: one access point next to the server's link.
    pub home: Option<Home>,
    /// Transport of all flows.
    pub transport: Transport,
    /// Queue of the access point.
    pub ap: PlanQueue,
    /// Queue of each station.
    pub station: PlanQueue,
    /// Time from a station's Ethernet side to the server and back: 1 to 50 ms. In a home it is the delay of the line.
    pub round_trip: Duration,
    /// Time between probes of a station.
    pub probe_period: Duration,
    /// Time with load before the measured time.
    pub warmup: Duration,
    /// Measured time.
    pub measured: Duration,
}

/// One station with its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrosscheckStation {
    /// MCS per stream, or the index of the rate in 802.11a, b and g. Both directions use it. 0 for a wired station.
    pub mcs: u8,
    /// Direction of the flow: `true` from the station, `false` to the station.
    pub up: bool,
    /// Connection of the station.
    pub place: Place,
    /// Other end of the flow.
    pub target: Target,
}

/// Transport of the flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Packets of 1500 bytes, this many kbit/s for each flow, each at a random instant of its period.
    Udp {
        /// Rate of each flow in kbit/s, including the IP header.
        kbps: u64,
    },
    /// As many bytes as CUBIC (RFC 9438) permits.
    Cubic,
    /// As many bytes as NewReno (RFC 6582) permits.
    Reno,
}

/// A transmit queue of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanQueue {
    /// FQ-CoDel (RFC 8290); otherwise one FIFO.
    pub fq_codel: bool,
    /// Packets that it holds.
    pub limit: u32,
    /// Frames that the hardware below it holds, those on the air included.
    pub frames: u32,
}

/// Queue limit of a station in packets: the default of netburn, which has no key for it.
pub const STATION_FIFO_LIMIT: u32 = 1_000;
/// The same for FQ-CoDel.
pub const STATION_FQ_CODEL_LIMIT: u32 = 10_240;

/// Number of the first plan with the default keys of queues and hardware. The following ones up to [`WIRED_HOMES`] are such
/// plans too.
pub const DEFAULT_KEYS: u64 = 100_001;
/// Aggregates in the hardware by default.
const DEFAULT_AGGREGATES: u32 = 2;
/// Capacity of a plan with default keys, at most: the run time of ns-3 grows with the number of packets.
const MAX_DEFAULT_KBPS: u64 = 60_000;

/// Times from a station's Ethernet side to the server and back in µs.
pub(super) const ROUND_TRIPS_US: [u64; 6] = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000];
/// Maximum [cycle](CrosscheckPlan::cycle_ms) of a connection, about the duration of the warm-up.
const MAX_CYCLE_MS: u64 = 2_500;
/// Time in ms to send the packets below a station's queue, beyond which an upload is slow.
pub(super) const SLOW_MS: u64 = 500;
/// Bits of one packet.
pub(super) const PACKET_BITS: u64 = 12_000;

impl CrosscheckPlan {
    /// Generates a plan with one access point next to the server's link.
    pub(super) fn one_cell(number: u64, draw: &mut Draw) -> Self {
        if number >= DEFAULT_KEYS {
            return Self::with_default_keys(number, draw);
        }
        use Standard::{A, Ac, Ax, B, G, N};
        let standard = draw.choose(&[A, B, G, N, N, N, Ac, Ac, Ac, Ax, Ax, Ax]);
        let tcp = draw.below(2) == 0;
        // TCP on more than 40 MHz has too many events for a run of ns-3.
        let mut plan =
            CrosscheckPlan::with_radio(number, standard, if tcp { Width::Mhz40 } else { Width::Mhz80 }, draw);
        let max_stations = if standard == B { 4 } else { 10 };
        let count = 1 + draw.below(max_stations);
        let choice = plan.choose_stations(draw);
        plan.add_stations(count, choice, draw);
        plan.ap.fq_codel = draw.below(2) == 0;
        plan.station.fq_codel = draw.below(2) == 0;
        if !tcp {
            plan.warmup = Duration::from_millis(1_500);
        }
        plan.choose_load(tcp, draw);
        plan
    }

    /// A plan of CUBIC without stations, with a radio of at most this width, and without queues and round trip.
    pub(super) fn with_radio(number: u64, standard: Standard, max_width: Width, draw: &mut Draw) -> Self {
        let band = match standard {
            Standard::B | Standard::G => Band::Ghz2_4,
            Standard::A | Standard::Ac => Band::Ghz5,
            _ => draw.choose(&[Band::Ghz2_4, Band::Ghz5]),
        };
        let widest = standard.widest(band).min(max_width);
        let widths: Vec<Width> = Width::ALL.into_iter().filter(|width| *width <= widest).collect();
        let width = draw.choose(&widths);
        let guards: Vec<Guard> = Guard::ALL.into_iter().filter(|g| standard.has_guard(*g)).collect();
        let guard = draw.choose(&guards);
        let streams = draw.choose(&[1, 2]).min(standard.max_streams());
        let empty = PlanQueue {
            fq_codel: false,
            limit: 0,
            frames: 0,
        };
        CrosscheckPlan {
            number,
            standard,
            band,
            width,
            guard,
            streams,
            stations: Vec::new(),
            home: None,
            transport: Transport::Cubic,
            ap: empty,
            station: empty,
            round_trip: Duration::ZERO,
            probe_period: Duration::from_millis(if standard == Standard::B { 100 } else { 50 }),
            warmup: Duration::from_millis(3_000),
            measured: Duration::from_secs(4),
        }
    }

    /// Chooses whether all stations have one MCS, which one, and the direction of the flows.
    fn choose_stations(&self, draw: &mut Draw) -> StationChoice {
        StationChoice {
            common: draw.below(2) == 0,
            first: draw.choose(&self.valid_mcs()),
            direction: draw.below(3),
        }
    }

    fn add_stations(&mut self, count: u64, choice: StationChoice, draw: &mut Draw) {
        let valid = self.valid_mcs();
        let mut station = || CrosscheckStation {
            mcs: if choice.common {
                choice.first
            } else {
                draw.choose(&valid)
            },
            up: match choice.direction {
                0 => false,
                1 => true,
                _ => draw.below(2) == 0,
            },
            place: Place::Ap(0),
            target: Target::Server,
        };
        self.stations = (0..count).map(|_| station()).collect();
    }

    pub(super) fn valid_mcs(&self) -> Vec<u8> {
        let has = |mcs: &u8| self.standard.has_mcs(*mcs, self.width, self.streams);
        (0..=self.standard.max_mcs()).filter(has).collect()
    }

    /// True if the scenario sets no key of queues and hardware, except the discipline of the access point's queue.
    #[must_use]
    pub const fn has_default_keys(&self) -> bool {
        self.number >= DEFAULT_KEYS && self.number < WIRED_HOMES
    }

    /// TCP to and from the stations of a radio that aggregates, with the default keys. Other choices are as for other plans. Draws
    /// again until queues and windows reach their steady state within the warm-up.
    fn with_default_keys(number: u64, draw: &mut Draw) -> Self {
        loop {
            let standard = draw.choose(&[Standard::N, Standard::Ac, Standard::Ax]);
            let mut plan = CrosscheckPlan::with_radio(number, standard, Width::Mhz40, draw);
            let choice = plan.choose_stations(draw);
            let count = 1 + draw.below(10);
            plan.add_stations(count, choice, draw);
            let frames = DEFAULT_AGGREGATES * u32::from(standard.block_ack_window());
            let queue = |fq_codel: bool| PlanQueue {
                fq_codel,
                limit: station_limit(fq_codel),
                frames,
            };
            plan.ap = queue(draw.below(2) == 0);
            plan.station = queue(true);
            plan.round_trip = Duration::from_micros(draw.choose(&ROUND_TRIPS_US));
            let capacity = plan.capacity_kbps();
            plan.measured = measured(capacity, 3_000);
            let frames = frames + plan.access_point_lists();
            let cycle = plan.cycle_ms(capacity, plan.ap.limit, frames, plan.round_trip.as_nanos() / 1_000);
            if cycle <= MAX_CYCLE_MS && plan.station_ms() <= SLOW_MS && capacity <= MAX_DEFAULT_KBPS {
                return plan;
            }
        }
    }

    /// True if the flows are TCP connections.
    pub(super) fn is_tcp(&self) -> bool {
        !matches!(self.transport, Transport::Udp { .. })
    }

    /// Packets in the lists of the access point's driver, between the queue and the hardware.
    pub(super) fn access_point_lists(&self) -> u32 {
        if self.has_default_keys() {
            u32::from(ATH9K_DEPTH)
        } else {
            0
        }
    }

    /// Chooses load and queues from the capacity, so that queues fill and empty and congestion windows rise and fall within
    /// the warm-up.
    fn choose_load(&mut self, tcp: bool, draw: &mut Draw) {
        let capacity = self.capacity_kbps();
        let share = capacity / self.stations.len() as u64;
        let limits = sizes(&[20, 50, 100, 200, 400, 1_000], packets_within(capacity, 300));
        let max_frames = u64::from(4 * self.standard.block_ack_window().max(4));
        let frames = |kbps: u64| {
            let all = sizes(
                &[8, 16, 32, 64, 128, 256, 512, 1_024],
                packets_within(kbps, 150).min(max_frames),
            );
            all[all.len().saturating_sub(3)..].to_vec()
        };
        self.station.frames = draw.choose(&frames(share));
        let up = self.stations.iter().any(|station| station.up);
        if tcp {
            self.transport = draw.choose(&[Transport::Cubic, Transport::Reno]);
            // A station's FIFO holds 1000 packets.
            self.station.fq_codel |= up;
            let smaller = sizes(&[8, 16, 32, 64, 128], max_frames);
            let mut choices = Vec::new();
            for limit in limits {
                for frames in &smaller {
                    let is_short = |trip: &u64| self.cycle_ms(capacity, limit, *frames, *trip) <= MAX_CYCLE_MS;
                    let short = ROUND_TRIPS_US.into_iter().filter(is_short);
                    choices.extend(short.map(|round_trip| (limit, *frames, round_trip)));
                }
            }
            let shortest = (20, smaller[0], ROUND_TRIPS_US[0]);
            let (limit, frames, round_trip) = if choices.is_empty() {
                shortest
            } else {
                draw.choose(&choices)
            };
            (self.ap.limit, self.ap.frames) = (limit, frames);
            self.round_trip = Duration::from_micros(round_trip);
        } else {
            self.ap.limit = draw.choose(&limits);
            self.ap.frames = draw.choose(&frames(capacity));
            self.round_trip = Duration::from_micros(draw.choose(&ROUND_TRIPS_US));
            // A station's queue must fill within the warm-up.
            let saturates = !up || share >= 20_000 && !self.station.fq_codel;
            let percent = if saturates {
                draw.choose(&[30, 60, 200, 200])
            } else {
                draw.choose(&[30, 60])
            };
            self.transport = Transport::Udp {
                kbps: (share * percent / 100).max(50),
            };
        }
        self.station.limit = station_limit(self.station.fq_codel);
        self.measured = measured(capacity, if tcp { 3_000 } else { 1_500 });
    }

    /// Estimated time in ms that a station needs to send the packets in its driver and hardware queues.
    pub(super) fn station_ms(&self) -> u64 {
        let packets = u64::from(self.station.frames) + u64::from(ATH9K_DEPTH);
        packets * PACKET_BITS * self.stations.len() as u64 / self.capacity_kbps().max(1)
    }

    /// Estimated time in ms between two losses of a connection to a station. NewReno grows from half of the path's capacity to
    /// the whole by one packet per round trip.
    pub(super) fn cycle_ms(&self, capacity_kbps: u64, limit: u32, frames: u32, round_trip_us: u64) -> u64 {
        let flows = self.stations.iter().filter(|station| !station.up).count().max(1) as u64;
        // CoDel keeps its queue at about 5 ms.
        let queue = if self.ap.fq_codel {
            u64::from(limit).min(packets_within(capacity_kbps, 5))
        } else {
            u64::from(limit)
        } + u64::from(frames);
        let loaded_us = round_trip_us + queue * PACKET_BITS * 1_000 / capacity_kbps.max(1);
        let window = loaded_us * capacity_kbps / PACKET_BITS / 1_000 / flows;
        window / 2 * loaded_us / 1_000
    }

    /// Estimated goodput of all flows together in kbit/s, with equal shares. It is three quarters of the harmonic mean
    /// of the rates, or the rates less the overhead of a packet without aggregation.
    pub(super) fn capacity_kbps(&self) -> u64 {
        let seconds = |station: &CrosscheckStation| {
            let payload = PACKET_BITS as f64 / self.rate_bps(station.mcs);
            match self.standard {
                Standard::B => payload + 1_400e-6,
                Standard::A | Standard::G => payload + 220e-6,
                _ => payload / 0.75,
            }
        };
        let all: f64 = self.stations.iter().map(seconds).sum();
        (PACKET_BITS as f64 * self.stations.len() as f64 / all / 1e3) as u64
    }

    fn rate_bps(&self, mcs: u8) -> f64 {
        let vector = TxVector {
            modulation: match self.standard {
                Standard::B => Modulation::Dsss(dsss::Rate::ALL[usize::from(mcs)]),
                Standard::A | Standard::G => Modulation::Ofdm(ofdm::Rate::ALL[usize::from(mcs)]),
                Standard::N => Modulation::Ht { mcs },
                Standard::Ac => Modulation::Vht { mcs },
                Standard::Ax | Standard::Be => Modulation::He { mcs },
            },
            width: self.width,
            guard: self.guard,
            streams: self.streams,
            signal_extension: false,
            short_preamble: false,
        };
        vector.rate().map_or(1e6, |rate| rate.as_bps() as f64)
    }

    /// Describes the plan in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let stations = &self.stations;
        let up = stations.iter().filter(|station| station.up).count();
        let direction = match (up, stations.len() - up) {
            (up, 0) => format!("{up} up"),
            (0, down) => format!("{down} down"),
            (up, down) => format!("{down} down and {up} up"),
        };
        let on_air = stations.iter().filter(|station| station.place != Place::Wired);
        let mut mcs: Vec<u8> = on_air.map(|station| station.mcs).collect();
        mcs.sort_unstable();
        mcs.dedup();
        let rates = match mcs.as_slice() {
            [one] => format!("MCS {one}"),
            several => format!("MCS {} to {}", several[0], several[several.len() - 1]),
        };
        let transport = match self.transport {
            Transport::Udp { kbps } => format!("UDP at {:.3} Mbit/s", kbps as f64 / 1e3),
            Transport::Cubic => "CUBIC".to_owned(),
            Transport::Reno => "NewReno".to_owned(),
        };
        let queue = |queue: &PlanQueue| {
            let kind = if queue.fq_codel { "fq-codel" } else { "fifo" };
            format!("{kind} {}/{}", queue.limit, queue.frames)
        };
        let home = self.home.map_or(String::new(), |home| {
            let wired = stations.iter().filter(|station| station.place == Place::Wired).count();
            let with_nas = stations.iter().filter(|station| station.target == Target::Nas).count();
            format!(
                "{}; {wired} wired, {} at {} access point{}, {with_nas} with the NAS; ",
                home.line(),
                stations.len() - wired,
                home.access_points,
                if home.access_points == 1 { "" } else { "s" },
            )
        });
        format!(
            "{home}{} {}, {} MHz, {} ns, {} stream{}, {rates}, {direction}, {transport}, AP {}, stations {}, {} ms",
            self.standard.name(),
            self.band.name(),
            self.width.as_mhz(),
            self.guard.as_nanos(),
            self.streams,
            if self.streams == 1 { "" } else { "s" },
            queue(&self.ap),
            queue(&self.station),
            self.round_trip.as_millis(),
        )
    }
}

/// Choices for all stations of a plan.
#[derive(Debug, Clone, Copy)]
struct StationChoice {
    /// True if all have the MCS `first`.
    common: bool,
    first: u8,
    /// 0: all down; 1: all up; 2: each by chance.
    direction: u64,
}

/// Default limit of a queue in packets.
pub(super) const fn station_limit(fq_codel: bool) -> u32 {
    if fq_codel {
        STATION_FQ_CODEL_LIMIT
    } else {
        STATION_FIFO_LIMIT
    }
}

/// Measured time. The run time of ns-3 grows with the number of packets: at most about 300 Mbit.
fn measured(capacity_kbps: u64, shortest_ms: u64) -> Duration {
    let longest = (300_000_000 / capacity_kbps.max(1)).clamp(shortest_ms, 4_000);
    // The intervals of a record are 100 ms long.
    Duration::from_millis(longest / 100 * 100)
}

/// Packets sent in this number of ms, at least 8.
pub(super) fn packets_within(kbps: u64, ms: u64) -> u64 {
    (kbps * ms / PACKET_BITS).max(8)
}

/// Sizes up to `max`; always includes the first.
pub(super) fn sizes(all: &[u32], max: u64) -> Vec<u32> {
    let fit = |size: &u32| *size == all[0] || u64::from(*size) <= max;
    all.iter().copied().filter(fit).collect()
}

/// Random choices.
pub(super) struct Draw(RandomStream);

impl Draw {
    /// The choices of the plan with this number.
    pub(super) fn new(number: u64) -> Self {
        Draw(Seed(number).stream("crosscheck plan", 0))
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    pub(super) fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plans_are_inside_the_space(number in 1_u64..1_000_000) {
            let plan = CrosscheckPlan::generate(number);
            prop_assert_eq!(&plan, &CrosscheckPlan::generate(number));
            prop_assert!((1..=10).contains(&plan.stations.len()));
            prop_assert!(plan.standard.in_band(plan.band) && plan.standard != Standard::Be);
            prop_assert!(plan.width <= plan.standard.widest(plan.band) && plan.width <= Width::Mhz80);
            prop_assert!(plan.standard.has_guard(plan.guard));
            prop_assert!((1..=2).contains(&plan.streams));
            for station in &plan.stations {
                prop_assert!(plan.standard.has_mcs(station.mcs, plan.width, plan.streams));
            }
            prop_assert!((1..=50).contains(&plan.round_trip.as_millis()));
            prop_assert!((1_500..=4_000).contains(&plan.measured.as_millis()));
            prop_assert!(plan.ap.frames >= 8 && plan.station.frames >= 8);
        }
    }

    /// 802.11a at 54 Mbit/s: an exchange takes about 400 µs (30 Mbit/s). 802.11n, MCS 7, 20 MHz, 800 ns: 65 Mbit/s on the air.
    #[test]
    fn the_capacity_is_estimated_within_a_quarter() {
        let mut plan = CrosscheckPlan::generate(1);
        plan.stations = vec![
            CrosscheckStation {
                mcs: 7,
                up: false,
                ..plan.stations[0]
            };
            3
        ];
        (plan.standard, plan.width, plan.guard, plan.streams) = (Standard::A, Width::Mhz20, Guard::Ns800, 1);
        assert!(
            (22_500..37_500).contains(&plan.capacity_kbps()),
            "{}",
            plan.capacity_kbps()
        );
        plan.standard = Standard::N;
        assert!(
            (44_000..74_000).contains(&plan.capacity_kbps()),
            "{}",
            plan.capacity_kbps()
        );
    }

    #[test]
    fn five_hundred_plans_have_every_kind() {
        let plans: Vec<CrosscheckPlan> = (1..=500).map(CrosscheckPlan::generate).collect();
        let count = |which: &dyn Fn(&CrosscheckPlan) -> bool| plans.iter().filter(|plan| which(plan)).count();
        for standard in [
            Standard::A,
            Standard::B,
            Standard::G,
            Standard::N,
            Standard::Ac,
            Standard::Ax,
        ] {
            assert!(count(&|plan| plan.standard == standard) > 20, "{standard:?}");
        }
        for stations in 1..=10 {
            assert!(count(&|plan| plan.stations.len() == stations) > 20, "{stations}");
        }
        assert!(count(&|plan| plan.transport == Transport::Cubic) > 80);
        assert!(count(&|plan| plan.transport == Transport::Reno) > 80);
        assert!(count(&|plan| plan.ap.fq_codel) > 150 && count(&|plan| !plan.ap.fq_codel) > 150);
    }
}
