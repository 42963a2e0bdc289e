//! A run of a case on the air, and its metrics.

use super::super::Metrics;
use super::fields::{Direction, Fields, Group};
use super::layout::{AP, Layout, id, lay_out};
use crate::datagrams::{Driver, Flow, Report, usage};
use crate::validate::quantity::Dimension;
use netburn_medium::air::Account;
use netburn_medium::packet::NodeId;
use netburn_stats::{P50, P95, P99};
use netburn_units::{Duration, Instant, Probability, Seed};

const PERCENTILES: [(&str, Probability); 3] = [("p50", P50), ("p95", P95), ("p99", P99)];

/// Metrics of all stations together, and of each group.
pub(super) fn metrics(fields: &Fields) -> Metrics {
    let mut metrics = Vec::new();
    let mut add = |name: String, dimension| metrics.push((name, dimension));
    add("goodput".to_owned(), Dimension::Rate);
    add("loss".to_owned(), Dimension::Share);
    add("aggregate".to_owned(), Dimension::Count);
    add("collided".to_owned(), Dimension::Share);
    if fields.payload_time.is_some() {
        add("normalised".to_owned(), Dimension::Share);
    }
    if fields.aql {
        add("airtime in hardware".to_owned(), Dimension::Time);
        add("given beyond the limits".to_owned(), Dimension::Count);
    }
    for Group { name, .. } in fields.groups() {
        add(format!("goodput {name}"), Dimension::Rate);
        add(format!("airtime {name}"), Dimension::Share);
        if fields.probe.is_some() {
            for (percentile, _) in PERCENTILES {
                add(format!("delay {percentile} {name}"), Dimension::Time);
                add(format!("round trip {percentile} {name}"), Dimension::Time);
            }
        }
    }
    metrics
}

/// Returns the mean of each metric over all seeds.
pub(super) fn run(fields: &Fields, wanted: &[&str]) -> Vec<f64> {
    let groups = fields.groups();
    let mut sums = vec![0.0; wanted.len()];
    for round in 0..fields.seeds {
        let Ok(run) = Run::new(fields, &groups, Seed(fields.seed + round)) else {
            return vec![f64::NAN; wanted.len()];
        };
        for (sum, metric) in sums.iter_mut().zip(wanted) {
            *sum += run.value(metric);
        }
    }
    sums.iter().map(|sum| sum / fields.seeds as f64).collect()
}

/// Results of a run.
struct Run<'a> {
    fields: &'a Fields,
    groups: &'a [Group],
    layout: Layout,
    /// Increase of each node's counters in the measured time.
    accounts: Vec<Account>,
    reports: Vec<Report>,
    /// Measured time, with the case's corrections.
    span: f64,
}

impl<'a> Run<'a> {
    fn new(fields: &'a Fields, groups: &'a [Group], seed: Seed) -> Result<Self, netburn_medium::phy::PhyError> {
        let mut layout = lay_out(fields, groups, seed)?;
        let mut driver = Driver::new(&layout.flows, seed);
        let (begin, end) = (
            Instant::ZERO + fields.warm_up,
            Instant::ZERO + fields.warm_up + fields.duration,
        );
        let mut changed = fields.change.is_none();
        let stations = layout.group_of.len();
        let mut drive = |driver: &mut Driver<_>, layout: &mut Layout, until: Instant| {
            if let Some(change) = fields
                .change
                .filter(|change| !changed && Instant::ZERO + change.at <= until)
            {
                driver.run(&mut layout.air, Instant::ZERO + change.at);
                for station in 0..stations {
                    layout.air.set_snr(id(station), AP, Some(change.snr));
                    layout.air.set_snr(AP, id(station), Some(change.snr));
                }
                changed = true;
            }
            driver.run(&mut layout.air, until);
        };
        drive(&mut driver, &mut layout, begin);
        let before = accounts(&layout);
        driver.begin();
        drive(&mut driver, &mut layout, end);
        let after = accounts(&layout);
        let accounts: Vec<Account> = before
            .iter()
            .zip(&after)
            .map(|(before, after)| usage::between(before, after))
            .collect();
        let seconds = |longer: Option<Duration>| longer.unwrap_or(Duration::ZERO).as_secs_f64();
        let longer = |account: &Account| {
            let answered = account.transmissions - account.collisions;
            seconds(fields.model_overrides.exchange) * account.transmissions as f64
                + seconds(fields.model_overrides.answer) * answered as f64
        };
        let longer: f64 = accounts.iter().map(longer).sum();
        let reports = (0..layout.flows.len()).map(|flow| driver.report(flow)).collect();
        Ok(Run {
            fields,
            groups,
            layout,
            accounts,
            reports,
            span: fields.duration.as_secs_f64() + longer,
        })
    }

    fn value(&self, metric: &str) -> f64 {
        let flows = &self.reports[..self.layout.probes];
        let content = |report: &Report| report.content.as_bytes() as f64 * 8.0 / self.span / 1e6;
        match metric {
            "goodput" => return flows.iter().map(content).sum(),
            "loss" => {
                let (dropped, due) = flows
                    .iter()
                    .fold((0, 0), |sum, flow| (sum.0 + flow.dropped, sum.1 + flow.due));
                return dropped as f64 / due as f64;
            }
            "normalised" => {
                let packets: f64 =
                    flows.iter().map(|report| report.content.as_bytes() as f64).sum::<f64>() / self.content();
                return packets * self.fields.payload_time.unwrap_or(Duration::ZERO).as_secs_f64() / self.span;
            }
            "aggregate" => return self.of_senders(usage::mean_aggregate),
            "collided" => return self.of_senders(usage::collided),
            _ => {}
        }
        if let Some(watch) = &self.layout.watch {
            match metric {
                "airtime in hardware" => return watch.seen().station.as_nanos() as f64 / 1e3,
                "given beyond the limits" => return watch.seen().beyond as f64,
                _ => {}
            }
        }
        let Some((what, name)) = metric.rsplit_once(' ') else {
            return f64::NAN;
        };
        let stations: Vec<usize> = (0..self.layout.group_of.len())
            .filter(|station| self.groups[self.layout.group_of[*station]].name == name)
            .collect();
        let mean = |value: &dyn Fn(usize) -> f64| {
            stations.iter().map(|station| value(*station)).sum::<f64>() / stations.len() as f64
        };
        match what {
            "goodput" => mean(&|station| self.flow_of(station).map_or(0.0, content)),
            "airtime" => {
                let shares = usage::airtime_shares(&self.accounts[1..]);
                mean(&|station| shares[station])
            }
            _ => {
                let level = PERCENTILES.iter().find(|(name, _)| what.ends_with(name));
                let Some((_, level)) = level else { return f64::NAN };
                let there_and_back = what.starts_with("round trip");
                let worst = stations
                    .iter()
                    .map(|station| self.probed(*station, there_and_back, *level));
                worst.fold(0.0, f64::max)
            }
        }
    }

    fn content(&self) -> f64 {
        f64::from(
            self.fields
                .content
                .unwrap_or_else(|| self.fields.packet.saturating_sub(28)),
        )
    }

    /// Combined value of all senders of data.
    fn of_senders(&self, value: impl Fn(&Account) -> Option<f64>) -> f64 {
        let senders = match self.fields.direction {
            Direction::Down => &self.accounts[..1],
            Direction::Up => &self.accounts[1..],
        };
        let sum = senders.iter().fold(Account::default(), |sum, account| Account {
            transmissions: sum.transmissions + account.transmissions,
            collisions: sum.collisions + account.collisions,
            mpdus: sum.mpdus + account.mpdus,
            ..sum
        });
        value(&sum).unwrap_or(f64::NAN)
    }

    fn flow_of(&self, station: usize) -> Option<&Report> {
        let node = id(station);
        let of = |flow: &Flow<NodeId>| flow.from == node || flow.to == node;
        let place = self.layout.flows[..self.layout.probes].iter().position(of);
        place.map(|place| &self.reports[place])
    }

    /// Percentile in µs; infinite if it falls among lost probes.
    fn probed(&self, station: usize, there_and_back: bool, level: Probability) -> f64 {
        let report = &self.reports[self.layout.probes + station];
        let times = if there_and_back {
            &report.round_trip
        } else {
            &report.delay
        };
        let value = times.percentile(level).value();
        value.map_or(f64::INFINITY, |nanos| nanos as f64 / 1e3)
    }
}

fn accounts(layout: &Layout) -> Vec<Account> {
    let nodes = 0..=layout.group_of.len();
    nodes.map(|node| layout.air.account(NodeId(node as u16))).collect()
}
