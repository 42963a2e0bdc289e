//! Round trip of plans through scenario documents.

use netburn_medium::config::{
    AdapterRate, Aggregation, Aql, Band, HardwareQueue, LinkQuality, PowerSave, PowerSaveMode, QueueKind, QueueLimit,
    RadioConfig, RadioSelection, RateControl, Roaming, RoamingPolicy, Security, Standard, Steering, SteeringPolicy,
    TransitionAnswer, Width,
};
use netburn_medium::fading::FadingModel;
use netburn_medium::geometry::{self, BuildingModel, Position, Wall};
use netburn_scenario::plan::{
    Ap, ApSetting, Backhaul, Building, Cake, Change, Floors, Framing, Hop, Http, Isolation, Joins, LineQueue,
    LinkSetting, Mesh, MeshRoot, MeshTimers, Network, Outage, Policer, Radio, RadioName, RadioRef, RadioSetting,
    RadioSignal, Server, Setting, ShaperRate, SignalPoint, StationAir, StationLink, StationSetting, Tins, Trace, Wan,
};
use netburn_scenario::{Plan, Station, StationWorkload, built_in_workload, json_schema};
use netburn_tcp::config::{CongestionControl, Tsq, TsqPreset, TsqSettings};
use netburn_units::{
    BitRate, ByteSize, Db, Dbm, Distance, Dscp, DscpMapping, Duration, Instant, Probability, Seed, Speed,
};
use netburn_workload::config::Activity;
use netburn_workload::{
    Adaptation, Config, Connections, Goal, Kind, LoadConnections, PacketStream, PlayerConfig, Priority, ProbeTarget,
    Streams,
};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

fn span(low: u64, high: u64) -> impl Strategy<Value = Duration> {
    prop_oneof![
        (low..=high).prop_map(Duration::from_nanos),
        (low.div_ceil(1_000_000_000)..=high / 1_000_000_000).prop_map(Duration::from_secs),
    ]
}

const MINUTE: u64 = 60_000_000_000;

fn rate() -> impl Strategy<Value = BitRate> {
    prop_oneof![
        (1_000..=1_000_000_000_000_u64).prop_map(BitRate::from_bps),
        (1..=1000_u64).prop_map(BitRate::from_mbps)
    ]
}

fn size(low: u64, high: u64) -> impl Strategy<Value = ByteSize> {
    (low..=high).prop_map(ByteSize::from_bytes)
}

fn share() -> impl Strategy<Value = Probability> {
    (0..=990_000_000_u32).prop_map(|ppb| Probability::from_ppb(ppb).expect("at most one"))
}

fn signal() -> impl Strategy<Value = Dbm> {
    (-11_000..=0).prop_map(Dbm::from_hundredths)
}

fn queue() -> impl Strategy<Value = QueueKind> {
    select(&QueueKind::ALL[..])
}

fn hardware_queue() -> impl Strategy<Value = HardwareQueue> {
    prop_oneof![
        (1..=1_000_000_u32).prop_map(HardwareQueue::Aggregates),
        (1..=1_000_000_u32).prop_map(HardwareQueue::Frames),
        span(1, MINUTE).prop_map(HardwareQueue::Time),
        Just(HardwareQueue::Unlimited),
    ]
}

fn cc() -> impl Strategy<Value = Option<CongestionControl>> {
    option::of("[a-z0-9_-]{1,15}".prop_map(|name| name.parse().expect("a name")))
}

fn tsq() -> impl Strategy<Value = Tsq> {
    let custom = (
        0..=20_u8,
        0..=1_000_000_u64,
        option::of(1_000_000..=5_000_000_u64),
        any::<bool>(),
    );
    prop_oneof![
        select(&TsqPreset::ALL[..]).prop_map(Tsq::Preset),
        Just(Tsq::Off),
        custom.prop_map(|(shift, minimum, cap, caps_paced)| {
            Tsq::Custom(TsqSettings {
                shift: (cap.is_none() || shift > 0).then_some(shift),
                minimum: ByteSize::from_bytes(minimum),
                cap: cap.map(ByteSize::from_bytes),
                caps_paced,
            })
        }),
    ]
}

fn server() -> impl Strategy<Value = Server> {
    let hop = (
        option::of(rate()),
        span(0, MINUTE),
        share(),
        option::of(size(1, 64 << 30)),
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (hop, flags, cc(), span(0, MINUTE)).prop_map(
        |((rate, delay, loss, queue), (two, tls, ecn), cc, interrupt_interval)| Server {
            link: Hop {
                rate,
                delay,
                loss,
                queue,
            },
            http: if two { Http::H2 } else { Http::H1 },
            tls,
            cc,
            ecn,
            interrupt_interval,
        },
    )
}

fn radio(band: Band) -> impl Strategy<Value = Radio> {
    let standards: Vec<Standard> = Standard::ALL.into_iter().filter(|s| s.in_band(band)).collect();
    let air = (
        -2_000..=3_600_i32,
        1..=5_484_000_u64,
        option::of(1..=1024_u16),
        option::of(1..=20_000_u64),
    );
    let rest = (option::of(size(1, 1 << 34)), share(), 1..=8_u8);
    (select(standards), 0..5_usize, air, rest).prop_map(move |(standard, width, air, rest)| {
        let usual = RadioConfig::for_standard(band, standard);
        let (power, time, frames, amsdu) = air;
        let (rts, channel_busy, streams) = rest;
        Radio {
            name: RadioName { band, number: 1 },
            standard: Some(standard),
            channel: usual.channel,
            width: Some(Width::ALL[width].min(standard.widest(band))),
            streams: Some(streams.min(standard.max_streams())),
            guard: Some(usual.guard),
            power: Dbm::from_hundredths(power),
            aggregation: Aggregation {
                time: Duration::from_nanos(time),
                frames: frames.map(|frames| frames.min(standard.block_ack_window())),
                amsdu: standard
                    .max_amsdu()
                    .and_then(|most| amsdu.map(|size| ByteSize::from_bytes(size.min(most.into())))),
            },
            rts,
            channel_busy,
        }
    })
}

/// Framing, queue disciplines and shapers of a WAN link.
fn wan_queues() -> impl Strategy<Value = Wan> {
    let kind = || prop::sample::select(vec![LineQueue::Fifo, LineQueue::FqCodel, LineQueue::Cake]);
    let isolation = || {
        prop::sample::select(vec![
            Isolation::Flows,
            Isolation::Hosts,
            Isolation::DualSrchost,
            Isolation::DualDsthost,
            Isolation::TripleIsolate,
        ])
    };
    let tins = prop::sample::select(vec![
        Tins::Besteffort,
        Tins::Diffserv3,
        Tins::Diffserv4,
        Tins::Diffserv8,
    ]);
    let cake = (
        tins,
        isolation(),
        option::of(isolation()),
        option::of(isolation()),
        span(1, MINUTE),
        any::<bool>(),
        option::of(size(1, 64 << 30)),
    );
    let cake = cake.prop_map(
        |(tins, isolation, isolation_down, isolation_up, rtt, ack_filter, memory)| Cake {
            tins,
            isolation,
            isolation_down,
            isolation_up,
            rtt,
            ack_filter,
            memory,
        },
    );
    let share = (1_u32..=1_000_000_000).prop_map(|ppb| ShaperRate::Share(Probability::from_ppb(ppb).expect("a share")));
    let own = || option::of(rate().prop_map(ShaperRate::Rate));
    let policer = || option::of((rate(), size(1, 64 << 30)).prop_map(|(rate, burst)| Policer { rate, burst }));
    let outage = (span(0, MINUTE), span(1, MINUTE)).prop_map(|(start, length)| Outage { start, length });
    let trace = || {
        let times = prop::collection::vec(1_u32..100_000, 1..5);
        option::of(times.prop_map(|mut times| {
            times.sort_unstable();
            let lines: Vec<String> = times.iter().map(u32::to_string).collect();
            Trace::parse(&lines.join("\n")).expect("a trace")
        }))
    };
    (
        option::of(prop::sample::select(Framing::ALL.to_vec())),
        (kind(), option::of(kind()), option::of(kind())),
        (option::of(share), own(), own()),
        cake,
        (policer(), policer()),
        (trace(), trace()),
        prop::collection::vec(outage, 0..3),
    )
        .prop_map(|(framing, kinds, shapers, cake, policers, traces, outages)| Wan {
            framing,
            discipline: kinds.0,
            discipline_down: kinds.1,
            discipline_up: kinds.2,
            shaper: shapers.0,
            shaper_down: shapers.1,
            shaper_up: shapers.2,
            cake,
            policer_down: policers.0,
            policer_up: policers.1,
            trace_down: traces.0,
            trace_up: traces.1,
            outages,
            ..Wan::default()
        })
}

fn ap(name: &'static str) -> impl Strategy<Value = Ap> {
    let limit = prop_oneof![
        (1..=1_000_000_u32).prop_map(QueueLimit::Packets),
        size(1, 64 << 30).prop_map(QueueLimit::Bytes)
    ];
    let aql = (1..=9_000_000_u64, 9_000_000..=20_000_000_u64, 1..=99_000_000_u64).prop_map(|(low, high, total)| Aql {
        low: Duration::from_nanos(low),
        high: Duration::from_nanos(high),
        total: Duration::from_nanos(total),
    });
    let wan = (
        option::of(rate()),
        option::of(rate()),
        span(0, MINUTE),
        share(),
        option::of(size(1, 64 << 30)),
    );
    let wan = (wan, wan_queues()).prop_map(|((down, up, delay, loss, queue), queues)| Wan {
        down,
        up,
        delay,
        loss,
        queue,
        // A share needs a rate, and a trace excludes one.
        shaper: queues.shaper.filter(|_| down.or(up).is_some()),
        trace_down: queues.trace_down.filter(|_| down.is_none()),
        trace_up: queues.trace_up.filter(|_| up.is_none()),
        ..queues
    });
    let own = (
        queue(),
        limit,
        any::<(bool, bool)>(),
        hardware_queue(),
        option::of(aql),
        option::of(rate()),
        option::of(wan),
    );
    (radio(Band::Ghz2_4), radio(Band::Ghz5), any::<bool>(), own).prop_map(move |(two, five, rated, own)| {
        let (queue, queue_limit, (ecn, slow_stations), hardware_queue, aql, forwarding, wan) = own;
        Ap {
            name: name.to_owned(),
            rating: rated.then(|| "AX5400".parse().expect("a rating")),
            radios: vec![two, five],
            queue,
            queue_limit,
            ecn,
            slow_stations,
            hardware_queue,
            driver_queue: if rated { 1 } else { 123 },
            aql,
            rx_interrupt_delay: Duration::from_micros(if rated { 500 } else { 0 }),
            forwarding,
            forwarding_queue: rated.then(|| ByteSize::from_kib(512)),
            wan,
            dscp_mapping: if rated {
                DscpMapping::UpperThreeBits
            } else {
                DscpMapping::Rfc8325
            },
            position: None,
            scan_interval: rated.then_some(Duration::from_secs(120)),
            scan_away: rated.then_some(Duration::from_millis(70)),
            backhaul: Backhaul::Wired,
            backhaul_quality: None,
            relay_delay: Duration::from_micros(if rated { 350 } else { 500 }),
        }
    })
}

fn air() -> impl Strategy<Value = StationAir> {
    let radio_selection = select(vec![
        RadioSelection::HighestBand,
        RadioSelection::Strongest,
        RadioSelection::Band(Band::Ghz5),
    ]);
    let quality = prop_oneof![
        signal().prop_map(LinkQuality::Signal),
        (10..=100_000_000_u64).prop_map(|mm| LinkQuality::Distance(Distance::from_millimetres(mm))),
    ];
    let joins = prop_oneof![
        Just(Joins::Network("home".to_owned())),
        Just("c7".to_owned().map_radio(Band::Ghz2_4)),
        Just("d8".to_owned().map_radio(Band::Ghz5)),
    ];
    let control = select(vec![RateControl::Fixed, RateControl::Ideal, RateControl::Minstrel]);
    let adapter_rate = (option::of(rate()), option::of(rate()), option::of(1..=1024_u32))
        .prop_map(|(up, down, transfer)| AdapterRate { up, down, transfer });
    let radio = (
        option::of(joins),
        radio_selection,
        1..=8_u8,
        option::of(quality),
        option::of(signal()),
    );
    let rest = (
        subsequence(vec!["b".to_owned(), "c".to_owned()], 0..=2),
        control,
        adapter_rate,
        queue(),
        hardware_queue(),
        1..=65_535_u16,
    );
    (radio, rest).prop_map(|((joins, radio_selection, streams, quality, signal_up), rest)| {
        let (hidden_from, rate_control, adapter_rate, queue, hardware_queue, weight) = rest;
        StationAir {
            joins,
            radio_selection,
            standard: None,
            streams,
            quality,
            signal_up,
            hidden_from,
            rate_control,
            adapter_rate,
            queue,
            hardware_queue,
            driver_queue: weight,
            weight,
            dscp_mapping: if weight % 3 == 0 {
                DscpMapping::UpperThreeBits
            } else {
                DscpMapping::Rfc8325
            },
            path: Vec::new(),
            speed: None,
            signals: Vec::new(),
            roaming: None,
            power_save: power_save(weight),
        }
    })
}

/// Power save, with values other than the defaults for the keys of each mode.
fn power_save(weight: u16) -> Option<PowerSave> {
    let settings = match weight % 5 {
        0 => return None,
        1 => PowerSave {
            mode: PowerSaveMode::Off,
            ..PowerSave::default()
        },
        2 => PowerSave {
            mode: PowerSaveMode::Legacy,
            timeout: Duration::from_millis(u64::from(weight)),
            listen_interval: 1 + weight % 1_000,
            ..PowerSave::default()
        },
        3 => PowerSave {
            mode: PowerSaveMode::UApsd,
            listen_interval: 1 + weight % 1_000,
            ..PowerSave::default()
        },
        _ => PowerSave {
            mode: PowerSaveMode::Twt,
            twt_interval: Duration::from_micros(256 * (4 + u64::from(weight))),
            twt_service_period: Duration::from_micros(256 * 4),
            ..PowerSave::default()
        },
    };
    Some(settings)
}

/// A station on a wired link: only the queue of its Wi-Fi settings applies.
fn link() -> impl Strategy<Value = (StationLink, StationAir)> {
    let line = (rate(), rate(), span(0, MINUTE), share(), option::of(size(1, 64 << 30)));
    let device = (option::of(rate()), 1..=65_535_u32, option::of(size(1, 16 << 30)));
    let queue = select(vec![QueueKind::Fifo, QueueKind::PfifoFast, QueueKind::FqCodel]);
    (line, device, queue).prop_map(|((down, up, delay, loss, queue), (device, ring, bql), qdisc)| {
        let link = StationLink {
            down,
            up,
            delay,
            loss,
            queue,
            device,
            ring,
            bql,
        };
        let air = StationAir {
            queue: qdisc,
            ..StationAir::default()
        };
        (link, air)
    })
}

fn config() -> impl Strategy<Value = Config> {
    let kinds = select(vec![
        "browsing",
        "4kstream",
        "voip",
        "download",
        "upload",
        "probe",
        "datagrams",
        "game",
        "cloud-gaming",
        "video-call",
        "responsiveness",
    ]);
    let numbers = (
        1..=1000_u32,
        64..=1400_u64,
        2..=MINUTE,
        0..=1_000_000_000_u64,
        1..=10_000_u32,
    );
    let rest = (any::<bool>(), 0..4_usize, span(1, MINUTE), rate(), any::<bool>());
    (kinds, numbers, rest).prop_map(|(kind, (objects, size, every, jitter, outstanding), rest)| {
        let (new, priority, timeout, rate, goal) = rest;
        let mut config = built_in_workload(kind).expect("a built-in workload");
        let kind = config.kind;
        if kind != Kind::Responsiveness {
            config.object_size = ByteSize::from_bytes(size);
        }
        config.timeout = timeout;
        config.priority = [
            Priority::Background,
            Priority::BestEffort,
            Priority::Video,
            Priority::Voice,
        ][priority];
        if config.priority == Priority::BestEffort && new {
            config.dscp = Dscp::new((size % 64) as u8);
        }
        if kind == Kind::Pages {
            config.objects = objects;
        }
        if config.interval.is_some() {
            config.interval = Some(Duration::from_nanos(every));
        }
        if kind == Kind::Voice {
            let (least, most) = (Duration::from_millis(5), Duration::from_millis(200));
            config.interval = Some(Duration::from_nanos(every).clamp(least, most));
            config.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(2));
        }
        if matches!(kind, Kind::Pages | Kind::Calls | Kind::Probe) {
            config.jitter = Duration::from_nanos(jitter.min(every / 2));
        }
        if matches!(kind, Kind::Calls | Kind::Probe) {
            config.outstanding = outstanding;
        }
        if kind.is_bulk() {
            config.streams = objects;
        }
        if new && goal {
            let start = Duration::from_millis(u64::from(objects));
            config.activity = Activity {
                start,
                stop: Some(start + Duration::from_millis(100 + size)),
                repeat: kind
                    .can_repeat()
                    .then(|| Duration::from_millis((100 + size).max(1000) + u64::from(objects))),
            };
        }
        if kind == Kind::Responsiveness {
            let (least, most) = (Duration::from_millis(10), Duration::from_secs(1));
            config.interval = Some(Duration::from_nanos(every).clamp(least, most));
            config.load = LoadConnections {
                down: outstanding % 17,
                up: objects % 17,
            };
        }
        if kind == Kind::Probe {
            config.target = [ProbeTarget::Near, ProbeTarget::Line, ProbeTarget::Server][priority % 3];
        }
        if !kind.is_datagram() && kind != Kind::Responsiveness {
            config.connections = if new { Connections::New } else { Connections::Keep };
        }
        if let Some(player) = &mut config.player {
            *player = PlayerConfig {
                start: timeout,
                rate,
                max_buffer: timeout,
            };
        }
        if kind.has_streams() {
            let burst = 1 + objects % 20;
            let interval = Duration::from_nanos(every).clamp(Duration::from_millis(5), Duration::from_secs(1));
            let both = kind.has_round_trips() || kind.is_adaptive();
            // A video call has 1 kbit/s to 20 Mbit/s.
            let interval = if kind.is_adaptive() {
                interval.clamp(Duration::from_millis(20), Duration::from_millis(500))
            } else {
                interval
            };
            let stream = PacketStream {
                interval,
                burst,
                spacing: interval / u64::from(burst) / (1 + jitter % 9),
                size: ByteSize::from_bytes(if kind.is_adaptive() { size.max(100) } else { size }),
            };
            if let Some(adaptation) = &mut config.adaptation {
                // The rate of the smallest valid frame, rounded up.
                let least = BitRate::mean(ByteSize::from_bytes(65), interval).expect("an interval");
                let least = least.max(BitRate::from_bps(1_000));
                *adaptation = Adaptation {
                    min_rate: least,
                    start_rate: BitRate::from_bps(least.as_bps() + jitter),
                };
            }
            config.datagrams = Streams {
                up: (both || outstanding % 3 != 0).then_some(stream),
                down: (both || outstanding % 3 != 1).then_some(stream),
            };
            config.object_size = Config::datagrams().object_size;
            config.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(2));
        }
        config.goals = match (kind, goal) {
            (_, false) => vec![],
            (Kind::Pages | Kind::Calls | Kind::Probe, _) => vec![Goal::Latency { limit: timeout }],
            (Kind::Stream, _) => Config::stream_4k().goals,
            (Kind::CloudGaming, _) => vec![Goal::Frames, Goal::Latency { limit: timeout }],
            (Kind::VideoCall, _) => vec![Goal::NoFreeze, Goal::Latency { limit: timeout }],
            (Kind::Game, _) => vec![Goal::NoGap, Goal::Latency { limit: timeout }],
            (Kind::Datagrams, _) => vec![
                Goal::Loss {
                    at_most: Probability::from_ppb(1 + objects * 1000).expect("a share"),
                    window: Duration::from_secs(10),
                    step: Duration::from_secs(1),
                },
                Goal::Latency { limit: timeout },
            ],
            (Kind::Voice, _) => vec![Goal::Quality {
                at_least: 1 + (size % 93) as u8,
                window: Duration::from_secs(10),
                step: Duration::from_secs(1),
            }],
            (Kind::Responsiveness, _) => vec![Goal::Rpm {
                at_least: 1 + objects * 1000,
                window: Duration::from_secs(5),
                step: Duration::from_secs(1),
            }],
            (Kind::Download | Kind::Upload, _) => vec![Goal::Rate {
                at_least: rate,
                window: Duration::from_secs(2),
                step: Duration::from_millis(100),
            }],
        };
        config
    })
}

fn change() -> impl Strategy<Value = Setting> {
    let five = || RadioRef {
        ap: "c7".to_owned(),
        radio: RadioName {
            band: Band::Ghz5,
            number: 1,
        },
    };
    prop_oneof![
        rate().prop_map(|rate| Setting::Link(LinkSetting::Rate(rate))),
        share().prop_map(|share| Setting::Link(LinkSetting::Loss(share))),
        queue().prop_map(|queue| Setting::Ap("c7".to_owned(), ApSetting::Queue(queue))),
        rate().prop_map(|rate| Setting::Ap("d8".to_owned(), ApSetting::WanUp(rate))),
        share().prop_map(move |share| Setting::Radio(five(), RadioSetting::ChannelBusy(share))),
        signal()
            .prop_map(|signal| Setting::Station("a".to_owned(), StationSetting::Quality(LinkQuality::Signal(signal)))),
        (0..=13_u8).prop_map(|mcs| Setting::Station("b".to_owned(), StationSetting::Quality(LinkQuality::Mcs(mcs)))),
        (1..=65_535_u16).prop_map(|weight| Setting::Station("b".to_owned(), StationSetting::Weight(weight))),
        (rate(), option::of(rate())).prop_map(|(up, down)| {
            Setting::Station(
                "c".to_owned(),
                StationSetting::AdapterRate(AdapterRate {
                    up: Some(up),
                    down,
                    transfer: None,
                }),
            )
        }),
        rate().prop_map(|rate| Setting::Station("w".to_owned(), StationSetting::LinkUp(rate))),
        share().prop_map(|share| Setting::Station("w".to_owned(), StationSetting::LinkLoss(share))),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let texts = (
        option::of("[ -~äé\n]{0,40}"),
        option::of("\\PC{0,40}"),
        proptest::collection::vec("\\PC{1,20}", 0..3),
    );
    let times = (
        span(MINUTE, 10 * MINUTE),
        span(0, MINUTE - 1),
        span(0, MINUTE),
        span(0, MINUTE),
        any::<u64>(),
        1..=10_000_u32,
    );
    // Boxed, because the whole strategy exceeds the stack of a test.
    let air = (server(), ap("c7").boxed(), ap("d8").boxed());
    let station = || (air_and_times(), proptest::collection::vec((0..4_usize, config()), 0..3)).boxed();
    // Names out of alphabetical order: order must survive.
    let stations = (station(), station(), station());
    let changes = proptest::collection::vec((span(0, MINUTE), change()), 0..4);
    (texts, times, (air, link()), stations, changes).prop_map(|(texts, times, (air, wire), stations, changes)| {
        let (server, c7, d8) = air;
        let mut plan = Plan::new("generated");
        (plan.title, plan.question, plan.assumptions) = texts;
        (plan.duration, plan.warmup, plan.baseline, plan.drain) = (times.0, times.1, times.2, times.3);
        (plan.seed, plan.repeat) = (Seed(times.4), times.5);
        plan.server = server;
        // Positions exclude other link qualities.
        let placed = times.4 % 2 == 0;
        let position = |number: u64| Position {
            x: (times.4 >> number) as i64 % 1_000_000,
            y: -((times.4 >> (2 * number)) as i64 % 1_000_000),
            floor: (number % 3) as i16 - 1,
        };
        plan.building = placed.then(|| Building {
            model: geometry::Building {
                model: BuildingModel::IndoorNlos,
                walls: vec![Wall {
                    from: Position {
                        floor: 1,
                        ..position(7)
                    },
                    to: Position {
                        x: 2_000_000,
                        y: 5,
                        floor: 1,
                    },
                }],
                wall_loss: Some(Db::from_db(5)),
            },
            floors: Some(Floors { lowest: -1, highest: 3 }),
            shadowing: Db::from_db(3),
            shadowing_distance: Distance::from_metres(8),
            fading: FadingModel::Rician,
            rician_factor: Db::from_db(9),
        });
        plan.networks = vec![Network {
            name: "home".to_owned(),
            radios: vec![RadioRef {
                ap: "d8".to_owned(),
                radio: RadioName {
                    band: Band::Ghz5,
                    number: 1,
                },
            }],
            security: if placed { Security::Enterprise } else { Security::Psk },
            radius_delay: placed.then_some(times.2),
            k: placed,
            v: placed,
            r: placed,
            r_over_ds: placed,
            key_caching: !placed,
            okc: placed,
            broadcast_interval: placed.then_some(times.2.max(Duration::from_nanos(1))),
            dtim_period: if placed { 3 } else { 2 },
            steering: if placed {
                Steering {
                    policy: SteeringPolicy::Usteer,
                    trigger: Some(Dbm::from_hundredths(-7_050)),
                    margin: Some(Db::from_db(4)),
                    disassociate: Some(false),
                    ..Steering::default()
                }
            } else {
                Steering::default()
            },
        }];

        plan.aps = vec![d8, c7];
        for (ap, number) in plan.aps.iter_mut().zip(1..) {
            // Within reach of each other.
            ap.position = placed.then(|| Position {
                x: position(number).x % 100,
                y: position(number).y % 100,
                floor: 0,
            });
        }
        // Both access points have a radio with this name, on channels that may differ.
        plan.aps[0].radios[0].channel = plan.aps[1].radios[0].channel;
        plan.aps[0].wan = None;
        plan.aps[0].backhaul = Backhaul::Radio(RadioRef {
            ap: "c7".to_owned(),
            radio: plan.aps[1].radios[0].name,
        });
        if times.4 % 5 == 0 {
            // A mesh excludes a wireless backhaul.
            plan.aps[0].backhaul = Backhaul::Wired;
            plan.meshes = vec![Mesh {
                radios: plan
                    .aps
                    .iter()
                    .map(|ap| RadioRef {
                        ap: ap.name.clone(),
                        radio: ap.radios[0].name,
                    })
                    .collect(),
                root: "c7".to_owned(),
                root_mode: MeshRoot::Announcements,
                timers: if placed { MeshTimers::Ns3 } else { MeshTimers::Linux },
                quality: (!placed).then_some(LinkQuality::Mcs(3)),
                ..Mesh::new("attic")
            }];
        }
        plan.aps[0].backhaul_quality = match times.4 % 3 {
            0 => Some(LinkQuality::Mcs(7)),
            1 => Some(LinkQuality::Signal(Dbm::from_hundredths(-5_525))),
            _ if placed => None,
            _ => Some(LinkQuality::Signal(Dbm::from_hundredths(-6_000))),
        };
        let (first, second, third) = stations;
        let mut used = 0;
        for (name, (mut station, workloads)) in [("c", first), ("a", second), ("b", third)] {
            station.name = name.to_owned();
            station.air.hidden_from.retain(|other| other != name);
            if placed && station.link.is_none() {
                station.air.quality = None;
                station.air.path = vec![position(3), position(5)];
                station.air.speed = Some(Speed::from_millimetres_per_second(1_389));
                let roams = matches!(station.air.joins, Some(Joins::Network(_)));
                station.air.roaming = roams.then(|| Roaming {
                    policy: Some(RoamingPolicy::AppleLaptop),
                    trigger: Some(Dbm::from_hundredths(-7_025)),
                    margin: Some(Db::from_db(6)),
                    scan_interval: Some(Duration::from_secs(7)),
                    beacon_smoothing: 1,
                    frame_processing: Duration::from_millis(3),
                    flush_delay: Duration::from_millis(100),
                    k: false,
                    v: false,
                    r: false,
                    transition: TransitionAnswer::Reject,
                    acceptance: Probability::from_ppb(250_000_000).unwrap(),
                });
            }
            if !placed && times.4 % 4 == 1 && station.link.is_none() {
                station.air.quality = None;
                let radios = station.air.joins.iter().flat_map(|joins| plan.radios_of(joins));
                station.air.signals = radios.map(|radio| signals(radio, times.4)).collect();
            }
            for (_, config) in workloads {
                used += 1;
                let mut of = StationWorkload::new(format!("w{used}"), config);
                // A workload must run in the load of its station.
                let load = (
                    Instant::ZERO + station.start,
                    Instant::ZERO + station.end(plan.duration),
                );
                if of.config.windows(load.0, load.1).next().is_none() {
                    of.config.activity = Activity::default();
                }
                let cc = station.cc.clone().filter(|_| !of.config.kind.is_datagram());
                station.workloads.push(StationWorkload { cc, ..of });
            }
            plan.stations.push(station);
        }
        let mut wired = Station::new("w");
        (wired.link, wired.air) = (Some(wire.0), wire.1);
        plan.stations.push(wired);
        // Self probes share a connection with load.
        let mut workloads = plan.stations.iter().flat_map(|station| &station.workloads);
        if workloads.any(|workload| workload.config.load.count() > 0) {
            plan.server.http = Http::H2;
        }
        let mut changes: Vec<Change> = changes
            .into_iter()
            .map(|(time, setting)| Change {
                time,
                settings: vec![setting],
            })
            .collect();
        if placed {
            changes.push(Change {
                time: plan.duration,
                settings: vec![Setting::Station("a".to_owned(), StationSetting::Position(position(4)))],
            });
        }
        changes.sort_by_key(|change| change.time);
        plan.changes = changes;
        plan
    })
}

/// A constant signal of a radio, or one of three points.
fn signals(radio: &RadioRef, number: u64) -> RadioSignal {
    let point = |place: u64| SignalPoint {
        time: Duration::from_nanos(place * (1 + number % 1_000_000_007)),
        signal: Dbm::from_hundredths(-9_000 + (place * 123) as i32),
    };
    let count = if number % 8 == 1 { 1 } else { 3 };
    RadioSignal {
        radio: radio.clone(),
        points: (0..count).map(point).collect(),
    }
}

fn air_and_times() -> impl Strategy<Value = Station> {
    let tsq = option::of(tsq());
    let times = (span(0, MINUTE / 2), option::of(span(MINUTE, 20 * MINUTE)));
    (air(), times, cc(), tsq, option::of("[a-z]{1,9}"), any::<bool>()).prop_map(
        |(air, (start, stop), cc, tsq, agent, as_label)| {
            let mut station = Station::new("x");
            station.air = air;
            (station.start, station.stop, station.cc, station.tsq) = (start, stop, cc, tsq);
            (station.gso, station.tx_completion_delay, station.rx_interrupt_delay) =
                (as_label, station.start, station.start);
            (station.gro, station.ecn) = (!as_label, as_label);
            if as_label {
                station.label = agent;
            } else {
                station.agent = agent;
            }
            station
        },
    )
}

/// A radio reference from an access point's name.
trait MapRadio {
    fn map_radio(self, band: Band) -> Joins;
}

impl MapRadio for String {
    fn map_radio(self, band: Band) -> Joins {
        Joins::Radio(RadioRef {
            ap: self,
            radio: RadioName { band, number: 1 },
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_survives_a_round_trip(plan in plan()) {
        let document = plan.to_json();
        let text = document.to_string();
        let read = Plan::from_json(&serde_json::from_str(&text).expect("JSON"));
        prop_assert_eq!(read.as_ref(), Ok(&plan));
        // A second round trip gives identical bytes.
        prop_assert_eq!(read.expect("read above").to_json().to_string(), text);
    }
}

#[test]
fn plans_as_documents_validate() {
    use proptest::strategy::ValueTree;
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..64 {
        let plan = plan().new_tree(&mut runner).expect("a plan").current();
        let document = plan.to_json();
        let wrong: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn the_order_of_stations_is_kept() {
    let mut plan = Plan::new("order");
    plan.stations = ["zoe", "adam", "mia"].map(Station::new).to_vec();
    let names: Vec<String> = Plan::from_json(&plan.to_json())
        .expect("a plan")
        .stations
        .into_iter()
        .map(|station| station.name)
        .collect();
    assert_eq!(names, ["zoe", "adam", "mia"]);
}

#[test]
fn built_in_workloads_are_defined_in_the_document() {
    let mut plan = Plan::new("p");
    let mut station = Station::new("tv");
    station.workloads = vec![StationWorkload::new("4kstream", Config::stream_4k())];
    plan.stations.push(station);
    let document = plan.to_json();
    assert_eq!(document["workload"]["4kstream"]["interval"], "335.54432 ms");
    assert_eq!(
        document["workload"]["4kstream"]["goal"],
        serde_json::json!(["20 Mbit/s", "no stall"])
    );
    assert_eq!(Plan::from_json(&document), Ok(plan));
}
