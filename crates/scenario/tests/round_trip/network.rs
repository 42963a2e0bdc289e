//! Strategies for servers, access points and their lines, and stations.

use netburn_medium::config::{
    AdapterRate, Aggregation, Aql, Band, Composition, HardwareQueue, LinkQuality, PowerSave, PowerSaveMode, QueueLimit,
    RadioConfig, RadioSelection, RateControl, Standard, Width,
};
use netburn_medium::queue::{Place, QueueKind};
use netburn_scenario::plan::{
    Absence, Ap, Cake, Destination, Framing, Hop, Http, Isolation, Joins, Multicast, Outage, Policer, Port, Radio,
    RadioName, RadioRef, Server, ShaperRate, StationAir, StationLink, Tins, ToUnicast, Trace, Wan,
};
use netburn_tcp::config::{CongestionControl, Tsq, TsqPreset, TsqSettings};
use netburn_units::{BitRate, ByteSize, Dbm, Distance, Dscp, DscpMapping, Duration, Probability};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::values::*;

pub(crate) fn queue() -> impl Strategy<Value = QueueKind> {
    select(QueueKind::all_on(Place::Radio))
}

pub(crate) fn hardware_queue() -> impl Strategy<Value = HardwareQueue> {
    prop_oneof![
        (1..=1_000_000_u32).prop_map(HardwareQueue::Aggregates),
        (1..=1_000_000_u32).prop_map(HardwareQueue::Frames),
        span(1, MINUTE).prop_map(HardwareQueue::Time),
        Just(HardwareQueue::Unlimited),
    ]
}

pub(crate) fn cc() -> impl Strategy<Value = Option<CongestionControl>> {
    option::of("[a-z0-9_-]{1,15}".prop_map(|name| name.parse().expect("a name")))
}

pub(crate) fn tsq() -> impl Strategy<Value = Tsq> {
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

pub(crate) fn server() -> impl Strategy<Value = Server> {
    let hop = (
        option::of(rate()),
        span(0, MINUTE),
        share(),
        option::of(size(1, 64 << 30)),
    );
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (hop, flags, cc(), span(0, MINUTE)).prop_map(
        |((rate, delay, loss, queue), (two, tls, ecn), cc, interrupt_interval)| {
            let mut server = Server {
                http: if two { Http::H2 } else { Http::H1 },
                tls,
                cc,
                ecn,
                interrupt_interval,
                ..Server::default()
            };
            server.link = Hop {
                rate,
                delay,
                loss,
                queue,
            };
            server
        },
    )
}

pub(crate) fn radio(band: Band) -> impl Strategy<Value = Radio> {
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
            multicast_rate: (standard != Standard::B && streams > 4).then_some(BitRate::from_mbps(12)),
            ..Radio::new(RadioName { band, number: 1 })
        }
    })
}

/// Framing, queue disciplines and shapers of a WAN link.
pub(crate) fn wan_queues() -> impl Strategy<Value = Wan> {
    let kind = || select(QueueKind::all_on(Place::Line));
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
    let queue = || option::of(size(1, 64 << 30));
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
        [queue(), queue(), queue()],
        (option::of(share), own(), own()),
        cake,
        (policer(), policer()),
        (trace(), trace()),
        prop::collection::vec(outage, 0..3),
    )
        .prop_map(
            |(framing, kinds, queues, shapers, cake, policers, traces, outages)| Wan {
                framing,
                queue: queues[0],
                queue_down: queues[1],
                queue_up: queues[2],
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
            },
        )
}

pub(crate) fn ap(name: &'static str) -> impl Strategy<Value = Ap> {
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
            rating: rated.then(|| "AX5400".parse().expect("a rating")),
            radios: vec![two, five],
            queue,
            queue_limit,
            ecn,
            slow_stations,
            hardware_queue,
            composition: if rated { Composition::Driver } else { Composition::Txop },
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
            scan_interval: rated.then_some(Duration::from_secs(120)),
            scan_away: rated.then_some(Duration::from_millis(70)),
            relay_delay: Duration::from_micros(if rated { 350 } else { 500 }),
            observe: rated.then_some(Destination::Local),
            multicast: slow_stations.then(|| Multicast {
                rate: BitRate::from_bps(1_234_567),
                size: ByteSize::from_bytes(1_000),
                to_unicast: if rated { ToUnicast::Members } else { ToUnicast::Stations },
                snooping: rated,
                dscp: Dscp::new(34).expect("AF41"),
                ..Multicast::default()
            }),
            ..Ap::new(name)
        }
    })
}

pub(crate) fn air() -> impl Strategy<Value = StationAir> {
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
        Just(radio_of("c7", Band::Ghz2_4)),
        Just(radio_of("d8", Band::Ghz5)),
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
            streams,
            quality,
            fixed_mcs: quality
                .filter(|_| rate_control == RateControl::Fixed && weight % 3 == 0)
                .map(|_| 0),
            signal_up,
            hidden_from,
            rate_control,
            adapter_rate,
            queue,
            hardware_queue,
            composition: if weight % 2 == 0 {
                Composition::Driver
            } else {
                Composition::Txop
            },
            driver_queue: weight,
            weight,
            dscp_mapping: if weight % 3 == 0 {
                DscpMapping::UpperThreeBits
            } else {
                DscpMapping::Rfc8325
            },
            power_save: power_save(weight),
            absence: absence(weight),
            ..StationAir::default()
        }
    })
}

/// Absences, of stations that never doze.
pub(crate) fn absence(weight: u16) -> Option<Absence> {
    let absence = || Absence {
        interval: Duration::from_millis(100 + u64::from(weight)),
        length: Duration::from_millis(1 + u64::from(weight % 100)),
        announced: weight.is_multiple_of(2),
    };
    (power_save(weight).is_none() && weight.is_multiple_of(10)).then(absence)
}

/// Power save, with values other than the defaults for the keys of each mode.
pub(crate) fn power_save(weight: u16) -> Option<PowerSave> {
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
pub(crate) fn link() -> impl Strategy<Value = (StationLink, StationAir)> {
    let line = (rate(), rate(), span(0, MINUTE), share(), option::of(size(1, 64 << 30)));
    let device = (option::of(rate()), 1..=65_535_u32, option::of(size(1, 16 << 30)));
    let queue = select(QueueKind::all_on(Place::Wire));
    (line, device, queue).prop_map(|((down, up, delay, loss, queue), (device, ring, bql), qdisc)| {
        let link = StationLink {
            to: Port::Server,
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

/// Reference to the first radio of a band of an access point.
pub(crate) fn radio_of(ap: &str, band: Band) -> Joins {
    Joins::Radio(RadioRef {
        ap: ap.to_owned(),
        radio: RadioName { band, number: 1 },
    })
}
