//! Invariants of frames.

use netburn_lab::Switch;
use netburn_lab::fuzz::{check_frame, datagram, stream};
use netburn_lab::packet::header::{Gso, NEEDS_CHECKSUM};
use netburn_lab::packet::{Burst, GroCoalescer, IpPacketInfo, RejectReason, VnetHeader};
use netburn_medium::packet::Ecn;
use netburn_network::Endpoint::{Server, Station};
use netburn_network::{Ack, Headers, checksum};
use netburn_units::{Duration, Instant};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn segmenting_and_coalescing_preserve_the_stream(sequence in any::<u32>(), payload in 1_usize..62_000, size in 500_u16..2200, v6 in any::<bool>()) {
        check_frame(&stream(Server, Station(0), sequence, payload, size, v6));
    }

    #[test]
    fn separate_segments_of_a_stream_are_coalesced(count in 2_usize..40, last in 1_usize..1449, v6 in any::<bool>()) {
        let mut joiner = GroCoalescer::default();
        let mut sequence = u32::MAX - 5_000;
        for index in 0..count {
            let length = if index + 1 == count { last } else { 1448 };
            let mut frame = stream(Station(0), Server, sequence, length, 1448, v6);
            if index + 1 < count {
                // Only the last segment has the PSH flag.
                frame[10 + if v6 { 40 } else { 20 } + 13] &= !8;
            }
            sequence = sequence.wrapping_add(length as u32);
            let segment = Arc::new(Burst::read(&frame).unwrap()).segments().next().unwrap();
            prop_assert!(joiner.accepts(&segment, Ecn::NotEct), "number {}", index);
            joiner.push(segment, Ecn::NotEct);
        }
        let (header, packet) = VnetHeader::read(joiner.frame().unwrap()).unwrap();
        let headers = if v6 { 60 } else { 40 };
        prop_assert_eq!(packet.len(), headers + (count - 1) * 1448 + last);
        prop_assert_eq!(header.gso_size, 1448);
        prop_assert!(IpPacketInfo::parse(packet).is_ok());
        // The end of the stream has the PSH flag.
        prop_assert_eq!(packet[headers - 20 + 13], 0x18);
    }
}

#[test]
fn segments_with_a_gap_are_not_coalesced() {
    let segment = |sequence| {
        let mut frame = stream(Station(0), Server, sequence, 1448, 1448, false);
        frame[10 + 20 + 13] &= !8;
        Arc::new(Burst::read(&frame).unwrap()).segments().next().unwrap()
    };
    let mut joiner = GroCoalescer::default();
    joiner.push(segment(1), Ecn::Ect0);
    assert!(joiner.accepts(&segment(1449), Ecn::Ect0));
    assert!(!joiner.accepts(&segment(1450), Ecn::Ect0));
    assert!(!joiner.accepts(&segment(1), Ecn::Ect0));
    assert!(!joiner.accepts(&segment(1449), Ecn::Ce), "a mark is kept apart");
}

#[test]
fn an_ecn_mark_is_written_with_a_valid_checksum() {
    // The ECN field is ECT(0): the TOS byte is 2.
    let frame = stream(Server, Station(0), 1, 1000, 1448, false);
    let segment = Arc::new(Burst::read(&frame).unwrap()).segments().next().unwrap();
    assert_eq!(segment.info().ecn, Ecn::Ect0);
    let mut joiner = GroCoalescer::default();
    joiner.push(segment, Ecn::Ce);
    let (_, packet) = VnetHeader::read(joiner.frame().unwrap()).unwrap();
    assert_eq!(packet[1], 3);
    assert_eq!(checksum::sum(&packet[..20]), 0xffff);
    let frame = stream(Server, Station(0), 1, 1000, 1448, true);
    let segment = Arc::new(Burst::read(&frame).unwrap()).segments().next().unwrap();
    let mut joiner = GroCoalescer::default();
    joiner.push(segment, Ecn::Ce);
    let (_, packet) = VnetHeader::read(joiner.frame().unwrap()).unwrap();
    assert_eq!(IpPacketInfo::parse(packet).unwrap().ecn, Ecn::Ce);
}

#[test]
fn a_packet_longer_than_an_msdu_is_rejected() {
    // The maximum is 2304 bytes of IP.
    assert!(Burst::read(&datagram(Station(0), Server, 2304 - 28)).is_ok());
    assert_eq!(
        Burst::read(&datagram(Station(0), Server, 2305 - 28)),
        Err(RejectReason::TooLong)
    );
}

/// Checks the corpus against the documentation: which kinds of frames are forwarded.
#[test]
fn each_kind_of_frame_is_forwarded_or_rejected_as_documented() {
    let fates: [(&str, Option<RejectReason>); 13] = [
        ("datagram", None),
        ("burst", None),
        ("fragment", None),
        ("fragment-v6", None),
        ("multicast", Some(RejectReason::Multicast)),
        ("broadcast", Some(RejectReason::Broadcast)),
        ("nobodys", Some(RejectReason::UnknownAddress)),
        ("from-another", Some(RejectReason::Spoofed)),
        ("jumbo", Some(RejectReason::TooLong)),
        ("says-it-is-longer", Some(RejectReason::Malformed)),
        ("cut", Some(RejectReason::Malformed)),
        ("segments-of-nothing", Some(RejectReason::Malformed)),
        ("arp", Some(RejectReason::NotIp)),
    ];
    let text = "baseline = \"0s\"\n[ap.a.radio.5g]\n[station.one]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n\
                [station.two]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n";
    let plan = netburn_scenario::Document::from_toml("two.toml", text)
        .unwrap()
        .resolve()
        .unwrap();
    for (name, fate) in fates {
        let path = format!("{}/corpus/frame/{name}", env!("CARGO_MANIFEST_DIR"));
        let frame = std::fs::read(path).unwrap();
        let mut switch = netburn_lab::Switch::new(&plan).unwrap();
        let from = if name == "burst" { Server } else { Station(0) };
        switch.handle_frame(netburn_units::Instant::ZERO, from, &frame);
        let counters = switch.counters();
        let rejected: Vec<(RejectReason, u64)> = counters.rejected.iter().map(|(why, count)| (*why, *count)).collect();
        assert_eq!(
            rejected,
            fate.map(|why| (why, 1)).into_iter().collect::<Vec<_>>(),
            "{name}"
        );
        assert_eq!(counters.packets > 0, fate.is_none(), "{name}");
    }
}

/// Returns a frame with one datagram with this payload and a partial checksum.
fn partial(content: usize) -> Vec<u8> {
    let mut frame = datagram(Server, Station(0), content);
    frame[0] = NEEDS_CHECKSUM;
    frame[6..8].copy_from_slice(&20_u16.to_ne_bytes());
    frame[8..10].copy_from_slice(&6_u16.to_ne_bytes());
    frame
}

/// With coalescing of datagrams enabled, separately sent datagrams of the same length are coalesced; the last may be
/// shorter.
#[test]
fn separate_datagrams_are_coalesced() {
    let one = |content: usize| {
        let burst = Burst::read(&partial(content)).unwrap();
        Arc::new(burst).segments().next().unwrap()
    };
    let mut joiner = GroCoalescer::default();
    joiner.push(one(100), Ecn::NotEct);
    assert!(
        !joiner.accepts(&one(100), Ecn::NotEct),
        "coalescing of datagrams is off"
    );
    joiner.coalesce_datagrams();
    assert!(!joiner.accepts(&one(101), Ecn::NotEct), "a longer one");
    for content in [100, 40] {
        assert!(joiner.accepts(&one(content), Ecn::NotEct));
        joiner.push(one(content), Ecn::NotEct);
    }
    assert!(!joiner.accepts(&one(40), Ecn::NotEct), "one after a shorter one");
    let frame = joiner.frame().unwrap();
    let (header, packet) = VnetHeader::read(frame).unwrap();
    assert_eq!((header.gso, header.gso_size, header.header_length), (Gso::Udp, 100, 28));
    // IP and UDP headers, 20 and 8 bytes, before 100 + 100 + 40.
    assert_eq!(packet.len(), 268);
    assert_eq!(packet[2..4], 268_u16.to_be_bytes());
    assert_eq!(packet[24..26], 248_u16.to_be_bytes());
    let lengths: Vec<_> = Arc::new(Burst::read(frame).unwrap())
        .segments()
        .map(|one| one.length())
        .collect();
    assert_eq!(lengths, [128, 128, 68]);
}

/// The acknowledgement number is at offset 8 of the TCP header, the flags at 13 (RFC 9293 section 3.1). The options are
/// padding (kind 1) and timestamps (kind 8, 10 bytes); SACK blocks have kind 5, ECE is 0x40.
#[test]
fn headers_of_acknowledgements() {
    let headers = |flags: u8, options: &[u8], data: usize| {
        let total = 40 + options.len() + data;
        let mut frame = VnetHeader::default().bytes().to_vec();
        frame.extend([
            0x45,
            46 << 2,
            0,
            total as u8,
            0,
            0,
            0x40,
            0,
            64,
            6,
            0,
            0,
            10,
            0,
            0,
            1,
            10,
            0,
            0,
            2,
        ]);
        frame.extend([0, 80, 1, 187, 0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78]);
        frame.extend([(((20 + options.len()) / 4) << 4) as u8, flags, 0, 0, 0, 0, 0, 0]);
        frame.extend(options);
        frame.resize(frame.len() + data, 0x5a);
        Arc::new(Burst::read(&frame).unwrap())
            .segments()
            .next()
            .unwrap()
            .headers()
    };
    let marked = Headers::new(46);
    let ack = |pure_ack| {
        marked.with_ack(Ack {
            next: 0x1234_5678,
            pure_ack,
        })
    };
    let timestamps = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let sack = [1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    assert_eq!(headers(0x10, &timestamps, 0), ack(true));
    assert_eq!(headers(0x10, &[], 0), ack(true));
    assert_eq!(headers(0x10, &sack, 0), ack(false));
    assert_eq!(headers(0x50, &timestamps, 0), ack(false));
    assert_eq!(headers(0x11, &timestamps, 0), ack(false));
    assert_eq!(headers(0x10, &timestamps, 1), ack(false));
    assert_eq!(headers(0x12, &timestamps, 0), marked);
}

/// Two connections have ten segments each, and a fair queue alternates between them. The receiver gets one write of each
/// connection for an A-MPDU, as from its own GRO.
#[test]
fn segments_of_alternating_connections_in_one_aggregate_are_coalesced() {
    let text = "baseline = \"0s\"\n[ap.a]\nqueue = \"fq-codel\"\n[ap.a.radio.5g]\nstandard = \"802.11n\"\n[station.one]\n\
                joins = \"a.5g\"\nstandard = \"802.11n\"\nmcs = 7\nstreams = 1\nworkload = \"download\"\n";
    let plan = netburn_scenario::Document::from_toml("one.toml", text)
        .unwrap()
        .resolve()
        .unwrap();
    let mut switch = Switch::new(&plan).unwrap();
    for number in 0..10 {
        for v6 in [false, true] {
            let mut segment = stream(Server, Station(0), 1 + number * 1_400, 1_400, 1_400, v6);
            // Segments with the PSH flag are not coalesced with later ones.
            segment[10 + if v6 { 40 } else { 20 } + 13] &= !8;
            switch.handle_frame(Instant::ZERO, Server, &segment);
        }
    }
    switch.handle_timeout(Instant::ZERO + Duration::from_secs(1));
    let mut writes = BTreeMap::new();
    while let Some(delivery) = switch.poll_delivery() {
        let (header, packet) = VnetHeader::read(delivery.frame).unwrap();
        let segments = (packet.len() - usize::from(header.header_length)) / 1_400;
        writes.entry(delivery.at).or_insert(Vec::new()).push(segments);
    }
    assert_eq!(writes.values().flatten().sum::<usize>(), 20);
    assert!(
        writes.values().any(|segments| segments.iter().sum::<usize>() >= 10),
        "no aggregate: {writes:?}"
    );
    assert!(writes.values().all(|segments| segments.len() <= 2), "{writes:?}");
}
