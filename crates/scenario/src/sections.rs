//! Sections of a scenario file: keys, descriptions and defaults. The JSON Schema and the manual are generated from
//! them.

use crate::absence::AbsenceSection;
use crate::decode::{FromNode, List, Named, OneOrMany};
use crate::enums::{AqlChoice, BackhaulChoice, PowerSaveChoice, RoamingChoice, SteeringChoice};
use crate::environment::{FLEET, MODELLED, SIMULATE};
use crate::goals::{Goals, Rates};
use crate::line::{CakeSection, OutageSection, PolicerSection};
use crate::path::is_name;
use crate::places::{FloorsText, Place, WallText};
use crate::plan::{
    Ap, ApSetting, Building, Framing, Hop, Http, LinkSetting, Mesh, MeshRoot, MeshTimers, Network, Radio, RadioName,
    RadioRef, RadioSetting, Router, Server, ShaperRate, Station, StationSetting, StationWorkload, Trace, Wan,
};
use crate::queues::{LineQueue, queue_limits};
use crate::scalars::{
    Delay, Flag, Name, ObjectSize, Power, QueueBytes, Range, Rate, Ratio, Share, Signal, SizeOrOff, SomeTime, Span,
    Text, Velocity, Whole,
};
use crate::section_macro::section;
use crate::signals::Signals;
use crate::streams::StreamSection;
use crate::value::section_values;
use crate::wires::{StationLinkSection, WiredChoice, wired_queue};
use netburn_medium::config::{
    Band, Composition, Guard, HardwareQueue, LinkQuality, QueueLimit, RadioSelection, RateControl, Rating, Security,
    Standard, Width,
};
use netburn_medium::fading::FadingModel;
use netburn_medium::geometry::BuildingModel;
use netburn_medium::queue::QueueKind;
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_units::{Dscp, DscpMapping};
use netburn_workload::config::Dash;
use netburn_workload::{Adaptation, Config, Connections, PlayerConfig, Priority, ProbeTarget};

section! {
    /// The server, and its link to the access points.
    ServerSection(Server = Server::default()) {
        /// Link between the server and the access points.
        link: LinkSection => link;
        /// HTTP version of the requests.
        http: Http => http;
        /// Use of TLS.
        tls: Flag => tls;
        /// TCP congestion control of the server: `reno`, `cubic`, `bbr`, or another one of the operating system. A workload's `cc` overrides it.
        cc: CongestionControl => cc, default "`cubic`; on local and fleet the system's";
        /// Acceptance of ECN (RFC 3168) when a station requests it, as in Linux (`tcp_ecn` 2).
        ecn: Flag => ecn, on MODELLED else SystemSettings;
        /// Minimum time between two interrupts of the server's Ethernet card. GRO joins the segments of one interrupt, and TCP acknowledges them together: four or five at 1 Gbit/s and 50 µs. With `0 s` every packet interrupts, and TCP acknowledges every second segment. Stations on a wire use 50 µs.
        interrupt_interval: Span => interrupt_interval, on MODELLED else RealHosts;
    }
}

section! {
    /// A wired link with the same properties in both directions.
    LinkSection(Hop = Hop::default()) changes LinkSetting {
        /// Rate of the link; on local, of the server.
        rate: Rate => rate, default "1 Gbit/s", changes |value| (LinkSetting::Rate(value));
        /// One-way delay.
        delay: Delay => delay, changes |value| (LinkSetting::Delay(value)), on MODELLED else RealPath;
        /// Share of packets lost.
        loss: Share => loss, changes |value| (LinkSetting::Loss(value)), on MODELLED else RealPath;
        /// Capacity of the queue.
        queue: QueueBytes => queue, default wired_queue("`rate`"), changes |value| (LinkSetting::Queue(value)), on MODELLED else RealPath;
    }
}

section! {
    /// Building in which access points and stations have positions. The signal between two positions follows from distance, floors and walls.
    BuildingSection(Building = Building::default()) {
        /// Path-loss model. `tgax-residential`: TGax (IEEE 802.11-14/0980). `p1238-residential`, `p1238-office`: ITU-R P.1238. `3gpp-indoor-los`, `3gpp-indoor-nlos`: 3GPP TR 38.901.
        path_loss: BuildingModel => model.model;
        /// Walls, each between two positions: `"4 m, 0 m to 4 m, 6 m"`.
        walls: List<WallText> => model.walls;
        /// Lowest and highest floor: `"0 to 1"`. A position on another floor is an error.
        floors: FloorsText => floors, default "any";
        /// Loss of a wall.
        wall_loss: Ratio => model.wall_loss, default "5 dB for `tgax-residential`; 0 dB for the other models, which include walls";
        /// Standard deviation of shadowing along a path; 3 to 8 dB indoors.
        shadowing: Ratio => shadowing;
        /// Distance over which the correlation of shadowing falls to 1/e.
        shadowing_distance: Range => shadowing_distance;
        /// Fast fading of stations on a path. `rayleigh`: without a line of sight. `rician`: with one. All subcarriers have the same fading, which is the worst case.
        fading: FadingModel => fading;
        /// Power of the line of sight over that of all reflections, for `fading = "rician"`.
        rician_factor: Ratio => rician_factor;
    }
}

section! {
    /// One SSID over one or more radios. Each station that joins it selects one radio.
    NetworkSection(Network = Network::new("")) {
        /// Radios of the network, each as access point and radio: `c7.5g`.
        radios(required): List<RadioRef> => radios;
        /// Steering of stations by the access points: the name of a policy (`none`, `usteer`, `dawn`, `load`, `prefer-5ghz`, `probe-suppression`), or a section. All but `none` and `probe-suppression` need `v = true`. For manual steering, use a network for each band.
        steering: SteeringChoice => steering;
        /// Mean time between two broadcast packets from the wire, such as ARP and mDNS, of 200 bytes each. The times between them are uniform over 0 to twice this value. Each access point sends them at the lowest basic rate, without acknowledgement. While one of its stations dozes, they wait for the DTIM beacon.
        broadcast_interval: SomeTime => broadcast_interval, default "none: no broadcast packets";
        /// Number of beacon intervals (102.4 ms) from one DTIM beacon to the next. It has an effect only with `broadcast_interval`.
        dtim_period: Whole<1, 255> => dtim_period;
        /// Key management, which decides how many frames a station needs to join: `open`, `psk` (8 frames), `sae` (10), `802.1x` (24, and eight round trips to the RADIUS server).
        security: Security => security;
        /// Round trip from the access points to the RADIUS server. It has an effect only with `802.1x`.
        radius_delay: Span => radius_delay, default "5 ms";
        /// 802.11k: neighbour reports. Roaming stations scan only the channels of this network instead of all channels.
        k: Flag => k;
        /// 802.11v: BSS transition management. The access points can ask stations to move, by the rules of `steering`.
        v: Flag => v;
        /// 802.11r: fast BSS transition over the air. Roaming stations join with four frames. Needs keys, so not with `security = "open"`.
        r: Flag => r;
        /// 802.11r over the distribution system: the first two of the four frames pass through the old access point. Needs `r = true`.
        r_over_ds: Flag => r_over_ds;
        /// Caching of keys (PMKSA) by the access points: a station that returns to one joins with 8 frames, also with `sae` and `802.1x`.
        key_caching: Flag => key_caching;
        /// Opportunistic key caching: the access points share the keys. A station that has joined one of them joins the others with 8 frames.
        okc: Flag => okc;
    }
}

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
        /// WAN link. The access point is then the router of its line: stations with `wired`, and access points whose `backhaul` leads to it, share the line. It needs no radio.
        wan: WanSection => wan, default "none: the access point is behind a router, or next to the server's link";
    }
}

section! {
    /// A mesh of 802.11s: access points that find the paths between each other. Those without a wire need no `backhaul`. Access points that hear each other have a link; the signals come from their positions.
    MeshSection(Mesh = Mesh::new("")) {
        /// Radios of the mesh, each of another access point, with the same band and channel: `["one.5g", "two.5g"]`.
        radios(required): List<RadioRef> => radios;
        /// Access point with the wire to the server.
        root(required): Name;
        /// Announcements of the root, which give the others a path to it. `none`: paths are requested when a frame needs them. `proactive`: path requests. `answered`: path requests that all answer. `announcements`: root announcements.
        root_mode: MeshRoot => root_mode;
        /// Timers and limits of the path selection: the defaults of `linux`, or of `ns-3`.
        timers: MeshTimers => timers;
        /// Fixed MCS of all links, counted per stream. All access points then hear each other.
        mcs: Whole<0, 13>, default "from the signals";
    }
}

section! {
    /// The router of the house, without radios. Every access point with a wire, every kit and every station with `wired` is behind it, and they share its line. Packets between its ports pass neither its line nor its forwarding. A scenario whose router has radios uses `[ap.NAME.wan]` instead.
    RouterSection(Router = Router::default()) changes ApSetting {
        /// Line of the house: its WAN link.
        wan: WanSection => wan, default "none: the router is next to the server's link";
        /// Maximum forwarding rate between the line and the ports, sum of both directions.
        forwarding: Rate => forwarding, default "unlimited", changes |value| (ApSetting::Forwarding(value));
        /// Capacity of the forwarding queue, shared by both directions.
        forwarding_queue: QueueBytes => forwarding_queue, default wired_queue("`forwarding`");
    }
}

section! {
    /// WAN link between a router and the server's link: `[router.wan]`, or `[ap.NAME.wan]` if an access point is the router. All devices behind the router share it.
    WanSection(Wan = Wan::default()) changes ApSetting {
        /// Downlink rate.
        down: Rate => down, default "unlimited", changes |value| (ApSetting::WanDown(value));
        /// Uplink rate.
        up: Rate => up, default "unlimited", changes |value| (ApSetting::WanUp(value));
        /// One-way delay.
        delay: Delay => delay, changes |value| (ApSetting::WanDelay(value));
        /// Share of packets lost.
        loss: Share => loss, changes |value| (ApSetting::WanLoss(value));
        /// Capacity of the link's own queue in each direction. It applies to `fifo`, and to the modem and the head end with a `shaper`.
        queue: QueueBytes => queue, default wired_queue("the direction's rate");
        /// Bytes that the link adds to an IP packet, by the keywords of tc-cake(8). The rates `down` and `up` count them. `raw`: none. `ethernet`: 38 bytes, at least 84. `docsis`: 18 bytes, at least 64. `bridged-ptm`, `pppoe-ptm` (VDSL2): 22 and 30 bytes, and one byte per 64. `pppoe-llcsnap` (40 bytes), `pppoe-vcmux`, `bridged-llcsnap` (32), `pppoa-vcmux` (10), `ipoa-vcmux` (8), `conservative` (48): in ATM cells of 53 bytes with 48 bytes of content.
        framing: Framing => framing, default "38 bytes per packet, without a minimum";
        /// Queue discipline: {line queues}. Without a `shaper` it is that of the link itself. It then acts only in a direction with a rate.
        discipline: LineQueue => discipline;
        /// Queue discipline downlink.
        discipline_down: LineQueue => discipline_down, default "`discipline`";
        /// Queue discipline uplink.
        discipline_up: LineQueue => discipline_up, default "`discipline`";
        /// Shaper of the router (SQM): a share of the link's rate at the start, or a rate. The queue discipline is then in the router, and the link keeps a FIFO with `queue`. Uplink the router is before the link, downlink after it.
        shaper: ShaperRate => shaper, default "none: the discipline is that of the link itself";
        /// Shaper downlink.
        shaper_down: ShaperRate => shaper_down, default "`shaper`";
        /// Shaper uplink.
        shaper_up: ShaperRate => shaper_up, default "`shaper`";
        /// Settings of `cake`.
        cake: CakeSection => cake;
        /// Policer of the provider downlink, before the link's queue.
        policer_down: PolicerSection => policer_down, default "none";
        /// Policer of the provider uplink, after the link.
        policer_up: PolicerSection => policer_up, default "none";
        /// Capacity downlink as a trace in the format of mahimahi, instead of `down`: each line of the file is the time in ms of an opportunity to send 1500 bytes, with the framing. The trace starts with the load, and repeats. The path is relative to the scenario file. A list has the times themselves.
        trace_down: Trace => trace_down, default "none";
        /// Capacity uplink as a trace, instead of `up`.
        trace_up: Trace => trace_up, default "none";
        /// Times in which the link sends nothing in both directions. The packet in transmission is still sent.
        outages: List<OutageSection> => outages, default "none";
    }
}

section! {
    /// One radio of an access point.
    RadioSection(Radio = Radio::new(RadioName::first(Band::Ghz5))) changes RadioSetting {
        /// Wi-Fi standard.
        standard: Standard => standard, default "802.11n on 2.4 GHz, 802.11ac on 5 GHz, 802.11ax on 6 GHz";
        /// Number of the primary 20 MHz channel (802.11-2020 annex E).
        channel: Whole<1, 233> => channel, default "6 on 2.4 GHz, 36 on 5 GHz, 37 on 6 GHz";
        /// Channel width.
        width: Width => width, default "20 MHz on 2.4 GHz, 80 MHz on 5 GHz, 160 MHz on 6 GHz, or the standard's maximum";
        /// Spatial streams.
        streams: Whole<1, 8> => streams, default "2; 1 for 802.11a, b and g";
        /// Guard interval: 400 or 800 ns for 802.11n and ac, 800, 1600 or 3200 ns for ax and be.
        guard: Guard => guard, default "400 ns for 802.11n and ac, 800 ns for ax and be; older standards have one of 800 ns";
        /// Transmit power.
        power: Power => power, changes |value| (RadioSetting::Power(value));
        /// Maximum duration of an aggregate, up to 5484 us (limit of the L-SIG field). Linux drivers use 4 ms.
        aggregate_time: SomeTime => aggregation.time;
        /// Maximum number of MPDUs in an aggregate; 1 disables aggregation.
        aggregate_frames: Whole<1, 1024> => aggregation.frames, default "the BlockAck window: 64 for 802.11n and ac, 256 for ax, 1024 for be";
        /// Maximum A-MSDU size, up to 7935 B for 802.11n and 11398 B for later standards; `off`: one packet per MPDU.
        amsdu: SizeOrOff => aggregation.amsdu;
        /// RTS threshold: frames of this size and more are preceded by RTS/CTS; `off`: none.
        rts: SizeOrOff => rts;
        /// Share of airtime that other networks use, which are not modelled. Values above 95 % count as 95 %.
        channel_busy: Share => channel_busy, changes |value| (RadioSetting::ChannelBusy(value));
    }
}

section! {
    /// A station and its workloads.
    StationSection(Station = Station::new("")) changes StationSetting {
        /// Network, or one radio such as `c7.5g`. Simulate and lab need `joins`, `wired` or `link`.
        joins: JoinsText, on MODELLED else RealAir;
        /// Cable to a router, instead of Wi-Fi: `true`, its rate, the access point to whose port it leads, or a section with the keys of `link`. It leads to the `[router]`. Without one, it leads to the only access point that has a line or a wire. `wired = true` is the same as `link = { to = "router" }`.
        wired: WiredChoice, default "`false`: the station uses Wi-Fi", on MODELLED else RealAir;
        /// Wired link of the station, instead of Wi-Fi: Ethernet, or a modem. Without `to` it leads to the server's link, so that it bypasses the lines of all routers. Wi-Fi keys (`signal`, `adapter_rate`, `weight`, `hardware_queue` and others) cannot be combined with it.
        link: StationLinkSection => link, default "none: the station uses Wi-Fi", on MODELLED else RealAir;
        /// Selection among the radios of a network: `highest-band`, `strongest`, or a band (`2g`, `5g`, `6g`).
        radio_selection(wifi): RadioSelection => air.radio_selection;
        /// Wi-Fi standard.
        standard(wifi): Standard => air.standard, default "the radio's";
        /// Spatial streams. Few clients have more than two.
        streams(wifi): Whole<1, 8> => air.streams;
        /// Received power of the access point's signal at the station, −110 to 0 dBm. Simulate and lab need `signal`, `distance`, `mcs`, `position`, `path` or `signals`.
        signal(wifi): Signal, changes |value| (StationSetting::Quality(LinkQuality::Signal(value)));
        /// Distance from the access point, from which the signal is computed.
        distance(wifi): Range, changes |value| (StationSetting::Quality(LinkQuality::Distance(value)));
        /// Position in the building, from which the signal of every radio is computed. A change moves the station there at once, and ends its walk on a `path`.
        position(wifi): Place, changes |value| (StationSetting::Position(value));
        /// Positions that the station visits in this order, in straight lines. It leaves the first position when the load starts, and stays at the last one.
        path(wifi): List<Place> => air.path;
        /// Speed on the path.
        speed(wifi): Velocity => air.speed, default "1 m/s";
        /// Signals of all radios that the station can join, instead of `position` or `path`: for each radio a received power, or a list of times and powers. Times count from the start of the load. Between two times the signal in dB changes linearly. Before the first time and after the last one it is constant. The signals are updated each 100 ms. Shadowing and fading of the building do not apply.
        signals(wifi): Signals => air.signals;
        /// Roaming between the radios of the network: the name of a client policy (`never`, `linux`, `iwd`, `apple-phone`, `apple-laptop`, `qualcomm`, `broadcom`, `ap-directed`), or a section.
        roaming(wifi): RoamingChoice => air.roaming, default "none: the station stays with the radio that it joined";
        /// Power save: the name of a mode (`off`, `legacy`, `u-apsd`, `twt`), or a section.
        power_save(wifi): PowerSaveChoice => air.power_save, default "`off`";
        /// Absences from the channel at fixed times: for AirDrop, Bluetooth, or scans of a driver that does not return between the channels.
        absence(wifi): AbsenceSection => air.absence, default "none";
        /// Fixed MCS, independent of the signal, counted per stream: MCS 15 of 802.11n is `mcs = 7` with `streams = 2`.
        mcs(wifi): Whole<0, 13>, changes |value| (StationSetting::Quality(LinkQuality::Mcs(value)));
        /// Received power of the station's signal at the access point.
        signal_up(wifi): Signal => air.signal_up, default "as `signal`", changes |value| (StationSetting::SignalUp(value));
        /// Hidden nodes: stations that this station cannot hear and that cannot hear it.
        hidden_from(wifi): List<Name> => air.hidden_from;
        /// Rate control. `minstrel`: by sampling, as in Linux. `ideal`: best rate for the signal. `fixed`: one rate. With `mcs` it is `fixed`.
        rate_control(wifi): RateControl => air.rate_control, changes |value| (StationSetting::RateControl(value));
        /// Maximum rate of the station's adapter: one rate, or `{ up = …, down = … }`.
        adapter_rate(wifi): Rates => air.adapter_rate, default "unlimited", changes |value| (StationSetting::AdapterRate(value));
        /// Workloads: `browsing`, `4kstream`, `voip`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness`, or a `[workload.NAME]` of the file; one, a list, or `none`.
        workload: OneOrMany<Name>, default "none";
        /// Start of the station's load.
        start: Span => start;
        /// End of the station's load.
        stop: SomeTime => stop, default "`duration`";
        /// TCP congestion control of the station: `reno`, `cubic`, `bbr`, or another one of the operating system. Traffic to the station follows `server.cc`. A workload's `cc` overrides both.
        cc: CongestionControl => cc, default "`cubic`; on local and fleet the system's";
        /// Request of ECN (RFC 3168; `tcp_ecn` 1). Linux accepts ECN but does not request it.
        ecn: Flag => ecn, on MODELLED else SystemSettings;
        /// TCP Small Queues, the limit on one connection's data below TCP: as in Linux of that year over Wi-Fi, your own settings, or `off`. With `link`, the presets keep the 1 ms (shift 10) that only Wi-Fi drivers change.
        tsq: Tsq => tsq, default "`2025`, as current Wi-Fi drivers set it; on local and fleet the system's", on MODELLED else SystemSettings;
        /// Generic segmentation offload (GSO) of the network device. Linux before 4.17 sent single packets to devices without scatter-gather, such as ath9k.
        gso: Flag => gso, on MODELLED else RealHosts;
        /// Generic receive offload (GRO) of the host. With GRO, TCP acknowledges an aggregate once; without it, every second segment. ath9k passes frames up one by one.
        gro: Flag => gro, on SIMULATE else RealHosts;
        /// TX completion delay: time from the end of a transmission until the host's TCP is notified, for interrupt coalescing or USB latency. Completions in between are reported together.
        tx_completion_delay: Span => tx_completion_delay, on SIMULATE else RealHosts;
        /// RX interrupt coalescing: the host is notified this long after the last received frame, but at most four times this long after the first. ath9k with AR9300 and later uses 500 µs and 2 ms.
        rx_interrupt_delay: Span => rx_interrupt_delay, on SIMULATE else RealHosts;
        /// Queue discipline for transmission. With `link`: {wire queues}.
        queue: QueueKind => air.queue, changes |value| (StationSetting::Queue(value)), on MODELLED else RealAir;
        /// Depth of the driver and hardware queue: aggregates, frames, a time, or `unlimited`.
        hardware_queue(wifi): HardwareQueue => air.hardware_queue;
        /// When the frames of an aggregate are chosen: `txop` or `driver`, as of an access point.
        aggregate_composition(wifi): Composition => air.composition;
        /// Capacity of the driver's own lists, in packets, as of an access point.
        driver_queue(wifi): Whole<1, 65535> => air.driver_queue;
        /// Airtime weight of the station; 256 in Linux.
        weight(wifi): Whole<1, 65_535> => air.weight, changes |value| (StationSetting::Weight(value));
        /// Mapping from the DSCP of the station's packets to their access category, as of an access point.
        dscp_mapping(wifi): DscpMapping => air.dscp_mapping;
        /// Name of the fleet agent that plays this station.
        agent: Text => agent, default "any", on FLEET else FleetOnly;
        /// Label of the fleet agents that can play this station.
        label: Text => label, default "any", on FLEET else FleetOnly;
    }
}

section! {
    /// Your own workload. It starts from the built-in workload of its kind (`pages` from `browsing`, `stream` from `4kstream`, `calls` from `voip`), and its keys override that.
    WorkloadSection(StationWorkload = StationWorkload::new("", Config::browsing())) {
        /// Traffic pattern: `pages`, `stream`, `calls`, `download`, `upload`, `probe`, `voice`, `datagrams`, `game`, `cloud-gaming`, `video-call`, `responsiveness` or `dash`. `pages`: several objects in parallel, at regular intervals with jitter. `stream`: objects one after another; a late object delays the next. `calls`: objects at fixed intervals. `download`, `upload`: large objects one after another. `probe`: datagrams that the server returns. `voice`: a stream of datagrams in each direction. `datagrams`: the streams `up` and `down`. `game`: inputs up, updates down. `cloud-gaming`: inputs up, frames of a video down. `video-call`: frames of a video in both directions, whose rate adapts to the path. `responsiveness`: small requests beside and on connections with load, for the score RPM. `dash`: adaptive streaming: segments of a video, whose bit rate follows the buffer of the player.
        kind(required): &'static netburn_workload::Kind;
        /// Objects per operation, fetched in parallel (`pages`).
        objects: Whole<1, 1000>, default "that of the kind";
        /// Size of one object. For `probe` (64 to 1400 B) and `voice` (32 to 1400 B), the UDP payload of a datagram.
        object_size: ObjectSize, default "that of the kind";
        /// Requested rate, from which `interval` is computed. For `stream`, `calls` and `pages`.
        rate: Rate, default "that of the kind, for `stream` and `calls`";
        /// Time between operations. For `voice`, time between the packets of one direction, 5 ms to 200 ms. For `responsiveness`, time between two probes of one kind, 10 ms to 1 s. Not for `download`, `upload`, `dash`, and kinds with `up` and `down`.
        interval: SomeTime, default "from `rate`, else that of the kind";
        /// Stream from the station to the server. If a workload of kind `datagrams` has one of `up` and `down`, only this direction is sent.
        up: StreamSection, default "1 Mbit/s in packets of 1200 B for `datagrams`; 100 B every 15.625 ms for `game`; 64 B every 8 ms for `cloud-gaming`; 30 frames per second of up to 2.5 Mbit/s for `video-call`";
        /// Stream from the server to the station; keys as `up`.
        down: StreamSection, default "1 Mbit/s in packets of 1200 B for `datagrams`; 250 B every 15.625 ms for `game`; 60 frames of 43 packets of 1200 B per second for `cloud-gaming`; as `up` for `video-call`";
        /// Range of the rate of both senders (`video-call`). The rate of a stream is its target rate, which is the maximum.
        adaptation: AdaptationSection;
        /// Maximum deviation of a due time from its place in the schedule, in either direction; at most half of `interval`. For `pages`, `calls` and `probe`.
        jitter: Span, default "that of the kind";
        /// Connection reuse: `new` opens a connection for each object, `keep` keeps them open. Not for workloads of datagrams.
        connections: Connections, default "that of the kind";
        /// Maximum number of operations in flight. Further operations that are due count as misses. For `calls` and `probe`.
        outstanding: Whole<1, 10_000>, default "that of the kind";
        /// Number of TCP connections at once (`download`, `upload`). Each has its own sequence of objects.
        streams: Whole<1, 1000>, default "1";
        /// Number of connections that transfer load from the server (`responsiveness`), 0 to 16. Self probes use these connections. If `load_down` and `load_up` are 0, there are only foreign probes, beside the load of other workloads. Load needs HTTP/2 (`server.http = "2"`).
        load_down: Whole<0, 16>, default "4";
        /// The same for load to the server.
        load_up: Whole<0, 16>, default "4";
        /// Start of the workload, counted from the start of the load. The station's `start` and `stop` limit it as well.
        start: Span => config.activity.start;
        /// End of the workload. No new operation starts; the objects of `download` and `upload` are cancelled. Verdicts cover only the time from `start` to `stop`.
        stop: SomeTime => config.activity.stop, default "the end of the station's load";
        /// Period in which the time from `start` to `stop` is repeated, at least 1 s. Each repetition starts in the same way. Not for `stream` and `dash`, nor for workloads of datagrams other than `probe`.
        repeat: SomeTime => config.activity.repeat, default "none: the workload runs once";
        /// Priority of the packets in both directions: DSCP (8, 0, 40, 48), access category, and band of `pfifo-fast`. The page of the workloads shows where packets are marked.
        priority: Priority => config.priority;
        /// DSCP of the packets in both directions, instead of `priority`: 0 to 63, or a name (`CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE`, `DF`). The access category follows from it: see `dscp_mapping`. The band of `pfifo-fast` follows from the access category.
        dscp: Dscp => config.dscp, default "that of `priority`";
        /// Host that returns the datagrams (`probe`). `near`: the access point that the station has joined; on real devices the default gateway. `line`: the first hop beyond the router, which is the provider's end of the access point's WAN link. `server`: the server. On real devices `near` and `line` use ICMP.
        target: ProbeTarget, default "`server`";
        /// Station of the scenario that is the server of the workload, such as a NAS. Traffic within the house does not pass the line. Only simulate has such servers.
        server: Name => server, default "the server";
        /// TCP congestion control of the workload in both directions: `reno`, `cubic`, `bbr`, or another one of the operating system. Not for workloads of datagrams.
        cc: CongestionControl => cc, default "`station.*.cc` and `server.cc`";
        /// Video player that consumes the data (`stream`).
        player: PlayerSection;
        /// Bit rates and buffer of adaptive streaming (`dash`).
        dash: DashSection;
        /// Goal or list of goals: a time (`"500 ms"`) for `pages`, `calls`, `probe`, `datagrams` (the one-way delay of the packets of each direction), `game` and `cloud-gaming` (the round trip of the packets up), and `video-call` (the frame delay); a rate (`"20 Mbit/s"`, in every 2 s) for `stream`, `download` and `upload`, and as bit rate of each segment for `dash`; `"no stall"` for `stream` and `dash`; a rating (`"R 80"`, in every 10 s of each direction) for `voice`; a loss (`"1 % lost"`, in every 10 s of each direction) for `datagrams`, `game`, `cloud-gaming` and `video-call` (of frames); `"no gap"` (of 100 ms or more) for `game`; `"no freeze"` for `video-call`; `"frames on time"` for `cloud-gaming`; round trips per minute (`"1000 rpm"`, in every 5 s) for `responsiveness`; `"none"`.
        goal: Goals => config.goals, default "that of the kind";
        /// Time without progress after which an operation is aborted. For packets that are not answered (`voice`, `datagrams`, `game`, `cloud-gaming`), and for frames of a `video-call`, the time after which they are lost, at most 2 s.
        timeout: SomeTime => config.timeout, default "that of the kind";
    }
}

section! {
    /// Range of the rate of a sender that adapts its rate by GCC.
    AdaptationSection(Adaptation = Adaptation::default()) {
        /// Minimum rate of the UDP payload. A frame at this rate has at least 64 B.
        min_rate: Rate => min_rate;
        /// Rate until the first feedback, at least `min_rate`. A rate above the target rate is the target rate.
        start_rate: Rate => start_rate;
    }
}

section! {
    /// Player of adaptive streaming. The rule that selects the bit rate of a segment is BBA-0 (Huang et al., SIGCOMM 2014): it depends only on the level of the buffer.
    DashSection(Dash = Dash::default()) {
        /// Bit rates of the video, ascending: 1 to 32 rates of 1 kbit/s to 1 Gbit/s.
        ladder: List<Rate> => ladder, default "the 12 bit rates of Apple's HLS Authoring Specification for HEVC, 145 kbit/s (360p) to 16.8 Mbit/s (4K)";
        /// Length of a segment in playback time, 500 ms to 30 s. All segments of a bit rate have the same size.
        segment: SomeTime => segment;
        /// Media in the buffer before playback starts, and before it continues after a stall.
        start: SomeTime => start;
        /// Maximum buffer, at least `start` and one segment, at most 10 min. A segment is requested when the buffer has room for it.
        max_buffer: SomeTime => max_buffer;
        /// Level of the buffer up to which the lowest bit rate is selected.
        reservoir: Span => reservoir;
        /// The highest bit rate is selected from `reservoir` plus `cushion` on.
        cushion: SomeTime => cushion;
    }
}

section! {
    /// Playback buffer of a video player.
    PlayerSection(PlayerConfig = PlayerConfig::default()) {
        /// Media in the buffer before playback starts, and before it continues after a stall.
        start: Span => start;
        /// Playback rate.
        rate: Rate => rate;
        /// Maximum buffer; data beyond it is discarded.
        max_buffer: SomeTime => max_buffer;
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
            (parts.len() <= 2 && parts.iter().all(|part| is_name(part))).then(|| JoinsText(text.to_owned()))
        })
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9-]{1,63}(\\.(2g|5g|6g)(-[234])?)?$", "x-value": "a network or a radio" })
    }
}

section_values! {
    ServerSection => Server,
    RouterSection => Router,
    LinkSection => Hop,
    WanSection => Wan,
    BuildingSection => Building,
    PlayerSection => PlayerConfig,
    AdaptationSection => Adaptation,
    DashSection => Dash,
}
