//! Operations on a [`Network`], decoded from bytes, and the laws that must hold for all of them.

pub mod mesh;

pub use crate::roaming::fuzz as client;
pub use crate::steering::fuzz as steering;

use crate::{Endpoint, Network, Output};
use netburn_medium::air::DeliveryBound;
use netburn_medium::config::{AdapterRate, LinkQuality, PowerSave, PowerSaveMode, RateControl};
use netburn_medium::fuzz::Bytes;
use netburn_medium::packet::{Ecn, Packet};
use netburn_medium::queue::{Place, QueueKind};
use netburn_scenario::plan::{ApSetting, LinkSetting, RadioName, RadioRef, RadioSetting, Setting, StationSetting};
use netburn_scenario::{Document, Plan};
use netburn_units::{BitRate, Dbm, Duration, Instant, Probability};
use std::collections::BTreeMap;

/// Two access points, one with a rating and a WAN link with queue disciplines. Three Wi-Fi stations, one with an
/// adapter rate. Two wired stations, one behind a modem.
const HOUSE: &str = r#"
[server]
link = { rate = "200 Mbit/s", delay = "1 ms", loss = "1 %" }
[ap.one]
rating = "AC1750"
forwarding = "150 Mbit/s"
wan = { down = "50 Mbit/s", up = "10 Mbit/s", delay = "4 ms", discipline = "cake", shaper_up = "90 %", policer_up = { rate = "8 Mbit/s", burst = "16 KiB" }, outages = [{ start = "20 ms", length = "5 ms" }] }
[ap.two.radio.5g]
standard = "802.11n"
[network.home]
radios = ["one.2g", "one.5g", "two.5g"]
[station.a]
joins = "home"
signal = "-50 dBm"
[station.b]
joins = "one.2g"
standard = "802.11g"
signal = "-70 dBm"
hidden_from = ["c"]
[station.c]
joins = "two.5g"
distance = "20 m"
adapter_rate = "30 Mbit/s"
[station.d]
link = { rate = "100 Mbit/s", delay = "1 ms", bql = "3000 B" }
queue = "fifo"
[station.e]
link = { down = "20 Mbit/s", up = "5 Mbit/s", loss = "1 %", device = "80 Mbit/s", ring = 4, queue = "20 kB" }
"#;

/// Length of the baseline.
const BEGIN: Duration = Duration::from_millis(10);

/// The same house, in which the second access point has a wireless backhaul.
fn house_with_backhaul() -> String {
    let backhaul = "[ap.two]\nbackhaul = \"one.5g\"\nbackhaul_signal = \"-60 dBm\"\n[ap.two.radio.5g]";
    HOUSE.replace("[ap.two.radio.5g]", backhaul)
}

/// Runs the operations in both houses and checks the laws. Every packet is delivered once, dropped once, or in
/// flight. A flow's packets keep their order. Handling a timeout at its time makes progress. No
/// packet is delivered before its bound.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    check_in(HOUSE, bytes);
    check_in(&house_with_backhaul(), bytes);
}

fn check_in(house: &str, bytes: &[u8]) {
    let length = bytes.len();
    let mut bytes = Bytes::new(bytes);
    let mut plan = Document::from_toml("house.toml", house)
        .and_then(|house| house.resolve())
        .expect("a good house");
    for ap in &mut plan.aps {
        ap.queue = bytes.one_of(&QueueKind::all_on(Place::Radio));
        ap.queue_limit = ap.queue.default_limit();
    }
    plan.baseline = BEGIN;
    set_presence(&mut plan, length);
    let mut world = World {
        network: Network::new(&plan).expect("a good house"),
        plan,
        now: Instant::ZERO - BEGIN,
        offered: 0,
        in_flight: BTreeMap::new(),
        last: BTreeMap::new(),
        bound: None,
    };
    while !bytes.is_empty() {
        world.operate(&mut bytes);
    }
    world.finish();
}

/// Sets power save of two stations and scans of an access point. The length of the input decides, so that
/// its bytes keep their meaning.
fn set_presence(plan: &mut Plan, length: usize) {
    let mode = |mode| {
        let settings = PowerSave {
            mode,
            timeout: Duration::from_millis(2),
            ..PowerSave::default()
        };
        Some(settings)
    };
    let modes = [None, None, mode(PowerSaveMode::Legacy), mode(PowerSaveMode::UApsd)];
    plan.stations[0].air.power_save = modes[length % 4];
    plan.stations[2].air.power_save = modes[length / 4 % 4];
    if length / 16 % 4 == 1 {
        plan.aps[1].scan_interval = Some(Duration::from_millis(20));
        plan.aps[1].scan_away = Some(Duration::from_millis(5));
    }
}

struct World {
    network: Network<u32>,
    plan: Plan,
    now: Instant,
    offered: u32,
    in_flight: BTreeMap<u32, (Endpoint, Endpoint)>,
    last: BTreeMap<(Endpoint, Endpoint), u32>,
    /// Delivery bound at the last advance of time, without a new input since then.
    bound: Option<Option<DeliveryBound>>,
}

impl World {
    fn operate(&mut self, bytes: &mut Bytes) {
        match bytes.below(9) {
            0..=3 => {
                let (from, to) = (end(bytes), end(bytes));
                if from == to {
                    return;
                }
                for _ in 0..bytes.one_of(&[1_u32, 3, 10, 60]) {
                    self.offer(from, to, bytes.one_of(&[40, 576, 1_500]));
                }
            }
            4 | 5 => {
                let span = bytes.one_of(&[1_u64, 100, 5_000, 40_000]);
                self.advance(self.now + Duration::from_micros(span));
            }
            6 => {
                for _ in 0..bytes.below(64) {
                    self.step();
                }
            }
            7 => {
                let flow = flow(Endpoint::Server) * 6 + flow(end(bytes));
                self.network
                    .expect_burst(flow, bytes.one_of(&[1, 1_500, 3_000, 60_000]));
            }
            _ => {
                let setting = self.setting(bytes);
                self.network.set(self.now, &setting);
            }
        }
        self.drain();
    }

    fn setting(&self, bytes: &mut Bytes) -> Setting {
        let station = self.plan.stations[bytes.below(5)].name.clone();
        let ap = self.plan.aps[bytes.below(2)].name.clone();
        let rate = BitRate::from_mbps(bytes.one_of(&[1, 20, 500]));
        match bytes.below(14) {
            0 => Setting::Link(LinkSetting::Rate(rate)),
            1 => Setting::Link(LinkSetting::Delay(Duration::from_millis(bytes.below(20) as u64))),
            2 => Setting::Ap(ap, ApSetting::Queue(bytes.one_of(&QueueKind::all_on(Place::Radio)))),
            3 => Setting::Ap(ap, ApSetting::Forwarding(rate)),
            4 => Setting::Ap(ap, ApSetting::WanDown(rate)),
            5 => Setting::Ap(
                ap,
                ApSetting::WanLoss(Probability::from_ppb(100_000_000).expect("a tenth")),
            ),
            6 => Setting::Radio(
                RadioRef {
                    ap: "one".to_owned(),
                    radio: RadioName {
                        band: netburn_medium::config::Band::Ghz5,
                        number: 1,
                    },
                },
                RadioSetting::Power(Dbm::from_dbm(bytes.below(30) as i32)),
            ),
            7 => Setting::Station(
                station,
                StationSetting::Quality(LinkQuality::Signal(Dbm::from_dbm(-30 - bytes.below(70) as i32))),
            ),
            8 => Setting::Station(
                station,
                StationSetting::RateControl(bytes.one_of(&[
                    RateControl::Fixed,
                    RateControl::Ideal,
                    RateControl::Minstrel,
                ])),
            ),
            9 => Setting::Station(
                station,
                StationSetting::AdapterRate(AdapterRate {
                    up: Some(rate),
                    ..AdapterRate::default()
                }),
            ),
            10 => Setting::Station(
                station,
                StationSetting::Queue(bytes.one_of(&QueueKind::all_on(Place::Radio))),
            ),
            11 => Setting::Station(station, StationSetting::LinkRate(rate)),
            12 => {
                let delay = Duration::from_millis(bytes.below(20) as u64);
                Setting::Station(station, StationSetting::LinkDelay(delay))
            }
            _ => Setting::Station(station, StationSetting::Weight(1 + u16::from(bytes.byte()))),
        }
    }

    fn offer(&mut self, from: Endpoint, to: Endpoint, length: u32) {
        let number = self.offered;
        self.offered += 1;
        self.in_flight.insert(number, (from, to));
        // One flow from each endpoint to each other.
        let flow = flow(from) * 6 + flow(to);
        let packet = Packet {
            length,
            flow,
            tid: 0,
            ecn: Ecn::Ect0,
            payload: number,
        };
        self.network.handle_packet(self.now, from, to, packet);
    }

    fn step(&mut self) {
        let Some((at, _)) = self.network.poll_timeout() else {
            return;
        };
        assert!(at >= self.now, "the past is over: {at} at {}", self.now);
        self.advance(at);
    }

    fn advance(&mut self, to: Instant) {
        let bound = self.network.next_delivery_bound();
        self.network.handle_timeout(to);
        self.now = to;
        self.bound = Some(bound);
        if let Some((at, wake)) = self.network.poll_timeout() {
            assert!(at > to, "{wake:?} was to be handled by {to}");
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Delivered { at, from, to, packet } => {
                    assert!(at <= self.now);
                    if let Some(bound) = self.bound {
                        assert!(bound.is_some_and(|first| first.at <= at), "{at}, when {bound:?}");
                    }
                    assert_eq!(self.in_flight.remove(&packet.payload), Some((from, to)), "delivered");
                    let last = self.last.insert((from, to), packet.payload);
                    assert!(
                        last.is_none_or(|last| last < packet.payload),
                        "{last:?} before {}",
                        packet.payload
                    );
                }
                Output::Dropped { from, to, packet, .. } => {
                    assert_eq!(self.in_flight.remove(&packet.payload), Some((from, to)), "dropped");
                }
                Output::Sent { .. } | Output::SentTimesChanged { .. } => {}
            }
        }
        self.bound = None;
        for station in 0..5 {
            let end = Endpoint::Station(station);
            let seen = self.network.station_stats(station);
            let waits =
                |of: &dyn Fn(&(Endpoint, Endpoint)) -> bool| self.in_flight.values().filter(|way| of(way)).count();
            assert_eq!(seen.up.backlog(), waits(&|way| way.0 == end) as u64);
            assert_eq!(seen.down.backlog(), waits(&|way| way.1 == end) as u64);
        }
    }

    /// Without further input the network becomes idle.
    fn finish(&mut self) {
        for _ in 0..200_000 {
            // Stations that doze wake for ever.
            if self.in_flight.is_empty() || self.network.poll_timeout().is_none() {
                break;
            }
            self.step();
        }
        assert!(
            self.in_flight.is_empty(),
            "{} packets never leave the network",
            self.in_flight.len()
        );
    }
}

fn end(bytes: &mut Bytes) -> Endpoint {
    match bytes.below(7) {
        0 | 1 => Endpoint::Server,
        station => Endpoint::Station(station as u16 - 2),
    }
}

fn flow(end: Endpoint) -> u32 {
    match end {
        Endpoint::Server => 0,
        Endpoint::Station(station) => 1 + u32::from(station),
    }
}
