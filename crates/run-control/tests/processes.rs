//! Runs with processes: this program, started by the launcher for this machine.

mod support;

use netburn_record::{Detail, EventKind, LossCause, QualityIssue, Role};
use netburn_run_control::launch::{Child, Launcher, ThisMachine};
use netburn_run_control::{Join, agent_main, server_main};
use netburn_units::Instant;
use netburn_workload::Outcome as PartEnd;
use std::io::{self, Read};
use std::panic::catch_unwind;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant as Moment};
use support::{Memory, Told, four_uses, never, run};

/// Hidden command of this program that is a controller. It prints the process ID of each agent on a line.
const CONTROLLER: &str = "controller";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = |result: Result<(), netburn_run_control::AgentError>| match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    };
    match arguments[..] {
        ["agent"] => ended(
            Join::from_environment()
                .map_err(Into::into)
                .and_then(|join| agent_main(&join)),
        ),
        ["serve", "--join"] => ended(
            Join::from_environment()
                .map_err(Into::into)
                .and_then(|join| server_main(&join)),
        ),
        [CONTROLLER] => controller(),
        _ => tests(&arguments),
    }
}

/// In sequence, as in the default harness.
fn tests(arguments: &[&str]) -> ExitCode {
    let tests: [(&str, fn()); 5] = [
        (
            "participants_are_processes_and_end_with_the_round",
            participants_end_with_the_round,
        ),
        (
            "an_agent_killed_in_the_middle_is_lost_and_the_others_go_on",
            agent_killed,
        ),
        ("a_server_killed_in_the_middle_is_counted_in_failures", server_killed),
        ("participants_end_when_their_controller_is_killed", controller_killed),
        (
            "the_token_is_not_among_the_arguments_and_interrupts_do_not_reach",
            token_hidden,
        ),
    ];
    let wanted: Vec<&&str> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(**part)) {
            continue;
        }
        if arguments.contains(&"--list") {
            println!("{name}: test");
            continue;
        }
        let ok = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        passed += usize::from(ok);
        failed += usize::from(!ok);
    }
    if !arguments.contains(&"--list") {
        let result = if failed == 0 { "ok" } else { "FAILED" };
        println!("\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Starts this program and stores the parameters.
#[derive(Default, Clone)]
struct Noted {
    ids: Arc<Mutex<Vec<(String, u32)>>>,
}

impl Launcher for Noted {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let mut machine = ThisMachine {
            program: std::env::current_exe()?,
        };
        let child = machine.spawn(join)?;
        let id = child.id().expect("a process");
        self.ids.lock().unwrap().push((join.name.clone(), id));
        Ok(child)
    }
}

impl Noted {
    fn id(&self, name: &str) -> u32 {
        let ids = self.ids.lock().unwrap();
        ids.iter().find(|(n, _)| n == name).expect("it was started").1
    }
}

fn kill(id: u32) {
    let status = Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap();
    assert!(status.success());
}

/// Returns whether a process is running; a zombie is not.
fn is_there(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

fn participants_end_with_the_round() {
    let noted = Noted::default();
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let outcome = run(&four_uses("2 s"), &mut noted.clone(), &mut memory, &mut told, never()).unwrap();
    assert_eq!(outcome.lost, []);
    assert_eq!(memory.health().len(), 5);
    assert!(memory.operations(2).count() > 10);
    assert!(memory.syncs >= 2 && told.ticks >= 2 && told.phases.len() >= 5);
    assert_eq!(noted.ids.lock().unwrap().len(), 5);
    for (name, id) in noted.ids.lock().unwrap().iter() {
        assert!(!is_there(*id), "{name}");
    }
}

fn agent_killed() {
    let noted = Noted::default();
    let mut memory = Memory::default();
    let killer = noted.clone();
    let mut told = Told {
        after: Some(Instant::from_millis(1500)),
        when_running: Some(Box::new(move || kill(killer.id("phone")))),
        ..Told::default()
    };
    let outcome = run(&four_uses("12 s"), &mut noted.clone(), &mut memory, &mut told, never()).unwrap();
    assert_eq!(outcome.lost.len(), 1);
    let lost = memory.events(EventKind::Lost);
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].station, Some(2));
    assert!(lost[0].at >= Instant::from_millis(1500), "{lost:?}");
    // Its sockets close before its end can be read; the time between them depends on the machine.
    let Detail::Issue(QualityIssue::AgentLost { name, loss }) = &lost[0].detail else {
        panic!("{lost:?}")
    };
    assert_eq!(name, "phone");
    match loss.cause {
        LossCause::ProcessEnded => assert_eq!(loss.detail, "its process ended: killed by signal 9"),
        cause => assert_eq!(cause, LossCause::Disconnected, "{loss:?}"),
    }
    assert_eq!(told.warnings, [lost[0].detail.text().into_owned()]);
    // Its calls before are recorded, and later ones are not. The tv played its film to the end.
    let calls: Vec<_> = memory.operations(2).filter(|row| row.workload == 0).collect();
    assert!(calls.len() >= 5, "{}", calls.len());
    assert!(calls.iter().all(|row| row.operation.due < lost[0].at));
    let last = memory.operations(1).map(|row| row.operation.due).max().unwrap();
    assert!(last >= Instant::from_millis(9000), "{last}");
    assert_eq!(memory.health().len(), 4);
}

fn server_killed() {
    let noted = Noted::default();
    let mut memory = Memory::default();
    let killer = noted.clone();
    let mut told = Told {
        after: Some(Instant::from_millis(1000)),
        when_running: Some(Box::new(move || kill(killer.id("server")))),
        ..Told::default()
    };
    let outcome = run(&four_uses("12 s"), &mut noted.clone(), &mut memory, &mut told, never()).unwrap();
    assert_eq!(outcome.lost.len(), 1);
    let lost = memory.events(EventKind::ServerLost);
    assert_eq!((lost.len(), lost[0].station), (1, None));
    let failed = memory
        .operations(2)
        .filter(|row| matches!(row.operation.outcome, PartEnd::Failed(_)));
    assert!(failed.count() >= 5, "calls fail after the server has exited");
    // All agents sent self-reports; the server can't any more.
    assert!(memory.health().iter().all(|health| health.role == Role::Agent));
    assert_eq!(memory.health().len(), 4);
}

fn controller() -> ExitCode {
    let noted = Noted::default();
    let mut memory = Memory::default();
    let started = noted.clone();
    let mut told = Told {
        when_running: Some(Box::new(move || {
            for (_, id) in started.ids.lock().unwrap().iter() {
                println!("{id}");
            }
            println!("running");
        })),
        ..Told::default()
    };
    match run(&four_uses("1 h"), &mut noted.clone(), &mut memory, &mut told, never()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn controller_killed() {
    let mut controller = Command::new(std::env::current_exe().unwrap())
        .arg(CONTROLLER)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stdout = controller.stdout.take().unwrap();
    let mut byte = [0];
    while !said.ends_with("running\n") && stdout.read(&mut byte).unwrap() == 1 {
        said.push(char::from(byte[0]));
    }
    let ids: Vec<u32> = said.lines().filter_map(|line| line.parse().ok()).collect();
    controller.kill().unwrap();
    controller.wait().unwrap();
    assert_eq!(ids.len(), 5, "{said}");
    let patience = Moment::now() + Duration::from_secs(60);
    while ids.iter().any(|id| is_there(*id)) {
        assert!(Moment::now() < patience, "all processes exit");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn token_hidden() {
    let noted = Noted::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (looker, found) = (noted.clone(), Arc::clone(&seen));
    let mut told = Told {
        when_running: Some(Box::new(move || {
            for (_, id) in looker.ids.lock().unwrap().iter() {
                // A process group of its own: an interrupt from the terminal is for the controller only
                // (proc(5): the third field after the name).
                let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
                let group = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(2));
                assert_eq!(group, Some(&*id.to_string()));
                let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap();
                found.lock().unwrap().push(String::from_utf8_lossy(&line).into_owned());
            }
        })),
        ..Told::default()
    };
    let mut memory = Memory::default();
    run(
        &four_uses("500 ms"),
        &mut noted.clone(),
        &mut memory,
        &mut told,
        never(),
    )
    .unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 5);
    for line in seen.iter() {
        let mut words = line.split('\0').filter(|word| !word.is_empty()).skip(1);
        assert!(words.all(|word| ["agent", "serve", "--join"].contains(&word)), "{line}");
    }
}
