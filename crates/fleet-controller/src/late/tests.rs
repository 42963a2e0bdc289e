//! Late results, from an agent's spool to the record.

use super::*;
use netburn_protocol::messages::standing::proof;
use netburn_protocol::messages::{Batch, RejectReason, Start};
use netburn_record::Sink;
use netburn_record::{
    Environment, EventKind, EventRow, Header, Health, Host, IntervalRow, Loss, LossCause, QualityIssue, Recorder, Role,
    Row, Run, RunStatus,
};
use netburn_run_control::spool;
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Instant;
use netburn_workload::Config;

const CAME: UnixTime = UnixTime(1_795_285_800_000_000_000);
pub(crate) const RUN: &str = "2026-11-22T05-30-00Z-two";
/// SHA-256 of `late secret`, by sha256sum (GNU coreutils).
const PROOF: &str = "ae3e8be0fd54c4e7bc076ad17e9cd9d17fe4c27bcf5f6fbb370922da7e6c4cf0";

fn row(station: u16, tenth: i64) -> Row {
    Row::Interval(IntervalRow {
        station,
        workload: 0,
        at: Instant::from_millis(tenth * 100),
        bytes_down: 1000,
        bytes_up: 0,
    })
}

fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::default();
    rows.iter().for_each(|row| batch.push(row));
    batch
}

/// A finished run of two stations. The second agent was lost after 10 of its rows.
pub(crate) fn run(folder: &Path) {
    let talking = |name: &str| Station {
        workloads: vec![StationWorkload {
            name: "voip".to_owned(),
            cc: None,
            server: None,
            config: Config::voip(),
        }],
        ..Station::new(name)
    };
    let plan = Plan {
        stations: vec![talking("laptop"), talking("tv")],
        ..Plan::new("two")
    };
    let header = Header {
        seed: plan.seed,
        plan,
        environment: Environment::Fleet,
        host: Host::default(),
        version: "0".to_owned(),
        started: Some(CAME),
        source: None,
    };
    let mut recorder = Recorder::create(folder, header).unwrap();
    for tenth in 0..10 {
        recorder.put(&row(1, tenth)).unwrap();
    }
    let lost = EventRow {
        station: Some(1),
        workload: None,
        at: Instant::ZERO,
        length: 0,
        kind: EventKind::Lost,
        detail: QualityIssue::AgentLost {
            name: "tv".into(),
            loss: Loss::new(LossCause::Left, "gone"),
        }
        .into(),
    };
    recorder.put(&Row::Event(lost)).unwrap();
    recorder.finish(&RunStatus::Complete).unwrap();
}

/// Spool of the agent of the second station: 10 messages of 10 rows.
pub(crate) fn kept(folder: &SpoolFolder) {
    let about = SpoolHeader {
        run: RUN.to_owned(),
        name: "tv".to_owned(),
        stations: vec!["tv".to_owned()],
        proof: PROOF.to_owned(),
    };
    let mut writer = Writer::create(folder, &about, Start { at: 0 }).unwrap();
    for message in 0..10 {
        let rows: Vec<Row> = (0..10).map(|n| row(1, message * 10 + n)).collect();
        let sequence = message as u64 + 1;
        let rows = messages::Rows {
            sequence,
            batch: batch(&rows),
        };
        writer.rows(&rows).unwrap();
    }
    let end = LateResultsEnd {
        run: RUN.to_owned(),
        error: None,
        health: Some(Health::new("x", Role::Agent)),
        stop_requested_at: None,
        proof: String::new(),
    };
    writer.end(&end).unwrap();
}

pub(crate) fn registration(folder: &Path) -> Registration {
    Registration {
        run: RUN.to_owned(),
        folder: folder.to_owned(),
        parts: vec![Part {
            name: "tv".to_owned(),
            member: "kitchen".to_owned(),
            stations: vec![1],
            proof: Some(PROOF.to_owned()),
            max_bytes: Some(MAX_BYTES),
        }],
        delivered: BTreeSet::new(),
    }
}

/// Delivers as a member does, from message `from` to `to`.
fn deliver(late_results: &mut LateCollector, folder: &SpoolFolder, from: u64, to: u64) {
    let mut late = spool::SpoolReader::open(folder, RUN, from).unwrap();
    while let Some(message) = late.next().unwrap().filter(|message| message.sequence <= to) {
        assert_eq!(late_results.late("kitchen", message), None);
    }
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_folder_of_registrations() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("late");
    LateCollector::open(&folder).unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn late_results_are_delivered_across_a_controller_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, state) = (dir.path().join("run"), dir.path().join("state"));
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let waiting = spool::pending(&spooled);
    assert_eq!((waiting.len(), &*waiting[0].name, waiting[0].messages), (1, "tv", 10));

    let mut late_results = LateCollector::open(&state).unwrap();
    late_results.register(registration(&folder)).unwrap();
    assert_eq!(late_results.offer("kitchen", &waiting), [], "the run is held");
    late_results.release(RUN, &["tv".to_owned()]);
    assert_eq!(late_results.offer("cellar", &waiting), [], "another member's part");
    let wanted = ToMember::RequestResults(RequestResults { run: RUN.to_owned() });
    assert_eq!(late_results.offer("kitchen", &waiting), std::slice::from_ref(&wanted));
    deliver(&mut late_results, &spooled, 1, 4);
    let kept = |sequence| {
        let run = RUN.to_owned();
        ToMember::Ack(LateAck { run, sequence })
    };
    assert_eq!(late_results.sync(), [("kitchen".to_owned(), kept(4))]);
    assert_eq!(late_results.sync(), []);
    deliver(&mut late_results, &spooled, 4, 6);
    // The controller is killed: two messages may or may not be on its disk; here they are.
    drop(late_results);
    let mut late_results = LateCollector::open(&state).unwrap();
    assert_eq!(late_results.offer("kitchen", &waiting), [kept(6), wanted]);
    deliver(&mut late_results, &spooled, 7, 10);
    assert!(late_results.next_job().is_none());
    let end = spool::SpoolReader::open(&spooled, RUN, 1).unwrap().end();
    assert_eq!(late_results.end("kitchen", end, CAME), None);
    let job = late_results.next_job().unwrap();
    assert!(late_results.next_job().is_none(), "one at a time");
    let forget = ToMember::Discard(Discard { run: RUN.to_owned() });
    assert_eq!(
        late_results.done(job.carry_out()),
        Some(("kitchen".to_owned(), forget.clone()))
    );
    let run = Run::open(&folder).unwrap();
    assert_eq!(run.count("intervals"), 100);
    assert_eq!(run.summary().stations[1].reasons, [QualityIssue::NoServerReport]);
    assert!(!folder.join("late").exists());
    // If `discard` was lost, nothing is delivered again.
    let mut late_results = LateCollector::open(&state).unwrap();
    assert_eq!(late_results.offer("kitchen", &waiting), [forget]);
    spool::remove(&spooled, RUN).unwrap();
    spool::remove(&spooled, RUN).unwrap();
    assert_eq!(spool::pending(&spooled), []);
}

#[test]
fn invalid_late_results_are_rejected_and_stay_at_the_member() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let waiting = spool::pending(&spooled);
    let mut late_results = LateCollector::open(&dir.path().join("state")).unwrap();
    let mut wrong = registration(&folder);
    wrong.run = "../elsewhere".to_owned();
    assert!(late_results.register(wrong).is_err());
    late_results.register(registration(&folder)).unwrap();
    late_results.release(RUN, &["tv".to_owned()]);
    let late = |sequence, station| LateResults {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence,
        batch: batch(&[row(station, 0)]),
    };
    let reason = |acked: Option<ToMember>| match acked {
        Some(ToMember::Rejected(rejected)) => rejected.reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(late_results.late("kitchen", late(1, 1))).contains("unexpected late results"));
    late_results.offer("kitchen", &waiting);
    assert!(reason(late_results.late("kitchen", late(1, 0))).contains("row of station 0"));
    // A rejected member begins again.
    assert!(reason(late_results.late("kitchen", late(1, 1))).contains("unexpected late results"));
    late_results.offer("kitchen", &waiting);
    assert!(reason(late_results.late("kitchen", late(2, 1))).contains("missing late rows"));
    late_results.offer("kitchen", &waiting);
    let lost = serde_json::from_str(r#"{"events":[[null,null,0,0,"incomplete","it rains"]]}"#).unwrap();
    let everywhere = LateResults {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence: 1,
        batch: lost,
    };
    assert!(reason(late_results.late("kitchen", everywhere)).contains("event without a station"));
    // The folder is missing.
    std::fs::remove_dir_all(&folder).unwrap();
    let acked = late_results.offer("kitchen", &waiting);
    assert!(
        matches!(&acked[..], [ToMember::Rejected(rejected)] if rejected.reason.contains("folder is missing")),
        "{acked:?}"
    );
    assert_eq!(spool::pending(&spooled), waiting);
}

#[test]
fn only_the_agent_that_took_part_can_deliver_results() {
    assert_eq!(proof("secret"), PROOF);
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, spooled) = asked(dir.path());
    // Another agent of the same name: it has the fleet's token, but not that of the part.
    let forged = |proof: &str| LateResults {
        run: RUN.to_owned(),
        proof: proof.to_owned(),
        sequence: 1,
        batch: batch(&[row(1, 0)]),
    };
    let waiting = spool::pending(&spooled);
    for other in ["", "0", &proof("guess")] {
        let acked = late_results.late("kitchen", forged(other));
        assert!(
            matches!(&acked, Some(ToMember::Rejected(why)) if why.code == RejectReason::InvalidToken),
            "{acked:?}"
        );
        assert!(matches!(
            &late_results.offer("kitchen", &waiting)[..],
            [ToMember::RequestResults(_)]
        ));
    }
    let end = LateResultsEnd {
        run: RUN.to_owned(),
        ..LateResultsEnd::default()
    };
    assert!(matches!(
        late_results.end("kitchen", end, CAME),
        Some(ToMember::Rejected(_))
    ));
    assert!(late_results.next_job().is_none());
    assert_eq!(late_results.sync(), []);
    assert!(matches!(
        &late_results.offer("kitchen", &waiting)[..],
        [ToMember::RequestResults(_)]
    ));
    deliver(&mut late_results, &spooled, 1, 10);
}

#[test]
fn late_results_are_limited_to_the_maximum_of_the_part() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, spooled) = asked(dir.path());
    // Samples of connections, 2,000 per message: each message is about 90 kB.
    let look = r#"{"connections":[[1,0,"station",1,0,4294967295,1,1,1,1,1,1]]}"#;
    let one: Batch = serde_json::from_str(look).unwrap();
    let rows = one.into_rows(|_| true, false).unwrap();
    let flood = batch(&vec![rows[0].clone(); messages::MAX_BATCH_ROWS]);
    let kept = || {
        let file = pending_dir(&dir.path().join("run")).path().join("tv.spool");
        file.metadata().unwrap().len()
    };
    let mut acked = None;
    for sequence in 1..1000 {
        acked = late_results.late(
            "kitchen",
            LateResults {
                run: RUN.to_owned(),
                proof: PROOF.to_owned(),
                sequence,
                batch: flood.clone(),
            },
        );
        if acked.is_some() {
            break;
        }
    }
    assert!(
        matches!(&acked, Some(ToMember::Rejected(why)) if why.code == RejectReason::InvalidRows),
        "{acked:?}"
    );
    let (least, max_bytes) = (MAX_BYTES, MAX_BYTES + messages::MAX_TO_CONTROLLER as u64);
    assert!((least..max_bytes).contains(&kept()), "{}", kept());
    // Nor after another connection.
    late_results.offer("kitchen", &spool::pending(&spooled));
    let again = LateResults {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence: 1,
        batch: flood,
    };
    assert_eq!(late_results.late("kitchen", again.clone()), None, "it is here already");
    let sequence = 1 + late_results
        .deliveries
        .values()
        .map(|deliveries| deliveries.intake.taken())
        .max()
        .unwrap();
    let more = late_results.late("kitchen", LateResults { sequence, ..again });
    assert!(matches!(more, Some(ToMember::Rejected(_))), "{more:?}");
    assert!(kept() < max_bytes);
}

/// The results of a part that was delivered in the run are complete: no rows are added afterwards.
#[test]
fn delivered_results_are_not_requested() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, spooled) = (dir.path().join("run"), SpoolFolder::new(dir.path().join("agent")));
    run(&folder);
    kept(&spooled);
    let waiting = spool::pending(&spooled);
    let state = dir.path().join("state");
    let mut late_results = LateCollector::open(&state).unwrap();
    late_results.register(registration(&folder)).unwrap();
    late_results.release(RUN, &["laptop".to_owned()]);
    let forget = ToMember::Discard(Discard { run: RUN.to_owned() });
    assert_eq!(late_results.offer("kitchen", &waiting), std::slice::from_ref(&forget));
    // A restarted controller knows it too.
    let mut late_results = LateCollector::open(&state).unwrap();
    assert_eq!(late_results.offer("kitchen", &waiting), [forget]);
}

/// An agent whose connection ended before its last acknowledgement has its spool until it receives
/// `Discard`.
#[test]
fn after_a_run_every_member_delivers_or_discards() {
    let dir = tempfile::tempdir().unwrap();
    let mut late_results = LateCollector::open(&dir.path().join("state")).unwrap();
    assert_eq!(late_results.holders(RUN), []);
    run(&dir.path().join("run"));
    let mut two = registration(&dir.path().join("run"));
    let radio = Part {
        name: "radio".to_owned(),
        ..two.parts[0].clone()
    };
    two.parts.push(radio);
    late_results.register(two).unwrap();
    let mut answers = |missing: &[String]| {
        late_results.release(RUN, missing);
        let holders = late_results.holders(RUN).into_iter();
        let answers = holders.map(|(member, waiting)| (waiting.name.clone(), late_results.offer(&member, &[waiting])));
        answers.collect::<Vec<_>>()
    };
    let run = RUN.to_owned();
    let deliver = ToMember::RequestResults(RequestResults { run: run.clone() });
    let forget = ToMember::Discard(Discard { run });
    // The member has one spool for both parts, and must keep it for the missing one.
    assert_eq!(answers(&["radio".to_owned()]), [("radio".to_owned(), vec![deliver])]);
    let both = ["tv", "radio"].map(|name| (name.to_owned(), vec![forget.clone()]));
    assert_eq!(answers(&[]), both);
}

/// A controller that restarts during a run may request results before `netburn run` has reconnected.
#[test]
fn partial_late_results_of_a_delivered_part_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, spooled) = asked(dir.path());
    deliver(&mut late_results, &spooled, 1, 4);
    late_results.sync();
    let late = dir.path().join("run/late");
    assert!(late.join("tv.spool").exists());
    // The run is acquired again, and then its agent delivers everything to it.
    late_results.register(registration(&dir.path().join("run"))).unwrap();
    late_results.release(RUN, &[]);
    assert!(!late.exists(), "late results stay: {:?}", late.read_dir());
}

#[test]
fn a_request_without_delivery_creates_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (late_results, _) = asked(dir.path());
    drop(late_results);
    assert!(!dir.path().join("run/late").exists());
}

/// A member offers its results when it registers. If its run is released meanwhile, the controller offers them again.
#[test]
fn a_repeated_offer_does_not_disturb_the_delivery() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, spooled) = asked(dir.path());
    let waiting = spool::pending(&spooled);
    assert_eq!(late_results.offer("kitchen", &waiting), [], "requested already");
    deliver(&mut late_results, &spooled, 1, 4);
    assert_eq!(late_results.offer("kitchen", &waiting), [], "in progress");
    // The next connection continues the delivery.
    late_results.gone("kitchen");
    let acked = late_results.offer("kitchen", &spool::pending(&spooled));
    let run = RUN.to_owned();
    let kept = ToMember::Ack(LateAck {
        run: run.clone(),
        sequence: 4,
    });
    assert_eq!(acked, [kept, ToMember::RequestResults(RequestResults { run })]);
    deliver(&mut late_results, &spooled, 5, 10);
    late_results.end(
        "kitchen",
        spool::SpoolReader::open(&spooled, RUN, 1).unwrap().end(),
        CAME,
    );
    // All results are here: nothing is requested again.
    assert_eq!(late_results.offer("kitchen", &spool::pending(&spooled)), []);
    let job = late_results.next_job().unwrap();
    assert!(matches!(
        late_results.done(job.carry_out()),
        Some((_, ToMember::Discard(_)))
    ));
}

/// A limit that a test can reach.
const MAX_BYTES: u64 = 2 << 20;

#[test]
fn a_record_in_use_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let mut late_results = LateCollector::open(&dir.path().join("state")).unwrap();
    late_results.register(registration(&folder)).unwrap();
    late_results.release(RUN, &["tv".to_owned()]);
    late_results.offer("kitchen", &spool::pending(&spooled));
    deliver(&mut late_results, &spooled, 1, 10);
    late_results.end(
        "kitchen",
        spool::SpoolReader::open(&spooled, RUN, 1).unwrap().end(),
        CAME,
    );
    let busy = File::create(folder.join("spool")).unwrap();
    busy.lock().unwrap();
    let job = late_results.next_job().unwrap();
    assert_eq!(late_results.done(job.carry_out()), None);
    assert!(late_results.next_job().is_none());
    drop(busy);
    late_results.sync();
    let job = late_results.next_job().unwrap();
    assert!(matches!(
        late_results.done(job.carry_out()),
        Some((_, ToMember::Discard(_)))
    ));
}

/// A collector that has requested the spooled results, and these.
fn asked(dir: &Path) -> (LateCollector, SpoolFolder) {
    let (folder, spooled) = (dir.join("run"), SpoolFolder::new(dir.join("agent")));
    run(&folder);
    kept(&spooled);
    let waiting = spool::pending(&spooled);
    let mut late_results = LateCollector::open(&dir.join("state")).unwrap();
    late_results.register(registration(&folder)).unwrap();
    late_results.release(RUN, &["tv".to_owned()]);
    assert!(matches!(
        &late_results.offer("kitchen", &waiting)[..],
        [ToMember::RequestResults(_)]
    ));
    (late_results, spooled)
}

/// Messages of a retry of deferred results.
fn tried_again(late_results: &mut LateCollector) -> Vec<(String, ToMember)> {
    let mut acked = Vec::new();
    while !late_results.deferred.is_empty() && acked.is_empty() {
        acked = late_results.sync();
    }
    acked
}

#[test]
fn unsynced_results_are_requested_again() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, spooled) = asked(dir.path());
    deliver(&mut late_results, &spooled, 1, 4);
    let about = |message| ("kitchen".to_owned(), message);
    let run = || RUN.to_owned();
    let kept = |sequence| about(ToMember::Ack(LateAck { run: run(), sequence }));
    assert_eq!(late_results.sync(), [kept(4)]);
    deliver(&mut late_results, &spooled, 5, 7);
    let key = ("kitchen".to_owned(), run());
    let full = io::Error::from(io::ErrorKind::StorageFull);
    assert!(matches!(
        late_results.reject_unsynced(&key, &full),
        ToMember::Rejected(_)
    ));
    assert_eq!(
        late_results.sync(),
        [],
        "it waits a while, and nothing more is said to be kept"
    );
    let wanted = about(ToMember::RequestResults(RequestResults { run: run() }));
    assert_eq!(tried_again(&mut late_results), [kept(4), wanted]);
    deliver(&mut late_results, &spooled, 5, 10);
    assert_eq!(late_results.sync(), [kept(10)]);
    // Other errors are not retried.
    let error = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
    assert!(matches!(
        late_results.reject_unsynced(&key, &error),
        ToMember::Rejected(_)
    ));
    assert!(late_results.deferred.is_empty() && late_results.deliveries.is_empty());
}

#[test]
fn an_error_of_a_retry_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late_results, _) = asked(dir.path());
    let key = ("kitchen".to_owned(), RUN.to_owned());
    let full = io::Error::from(io::ErrorKind::StorageFull);
    late_results.reject_storage_error(&key, &full);
    std::fs::remove_dir_all(dir.path().join("run")).unwrap();
    let acked = tried_again(&mut late_results);
    assert!(
        matches!(&acked[..], [(member, ToMember::Rejected(rejected))]
            if member == "kitchen" && rejected.reason.contains("folder is missing")),
        "{acked:?}"
    );
    assert!(late_results.deferred.is_empty());
}

#[test]
fn the_oldest_of_too_many_runs_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let mut late_results = LateCollector::open(dir.path()).unwrap();
    for number in 0..=MAX_RUNS {
        let mut one = registration(dir.path());
        one.run = format!("run-{number:05}");
        late_results.register(one).unwrap();
    }
    assert!(late_results.registration("run-00000").is_none() && late_results.registration("run-00001").is_some());
    let again = LateCollector::open(dir.path()).unwrap();
    assert_eq!(again.runs.len(), MAX_RUNS);
    assert_eq!(again.runs, late_results.runs);
}
