//! Slow phases of a login, with probable causes and remedies.

use super::transcript::{Step, Transcript};
use netburn_units::Duration;

/// Facts about both machines, from their files. All are optional.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The `hosts:` line of the client's nsswitch.conf.
    pub client_hosts: Option<String>,
    /// True if the server looks up the names of its clients (`UseDNS`).
    pub use_dns: Option<bool>,
    /// PAM session modules of the server.
    pub session_modules: Vec<String>,
    /// Time of the same command over an existing connection.
    pub reused: Option<Duration>,
}

/// A cause of slow logins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Time that it takes, without the network's part.
    pub took: Duration,
    /// Name of the phase.
    pub phase: String,
    /// Probable cause.
    pub cause: String,
    /// Remedy.
    pub remedy: String,
}

/// Time of a phase, in addition to its round trips, from which it is a finding.
pub const SLOW: Duration = Duration::from_millis(150);

/// Causes that make this login slow, slowest first.
#[must_use]
pub fn findings(login: &Transcript, facts: &Facts) -> Vec<Finding> {
    let round_trip = login.took(|step| *step == Step::Connect);
    let mut found: Vec<Finding> = login
        .phases
        .iter()
        .filter_map(|phase| {
            // Subtract the part of the network.
            let own = phase.took - (round_trip * round_trips(&phase.step)).min(phase.took);
            if own < SLOW {
                return None;
            }
            let (cause, remedy) = explain(&phase.step, facts);
            Some(Finding {
                took: own,
                phase: phase.step.name(),
                cause,
                remedy,
            })
        })
        .collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.took));
    found
}

/// Maximum number of round trips of a phase.
const fn round_trips(step: &Step) -> u64 {
    match step {
        Step::Lookup => 0,
        Step::Connect | Step::Banner | Step::Session | Step::Command => 1,
        Step::User | Step::Keys | Step::Shell => 2,
        Step::Method(..) => 3,
    }
}

fn explain(step: &Step, facts: &Facts) -> (String, String) {
    let said = |cause: &str, remedy: &str| (cause.to_owned(), remedy.to_owned());
    match step {
        Step::Lookup => match facts.client_hosts.as_deref().filter(|hosts| hosts.contains("mdns")) {
            Some(hosts) => (
                format!("this machine looks up names by mDNS on the local network (/etc/nsswitch.conf: `{}`)", hosts.trim()),
                "remove `mdns4_minimal` and similar words from the hosts line of /etc/nsswitch.conf, or put `dns` before them; or \
                 set the host's address in ~/.ssh/config (`HostName`)"
                    .to_owned(),
            ),
            None => said(
                "this machine's name server answers slowly, or one of several name servers does not answer",
                "check /etc/resolv.conf, or set the host's address in ~/.ssh/config (`HostName`) or in /etc/hosts",
            ),
        },
        Step::Connect => said(
            "the network: the TCP handshake needs one round trip",
            "set `AddressFamily inet` for this host in ~/.ssh/config if IPv6 does not reach the host",
        ),
        Step::Banner => said(
            "the server starts the login slowly: it is busy, permits few logins at once (MaxStartups), or starts sshd for each login",
            "check the server's load, `MaxStartups` in its sshd_config, and whether inetd or a socket unit starts sshd",
        ),
        Step::Keys => said(
            "key exchange: one of the two processors is slow or busy",
            "reuse a connection (`ControlMaster`, `ControlPersist`), so that keys are exchanged once only",
        ),
        Step::User => match facts.use_dns {
            Some(true) => said(
                "the server looks up the client's name by its address, and its name server does not answer (UseDNS yes)",
                "set `UseDNS no` in the server's sshd_config, or add the client to the server's /etc/hosts",
            ),
            Some(false) => said(
                "the server looks up the user slowly: a directory (LDAP, SSSD) does not answer, or PAM delays the lookup",
                "check the lines passwd and group of the server's /etc/nsswitch.conf, and the server's log of that time",
            ),
            None => said(
                "the server looks up the client's name by its address (reverse DNS), or the user in a directory",
                "set `UseDNS no` in the server's sshd_config; if that does not help, check the server's /etc/nsswitch.conf",
            ),
        },
        Step::Method(name, accepted) => method(name, *accepted),
        Step::Session => {
            let suspects: Vec<&str> = ["pam_systemd", "pam_ck_connector", "pam_motd", "pam_mail", "pam_mount", "pam_krb5", "pam_exec"]
                .into_iter()
                .filter(|suspect| facts.session_modules.iter().any(|module| module.starts_with(suspect)))
                .collect();
            let named = match (suspects.is_empty(), facts.session_modules.is_empty()) {
                (false, _) => format!("PAM session modules: {}", suspects.join(", ")),
                (true, false) => format!("a PAM session module, of {}", facts.session_modules.join(", ")),
                (true, true) => "PAM session modules, such as pam_systemd, pam_ck_connector or pam_motd".to_owned(),
            };
            (
                format!("the server opens the session slowly: {named}"),
                "in the server's /etc/pam.d/sshd and common-session, mark optional modules as `-session optional` or remove them, \
                 one at a time; check systemd-logind, because pam_systemd waits for it"
                    .to_owned(),
            )
        }
        Step::Command => said(
            "the server starts the command slowly: it is busy",
            "check the server's load",
        ),
        Step::Shell => said(
            "the user's shell starts slowly: its startup files, a forced command, or a home directory on a network",
            "check ~/.bashrc, ~/.ssh/rc and `ForceCommand` on the server; `bash -xc true` prints what the shell executes",
        ),
    }
}

fn method(name: &str, accepted: bool) -> (String, String) {
    let result = if accepted { "and succeeds" } else { "and fails" };
    let only = "or try keys only: `PreferredAuthentications publickey` in ~/.ssh/config";
    match name {
        "gssapi-with-mic" | "gssapi-keyex" => (
            format!("GSSAPI (Kerberos) is tried {result}: it looks up names and sends requests to a key distribution centre"),
            format!("set `GSSAPIAuthentication no` in ~/.ssh/config or in the server's sshd_config, {only}"),
        ),
        "keyboard-interactive" => (
            format!("challenge-response is tried {result}: PAM waits for an answer, or delays the result of a wrong one"),
            format!(
                "set `KbdInteractiveAuthentication no` on the server (`ChallengeResponseAuthentication` before 8.7), {only}"
            ),
        ),
        "hostbased" => (
            format!("host-based authentication is tried {result}: the server looks up the client's name"),
            format!("set `HostbasedAuthentication no` in ~/.ssh/config, {only}"),
        ),
        "password" => (
            format!("the server asks for a password {result}: PAM delays failed logins, and typing takes time"),
            "use a key, which `ssh-copy-id` installs".to_owned(),
        ),
        "publickey" => (
            format!(
                "a key is tried {result}: an agent or a security key is slow, or PAM account modules or AuthorizedKeysCommand of \
                 the server"
            ),
            "offer one key only (`IdentitiesOnly yes`); check `AuthorizedKeysCommand` and the account modules in the server's \
             /etc/pam.d/sshd"
                .to_owned(),
        ),
        other => (
            format!("{other} is tried {result}"),
            "set `PreferredAuthentications publickey` in ~/.ssh/config".to_owned(),
        ),
    }
}

impl Facts {
    /// Parses the answer to [`Facts::question`]. Lines with `netburn-` begin each section.
    pub fn learn(&mut self, answer: &str) {
        let mut section = "";
        for line in answer.lines().take(10_000) {
            if let Some(next) = line.strip_prefix("netburn-") {
                section = next.trim();
                continue;
            }
            let line = line.split('#').next().unwrap_or_default().trim();
            let mut words = line.split_whitespace();
            match section {
                // The first value applies (sshd_config(5)).
                "sshd" if self.use_dns.is_none() => {
                    let named = words.next().is_some_and(|word| word.eq_ignore_ascii_case("usedns"));
                    let value = words.next().filter(|_| named);
                    self.use_dns = value.map(|value| value.eq_ignore_ascii_case("yes"));
                }
                "pam" => {
                    let kind = words.next().unwrap_or_default();
                    if kind.trim_start_matches('-') == "session" {
                        let module = words.find(|word| word.starts_with("pam_") || word.contains("/pam_"));
                        let module = module.map(|path| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".so"));
                        if let Some(module) = module
                            && self.session_modules.len() < 64
                            && !self.session_modules.iter().any(|known| known == module)
                        {
                            self.session_modules.push(module.chars().take(60).collect());
                        }
                    }
                }
                // The default is off (since OpenSSH 6.8).
                "end" => self.use_dns = self.use_dns.or(Some(false)),
                _ => {}
            }
        }
        if section == "end" && self.use_dns.is_none() {
            self.use_dns = Some(false);
        }
    }

    /// Shell commands for the server. They only read.
    #[must_use]
    pub const fn question() -> &'static str {
        "echo netburn-sshd; (sshd -T 2>/dev/null || /usr/sbin/sshd -T 2>/dev/null || \
         cat /etc/ssh/sshd_config.d/*.conf /etc/ssh/sshd_config 2>/dev/null) | grep -i '^[[:space:]]*usedns'; \
         echo netburn-pam; cat /etc/pam.d/sshd /etc/pam.d/common-session /etc/pam.d/system-auth /etc/pam.d/system-login 2>/dev/null \
         | grep session; echo netburn-end"
    }
}
