use super::fuzz::{check, timed};
use super::{Facts, Finding, Step, Transcript, findings};
use crate::ssh::OUTPUT;
use netburn_units::Duration;
use std::path::{Path, PathBuf};

/// Logins into OpenSSH 9.2 on one machine, recorded with `ssh -vvv`. The server was slowed down as the name
/// says.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/login")
}

fn recorded(name: &str) -> Transcript {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    Transcript::read(timed(&text))
}

fn worst(name: &str, facts: &Facts) -> Finding {
    let login = recorded(name);
    assert!(login.complete, "{login:?}");
    findings(&login, facts).into_iter().next().expect("something is slow")
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_login_has_all_its_phases_in_order() {
    let login = recorded("plain");
    let steps: Vec<Step> = login.phases.iter().map(|phase| phase.step.clone()).collect();
    let expected = [
        Step::Lookup,
        Step::Connect,
        Step::Banner,
        Step::Keys,
        Step::User,
        Step::Method("publickey".to_owned(), true),
        Step::Session,
        Step::Command,
        Step::Shell,
    ];
    assert_eq!(steps, expected);
    assert_eq!(login.offered, ["publickey", "password", "keyboard-interactive"]);
    assert!(login.server.unwrap().starts_with("OpenSSH_9.2"));
}

/// A module that sleeps for 1.2 s in the session stack.
#[test]
fn slow_session_modules_are_found_and_named_if_known() {
    let finding = worst("pam-session", &Facts::default());
    assert_eq!(finding.phase, "session");
    assert!(finding.took >= ms(1200) && finding.took < ms(1500), "{finding:?}");
    assert!(
        finding.cause.contains("PAM session modules, such as pam_systemd"),
        "{finding:?}"
    );
    let mut facts = Facts::default();
    facts.learn(&std::fs::read_to_string(folder().join("facts")).unwrap());
    assert_eq!(
        facts.session_modules,
        ["pam_loginuid", "pam_systemd", "pam_selinux", "pam_ck_connector"]
    );
    let finding = worst("pam-session", &facts);
    assert!(
        finding
            .cause
            .ends_with("PAM session modules: pam_systemd, pam_ck_connector"),
        "{finding:?}"
    );
}

/// The same module in the account stack: it delays the accepted key.
#[test]
fn slow_account_modules_are_found() {
    let finding = worst("pam-account", &Facts::default());
    assert_eq!(finding.phase, "publickey, accepted");
    assert!(finding.cause.contains("PAM account modules"), "{finding:?}");
}

/// `UseDNS yes` and a name server that does not answer.
#[test]
fn reverse_dns_is_found() {
    let facts = |use_dns| Facts {
        use_dns,
        ..Facts::default()
    };
    let finding = worst("usedns", &facts(Some(true)));
    assert!(finding.took > ms(1000), "{finding:?}");
    assert!(
        finding.cause.contains("UseDNS yes") && finding.remedy.contains("UseDNS no"),
        "{finding:?}"
    );
    assert!(worst("usedns", &facts(None)).cause.contains("reverse DNS"));
    assert!(
        worst("usedns", &facts(Some(false))).cause.contains("directory"),
        "it can't be reverse DNS"
    );
}

/// `ForceCommand` with a script that sleeps for 1.1 s.
#[test]
fn a_slow_shell_is_found() {
    let finding = worst("forced-command", &Facts::default());
    assert!(finding.phase.starts_with("shell"), "{finding:?}");
    assert!(finding.cause.contains("forced command"));
}

/// pam_faildelay and a wrong answer, then a key.
#[test]
fn challenge_response_that_fails_is_found() {
    let finding = worst("keyboard-interactive", &Facts::default());
    assert_eq!(finding.phase, "keyboard-interactive, rejected");
    assert!(
        finding.took > ms(2000) && finding.cause.contains("challenge-response"),
        "{finding:?}"
    );
}

/// Each rejected method has its own phase.
#[test]
fn methods_that_fail_first_are_phases() {
    for (name, method) in [("gssapi", "gssapi-with-mic"), ("hostbased", "hostbased")] {
        let login = recorded(name);
        let tried: Vec<&Step> = login
            .phases
            .iter()
            .map(|phase| &phase.step)
            .filter(|step| matches!(step, Step::Method(..)))
            .collect();
        let expected = [
            Step::Method(method.to_owned(), false),
            Step::Method("publickey".to_owned(), true),
        ];
        assert_eq!(tried, expected.iter().collect::<Vec<_>>(), "{name}");
    }
}

/// Causes without a recording, from lines in OpenSSH's format.
#[test]
fn slow_lookups_gssapi_and_hostbased_have_their_causes() {
    let login = |slow: usize| {
        let lines = [
            "debug1: Connecting to tv.local [192.168.1.9] port 22.",
            "debug1: Connection established.",
            "debug1: Remote protocol version 2.0, remote software version OpenSSH_9.9",
            "debug1: SSH2_MSG_NEWKEYS received",
            "debug1: Authentications that can continue: publickey,gssapi-with-mic",
            "debug1: Next authentication method: gssapi-with-mic",
            "debug1: Authentications that can continue: publickey,gssapi-with-mic",
            "debug1: Next authentication method: hostbased",
            "debug1: Next authentication method: publickey",
            "Authenticated to tv.local ([192.168.1.9]:22) using \"publickey\".",
        ];
        let mut now = Duration::ZERO;
        let lines: Vec<(Duration, &str)> = lines
            .into_iter()
            .enumerate()
            .map(|(place, line)| {
                now += if place == slow { ms(2000) } else { ms(5) };
                (now, line)
            })
            .collect();
        Transcript::read(lines)
    };
    let only = |slow, facts: &Facts| {
        let found = findings(&login(slow), facts);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let mdns = Facts {
        client_hosts: Some("hosts: files mdns4_minimal [NOTFOUND=return] dns".to_owned()),
        ..Facts::default()
    };
    assert!(only(0, &mdns).cause.contains("mDNS"));
    assert!(only(0, &Facts::default()).cause.contains("name server"));
    assert!(only(6, &mdns).cause.contains("GSSAPI"));
    assert!(only(8, &mdns).cause.contains("host-based"));
}

#[test]
fn a_failed_login_contains_the_message_of_ssh() {
    let login = recorded("refused");
    assert!(!login.complete);
    assert!(login.error.as_ref().unwrap().contains("Permission denied"), "{login:?}");
    let login = recorded("no-server");
    assert!(login.error.unwrap().contains("Connection refused"));
    assert_eq!(login.phases.len(), 1);
}

#[test]
fn a_slow_network_is_no_fault_of_the_machines() {
    // 100 ms of round trip: key exchange takes two, the method three.
    let lines = [
        (1, "debug1: Connecting to a [b] port 22."),
        (101, "debug1: Connection established."),
        (210, "debug1: Remote protocol version 2.0, remote software version x"),
        (430, "debug1: SSH2_MSG_NEWKEYS received"),
        (650, "debug1: Authentications that can continue: publickey"),
        (650, "debug1: Next authentication method: publickey"),
        (970, "Authenticated to a ([b]:22) using \"publickey\"."),
        (1080, "debug1: Sending command: true"),
        (1190, "debug2: exec request accepted on channel 0"),
        (1200, OUTPUT),
    ];
    let login = Transcript::read(lines.map(|(at, line)| (ms(at), line)));
    assert!(login.complete);
    assert_eq!(findings(&login, &Facts::default()), []);
    assert_eq!(login.total(), ms(1200));
    // On a busy machine the output may precede messages about the session.
    let (mut overtaken, output) = (lines.to_vec(), (960, OUTPUT));
    overtaken.insert(6, output);
    let login = Transcript::read(overtaken.into_iter().map(|(at, line)| (ms(at), line)));
    assert!(login.complete);
    assert_eq!(login.phases.last().unwrap().step, Step::Session);
}

#[test]
fn without_a_word_of_it_reverse_dns_is_off() {
    let mut facts = Facts::default();
    facts.learn("netburn-sshd\nnetburn-pam\nnetburn-end\n");
    assert_eq!(facts.use_dns, Some(false));
    let mut torn = Facts::default();
    torn.learn("netburn-sshd\n");
    assert_eq!(torn.use_dns, None);
}

#[test]
fn any_transcript_is_handled() {
    let mut files = Vec::new();
    for file in std::fs::read_dir(folder()).unwrap() {
        files.push(std::fs::read(file.unwrap().path()).unwrap());
    }
    assert!(files.len() >= 12, "{}", files.len());
    let mut chance = netburn_units::Seed(8).stream("ssh", 0);
    for file in &files {
        check(file);
        for _ in 0..60 {
            let mut wrong = file.clone();
            for _ in 0..=chance.below(20) {
                let at = chance.below(wrong.len() as u64) as usize;
                wrong[at] = chance.next_u64() as u8;
            }
            let cut = chance.below(wrong.len() as u64) as usize;
            check(&wrong[..cut]);
            // Lines in another order.
            let mut lines: Vec<&[u8]> = wrong.split(|byte| *byte == b'\n').collect();
            let turn = chance.below(lines.len() as u64) as usize;
            lines.rotate_left(turn);
            check(&lines.join(&b'\n'));
        }
    }
}
