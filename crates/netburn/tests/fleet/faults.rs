//! Faults on a fleet: concurrent runs, killed runs, agents that reject, leave and reconnect.

use crate::support::fleet::{Fleet, end, operations, summary, token};
use crate::support::{finish, start, station};
use netburn_test_support::unused_address;
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn concurrent_runs_use_different_members() {
    let fleet = Fleet::new();
    let (_alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    // Long enough for two commands to find it running.
    let mut first = start(fleet.run(&["--out", "first", "--set", "duration=\"20 s\""]));
    first.wait_for_load();
    let rejected = finish(fleet.run(&["--out", "second", "--wait", "1s"])).expect(3);
    for text in [
        "alpha is in the run",
        "beta is in the run",
        "_first-",
        ", for about ",
        " s more",
        "--wait",
    ] {
        assert!(rejected.stderr.contains(text), "{text}: {}", rejected.stderr);
    }
    assert!(!fleet.bench.path("second").exists(), "nothing was measured");
    // With a longer timeout, the run waits until the members are free.
    let second = finish(fleet.run(&["--out", "second"]));
    assert!(
        second.stderr.contains("waiting up to 1 min: alpha is in the run"),
        "{}",
        second.stderr
    );
    let (first, second) = (summary(&first.finish()), summary(&second));
    // A call every 131 ms for 20 s and for 4 s: neither run lost calls to the other.
    for name in ["caller", "reader"] {
        assert!((151..=154).contains(&operations(&first, name)), "{first:#}");
        assert!((29..=31).contains(&operations(&second, name)), "{second:#}");
    }
}

#[test]
fn results_measured_after_the_run_was_killed_do_not_count() {
    let fleet = Fleet::new();
    let (mut alpha, _beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"40 s\""]));
    run.wait_for_load();
    std::thread::sleep(std::time::Duration::from_secs(3));
    run.signal("KILL");
    run.finish().expect(128 + 9);
    let report = || {
        let ended = finish(fleet.command(&["report", "saved", "--format", "json"]));
        // The controller may be adding results at this moment.
        (ended.code() == 0).then(|| ended.json())
    };
    if let Some(early) = report().filter(|early| early["reasons"].to_string().contains("before it could finish")) {
        assert!(
            early["reasons"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("netburn was killed"),
            "{early:#}"
        );
    }
    alpha.wait_for("the end of its workload", |agent| {
        agent
            .stderr_so_far()
            .contains("its results are kept until the controller requests them")
    });
    alpha.wait_for("the delivery of its results", |agent| {
        agent.stderr_so_far().contains("were delivered")
    });
    let mut found = None;
    alpha.wait_for("the report", |_| {
        found = report();
        found.is_some()
    });
    let found = found.unwrap();
    assert_eq!(found["verdict"], "inconclusive", "{found:#}");
    let calls = &station(&found, "caller")["workloads"][0];
    // At least three seconds, and no rows of the time without a server.
    assert!(operations(&found, "caller") >= 15, "{found:#}");
    assert_eq!(
        (&calls["failures"], &calls["unfinished"]),
        (&0.into(), &0.into()),
        "{found:#}"
    );
    // The members of the killed run are free for another.
    let next = summary(&finish(fleet.run(&["--wait", "30s"])));
    assert!(operations(&next, "caller") >= 29, "{next:#}");
}

/// The members are in the middle of the run when they connect to the new controller, which has no record of that run.
#[test]
fn results_of_a_killed_run_reach_a_restarted_controller() {
    let mut fleet = Fleet::new();
    let (mut alpha, mut beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"40 s\""]));
    run.wait_for_load();
    std::thread::sleep(std::time::Duration::from_secs(2));
    run.signal("KILL");
    run.finish().expect(128 + 9);
    let (at, serve) = (fleet.at(), fleet.serve.take().unwrap());
    serve.signal("KILL");
    serve.finish().expect(128 + 9);
    fleet.serve(&at.to_string());
    for agent in [&mut alpha, &mut beta] {
        agent.wait_for("the delivery of its results", |agent| {
            agent.stderr_so_far().contains("were delivered")
        });
    }
    let found = finish(fleet.command(&["report", "saved", "--format", "json"]))
        .expect(0)
        .json();
    for name in ["caller", "reader"] {
        assert!(operations(&found, name) >= 8, "{found:#}");
    }
}

#[test]
fn a_rejection_is_printed_once_on_both_sides() {
    let fleet = Fleet::new();
    fleet.bench.write(
        "one.toml",
        "duration = \"4 s\"\nbaseline = \"500 ms\"\n[station.reader]\nagent = \"beta\"\nworkload = \"voip\"\n",
    );
    let beta = fleet.agent("beta", &["--max-duration", "1s"]);
    let run = finish(fleet.command(&["run", "one.toml", "--on", "fleet", "--format", "json"])).expect(3);
    let why = "at most 1 s";
    assert!(
        run.json()["reasons"][0]["text"]
            .as_str()
            .unwrap()
            .contains("reader (beta): the run is too long")
    );
    assert!(!run.stderr.contains("is lost"), "{}", run.stderr);
    let printed = end(beta).stderr;
    assert_eq!(
        printed.matches("rejected its part: the run is too long").count(),
        1,
        "{printed}"
    );
    assert!(printed.contains(why) && !printed.contains("is lost"), "{printed}");
}

#[test]
fn ctrl_c_of_an_agent_delivers_its_results_and_is_reported_at_once() {
    let fleet = Fleet::new();
    let (_alpha, beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"20 s\""]));
    run.wait_for_load();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let beta = end(beta).stderr;
    assert!(
        beta.contains("ending its part in") && beta.contains("its results so far are delivered"),
        "{beta}"
    );
    assert!(
        !run.stderr_so_far().contains("waiting for the last"),
        "long before the end"
    );
    run.wait_for("the news", |run| {
        run.stderr_so_far()
            .contains("agent reader (beta) was lost: stopped by its owner")
    });
    let found = summary(&run.finish());
    assert_eq!(station(&found, "reader")["verdict"], "inconclusive", "{found:#}");
    // Two seconds of twenty, with a call every 131 ms.
    assert!((12..151).contains(&operations(&found, "reader")), "{found:#}");
    assert!((151..=154).contains(&operations(&found, "caller")), "{found:#}");
}

#[test]
fn a_killed_agent_reconnects_with_or_without_its_spool() {
    let fleet = Fleet::new();
    let (alpha, beta) = (fleet.agent("alpha", &[]), fleet.agent("beta", &[]));
    let mut run = start(fleet.run(&["--out", "saved", "--set", "duration=\"20 s\""]));
    run.wait_for_load();
    std::thread::sleep(std::time::Duration::from_secs(3));
    for agent in [alpha, beta] {
        agent.signal("KILL");
        agent.finish().expect(128 + 9);
    }
    // One agent has its spool. The disk of the other was wiped.
    let _alpha = fleet.agent("alpha", &[]);
    std::fs::remove_dir_all(fleet.bench.path("beta")).unwrap();
    let _beta = fleet.agent("beta", &[]);
    run.wait_for("the news of both", |run| {
        let printed = run.stderr_so_far();
        printed.contains("agent caller (alpha) was lost: it ended before its part was done, and was started again")
            && printed.contains("agent reader (beta) was lost: it was restarted without its rows")
    });
    let found = summary(&run.finish());
    assert_eq!(found["verdict"], "inconclusive");
    assert!(operations(&found, "caller") >= 10, "{found:#}");
}

#[test]
fn a_missing_agent_is_named_and_waited_for_once() {
    let fleet = Fleet::new();
    let _alpha = fleet.agent("alpha", &[]);
    let mut run = start(fleet.run(&["--wait", "100ms"]));
    run.wait_for_load();
    assert!(
        !run.stderr_so_far().contains("did not join in time"),
        "{}",
        run.stderr_so_far()
    );
    let found = summary(&run.finish());
    let reasons = station(&found, "reader")["reasons"].to_string();
    assert!(
        reasons.contains("reader has no agent: no agent named `beta` is registered"),
        "{reasons}"
    );
}

#[test]
fn joining_an_unreachable_controller_prints_the_attempts() {
    let fleet = Fleet::new();
    let joining = |url: &str, more: &[&str]| finish(fleet.joining("x", url, more));
    let printed = joining(fleet.url(), &["--interface", "nosuch0"]).expect(2).stderr;
    assert!(
        printed.contains("unknown interface: found `nosuch0`")
            && printed.contains("expected one of ")
            && printed.contains("lo"),
        "{printed}"
    );
    // A port without a listener, and a missing socket: the agent gives up after a few attempts.
    let secrets = fleet.url().split_once('#').unwrap().1;
    let free = unused_address();
    let printed = joining(&format!("http://{free}/#{secrets}"), &[]).expect(3).stderr;
    assert!(
        printed.contains(&format!("can't reach http://{free}/")) && printed.contains(" times in 10 s"),
        "{printed}"
    );
    assert!(
        printed.contains("no connection to the controller yet") && !printed.contains("disconnected"),
        "{printed}"
    );
    let printed = joining(&format!("unix:/nowhere/controller.sock#{}", token(fleet.url())), &[])
        .expect(3)
        .stderr;
    assert!(printed.contains("unix:/nowhere/controller.sock"), "{printed}");
    // A web server without TLS that is no controller.
    let web = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = web.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = web.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    for url in [
        format!("http://{at}/#{secrets}"),
        format!("http://{at}/#{}", token(fleet.url())),
    ] {
        let printed = joining(&url, &[]).expect(2).stderr;
        assert!(
            printed.contains("is not a fleet controller") && !printed.contains("InvalidContentType"),
            "{printed}"
        );
    }
}
