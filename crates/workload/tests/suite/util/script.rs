//! A workload's history as a list of described steps: time, input, and expected outputs.

use netburn_units::{Duration, Instant, Seed};
use netburn_workload::fuzz::{Checked, Input};
use netburn_workload::{Action, Config, Connection, Failure, Operation, Outcome, RemoteTimestamps, RequestId, Stall};

/// One step: description, time (ms after the first due time), input, outputs.
pub(crate) type Step<'a> = (&'a str, i64, &'a str, &'a str);

/// Runs a workload whose end is `run` and whose settling is `run + drain` ms after its first due
/// time.
///
/// In: `wake`, `connected 0.1`, `bytes 0.1 500`, `finished 0.1`, `failed 0.1`, `reply 0`. Out
/// (joined by `, `; empty for nothing): `begin 0.1 new`, `begin 0.1 on 3`, `send 0`, `cancel 0.1`,
/// `0 finished in 120 ms`, `0 failed`, `1 timed out`, `1 missed`, `2 unfinished`, `3 cut`, `stall
/// at 1000 for 500 ms`.
pub(crate) fn play(config: &Config, run: u64, drain: u64, steps: &[Step<'_>]) -> Vec<Operation> {
    let seed = Seed(7);
    let far = Instant::from_secs(1_000_000);
    let start = Instant::ZERO;
    let zero = Checked::new(config.clone(), start, far, far, seed)
        .workload()
        .first_due()
        .unwrap();
    let end = zero + Duration::from_millis(run);
    let mut watched = Checked::new(config.clone(), start, end, end + Duration::from_millis(drain), seed);
    for (what, at, input, expected) in steps {
        let at = zero
            .checked_add(Duration::from_millis(u64::try_from(*at).unwrap()))
            .unwrap();
        let (ended, stalls) = (watched.ended.clone(), watched.stalls.len());
        let actions = watched.handle(at, read(input));
        let mut came = actions.iter().map(action).collect::<Vec<_>>();
        let fresh = watched.ended.iter().filter(|(number, _)| !ended.contains_key(number));
        came.extend(fresh.map(|(_, ended)| operation(ended)));
        came.extend(watched.stalls[stalls..].iter().map(|stall| stalled(stall, zero)));
        assert_eq!(came.join(", "), *expected, "{what} (at {at}: {input})");
    }
    watched.finish();
    watched.ended.values().copied().collect()
}

fn read(input: &str) -> Input {
    let words: Vec<&str> = input.split(' ').collect();
    let id = || {
        let (operation, object) = words[1].split_once('.').unwrap_or((words[1], "0"));
        RequestId {
            operation: operation.parse().unwrap(),
            object: object.parse().unwrap(),
        }
    };
    match words[0] {
        "wake" => Input::Timeout,
        "connected" => Input::Connected(id()),
        "bytes" => Input::Bytes(id(), words[2].parse().unwrap()),
        "finished" => Input::Finished(id()),
        "failed" => Input::Failed(id(), Failure::Connection),
        "reply" => Input::Reply(id(), Some(RemoteTimestamps { received: 1, sent: 2 })),
        other => panic!("no such input: {other}"),
    }
}

fn action(action: &Action) -> String {
    let name = |id: &RequestId| format!("{}.{}", id.operation, id.object);
    match action {
        Action::Begin(request) => match request.connection {
            Connection::New => format!("begin {} new", name(&request.id)),
            Connection::Kept(slot) => format!("begin {} on {slot}", name(&request.id)),
        },
        Action::Send { id, .. } => format!("send {}", id.operation),
        Action::SendOneWay { id, direction, .. } => format!("send {} {direction:?}", id.operation),
        Action::Cancel(id) => format!("cancel {}", name(id)),
    }
}

fn operation(operation: &Operation) -> String {
    let how = match operation.outcome {
        Outcome::Finished => format!("finished in {}", operation.latency().unwrap()),
        Outcome::Failed(_) => "failed".to_owned(),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::NotStarted => "missed".to_owned(),
        Outcome::Unfinished => "unfinished".to_owned(),
        Outcome::Cut => "cut".to_owned(),
    };
    format!("{} {how}", operation.sequence)
}

fn stalled(stall: &Stall, zero: Instant) -> String {
    format!("stall at {} for {}", stall.began.since(zero).as_millis(), stall.length)
}
