//! Files for init systems: units of systemd (systemd.service(5)), a script of OpenWrt's procd. Pure.

use std::path::PathBuf;

/// Init system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// systemd, for the whole machine.
    Systemd,
    /// systemd, for one user.
    SystemdUser,
    /// OpenWrt.
    Procd,
}

/// Command of netburn that can be a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `netburn fleet join`: a member of a fleet.
    Agent,
    /// `netburn watch`.
    Watch,
}

impl Program {
    /// Name of the unit of systemd.
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Program::Agent => "netburn-agent",
            Program::Watch => "netburn-watch",
        }
    }

    /// Name of the script of procd.
    pub(super) const fn script(self) -> &'static str {
        match self {
            Program::Agent => "netburn",
            Program::Watch => "netburn-watch",
        }
    }

    /// Name of the file with its secrets.
    pub(super) const fn environment(self) -> &'static str {
        match self {
            Program::Agent => "join.env",
            Program::Watch => "watch.env",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Program::Agent => "netburn, a member of a fleet",
            Program::Watch => "netburn, monitoring of the network",
        }
    }

    const fn command(self) -> &'static [&'static str] {
        match self {
            Program::Agent => &["fleet", "join"],
            Program::Watch => &["watch"],
        }
    }

    /// Restrictions of the service of the whole machine. The folder and the commands of a watch can be anywhere, so that
    /// only the system itself is read-only for it.
    const fn restrictions(self) -> &'static str {
        match self {
            // Its state (results that are not delivered yet) lies in /var/lib/netburn.
            Program::Agent => {
                "User=root\nStateDirectory=netburn\nEnvironment=XDG_STATE_HOME=/var/lib/netburn\nNoNewPrivileges=yes\n\
                 ProtectSystem=strict\nProtectHome=yes\nPrivateTmp=yes\n"
            }
            Program::Watch => "User=root\nNoNewPrivileges=yes\nProtectSystem=full\n",
        }
    }
}

/// A command as a service.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) program: Program,
    pub(super) binary: PathBuf,
    /// The file with the secrets: not among the arguments, which all users can read.
    pub(super) environment: Option<PathBuf>,
    /// Names of the variables in this file.
    pub(super) variables: Vec<&'static str>,
    /// Arguments after the command.
    pub(super) words: Vec<String>,
}

impl Kind {
    /// Commands that start the service after it is written.
    pub(super) fn to_start(self, program: Program) -> Vec<Vec<String>> {
        match self {
            Kind::Systemd | Kind::SystemdUser => vec![
                self.systemctl(&["daemon-reload"]),
                self.systemctl(&["enable", &format!("{}.service", program.unit())]),
                self.systemctl(&["restart", &format!("{}.service", program.unit())]),
            ],
            Kind::Procd => ["enable", "restart"].map(|verb| of_script(program, verb)).to_vec(),
        }
    }

    /// Remedy if the start fails, appended to the error.
    pub(super) fn unstarted(self, program: Program) -> String {
        match self {
            Kind::SystemdUser => format!(
                "; all is written. A user's systemd runs while the user is logged in, and always after `sudo loginctl \
                 enable-linger USER`: then `systemctl --user enable --now {}`",
                program.unit()
            ),
            Kind::Systemd | Kind::Procd => String::new(),
        }
    }

    /// Commands that stop the service before it is removed.
    pub(super) fn to_stop(self, program: Program) -> Vec<Vec<String>> {
        match self {
            Kind::Systemd | Kind::SystemdUser => {
                vec![self.systemctl(&["disable", "--now", &format!("{}.service", program.unit())])]
            }
            Kind::Procd => ["stop", "disable"].map(|verb| of_script(program, verb)).to_vec(),
        }
    }

    /// Command that makes the init system reload after the files are removed.
    pub(super) fn to_reload(self) -> Vec<String> {
        self.systemctl(&["daemon-reload"])
    }

    /// Command that prints the state of the service.
    pub(super) fn to_look(self, program: Program) -> String {
        match self {
            Kind::Systemd | Kind::SystemdUser => self.systemctl(&["status", program.unit()]).join(" "),
            Kind::Procd => of_script(program, "status").join(" "),
        }
    }

    fn systemctl(self, words: &[&str]) -> Vec<String> {
        let of_user: &[&str] = if self == Kind::SystemdUser { &["--user"] } else { &[] };
        let all = ["systemctl"].iter().chain(of_user).chain(words);
        all.map(|word| (*word).to_owned()).collect()
    }
}

fn of_script(program: Program, verb: &str) -> Vec<String> {
    vec![format!("/etc/init.d/{}", program.script()), verb.to_owned()]
}

impl Service {
    /// Content of the file.
    pub(super) fn text(&self, kind: Kind) -> String {
        match kind {
            Kind::Systemd => self.unit(self.program.restrictions(), "multi-user.target"),
            Kind::SystemdUser => self.unit("", "default.target"),
            Kind::Procd => self.script(),
        }
    }

    fn unit(&self, more: &str, wanted: &str) -> String {
        let binary = self.binary.display().to_string();
        let words = [binary.as_str()]
            .into_iter()
            .chain(self.program.command().iter().copied())
            .chain(self.words.iter().map(String::as_str));
        let command = words.map(unit_quoted).collect::<Vec<_>>().join(" ");
        let network = match wanted {
            "multi-user.target" => "After=network-online.target\nWants=network-online.target\n",
            _ => "",
        };
        let environment = match &self.environment {
            // A path here is not quoted, but percent signs are still specifiers.
            Some(path) => format!("EnvironmentFile={}\n", path.display().to_string().replace('%', "%%")),
            None => String::new(),
        };
        format!(
            "[Unit]\nDescription={}\n{network}\n\
             [Service]\n{environment}ExecStart={command}\nRestart=always\nRestartSec=5\n{more}\n\
             [Install]\nWantedBy={wanted}\n",
            self.program.description()
        )
    }

    fn script(&self) -> String {
        let words = self.words.iter().map(|word| crate::ssh::quoted(word));
        let command: Vec<String> = [crate::ssh::quoted(&self.binary.display().to_string())]
            .into_iter()
            .chain(self.program.command().iter().map(|word| (*word).to_owned()))
            .chain(words)
            .collect();
        let (read, set) = match &self.environment {
            Some(path) => {
                let variables = self.variables.iter().map(|name| format!(" {name}=\"${name}\""));
                (
                    format!("\t. {}\n", crate::ssh::quoted(&path.display().to_string())),
                    format!("\tprocd_set_param env{}\n", variables.collect::<String>()),
                )
            }
            None => Default::default(),
        };
        format!(
            "#!/bin/sh /etc/rc.common\n# {}\n\nUSE_PROCD=1\nSTART=95\nSTOP=10\n\n\
             start_service() {{\n\
             {read}\
             \tprocd_open_instance\n\
             \tprocd_set_param command {}\n\
             {set}\
             \tprocd_set_param respawn 3600 5 0\n\
             \tprocd_set_param stderr 1\n\
             \tprocd_close_instance\n}}\n",
            self.program.description(),
            command.join(" ")
        )
    }
}

/// A word of ExecStart= (systemd.syntax(7), systemd.service(5)): quoted, and without what would be expanded.
fn unit_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.=+:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' | '$' => quoted.extend([c, c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A line of a file that both a shell and systemd's EnvironmentFile= read. In double quotes, both take a backslash away
/// before these four characters (POSIX XCU 2.2.3, systemd.exec(5)). In single quotes they differ for backslashes.
pub(super) fn env_line(name: &str, value: &str) -> String {
    if !value.contains(['\'', '\\', '\n']) {
        return format!("{name}='{value}'\n");
    }
    let mut line = format!("{name}=\"");
    for c in value.chars() {
        if "\"\\`$".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line.push_str("\"\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(words: &[&str]) -> Service {
        Service {
            program: Program::Agent,
            binary: "/usr/local/bin/netburn".into(),
            environment: Some("/etc/netburn/join.env".into()),
            variables: vec![crate::ENVIRONMENT],
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    #[test]
    fn a_unit_contains_the_command_and_no_secret() {
        let text = service(&["--name", "kitchen", "--max-rate", "50 Mbit/s"]).text(Kind::Systemd);
        assert!(
            text.contains("\nExecStart=/usr/local/bin/netburn fleet join --name kitchen --max-rate \"50 Mbit/s\"\n"),
            "{text}"
        );
        assert!(text.contains("\nEnvironmentFile=/etc/netburn/join.env\n"));
        assert!(text.contains("\nWantedBy=multi-user.target\n"));
        assert!(
            service(&[])
                .text(Kind::SystemdUser)
                .contains("\nWantedBy=default.target\n")
        );
    }

    #[test]
    fn a_watch_has_no_secret_and_may_write_its_folder() {
        let watch = Service {
            program: Program::Watch,
            environment: None,
            variables: vec![],
            ..service(&["/srv/my watch", "--alert", "server p95 > 100 ms for 5 min"])
        };
        let text = watch.text(Kind::Systemd);
        assert!(
            text.contains(
                "\nExecStart=/usr/local/bin/netburn watch \"/srv/my watch\" --alert \"server p95 > 100 ms for 5 min\"\n"
            ),
            "{text}"
        );
        assert!(!text.contains("EnvironmentFile") && !text.contains("strict"), "{text}");
        assert!(!watch.text(Kind::Procd).contains("env"));
        assert_eq!(
            Kind::SystemdUser.to_look(Program::Watch),
            "systemctl --user status netburn-watch"
        );
    }

    /// The shell of procd's script reads each value as it is.
    #[test]
    fn a_secret_keeps_each_of_its_characters() {
        let value = "curl -H 'Token: a\"b' \"$URL\" `x` \\ \\n \\\" $$ 50% é # ; & | \n\t!x";
        let line = env_line("SECRET", value);
        let read = std::process::Command::new("sh")
            .args(["-c", &format!("{line}printf %s \"$SECRET\"")])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(read.stdout).unwrap(), value);
        assert_eq!(env_line("A", r#"a"b\c$d`e'f"#), "A=\"a\\\"b\\\\c\\$d\\`e'f\"\n");
    }

    #[test]
    fn the_secrets_of_a_watch_are_variables_of_procd() {
        let watch = Service {
            program: Program::Watch,
            environment: Some("/etc/netburn/watch.env".into()),
            variables: vec!["ONE", "TWO"],
            ..service(&["/srv/watch"])
        };
        let text = watch.text(Kind::Procd);
        assert!(text.contains("\t. '/etc/netburn/watch.env'\n"), "{text}");
        assert!(
            text.contains("\tprocd_set_param env ONE=\"$ONE\" TWO=\"$TWO\"\n"),
            "{text}"
        );
        assert!(
            watch
                .text(Kind::Systemd)
                .contains("\nEnvironmentFile=/etc/netburn/watch.env\n")
        );
    }

    #[test]
    fn nothing_in_a_word_is_expanded() {
        assert_eq!(unit_quoted("50% of $HOME \"x\\y"), r#""50%% of $$HOME \"x\\y""#);
        assert_eq!(unit_quoted(""), "\"\"");
    }

    #[test]
    fn a_script_of_procd_is_a_shell_script() {
        let text = service(&["--label", "it's=x"]).text(Kind::Procd);
        assert!(text.starts_with("#!/bin/sh /etc/rc.common\n"));
        let checked = std::process::Command::new("sh")
            .args(["-n", "-c", &text])
            .status()
            .unwrap();
        assert!(checked.success(), "{text}");
        assert!(text.contains(r"'it'\''s=x'"));
    }
}
