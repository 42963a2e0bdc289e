//! Order in which packets that arrive at one time are written to a kernel.
//!
//! The MPDUs of one A-MPDU arrive at its end, and a fair queue alternates between connections. A network card's driver
//! delivers them in one NAPI poll, and the kernel's GRO coalesces each connection's segments, whatever is between
//! them (`dev_gro_receive`). Without this, each segment needs a write of its own, and the last one is late.

/// Groups items by flow. The flows have the order of their first items, and the items of a flow keep theirs.
pub fn group_by_flow<T>(items: &mut [T], flow: impl Fn(&T) -> u32) {
    let mut flows = Vec::new();
    for item in &*items {
        if !flows.contains(&flow(item)) {
            flows.push(flow(item));
        }
    }
    if flows.len() > 1 {
        items.sort_by_key(|item| flows.iter().position(|known| *known == flow(item)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flows_follow_each_other_in_the_order_of_their_first_packets() {
        let mut packets = [(7, 'a'), (2, 'b'), (7, 'c'), (9, 'd'), (2, 'e')];
        group_by_flow(&mut packets, |packet| packet.0);
        assert_eq!(packets.map(|packet| packet.1), ['a', 'c', 'b', 'e', 'd']);
    }

    proptest! {
        #[test]
        fn a_flow_keeps_its_order_and_is_contiguous(flows in proptest::collection::vec(0_u32..8, 0..64)) {
            let mut packets: Vec<(u32, usize)> = flows.iter().copied().zip(0..).collect();
            group_by_flow(&mut packets, |packet| packet.0);
            for flow in 0..8 {
                let expected = flows.iter().zip(0..).filter(|(of, _)| **of == flow).map(|(_, number)| number);
                let grouped = packets.iter().filter(|packet| packet.0 == flow).map(|packet| packet.1);
                prop_assert!(grouped.eq(expected));
            }
            let changes = packets.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
            let mut distinct = flows;
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(changes + 1, distinct.len().max(1));
        }
    }
}
