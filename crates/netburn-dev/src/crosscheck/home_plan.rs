//! Plans of the wired parts of a [home](super::home).

use super::home::{Home, LineQueue, Place, Target};
use super::plan::{
    CrosscheckPlan, CrosscheckStation, Draw, PACKET_BITS, PlanQueue, ROUND_TRIPS_US, SLOW_MS, Transport,
    packets_within, sizes, station_limit,
};
use netburn_medium::config::{Band, Standard, Width};
use netburn_units::Duration;

/// Rates of lines in kbit/s.
const RATES_KBPS: [u64; 7] = [5_000, 8_000, 12_000, 20_000, 30_000, 40_000, 60_000];
/// Sizes of FIFOs in bytes.
const FIFO_BYTES: [u64; 4] = [16_000, 32_000, 64_000, 128_000];
/// Capacities of a cell in kbit/s. More has too many events for a run of ns-3.
const CELL_KBPS: std::ops::RangeInclusive<u64> = 8_000..=60_000;
/// Most stations at wires whose flow is with the NAS: each fills a cable.
const MAX_COPIES: usize = 2;
/// Time with load before the measured time, and the measured time.
const SPAN: Duration = Duration::from_secs(4);
/// Maximum [cycle](CrosscheckPlan::cycle_ms) of a connection.
const MAX_CYCLE_MS: u64 = 3_000;

impl CrosscheckPlan {
    /// A home. Draws again until queues and windows reach their steady state within the warm-up.
    pub(super) fn wired_home(number: u64, draw: &mut Draw) -> Self {
        loop {
            let standard = draw.choose(&[Standard::N, Standard::Ac, Standard::Ax]);
            let mut plan = CrosscheckPlan::with_radio(number, standard, Width::Mhz40, draw);
            let home = Home {
                down_kbps: draw.choose(&RATES_KBPS),
                up_kbps: draw.choose(&RATES_KBPS),
                queue: match draw.below(8) {
                    0..3 => LineQueue::FqCodel,
                    3 | 4 => LineQueue::DefaultFifo,
                    _ => LineQueue::Fifo(draw.choose(&FIFO_BYTES)),
                },
                access_points: 1 + draw.below(2) as u8,
            };
            plan.home = Some(home);
            plan.add_stations_of(home, draw);
            (plan.warmup, plan.measured) = (SPAN, SPAN);
            plan.round_trip = Duration::from_micros(draw.choose(&ROUND_TRIPS_US));
            plan.choose_load_of(home, draw);
            if plan.is_suitable(home) {
                return plan;
            }
        }
    }

    /// A wired station, one at each access point, and up to three more anywhere.
    fn add_stations_of(&mut self, home: Home, draw: &mut Draw) {
        let valid = self.valid_mcs();
        let has_nas = draw.below(3) > 0;
        let more = draw.below(4);
        let aps = home.access_points;
        let first = std::iter::once(Place::Wired).chain((0..aps).map(Place::Ap));
        let mut places: Vec<Place> = first.collect();
        for _ in 0..more {
            places.push(match draw.below(1 + u64::from(aps)) as u8 {
                0 => Place::Wired,
                ap => Place::Ap(ap - 1),
            });
        }
        let station = |place| CrosscheckStation {
            mcs: match place {
                Place::Ap(_) => draw.choose(&valid),
                Place::Wired => 0,
            },
            up: draw.below(2) == 0,
            place,
            target: if has_nas && draw.below(3) == 0 {
                Target::Nas
            } else {
                Target::Server
            },
        };
        self.stations = places.into_iter().map(station).collect();
    }

    /// Chooses transport and queues.
    fn choose_load_of(&mut self, home: Home, draw: &mut Draw) {
        let capacity = self.cells().map(|cell| cell.capacity_kbps()).min().unwrap_or(0);
        let window = u32::from(self.standard.block_ack_window());
        let max_frames = packets_within(capacity, 50).min(u64::from(4 * window));
        self.ap = PlanQueue {
            fq_codel: draw.below(2) == 0,
            limit: draw.choose(&sizes(&[20, 50, 100, 200, 400], packets_within(capacity, 200))),
            frames: draw.choose(&sizes(&[8, 16, 32, 64, 128], max_frames)),
        };
        // ns-3 forms the aggregates of a station from all packets below the discipline, netburn from those in the hardware.
        self.station = PlanQueue {
            fq_codel: true,
            limit: station_limit(true),
            frames: window * draw.choose(&[1, 2]),
        };
        if draw.below(3) == 0 {
            let percent = draw.choose(&[30, 60, 200, 200]);
            self.transport = Transport::Udp {
                kbps: self.line_share_kbps(home) * percent / 100,
            };
        }
    }

    /// An equal share of the line for each flow through it, in the direction in which it is smaller.
    fn line_share_kbps(&self, home: Home) -> u64 {
        let share = |up: bool, kbps: u64| kbps / self.flows_on_line(up).max(1);
        share(false, home.down_kbps).min(share(true, home.up_kbps))
    }

    fn flows_on_line(&self, up: bool) -> u64 {
        let on_line = |station: &&CrosscheckStation| station.target == Target::Server && station.up == up;
        self.stations.iter().filter(on_line).count() as u64
    }

    /// The plan of each access point alone, with its stations.
    fn cells(&self) -> impl Iterator<Item = CrosscheckPlan> {
        let aps = self.home.map_or(1, |home| home.access_points);
        (0..aps).map(|ap| {
            let mut cell = self.clone();
            cell.stations.retain(|station| station.place == Place::Ap(ap));
            cell
        })
    }

    fn is_suitable(&self, home: Home) -> bool {
        let copies = |station: &&CrosscheckStation| station.place == Place::Wired && station.target == Target::Nas;
        // On 2.4 GHz, two channels of 40 MHz overlap.
        (self.band == Band::Ghz5 || self.width == Width::Mhz20)
            && self.flows_on_line(false) + self.flows_on_line(true) > 0
            && self.stations.iter().filter(copies).count() <= MAX_COPIES
            && self.cells().all(|cell| cell.is_suitable_cell())
            && (!self.is_tcp() || self.line_cycle_ms(home) <= MAX_CYCLE_MS)
    }

    /// True if a cell is neither too slow nor too fast, and if its queues and windows reach their steady state within the
    /// warm-up.
    fn is_suitable_cell(&self) -> bool {
        let capacity = self.capacity_kbps();
        let uploads = self.stations.iter().any(|station| station.up);
        let round_trip_us = self.round_trip.as_nanos() / 1_000;
        CELL_KBPS.contains(&capacity)
            && (!self.is_tcp()
                || self.cycle_ms(capacity, self.ap.limit, self.ap.frames, round_trip_us) <= MAX_CYCLE_MS
                    && !(uploads && self.station_ms() > SLOW_MS))
    }

    /// Estimated time in ms between two losses of a connection over the line, as [`CrosscheckPlan::cycle_ms`].
    fn line_cycle_ms(&self, home: Home) -> u64 {
        let directions = [(false, home.down_kbps), (true, home.up_kbps)];
        let loaded_us: u64 = directions
            .iter()
            .filter(|(up, _)| self.flows_on_line(*up) > 0)
            .map(|(_, kbps)| home.fifo_bytes(*kbps).map_or(5_000, |bytes| bytes * 8_000 / kbps))
            .sum::<u64>()
            + self.round_trip.as_nanos() / 1_000;
        let cycle = |(up, kbps): (bool, u64)| match self.flows_on_line(up) {
            0 => 0,
            flows => loaded_us * kbps / PACKET_BITS / 1_000 / flows / 2 * loaded_us / 1_000,
        };
        directions.into_iter().map(cycle).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::home::WIRED_HOMES;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn homes_are_inside_the_space(number in WIRED_HOMES..WIRED_HOMES + 100_000) {
            let plan = CrosscheckPlan::generate(number);
            let home = plan.home.expect("a home");
            prop_assert!((5_000..=60_000).contains(&home.down_kbps) && (5_000..=60_000).contains(&home.up_kbps));
            prop_assert!((usize::from(home.access_points) + 1..=6).contains(&plan.stations.len()));
            prop_assert!(plan.stations.iter().any(|station| station.target == Target::Server));
            for cell in plan.cells() {
                prop_assert!(!cell.stations.is_empty());
            }
        }
    }

    /// Every choice of a home occurs in one hundred of them.
    #[test]
    fn a_hundred_homes_have_every_kind() {
        let plans: Vec<CrosscheckPlan> = (WIRED_HOMES..WIRED_HOMES + 100).map(CrosscheckPlan::generate).collect();
        let count = |which: &dyn Fn(&CrosscheckPlan, Home) -> bool| {
            let homes = plans.iter().filter_map(|plan| plan.home.map(|home| (plan, home)));
            homes.filter(|(plan, home)| which(plan, *home)).count()
        };
        for access_points in 1..=2 {
            assert!(count(&|_, home| home.access_points == access_points) > 25);
        }
        assert!(count(&|_, home| home.queue == LineQueue::FqCodel) > 20);
        assert!(count(&|_, home| matches!(home.queue, LineQueue::Fifo(_))) > 20);
        assert!(count(&|plan, _| matches!(plan.transport, Transport::Udp { .. })) > 15);
        let copies = |place: &dyn Fn(Place) -> bool| {
            count(&|plan, _| {
                let copies = |station: &CrosscheckStation| station.target == Target::Nas && place(station.place);
                plan.stations.iter().any(copies)
            })
        };
        assert!(copies(&|place| place == Place::Wired) > 15);
        assert!(copies(&|place| place != Place::Wired) > 15);
        // With TCP, a default FIFO fills within the warm-up on few lines.
        assert!(count(&|_, home| home.queue == LineQueue::DefaultFifo) > 3);
    }
}
