//! Sections of a scenario file: keys, descriptions and defaults. The JSON Schema and the manual are generated from
//! them.

use crate::change::Settings;
use crate::decode::{FromNode, Key, List, Named, OneOrMany, Section, Shape, section};
use crate::enums::AqlChoice;
use crate::goals::{Goals, Rates};
use crate::plan::{Http, RadioRef};
use crate::scalars::{
    Delay, Flag, Name, ObjectSize, Power, QueueBytes, Range, Rate, Share, ShortSpan, Signal, SomeTime, Span, Text,
    Whole,
};
use netburn_medium::config::{
    Guard, HardwareQueue, QueueKind, QueueLimit, RadioSelection, RateControl, Rating, Standard, Width,
};
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_workload::{Connections, Priority};

section! {
    /// Settings of the whole run, and the sections below it. Every quantity carries its unit: `"60 s"`, `"25 Mbit/s"`, `"128 KiB"`, `"-62 dBm"`, `"1 %"`.
    Scenario {
        /// Version of the file format.
        schema: Text = "netburn.scenario/1";
        /// Name of the scenario.
        name: Name, default "the file's name";
        /// One line that describes the scenario.
        title: Text;
        /// Question that the scenario answers.
        question: Text;
        /// Assumptions of the scenario, each with its reason.
        assumptions: List<Text>;
        /// Duration of the load.
        duration: SomeTime = "60 s";
        /// Time at the beginning of the load that verdicts do not cover; shorter than `duration`.
        warmup: Span = "0 s";
        /// Time before the load in which idle latency is measured.
        baseline: ShortSpan = "3 s";
        /// Time after the load in which running operations can finish.
        drain: ShortSpan = "5 s";
        /// Random seed. On simulate, the same seed gives the same results.
        seed: Whole<0, { u64::MAX }> = "1";
        /// Number of runs. One verdict covers the operations of all runs.
        repeat: Whole<1, 10_000> = "1";
        /// Server, and its link to the access points.
        server: ServerSection;
        /// Networks: one SSID over one or more radios.
        network: Named<NetworkSection>;
        /// Access points.
        ap: Named<ApSection>;
        /// Stations: at least one, at most 4096.
        station: Named<StationSection>;
        /// Your own workloads. The names of the six built-in workloads are reserved.
        workload: Named<WorkloadSection>;
        /// Changes of settings during the run (simulate and lab).
        at: List<AtSection>;
    }
}

section! {
    /// The server, and its link to the access points.
    ServerSection {
        /// Link between the server and the access points.
        link: LinkSection;
        /// HTTP version of the requests.
        http: Http = "1.1";
        /// Use of TLS.
        tls: Flag = "false";
        /// TCP congestion control of the server: `reno`, `cubic`, `bbr`, or another one of the operating system. A workload's `cc` overrides it.
        cc: CongestionControl, default "`cubic`; on local and fleet the system's";
        /// Acceptance of ECN (RFC 3168) when a station requests it, as in Linux (`tcp_ecn` 2).
        ecn: Flag = "true";
        /// Minimum time between two interrupts of the server's Ethernet card. GRO joins the segments of one interrupt, and TCP acknowledges them together: four or five at 1 Gbit/s and 50 µs. With `0 s` every packet interrupts, and TCP acknowledges every second segment. Stations on a wire use 50 µs.
        interrupt_interval: Span = "50 us";
    }
}

section! {
    /// A wired link with the same properties in both directions.
    LinkSection {
        /// Rate of the link; on local, of the server.
        rate: Rate, default "1 Gbit/s";
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost.
        loss: Share = "0 %";
        /// Capacity of the queue.
        queue: QueueBytes, default "100 ms at `rate`, at least 64 KiB";
    }
}

section! {
    /// One SSID over one or more radios. Each station that joins it selects one radio.
    NetworkSection {
        /// Radios of the network, each as access point and radio: `c7.5g`.
        radios(required): List<RadioRef>;
        /// Reserved for band steering.
        steering: Reserved;
        /// Reserved for 802.11k (neighbour reports).
        k: Reserved;
        /// Reserved for 802.11v (BSS transition management).
        v: Reserved;
        /// Reserved for 802.11r (fast BSS transition).
        r: Reserved;
        /// Reserved for links between access points.
        backhaul: Reserved;
    }
}

section! {
    /// An access point, described by its speed rating, its radios, or both.
    ApSection {
        /// Speed rating, such as `AC1750`. Radios are derived from the rating; explicit `radio` settings override them.
        rating: Rating;
        /// Radios, named `2g`, `5g`, `6g`; `5g-2` for a second radio in a band.
        radio: Named<RadioSection>;
        /// Queue discipline for transmission. `fifo`: one queue for the device. `pfifo-fast`: three bands by priority. `station-rr`: one queue per station, served round robin. `fq-codel`: RFC 8290 over the device. `fq-mac`: FQ-CoDel per station and traffic identifier, as in mac80211. `airtime`: as `fq-mac`, scheduled by airtime.
        queue: QueueKind = "fifo";
        /// Capacity of the queue, in packets or bytes. The defaults are Linux's limits (txqueuelen for `fifo`).
        queue_limit: QueueLimit, default "1000 packets; `fq-codel` 10240; `fq-mac` and `airtime` 8192";
        /// ECN marking (RFC 3168) instead of drops, in the disciplines that can mark: `fq-codel`, `fq-mac`, `airtime`. Enabled in Linux. A connection uses ECN only if its station's `ecn` requests it.
        ecn: Flag = "true";
        /// Relaxed CoDel (50 ms and 300 ms, no ECN) for slow stations in `fq-mac` and `airtime`, as in Linux from 2016 to 2025. A station is slow below 6 Mbit/s divided by the radio's stations.
        slow_stations: Flag = "false";
        /// Depth of the driver and hardware queue, per access category of a radio: aggregates, frames, a time, or `unlimited`. ath9k uses two aggregates.
        hardware_queue: HardwareQueue = "2 aggregates";
        /// Capacity of the driver's own lists, in packets, between `fifo`, `pfifo-fast` or `fq-codel` and the hardware. ath9k held 123 before Linux 4.11. Use 1 for a driver without such lists, whose firmware takes packets directly from the queue.
        driver_queue: Whole<1, 65535> = "123";
        /// Airtime queue limits: `true` for Linux's values (5 ms, 12 ms, 24 ms), or your own. In Linux each driver enables them; ath9k does not.
        aql: AqlChoice = "false";
        /// RX interrupt coalescing of the radios, as a station's `rx_interrupt_delay` (simulate).
        rx_interrupt_delay: Span = "0 s";
        /// Maximum forwarding rate, sum of both directions.
        forwarding: Rate, default "unlimited";
        /// Capacity of the forwarding queue, shared by both directions.
        forwarding_queue: QueueBytes, default "100 ms at `forwarding`, at least 64 KiB";
        /// WAN link of the access point.
        wan: WanSection, default "none: the access point is next to the server's link";
    }
}

section! {
    /// WAN link between an access point and the server's link.
    WanSection {
        /// Downlink rate.
        down: Rate, default "unlimited";
        /// Uplink rate.
        up: Rate, default "unlimited";
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost.
        loss: Share = "0 %";
        /// Capacity of the queue in each direction.
        queue: QueueBytes, default "100 ms at the direction's rate, at least 64 KiB";
    }
}

section! {
    /// One radio of an access point.
    RadioSection {
        /// Wi-Fi standard.
        standard: Standard, default "802.11n on 2.4 GHz, 802.11ac on 5 GHz, 802.11ax on 6 GHz";
        /// Number of the primary 20 MHz channel (802.11-2020 annex E).
        channel: Whole<1, 233>, default "6, 36 or 37, by band";
        /// Channel width.
        width: Width, default "20 MHz on 2.4 GHz, 80 MHz on 5 GHz, 160 MHz on 6 GHz, or the standard's maximum";
        /// Spatial streams.
        streams: Whole<1, 8>, default "2; 1 for 802.11a, b and g";
        /// Guard interval: 400 or 800 ns for 802.11n and ac, 800, 1600 or 3200 ns for ax and be.
        guard: Guard, default "the standard's minimum";
        /// Transmit power.
        power: Power = "20 dBm";
        /// Maximum duration of an aggregate, up to 5484 us (limit of the L-SIG field). Linux drivers use 4 ms.
        aggregate_time: SomeTime = "4 ms";
        /// Maximum number of MPDUs in an aggregate; 1 disables aggregation.
        aggregate_frames: Whole<1, 1024>, default "the BlockAck window: 64 for 802.11n and ac, 256 for ax, 1024 for be";
        /// Maximum A-MSDU size, up to 7935 B for 802.11n and 11398 B for later standards; `off`: one packet per MPDU.
        amsdu: SizeOrOff = "off";
        /// RTS threshold: frames of this size and more are preceded by RTS/CTS; `off`: none.
        rts: SizeOrOff = "off";
        /// Share of airtime that other networks use, which are not modelled. Values above 95 % count as 95 %.
        channel_busy: Share = "0 %";
    }
}

section! {
    /// A station and its workloads.
    StationSection {
        /// Network, or one radio such as `c7.5g`. Simulate and lab need `joins` or `link`.
        joins: JoinsText;
        /// Wired link of the station, instead of Wi-Fi: Ethernet, or a modem. Wi-Fi keys (`signal`, `adapter_rate`, `weight`, `hardware_queue` and others) cannot be combined with it.
        link: StationLinkSection;
        /// Selection among the radios of a network: `highest-band`, `strongest`, or a band (`2g`, `5g`, `6g`).
        radio_selection: RadioSelection = "highest-band";
        /// Wi-Fi standard.
        standard: Standard, default "the radio's";
        /// Spatial streams. Few clients have more than two.
        streams: Whole<1, 8> = "2";
        /// Received power of the access point's signal at the station, −110 to 0 dBm. Simulate and lab need `signal`, `distance` or `mcs`.
        signal: Signal;
        /// Distance from the access point, from which the signal is computed.
        distance: Range;
        /// Fixed MCS, independent of the signal, counted per stream: MCS 15 of 802.11n is `mcs = 7` with `streams = 2`.
        mcs: Whole<0, 13>;
        /// Received power of the station's signal at the access point.
        signal_up: Signal, default "as `signal`";
        /// Hidden nodes: stations that this station cannot hear and that cannot hear it.
        hidden_from: List<Name>;
        /// Rate control. `minstrel`: by sampling, as in Linux. `ideal`: best rate for the signal. `fixed`: one rate. With `mcs` it is `fixed`.
        rate_control: RateControl = "minstrel";
        /// Maximum rate of the station's adapter: one rate, or `{ up = …, down = … }`.
        adapter_rate: Rates, default "unlimited";
        /// Workloads: `browsing`, `4kstream`, `voip`, `download`, `upload`, `probe`, or a `[workload.NAME]` of the file; one, or a list.
        workload: OneOrMany<Name>, default "none";
        /// Start of the station's load.
        start: Span = "0 s";
        /// End of the station's load.
        stop: SomeTime, default "`duration`";
        /// TCP congestion control of the station: `reno`, `cubic`, `bbr`, or another one of the operating system. Traffic to the station follows `server.cc`. A workload's `cc` overrides both.
        cc: CongestionControl, default "`cubic`; on local and fleet the system's";
        /// Request of ECN (RFC 3168; `tcp_ecn` 1). Linux accepts ECN but does not request it.
        ecn: Flag = "false";
        /// TCP Small Queues, the limit on one connection's data below TCP: as in Linux of that year over Wi-Fi, your own settings, or `off`. With `link`, the presets keep the 1 ms (shift 10) that only Wi-Fi drivers change.
        tsq: Tsq, default "`2025`, as current Wi-Fi drivers set it; on local and fleet the system's";
        /// Generic segmentation offload (GSO) of the network device (simulate and lab). Linux before 4.17 sent single packets to devices without scatter-gather, such as ath9k.
        gso: Flag = "true";
        /// Generic receive offload (GRO) of the host (simulate). With GRO, TCP acknowledges an aggregate once; without it, every second segment. ath9k passes frames up one by one.
        gro: Flag = "true";
        /// TX completion delay (simulate): time from the end of a transmission until the host's TCP is notified, for interrupt coalescing or USB latency. Completions in between are reported together.
        tx_completion_delay: Span = "0 s";
        /// RX interrupt coalescing (simulate): the host is notified this long after the last received frame, but at most four times this long after the first. ath9k with AR9300 and later uses 500 µs and 2 ms.
        rx_interrupt_delay: Span = "0 s";
        /// Queue discipline for transmission. With `link`: `fifo`, `pfifo-fast` or `fq-codel`.
        queue: QueueKind = "fq-codel";
        /// Depth of the driver and hardware queue: aggregates, frames, a time, or `unlimited`.
        hardware_queue: HardwareQueue = "2 aggregates";
        /// Airtime weight of the station; 256 in Linux.
        weight: Whole<1, 65_535> = "256";
        /// Fleet: name of the agent that plays this station.
        agent: Text, default "any";
        /// Fleet: label of the agents that can play this station.
        label: Text, default "any";
    }
}

section! {
    /// A station's wired link, instead of Wi-Fi. An outgoing packet waits in the station's `queue`, then in the ring of the network device, which sends it.
    StationLinkSection {
        /// Rate in both directions.
        rate: Rate, default "1 Gbit/s";
        /// Downlink rate.
        down: Rate, default "`rate`";
        /// Uplink rate.
        up: Rate, default "`rate`";
        /// One-way delay.
        delay: Delay = "0 s";
        /// Share of packets lost in each direction.
        loss: Share = "0 %";
        /// Capacity of the link's queue in each direction. Uplink it applies only with `device`; without `device` packets wait in the host.
        queue: QueueBytes, default "100 ms at the direction's rate, at least 64 KiB";
        /// Rate from the host's network device to the link, for a modem behind USB or Ethernet. Packets that wait for the link have then left the host, and TCP Small Queues do not count them.
        device: Rate, default "none: the device is the end of the link";
        /// Capacity of the device's ring, in packets. Many Ethernet drivers use 256.
        ring: Whole<1, 65_535> = "256";
        /// Byte queue limit (BQL): the ring accepts no packets while it holds more bytes than this; `off`: no limit. Linux adapts the limit; this one is fixed.
        bql: SizeOrOff = "off";
    }
}

section! {
    /// Your own workload. It starts from the built-in workload of its kind (`pages` from `browsing`, `stream` from `4kstream`, `calls` from `voip`), and its keys override that.
    WorkloadSection {
        /// Traffic pattern: `pages`, `stream`, `calls`, `download`, `upload` or `probe`. `pages`: several objects in parallel, at regular intervals with jitter. `stream`: objects one after another; a late object delays the next. `calls`: objects at fixed intervals. `download`, `upload`: large objects one after another. `probe`: datagrams that the server returns.
        kind(required): netburn_workload::Kind;
        /// Objects per operation, fetched in parallel (`pages`).
        objects: Whole<1, 1000>, default "the kind's";
        /// Size of one object; for `probe`, of a datagram, 64 to 1400 B.
        object_size: ObjectSize, default "the kind's";
        /// Requested rate, from which `interval` is computed. For `stream`, `calls` and `pages`.
        rate: Rate, default "the kind's, for `stream` and `calls`";
        /// Time between operations. Not for `download` and `upload`.
        interval: SomeTime, default "from `rate`, else the kind's";
        /// Maximum deviation of a due time from its place in the schedule, in either direction; at most half of `interval`. For `pages`, `calls` and `probe`.
        jitter: Span, default "the kind's";
        /// Connection reuse: `new` opens a connection for each object, `keep` keeps them open. Not for `probe`.
        connections: Connections, default "the kind's";
        /// Maximum number of operations in flight. Further operations that are due count as misses. For `calls` and `probe`.
        outstanding: Whole<1, 10_000>, default "the kind's";
        /// Priority of the packets in both directions: DSCP (8, 0, 40, 48), access category, and band of `pfifo-fast`. The table below shows where packets are marked.
        priority: Priority = "best-effort";
        /// TCP congestion control of the workload in both directions: `reno`, `cubic`, `bbr`, or another one of the operating system. Not for `probe`.
        cc: CongestionControl, default "`station.*.cc` and `server.cc`";
        /// Video player that consumes the data (`stream`).
        player: PlayerSection;
        /// Goal or list of goals: a time (`"500 ms"`) for `pages`, `calls` and `probe`; a rate (`"20 Mbit/s"`, in every 2 s) for `stream`, `download` and `upload`; `"no stall"` for `stream`; `"none"`.
        goal: Goals, default "the kind's";
        /// Time without progress after which an operation is aborted.
        timeout: SomeTime, default "the kind's";
    }
}

section! {
    /// Playback buffer of a video player.
    PlayerSection {
        /// Media in the buffer before playback starts, and before it continues after a stall.
        start: Span = "2 s";
        /// Playback rate.
        rate: Rate = "20 Mbit/s";
        /// Maximum buffer; data beyond it is discarded.
        max_buffer: SomeTime = "10 s";
    }
}

section! {
    /// A change of settings during the run.
    AtSection {
        /// Time of the change, since the start of the load.
        time(required): Span;
        /// Paths of keys in quotes, with their new values: `{ "station.tv.signal" = "-80 dBm" }`.
        set(required): Settings;
    }
}

/// Reserved key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reserved;

impl FromNode for Reserved {
    fn read(_: &crate::node::Node, _: &mut crate::decode::Context) -> Option<Self> {
        Some(Reserved)
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "not": {}, "x-value": "reserved" })
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

/// Network or radio that a station joins, before its existence is checked.
#[derive(Debug, Clone)]
pub(crate) struct JoinsText(pub(crate) String);

impl FromNode for JoinsText {
    fn read(node: &crate::node::Node, cx: &mut crate::decode::Context) -> Option<Self> {
        let wanted = "the name of a network, or an access point and a radio, such as `\"c7.5g\"`";
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

/// A section with its header, description and keys.
pub(crate) struct SectionEntry {
    pub(crate) header: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: fn() -> Vec<Key>,
}

fn entry<T: Section>(header: &'static str) -> SectionEntry {
    SectionEntry {
        header,
        about: T::ABOUT.trim_ascii_start(),
        keys: T::keys,
    }
}

/// All sections, in the order of the manual.
pub(crate) fn all() -> Vec<SectionEntry> {
    vec![
        entry::<Scenario>("top of the file"),
        entry::<ServerSection>("[server]"),
        entry::<LinkSection>("[server.link]"),
        entry::<NetworkSection>("[network.NAME]"),
        entry::<ApSection>("[ap.NAME]"),
        entry::<WanSection>("[ap.NAME.wan]"),
        entry::<crate::enums::AqlSection>("[ap.NAME.aql]"),
        entry::<RadioSection>("[ap.NAME.radio.RADIO]"),
        entry::<StationSection>("[station.NAME]"),
        entry::<StationLinkSection>("[station.NAME.link]"),
        entry::<crate::goals::AdapterRateSection>("[station.NAME.adapter_rate]"),
        entry::<crate::enums::TsqSection>("[station.NAME.tsq]"),
        entry::<WorkloadSection>("[workload.NAME]"),
        entry::<PlayerSection>("[workload.NAME.player]"),
        entry::<AtSection>("[[at]]"),
    ]
}

/// Headers of the sections that have the key.
pub(crate) fn sections_with_key(key: &str) -> Vec<String> {
    all()
        .iter()
        .filter(|section| (section.keys)().iter().any(|known| known.name == key))
        .map(|section| section.header.to_owned())
        .collect()
}

/// Shape of a whole file.
pub(crate) fn shape() -> Shape {
    Scenario::shape()
}
