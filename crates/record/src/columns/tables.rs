//! The tables of a record. Each line describes a column, for all formats; see [`table`].

use super::Column;
use super::batch::Batch;
use super::cells::{
    Cell, Decoder, Encoder, Known, Label, LongText, Maybe, MaybeBssid, MaybeJson, MaybeLabel, MaybeNum, MaybeWord, Num,
    RowReader, RowWriter, Station, Word, Workload,
};
use super::cursor::Cursor;
use super::names::{Lookup, Names};
use super::table::{get, set, table};
use crate::row::{
    AirRow, ConnectionRow, EventRow, IntervalRow, LinkRow, Observable, ObservedRow, OperationRow, Phy, Row, Side,
};
use crate::varint::{Bytes, unsigned};
use netburn_units::{Duration, Instant};
use netburn_workload::Outcome;

/// A kind of row as a table.
pub(crate) trait Table: Sized {
    /// The table's name; its file is `NAME.parquet`.
    const NAME: &'static str;
    /// Columns, in order.
    const COLUMNS: &'static [Column];

    /// Gives a value for every column, in order.
    fn write(&self, names: &Names, to: &mut Batch);

    /// The row, if it belongs to this table.
    fn from_row(row: Row) -> Option<Self>;

    /// Takes a value of every column, in order; what is wrong with them where they make no row.
    fn read(names: &mut Lookup<'_>, from: &mut Cursor<'_>) -> Result<Self, &'static str>;
}

/// A table of a run. `docs/reference/record.md` describes the columns of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTable {
    /// Operations.
    Operations,
    /// Bytes of workloads by 100 ms.
    Intervals,
    /// Modelled airtime of stations by 100 ms.
    Airtime,
    /// Samples of TCP connections.
    Connections,
    /// Samples of Wi-Fi links.
    Links,
    /// Values of observed access points.
    Observed,
    /// Events.
    Events,
}

// In the order in which [`Run::rows`](crate::Run::rows) returns their rows.
netburn_units::variants! {
    pub RunTable:
        Operations = OperationRow::NAME,
        Intervals = IntervalRow::NAME,
        Airtime = AirRow::NAME,
        Connections = ConnectionRow::NAME,
        Links = LinkRow::NAME,
        Observed = ObservedRow::NAME,
        Events = EventRow::NAME,
}

impl RunTable {
    /// The table's columns, in order.
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        match self {
            RunTable::Operations => OperationRow::COLUMNS,
            RunTable::Intervals => IntervalRow::COLUMNS,
            RunTable::Airtime => AirRow::COLUMNS,
            RunTable::Connections => ConnectionRow::COLUMNS,
            RunTable::Links => LinkRow::COLUMNS,
            RunTable::Observed => ObservedRow::COLUMNS,
            RunTable::Events => EventRow::COLUMNS,
        }
    }

    /// The table that holds a row.
    pub(crate) const fn for_row(row: &Row) -> RunTable {
        match row {
            Row::Operation(_) => RunTable::Operations,
            Row::Interval(_) => RunTable::Intervals,
            Row::Air(_) => RunTable::Airtime,
            Row::Connection(_) => RunTable::Connections,
            Row::Link(_) => RunTable::Links,
            Row::Observed(_) => RunTable::Observed,
            Row::Event(_) => RunTable::Events,
        }
    }
}

/// A kind of row in the spool.
pub(crate) trait Payload: Sized {
    /// Appends the row's payload.
    fn encode(&self, to: &mut Vec<u8>);

    /// Decodes a whole payload; `None` if it is invalid.
    fn decode(payload: &[u8]) -> Option<Self>;
}

table!(OperationRow = Row::Operation in "operations" {
    station: Station = [station], "", "station";
    workload: Workload = [workload], "", "workload";
    sequence: Num<u64> = [operation.sequence], "", "number within the workload, in order of due times, from 0; for `responsiveness` three times the number of the foreign probe, plus 1 for self probes and plus 2 for objects of the load";
    due: Num<Instant> = [operation.due], "ns", "due time; latency counts from it";
    started: MaybeNum<Instant> = [operation.started], "ns", "start of its first request; null if it never started";
    connected: MaybeNum<Instant> = [operation.connected], "ns", "time at which its last new connection was ready; null if there was none";
    first_byte: MaybeNum<Instant> = [operation.first_byte], "ns", "arrival of its first byte";
    finished: MaybeNum<Instant> = [operation.finished], "ns", "end: the last byte of its last object, the response to a probe, or the failure";
    bytes: Num<u64> = [operation.bytes], "B", "content, complete or not";
    outcome: Word<Outcome> = [operation.outcome], "", "`finished`, `failed_dial`, `failed_connection`, `failed_answer`, `failed_stopped`, `timed_out`, `not_started`, `unfinished`, `cut`";
    remote_received: MaybeNum<Instant> = (remote_received), "ns", "for a probe: time of arrival at the server, by the server's clock";
    remote_sent: MaybeNum<Instant> = (remote_sent), "ns", "for a probe: time at which the server returned it, by the server's clock";
    tcp_connected: MaybeNum<Instant> = [operation.tcp_connected], "ns", "for an operation of `responsiveness` with a new connection, which is a foreign probe or an object of the load: end of the TCP handshake; `connected` is the end of the TLS handshake";
});

table!(IntervalRow = Row::Interval in "intervals" {
    station: Station = [station], "", "station";
    workload: Workload = [workload], "", "workload";
    at: Num<Instant> = [at], "ns", "start of the interval, a multiple of 100 ms";
    bytes_down: Num<u64> = [bytes_down], "B", "content to the station";
    bytes_up: Num<u64> = [bytes_up], "B", "content from the station that has been acknowledged";
});

table!(AirRow = Row::Air in "airtime" {
    station: Station = [station], "", "station";
    at: Num<Instant> = [at], "ns", "start of the interval, a multiple of 100 ms";
    airtime_down: Num<Duration> = [airtime_down], "ns", "airtime of data PPDUs to the station, with preambles and failed ones";
    airtime_up: Num<Duration> = [airtime_up], "ns", "the same from the station";
    transmissions: Num<u64> = [transmissions], "", "data PPDUs in both directions";
    mpdus: Num<u64> = [mpdus], "", "MPDUs in them: the mean aggregate is `mpdus / transmissions`";
    retries: Num<u64> = [retries], "", "retransmitted MPDUs among them";
    backlog: Num<u64> = [backlog], "packets", "queued for the station and at it at the end of the interval";
    drops: Num<u64> = [drops], "packets", "dropped in both directions, by queues and after the last retry";
    marks: Num<u64> = [marks], "packets", "marked (ECN CE) in both directions";
    others: MaybeNum<Duration> = [others], "ns", "airtime of networks that are not modelled (`channel_busy` of a radio) on the station's channel, with collisions; null for a wired station";
});

table!(ConnectionRow = Row::Connection in "connections" {
    station: Station<Known> = [station], "", "station; null if the server took the sample and cannot identify it";
    workload: Workload<Known> = [workload], "", "workload; null if the server took the sample and cannot identify it";
    side: Word<Side> = [side], "", "end that took the sample: `station` or `server`";
    port: Num<u16> = [port], "", "the station's local port, which identifies the connection at both ends";
    at: Num<Instant> = [at], "ns", "time of the sample";
    rtt_us: Num<u32> = [rtt_us], "µs", "smoothed round-trip time";
    rtt_var_us: Num<u32> = [rtt_var_us], "µs", "variation of the round-trip time";
    cwnd: Num<u32> = [cwnd], "segments", "congestion window";
    retransmits: Num<u32> = [retransmits], "segments", "retransmitted so far";
    delivery_rate_bps: Num<u64> = [delivery_rate_bps], "bit/s", "delivery rate";
    bytes_acked: Num<u64> = [bytes_acked], "B", "acknowledged so far";
    bytes_received: Num<u64> = [bytes_received], "B", "received so far";
});

table!(LinkRow = Row::Link in "link" {
    station: Station = [station], "", "station";
    at: Num<Instant> = [at], "ns", "time of the sample";
    signal_cdbm: MaybeNum<i32> = [signal], "0.01 dBm", "received signal";
    rx_rate_bps: MaybeNum<u64> = [rx_rate_bps], "bit/s", "rate of the last frame to the station";
    tx_rate_bps: MaybeNum<u64> = [tx_rate_bps], "bit/s", "rate of the last frame from it";
    ssid: MaybeLabel = [ssid], "", "network name; bytes that are not UTF-8 are replaced by U+FFFD";
    bssid: MaybeBssid = [bssid], "", "BSSID, as `02:00:00:00:01:00`";
    frequency_mhz: MaybeNum<u32> = [frequency_mhz], "MHz", "centre of the primary channel";
    width_mhz: MaybeNum<u32> = [width_mhz], "MHz", "width of the channel";
    signal_average_cdbm: MaybeNum<i32> = [signal_average], "0.01 dBm", "mean received signal of the driver";
    noise_cdbm: MaybeNum<i32> = [noise], "0.01 dBm", "noise on the channel, if the driver has a survey";
    rx_phy: MaybeWord<Phy> = [rx.phy], "", "PHY of the last frame to the station: `legacy` (802.11a, b, g), `ht` (n), `vht` (ac), `he` (ax), `eht` (be)";
    rx_mcs: MaybeNum<u8> = [rx.mcs], "", "its MCS; `ht` counts 0 to 31 over all streams";
    rx_nss: MaybeNum<u8> = [rx.nss], "", "its spatial streams";
    rx_width_mhz: MaybeNum<u32> = [rx.width_mhz], "MHz", "its width";
    rx_guard_ns: MaybeNum<u32> = [rx.guard_ns], "ns", "its guard interval";
    tx_phy: MaybeWord<Phy> = [tx.phy], "", "the same for the last frame from the station";
    tx_mcs: MaybeNum<u8> = [tx.mcs], "", "its MCS";
    tx_nss: MaybeNum<u8> = [tx.nss], "", "its spatial streams";
    tx_width_mhz: MaybeNum<u32> = [tx.width_mhz], "MHz", "its width";
    tx_guard_ns: MaybeNum<u32> = [tx.guard_ns], "ns", "its guard interval";
    rx_bytes: MaybeNum<u64> = [rx_bytes], "B", "received since the association";
    tx_bytes: MaybeNum<u64> = [tx_bytes], "B", "sent since the association";
    tx_packets: MaybeNum<u64> = [tx_packets], "frames", "sent since the association";
    tx_retries: MaybeNum<u64> = [tx_retries], "frames", "retransmitted since the association";
    tx_failed: MaybeNum<u64> = [tx_failed], "frames", "dropped after the last retry since the association";
    inactive_ms: MaybeNum<u64> = [inactive_ms], "ms", "time since the last frame from the access point";
    busy_ppm: MaybeNum<u32> = [busy_ppm], "10⁻⁶", "share of the time since the previous sample in which the channel was busy (survey)";
    receiving_ppm: MaybeNum<u32> = [receiving_ppm], "10⁻⁶", "share in which the station received";
    sending_ppm: MaybeNum<u32> = [sending_ppm], "10⁻⁶", "share in which the station sent";
});

table!(ObservedRow = Row::Observed in "observed" {
    access_point: Label = [access_point], "", "access point";
    at: Num<Instant> = [at], "ns", "time of the sample";
    span: Num<Duration> = [span], "ns", "time since the previous sample, for the increase of a counter and for `observer_response`; 0 for other values";
    part: MaybeLabel = [part], "", "interface or queue that the value describes; null for the whole device";
    station: Station<Maybe> = [station], "", "station of the plan that the value describes";
    address: MaybeBssid = [address], "", "address of the station, in the plan or not, that the value describes";
    quantity: Word<Observable> = [quantity], "", "what the value is; see below";
    value: Num<i64> = [value], "", "the value, in the unit of the quantity";
});

table!(EventRow = Row::Event in "events" {
    station: Station<Maybe> = [station], "", "station; null for the whole run";
    workload: Workload<Maybe> = [workload], "", "workload, if it concerns one";
    at: Num<Instant> = [at], "ns", "start";
    length: Num<u64> = [length], "ns", "duration; 0 for a moment";
    kind: Label = (event_kind), "", "`stall`, `startup`, `lost`, `incomplete`, `server-lost`, `unused-server-lost`, `rejected`, `change`, `roam`, `scan`, `steering`, `path`, `warning`, `health`, `clock`, `quality_issue`, `rate`, `lab`, `dscp`, `access-point`";
    text: LongText = (event_text), "", "description; the sentence of a reason; empty for reports";
    data: MaybeJson = (event_data), "", "typed data as JSON; null for a plain description";
});

/// Time of arrival of a probe at the server.
mod remote_received {
    use crate::row::OperationRow;
    use netburn_units::Instant;
    use netburn_workload::RemoteTimestamps;

    pub(super) fn get(row: &OperationRow) -> Option<Instant> {
        row.operation.far.map(|far| Instant::from_nanos(far.received))
    }

    pub(super) fn set(row: &mut OperationRow, received: Option<Instant>) {
        row.operation.far = received.map(|received| RemoteTimestamps {
            received: received.as_nanos(),
            sent: received.as_nanos(),
        });
    }
}

/// Time at which the server returned a probe. It exists together with the time of arrival.
mod remote_sent {
    use crate::row::OperationRow;
    use netburn_units::Instant;

    pub(super) fn get(row: &OperationRow) -> Option<Instant> {
        row.operation.far.map(|far| Instant::from_nanos(far.sent))
    }

    pub(super) fn set(row: &mut OperationRow, sent: Option<Instant>) {
        row.operation.far = row.operation.far.zip(sent).map(|(mut far, sent)| {
            far.sent = sent.as_nanos();
            far
        });
    }
}

/// Kind of an event. The kind of a newer version becomes a warning that begins with its name.
mod event_kind {
    use crate::row::{Detail, EventKind, EventRow};
    use std::borrow::Cow;

    pub(super) fn get(row: &EventRow) -> Cow<'static, str> {
        Cow::Borrowed(row.kind.name())
    }

    pub(super) fn set(row: &mut EventRow, name: Cow<'static, str>) {
        match EventKind::ALL.into_iter().find(|known| known.name() == name) {
            Some(kind) => row.kind = kind,
            None => {
                row.kind = EventKind::Warning;
                row.detail = Detail::Text(format!("{name}: "));
            }
        }
    }
}

/// Description of an event.
mod event_text {
    use crate::row::{Detail, EventRow};
    use std::borrow::Cow;

    pub(super) fn get(row: &EventRow) -> Cow<'static, str> {
        Cow::Owned(row.detail.text().into_owned())
    }

    pub(super) fn set(row: &mut EventRow, text: Cow<'static, str>) {
        row.detail = match &row.detail {
            Detail::Text(name) if !name.is_empty() => Detail::Text(format!("{name}{text}")),
            _ => Detail::Text(text.into_owned()),
        };
    }
}

/// Typed data of an event.
mod event_data {
    use crate::row::{Detail, EventRow};

    pub(super) fn get(row: &EventRow) -> Option<String> {
        row.detail.data()
    }

    pub(super) fn set(row: &mut EventRow, data: Option<String>) {
        if let Some(data) = data {
            row.detail = Detail::from_data(row.kind, &data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Values;

    /// The columns of a table as a Markdown table.
    fn described<T: Table>() -> String {
        let mut page = "| column | type | unit | meaning |\n|---|---|---|---|\n".to_owned();
        for column in T::COLUMNS {
            let kind = match column.values {
                Values::Signed => "int64",
                Values::Unsigned => "uint64",
                Values::Name | Values::Text => "text",
            };
            let null = if column.optional { ", null" } else { "" };
            let unit = if column.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", column.unit)
            };
            page.push_str(&format!(
                "| `{}` | {kind}{null} |{unit} | {} |\n",
                column.name, column.meaning
            ));
        }
        page
    }

    /// Replaces the text between a table's markers.
    fn replaced<T: Table>(page: &str) -> String {
        let (begin, end) = (format!("<!-- columns of {} -->\n", T::NAME), "<!-- end -->");
        let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("{begin} is missing"));
        let (_, after) = rest.split_once(end).unwrap();
        format!("{before}{begin}{}{end}{after}", described::<T>())
    }

    /// Replaces the list of what access points report.
    fn with_quantities(page: &str) -> String {
        let (begin, end) = ("<!-- quantities -->\n", "<!-- end -->");
        let (before, rest) = page.split_once(begin).unwrap_or_else(|| panic!("{begin} is missing"));
        let (_, after) = rest.split_once(end).unwrap();
        let mut table = "| quantity | unit | meaning |\n|---|---|---|\n".to_owned();
        for quantity in Observable::ALL {
            let meaning = quantity.meaning().trim_end_matches('.');
            table.push_str(&format!(
                "| `{}` | {} | {meaning} |\n",
                quantity.name(),
                quantity.unit()
            ));
        }
        format!("{before}{begin}{table}{end}{after}")
    }

    /// Run with NETBURN_REGENERATE=1 to write the page again.
    #[test]
    fn the_page_describes_every_column() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/record.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let mut current = replaced::<OperationRow>(&page);
        current = replaced::<IntervalRow>(&current);
        current = replaced::<AirRow>(&current);
        current = replaced::<ConnectionRow>(&current);
        current = replaced::<LinkRow>(&current);
        current = replaced::<ObservedRow>(&current);
        current = replaced::<EventRow>(&current);
        current = with_quantities(&current);
        if std::env::var_os("NETBURN_REGENERATE").is_some() {
            std::fs::write(&path, &current).unwrap();
        }
        assert!(
            page == current,
            "docs/reference/record.md: write it again with NETBURN_REGENERATE=1"
        );
    }
}
