//! `netburn sqm`: the SQM of a router, and settings for it.

use crate::args::{Format, SqmArgs};
use crate::exit::{CliError, ExitStatus};
use crate::fetch::check_permission;
use crate::measure::consent::{CONFIRM_THRESHOLD, is_yes, unattended};
use crate::plan::wrong;
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::{document, eprint_message, eprint_question, print_stdout};
use netburn_platform::interface;
use netburn_report::sanitise::sanitise;
use netburn_scenario::{Document, Environment, Plan, decimal, regular};
use netburn_sqm::measure::{Measured, Played, max_bytes, measure};
use netburn_sqm::report::{Answer, Context, Report};
use netburn_sqm::samples::Collector;
use netburn_sqm::stage::{HEADERS_V4, HEADERS_V6, Load as StageLoad, Stage};
use netburn_sqm::verdict::Health;
use netburn_traffic::client::{Resource, Target};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelHandle, CancelToken, DriveReport, Load, on_thread};
use netburn_traffic::fetch::{FetchError, Options, Url, find};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::Workload;
use std::io::{self, BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// Largest scenario file of a line.
const MAX_SCENARIO: u64 = 1 << 20;
/// Time before a stage, in which the driver starts.
const LEAD: std::time::Duration = std::time::Duration::from_millis(500);
/// Length of the check whether the server returns datagrams.
const CHECK: Duration = Duration::from_secs(1);

/// `netburn sqm URL`.
pub(crate) fn sqm(args: &SqmArgs) -> Result<ExitStatus, CliError> {
    let (measured, context) = match (&args.line, &args.url) {
        (Some(path), _) => (simulated(path)?, context(args)),
        (None, Some(url)) => real(args, url)?,
        (None, None) => return Err(CliError::Usage("missing URL of a server beyond the line".to_owned())),
    };
    let report = Report::new(&measured, context);
    print_stdout(&match args.format {
        Format::Text => report.text(),
        Format::Json => document(&report.json()),
    })?;
    Ok(match report.answer() {
        Answer::CannotTell => ExitStatus::NotMeasured,
        Answer::Right | Answer::SetUp => ExitStatus::Success,
    })
}

fn context(args: &SqmArgs) -> Context {
    Context {
        interface: args.interface.clone().unwrap_or_default(),
        contract: [args.contract_down, args.contract_up],
        ..Context::default()
    }
}

/// The measurement of a modelled line.
fn simulated(path: &Path) -> Result<Measured, CliError> {
    let network = regular::read_input(path, MAX_SCENARIO);
    let network = network.map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?;
    let name = path.display().to_string();
    eprint_message("simulating the measurement of this line");
    measure(HEADERS_V4, &mut |_, stage| {
        let plan = planned(&name, &stage.scenario(&network, "wired = true"), Environment::Simulate)?;
        let mut collector = Collector::new(stage, HEADERS_V4);
        let ran = netburn_simulate::run(&plan, |_, rows| {
            rows.iter().for_each(|row| collector.put(row));
            ControlFlow::Continue(())
        });
        ran.map_err(|error| CliError::Usage(error.to_string()))?;
        Ok((collector.finish(), ControlFlow::Continue(())))
    })
}

fn planned(name: &str, text: &str, environment: Environment) -> Result<Plan, CliError> {
    let document = Document::from_toml(name, text).map_err(wrong)?;
    Ok(document.resolve_for(environment).map_err(wrong)?.0)
}

/// The measurement of the line of this computer.
fn real(args: &SqmArgs, url: &Url) -> Result<(Measured, Context), CliError> {
    let runtime = runtime::here()?;
    let signals = runtime.block_on(async { Signals::new() });
    let mut signals = signals.map_err(|error| CliError::Failed(format!("can't listen for signals: {error}")))?;
    let mut options = Options::new(url.clone());
    "/bytes/1".clone_into(&mut options.url.path);
    let site = runtime
        .block_on(signals.or_interrupted(find(&options)))?
        .map_err(unreachable)?;
    check_permission(&site.permission, &site.url.host, args.yes)?;
    let target = Target {
        resource: Resource::Netburn,
        ..site.target
    };
    let ip = target.address.ip().to_canonical();
    let headers = if ip.is_ipv6() { HEADERS_V6 } else { HEADERS_V4 };
    let name = interface::towards(ip).ok();
    let mut line = Line {
        runtime: &runtime,
        signals: &mut signals,
        target: Arc::new(target),
        headers,
        cpu: 0.0,
    };
    line.check_datagrams(url)?;
    confirm(args)?;
    let measured = measure(headers, &mut |number, stage| {
        eprint_message(&describe(number, stage));
        line.play(stage)
    })?;
    let context = Context {
        health: Health { cpu: line.cpu },
        is_on_wifi: name.is_some_and(|name| is_wifi(&name)),
        ..context(args)
    };
    runtime.shutdown_background();
    Ok((measured, context))
}

/// The line of this computer, to a server.
struct Line<'a> {
    runtime: &'a Runtime,
    signals: &'a mut Signals,
    target: Arc<Target>,
    headers: u32,
    /// Highest share of processor time of a stage.
    cpu: f64,
}

impl Line<'_> {
    /// Plays a stage. After a signal the samples are those until then.
    fn play(&mut self, stage: &Stage) -> Result<Played, CliError> {
        let plan = planned("sqm", &stage.scenario("", ""), Environment::Fleet)?;
        let (stopper, stop) = CancelHandle::new();
        let driven = driven(
            &plan,
            Arc::clone(&self.target),
            Collector::new(stage, self.headers),
            stop,
        );
        let (driven, is_stopped) = self.runtime.block_on(self.signals.or_stopped(&stopper, driven))?;
        let (collector, report) =
            driven.map_err(|error| CliError::Failed(format!("can't measure on this machine: {error}")))?;
        self.cpu = self.cpu.max(report.cpu);
        let flow = if is_stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        };
        Ok((collector.finish(), flow))
    }

    /// Checks that the server returns datagrams, before much is transferred.
    fn check_datagrams(&mut self, url: &Url) -> Result<(), CliError> {
        let mut stage = Stage::default();
        stage.add(StageLoad::Idle, CHECK, Duration::ZERO);
        let (samples, flow) = self.play(&stage)?;
        if flow.is_break() {
            return Err(CliError::Failed("interrupted before the first result".to_owned()));
        }
        if samples.idle.iter().any(|own| !own.server.is_empty()) {
            return Ok(());
        }
        Err(CliError::Failed(format!(
            "{}: the server does not return datagrams, which this measurement needs\nhelp: run `netburn serve` without \
             --no-datagrams on it, and open UDP port {}",
            sanitise(&url.to_string()),
            self.target.datagrams().port()
        )))
    }
}

/// Drives the workloads of a plan, and collects their rows.
async fn driven(
    plan: &Plan,
    target: Arc<Target>,
    mut collector: Collector,
    stop: CancelToken,
) -> io::Result<(Collector, DriveReport)> {
    let end = Instant::ZERO + plan.duration;
    let workloads = plan.stations.iter().flat_map(|station| &station.workloads).zip(0_u16..);
    let loads = workloads.map(|(own, number)| Load {
        station: 0,
        workload: number,
        machine: Workload::new(
            own.config.clone(),
            Instant::ZERO,
            end,
            end + plan.drain,
            plan.seed,
            u64::from(number),
        ),
        target: Arc::clone(&target),
    });
    let clock = RunClock::starting_at(std::time::Instant::now() + LEAD);
    let (rows, mut received) = mpsc::unbounded_channel();
    let driving = tokio::spawn(on_thread(loads.collect(), clock, rows, stop));
    while let Some(batch) = received.recv().await {
        batch.iter().for_each(|row| collector.put(row));
    }
    let report = driving.await.map_err(io::Error::other)??;
    Ok((collector, report))
}

fn unreachable(error: FetchError) -> CliError {
    let help = match &error {
        FetchError::Status(..) => "\nhelp: the server must be `netburn serve`",
        _ => "\nhelp: run `netburn serve` on a computer beyond the line, and open its TCP and UDP port 4480",
    };
    CliError::Failed(format!("{}{help}", sanitise(&error.to_string())))
}

fn describe(number: usize, stage: &Stage) -> String {
    let what = if stage.has_probes() {
        "round trips without load and under TCP"
    } else if stage.is_saturation() {
        "datagrams that fill the line"
    } else {
        "datagrams of several sizes"
    };
    format!("stage {number}: {what}, {:.0} s", stage.duration().as_secs_f64())
}

/// Prints the volume, and asks for confirmation if it is large.
fn confirm(args: &SqmArgs) -> Result<(), CliError> {
    let most = max_bytes(args.most, args.most);
    let each = BitRate::from_mbps(100);
    let volume = format!(
        "The measurement takes one to two minutes, and may transfer at most {} at {}, or {} for each {each}.",
        decimal(most),
        args.most,
        decimal(max_bytes(each, each))
    );
    if args.yes || most <= CONFIRM_THRESHOLD {
        eprint_message(&volume);
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(unattended(&volume));
    }
    eprint_question(&format!("{volume} Continue? [y/N]"));
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    if is_yes(&answer) {
        Ok(())
    } else {
        Err(CliError::Usage("not confirmed: nothing was measured".to_owned()))
    }
}

/// True if a network device is Wi-Fi (Linux's sysfs).
fn is_wifi(name: &str) -> bool {
    Path::new("/sys/class/net").join(name).join("phy80211").exists()
}
