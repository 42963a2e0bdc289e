//! Results of every workload of every station, one row each.

use super::{Error, each};
use netburn_record::summary::{StationSummary, WorkloadSummary, WorkloadTotals, verdict_name};
use netburn_record::{Header, LinkRow, Row, Run, RunTable, UnixTime};
use netburn_workload::Config;
use std::collections::BTreeMap;

/// Value of one cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text; empty if unknown.
    Text(String),
    /// A measurement; `None` if it is unknown or not supported by the number of samples.
    Number(Option<f64>),
    /// A count.
    Count(u64),
}

/// One workload of one station in one run: a cell for each of [`COLUMNS`].
#[derive(Debug, Clone, PartialEq)]
pub struct CsvRow {
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// The columns: as spreadsheets show them, and as a query names them. The first [`LEGACY_COLUMNS`] are those that users of the older
/// netburn know, in its order. MB are 10⁶ bytes, KB 10³.
pub const COLUMNS: [(&str, &str); 37] = [
    ("hostname", "hostname"),
    ("timestamp", "timestamp"),
    ("interface", "interface"),
    ("ESSID", "essid"),
    ("frequency", "frequency_ghz"),
    ("AP", "ap"),
    ("bitrate before", "bitrate_before_mbps"),
    ("bitrate after", "bitrate_after_mbps"),
    ("link quality before", "link_quality_before"),
    ("link quality after", "link_quality_after"),
    ("link warning", "link_warning"),
    ("elapsed s", "elapsed_s"),
    ("concurrency", "concurrency"),
    ("pages fetched", "fetched"),
    ("data fetched MB", "data_mb"),
    ("mean page length KB", "length_mean_kb"),
    ("percent OK", "ok_percent"),
    ("page length deviation KB", "length_deviation_kb"),
    ("throughput Mbit/s", "throughput_mbps"),
    ("max latency ms", "latency_max_ms"),
    ("99% latency ms", "latency_p99_ms"),
    ("95% latency ms", "latency_p95_ms"),
    ("90% latency ms", "latency_p90_ms"),
    ("75% latency ms", "latency_p75_ms"),
    ("median latency ms", "latency_p50_ms"),
    ("min latency ms", "latency_min_ms"),
    ("mean latency ms", "latency_mean_ms"),
    ("jitter interval ms", "jitter_ms"),
    ("idle latency ms", "idle_latency_ms"),
    ("station", "station"),
    ("workload", "workload"),
    ("kind", "kind"),
    ("verdict", "verdict"),
    ("run", "run"),
    ("scenario", "scenario"),
    ("environment", "environment"),
    ("seed", "seed"),
];

/// Number of columns that the file of `netburn fetch -o` has as well.
pub const LEGACY_COLUMNS: usize = 29;

/// Rows of a run, or of all runs of a run set in order. Stations and workloads are in the plan's
/// order.
///
/// Latencies are as in the summary. Data and throughput are those of the evaluated time. `hostname`
/// is the station's name.
///
/// # Errors
/// When the record can't be read.
pub fn csv_rows(run: &Run) -> Result<Vec<CsvRow>, Error> {
    let mut lines = Vec::new();
    each(run, |name, run| {
        let links = links(run)?;
        let totals = run.workload_totals()?;
        let summary = run.summary();
        let planned = run.header().plan.stations.iter().zip(0_u16..);
        for (((station, number), judged), counted) in planned.zip(&summary.stations).zip(&totals) {
            let about = Station {
                name,
                header: run.header(),
                link: links.get(&number),
                judged,
            };
            let workloads = station.workloads.iter().zip(&judged.workloads);
            lines.extend(
                workloads
                    .zip(counted)
                    .map(|((workload, judged), counted)| about.line(&workload.config, judged, counted)),
            );
        }
        Ok(())
    })?;
    Ok(lines)
}

/// First and last sample of a link.
type FirstAndLast = (LinkRow, LinkRow);

/// First and last link sample by station number.
fn links(run: &Run) -> Result<BTreeMap<u16, FirstAndLast>, Error> {
    let mut links: BTreeMap<u16, FirstAndLast> = BTreeMap::new();
    run.table_rows(RunTable::Links, &mut |row| {
        let Row::Link(row) = row else { return };
        links
            .entry(row.station)
            .and_modify(|(_, last)| last.clone_from(&row))
            .or_insert_with(|| (row.clone(), row));
    })?;
    Ok(links)
}

/// Common data of the rows of one station in one run.
struct Station<'a> {
    name: &'a str,
    header: &'a Header,
    link: Option<&'a FirstAndLast>,
    judged: &'a StationSummary,
}

impl Station<'_> {
    fn line(&self, config: &Config, judged: &WorkloadSummary, counted: &WorkloadTotals) -> CsvRow {
        let text = |text: &str| Cell::Text(text.to_owned());
        let of_last = |of: &dyn Fn(&LinkRow) -> Option<String>| {
            Cell::Text(self.link.and_then(|(_, last)| of(last)).unwrap_or_default())
        };
        let before = self.link.map(|(first, _)| first);
        let after = self.link.map(|(_, last)| last);
        let latency = &judged.latency_ms;
        let started = self.header.started.map(UnixTime::rfc3339);
        let objects = config.requests().map_or(1, |requests| requests.objects);
        let at_once = u64::from(objects) * u64::from(config.max_in_flight());
        let cells = vec![
            text(&self.judged.name),
            Cell::Text(started.unwrap_or_default()),
            text(""),
            of_last(&|link| link.ssid.clone()),
            Cell::Number(after.and_then(|link| Some(f64::from(link.frequency_mhz?) / 1e3))),
            of_last(&|link| link.bssid.map(|bssid| bssid.to_string())),
            Cell::Number(before.and_then(bitrate)),
            Cell::Number(after.and_then(bitrate)),
            Cell::Number(before.and_then(quality)),
            Cell::Number(after.and_then(quality)),
            Cell::Text(self.link.map(warning).unwrap_or_default()),
            Cell::Number(Some(counted.evaluated.as_secs_f64())),
            Cell::Count(at_once),
            Cell::Count(counted.finished),
            Cell::Number(Some(counted.bytes / 1e6)),
            Cell::Number(counted.length.map(|(mean, _)| mean / 1e3)),
            Cell::Number(match counted.operations {
                0 => None,
                all => Some(counted.finished as f64 * 100.0 / all as f64),
            }),
            Cell::Number(counted.length.map(|(_, deviation)| deviation / 1e3)),
            Cell::Number(Some(judged.throughput_mbps)),
            Cell::Number(latency.max),
            Cell::Number(latency.p99),
            Cell::Number(latency.p95),
            Cell::Number(latency.p90),
            Cell::Number(latency.p75),
            Cell::Number(latency.p50),
            Cell::Number(latency.min),
            Cell::Number(counted.mean_latency_ms),
            Cell::Number(Some(config.jitter().as_millis_f64())),
            Cell::Number(self.judged.idle_latency_ms),
            text(&self.judged.name),
            text(&judged.name),
            text(&judged.kind),
            text(verdict_name(judged.verdict)),
            text(self.name),
            text(&self.header.plan.name),
            text(self.header.environment.name()),
            Cell::Count(self.header.seed.0),
        ];
        debug_assert_eq!(cells.len(), COLUMNS.len(), "a cell for every column");
        CsvRow { cells }
    }
}

/// The rate of the last frame from the station in Mbit/s. If it is unknown, the rate of the last frame to
/// the station.
fn bitrate(link: &LinkRow) -> Option<f64> {
    link.tx_rate_bps.or(link.rx_rate_bps).map(|rate| rate as f64 / 1e6)
}

/// The signal on the scale of Linux's wireless extensions (net/wireless/wext-compat.c): 0 at −110 dBm to 70 at −40
/// dBm.
fn quality(link: &LinkRow) -> Option<f64> {
    let dbm = (f64::from(link.signal?) / 100.0).round();
    Some(dbm.clamp(-110.0, -40.0) + 110.0)
}

/// Changes between the first and the last link sample.
fn warning((first, last): &FirstAndLast) -> String {
    let changed = |what: &str, unit: &str, of: fn(&LinkRow) -> Option<f64>| match (of(first), of(last)) {
        (Some(before), Some(after)) if before != after => {
            let short = |value: f64| (value * 10.0).round() / 10.0;
            Some(format!(
                "{what} changed from {} to {}{unit}",
                short(before),
                short(after)
            ))
        }
        _ => None,
    };
    let moved = (first.bssid != last.bssid).then(|| "the access point changed".to_owned());
    let all = [
        moved,
        changed("bitrate", " Mbit/s", bitrate),
        changed("link quality", "", quality),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −110 dBm is 0 and −40 dBm is 70; values beyond are clamped.
    #[test]
    fn link_quality_matches_the_wireless_extensions() {
        for (cdbm, quality_) in [
            (-4000, 70.0),
            (-3000, 70.0),
            (-6250, 47.0),
            (-11_000, 0.0),
            (-12_000, 0.0),
        ] {
            let link = LinkRow {
                signal: Some(cdbm),
                ..LinkRow::default()
            };
            assert_eq!(quality(&link), Some(quality_), "{cdbm}");
        }
        assert_eq!(quality(&LinkRow::default()), None);
    }

    #[test]
    fn changes_of_a_link_are_listed() {
        let link = |rate, signal| LinkRow {
            tx_rate_bps: Some(rate),
            signal: Some(signal),
            ..LinkRow::default()
        };
        let ends = (link(144_400_000, -6000), link(72_200_000, -6000));
        assert_eq!(warning(&ends), "bitrate changed from 144.4 to 72.2 Mbit/s");
        assert_eq!(warning(&(ends.0.clone(), ends.0)), "");
    }
}
