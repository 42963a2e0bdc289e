//! Wi-Fi link samples: a short form for modelled links, a full one for real links.

use super::{Bytes, place, signed, unsigned};
use crate::row::{Bssid, LinkRow, Modulation, Phy};

pub(super) fn encode(row: &LinkRow, to: &mut Vec<u8>) {
    let present = [
        row.signal.is_some(),
        row.rx_rate_bps.is_some(),
        row.tx_rate_bps.is_some(),
    ];
    to.push(present.iter().rev().fold(0, |bits, is| bits << 1 | u8::from(*is)));
    unsigned(row.station.into(), to);
    signed(row.at.as_nanos(), to);
    if let Some(signal) = row.signal {
        signed(signal.into(), to);
    }
    for rate in [row.rx_rate_bps, row.tx_rate_bps].into_iter().flatten() {
        unsigned(rate, to);
    }
}

pub(super) fn decode(from: &mut Bytes<'_>) -> Option<LinkRow> {
    let present = from.byte()?;
    if present >= 1 << 3 {
        return None;
    }
    Some(LinkRow {
        station: from.small()?,
        at: from.instant()?,
        signal: from.when(present & 1 != 0, |from| i32::try_from(from.signed()?).ok())?,
        rx_rate_bps: from.when(present & 2 != 0, Bytes::unsigned)?,
        tx_rate_bps: from.when(present & 4 != 0, Bytes::unsigned)?,
        ..LinkRow::default()
    })
}

/// Number of values a real link may have; each has its bit.
const VALUES: usize = 28;

pub(super) fn encode_real(row: &LinkRow, to: &mut Vec<u8>) {
    let values = values(row);
    let present = values
        .iter()
        .rev()
        .fold(0, |bits, value| bits << 1 | u64::from(value.is_some()));
    unsigned(present, to);
    unsigned(row.station.into(), to);
    signed(row.at.as_nanos(), to);
    for value in values.into_iter().flatten() {
        unsigned(value, to);
    }
    if let Some(ssid) = &row.ssid {
        to.extend_from_slice(ssid.as_bytes());
    }
}

/// Values of a row in the order of their bits: append, never reorder. The value of the name is its
/// length.
fn values(row: &LinkRow) -> [Option<u64>; VALUES] {
    let level = |value: Option<i32>| value.map(|value| zigzag(value.into()));
    let modulation = |modulation: Modulation| {
        [
            modulation.phy.map(|phy| place(&Phy::ALL, phy).into()),
            modulation.mcs.map(u64::from),
            modulation.nss.map(u64::from),
            modulation.width_mhz.map(u64::from),
            modulation.guard_ns.map(u64::from),
        ]
    };
    let (rx, tx) = (modulation(row.rx), modulation(row.tx));
    [
        level(row.signal),
        row.rx_rate_bps,
        row.tx_rate_bps,
        row.bssid
            .map(|Bssid([a, b, c, d, e, f])| u64::from_be_bytes([0, 0, a, b, c, d, e, f])),
        row.frequency_mhz.map(u64::from),
        row.width_mhz.map(u64::from),
        level(row.signal_average),
        level(row.noise),
        rx[0],
        rx[1],
        rx[2],
        rx[3],
        rx[4],
        tx[0],
        tx[1],
        tx[2],
        tx[3],
        tx[4],
        row.rx_bytes,
        row.tx_bytes,
        row.tx_packets,
        row.tx_retries,
        row.tx_failed,
        row.inactive_ms,
        row.busy_ppm.map(u64::from),
        row.receiving_ppm.map(u64::from),
        row.sending_ppm.map(u64::from),
        row.ssid.as_ref().map(|ssid| ssid.len() as u64),
    ]
}

pub(super) fn decode_real(from: &mut Bytes<'_>) -> Option<LinkRow> {
    let present = from.unsigned()?;
    if present >> VALUES != 0 {
        return None;
    }
    let (station, at) = (from.small()?, from.instant()?);
    let mut values = [None; VALUES];
    for (bit, value) in values.iter_mut().enumerate() {
        *value = from.when(present >> bit & 1 != 0, Bytes::unsigned)?;
    }
    let ssid = match values[VALUES - 1] {
        Some(length) => {
            let (name, rest) = from.0.split_at_checked(usize::try_from(length).ok()?)?;
            from.0 = rest;
            Some(std::str::from_utf8(name).ok()?.to_owned())
        }
        None => None,
    };
    let modulation = |at: usize| {
        Some(Modulation {
            phy: match values[at] {
                Some(code) => Some(*Phy::ALL.get(usize::try_from(code).ok()?)?),
                None => None,
            },
            mcs: small(values[at + 1])?,
            nss: small(values[at + 2])?,
            width_mhz: small(values[at + 3])?,
            guard_ns: small(values[at + 4])?,
        })
    };
    let row = LinkRow {
        station,
        at,
        signal: level(values[0])?,
        rx_rate_bps: values[1],
        tx_rate_bps: values[2],
        ssid,
        bssid: match values[3] {
            Some(number) => match number.to_be_bytes() {
                [0, 0, address @ ..] => Some(Bssid(address)),
                _ => return None,
            },
            None => None,
        },
        frequency_mhz: small(values[4])?,
        width_mhz: small(values[5])?,
        signal_average: level(values[6])?,
        noise: level(values[7])?,
        rx: modulation(8)?,
        tx: modulation(13)?,
        rx_bytes: values[18],
        tx_bytes: values[19],
        tx_packets: values[20],
        tx_retries: values[21],
        tx_failed: values[22],
        inactive_ms: values[23],
        busy_ppm: small(values[24])?,
        receiving_ppm: small(values[25])?,
        sending_ppm: small(values[26])?,
    };
    // Each row has exactly one encoding.
    row.is_real().then_some(row)
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// A signed value that fits; `Some(None)` where none is.
fn level(value: Option<u64>) -> Option<Option<i32>> {
    match value {
        Some(value) => i32::try_from((value >> 1) as i64 ^ -((value & 1) as i64))
            .ok()
            .map(Some),
        None => Some(None),
    }
}

fn small<T: TryFrom<u64>>(value: Option<u64>) -> Option<Option<T>> {
    match value {
        Some(value) => T::try_from(value).ok().map(Some),
        None => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_units::Instant;

    #[test]
    fn a_real_link_is_read_back() {
        let modulation = Modulation {
            phy: Some(Phy::He),
            mcs: Some(11),
            nss: Some(2),
            width_mhz: Some(80),
            guard_ns: Some(800),
        };
        let row = LinkRow {
            station: 3,
            at: Instant::from_nanos(-5),
            signal: Some(-6150),
            ssid: Some("Büro".to_owned()),
            bssid: Some(Bssid([0xff; 6])),
            frequency_mhz: Some(5180),
            noise: Some(i32::MIN),
            tx: modulation,
            tx_bytes: Some(u64::MAX),
            sending_ppm: Some(u32::MAX),
            ..LinkRow::default()
        };
        let mut bytes = Vec::new();
        encode_real(&row, &mut bytes);
        assert_eq!(decode_real(&mut Bytes(&bytes)), Some(row));
        for torn in 0..bytes.len() {
            assert_eq!(decode_real(&mut Bytes(&bytes[..torn])), None, "{torn}");
        }
    }
}
