//! The sections of a scenario file: every key, what it says, its default. The JSON Schema and the manual are made
//! from here.

use crate::change::Settings;
use crate::goals::{Goals, Rates};
use crate::scalars::{
    Delay, Flag, Name, ObjectSize, Power, QueueBytes, Range, Rate, Share, ShortSpan, Signal, SomeTime, Span, Text,
    Whole,
};
use crate::plan::{Http, RadioRef};
use crate::decode::{Key, FromNode, List, Named, OneOrMany, Section, Shape, section};
use crate::enums::AqlChoice;
use netburn_medium::config::{
    Guard, HardwareQueue, QueueKind, QueueLimit, RadioSelection, RateControl, Rating, Standard, Width,
};
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_workload::{Connections, Priority};

section! {
    /// Who is on the network, what each does, and what counts as good. Every quantity carries its unit: `"60 s"`, `"25 Mbit/s"`, `"128 KiB"`, `"-62 dBm"`, `"1 %"`.
    Scenario {
        /// The version of this form: `netburn.scenario/1`.
        schema: Text = "netburn.scenario/1";
        /// What the run is called. Without it, the file's name.
        name: Name;
        /// One line for people.
        title: Text;
        /// What it is meant to find out.
        question: Text;
        /// What it takes for granted, each with its reason.
        assumptions: List<Text>;
        /// How long the load runs.
        duration: SomeTime = "60 s";
        /// The beginning of the load that isn't judged; shorter than `duration`.
        warmup: Span = "0 s";
        /// How long idle latency is measured before the load.
        baseline: ShortSpan = "3 s";
        /// What is under way at the end has this long to finish.
        drain: ShortSpan = "5 s";
        /// What all chance comes from. The same seed gives the same run on simulate.
        seed: Whole<0, { u64::MAX }> = "1";
        /// How many times it runs. The operations of all runs are judged together.
        repeat: Whole<1, 10_000> = "1";
        /// The server and the wired hop to it.
        server: ServerSection;
        /// Networks: one name (SSID) over one or several radios.
        network: Named<NetworkSection>;
        /// Access points.
        ap: Named<ApSection>;
        /// Stations: at least one, up to 4096.
        station: Named<StationSection>;
        /// Workloads of one's own. The names of the six built-in ones are taken.
        workload: Named<WorkloadSection>;
        /// What changes while it runs (simulate, lab).
        at: List<AtSection>;
    }
}

section! {
    /// The server and the wired hop between it and the access points.
    ServerSection {
        /// The hop between server and access points.
        link: LinkSection;
        /// The HTTP version it is spoken to in.
        http: Http = "1.1";
        /// Whether it is spoken to over TLS.
        tls: Flag = "false";
        /// The congestion control of what it sends: `reno`, `cubic`, `bbr`, or one that the system has. Without it cubic; on local and fleet the system's. A workload's own `cc` goes before it.
        cc: CongestionControl;
        /// Whether it agrees to ECN (RFC 3168) where a station asks for it, as Linux does (`tcp_ecn` 2).
        ecn: Flag = "true";
        /// The least time between two interrupts of its Ethernet card. Segments that one interrupt brings are joined (GRO) and acknowledged together: at 1 Gbit/s four or five in 50 µs. With `0 s` every packet interrupts, and every second segment is acknowledged. Stations on a wire have 50 µs.
        interrupt_interval: Span = "50 us";
    }
}

section! {
    /// A wired hop, the same both ways.
    LinkSection {
        /// Its rate, on local the server's. Without it 1 Gbit/s.
        rate: Rate;
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost.
        loss: Share = "0 %";
        /// Bytes it can hold. Without it, 100 ms at its rate, at least 64 KiB.
        queue: QueueBytes;
    }
}

section! {
    /// One name (SSID) over one or several radios: each station that joins it picks one.
    NetworkSection {
        /// Its radios, each as access point and radio: `c7.5g`.
        radios(required): List<RadioRef>;
        /// Reserved: how the network moves stations.
        steering: Reserved;
        /// Reserved: 802.11k, reports of neighbours.
        k: Reserved;
        /// Reserved: 802.11v, suggestions to move.
        v: Reserved;
        /// Reserved: 802.11r, fast transition.
        r: Reserved;
        /// Reserved: links between access points.
        backhaul: Reserved;
    }
}

section! {
    /// An access point, by its rating or radio by radio.
    ApSection {
        /// The figure on its box, such as `AC1750`: it has the radios that the figure stands for, and what `radio` says goes first.
        rating: Rating;
        /// Its radios, named `2g`, `5g`, `6g`; `5g-2` for a second one in a band.
        radio: Named<RadioSection>;
        /// Its transmit queue: `fifo` one for the device; `pfifo-fast` three bands by priority; `station-rr` one per station, served round robin; `fq-codel` RFC 8290 over the device; `fq-mac` FQ-CoDel per station and traffic identifier, as mac80211 does; `airtime` the same, scheduled by airtime.
        queue: QueueKind = "fifo";
        /// The most that holds, in packets or bytes. Without it 1000 packets (Linux txqueuelen); 10240 for `fq-codel`, 8192 for `fq-mac` and `airtime` (Linux's limits).
        queue_limit: QueueLimit;
        /// Whether the queue marks packets of connections that use ECN (RFC 3168) instead of dropping them, where the discipline can: `fq-codel`, `fq-mac`, `airtime`. On in Linux. A connection uses it where its station's `ecn` asks for it.
        ecn: Flag = "true";
        /// Whether `fq-mac` and `airtime` give slow stations, below 6 Mbit/s for each station of the radio, more time before packets are dropped (CoDel with 50 ms and 300 ms, no ECN), as Linux did from 2016 to 2025.
        slow_stations: Flag = "false";
        /// What the hardware takes ahead of time, per access category of a radio: aggregates, frames or time, or `unlimited`. ath9k keeps two aggregates.
        hardware_queue: HardwareQueue = "2 aggregates";
        /// Packets that the driver's own lists hold together, between `fifo`, `pfifo-fast` or `fq-codel` and the hardware. ath9k held 123 before Linux 4.11; 1 is a driver without such lists, whose firmware takes packets from the queue directly.
        driver_queue: Whole<1, 65535> = "123";
        /// Airtime queue limits: `true` for Linux's (5 ms, 12 ms, 24 ms), or one's own. In Linux each driver asks for them; ath9k does not.
        aql: AqlChoice = "false";
        /// How long its radios gather what they received before its host is told, where TCP is modelled: as a station's `rx_interrupt_delay`.
        rx_interrupt_delay: Span = "0 s";
        /// The most it can forward, both ways together. Without it, whatever comes.
        forwarding: Rate;
        /// Bytes that can wait to be forwarded, both ways together. Without it, 100 ms at that rate, at least 64 KiB.
        forwarding_queue: QueueBytes;
        /// The line between it and the world. Without it the server is next to it.
        wan: WanSection;
    }
}

section! {
    /// The line between an access point and the world.
    WanSection {
        /// Its rate towards the access point. Without it unlimited.
        down: Rate;
        /// Its rate away from it. Without it unlimited.
        up: Rate;
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost.
        loss: Share = "0 %";
        /// Bytes it can hold each way. Without it, 100 ms at its rate, at least 64 KiB.
        queue: QueueBytes;
    }
}

section! {
    /// One radio of an access point.
    RadioSection {
        /// What it speaks. Without it 802.11n on 2.4 GHz, 802.11ac on 5 GHz, 802.11ax on 6 GHz.
        standard: Standard;
        /// The number of its primary 20 MHz channel (802.11-2020 annex E). Without it 6, 36 or 37.
        channel: Whole<1, 233>;
        /// Its channel's width. Without it 20 MHz on 2.4 GHz, 80 MHz on 5 GHz, 160 MHz on 6 GHz, as far as the standard goes.
        width: Width;
        /// Spatial streams. Without it 2; 1 for 802.11a, b and g.
        streams: Whole<1, 8>;
        /// Guard interval: 400 or 800 ns for 802.11n and ac, 800, 1600 or 3200 ns for ax and be. Without it the shortest.
        guard: Guard;
        /// Transmit power.
        power: Power = "20 dBm";
        /// The longest that one aggregate lasts on the air, up to 5484 us (802.11's L-SIG limit). Linux's drivers cap it at 4 ms.
        aggregate_time: SomeTime = "4 ms";
        /// The most MPDUs in one aggregate; 1 means no aggregation. Without it the BlockAck window: 64 for 802.11n and ac, 256 for ax, 1024 for be.
        aggregate_frames: Whole<1, 1024>;
        /// The largest A-MSDU, up to 7935 B for 802.11n and 11398 B after; `off`: one packet per MPDU.
        amsdu: SizeOrOff = "off";
        /// Frames of this size and more are preceded by RTS/CTS; `off`: none.
        rts: SizeOrOff = "off";
        /// Share of the air taken by networks that aren't modelled; more than 95 % counts as 95.
        channel_busy: Share = "0 %";
    }
}

section! {
    /// A station and what it does.
    StationSection {
        /// What it joins: a network, or one radio as `c7.5g`. Simulate and lab need `joins` or `link`.
        joins: JoinsText;
        /// Its own wire to the server's hop, in place of the air: an Ethernet, or a modem's line. What is said of the air (`signal`, `limit`, `weight`, `hardware_queue` and so on) has no place beside it.
        link: StationLinkSection;
        /// How it picks among a network's radios: `highest-band`, `strongest`, or a band: `2g`, `5g`, `6g`.
        radio_selection: RadioSelection = "highest-band";
        /// What it speaks. Without it, what the radio it joins does.
        standard: Standard;
        /// Spatial streams. Few clients have more than two.
        streams: Whole<1, 8> = "2";
        /// The power of the access point's signal where the station is, −110 to 0 dBm. Simulate and lab need `signal`, `distance` or `mcs`.
        signal: Signal;
        /// How far it is from the access point; the signal follows.
        distance: Range;
        /// The MCS that is used whatever the signal, counted per stream: what 802.11n calls MCS 15 is `mcs = 7` with `streams = 2`.
        mcs: Whole<0, 13>;
        /// The power of its signal at the access point. Without it, the same as `signal`.
        signal_up: Signal;
        /// Stations that it can't hear, and that can't hear it.
        hidden_from: List<Name>;
        /// How the rate of a transmission is chosen: `minstrel` by trying, as Linux does; `ideal` the best for the signal; `fixed`. With `mcs` it is `fixed`.
        rate_control: RateControl = "minstrel";
        /// What its adapter can move, whatever the air permits: one rate, or `{ up = …, down = … }`.
        adapter_rate: Rates;
        /// What it does: `browsing`, `4kstream`, `voip`, `download`, `upload`, `probe`, or a `[workload.NAME]` of the file; one or a list.
        workload: OneOrMany<Name>;
        /// When its load begins.
        start: Span = "0 s";
        /// When its load ends. Without it, with the run.
        stop: SomeTime;
        /// The congestion control of what it sends: `reno`, `cubic`, `bbr`, or one that the system has. Without it cubic; on local and fleet the system's. What it is sent follows `server.cc`; a workload's own `cc` goes before both.
        cc: CongestionControl;
        /// Whether its connections ask for ECN (RFC 3168; `tcp_ecn` 1). Linux agrees to ECN but does not ask.
        ecn: Flag = "false";
        /// TCP Small Queues, which bound what one connection keeps waiting below TCP: as a Linux of that year did it over Wi-Fi, settings of one's own, or `off`. Without it what a Wi-Fi driver asks for today; on local and fleet the system's. With `link` those of a year keep the 1 ms (shift 10) that only Wi-Fi drivers ask to change.
        tsq: Tsq;
        /// Whether its network device takes bursts of segments (GSO), where TCP is modelled. Linux before 4.17 gave devices without scatter-gather, such as ath9k's, one packet at a time.
        gso: Flag = "true";
        /// Whether its host joins segments that come at once before its TCP sees them (GRO), where TCP is modelled: then an aggregate brings one acknowledgement, else every second segment does. ath9k hands frames up one by one.
        gro: Flag = "true";
        /// How long after the end of a transmission its TCP learns that packets have left, where TCP is modelled: an adapter that gathers interrupts, the way back over USB. What ends meanwhile is told with it.
        tx_completion_delay: Span = "0 s";
        /// How long after the last frame that it received its card tells the host, where TCP is modelled; at the latest four times as long after the first that isn't told. Cards that gather receive interrupts: ath9k with AR9300 and later 500 µs (and 2 ms).
        rx_interrupt_delay: Span = "0 s";
        /// Its own transmit queue. With `link`, `fifo`, `pfifo-fast` or `fq-codel`.
        queue: QueueKind = "fq-codel";
        /// What its hardware takes ahead of time: aggregates, frames or time, or `unlimited`.
        hardware_queue: HardwareQueue = "2 aggregates";
        /// Its weight in a schedule by airtime; 256 in Linux.
        weight: Whole<1, 65_535> = "256";
        /// On the fleet: the agent that takes its part.
        agent: Text;
        /// On the fleet: the label of the agents that will do.
        label: Text;
    }
}

section! {
    /// A station's own wire, in place of the air. Away from the station a packet waits in its `queue`, then in the device's ring, and is sent from there.
    StationLinkSection {
        /// Its rate, both ways. Without it 1 Gbit/s.
        rate: Rate;
        /// Its rate towards the station. Without it `rate`.
        down: Rate;
        /// Its rate away from the station. Without it `rate`.
        up: Rate;
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost, each way.
        loss: Share = "0 %";
        /// Bytes that can wait for the line, each way; away from the station only with `device`, else they wait in the host. Without it, 100 ms at its rate, at least 64 KiB.
        queue: QueueBytes;
        /// The rate at which the host's device hands packets to the line, where that isn't the end of the line: a modem behind USB or Ethernet. What waits for the line has then left the host, and TCP Small Queues don't see it.
        device: Rate;
        /// Packets that the device's ring holds. Many Ethernet drivers have 256.
        ring: Whole<1, 65_535> = "256";
        /// Byte queue limits (BQL): the ring takes no more packets while it holds more bytes than this; `off`: the ring is the only bound. Linux finds the limit while it runs; this one is fixed.
        bql: SizeOrOff = "off";
    }
}

section! {
    /// A workload of one's own: it begins as the built-in one of its kind (`pages` as `browsing`, `stream` as `4kstream`, `calls` as `voip`), and the keys change that.
    WorkloadSection {
        /// What sort of use it is: `pages` several objects at once on a grid with jitter; `stream` objects one after another, the schedule shifts; `calls` objects on a fixed grid; `download` and `upload` large objects one after another; `probe` datagrams that are sent back.
        kind(required): netburn_workload::Kind;
        /// Objects fetched at once in one operation (`pages`).
        objects: Whole<1, 1000>;
        /// The size of one object; for `probe` of a datagram, 64 to 1400 B.
        object_size: ObjectSize;
        /// How much is asked for; decides `interval`. For `stream`, `calls` and `pages`.
        rate: Rate;
        /// The time between operations. For all but `download` and `upload`. Without it and `rate`, a stream and calls keep their kind's rate, pages and probes their kind's time.
        interval: SomeTime;
        /// How far around its place in the grid an operation may fall due, either way; at most half of `interval`. For `pages`, `calls` and `probe`.
        jitter: Span;
        /// Whether each object comes over a connection of its own. Not for `probe`.
        connections: Connections;
        /// How many operations may be under way at once; those due beyond are misses. For `calls` and `probe`.
        outstanding: Whole<1, 10_000>;
        /// The class of its packets, both ways: DSCP (8, 0, 40, 48), access category, band of `pfifo-fast`. What marks which packets is below.
        priority: Priority = "best-effort";
        /// The congestion control of its connections, both ways: `reno`, `cubic`, `bbr`, or one that the system has. Without it `station.*.cc` and `server.cc`. Not for `probe`.
        cc: CongestionControl;
        /// The video player that the bytes feed (`stream`).
        player: PlayerSection;
        /// What makes it good: a time (`"500 ms"`) for `pages`, `calls` and `probe`; a rate (`"20 Mbit/s"`, in every 2 s) for `stream`, `download` and `upload`; `"no stall"` for `stream`; `"none"`; or a list.
        goal: Goals;
        /// An operation without any progress for this long is given up.
        timeout: SomeTime;
    }
}

section! {
    /// A video player's buffer.
    PlayerSection {
        /// Media buffered before it starts, and before it goes on after a stall.
        start: Span = "2 s";
        /// The rate at which it plays.
        rate: Rate = "20 Mbit/s";
        /// The most it holds; what comes beyond is let go.
        max_buffer: SomeTime = "10 s";
    }
}

section! {
    /// Something that changes while it runs.
    AtSection {
        /// When, after the load began.
        time(required): Span;
        /// What becomes what: the key's dotted path in quotes, and its new value: `{ "station.tv.signal" = "-80 dBm" }`.
        set(required): Settings;
    }
}

/// A key that is kept for later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved;

impl FromNode for Reserved {
    fn read(_: &crate::node::Node, _: &mut crate::decode::Context) -> Option<Self> {
        Some(Reserved)
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "not": {}, "x-value": "nothing yet" })
    }
}

/// A size, or `off`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeOrOff(pub(crate) Option<netburn_units::ByteSize>);

impl FromNode for SizeOrOff {
    fn read(node: &crate::node::Node, cx: &mut crate::decode::Context) -> Option<Self> {
        if node.text() == Some("off") {
            return Some(SizeOrOff(None));
        }
        ObjectSize::read(node, cx).map(|size| SizeOrOff(Some(size.0)))
    }

    fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let size = ObjectSize::schema(generator);
        schemars::json_schema!({ "anyOf": [size, { "const": "off" }], "x-value": "a size, or `off`" })
    }
}

/// What a station joins, before it is known whether there is such a thing.
#[derive(Debug, Clone)]
pub(crate) struct JoinsText(pub(crate) String);

impl FromNode for JoinsText {
    fn read(node: &crate::node::Node, cx: &mut crate::decode::Context) -> Option<Self> {
        let wanted = "a network's name, or an access point's, a dot and a radio's, such as `\"c7.5g\"`";
        crate::scalars::parsed(node, cx, wanted, |text| {
            let parts: Vec<&str> = text.split('.').collect();
            (parts.len() <= 2 && parts.iter().all(|part| crate::scalars::is_name(part)))
                .then(|| JoinsText(text.to_owned()))
        })
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{1,63}(\\.(2g|5g|6g)(-[234])?)?$", "x-value": "a network or a radio" })
    }
}

/// A section as it stands in a file: how its header is written, what it is about, its keys.
pub(crate) struct Placed {
    pub(crate) header: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: fn() -> Vec<Key>,
}

fn placed<T: Section>(header: &'static str) -> Placed {
    Placed {
        header,
        about: T::ABOUT.trim_ascii_start(),
        keys: T::keys,
    }
}

/// All sections, in the order in which they are told.
pub(crate) fn all() -> Vec<Placed> {
    vec![
        placed::<Scenario>("top of the file"),
        placed::<ServerSection>("[server]"),
        placed::<LinkSection>("[server.link]"),
        placed::<NetworkSection>("[network.NAME]"),
        placed::<ApSection>("[ap.NAME]"),
        placed::<WanSection>("[ap.NAME.wan]"),
        placed::<crate::enums::AqlSection>("[ap.NAME.aql]"),
        placed::<RadioSection>("[ap.NAME.radio.RADIO]"),
        placed::<StationSection>("[station.NAME]"),
        placed::<StationLinkSection>("[station.NAME.link]"),
        placed::<crate::goals::AdapterRateSection>("[station.NAME.adapter_rate]"),
        placed::<crate::enums::TsqSection>("[station.NAME.tsq]"),
        placed::<WorkloadSection>("[workload.NAME]"),
        placed::<PlayerSection>("[workload.NAME.player]"),
        placed::<AtSection>("[[at]]"),
    ]
}

/// The sections that have a key of that name, as headers.
pub(crate) fn sections_with_key(key: &str) -> Vec<String> {
    all()
        .iter()
        .filter(|section| (section.keys)().iter().any(|known| known.name == key))
        .map(|section| section.header.to_owned())
        .collect()
}

/// What may stand in a whole file.
pub(crate) fn shape() -> Shape {
    Scenario::shape()
}
