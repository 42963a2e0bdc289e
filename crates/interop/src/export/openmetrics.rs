//! A summary's values as OpenMetrics text (the OpenMetrics specification, 1.0), for Prometheus and
//! Grafana.
//!
//! Every series has the labels `scenario` and `environment`; series of a station have `station`,
//! those of a workload `workload`. Samples have no timestamp, as node_exporter's textfile collector
//! and a push gateway require. Unknown values are omitted. `docs/grafana/netburn.json` is a
//! dashboard for them.

use super::Error;
use netburn_record::Run;
use netburn_record::summary::{
    GoalSummary, LatencyMs, ResponsivenessSummary, SegmentsSummary, StationSummary, StreamSummary, Summary,
    VoiceStreamSummary, WorkloadSummary, verdict_name,
};
use netburn_record::utc::UnixTime;
use netburn_workload::Verdict;
use std::fmt::Write as _;
use std::io::Write;

/// Writes the text.
///
/// # Errors
/// When `to` can't be written.
pub fn write(run: &Run, to: &mut dyn Write) -> Result<(), Error> {
    let header = run.header();
    to.write_all(text(run.summary(), &header.version, header.started).as_bytes())?;
    Ok(to.flush()?)
}

/// A summary as the text. `version` is that of the netburn that measured.
#[must_use]
pub fn text(summary: &Summary, version: &str, started: Option<UnixTime>) -> String {
    let mut page = Page {
        text: String::new(),
        common: vec![
            ("scenario", summary.scenario.clone()),
            ("environment", summary.environment.name().to_owned()),
        ],
    };
    let whole = Labels::default();
    let seed = summary.seed.to_string();
    page.family("netburn_run", "info", "The run of these metrics.", |page| {
        let of = whole
            .and("run", &summary.run)
            .and("seed", &seed)
            .and("version", version);
        page.sample("_info", &of, Some(1.0));
    });
    page.gauge(
        "netburn_run_duration_seconds",
        "Planned duration of the load.",
        |page| {
            page.sample("", &whole, Some(summary.duration_s));
        },
    );
    page.gauge(
        "netburn_run_started_timestamp_seconds",
        "Start time of the run, since 1970.",
        |page| {
            page.sample("", &whole, started.map(|at| at.0 as f64 / 1e9));
        },
    );
    page.gauge("netburn_self_check_ok", "Whether the self-check passed.", |page| {
        page.sample("", &whole, Some(f64::from(u8::from(summary.self_check.ok))));
    });
    page.states(
        "netburn_run_verdict",
        "The run's verdict.",
        [(whole.clone(), summary.verdict)],
    );
    page.gauge(
        "netburn_airtime_fairness_ratio",
        "Jain's index of the stations' airtime shares.",
        |page| page.sample("", &whole, summary.totals.airtime_jain),
    );
    stations(&mut page, &summary.stations);
    workloads(&mut page, &summary.stations);
    page.text.push_str("# EOF\n");
    page.text
}

fn stations(page: &mut Page, stations: &[StationSummary]) {
    let of = |station: &StationSummary| Labels::default().and("station", &station.name);
    page.states(
        "netburn_station_verdict",
        "A station's verdict.",
        stations.iter().map(|station| (of(station), station.verdict)),
    );
    page.gauge(
        "netburn_station_throughput_bits_per_second",
        "Content of a station in the evaluated time, both directions.",
        |page| {
            for station in stations {
                page.sample("", &of(station), Some((station.throughput_mbps * 1e6).round()));
            }
        },
    );
    page.gauge(
        "netburn_station_airtime_ratio",
        "A station's share of the airtime.",
        |page| {
            for station in stations {
                page.sample("", &of(station), station.airtime_share);
            }
        },
    );
    page.gauge(
        "netburn_station_idle_latency_seconds",
        "Median round-trip time before the load.",
        |page| {
            for station in stations {
                page.sample("", &of(station), station.idle_latency_ms.map(|ms| ms / 1e3));
            }
        },
    );
}

fn workloads(page: &mut Page, stations: &[StationSummary]) {
    let all: Vec<(Labels, &WorkloadSummary)> = stations
        .iter()
        .flat_map(|station| {
            station.workloads.iter().map(|workload| {
                let of = Labels::default()
                    .and("station", &station.name)
                    .and("workload", &workload.name);
                (of, workload)
            })
        })
        .collect();
    page.states(
        "netburn_workload_verdict",
        "A workload's verdict, as measured.",
        all.iter().map(|(of, workload)| (of.clone(), workload.verdict)),
    );
    page.gauge(
        "netburn_workload_throughput_bits_per_second",
        "Content of a workload in the evaluated time, both directions.",
        |page| {
            for (of, workload) in &all {
                page.sample("", of, Some((workload.throughput_mbps * 1e6).round()));
            }
        },
    );
    page.family(
        "netburn_operation_latency_seconds",
        "summary",
        "From the due time of an operation to its end.",
        |page| {
            for (of, workload) in &all {
                page.quantiles(of, &workload.latency_ms);
            }
        },
    );
    page.family("netburn_operations", "counter", "Operations by outcome.", |page| {
        for (of, workload) in &all {
            let finished = workload.latency_ms.count - workload.latency_ms.unbounded.min(workload.latency_ms.count);
            for (outcome, count) in [
                ("finished", finished),
                ("failed", workload.failures),
                ("not_started", workload.not_started),
                ("unfinished", workload.unfinished),
            ] {
                page.sample("_total", &of.and("outcome", outcome), Some(count as f64));
            }
        }
    });
    let goal = |page: &mut Family<'_>, value: fn(&GoalSummary) -> Option<f64>| {
        for (of, workload) in &all {
            for goal in &workload.goals {
                page.sample("", &of.and("goal", &goal.goal), value(goal));
            }
        }
    };
    page.gauge(
        "netburn_goal_met_ratio",
        "Share of a goal's samples within its limit.",
        |page| {
            goal(page, |goal| goal.met);
        },
    );
    page.gauge(
        "netburn_goal_excess_ratio",
        "A goal's worst sample divided by its limit.",
        |page| {
            goal(page, |goal| goal.excess);
        },
    );
    page.gauge(
        "netburn_player_stalled_seconds",
        "Total duration of stalls of a player.",
        |page| {
            for (of, workload) in &all {
                page.sample("", of, workload.player.map(|player| player.stalled_ms / 1e3));
            }
        },
    );
    page.gauge("netburn_player_startup_seconds", "Startup delay of a player.", |page| {
        for (of, workload) in &all {
            let startup = workload.player.and_then(|player| player.startup_ms);
            page.sample("", of, startup.map(|ms| ms / 1e3));
        }
    });
    segments(page, &all);
    page.gauge("netburn_probe_lost_ratio", "Share of lost datagrams.", |page| {
        for (of, workload) in &all {
            page.sample("", of, workload.probe.and_then(|probe| probe.lost_share));
        }
    });
    calls(page, &all);
    streams(page, &all);
    responsiveness(page, &all);
}

/// Bit rates of adaptive streaming.
fn segments(page: &mut Page, all: &[(Labels, &WorkloadSummary)]) {
    if all.iter().all(|(_, workload)| workload.segments.is_none()) {
        return;
    }
    let mut gauge = |name, help, value: fn(&SegmentsSummary) -> Option<f64>| {
        page.gauge(name, help, |page| {
            for (of, workload) in all {
                page.sample("", of, workload.segments.as_ref().and_then(value));
            }
        });
    };
    gauge(
        "netburn_media_bit_rate_bits_per_second",
        "Mean bit rate of the complete segments of adaptive streaming.",
        |of| of.mean_mbps.map(|mbps| mbps * 1e6),
    );
    gauge(
        "netburn_media_at_highest_bit_rate_ratio",
        "Share of the segments at the highest bit rate.",
        |of| of.at_highest_share,
    );
    gauge(
        "netburn_media_bit_rate_switches",
        "Number of changes of the bit rate.",
        |of| Some(of.switches as f64),
    );
}

/// Both directions of the calls.
fn calls(page: &mut Page, all: &[(Labels, &WorkloadSummary)]) {
    let calls = all
        .iter()
        .filter_map(|(of, workload)| Some((of, workload.voice.as_ref()?)));
    let streams: Vec<(Labels, &VoiceStreamSummary)> = calls
        .flat_map(|(of, voice)| {
            [("up", &voice.up), ("down", &voice.down)]
                .map(|(direction, stream)| (of.and("direction", direction), stream))
        })
        .collect();
    if streams.is_empty() {
        return;
    }
    let mut gauge = |name: &'static str, help: &str, value: fn(&VoiceStreamSummary) -> Option<f64>| {
        page.gauge(name, help, |page| {
            for (of, stream) in &streams {
                page.sample("", of, value(stream));
            }
        });
    };
    gauge(
        "netburn_voice_rating",
        "Rating R (ITU-T G.107) of a direction of a call, with the best fixed playout buffer.",
        |stream| stream.rating,
    );
    gauge(
        "netburn_voice_playout_seconds",
        "That buffer: time from the due time of a packet to its playout.",
        |stream| stream.buffer_ms.map(|ms| ms / 1e3),
    );
    gauge(
        "netburn_voice_lost_ratio",
        "Share of lost packets of a direction of a call.",
        |stream| stream.delivery.lost_share,
    );
    gauge(
        "netburn_voice_jitter_seconds",
        "Jitter (RFC 3550) of a direction of a call.",
        |stream| stream.delivery.jitter_ms.map(|ms| ms / 1e3),
    );
}

/// Both directions of the streams of datagrams.
fn streams(page: &mut Page, all: &[(Labels, &WorkloadSummary)]) {
    let workloads = all
        .iter()
        .filter_map(|(of, workload)| Some((of, workload.streams.as_ref()?)));
    let streams: Vec<(Labels, &StreamSummary)> = workloads
        .flat_map(|(of, both)| {
            let directions = [("up", &both.up), ("down", &both.down)];
            let present = directions
                .into_iter()
                .filter_map(|(name, stream)| Some((name, stream.as_ref()?)));
            present.map(|(direction, stream)| (of.and("direction", direction), stream))
        })
        .collect();
    if streams.is_empty() {
        return;
    }
    let mut gauge = |name: &'static str, help: &str, value: fn(&StreamSummary) -> Option<f64>| {
        page.gauge(name, help, |page| {
            for (of, stream) in &streams {
                page.sample("", of, value(stream));
            }
        });
    };
    gauge(
        "netburn_stream_delay_median_seconds",
        "Median one-way delay of a direction of a stream: of the packets, or of the frames of a video call.",
        |stream| stream.delivery.delay_ms?.p50.map(|ms| ms / 1e3),
    );
    gauge(
        "netburn_stream_lost_ratio",
        "Share of lost packets of a direction of a stream, or of the frames of a video call that were never complete.",
        |stream| stream.delivery.lost_share,
    );
    gauge(
        "netburn_stream_jitter_seconds",
        "Jitter (RFC 3550) of a direction of a stream of datagrams.",
        |stream| stream.delivery.jitter_ms.map(|ms| ms / 1e3),
    );
    gauge(
        "netburn_stream_gaps_ratio",
        "Share of the time of a direction of a game without an arrival for 100 ms or more.",
        |stream| Some(stream.gaps?.share),
    );
    gauge(
        "netburn_stream_missed_frames_ratio",
        "Share of the frames of a direction that were late or incomplete.",
        |stream| stream.frames?.missed_share,
    );
    if streams.iter().any(|(_, stream)| stream.video.is_some()) {
        videos(page, &streams);
    }
    if all.iter().any(|(_, workload)| round_trip(workload).is_some()) {
        let help = "95th percentile of the round trips of a game.";
        page.gauge("netburn_round_trip_p95_seconds", help, |page| {
            for (of, workload) in all {
                page.sample(
                    "",
                    of,
                    round_trip(workload).and_then(|trip| trip.p95).map(|ms| ms / 1e3),
                );
            }
        });
    }
}

/// Scores and probes of the workloads of kind `responsiveness`.
fn responsiveness(page: &mut Page, all: &[(Labels, &WorkloadSummary)]) {
    let workloads = all
        .iter()
        .filter_map(|(of, workload)| Some((of, workload.responsiveness.as_ref()?)));
    let workloads: Vec<(&Labels, &ResponsivenessSummary)> = workloads.collect();
    if workloads.is_empty() {
        return;
    }
    let mut gauge = |name: &'static str, help: &str, value: fn(&ResponsivenessSummary) -> Option<f64>| {
        page.gauge(name, help, |page| {
            for (of, workload) in &workloads {
                page.sample("", of, value(workload));
            }
        });
    };
    gauge(
        "netburn_responsiveness_rpm",
        "Round trips per minute under load (draft-ietf-ippm-responsiveness-09).",
        |of| of.rpm,
    );
    gauge(
        "netburn_responsiveness_foreign_rpm",
        "Round trips per minute of probes on connections of their own.",
        |of| of.foreign_rpm,
    );
    gauge(
        "netburn_responsiveness_loaded_rpm",
        "Round trips per minute of probes on connections with load.",
        |of| of.loaded_rpm,
    );
    gauge(
        "netburn_responsiveness_lost_ratio",
        "Share of the probes of responsiveness without a response.",
        |of| {
            let due = of.foreign_probes.due.saturating_add(of.self_probes.due);
            let lost = of.foreign_probes.lost.saturating_add(of.self_probes.lost);
            (due > 0).then(|| lost as f64 / due as f64)
        },
    );
}

/// Both directions of the video calls.
fn videos(page: &mut Page, streams: &[(Labels, &StreamSummary)]) {
    let mut gauge = |name: &'static str, help: &str, value: fn(&StreamSummary) -> Option<f64>| {
        page.gauge(name, help, |page| {
            for (of, stream) in streams {
                page.sample("", of, value(stream));
            }
        });
    };
    gauge(
        "netburn_video_freezes",
        "Freezes of a direction of a video call (webrtc-stats).",
        |stream| Some(stream.video?.freezes as f64),
    );
    gauge(
        "netburn_video_freezes_seconds",
        "Total duration of the freezes of a direction of a video call.",
        |stream| Some(stream.video?.total_freezes_ms / 1e3),
    );
    gauge(
        "netburn_video_frozen_ratio",
        "Share of the time of a direction of a video call in freezes.",
        |stream| stream.video?.frozen_share,
    );
    gauge(
        "netburn_video_rate_bits_per_second",
        "Mean rate of the complete frames of a direction of a video call.",
        |stream| stream.video?.rate_mbps.map(|mbps| mbps * 1e6),
    );
    gauge(
        "netburn_video_at_target_ratio",
        "Share of the frames of a direction of a video call that were encoded at the target rate and became complete.",
        |stream| stream.video?.at_target_share,
    );
}

fn round_trip(workload: &WorkloadSummary) -> Option<LatencyMs> {
    workload.streams.as_ref()?.round_trip_ms
}

/// Labels beyond those that every series has.
#[derive(Debug, Clone, Default)]
struct Labels(Vec<(&'static str, String)>);

impl Labels {
    fn and(&self, name: &'static str, value: &str) -> Labels {
        let mut labels = self.clone();
        labels.0.push((name, value.to_owned()));
        labels
    }
}

struct Page {
    text: String,
    common: Vec<(&'static str, String)>,
}

/// The family that samples are of, while they are written.
struct Family<'a> {
    page: &'a mut Page,
    name: &'static str,
}

impl Page {
    /// Writes a family of samples. A family without samples is left out. A name ends with its unit.
    fn family(&mut self, name: &'static str, kind: &str, help: &str, samples: impl FnOnce(&mut Family<'_>)) {
        let before = self.text.len();
        let _ = writeln!(self.text, "# TYPE {name} {kind}");
        let units = ["seconds", "ratio", "bits_per_second"];
        if let Some(unit) = units.iter().find(|unit| name.ends_with(&format!("_{unit}"))) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {}", escaped(help));
        let bare = self.text.len();
        samples(&mut Family { page: self, name });
        if self.text.len() == bare {
            self.text.truncate(before);
        }
    }

    fn gauge(&mut self, name: &'static str, help: &str, samples: impl FnOnce(&mut Family<'_>)) {
        self.family(name, "gauge", help, samples);
    }

    /// One series for each possible verdict; the actual one is 1.
    fn states(&mut self, name: &'static str, help: &str, verdicts: impl IntoIterator<Item = (Labels, Verdict)>) {
        self.family(name, "stateset", help, |family| {
            for (of, verdict) in verdicts {
                for state in Verdict::ALL {
                    let holds = f64::from(u8::from(state == verdict));
                    family.sample("", &of.and(name, verdict_name(state)), Some(holds));
                }
            }
        });
    }
}

impl Family<'_> {
    fn sample(&mut self, suffix: &str, of: &Labels, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else {
            return;
        };
        let labels = self.page.common.iter().chain(&of.0);
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let _ = writeln!(self.page.text, "{}{suffix}{{{}}} {value}", self.name, labels.join(","));
    }

    fn quantiles(&mut self, of: &Labels, latency: &LatencyMs) {
        for (quantile, value) in [
            ("0.5", latency.p50),
            ("0.75", latency.p75),
            ("0.9", latency.p90),
            ("0.95", latency.p95),
            ("0.99", latency.p99),
        ] {
            self.sample("", &of.and("quantile", quantile), value.map(|ms| ms / 1e3));
        }
        self.sample("_count", of, Some(latency.count as f64));
    }
}

/// A label's value or a help text, with the escapes of the format.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_one_label() {
        assert_eq!(escaped("a\"} 1\n\\"), r#"a\"} 1\n\\"#);
    }
}
