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

/// A member of a fleet as a service.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) binary: PathBuf,
    /// The file with the address and its token: not among the arguments, which all users can read.
    pub(super) environment: PathBuf,
    /// Arguments after `netburn fleet join`.
    pub(super) words: Vec<String>,
}

impl Kind {
    /// Commands that start the service after it is written.
    pub(super) const fn to_start(self) -> &'static [&'static [&'static str]] {
        match self {
            Kind::Systemd => &[
                &["systemctl", "daemon-reload"],
                &["systemctl", "enable", "netburn-agent.service"],
                &["systemctl", "restart", "netburn-agent.service"],
            ],
            Kind::SystemdUser => &[
                &["systemctl", "--user", "daemon-reload"],
                &["systemctl", "--user", "enable", "netburn-agent.service"],
                &["systemctl", "--user", "restart", "netburn-agent.service"],
            ],
            Kind::Procd => &[&["/etc/init.d/netburn", "enable"], &["/etc/init.d/netburn", "restart"]],
        }
    }

    /// Remedy if the start fails, appended to the error.
    pub(super) const fn unstarted(self) -> &'static str {
        match self {
            Kind::SystemdUser => {
                "; all is written. A user's systemd runs while the user is logged in, and always after `sudo loginctl \
                 enable-linger USER`: then `systemctl --user enable --now netburn-agent`"
            }
            Kind::Systemd | Kind::Procd => "",
        }
    }

    /// Commands that stop the service before it is removed.
    pub(super) const fn to_stop(self) -> &'static [&'static [&'static str]] {
        match self {
            Kind::Systemd => &[&["systemctl", "disable", "--now", "netburn-agent.service"]],
            Kind::SystemdUser => &[&["systemctl", "--user", "disable", "--now", "netburn-agent.service"]],
            Kind::Procd => &[&["/etc/init.d/netburn", "stop"], &["/etc/init.d/netburn", "disable"]],
        }
    }

    /// Commands that make the init system reload after the files are removed.
    pub(super) const fn to_reload(self) -> &'static [&'static str] {
        match self {
            Kind::Systemd | Kind::Procd => &["systemctl", "daemon-reload"],
            Kind::SystemdUser => &["systemctl", "--user", "daemon-reload"],
        }
    }

    /// Command that prints the state of the service.
    pub(super) const fn to_look(self) -> &'static str {
        match self {
            Kind::Systemd => "systemctl status netburn-agent",
            Kind::SystemdUser => "systemctl --user status netburn-agent",
            Kind::Procd => "/etc/init.d/netburn status",
        }
    }
}

impl Service {
    /// Content of the file.
    pub(super) fn text(&self, kind: Kind) -> String {
        match kind {
            Kind::Systemd => self.unit(
                // Its state (results that are not delivered yet) lies in /var/lib/netburn.
                "User=root\nStateDirectory=netburn\nEnvironment=XDG_STATE_HOME=/var/lib/netburn\nNoNewPrivileges=yes\n\
                 ProtectSystem=strict\nProtectHome=yes\nPrivateTmp=yes\n",
                "multi-user.target",
            ),
            Kind::SystemdUser => self.unit("", "default.target"),
            Kind::Procd => self.script(),
        }
    }

    fn unit(&self, more: &str, wanted: &str) -> String {
        let binary = self.binary.display().to_string();
        let words = [&binary, "fleet", "join"]
            .into_iter()
            .chain(self.words.iter().map(String::as_str));
        let command = words.map(unit_quoted).collect::<Vec<_>>().join(" ");
        let network = match wanted {
            "multi-user.target" => "After=network-online.target\nWants=network-online.target\n",
            _ => "",
        };
        format!(
            "[Unit]\nDescription=netburn, a member of a fleet\n{network}\n\
             [Service]\nEnvironmentFile={}\nExecStart={command}\nRestart=always\nRestartSec=5\n{more}\n\
             [Install]\nWantedBy={wanted}\n",
            // A path here is not quoted, but percent signs are still specifiers.
            self.environment.display().to_string().replace('%', "%%")
        )
    }

    fn script(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| crate::ssh::quoted(word)).collect();
        let binary = crate::ssh::quoted(&self.binary.display().to_string());
        let environment = crate::ssh::quoted(&self.environment.display().to_string());
        format!(
            "#!/bin/sh /etc/rc.common\n# netburn, a member of a fleet\n\nUSE_PROCD=1\nSTART=95\nSTOP=10\n\n\
             start_service() {{\n\
             \t. {environment}\n\
             \tprocd_open_instance\n\
             \tprocd_set_param command {}\n\
             \tprocd_set_param env {}=\"${}\"\n\
             \tprocd_set_param respawn 3600 5 0\n\
             \tprocd_set_param stderr 1\n\
             \tprocd_close_instance\n}}\n",
            [vec![binary, "fleet".to_owned(), "join".to_owned()], words]
                .concat()
                .join(" "),
            crate::ENVIRONMENT,
            crate::ENVIRONMENT,
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

/// A value in a file that both a shell and systemd's EnvironmentFile= read: single quotes, which an address never has.
pub(super) fn env_quoted(value: &str) -> String {
    format!("'{}'", value.replace(['\'', '\n'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(words: &[&str]) -> Service {
        Service {
            binary: "/usr/local/bin/netburn".into(),
            environment: "/etc/netburn/join.env".into(),
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
