//! Wi-Fi link samples as columns.

use super::{NO_STATION, TOO_LARGE, Table};
use crate::columns::Column;
use crate::columns::Values::{Name, Signed, Unsigned};
use crate::columns::names::{Lookup, Names};
use crate::columns::read::Cursor;
use crate::columns::write::Batch;
use crate::row::{LinkRow, Modulation, Phy, Row};
use netburn_units::Instant;
use parquet::data_type::ByteArray;

impl Table for LinkRow {
    const NAME: &'static str = "link";
    const COLUMNS: &'static [Column] = &[
        Column::new("station", Name),
        Column::new("at", Signed),
        Column::new("signal_cdbm", Signed).optional(),
        Column::new("rx_rate_bps", Unsigned).optional(),
        Column::new("tx_rate_bps", Unsigned).optional(),
        Column::new("ssid", Name).optional(),
        Column::new("bssid", Name).optional(),
        Column::new("frequency_mhz", Unsigned).optional(),
        Column::new("width_mhz", Unsigned).optional(),
        Column::new("signal_average_cdbm", Signed).optional(),
        Column::new("noise_cdbm", Signed).optional(),
        Column::new("rx_phy", Name).optional(),
        Column::new("rx_mcs", Unsigned).optional(),
        Column::new("rx_nss", Unsigned).optional(),
        Column::new("rx_width_mhz", Unsigned).optional(),
        Column::new("rx_guard_ns", Unsigned).optional(),
        Column::new("tx_phy", Name).optional(),
        Column::new("tx_mcs", Unsigned).optional(),
        Column::new("tx_nss", Unsigned).optional(),
        Column::new("tx_width_mhz", Unsigned).optional(),
        Column::new("tx_guard_ns", Unsigned).optional(),
        Column::new("rx_bytes", Unsigned).optional(),
        Column::new("tx_bytes", Unsigned).optional(),
        Column::new("tx_packets", Unsigned).optional(),
        Column::new("tx_retries", Unsigned).optional(),
        Column::new("tx_failed", Unsigned).optional(),
        Column::new("inactive_ms", Unsigned).optional(),
        Column::new("busy_ppm", Unsigned).optional(),
        Column::new("receiving_ppm", Unsigned).optional(),
        Column::new("sending_ppm", Unsigned).optional(),
    ];
    const EARLIER: &'static [&'static [Column]] = &[&[
        Column::new("station", Name),
        Column::new("at", Signed),
        Column::new("signal_cdbm", Signed).optional(),
        Column::new("rx_rate_bps", Unsigned).optional(),
        Column::new("tx_rate_bps", Unsigned).optional(),
    ]];

    fn write(&self, names: &Names, to: &mut Batch) {
        to.text(names.station(self.station));
        to.number(self.at.as_nanos());
        to.maybe_number(self.signal.map(i64::from));
        to.maybe_unsigned(self.rx_rate_bps);
        to.maybe_unsigned(self.tx_rate_bps);
        to.maybe_text(self.ssid.as_deref().map(ByteArray::from));
        to.maybe_text(self.bssid.map(|bssid| ByteArray::from(bssid.to_string().as_str())));
        to.maybe_unsigned(self.frequency_mhz.map(u64::from));
        to.maybe_unsigned(self.width_mhz.map(u64::from));
        to.maybe_number(self.signal_average.map(i64::from));
        to.maybe_number(self.noise.map(i64::from));
        for modulation in [self.rx, self.tx] {
            to.maybe_text(modulation.phy.map(|phy| ByteArray::from(phy.name())));
            to.maybe_unsigned(modulation.mcs.map(u64::from));
            to.maybe_unsigned(modulation.nss.map(u64::from));
            to.maybe_unsigned(modulation.width_mhz.map(u64::from));
            to.maybe_unsigned(modulation.guard_ns.map(u64::from));
        }
        for count in [
            self.rx_bytes,
            self.tx_bytes,
            self.tx_packets,
            self.tx_retries,
            self.tx_failed,
            self.inactive_ms,
        ] {
            to.maybe_unsigned(count);
        }
        for share in [self.busy_ppm, self.receiving_ppm, self.sending_ppm] {
            to.maybe_unsigned(share.map(u64::from));
        }
    }

    fn from_row(row: Row) -> Option<Self> {
        match row {
            Row::Link(row) => Some(row),
            _ => None,
        }
    }

    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str> {
        Ok(LinkRow {
            station: names.station(from.name()).ok_or(NO_STATION)?,
            at: Instant::from_nanos(from.number()),
            signal: level(from)?,
            rx_rate_bps: from.maybe_unsigned(),
            tx_rate_bps: from.maybe_unsigned(),
            ssid: text(from)?.map(str::to_owned),
            bssid: match text(from)? {
                Some(text) => Some(text.parse().map_err(|_| "invalid BSSID")?),
                None => None,
            },
            frequency_mhz: small(from)?,
            width_mhz: small(from)?,
            signal_average: level(from)?,
            noise: level(from)?,
            rx: modulation(from)?,
            tx: modulation(from)?,
            rx_bytes: from.maybe_unsigned(),
            tx_bytes: from.maybe_unsigned(),
            tx_packets: from.maybe_unsigned(),
            tx_retries: from.maybe_unsigned(),
            tx_failed: from.maybe_unsigned(),
            inactive_ms: from.maybe_unsigned(),
            busy_ppm: small(from)?,
            receiving_ppm: small(from)?,
            sending_ppm: small(from)?,
        })
    }
}

fn modulation(from: &mut Cursor<'_>) -> Result<Modulation, &'static str> {
    Ok(Modulation {
        phy: match text(from)? {
            Some(name) => {
                let known = Phy::ALL.into_iter().find(|phy| phy.name() == name);
                Some(known.ok_or("unknown Wi-Fi generation")?)
            }
            None => None,
        },
        mcs: small(from)?,
        nss: small(from)?,
        width_mhz: small(from)?,
        guard_ns: small(from)?,
    })
}

fn level(from: &mut Cursor<'_>) -> Result<Option<i32>, &'static str> {
    let level = from.maybe_number().map(i32::try_from);
    level.transpose().map_err(|_| TOO_LARGE)
}

fn small<T: TryFrom<u64>>(from: &mut Cursor<'_>) -> Result<Option<T>, &'static str> {
    let number = from.maybe_unsigned().map(T::try_from);
    number.transpose().map_err(|_| TOO_LARGE)
}

fn text<'a>(from: &'a mut Cursor<'_>) -> Result<Option<&'a str>, &'static str> {
    let text = from.maybe_name().map(|name| std::str::from_utf8(name.bytes));
    text.transpose().map_err(|_| "a name is not UTF-8")
}
