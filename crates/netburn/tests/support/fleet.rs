//! A fleet on this machine's loopback device.

use super::{Bench, Ended, Running, finish, start, station};
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Command;

/// Two stations with little traffic. One of them names its agent.
const TWO: &str = r#"
duration = "4 s"
# An agent rejects a start that is past, and this is the time for it to arrive.
baseline = "2 s"
drain = "1 s"
[station.caller]
workload = "voip"
[station.reader]
agent = "beta"
workload = ["voip", "probe"]
"#;

/// A fleet on loopback, with its own state directory.
pub(crate) struct Fleet {
    pub(crate) bench: Bench,
    pub(crate) serve: Option<Running>,
    urls: Vec<String>,
}

impl Fleet {
    pub(crate) fn new() -> Fleet {
        let bench = Bench::new();
        bench.write("two.toml", TWO);
        let mut fleet = Fleet {
            bench,
            serve: None,
            urls: Vec::new(),
        };
        fleet.serve("127.0.0.1:0");
        fleet
    }

    pub(crate) fn serve(&mut self, listen: &str) {
        let command = self.command(&["fleet", "serve", "--quiet", "--name", "home", "--listen", listen]);
        self.serve_as(command);
    }

    /// Starts the controller with this command instead.
    pub(crate) fn serve_as(&mut self, mut command: Command) {
        if let Some(before) = self.serve.take() {
            end(before);
        }
        command.env("NETBURN_STATE", self.bench.path("owner"));
        let mut serve = start(command);
        serve.wait_for("the address", |serve| {
            let printed = serve.stderr_so_far();
            serve.stdout_so_far().ends_with('\n')
                && printed.contains("runs (keep this address private)")
                && printed.ends_with('\n')
        });
        self.urls = serve.stdout_so_far().lines().map(str::to_owned).collect();
        self.serve = Some(serve);
    }

    /// `netburn` with the state directory of the controller's user.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.with_state("owner", args)
    }

    /// `netburn` with its own state directory, as on another device.
    pub(crate) fn with_state(&self, state: &str, args: &[&str]) -> Command {
        self.bench.with_state(state, args)
    }

    pub(crate) fn url(&self) -> &str {
        &self.urls[0]
    }

    pub(crate) fn at(&self) -> SocketAddr {
        let (_, rest) = self.url().split_once("//").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// Starts an agent and waits until it has joined.
    pub(crate) fn agent(&self, name: &str, more: &[&str]) -> Running {
        let mut agent = start(self.joining(name, self.url(), more));
        agent.wait_for("the agent to join", |agent| {
            agent.stderr_so_far().contains("is in the fleet `home`")
        });
        agent
    }

    pub(crate) fn joining(&self, name: &str, url: &str, more: &[&str]) -> Command {
        let args = [&["fleet", "join", url, "--name", name][..], more].concat();
        self.with_state(name, &args)
    }

    pub(crate) fn run(&self, more: &[&str]) -> Command {
        self.command(&[&["run", "two.toml", "--on", "fleet", "--format", "json"][..], more].concat())
    }

    pub(crate) fn list(&self) -> Value {
        finish(self.command(&["fleet", "list", "--format", "json"]))
            .expect(0)
            .json()
    }
}

/// The arguments that run a scenario on a fleet and print its summary.
pub(crate) fn on_fleet<'a>(scenario: &'a str, out: &'a str) -> [&'a str; 8] {
    ["run", scenario, "--on", "fleet", "--format", "json", "--out", out]
}

/// The summary, whether or not the self-check passed.
#[track_caller]
pub(crate) fn summary(ended: &Ended) -> Value {
    assert!([0, 3].contains(&ended.code()), "{}", ended.stderr);
    ended.json()
}

pub(crate) fn operations(summary: &Value, name: &str) -> u64 {
    station(summary, name)["workloads"][0]["operations"].as_u64().unwrap()
}

/// Ends an agent or a controller with SIGINT, as Ctrl-C does.
pub(crate) fn end(running: Running) -> Ended {
    running.signal("INT");
    running.finish().expect(0)
}

pub(crate) fn token(url: &str) -> &str {
    url.split_once('#').unwrap().1.split('.').next().unwrap()
}
