//! The model's windows compared with those of Linux, over the same path with the same losses
//! (`tests/data/README.md`).

use crate::path::{Flow, Outcome, Path, run};
use crate::whole;
use netburn_tcp::config::CongestionControl;
use netburn_units::{BitRate, Duration, Instant};

/// A path of `scripts/record-cwnd`.
#[derive(Debug, Clone)]
struct Recorded {
    name: &'static str,
    mbps: u64,
    /// Per direction, in ms.
    delay: u64,
    /// In packets.
    queue: usize,
    seconds: i64,
    lost: Vec<u64>,
    pause: Option<(Duration, Duration)>,
    marks: bool,
}

/// 20 Mbit/s, 20 ms per direction.
fn at_20_mbps(name: &'static str, queue: usize, seconds: i64, lost: &[u64]) -> Recorded {
    Recorded {
        name,
        mbps: 20,
        delay: 20,
        queue,
        seconds,
        lost: lost.to_vec(),
        pause: None,
        marks: false,
    }
}

fn short() -> Recorded {
    at_20_mbps("short", 300, 15, &[300, 3_000, 9_000, 16_000])
}

fn long() -> Recorded {
    Recorded {
        mbps: 30,
        delay: 50,
        ..at_20_mbps("long", 600, 25, &[1_500, 12_000, 30_000])
    }
}

fn clean() -> Recorded {
    at_20_mbps("clean", 1_000, 25, &[])
}

fn tail() -> Recorded {
    at_20_mbps("tail", 67, 20, &[])
}

fn burst() -> Recorded {
    let lost: Vec<u64> = [300].into_iter().chain(3_000..3_020).chain(9_000..9_400).collect();
    at_20_mbps("burst", 300, 15, &lost)
}

fn idle() -> Recorded {
    Recorded {
        pause: Some((Duration::from_secs(4), Duration::from_millis(2_500))),
        ..at_20_mbps("idle", 300, 10, &[300])
    }
}

fn marks() -> Recorded {
    Recorded {
        name: "marks",
        marks: true,
        ..short()
    }
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    secs: f64,
    cwnd: f64,
    ssthresh: f64,
    in_flight: f64,
    acked: f64,
    recovering: bool,
}

/// Compared values of a curve.
#[derive(Debug)]
struct Curve {
    samples: Vec<Sample>,
    seconds: f64,
}

impl Curve {
    fn of_kernel(name: &str, seconds: i64) -> Self {
        let file = format!("{}/tests/data/{name}.csv", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let samples = text
            .lines()
            .skip(1)
            .map(|line| {
                let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
                Sample {
                    secs: fields[0] / 1e3,
                    cwnd: fields[1],
                    ssthresh: fields[2],
                    recovering: fields[3] == 2.0 || fields[3] == 3.0,
                    in_flight: fields[6],
                    acked: fields[7],
                }
            })
            .collect();
        Self {
            samples,
            seconds: seconds as f64,
        }
    }

    fn of_model(outcome: &Outcome, seconds: i64) -> Self {
        let samples = outcome
            .curve
            .iter()
            .map(|point| Sample {
                secs: point.at.as_secs_f64(),
                cwnd: f64::from(point.cwnd),
                ssthresh: f64::from(point.ssthresh),
                in_flight: f64::from(point.in_flight),
                acked: point.delivered as f64,
                recovering: point.state.is_reducing(),
            })
            .collect();
        Self {
            samples,
            seconds: seconds as f64,
        }
    }

    /// Time average of a value from `from` on.
    fn mean(&self, from: f64, metric: impl Fn(&Sample) -> f64) -> f64 {
        let mut sum = 0.0;
        for (index, sample) in self.samples.iter().enumerate() {
            let until = self.samples.get(index + 1).map_or(self.seconds, |next| next.secs);
            sum += (until.min(self.seconds) - sample.secs.max(from)).max(0.0) * metric(sample);
        }
        sum / (self.seconds - from)
    }

    /// Spans during which the window is four segments: start and length of each.
    fn empty(&self) -> Vec<(f64, f64)> {
        let mut spans: Vec<(f64, f64)> = Vec::new();
        let mut inside = false;
        for sample in &self.samples {
            let empty = sample.cwnd <= 4.0;
            match spans.last_mut() {
                Some(span) if empty && inside => span.1 = sample.secs - span.0,
                _ if empty => spans.push((sample.secs, 0.0)),
                _ => {}
            }
            inside = empty;
        }
        spans
    }

    /// Recoveries: start, window before, threshold after, and time at which the window was
    /// restored.
    fn recoveries(&self) -> Vec<Recovery> {
        let mut recoveries: Vec<Recovery> = Vec::new();
        for pair in self.samples.windows(2) {
            let (before, now) = (pair[0], pair[1]);
            if now.recovering && !before.recovering {
                recoveries.push(Recovery {
                    at: now.secs,
                    before: before.cwnd.max(now.cwnd),
                    after: now.ssthresh,
                    regained: None,
                });
            } else if let Some(last) = recoveries.last_mut()
                && !now.recovering
                && last.regained.is_none()
                && now.cwnd >= last.before
            {
                last.regained = Some(now.secs - last.at);
            }
        }
        recoveries
    }
}

#[derive(Debug, Clone, Copy)]
struct Recovery {
    at: f64,
    before: f64,
    after: f64,
    regained: Option<f64>,
}

/// Tested part of the model.
#[derive(Debug, Clone, Copy)]
enum Model {
    /// Congestion control with a minimal sender.
    Alone,
    /// Complete endpoints.
    Whole,
}

/// Curves of the kernel and of the model.
fn curves(model: Model, control: &CongestionControl, recorded: &Recorded) -> (Curve, Curve) {
    let path = Path {
        rate: BitRate::from_mbps(recorded.mbps),
        delay: Duration::from_millis(recorded.delay),
        queue: recorded.queue,
    };
    let flow = Flow {
        lost: recorded.lost.clone(),
        pause: recorded.pause,
        marks: recorded.marks,
        ..Flow::new(control.clone())
    };
    let seconds = recorded.seconds;
    let outcome = match model {
        Model::Alone => run(path, &[flow], Instant::from_secs(seconds)).remove(0),
        Model::Whole => whole::run(path, &[flow], Duration::from_secs(seconds as u64)).remove(0),
    };
    let name = format!("{control}-{}", recorded.name);
    (Curve::of_kernel(&name, seconds), Curve::of_model(&outcome, seconds))
}

/// Asserts that two values differ by at most a share; for times plus a sample of 10 ms, for
/// segments plus one.
fn near(ours: f64, theirs: f64, tolerance: f64, what: &str) {
    let least = if what.contains("seconds") { 0.021 } else { 1.0 };
    assert!(
        (ours - theirs).abs() <= (tolerance * theirs).max(least),
        "{what}: {ours:.3}, the kernel {theirs:.3}"
    );
}

/// Compares averages of the model's curve with the kernel's: window, data in flight, delivered
/// data.
fn hold_means(model: Model, control: &CongestionControl, recorded: &Recorded, tolerance: f64) -> (Curve, Curve) {
    let (kernel, curve) = curves(model, control, recorded);
    let what = |metric| format!("{control} {} {model:?}, segments {metric}", recorded.name);
    let (theirs, ours) = (kernel.mean(0.0, |s| s.cwnd), curve.mean(0.0, |s| s.cwnd));
    near(ours, theirs, tolerance, &what("of mean window"));
    let (theirs, ours) = (kernel.mean(0.0, |s| s.in_flight), curve.mean(0.0, |s| s.in_flight));
    near(ours, theirs, tolerance, &what("in flight"));
    let last = |curve: &Curve| curve.samples.last().unwrap().acked;
    near(last(&curve), last(&kernel), tolerance, &what("delivered"));
    (kernel, curve)
}

/// Additionally compares each recovery: its time, the window before, the threshold after, and the
/// time until the window was restored.
fn hold(model: Model, control: &CongestionControl, recorded: &Recorded, tolerance: f64) {
    let (kernel, curve) = hold_means(model, control, recorded, tolerance);
    let (theirs, ours) = (kernel.recoveries(), curve.recoveries());
    assert_eq!(ours.len(), theirs.len(), "{ours:?}, the kernel {theirs:?}");
    let what = |metric| format!("{control} {} {model:?}, {metric}", recorded.name);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        near(ours.at, theirs.at, tolerance, &what("seconds to a loss"));
        near(ours.before, theirs.before, tolerance, &what("segments before a loss"));
        near(
            ours.after,
            theirs.after,
            tolerance,
            &what("segments of threshold after it"),
        );
        if *control != CongestionControl::Bbr {
            assert_eq!(
                ours.regained.is_some(),
                theirs.regained.is_some(),
                "{}",
                what("regained")
            );
            if let (Some(ours), Some(theirs)) = (ours.regained, theirs.regained) {
                near(ours, theirs, tolerance, &what("seconds to regain the window"));
            }
        }
    }
}

const BOTH: [Model; 2] = [Model::Alone, Model::Whole];

#[test]
fn reno() {
    for model in BOTH {
        hold(model, &CongestionControl::Reno, &short(), 0.02);
        hold(model, &CongestionControl::Reno, &long(), 0.02);
    }
}

#[test]
fn cubic_where_reno_would_be_faster() {
    for model in BOTH {
        hold(model, &CongestionControl::Cubic, &short(), 0.02);
    }
}

#[test]
fn cubic_where_its_function_is() {
    for model in BOTH {
        hold(model, &CongestionControl::Cubic, &long(), 0.02);
    }
}

/// Segments that are marked instead of lost (RFC 3168).
#[test]
fn marked_segments() {
    hold(Model::Whole, &CongestionControl::Reno, &marks(), 0.02);
    hold(Model::Whole, &CongestionControl::Cubic, &marks(), 0.02);
}

/// Twenty consecutive losses, then 400: the timer expires repeatedly, with doubled timeouts.
#[test]
fn timeouts_of_many_losses() {
    hold(Model::Whole, &CongestionControl::Reno, &burst(), 0.02);
    hold(Model::Whole, &CongestionControl::Cubic, &burst(), 0.02);
}

/// Losses due to queue overflow: the following sawtooth, whose periods are equal. The end of slow
/// start, where a whole window overflows, takes 0.25 s longer in the model.
#[test]
fn overflow() {
    for control in [CongestionControl::Reno, CongestionControl::Cubic] {
        let (kernel, curve) = hold_means(Model::Whole, &control, &tail(), 0.02);
        let (theirs, ours) = (kernel.recoveries(), curve.recoveries());
        assert_eq!(ours.len(), theirs.len(), "{ours:?}, the kernel {theirs:?}");
        let teeth = |recoveries: &[Recovery]| -> Vec<(f64, f64, f64)> {
            recoveries[2..]
                .windows(2)
                .map(|pair| (pair[1].at - pair[0].at, pair[1].before, pair[1].after))
                .collect()
        };
        for (ours, theirs) in teeth(&ours).iter().zip(teeth(&theirs)) {
            near(ours.0, theirs.0, 0.02, "seconds of a tooth");
            near(ours.1, theirs.1, 0.02, "segments at its tip");
            near(ours.2, theirs.2, 0.02, "segments at its foot");
        }
    }
    hold_means(Model::Whole, &CongestionControl::Bbr, &tail(), 0.07);
}

/// After 2.5 s without data the window is the initial one again, and slow start returns to three
/// quarters.
#[test]
fn idleness() {
    for control in [CongestionControl::Reno, CongestionControl::Cubic] {
        let (kernel, curve) = hold_means(Model::Whole, &control, &idle(), 0.02);
        let restart = |curve: &Curve| {
            let after: Vec<&Sample> = curve.samples.iter().filter(|sample| sample.secs > 6.0).collect();
            let least = after.iter().map(|sample| sample.cwnd).fold(f64::MAX, f64::min);
            let begun = after.iter().find(|sample| sample.cwnd == least).unwrap();
            let grown = after.iter().find(|sample| sample.secs >= begun.secs + 0.5).unwrap();
            (least, begun.ssthresh, grown.cwnd)
        };
        let (ours, theirs) = (restart(&curve), restart(&kernel));
        assert_eq!((ours.0, theirs.0), (10.0, 10.0));
        near(ours.1, theirs.1, 0.02, "segments of threshold");
        near(ours.2, theirs.2, 0.03, "segments half a second later");
    }
}

/// Its window is smaller by 3 to 5 %. The recorded path has occasional delays, which look like
/// aggregation, and the window includes an allowance for that. Without endpoints there are no
/// bursts, and 7 % less in flight.
#[test]
fn bbr() {
    for model in BOTH {
        hold(model, &CongestionControl::Bbr, &short(), 0.07);
        hold(model, &CongestionControl::Bbr, &clean(), 0.07);
    }
}

/// BBR drains the path if no shorter round-trip time was measured for ten seconds: start and
/// length.
#[test]
fn bbr_measures_the_round_trip_when_the_kernel_does() {
    for model in BOTH {
        let (kernel, curve) = curves(model, &CongestionControl::Bbr, &clean());
        let (theirs, ours) = (kernel.empty(), curve.empty());
        assert_eq!(ours.len(), theirs.len(), "{ours:?}, the kernel {theirs:?}");
        for ((our_start, our_length), (their_start, their_length)) in ours.iter().zip(&theirs) {
            // Ten seconds after the last shorter round-trip time, which a noisy path may show
            // earlier or later.
            assert!((our_start - their_start).abs() < 1.0, "{ours:?}, the kernel {theirs:?}");
            // 200 ms and a round of 40, sampled every 10 ms.
            assert!(
                (our_length - their_length).abs() < 0.06,
                "{ours:?}, the kernel {theirs:?}"
            );
        }
    }
}
