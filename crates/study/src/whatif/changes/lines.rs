//! Changes of lines and of the way to the server.

use super::{Maker, written};
use netburn_report::explain::{Cause, Kind};
use netburn_units::{BitRate, Duration};

/// How much faster a line is that is too slow.
const FASTER: [u64; 2] = [2, 4];
/// One-way delay of a near server: within a region.
const NEAR: Duration = Duration::from_millis(5);

impl Maker<'_> {
    pub(super) fn slow_line(&mut self, cause: &Cause) {
        for (name, rates) in self.lines(cause) {
            for times in FASTER {
                let faster = rates
                    .iter()
                    .map(|(key, rate)| (key.clone(), written(rate.as_bps().saturating_mul(times))));
                let faster: Vec<(String, String)> = faster.collect();
                let set: Vec<(&str, &str)> = faster
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect();
                let words = if times == 2 { "twice" } else { "four times" };
                self.offer(Kind::SlowLine, format!("{name} has {words} its rate"), &set);
            }
        }
    }

    /// The lines in front of those who suffer, each with the keys of its rates.
    fn lines(&self, cause: &Cause) -> Vec<(String, Vec<(String, BitRate)>)> {
        let mut lines: Vec<(String, Vec<(String, BitRate)>)> = Vec::new();
        for name in &cause.stations {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let (of, rates) = match (&station.link, self.place(name)) {
                (Some(link), _) => (name, vec![("down", Some(link.down)), ("up", Some(link.up))]),
                (None, Some((ap, _))) => match ap.wan {
                    Some(wan) => (&ap.name, vec![("down", wan.down), ("up", wan.up)]),
                    None => continue,
                },
                (None, None) => continue,
            };
            let key = match station.link {
                Some(_) => format!("station.{of}.link"),
                None => format!("ap.{of}.wan"),
            };
            let rates = rates
                .into_iter()
                .filter_map(|(way, rate)| Some((format!("{key}.{way}"), rate?)));
            let line = (format!("{of}'s line"), rates.collect());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    pub(super) fn lossy_line(&mut self, cause: &Cause) {
        if !self.knows_any(cause) {
            return;
        }
        let ways = self.ways(cause);
        let lossy: Vec<String> = ways
            .iter()
            .filter(|way| way.loss)
            .map(|way| format!("{}.loss", way.key))
            .collect();
        let set: Vec<(&str, &str)> = lossy.iter().map(|key| (key.as_str(), "0 %")).collect();
        if !set.is_empty() {
            self.offer(Kind::LossyLine, "the line loses nothing".to_owned(), &set);
        }
        self.offer(
            Kind::LossyLine,
            "the server sends with BBR".to_owned(),
            &[("server.cc", "bbr")],
        );
    }

    pub(super) fn distant_server(&mut self, cause: &Cause) {
        if !self.knows_any(cause) {
            return;
        }
        let ways = self.ways(cause);
        let far = ways
            .iter()
            .filter(|way| way.delay > NEAR)
            .map(|way| format!("{}.delay", way.key));
        let far: Vec<String> = far.collect();
        let near = format!("{} ms", NEAR.as_nanos() / 1_000_000);
        let set: Vec<(&str, &str)> = far.iter().map(|key| (key.as_str(), near.as_str())).collect();
        if !set.is_empty() {
            self.offer(
                Kind::DistantServer,
                format!("the server is no further away than {near}"),
                &set,
            );
        }
        self.offer(
            Kind::DistantServer,
            "the server speaks HTTP/2, over one connection for each page".to_owned(),
            &[("server.http", "2")],
        );
    }

    fn knows_any(&self, cause: &Cause) -> bool {
        cause.stations.iter().any(|name| self.plan.station(name).is_some())
    }

    /// The wired hops between those who suffer and the server.
    fn ways(&self, cause: &Cause) -> Vec<Hop> {
        let server = &self.plan.server.link;
        let mut ways = vec![Hop {
            key: "server.link".to_owned(),
            delay: server.delay,
            loss: server.loss.as_ppb() > 0,
        }];
        for name in &cause.stations {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let hop = match (&station.link, self.place(name)) {
                (Some(link), _) => Hop {
                    key: format!("station.{name}.link"),
                    delay: link.delay,
                    loss: link.loss.as_ppb() > 0,
                },
                (None, Some((ap, _))) => match ap.wan {
                    Some(wan) => Hop {
                        key: format!("ap.{}.wan", ap.name),
                        delay: wan.delay,
                        loss: wan.loss.as_ppb() > 0,
                    },
                    None => continue,
                },
                (None, None) => continue,
            };
            if !ways.iter().any(|known| known.key == hop.key) {
                ways.push(hop);
            }
        }
        ways
    }
}

/// A wired hop.
struct Hop {
    /// The key of its section.
    key: String,
    delay: Duration,
    /// Whether it loses packets.
    loss: bool,
}
