//! Delay of a station from the one-way delays of its packets (`voice`, `datagrams`, `game`, `cloud-gaming`), and from the
//! frame delays of its video calls.

use super::{ADDED_MS, BUSY_CHANNEL, DelaySource, Direction, FULL, FULL_SHARE, LinkLoad, Part, RunFacts, VictimDelay};
use crate::format::span;
use netburn_record::summary::{LatencyMs, WorkloadSummary};
use netburn_scenario::plan::Capacity;
use netburn_units::Duration;

impl RunFacts<'_> {
    /// Delays of a station of [`ADDED_MS`] or more. If its probes show where they arise, these decide. Otherwise the packets
    /// of its calls, games and other streams do.
    pub(in crate::explain) fn victim_delays(&self, station: usize) -> Vec<VictimDelay> {
        if self.split(station).is_some() {
            return self.delayed_parts(station);
        }
        let directions = [Direction::Down, Direction::Up].into_iter();
        directions
            .filter_map(|direction| self.packet_delay(station, direction))
            .collect()
    }

    /// Delay of [`ADDED_MS`] or more that the one-way delays of a station's packets show in a direction: the largest of all
    /// its workloads. The delay without load is at most the smallest one-way delay, and at most the idle round trip.
    pub(in crate::explain) fn packet_delay(&self, station: usize, direction: Direction) -> Option<VictimDelay> {
        let idle = self.idle_ms(station);
        let of = |workload: &WorkloadSummary| {
            let delay = one_way(workload, direction)?;
            let (median_ms, least_ms) = (delay.p50?, delay.min?);
            let unloaded = if idle > 0.0 { least_ms.min(idle) } else { least_ms };
            let pacing = self.pacing(station, workload, direction);
            Some(VictimDelay {
                part: None,
                direction: Some(direction),
                added_ms: median_ms - unloaded - pacing.map_or(0.0, |pacing| pacing.as_millis_f64()),
                source: DelaySource::Packets {
                    workload: workload.name.clone(),
                    are_frames: pacing.is_some(),
                    median_ms,
                    least_ms,
                },
            })
        };
        let all = self.station(station)?.workloads.iter().filter_map(of);
        let worst = all.max_by(|a, b| a.added_ms.total_cmp(&b.added_ms))?;
        (worst.added_ms >= ADDED_MS).then(|| VictimDelay {
            part: self.part_by_load(station, direction),
            ..worst
        })
    }

    /// Largest time between the first and the last packet of a frame at the sender of a video call; `None` for workloads
    /// whose operations are packets. The pacer sends at 2.5 times the rate.
    fn pacing(&self, station: usize, workload: &WorkloadSummary, direction: Direction) -> Option<Duration> {
        let planned = &self.plan.stations[station].workloads;
        let config = &planned.iter().find(|planned| planned.name == workload.name)?.config;
        let streams = config.packet_streams();
        let stream = match direction {
            Direction::Down => streams.down,
            Direction::Up => streams.up,
        }?;
        config.video().map(|_| stream.interval / 5 * 2)
    }

    /// Part of a station's path that the load fills in a direction, where rates and airtime are modelled: the line if it is
    /// full, otherwise the Wi-Fi if its channel is busy.
    fn part_by_load(&self, station: usize, direction: Direction) -> Option<Part> {
        if self.full_line(station, direction).is_some() {
            return Some(Part::Line);
        }
        let group = self.group_of(station)?;
        // Without the access point, the rate of its line is unknown too.
        self.ap_of(group)?;
        let airtime = self.channel_airtime(group, &self.bad_bins(&[station]))?;
        (airtime.used() >= BUSY_CHANNEL).then_some(Part::Wifi)
    }

    /// Capacity of a station's line in a direction, and the stations that share it: the WAN link of its router, or else its
    /// own wire. `None` if it is unlimited or unknown.
    pub(in crate::explain) fn line_of(&self, station: usize, direction: Direction) -> Option<(Vec<usize>, Capacity)> {
        let router = self.router_of(station);
        let line = router.and_then(|router| Some((self.behind(router), self.plan.capacity(router, direction)?)));
        line.or_else(|| {
            let link = self.plan.stations[station].link.as_ref()?;
            let rate = match direction {
                Direction::Down => link.down,
                Direction::Up => link.up,
            };
            Some((vec![station], Capacity::constant(rate)))
        })
    }

    /// Load of a station's line in a direction, if the line was full for [`FULL_SHARE`] of the time in use or more.
    pub(in crate::explain) fn full_line(&self, station: usize, direction: Direction) -> Option<LinkLoad> {
        let (stations, capacity) = self.line_of(station, direction)?;
        let line = self.line(&stations, direction, &capacity, FULL);
        (line.full >= FULL_SHARE).then_some(line)
    }

    /// Sentence on the measurement of a station's delay.
    pub(in crate::explain) fn delay_sentence(&self, station: usize, delay: &VictimDelay) -> Option<String> {
        match &delay.source {
            DelaySource::Probes => self.split_sentence(station),
            DelaySource::Windows => {
                let place = match delay.part? {
                    Part::Wifi => "to the Wi-Fi",
                    Part::Line => "to the internet line",
                    Part::Server => "beyond the internet line",
                };
                Some(format!(
                    "In the parts of the run with missed goals, the load added {} {place} of {} (median).",
                    span(delay.added_ms),
                    self.name(station)
                ))
            }
            DelaySource::Packets {
                workload,
                are_frames,
                median_ms,
                least_ms,
            } => {
                let end = match delay.direction? {
                    Direction::Down => "from",
                    Direction::Up => "to",
                };
                let what = if *are_frames {
                    "frame delay of the video"
                } else {
                    "one-way delay of the packets"
                };
                Some(format!(
                    "{}'s {workload}: the {what} {end} the server was {} (median), and {} at least.",
                    self.name(station),
                    span(*median_ms),
                    span(*least_ms)
                ))
            }
        }
    }
}

/// One-way delays of the packets of a workload in a direction, or the frame delays of a `video-call`; `None` without
/// such packets.
fn one_way(workload: &WorkloadSummary, direction: Direction) -> Option<LatencyMs> {
    let voice = workload.voice.as_ref().map(|voice| match direction {
        Direction::Down => voice.down.delivery,
        Direction::Up => voice.up.delivery,
    });
    let stream = || {
        let streams = workload.streams.as_ref()?;
        let stream = match direction {
            Direction::Down => streams.down,
            Direction::Up => streams.up,
        };
        Some(stream?.delivery)
    };
    voice.or_else(stream)?.delay_ms
}
