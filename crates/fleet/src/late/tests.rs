//! Results that come home late, from an agent's spool to the record.

use super::*;
use crate::protocol::standing::proof;
use crate::protocol::{Batch, Start};
use crate::spool;
use netburn_record::Sink;
use netburn_record::{
    Environment, EventKind, EventRow, Header, Health, Host, IntervalRow, Recorder, Role, Row, Run, RunStatus,
};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Instant;
use netburn_workload::Config;

const CAME: UnixTime = UnixTime(1_795_285_800_000_000_000);
const RUN: &str = "2026-11-22T05-30-00Z-two";
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

fn report() -> Health {
    Health {
        name: "x".to_owned(),
        role: Role::Agent,
        stations: Vec::new(),
        lateness_us_p50: 1.0,
        lateness_us_p99: 2.0,
        lateness_us_max: 3.0,
        lateness_count: 4,
        standstill_us_max: None,
        missed_sends: 0,
        cpu: 0.1,
        machine_busy: 0.2,
        service_us_p99: 0.0,
        refused: 0,
        bytes_down: 0,
        bytes_up: 0,
        operations: 0,
        served: Default::default(),
    }
}

/// A finished run of two stations in which the second agent was lost after 10 of its rows.
fn run(folder: &Path) {
    let talking = |name: &str| Station {
        workloads: vec![StationWorkload {
            name: "voip".to_owned(),
            cc: None,
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
        text: netburn_record::amend::lost("tv", "gone"),
    };
    recorder.put(&Row::Event(lost)).unwrap();
    recorder.finish(&RunStatus::Complete).unwrap();
}

/// What the agent of the second station kept: 10 messages of 10 rows.
fn kept(folder: &SpoolFolder) {
    let about = About {
        run: RUN.to_owned(),
        name: "tv".to_owned(),
        stations: vec!["tv".to_owned()],
        proof: PROOF.to_owned(),
    };
    let mut writer = Writer::create(folder, &about, Start { at: 0 }).unwrap();
    for message in 0..10 {
        let rows: Vec<Row> = (0..10).map(|n| row(1, message * 10 + n)).collect();
        let sequence = message as u64 + 1;
        let rows = protocol::Rows {
            sequence,
            batch: batch(&rows),
        };
        writer.rows(&rows).unwrap();
    }
    let end = LateEnd {
        run: RUN.to_owned(),
        error: None,
        health: Some(report()),
        told: None,
        proof: String::new(),
    };
    writer.end(&end).unwrap();
}

fn registration(folder: &Path) -> Registration {
    Registration {
        run: RUN.to_owned(),
        folder: folder.to_owned(),
        parts: vec![Part {
            name: "tv".to_owned(),
            member: "kitchen".to_owned(),
            stations: vec![1],
            proof: Some(PROOF.to_owned()),
            most: Some(MOST),
        }],
        home: BTreeSet::new(),
    }
}

/// Delivers as a member does, from message `from` to `to`.
fn deliver(desk: &mut Desk, folder: &SpoolFolder, from: u64, to: u64) {
    let mut late = spool::Late::open(folder, RUN, from).unwrap();
    while let Some(message) = late.next().unwrap().filter(|message| message.sequence <= to) {
        assert_eq!(desk.late("kitchen", message), None);
    }
}

#[test]
fn late_results_come_home_over_two_controllers() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, state) = (dir.path().join("run"), dir.path().join("state"));
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let waiting = spool::waiting(&spooled);
    assert_eq!((waiting.len(), &*waiting[0].name, waiting[0].messages), (1, "tv", 10));

    let mut desk = Desk::open(&state).unwrap();
    desk.register(registration(&folder)).unwrap();
    assert_eq!(desk.offer("kitchen", &waiting), [], "somebody holds the run");
    desk.release(RUN, &["tv".to_owned()]);
    assert_eq!(desk.offer("cellar", &waiting), [], "another member's part");
    let wanted = ToMember::Deliver(Deliver { run: RUN.to_owned() });
    assert_eq!(desk.offer("kitchen", &waiting), std::slice::from_ref(&wanted));
    deliver(&mut desk, &spooled, 1, 4);
    let kept = |sequence| {
        let run = RUN.to_owned();
        ToMember::Kept(Kept { run, sequence })
    };
    assert_eq!(desk.sync(), [("kitchen".to_owned(), kept(4))]);
    assert_eq!(desk.sync(), []);
    deliver(&mut desk, &spooled, 4, 6);
    // The controller is killed: two messages may or may not be on its disk; here they are.
    drop(desk);
    let mut desk = Desk::open(&state).unwrap();
    assert_eq!(desk.offer("kitchen", &waiting), [kept(6), wanted]);
    deliver(&mut desk, &spooled, 7, 10);
    assert!(desk.next_job().is_none());
    let end = spool::Late::open(&spooled, RUN, 1).unwrap().end();
    assert_eq!(desk.end("kitchen", end, CAME), None);
    let job = desk.next_job().unwrap();
    assert!(desk.next_job().is_none(), "one at a time");
    let forget = ToMember::Forget(Forget { run: RUN.to_owned() });
    assert_eq!(desk.done(job.carry_out()), Some(("kitchen".to_owned(), forget.clone())));
    let run = Run::open(&folder).unwrap();
    assert_eq!(run.count("intervals"), 100);
    assert_eq!(run.summary().stations[1].reasons, ["no health report from the server"]);
    assert!(!folder.join("late").exists());
    // Where `forget` was lost on the way, nothing is delivered again.
    let mut desk = Desk::open(&state).unwrap();
    assert_eq!(desk.offer("kitchen", &waiting), [forget]);
    spool::forget(&spooled, RUN).unwrap();
    spool::forget(&spooled, RUN).unwrap();
    assert_eq!(spool::waiting(&spooled), []);
}

#[test]
fn what_is_not_right_is_refused_and_stays_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let waiting = spool::waiting(&spooled);
    let mut desk = Desk::open(&dir.path().join("state")).unwrap();
    let mut wrong = registration(&folder);
    wrong.run = "../elsewhere".to_owned();
    assert!(desk.register(wrong).is_err());
    desk.register(registration(&folder)).unwrap();
    desk.release(RUN, &["tv".to_owned()]);
    let late = |sequence, station| Late {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence,
        batch: batch(&[row(station, 0)]),
    };
    let reason = |said: Option<ToMember>| match said {
        Some(ToMember::Refused(refused)) => refused.reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(desk.late("kitchen", late(1, 1))).contains("were not asked for"));
    desk.offer("kitchen", &waiting);
    assert!(reason(desk.late("kitchen", late(1, 0))).contains("a row about station 0"));
    // Whoever is refused begins anew.
    assert!(reason(desk.late("kitchen", late(1, 1))).contains("were not asked for"));
    desk.offer("kitchen", &waiting);
    assert!(reason(desk.late("kitchen", late(2, 1))).contains("late rows 2"));
    desk.offer("kitchen", &waiting);
    let lost = serde_json::from_str(r#"{"events":[[null,null,0,0,"lost","it rains"]]}"#).unwrap();
    let everywhere = Late {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence: 1,
        batch: lost,
    };
    assert!(reason(desk.late("kitchen", everywhere)).contains("an event without a station"));
    // The folder is gone.
    std::fs::remove_dir_all(&folder).unwrap();
    let said = desk.offer("kitchen", &waiting);
    assert!(
        matches!(&said[..], [ToMember::Refused(refused)] if refused.reason.contains("folder is gone")),
        "{said:?}"
    );
    assert_eq!(spool::waiting(&spooled), waiting);
}

#[test]
fn results_are_taken_from_who_took_part_alone() {
    assert_eq!(proof("secret"), PROOF);
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, spooled) = asked(dir.path());
    // Somebody else, under the same name: it knows the fleet's token, and not that of the part.
    let forged = |proof: &str| Late {
        run: RUN.to_owned(),
        proof: proof.to_owned(),
        sequence: 1,
        batch: batch(&[row(1, 0)]),
    };
    let waiting = spool::waiting(&spooled);
    for other in ["", "0", &proof("guess")] {
        let said = desk.late("kitchen", forged(other));
        assert!(
            matches!(&said, Some(ToMember::Refused(why)) if why.reason.contains("from who took part")),
            "{said:?}"
        );
        assert!(matches!(&desk.offer("kitchen", &waiting)[..], [ToMember::Deliver(_)]));
    }
    let end = LateEnd {
        run: RUN.to_owned(),
        ..LateEnd::default()
    };
    assert!(matches!(desk.end("kitchen", end, CAME), Some(ToMember::Refused(_))));
    assert!(desk.next_job().is_none());
    assert_eq!(desk.sync(), []);
    assert!(matches!(&desk.offer("kitchen", &waiting)[..], [ToMember::Deliver(_)]));
    deliver(&mut desk, &spooled, 1, 10);
}

#[test]
fn no_more_is_kept_of_a_part_than_it_can_have() {
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, spooled) = asked(dir.path());
    // Looks at connections, 2,000 at a time: each message is some 90 kB.
    let look = r#"{"connections":[[1,0,1,0,4294967295,1,1,1,1,1,1,"station"]]}"#;
    let one: Batch = serde_json::from_str(look).unwrap();
    let rows = one.into_rows(|_| true, false).unwrap();
    let flood = batch(&vec![rows[0].clone(); protocol::MAX_BATCH_ROWS]);
    let kept = || {
        let file = waiting_room(&dir.path().join("run")).path().join("tv.spool");
        file.metadata().unwrap().len()
    };
    let mut said = None;
    for sequence in 1..1000 {
        said = desk.late(
            "kitchen",
            Late {
                run: RUN.to_owned(),
                proof: PROOF.to_owned(),
                sequence,
                batch: flood.clone(),
            },
        );
        if said.is_some() {
            break;
        }
    }
    assert!(
        matches!(&said, Some(ToMember::Refused(why)) if why.reason.contains("more than its part")),
        "{said:?}"
    );
    let (least, most) = (MOST, MOST + protocol::MAX_TO_CONTROLLER as u64);
    assert!((least..most).contains(&kept()), "{}", kept());
    // And not after another connection either.
    desk.offer("kitchen", &spool::waiting(&spooled));
    let again = Late {
        run: RUN.to_owned(),
        proof: PROOF.to_owned(),
        sequence: 1,
        batch: flood,
    };
    assert_eq!(desk.late("kitchen", again.clone()), None, "it is here already");
    let sequence = 1 + desk.coming.values().map(|coming| coming.intake.taken()).max().unwrap();
    let more = desk.late("kitchen", Late { sequence, ..again });
    assert!(matches!(more, Some(ToMember::Refused(_))), "{more:?}");
    assert!(kept() < most);
}

/// What a part delivered in the run is whole: nobody adds to it afterwards.
#[test]
fn what_came_home_in_time_is_not_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, spooled) = (dir.path().join("run"), SpoolFolder::new(dir.path().join("agent")));
    run(&folder);
    kept(&spooled);
    let waiting = spool::waiting(&spooled);
    let state = dir.path().join("state");
    let mut desk = Desk::open(&state).unwrap();
    desk.register(registration(&folder)).unwrap();
    desk.release(RUN, &["laptop".to_owned()]);
    let forget = ToMember::Forget(Forget { run: RUN.to_owned() });
    assert_eq!(desk.offer("kitchen", &waiting), std::slice::from_ref(&forget));
    // A controller that is started again knows it too.
    let mut desk = Desk::open(&state).unwrap();
    assert_eq!(desk.offer("kitchen", &waiting), [forget]);
}

/// An agent whose connection ended before its last acknowledgement has its spool until it receives `Forget`.
#[test]
fn after_a_run_every_member_is_told_to_deliver_or_forget() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(&dir.path().join("state")).unwrap();
    assert_eq!(desk.holders(RUN), []);
    run(&dir.path().join("run"));
    let mut two = registration(&dir.path().join("run"));
    let radio = Part {
        name: "radio".to_owned(),
        ..two.parts[0].clone()
    };
    two.parts.push(radio);
    desk.register(two).unwrap();
    let mut answers = |missing: &[String]| {
        desk.release(RUN, missing);
        let holders = desk.holders(RUN).into_iter();
        let answers = holders.map(|(member, waiting)| (waiting.name.clone(), desk.offer(&member, &[waiting])));
        answers.collect::<Vec<_>>()
    };
    let run = RUN.to_owned();
    let deliver = ToMember::Deliver(Deliver { run: run.clone() });
    let forget = ToMember::Forget(Forget { run });
    // The member has one spool of both parts: it must not forget the one that is missing.
    assert_eq!(answers(&["radio".to_owned()]), [("radio".to_owned(), vec![deliver])]);
    let both = ["tv", "radio"].map(|name| (name.to_owned(), vec![forget.clone()]));
    assert_eq!(answers(&[]), both);
}

/// A controller that is started again in the middle of a run may ask for results before `netburn run` has found it.
#[test]
fn what_was_begun_before_the_run_was_known_to_be_held_is_deleted_when_it_came_home_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, spooled) = asked(dir.path());
    deliver(&mut desk, &spooled, 1, 4);
    desk.sync();
    let late = dir.path().join("run/late");
    assert!(late.join("tv.spool").exists());
    // The run is found to be held, and then its agent has delivered everything to it.
    desk.register(registration(&dir.path().join("run"))).unwrap();
    desk.release(RUN, &[]);
    assert!(!late.exists(), "late results stay: {:?}", late.read_dir());
}

#[test]
fn what_is_asked_for_in_vain_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (desk, _) = asked(dir.path());
    drop(desk);
    assert!(!dir.path().join("run/late").exists());
}

/// A member offers what it has when it joins, and again when its part of the run is over.
#[test]
fn what_is_offered_again_is_asked_for_again_from_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, spooled) = asked(dir.path());
    deliver(&mut desk, &spooled, 1, 4);
    let said = desk.offer("kitchen", &spool::waiting(&spooled));
    let run = RUN.to_owned();
    let kept = ToMember::Kept(Kept {
        run: run.clone(),
        sequence: 4,
    });
    assert_eq!(said, [kept, ToMember::Deliver(Deliver { run })]);
    deliver(&mut desk, &spooled, 5, 10);
    desk.end("kitchen", spool::Late::open(&spooled, RUN, 1).unwrap().end(), CAME);
    // It is all here: nothing of it is wanted once more.
    assert_eq!(desk.offer("kitchen", &spool::waiting(&spooled)), []);
    let job = desk.next_job().unwrap();
    assert!(matches!(desk.done(job.carry_out()), Some((_, ToMember::Forget(_)))));
}

/// A bound on what is kept that a test can reach.
const MOST: u64 = 2 << 20;

#[test]
fn a_record_in_use_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    let spooled = SpoolFolder::new(dir.path().join("agent"));
    run(&folder);
    kept(&spooled);
    let mut desk = Desk::open(&dir.path().join("state")).unwrap();
    desk.register(registration(&folder)).unwrap();
    desk.release(RUN, &["tv".to_owned()]);
    desk.offer("kitchen", &spool::waiting(&spooled));
    deliver(&mut desk, &spooled, 1, 10);
    desk.end("kitchen", spool::Late::open(&spooled, RUN, 1).unwrap().end(), CAME);
    let busy = File::create(folder.join("spool")).unwrap();
    busy.lock().unwrap();
    let job = desk.next_job().unwrap();
    assert_eq!(desk.done(job.carry_out()), None);
    assert!(desk.next_job().is_none());
    drop(busy);
    desk.sync();
    let job = desk.next_job().unwrap();
    assert!(matches!(desk.done(job.carry_out()), Some((_, ToMember::Forget(_)))));
}

/// A desk that has asked for the kept results, and these.
fn asked(dir: &Path) -> (Desk, SpoolFolder) {
    let (folder, spooled) = (dir.join("run"), SpoolFolder::new(dir.join("agent")));
    run(&folder);
    kept(&spooled);
    let waiting = spool::waiting(&spooled);
    let mut desk = Desk::open(&dir.join("state")).unwrap();
    desk.register(registration(&folder)).unwrap();
    desk.release(RUN, &["tv".to_owned()]);
    assert!(matches!(&desk.offer("kitchen", &waiting)[..], [ToMember::Deliver(_)]));
    (desk, spooled)
}

/// What is said when what there was no room for is tried again.
fn tried_again(desk: &mut Desk) -> Vec<(String, ToMember)> {
    let mut said = Vec::new();
    while !desk.short.is_empty() && said.is_empty() {
        said = desk.sync();
    }
    said
}

#[test]
fn what_the_disk_has_no_room_to_sync_is_asked_for_again_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, spooled) = asked(dir.path());
    deliver(&mut desk, &spooled, 1, 4);
    let about = |message| ("kitchen".to_owned(), message);
    let run = || RUN.to_owned();
    let kept = |sequence| about(ToMember::Kept(Kept { run: run(), sequence }));
    assert_eq!(desk.sync(), [kept(4)]);
    deliver(&mut desk, &spooled, 5, 7);
    let key = ("kitchen".to_owned(), run());
    let full = io::Error::from(io::ErrorKind::StorageFull);
    assert!(matches!(desk.give_up_unsynced(&key, &full), ToMember::Refused(_)));
    assert_eq!(desk.sync(), [], "it waits a while, and nothing more is said to be kept");
    let wanted = about(ToMember::Deliver(Deliver { run: run() }));
    assert_eq!(tried_again(&mut desk), [kept(4), wanted]);
    deliver(&mut desk, &spooled, 5, 10);
    assert_eq!(desk.sync(), [kept(10)]);
    // For anything else it isn't tried again.
    let error = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
    assert!(matches!(desk.give_up_unsynced(&key, &error), ToMember::Refused(_)));
    assert!(desk.short.is_empty() && desk.coming.is_empty());
}

#[test]
fn what_stands_in_the_way_when_there_may_be_room_again_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (mut desk, _) = asked(dir.path());
    let key = ("kitchen".to_owned(), RUN.to_owned());
    let full = io::Error::from(io::ErrorKind::StorageFull);
    desk.give_up(&key, &full);
    std::fs::remove_dir_all(dir.path().join("run")).unwrap();
    let said = tried_again(&mut desk);
    assert!(
        matches!(&said[..], [(member, ToMember::Refused(refused))]
            if member == "kitchen" && refused.reason.contains("folder is gone")),
        "{said:?}"
    );
    assert!(desk.short.is_empty());
}

#[test]
fn of_too_many_runs_the_oldest_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut desk = Desk::open(dir.path()).unwrap();
    for number in 0..=MAX_RUNS {
        let mut one = registration(dir.path());
        one.run = format!("run-{number:05}");
        desk.register(one).unwrap();
    }
    assert!(desk.registration("run-00000").is_none() && desk.registration("run-00001").is_some());
    let again = Desk::open(dir.path()).unwrap();
    assert_eq!(again.runs.len(), MAX_RUNS);
    assert_eq!(again.runs, desk.runs);
}
