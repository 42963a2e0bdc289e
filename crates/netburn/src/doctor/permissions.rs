//! Permissions of a machine, and the commands that grant missing ones. Pure.

use super::Finding;
use super::kernel::Machine;

/// Options that a container needs (docker-run(1), podman-run(1)). Its default filter of system calls and its AppArmor
/// profile forbid namespaces and mounts, and parts of /proc are hidden.
const CONTAINER: &str = "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
                         --security-opt systempaths=unconfined --device /dev/net/tun";

/// Namespaces that a small lab needs, about ten.
const FEW: u64 = 16;

/// Check of namespaces.
pub(super) fn namespaces(machine: &Machine) -> Finding {
    if let Some((name, limit)) = machine.most.as_ref().filter(|(_, limit)| !machine.lab && *limit < FEW) {
        return Finding {
            name: "user namespaces",
            ok: false,
            found: format!("{name} is {limit}"),
            remedy: Some(sysctl(&format!("{name}=10000"))),
        };
    }
    let (ok, found, remedy) = if machine.lab {
        (true, "allowed", None)
    } else if !machine.kernel {
        (false, "this kernel has none (CONFIG_USER_NS); root needs none", None)
    } else if machine.container {
        (
            false,
            "a container's confinement may forbid them",
            Some(CONTAINER.to_owned()),
        )
    } else if machine.clone == Some(0) && !machine.root {
        (
            false,
            "only root may make them",
            Some(sysctl("kernel.unprivileged_userns_clone=1")),
        )
    } else if machine.apparmor == Some(1) && !machine.root {
        (
            false,
            "AppArmor restricts them to programs with a profile (Ubuntu since 23.10)",
            Some(sysctl("kernel.apparmor_restrict_unprivileged_userns=0")),
        )
    } else if machine.filtered {
        (
            false,
            "a filter of system calls may forbid them",
            Some(CONTAINER.to_owned()),
        )
    } else {
        (true, "nothing that is known forbids them", None)
    };
    Finding {
        name: "user namespaces",
        ok,
        found: found.to_owned(),
        remedy,
    }
}

/// Command that sets a kernel parameter until the next boot, and the file that makes it permanent.
fn sysctl(setting: &str) -> String {
    format!(
        "sudo sysctl -w {setting}    (until the next boot; for good: echo {setting} | sudo tee /etc/sysctl.d/60-netburn.conf)"
    )
}

/// Check of TUN devices.
pub(super) fn tun(machine: &Machine) -> Finding {
    let (found, remedy) = match &machine.closed {
        None => ("can be opened".to_owned(), None),
        Some((forbidden, error)) => {
            let instead = if machine.lab {
                "; Ethernet pairs take its place, which carry a little less"
            } else {
                ""
            };
            let remedy = if *forbidden {
                "sudo chmod 0666 /dev/net/tun    (until the next boot)"
            } else if machine.container {
                "start the container with --device /dev/net/tun"
            } else {
                "sudo modprobe tun"
            };
            (format!("can't be opened: {error}{instead}"), Some(remedy.to_owned()))
        }
    };
    Finding {
        name: "/dev/net/tun",
        ok: machine.closed.is_none(),
        found,
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Machine {
        Machine {
            kernel: true,
            most: Some(("user.max_user_namespaces".to_owned(), 96_365)),
            ..Machine::default()
        }
    }

    #[test]
    fn a_lab_that_opens_needs_no_remedy() {
        let machine = Machine {
            lab: true,
            apparmor: Some(1),
            filtered: true,
            ..usual()
        };
        let finding = namespaces(&machine);
        assert!(finding.ok && finding.remedy.is_none());
        assert!(tun(&machine).ok);
    }

    #[test]
    fn each_restriction_of_namespaces_has_a_remedy() {
        let remedy = |machine: Machine| {
            let finding = namespaces(&machine);
            assert!(!finding.ok);
            finding.remedy.unwrap_or_default()
        };
        for name in ["user.max_user_namespaces", "user.max_net_namespaces"] {
            let none = Machine {
                most: Some((name.to_owned(), 0)),
                // A container does not change the limit.
                container: true,
                ..usual()
            };
            assert!(remedy(none).starts_with(&format!("sudo sysctl -w {name}=10000 ")));
        }
        let debian = Machine {
            clone: Some(0),
            ..usual()
        };
        assert!(remedy(debian).starts_with("sudo sysctl -w kernel.unprivileged_userns_clone=1 "));
        let ubuntu = Machine {
            apparmor: Some(1),
            clone: Some(1),
            ..usual()
        };
        let line = remedy(ubuntu);
        assert!(
            line.starts_with("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 "),
            "{line}"
        );
        assert!(
            line.contains("echo kernel.apparmor_restrict_unprivileged_userns=0 | sudo tee"),
            "{line}"
        );
        for machine in [
            Machine {
                container: true,
                ..usual()
            },
            Machine {
                filtered: true,
                ..usual()
            },
        ] {
            let line = remedy(machine);
            assert!(line.contains("--security-opt seccomp=unconfined"), "{line}");
            assert!(line.contains("--device /dev/net/tun"), "{line}");
        }
        // Restrictions of unprivileged users do not apply to root.
        let root = Machine {
            root: true,
            clone: Some(0),
            apparmor: Some(1),
            ..usual()
        };
        assert_eq!(namespaces(&root).remedy, None);
        assert_eq!(remedy(Machine::default()), "");
    }

    #[test]
    fn an_inaccessible_device_has_a_remedy_and_a_replacement() {
        let closed = |forbidden, container| Machine {
            lab: true,
            container,
            closed: Some((forbidden, "no".to_owned())),
            ..usual()
        };
        let line = |machine: &Machine| tun(machine).remedy.unwrap();
        assert!(line(&closed(true, false)).starts_with("sudo chmod 0666 /dev/net/tun "));
        assert_eq!(line(&closed(false, false)), "sudo modprobe tun");
        assert_eq!(
            line(&closed(false, true)),
            "start the container with --device /dev/net/tun"
        );
        assert!(tun(&closed(true, false)).found.contains("Ethernet pairs"));
        let without = Machine {
            lab: false,
            ..closed(true, false)
        };
        assert!(!tun(&without).found.contains("Ethernet pairs"));
    }
}
