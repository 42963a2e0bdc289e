//! Machine of a binary (ELF; System V ABI, generic and per processor). Pure.

use std::fmt;

/// System and processor of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// `EM_*`.
    processor: u16,
    wide: bool,
    little: bool,
    name: &'static str,
    /// Rust target; `None` if there is no release for it.
    target: Option<&'static str>,
}

const fn machine(
    processor: u16,
    wide: bool,
    little: bool,
    name: &'static str,
    target: Option<&'static str>,
) -> Machine {
    Machine {
        processor,
        wide,
        little,
        name,
        target,
    }
}

impl Machine {
    /// Parses the output of `uname -sm`.
    #[must_use]
    pub fn from_uname(text: &str) -> Option<Machine> {
        let mut words = text.split_whitespace();
        let (system, processor) = (words.next()?, words.next()?);
        if system != "Linux" {
            return None;
        }
        Some(match processor {
            "x86_64" | "amd64" => machine(62, true, true, "Linux on x86-64", Some("x86_64-unknown-linux-musl")),
            "aarch64" | "arm64" => machine(183, true, true, "Linux on aarch64", Some("aarch64-unknown-linux-musl")),
            "armv7l" | "armv8l" => machine(
                40,
                false,
                true,
                "Linux on armv7",
                Some("armv7-unknown-linux-musleabihf"),
            ),
            "mips" => machine(8, false, false, "Linux on MIPS", Some("mips-unknown-linux-musl")),
            "mipsel" => machine(
                8,
                false,
                true,
                "Linux on MIPS, little-endian",
                Some("mipsel-unknown-linux-musl"),
            ),
            "riscv64" => machine(243, true, true, "Linux on RISC-V", None),
            "i686" | "i586" | "i386" => machine(3, false, true, "Linux on 32-bit x86", None),
            _ => return None,
        })
    }

    /// Help text: how to get a binary for this machine.
    #[must_use]
    pub fn recipe(&self) -> String {
        match self.target {
            Some("x86_64-unknown-linux-musl") => {
                "`scripts/build-static` builds one that runs on any Linux; give it with --binary".to_owned()
            }
            Some(target) => format!("build one with `cargo build --release --target {target}`; give it with --binary"),
            None => "no target is known for it; give a binary with --binary".to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Header of a binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elf {
    processor: u16,
    wide: bool,
    little: bool,
    /// The binary needs a program interpreter (PT_INTERP).
    interpreted: bool,
}

impl Elf {
    /// Parses the start of a file; `None` if it is not an ELF binary.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Elf> {
        let (wide, little) = match bytes.get(..6)? {
            [0x7f, b'E', b'L', b'F', class @ (1 | 2), order @ (1 | 2)] => (*class == 2, *order == 1),
            _ => return None,
        };
        let number = |at: usize, length: usize| {
            let field = bytes.get(at..at.checked_add(length)?)?;
            let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
            Some(if little {
                field.iter().rev().fold(0, join)
            } else {
                field.iter().fold(0, join)
            })
        };
        // e_phoff, e_phentsize, e_phnum
        let (table, size, count) = if wide {
            (number(32, 8)?, number(54, 2)?, number(56, 2)?)
        } else {
            (number(28, 4)?, number(42, 2)?, number(44, 2)?)
        };
        let mut interpreted = false;
        for entry in 0..count {
            let at = entry.checked_mul(size).and_then(|at| at.checked_add(table))?;
            interpreted |= number(usize::try_from(at).ok()?, 4)? == 3;
        }
        Some(Elf {
            processor: number(18, 2)? as u16,
            wide,
            little,
            interpreted,
        })
    }

    /// Returns `true` for a statically linked binary.
    #[must_use]
    pub const fn is_static(&self) -> bool {
        !self.interpreted
    }

    /// Returns `true` if the header matches the machine.
    #[must_use]
    pub const fn runs_on(&self, machine: &Machine) -> bool {
        self.processor == machine.processor && self.wide == machine.wide && self.little == machine.little
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_runs_on_this_machine_and_no_other() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let Some(elf) = Elf::read(&bytes) else { return };
        let said = std::process::Command::new("uname").arg("-sm").output().unwrap();
        let here = Machine::from_uname(&String::from_utf8(said.stdout).unwrap()).unwrap();
        assert!(elf.runs_on(&here), "{elf:?} {here:?}");
        let there = if here.processor == 8 {
            "Linux x86_64"
        } else {
            "Linux mips"
        };
        assert!(!elf.runs_on(&Machine::from_uname(there).unwrap()));
        for end in [0, 4, 6, 20, 57, 100] {
            let _ = Elf::read(&bytes[..end]);
        }
    }

    /// Headers written by hand: EM_AARCH64 with and without an interpreter, and a big-endian MIPS.
    #[test]
    fn headers_are_read_in_both_widths_and_orders() {
        let mut wide = vec![0; 64 + 56];
        wide[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        (wide[18], wide[32], wide[54], wide[56], wide[64]) = (183, 64, 56, 1, 3);
        let elf = Elf::read(&wide).unwrap();
        assert!(!elf.is_static() && elf.runs_on(&Machine::from_uname("Linux aarch64").unwrap()));
        wide[64] = 1;
        assert!(Elf::read(&wide).unwrap().is_static());
        assert_eq!(Elf::read(&wide[..66]), None, "torn");
        let mut narrow = vec![0; 52];
        narrow[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 2]);
        narrow[19] = 8;
        let elf = Elf::read(&narrow).unwrap();
        assert!(elf.is_static() && elf.runs_on(&Machine::from_uname("Linux mips").unwrap()));
        assert!(!elf.runs_on(&Machine::from_uname("Linux mipsel").unwrap()));
    }

    #[test]
    fn unknown_machines_are_recognised() {
        for unknown in ["", "Linux", "Darwin arm64", "Linux vax", "FreeBSD amd64"] {
            assert_eq!(Machine::from_uname(unknown), None, "{unknown}");
        }
        assert!(
            Machine::from_uname("Linux armv7l\n")
                .unwrap()
                .recipe()
                .contains("armv7-unknown-linux-musleabihf")
        );
        assert!(
            Machine::from_uname("Linux x86_64")
                .unwrap()
                .recipe()
                .contains("scripts/build-static")
        );
    }
}
