//! `netburn measure`: devices, their measurement and its model, on this machine's loopback device.

use crate::support::fleet::{Fleet, end};
use crate::support::{Bench, Ended, Running, finish, start};
use netburn_scenario::Document;
use std::path::Path;
use std::process::Command;

/// `netburn measure` with the fleet's controller, without a question.
fn measuring(fleet: &Fleet, more: &[&str]) -> Running {
    start(fleet.command(&[&["measure", "--yes"][..], more].concat()))
}

/// Rates of a device in the table: down and up, in Mbit/s.
#[track_caller]
fn rates(text: &str, device: &str) -> [f64; 2] {
    let row = text.lines().find(|line| line.starts_with(device));
    let mut cells = row
        .unwrap_or_else(|| panic!("no {device} in {text}"))
        .split_whitespace();
    [1, 0].map(|skipped| cells.nth(skipped).unwrap().parse().unwrap())
}

/// The agents limit their own rates, so the rates are known.
#[test]
fn two_devices_are_measured_and_modelled() {
    let fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &["--max-rate", "8 Mbit/s"]);
    let beta = fleet.agent("beta", &["--max-rate", "4 Mbit/s"]);
    std::fs::create_dir(fleet.bench.path("measured")).unwrap();
    fleet.bench.write("measured/notes", "of an earlier measurement");
    let ended = measuring(&fleet, &["--devices", "2", "--out", "measured"]).finish();
    // No network of the model limits each device to a rate of its own. A change is recommended only by models that explain
    // the measurement.
    let last = match ended.code() {
        0 => "next: netburn explain measured-2",
        3 => "help: measure again",
        _ => panic!("{}", ended.stderr),
    };
    for expected in [
        "devices join with",
        "+ alpha  agent",
        "+ beta   agent",
        // 6 phases of 4 s in one direction: 3 GB at 1 Gbit/s.
        "at most 3.0 GB at 1 Gbit/s",
        "phase 7 of 7: alpha up, beta up",
        "saved to measured-2",
        last,
    ] {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words(&ended.stderr).contains(&words(expected)),
            "`{expected}` is not in:\n{}",
            ended.stderr
        );
    }
    let text = ended.out();
    for (device, mbps) in [("alpha", 8.0), ("beta", 4.0)] {
        for rate in rates(&text, device) {
            assert!((rate / mbps - 1.0).abs() < 0.1, "{device}: {rate} of {mbps}\n{text}");
        }
    }
    assert!(text.contains("Slowest device: beta"), "{text}");
    let model = std::fs::read_to_string(fleet.bench.path("measured-2/network.toml")).unwrap();
    let plan = Document::from_toml("network.toml", &model).unwrap().resolve().unwrap();
    let names: Vec<_> = plan.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["alpha", "beta"]);
    assert!(fleet.bench.path("measured-2/report.html").exists());
    let before = std::fs::read_dir(fleet.bench.path("measured")).unwrap();
    assert_eq!(before.count(), 1, "an existing folder is not changed");
    end(alpha);
    end(beta);
}

/// With three devices there would be ten phases.
#[test]
fn a_device_that_leaves_ends_the_measurement_early_and_is_named() {
    for (signal, why) in [
        ("KILL", ", and it did not reconnect"),
        ("INT", "beta left: stopped by its owner"),
        // It answers no more, as a phone whose screen is off.
        ("STOP", "beta left: no message for 5 s, and it did not reconnect"),
    ] {
        let fleet = Fleet::new();
        let agent = |name| fleet.agent(name, &["--max-rate", "4 Mbit/s"]);
        let agents = [agent("alpha"), agent("gamma")];
        let beta = agent("beta");
        let mut measure = measuring(&fleet, &["alpha", "beta", "gamma", "--out", "measured"]);
        measure.wait_for("the load", |run| run.stderr_so_far().contains("phase 2 of 10"));
        beta.signal(signal);
        let ended = measure.finish().expect(3);
        for expected in [
            "saved to measured",
            "the measurement ended early, so there is no model of the network: beta left: ",
            why,
            "help: measure again; keep the page of a phone in the foreground and its screen on",
        ] {
            assert!(
                ended.stderr.contains(expected),
                "{signal}: `{expected}` is not in:\n{}",
                ended.stderr
            );
        }
        // 8 s at most have passed since the second phase began, and each phase with its pause takes 6 s.
        assert!(!ended.stderr.contains("phase 5 of 10"), "{signal}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{}", ended.out());
        assert!(!fleet.bench.path("measured/network.toml").exists());
        // The record stays, and no fit uses it.
        let report = finish(fleet.command(&["report", "measured"])).expect(0);
        assert!(report.out().contains("beta"), "{}", report.out());
        let fit = finish(fleet.command(&["fit", "measured"])).expect(3);
        assert!(fit.stderr.contains("is not complete: beta left: "), "{}", fit.stderr);
        beta.signal("KILL");
        for agent in agents {
            end(agent);
        }
    }
}

#[test]
fn one_device_is_measured_with_a_note() {
    let fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let mut measure = measuring(&fleet, &["alpha", "--out", "measured"]);
    measure.wait_for("the load", |run| {
        run.stderr_so_far().contains("phase 2 of 3: alpha down")
    });
    let shown = measure.stderr_so_far();
    assert!(shown.contains("note: one device shows its own link"), "{shown}");
    measure.signal("INT");
    measure.finish().expect(3);
    end(alpha);
}

/// Runs `netburn measure` on a terminal, which Python opens. After each text of `answers` it enters the line of this text.
fn on_terminal(fleet: &Fleet, args: &[&str], answers: &[(&str, &str)]) -> Running {
    let script = "import os, pty, sys\n\
         pid, fd = pty.fork()\n\
         if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
         answers = os.environ['ANSWERS'].split(';')\n\
         seen = b''\n\
         while True:\n\
         \x20   try: data = os.read(fd, 4096)\n\
         \x20   except OSError: break\n\
         \x20   if not data: break\n\
         \x20   os.write(1, data)\n\
         \x20   seen = seen + data\n\
         \x20   if answers and answers[0].split('=')[0].encode() in seen:\n\
         \x20       os.write(fd, answers.pop(0).split('=')[1].encode() + b'\\n')\n\
         \x20       seen = b''\n\
         os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
    let like = fleet.command(&[&["measure"][..], args].concat());
    let mut command = fleet.bench.prepared(Command::new("python3"));
    let each: Vec<String> = answers
        .iter()
        .map(|(question, answer)| format!("{question}={answer}"))
        .collect();
    command
        .args(["-c", script])
        .arg(like.get_program())
        .args(like.get_args());
    command
        .env("NETBURN_STATE", fleet.bench.path("owner"))
        .env("ANSWERS", each.join(";"))
        .env("COLUMNS", "140");
    start(command)
}

#[test]
fn a_large_measurement_asks_on_a_terminal() {
    let fleet = Fleet::new();
    let agents = ["alpha", "beta"].map(|name| fleet.agent(name, &["--max-rate", "4 Mbit/s"]));
    let question = "300 MB for each 100 Mbit/s. Continue? [y/N]";
    let words = |ended: &Ended| ended.out().split_whitespace().collect::<Vec<_>>().join(" ");
    for answer in ["n", ""] {
        let ended = on_terminal(&fleet, &["--devices", "2", "--out", "m"], &[("[y/N]", answer)]).finish();
        let shown = words(&ended.expect(2));
        assert!(shown.contains("measuring: it takes 4"), "{shown}");
        assert!(
            shown.contains(question) && shown.contains("not confirmed: nothing was sent"),
            "{shown}"
        );
        assert!(!fleet.bench.path("m").exists());
    }
    // The line after that of Enter is the answer.
    let enter = [("press Enter when all have joined", ""), ("[y/N]", "n")];
    let shown = words(&on_terminal(&fleet, &["--out", "m"], &enter).finish().expect(2));
    assert!(shown.contains("not confirmed"), "{shown}");
    let mut measure = on_terminal(&fleet, &["alpha", "beta", "--out", "m"], &[("[y/N]", "y")]);
    measure.wait_for("the run", |run| run.stdout_so_far().contains("phase 1 of 7"));
    let [alpha, beta] = agents;
    end(beta);
    let shown = words(&measure.finish().expect(3));
    assert!(shown.contains("beta left: stopped by its owner"), "{shown}");
    end(alpha);
}

#[test]
fn an_interrupted_measurement_is_saved_without_a_model() {
    let fleet = Fleet::new();
    let alpha = fleet.agent("alpha", &["--max-rate", "4 Mbit/s"]);
    let mut measure = measuring(&fleet, &["--devices", "1", "--out", "measured"]);
    measure.wait_for("the load", |run| run.stderr_so_far().contains("phase 1 of 3: idle"));
    measure.signal("INT");
    let ended = measure.finish().expect(3);
    assert!(
        ended.stderr.contains("interrupted: the measurement is not complete"),
        "{}",
        ended.stderr
    );
    finish(fleet.command(&["report", "measured"]));
    assert!(!fleet.bench.path("measured/network.toml").exists());
    end(alpha);
}

#[test]
fn missing_devices_are_named() {
    let fleet = Fleet::new();
    let wait = ["--wait", "1s", "--out", "measured"];
    let none = measuring(&fleet, &[&["--devices", "1"][..], &wait].concat())
        .finish()
        .expect(3);
    assert!(
        none.stderr
            .contains("no device joined within 1 s; nothing was measured"),
        "{}",
        none.stderr
    );
    let none = measuring(&fleet, &[&["beta"][..], &wait].concat()).finish().expect(3);
    assert!(
        none.stderr.contains("no device joined within 1 s: beta"),
        "{}",
        none.stderr
    );
    let alpha = fleet.agent("alpha", &[]);
    let two = measuring(&fleet, &[&["--devices", "2"][..], &wait].concat())
        .finish()
        .expect(3);
    assert!(
        two.stderr.contains("fewer than 2 devices joined within 1 s"),
        "{}",
        two.stderr
    );
    let one = measuring(&fleet, &[&["alpha", "beta"][..], &wait].concat())
        .finish()
        .expect(3);
    assert!(
        one.stderr
            .contains("not all devices joined within 1 s: beta waits for the agent beta"),
        "{}",
        one.stderr
    );
    // A device with another name does not replace one.
    let other = measuring(&fleet, &[&["beta"][..], &wait].concat()).finish().expect(3);
    assert!(
        other.stderr.contains("beta waits for the agent beta"),
        "{}",
        other.stderr
    );
    assert!(!fleet.bench.path("measured").exists());
    end(alpha);
}

/// Without `netburn fleet serve`, the command is the controller.
#[test]
fn devices_join_the_measurement_itself_until_it_is_interrupted() {
    let bench = Bench::new();
    let state = |name: &str, args: &[&str]| bench.with_state(name, args);
    let listen = ["--listen", "127.0.0.1:0", "--quiet"];
    let mut measure = start(state(
        "owner",
        &[&["measure", "--yes", "--devices", "2"][..], &listen].concat(),
    ));
    measure.wait_for("the address", |run| {
        run.stderr_so_far().contains("waiting for 2 devices")
    });
    let shown = measure.stderr_so_far();
    let url = shown
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("http://"))
        .unwrap();
    let agent = start(state("alpha", &["fleet", "join", url, "--name", "alpha"]));
    measure.wait_for("alpha to join", |run| run.stderr_so_far().contains("+ alpha"));
    let socket = bench.path("owner/fleet/controller.sock");
    assert!(socket.exists());
    measure.signal("INT");
    let ended = measure.finish().expect(3);
    assert!(
        ended.stderr.contains("interrupted: nothing was measured"),
        "{}",
        ended.stderr
    );
    assert!(!socket.exists());
    assert!(!bench.path("runs").exists());
    end(agent);
}

#[test]
fn invalid_arguments_start_nothing() {
    let bench = Bench::new();
    let wrong = |args: &[&str], expected: &str| {
        let args = [&["measure"][..], args, &["--listen", "127.0.0.1:0", "--quiet"]].concat();
        let ended = finish(bench.with_state("owner", &args)).expect(2);
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
    };
    wrong(&[], "standard input is no terminal");
    wrong(&["tv", "tv"], "found `tv` twice");
    wrong(&["two words"], "invalid name");
    wrong(&["tv", "--devices", "1"], "cannot be used with");
    wrong(&["--devices", "0"], "1..=12");
    wrong(&["--devices", "13"], "1..=12");
    // Two devices alone and together, down and up: 6 phases of 4 s at 1 Gbit/s.
    let large = "The measurement may transfer at most 3.0 GB at 1 Gbit/s, or 300 MB for each 100 Mbit/s. To measure without a \
                 question, add --yes.";
    wrong(&["--devices", "2"], large);
    wrong(&["tv", "phone"], large);
    assert!(!Path::new(&bench.path("owner/fleet/controller.sock")).exists());
}
